"""The map: a base point, and changes of one factor at a time.

No other loss can be shown: the map varies the settings around the published loss.
"""

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.image_settings import OTHER_LABELS
from reprise.papers.jing2022.projector_map.grid import Network, networks
from reprise.papers.jing2022.projector_map.settings import Params


def tasks(params: Params, objective: str | None = None) -> list[Network]:
    """A task for each network, trained or initial."""
    return list(networks(params)[0].values())


def needs(params: Params, task: Network, objective: str | None = None) -> Resources:
    """What a task needs."""
    labels = 1 + (params.data_set in OTHER_LABELS)
    return image_settings.resources(task.settings, task.net, probes=labels)


EXPERIMENT = Experiment(
    params=Params,
    tables=("spectra", "probes"),
    plan=Plan(tasks, needs),
    check=image_settings.check,
)
