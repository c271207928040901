"""Settings of Table 1 and Figure 11."""

from dataclasses import dataclass, replace
from itertools import product

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.settings import ours, stated
from reprise.papers.tian2023 import sequences
from reprise.papers.tian2023.sequences import Arm, Cell, TokenSequences


class Params(TokenSequences):
    """ReLU networks and InfoNCE on tokens of unequal length. InfoNCE is `infonce_cosine`, from the author's
    code: the outputs in the text's Eq. 1 are not normalised."""

    nonuniformity: tuple[float, ...] = stated((2.0, 5.0, 10.0), "Figure 11: zeta", min_length=1)
    table_nonuniformity: float = stated(10.0, "Table 1: zeta", gt=0)
    seeds: int = ours(10, "for Table 1: pools, data and initial weights", ge=1)
    figure_seeds: int = ours(5, "for Figure 11: the first of Table 1's", ge=1)
    text_learning_rate: float = stated(2e-3, "Section 5", gt=0)
    text_over_parameterisation: int = stated(
        5, "Table 1: beta of the rows also trained at the text's rate", ge=1
    )
    text_seeds: int = ours(3, "at the text's learning rate", ge=1)


@dataclass(frozen=True)
class Block:
    """Networks that are trained at once, which is a task.

    Attributes:
        run: `table` for Table 1, `text` for the same at the text's learning rate, `figure` for Figure 11
            only.
    """

    run: str
    params: Params
    cell: Cell
    arms: tuple[Arm, ...]
    seeds: range

    def __str__(self) -> str:
        return f"{self.run}: {self.cell}"


def tasks(params: Params, objective: str | None = None) -> list[Block]:
    """The blocks of Table 1, of the text and of Figure 11; none of the text for other losses.

    Figure 11 has mean-backprop BatchNorm (Definition 5); without BatchNorm, an arm's flags have no effect.
    """
    flags = product((False, True), repeat=2)
    arm = Arm(objective=objective or Arm.objective, zeta=params.table_nonuniformity)
    variants = tuple(replace(arm, mean=mean, variance=variance) for mean, variance in flags)
    plain = tuple(replace(arm, zeta=zeta) for zeta in params.nonuniformity)
    figure_arms = tuple(arm for arm in plain if arm not in variants)
    text_params = params.model_copy(update={"learning_rate": params.text_learning_rate})
    every: list[Block] = []
    for beta, candidates in product(params.over_parameterisation, params.candidates):
        cell = Cell(beta, candidates)
        plain_cell = replace(cell, batch_norm=False)
        every.append(Block("table", params, cell, variants, params.seed_range(params.seeds)))
        every.append(Block("figure", params, cell, figure_arms, params.seed_range(params.figure_seeds)))
        every.append(Block("figure", params, plain_cell, plain, params.seed_range(params.figure_seeds)))
        if beta == params.text_over_parameterisation and not objective:
            every.append(Block("text", text_params, cell, variants, params.seed_range(params.text_seeds)))
    return [block for block in every if block.arms]


def needs(params: Params, task: Block, objective: str | None = None) -> Resources:
    """Resources of a task."""
    return sequences.resources(params, task.cell, len(task.arms) * len(task.seeds))


EXPERIMENT = Experiment(
    params=Params,
    tables=("matching",),
    plan=Plan(tasks, needs),
    coordinates=("learning_rate", "zeta"),
)
