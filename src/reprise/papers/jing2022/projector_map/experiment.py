"""The map: a base point, and changes of one factor at a time.

No other loss can be shown: the map varies the settings around the published loss.
"""

from reprise.contract.experiment import Experiment, Plan
from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.projector_map.grid import networks
from reprise.papers.jing2022.projector_map.settings import Params
from reprise.training.grid import Net


def tasks(params: Params, objective: str | None = None) -> list[Net]:
    """A task for each network, trained or initial."""
    return list(networks(params)[0].values())


EXPERIMENT = Experiment(
    params=Params,
    tables=("spectra", "probes"),
    plan=Plan(tasks, image_settings.needs),
    gaps=("spectra.log_value",),  # ln 0; every net that may diverge has a probe, which says so
    check=image_settings.check,
)
