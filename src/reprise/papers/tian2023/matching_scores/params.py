"""Settings of Figures 4, 5, 9 and 10."""

from collections.abc import Iterator
from itertools import product
from typing import Literal, NamedTuple

from reprise.papers.tian2023 import sequences
from reprise.papers.tian2023.sequences import Arm, Cell, TokenSequences
from reprise.study.experiment import Resources
from reprise.study.settings import ours, stated, unstated

TABLES = ("matching", "filters")

LOSSES = ("infonce_cosine", "quadratic_cosine")
"""InfoNCE and the quadratic loss of the author's code: the outputs in the text's Eq. 1 are not normalised."""
SHOWN = ("relu", "linear")
"""The activations whose filters Figure 5 draws."""
READ_AT_BETA_ONE = ("relu", "linear")
"""The activations that claims read at beta = 1."""
NOT_READ_AT_ONE_CANDIDATE = "quadratic_cosine"
"""The published loss that no claim reads at one candidate."""
FILTERS = "filters"
"""The name of the task for Figure 5."""
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


class Block(NamedTuple):
    """Networks that are trained at once."""

    name: str
    cell: Cell
    arms: list[Arm]
    seeds: range


def shown_cell(params: Params) -> Cell:
    """The setting of Figure 5."""
    return Cell(params.shown_over_parameterisation, params.shown_candidates, params.batch_norm)


def blocks(params: Params, objective: str | None = None) -> Iterator[Block]:
    """The networks of Figures 4, 9 and 10, with the published losses or another one."""
    losses = (objective,) if objective else LOSSES
    arms = [
        Arm(activation, objective, variance=params.variance_gradient)
        for objective, activation in product(losses, params.activations)
    ]
    for beta, candidates in product(params.over_parameterisation, params.candidates):
        cell = Cell(beta, candidates, params.batch_norm)
        by_seeds: dict[int, list[Arm]] = {}
        for arm in arms:
            by_seeds.setdefault(_seeds(params, cell, arm), []).append(arm)
        for seeds, group in by_seeds.items():
            if seeds:
                yield Block(f"{cell}, {seeds} seeds", cell, group, range(seeds))


def _seeds(params: Params, cell: Cell, arm: Arm) -> int:
    """The number of seeds, which is larger for networks that claims read.

    Claims read Figure 5's beta, and some activations at beta = 1; at one candidate, InfoNCE only. Another
    loss has as many seeds as InfoNCE.
    """
    single = cell.candidates == 1
    is_read = cell.beta == params.shown_over_parameterisation or (
        cell.beta == 1 and arm.activation in READ_AT_BETA_ONE
    )
    if not is_read or (single and arm.objective == NOT_READ_AT_ONE_CANDIDATE):
        return params.seeds_unread
    return params.seeds_single if single else params.seeds


def resources(params: Params, objective: str | None = None) -> dict[str, Resources]:
    """What each task needs, by its name."""
    scores = {
        block.name: sequences.resources(params, block.cell, len(block.arms) * len(block.seeds))
        for block in blocks(params, objective)
    }
    return {**scores, FILTERS: sequences.resources(params, shown_cell(params), len(SHOWN))}


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
