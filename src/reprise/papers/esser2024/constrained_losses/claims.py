"""Claims of Example 1 (Figure 1) and of Propositions 1 to 3, as training shows them.

A limit is measured to within what still moves over the last quarter of the steps, and to
`IDENTITY_TOLERANCE`, within which numbers count as equal. The independent unit is the data set: a statement
about every run is judged by the worst of its starts.
"""

import math
from itertools import product

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import (
    COLLAPSED,
    IDENTITY_TOLERANCE,
    Comparison,
    Measure,
    at_least,
    at_most,
    exactly,
    in_every_run,
)
from reprise.evidence.edits import plus, put, times
from reprise.evidence.measures import (
    applied,
    difference,
    each_seed,
    interned,
    largest,
    ratio,
    selected,
    smallest,
)
from reprise.papers.esser2024.constrained_losses.experiment import PENALTIES, Params
from reprise.papers.esser2024.limits import beyond

RESOLUTION = "beyond what still moves, as a share"
RANK = "singular values not collapsed"
CONSTRAINT = "the constraint as the loss over the squared norms, as in the first problem of Proposition 3"
CONVERGENCE = "at convergence: where a run ends, or is last finite, because unconstrained descent diverges"
STRENGTHS = Params.model_fields["penalties"].default
ORTHOGONAL_1 = {"problem": "orthogonal", "output_dim": 1}
"""The rows of the orthogonal loss with one output."""

FIXED_POINTS = Quotation(
    "under orthogonal constraints, independent of the initialization the function converges to fixed points",
    at="Example 1, Section 3",
)
DIVERGES = Quotation("On the other hand the dynamics for unconstrained loss", at="Example 1, Section 3")
"""The formula before the verb, "diverge", is lost in our text."""
EXTRACTS = Quotation(
    "this regularization extracts the eigenvectors of ... corresponding to its 'most-negative' eigenvalues",
    at="Section 3",
)
NOT_AVOIDED = Quotation(
    "dimension collapse cannot be avoided by adding standard Frobenius norm reguralisation or constraint",
    at="Section 1",
)
AVOIDED = Quotation(
    "dimension collapse cannot be avoided ... but by adding orthogonality or L2 norm constraints",
    at="Section 1",
)
DESPITE_FROBENIUS = Quotation(
    "The above result precisely shows dimension collapse for linear networks ... even with Frobenius norm "
    "constraints",
    at="Proposition 2, Section 3",
)
AVOIDS = Quotation(
    "Additionally this regularization avoids dimension collapse", at="Proposition 3, Section 3"
)
IF_POSSIBLE = Quotation(
    "we avoid dimension collapse when possible i.e. when ... has multiple strictly negative eigenvalues",
    at="Proposition 3, proof, Appendix",
)
COLLAPSES = Quotation(
    "As a consequence, the output collapses to one dimension at convergence", at="Proposition 1, Section 2.2"
)
STANDARD = Quotation(
    "standard SSL training has drastic dimension collapse (Proposition 1), unless there are suitable "
    "constraints",
    at="Section 6",
)


@interned
def of_runs(name: str, problem: str, outputs: int = 1) -> Measure:
    """A column, a number a run."""
    runs = selected("runs", problem=problem, output_dim=outputs)
    return lambda tables: runs(tables).set_index(["seed", "start"])[name]


def dimensions(problem: str) -> Measure:
    """Singular values of two outputs over the data that have not collapsed, where a run ended or was last
    finite."""
    return applied(lambda share: 1.0 + (share > COLLAPSED), of_runs("second_share", problem, 2))


@interned
def dimensions_left(penalty: str, strength: float) -> Measure:
    """Singular values that have not collapsed under a penalty (`dimensions`), where a value has collapsed
    also if it is under that share of the largest at the start."""
    rows = selected("penalised", penalty=penalty, strength=strength)

    def measure(tables: Tables) -> pd.Series:
        ends = rows(tables).set_index(["seed", "start"])
        return (ends[["first", "second"]] > COLLAPSED).sum(axis=1).astype(float)

    return measure


def rests(problem: str) -> Measure:
    """1 for a run whose loss, in the last quarter of the steps, moves over at most half the range of the
    quarter before, or within rounding; 0 for one that goes on moving."""

    def at_rest(loss: pd.Series, before: pd.Series, after: pd.Series) -> pd.Series:
        return ((after <= before / 2) | (after <= IDENTITY_TOLERANCE * loss.abs())).astype(float)

    return applied(at_rest, *(of_runs(name, problem) for name in ("loss", "moved_before", "moved")))


def off_first_start(problem: str) -> Measure:
    """Distance of a run's last loss from that of the first start on the same data."""

    def from_first(values: pd.Series) -> pd.Series:
        return values.xs(0, level="start").reindex(values.index, level="seed")

    loss, moved = (of_runs(name, problem) for name in ("loss", "moved"))
    first_loss, first_moved = (applied(from_first, each) for each in (loss, moved))
    size = applied(pd.Series.abs, first_loss)
    apart = beyond(*(ratio(each, size) for each in (difference(loss, first_loss), moved, first_moved)))
    return applied(lambda values: values[values.index.get_level_values("start") > 0], apart)


def off_eigenvector(problem: str) -> Measure:
    """1 - |cos| of a run's output and the eigenvector of the smallest eigenvalue."""
    alignment, moved = (of_runs(name, problem) for name in ("alignment", "alignment_moved"))
    return beyond(applied(lambda cosine: 1 - cosine, alignment), moved)


def _is_none(distance: Measure, unit: str) -> Comparison:
    return in_every_run(at_most(each_seed(largest, distance), IDENTITY_TOLERANCE, unit=unit))


def _all_do(happens: Measure, unit: str) -> Comparison:
    return in_every_run(exactly(each_seed(smallest, happens), 1, unit=unit))


def _collapse(left: Measure) -> Comparison:
    return in_every_run(at_most(each_seed(largest, left), 1, unit=RANK))


@claim(
    "esser2024/fig1/unconstrained-diverges",
    """Gradient descent on the unconstrained contrastive loss of one output diverges, to numbers that are not
    finite.""",
    quotes=DIVERGES,
    word="unconstrained loss",
    reading="one output, as in Theorem 3, which the same sentences cite",
    broken_by=put("runs", "diverged_at", math.nan, problem="unconstrained"),
)
def unconstrained_diverges() -> Comparison:
    diverges = applied(lambda step: step.notna().astype(float), of_runs("diverged_at", "unconstrained"))
    return _all_do(diverges, "(1: not finite)")


@claim(
    "esser2024/fig1/orthogonal-independent-of-start-z1",
    """With the loss scaled by spectral norms (L_orth), the loss of one output comes to rest, at the same
    value from every start.""",
    quotes=FIXED_POINTS,
    word="independent of the initialization",
    broken_by=(
        times("runs", "moved", 1e4, **ORTHOGONAL_1),
        plus("runs", "loss", 1e-3, **ORTHOGONAL_1, start=1),
    ),
)
def same_value_from_every_start() -> Cells:
    yield "comes to rest", _all_do(rests("orthogonal"), "(1: at rest)")
    yield "same value", _is_none(off_first_start("orthogonal"), RESOLUTION)


@claim(
    "esser2024/fig1/orthogonal-most-negative-eigenvector",
    """With the loss scaled by spectral norms (L_orth), one output converges to the most negative eigenvector
    of the loss's matrix C.""",
    quotes=EXTRACTS,
    word="extracts the eigenvectors",
    broken_by=plus("runs", "alignment", -1e-3, **ORTHOGONAL_1),
)
def most_negative_eigenvector() -> Comparison:
    return _is_none(off_eigenvector("orthogonal"), "1 - |cos|, " + RESOLUTION)


@claim(
    "esser2024/fig1/rank-orthogonal",
    """Where C has two negative eigenvalues, two outputs under the loss scaled by spectral norms (L_orth) do
    not collapse: they span two dimensions.""",
    quotes=(AVOIDED, AVOIDS, IF_POSSIBLE),
    word="avoids dimension collapse",
    reading=f"{CONSTRAINT}; C has two negative eigenvalues in each of our data sets",
    broken_by=put("runs", "second_share", 1e-6, problem="orthogonal"),
)
def spectral_norms_keep_two_dimensions() -> Comparison:
    return in_every_run(at_least(each_seed(smallest, dimensions("orthogonal")), 2, unit=RANK))


@claim(
    "esser2024/fig1/rank-frobenius",
    "Under a constraint on Frobenius norms two outputs collapse to one dimension.",
    quotes=(NOT_AVOIDED, DESPITE_FROBENIUS),
    word="cannot be avoided",
    reading=CONSTRAINT,
    broken_by=put("runs", "second_share", 0.5, problem="frobenius"),
)
def frobenius_norms_collapse() -> Comparison:
    return _collapse(dimensions("frobenius"))


@claim(
    "esser2024/sec3/frobenius-penalty",
    """With a Frobenius regularisation, of the weights (sum) or of their product, two outputs keep at most
    one dimension.""",
    at="Sections 1 and 3",
    quotes=NOT_AVOIDED,
    word="cannot be avoided",
    reading="ours: the paper takes a penalty for equivalent to a constraint, and studies constraints. For "
    "this loss it is not: with the sum the loss is unbounded below for every weight λ, with the product for "
    "λ < -λ_min(C), and for greater λ it is least where outputs are 0. Outputs diverge, along one direction, "
    "or vanish: under 1e-3 of their size at the start",
    looked="that the claim is the paper's; as one of ours it had been reproduced",
    broken_by=put("penalised", ("first", "second"), 0.5),
)
def frobenius_penalties_collapse() -> Cells:
    for penalty, strength in product(PENALTIES, STRENGTHS):
        yield f"{penalty}, λ = {strength:g} |λ_min(C)|", _collapse(dimensions_left(penalty, strength))


@claim(
    "esser2024/prop1/rank-two-layers",
    "Without constraints, two outputs of a linear network of two layers collapse to one dimension.",
    quotes=STANDARD,
    word="drastic dimension collapse",
    reading=CONVERGENCE,
    broken_by=put("runs", "second_share", 0.5, problem="unconstrained"),
)
def two_layers_collapse() -> Comparison:
    return _collapse(dimensions("unconstrained"))


@claim(
    "esser2024/prop1/rank-one-layer",
    "Without constraints, two outputs of a linear network of one layer, u = Θx, collapse to one dimension.",
    quotes=COLLAPSES,
    word="collapses to one dimension",
    reading=CONVERGENCE,
    broken_by=put("runs", "second_share", 0.5, problem="one_layer"),
)
def one_layer_collapses() -> Comparison:
    return _collapse(dimensions("one_layer"))
