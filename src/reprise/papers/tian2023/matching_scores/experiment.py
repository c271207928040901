"""Settings of Figures 4, 5, 9 and 10."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

from reprise.contract.experiment import Experiment, Plan, Quick, Resources
from reprise.contract.settings import ours, stated, unstated
from reprise.papers.tian2023 import sequences
from reprise.papers.tian2023.sequences import Arm, Cell, TokenSequences

LOSSES = ("infonce_cosine", "quadratic_cosine")
"""InfoNCE and the quadratic loss of the author's code: the outputs in the text's Eq. 1 are not normalised."""
SHOWN = ("relu", "linear")
"""The activations whose filters Figure 5 draws, and that most sentences of the text compare."""
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
    seeds: int = ours(4, "pools, data and initial weights", ge=1)
    seeds_compared: int = ours(
        10,
        "of linear and ReLU nets with the quadratic loss, and with InfoNCE at P = 1 and Figure 5's P",
        ge=1,
    )
    compared_losses: tuple[Literal["infonce_cosine", "quadratic_cosine"], ...] = ours(
        LOSSES, "the losses of Figures 9 and 10", min_length=1
    )
    shown_over_parameterisation: int = stated(5, "Figure 5: beta", ge=1)
    shown_candidates: int = stated(3, "Figure 5: P", ge=1)


class Block(NamedTuple):
    """The task of networks that are trained at once."""

    cell: Cell
    arms: tuple[Arm, ...]
    seeds: range

    def __str__(self) -> str:
        return f"{self.cell}, {len(self.seeds)} seeds"


@dataclass(frozen=True)
class Filters:
    """The task of Figure 5."""

    def __str__(self) -> str:
        return "filters"


Task = Block | Filters


def shown_cell(params: Params) -> Cell:
    """The setting of Figure 5."""
    return Cell(params.shown_over_parameterisation, params.shown_candidates, params.batch_norm)


def blocks(params: Params, objective: str | None = None) -> Iterator[Block]:
    """The networks of Figures 4, 9 and 10, with the published losses or another one."""
    losses = (objective,) if objective else params.compared_losses
    arms = [
        Arm(activation, objective, variance=params.variance_gradient)
        for objective, activation in product(losses, params.activations)
    ]
    for beta, candidates in product(params.over_parameterisation, params.candidates):
        cell = Cell(beta, candidates, params.batch_norm)
        by_seeds: dict[int, list[Arm]] = {}
        for arm in arms:
            by_seeds.setdefault(seeds_of(params, arm, candidates), []).append(arm)
        for seeds, group in by_seeds.items():
            yield Block(cell, tuple(group), params.seed_range(seeds))


def seeds_of(params: Params, arm: Arm, candidates: int) -> int:
    """The number of an arm's seeds. Most sentences average over P and beta and need few. More are needed by
    sentences about linear and ReLU nets: of levels, counts and equal scores in single cells, at P = 1 and in
    Figure 5, and of small differences with the quadratic loss."""
    is_close = candidates in (1, params.shown_candidates) or arm.objective == LOSSES[1]
    return params.seeds_compared if is_close and arm.activation in SHOWN else params.seeds


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each block's scores, and last one for the filters that Figure 5 draws."""
    return [*blocks(params, objective), Filters()]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task."""
    if isinstance(task, Filters):
        return sequences.resources(params, shown_cell(params), len(SHOWN))
    return sequences.resources(params, task.cell, len(task.arms) * len(task.seeds))


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values, of InfoNCE and for the activations that the text compares: two variants of
    BatchNorm in all cells; a second temperature and BatchNorm over both views in Figure 5's cell, because
    sentences about several cells are not judged on some of them."""
    common = {
        "activations": tuple(name for name in params.activations if name in SHOWN),
        "compared_losses": LOSSES[:1],
        "seeds_compared": params.seeds,
    }
    shown = {
        "over_parameterisation": (params.shown_over_parameterisation,),
        "candidates": (params.shown_candidates,),
    }
    grid: dict[str, dict[str, object]] = {
        "no BatchNorm": {"batch_norm": False},
        "usual BatchNorm": {"variance_gradient": True},
        "temperature 0.2": {"temperature": 0.2, **shown},
        "BatchNorm over both views": {"pooled_statistics": True, **shown},
    }
    return {name: params.model_copy(update={**common, **changes}) for name, changes in grid.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("matching", "filters"),
    plan=Plan(tasks, needs),
    alternatives=alternatives,
    excused={"together": "a net without BatchNorm has no variance for a gradient to flow through"},
    quick=Quick(
        changes={
            "over_parameterisation": (1, 5),
            "candidates": (3,),
            "activations": ("linear", "relu"),
            "compared_losses": ("infonce_cosine",),
            "steps": 1000,
            "seeds": 3,
            "seeds_compared": 3,
        },
        figures=("fig09",),
    ),
)
