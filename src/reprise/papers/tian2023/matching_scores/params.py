"""Settings of Figures 4, 5, 9 and 10."""

from typing import Literal

from reprise.papers.tian2023.sequences import TokenSequences
from reprise.study.experiment import Resources
from reprise.study.settings import ours, stated, unstated

TABLES = ("matching", "filters")
RESOURCES = Resources(minutes=120, memory_mb=4000)

LOSSES = ("infonce_cosine", "quadratic_cosine")
"""InfoNCE and the quadratic loss of the author's code: the outputs in the text's Eq. 1 are not normalised."""
Activation = Literal["linear", "relu", "leaky_relu", "quadratic", "sigmoid"]


class Params(TokenSequences):
    """Activations compared on tokens of equal length, with each loss of `LOSSES`."""

    activations: tuple[Activation, ...] = stated(
        ("linear", "relu", "leaky_relu", "quadratic", "sigmoid"), "Figure 9", min_length=1
    )
    batch_norm: bool = unstated(True, "so in the command in the code's README")
    variance_gradient: bool = unstated(
        False, "mean-backprop BatchNorm, as in Definition 5 and in that command"
    )
    seeds: int = ours(5, "pools, data and initial weights", ge=1)
    seeds_single: int = ours(
        10, "of InfoNCE at one candidate, which claims read and where pools differ more", ge=1
    )
    seeds_unread: int = ours(5, "of settings that figures draw but no claim reads; 0 leaves them out", ge=0)
    shown_over_parameterisation: int = stated(5, "Figure 5: beta", ge=1)
    shown_candidates: int = stated(3, "Figure 5: P", ge=1)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible variants of BatchNorm, for the settings that claims read, with three seeds."""
    reduction = {
        "over_parameterisation": (1, params.shown_over_parameterisation),
        "candidates": tuple(p for p in params.candidates if p <= max(5, min(params.candidates))),
        "seeds": min(params.seeds, 3),
        "seeds_single": min(params.seeds_single, 3),
        "seeds_unread": 0,
    }
    grid = {"usual BatchNorm": {"variance_gradient": True}, "no BatchNorm": {"batch_norm": False}}
    return {name: params.model_copy(update={**reduction, **changes}) for name, changes in grid.items()}
