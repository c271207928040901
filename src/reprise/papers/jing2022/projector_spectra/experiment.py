"""The image experiments; the text states the encoder, the data set and the epochs; the rest is
from the public code."""

from typing import Any

from reprise.contract.experiment import Experiment, Plan, Quick
from reprise.datasets.catalogue import check as check_files
from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.projector_spectra.networks import few, tasks
from reprise.papers.jing2022.projector_spectra.settings import Params


def check(params: Params) -> None:
    """Checks that the data sets exist.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    for name in (params.data_set, *params.further_sets):
        check_files(name, params.root)


def alternatives(params: Params) -> dict[str, Params]:
    """The networks of Figure 7b and DirectCLR's at other temperatures and with other optimisers; and
    DirectCLR's probed by two random crops and flips of each image, if the run's probes see the images alone.
    Spectra do not depend on probes, and there is no second setting of them there."""
    changes: dict[str, dict[str, Any]] = {
        f"temperature {temperature:g}": {"temperature": temperature}
        for temperature in params.other_temperatures
    }
    changes |= {
        f"{optimiser.kind}, rate {optimiser.learning_rate:g}": {"optimiser": optimiser}
        for optimiser in params.other_optimisers
    }
    if not params.probe_views and "directclr" in params.nets:
        changes["probe of two crops and flips"] = {"probe_views": 2, "nets": ("directclr",)}
    own = {
        "nets": few(params.nets), "further_sets": (), "seeds": min(params.seeds, params.further_seeds),
        "other_temperatures": (), "other_optimisers": (),
    }  # fmt: skip
    return {name: params.model_copy(update={**own, **other}) for name, other in changes.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("spectra", "probes"),
    plan=Plan(tasks, image_settings.needs),
    alternatives=alternatives,
    excused={"precision": "the rounding of products alone, and a training of every net for each"},
    check=check,
    quick=Quick(
        changes={
            "encoder": {"blocks": (1, 1, 1, 1), "width": 16, "stem": "stride2"},
            "batch": 64,
            "data_set": "textures",
            "seeds": 1,
            "epochs": 3.0,
            "nets": ("nonlinear", "none"),
            "projector": {"dims": (512, 128)},
            "recipe": "shapes",
            "crop": 0.4,
            "jitter": 0.6,
            "hue": 0.5,
            "optimiser": {"kind": "adamw", "learning_rate": 0.01, "weight_decay": 1e-6},
            "probe_views": 0,
            "d0": 22,
        },
        figures=("fig02", "fig07b"),
    ),
)
