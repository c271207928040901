"""Statements of Sections 1 to 5 and Appendices A, E.1 and E.2 about the loss itself."""

import math
from itertools import product
from typing import Any

from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import (
    IDENTITY_TOLERANCE,
    Comparison,
    Measure,
    above,
    at_least,
    below,
    identity,
    in_every_case,
    in_every_run,
    near,
)
from reprise.evidence.edits import put, swapped
from reprise.evidence.formula import claims
from reprise.evidence.identities import error_of
from reprise.evidence.measures import applied, column, each_seed, first, log_log_slope, ratio, rows
from reprise.papers.skean2024.theory.experiment import CORRELATIONS, DECAYS
from reprise.papers.skean2024.theory.formulas import FORMULAS

NEGLIGIBLE = 0.05
"""A term whose gradient is under this share of the other's is all but ignored."""
RATIO = "norm of the invariance's gradient over the variance's"
BARLOW = "barlow-twins-unnormalised"
"""Barlow Twins without feature normalisation."""
CHANGED = {
    "barlow-twins": "Barlow Twins",
    "vicreg": "VICReg",
    "w-mse": "W-MSE, whitening by a Cholesky factor",
    "frossl": "FroSSL, dimensions of equal variance",
}
UNCHANGED = {
    "corinfomax": "CorInfoMax",
    f"{BARLOW}-equal-weights": "Barlow Twins without feature normalisation at λ = 1, Section 5.1's variant",
}

THEORY = claims("skean2024", *FORMULAS)


# Rotations.


def is_changed(loss: str) -> Comparison:
    """A rotation changes a loss at every point."""
    return in_every_run(at_least(_change(loss), IDENTITY_TOLERANCE, unit="relative change of the loss"))


def is_unchanged(loss: str) -> Comparison:
    """A rotation leaves a loss unchanged at every point."""
    return identity(_change(loss))


def _change(loss: str) -> Measure:
    return error_of(f"table1/rotation-{loss}")


@claim(
    f"skean2024/table1/rotation-{BARLOW}",
    "A rotation of the embeddings changes Barlow Twins without feature normalisation (Eq. 3, λ = .005).",
    quotes=Quotation(
        "is not rotationally invariant with respect to the embeddings", at="Section 3, after Eq. 3"
    ),
    word="is not rotationally invariant",
    broken_by=put("identities", "relative_error", 0.0, identity=f"table1/rotation-{BARLOW}"),
)
def barlow_is_changed() -> Comparison:
    return is_changed(BARLOW)


@claim(
    "skean2024/table1/rotation",
    """A rotation of both views' embeddings changes Barlow Twins, VICReg, W-MSE and FroSSL as they are used,
    and leaves CorInfoMax unchanged.""",
    at="Table 1, Section 2, and Section 3",
    form="ours",
    reading="ours: the paper says that dimension-contrastive methods should be rotationally invariant, and "
    "not which of them are; its proposal is, before its dimensions are normalised",
    word="changes",
    broken_by=(
        *(put("identities", "relative_error", 0.0, identity=f"table1/rotation-{loss}") for loss in CHANGED),
        *(put("identities", "relative_error", 0.1, identity=f"table1/rotation-{loss}") for loss in UNCHANGED),
    ),
)
def rotations() -> Cells:
    for loss, name in CHANGED.items():
        yield name, is_changed(loss)
    for loss, name in UNCHANGED.items():
        yield f"{name} (unchanged)", is_unchanged(loss)


# Gradients.


def balance(reading: str, **where: Any) -> Measure:
    """The norm of the invariance's gradient over that of the variance's."""
    norms = (column("gradients", term, reading=reading, **where) for term in ("invariance", "variance"))
    return ratio(*norms)


def swing(reading: str, correlation: float) -> Measure:
    """The largest ratio over the smallest, of embeddings that are spread out and of ones that have nearly
    collapsed."""
    ratios = balance(reading, correlation=correlation)
    return ratio(each_seed("max", ratios), each_seed("min", ratios))


@claim(
    "skean2024/sec31/logs-steady-balance",
    """With logarithms the gradients of FroSSL's two terms stay closer to one ratio between spread-out
    embeddings and nearly collapsed ones than without, however much the views agree.""",
    quotes=Quotation(
        "Second, we hypothesize that the ... ensures that the contributions of the variance term to the "
        "gradient of the objective function become self regulated",
        at="Section 3.1",
        hedge="we hypothesize",
    ),
    word="ensures",
    broken_by=swapped("gradients", "reading", "unit length", "no logarithms"),
)
def logarithms_steady_the_balance() -> Cells:
    for correlation in CORRELATIONS:
        yield (
            f"correlation {correlation:g}",
            below(
                swing("unit length", correlation),
                swing("no logarithms", correlation),
                unit=f"largest over smallest {RATIO}",
                bounds=(1.0, math.inf),
            ),
        )


IGNORING = (
    (
        "pseudocode-ignores-invariance",
        "pseudocode",
        "The pseudocode, taken literally, all but ignores invariance",
        "Appendix A",
        "ours: the paper prints the pseudocode as its loss, and says nothing of how its terms weigh",
    ),
    (
        "no-logs-ignores-invariance",
        "no logarithms",
        "Without its logarithms FroSSL (Eq. 6), with dimensions at unit length, all but ignores invariance",
        "Sections 3.1 and 6.3",
        "ours: the paper says that the variant without logarithms is worse, and not why",
    ),
)


@each(IGNORING)
def ignores_invariance(case: tuple[str, str, str, str, str]) -> Claim:
    name, reading, says, at, why = case

    @claim(
        f"skean2024/readings/{name}",
        f"{says}: the invariance term's gradient is under 5 % as long as the variance term's.",
        at=at,
        form="ours",
        reading=why,
        word="all but ignores invariance",
        broken_by=swapped("gradients", "reading", reading, "unit variance"),
    )
    def cells() -> Cells:
        for correlation, decay in product(CORRELATIONS, DECAYS):
            yield (
                f"correlation {correlation:g}, decay {decay:g}",
                below(balance(reading, correlation=correlation, decay=decay), NEGLIGIBLE, unit=RATIO),
            )

    return cells


# Cost.


def seconds(term: str, **where: Any) -> Measure:
    """Seconds by repeat, of the dimensions timed at some (`dim=first`, the smallest)."""
    return column("cost_seconds", "seconds", **where, term=term)


def slope(term: str) -> Measure:
    """The slope of log seconds over log dimension, over the larger half of the dimensions, by repeat."""
    return applied(
        log_log_slope,
        lambda tables: rows(tables["cost_seconds"], dim=lambda dim: dim >= dim.median(), term=term).pivot(
            index="seed", columns="dim", values="seconds"
        ),
    )


def exponent(term: str, over: str, others: str) -> Measure:
    """The slope of log operations over log size, for each of the other sizes: over `dim` at each of
    `samples`, say."""
    return applied(
        log_log_slope,
        lambda tables: rows(tables["operations"], term=term).pivot(
            index=others, columns=over, values="operations"
        ),
    )


@claim(
    "skean2024/sec43-time/frobenius-faster",
    """The term log |ZᵀZ|²_F of N = 256 embeddings takes less time than log det(ZᵀZ + ε I), at the smallest D
    timed.""",
    quotes=Quotation(
        "One advantage of our approach is that the Frobenius norm can be computed in", at="Section 4.3"
    ),
    quantifier="generic",
    word="One advantage of our approach",
    broken_by=swapped("cost_seconds", "term", "covariance norm", "log determinant"),
)
def frobenius_norm_is_faster() -> Comparison:
    return below(seconds("covariance norm", dim=first), seconds("log determinant", dim=first), unit="seconds")


@claim(
    "skean2024/sec43-time/determinant-grows-faster",
    """The time of log det(ZᵀZ + ε I) grows faster with D than that of log |ZᵀZ|²_F: log-log slope.""",
    quotes=Quotation("entropy always requires computing the eigendecomposition which is", at="Section 4.3"),
    word="always requires",
    broken_by=swapped("cost_seconds", "term", "covariance norm", "log determinant"),
)
def determinant_grows_faster() -> Comparison:
    return above(slope("log determinant"), slope("covariance norm"), unit="log-log slope")


COUNTED = {
    "covariance norm": ("|ZᵀZ|²_F", 2.0, 1.0),
    "Gram norm": ("|ZZᵀ|²_F", 1.0, 2.0),
}
"""The terms in the table, with the powers of d and n in their operations."""


@claim(
    "skean2024/sec3/operations",
    """The norm |ZᵀZ|²_F takes O(n d²) operations and |ZZᵀ|²_F takes O(n² d): log-log slopes over d and n.""",
    quotes=Quotation(
        "The former has time complexity ... while the latter has complexity", at="Section 3, after Eq. 6"
    ),
    word="has time complexity",
    broken_by=swapped("operations", "term", "covariance norm", "Gram norm"),
)
def operations() -> Cells:
    for term, (formula, d_power, n_power) in COUNTED.items():
        for letter, over, others, power in (
            ("d", "dim", "samples", d_power),
            ("n", "samples", "dim", n_power),
        ):
            yield (
                f"{formula} over {letter}",
                in_every_case(
                    near(
                        exponent(term, over, others),
                        power,
                        quantity="slope",
                        unit="log-log slope of operations",
                    )
                ),
            )
