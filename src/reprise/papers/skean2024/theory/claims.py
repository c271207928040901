"""What Sections 2 to 5 and Appendices A, E.1 and E.2 say of the loss itself."""

import math
from itertools import product
from typing import Any

from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import for_all, ordering
from reprise.evidence.comparison import Measure, below, in_every_case, near
from reprise.evidence.measures import applied, column, each_seed, first, last, log_log_slope, ratio, rows
from reprise.papers.skean2024.theory.experiment import CORRELATIONS, DECAYS
from reprise.papers.skean2024.theory.formulas import FORMULAS

NEGLIGIBLE = 0.05
"""A term whose gradient is under this share of the other's is all but ignored."""
RATIO = "norm of the invariance's gradient over the variance's"


def balance(reading: str, **where: Any) -> Measure:
    """The norm of the invariance's gradient over that of the variance's."""
    norms = (column("gradients", term, reading=reading, **where) for term in ("invariance", "variance"))
    return ratio(*norms)


def swing(reading: str, correlation: float) -> Measure:
    """The largest ratio over the smallest, of embeddings that are spread out and of ones that have nearly
    collapsed."""
    ratios = balance(reading, correlation=correlation)
    return ratio(each_seed("max", ratios), each_seed("min", ratios))


def seconds(term: str, **where: Any) -> Measure:
    """Of the dimensions timed at some (`dim=first`, the smallest), by repeat."""
    return column("cost_seconds", "seconds", **where, term=term)


def slope(term: str) -> Measure:
    """Of log seconds over log dimension, over the larger half of the dimensions, by repeat."""
    return applied(
        log_log_slope,
        lambda tables: rows(tables["cost_seconds"], dim=lambda dim: dim >= dim.median(), term=term).pivot(
            index="seed", columns="dim", values="seconds"
        ),
    )


def exponent(term: str, over: str, others: str) -> Measure:
    """Of log operations over log size, for each of the other sizes: over `dim` at each of `samples`, say."""
    return applied(
        log_log_slope,
        lambda tables: rows(tables["operations"], term=term).pivot(
            index=others, columns=over, values="operations"
        ),
    )


CLAIMS: list[Claim] = [
    *FORMULAS,
    # Gradients.
    for_all(
        "skean2024/sec31/logs-steady-balance",
        "With logarithms the gradients of FroSSL's two terms stay closer to one ratio between "
        "spread-out embeddings and nearly collapsed ones than without, however much the views agree.",
        {
            f"correlation {correlation:g}": below(
                swing("unit length", correlation),
                swing("no logarithms", correlation),
                unit=f"largest over smallest {RATIO}",
                bounds=(1.0, math.inf),
            )
            for correlation in CORRELATIONS
        },
        source="Section 3.1",
        word="ensures",
    ),
    *(
        ours(
            for_all(
                f"skean2024/readings/{name}",
                f"{says}: its gradient is under 5 % of the variance's.",
                {
                    f"correlation {correlation:g}, decay {decay:g}": below(
                        balance(reading, correlation=correlation, decay=decay), NEGLIGIBLE, unit=RATIO
                    )
                    for correlation, decay in product(CORRELATIONS, DECAYS)
                },
                source=source,
                word="all but ignores invariance",
            )
        )
        for name, reading, says, source in (
            (
                "pseudocode-ignores-invariance",
                "pseudocode",
                "The pseudocode, taken literally, all but ignores invariance",
                "our reading of Appendix A",
            ),
            (
                "no-logs-ignores-invariance",
                "no logarithms",
                "FroSSL (Eq. 6) of dimensions at unit length all but ignores invariance without its "
                "logarithms",
                "our reading of Sections 3.1 and 6.3",
            ),
        )
    ),
    # Cost.
    ordering(
        "skean2024/sec43-time/frobenius-faster",
        "log |ZᵀZ|²_F of N = 256 embeddings takes less time than log det(ZᵀZ + ε I), at the smallest D "
        "timed.",
        source="Section 4.3",
        measure=seconds("covariance norm", dim=first),
        below=seconds("log determinant", dim=first),
        unit="seconds",
        quantifier="generic",
        word="One advantage of our approach",
    ),
    ordering(
        "skean2024/sec43-time/determinant-grows-faster",
        "The time of log det(ZᵀZ + ε I) grows faster with D than that of log |ZᵀZ|²_F: log-log slope.",
        source="Section 4.3",
        measure=slope("log determinant"),
        above=slope("covariance norm"),
        unit="log-log slope",
        word="always requires",
    ),
    ordering(
        "skean2024/sec3-time/smaller-matrix",
        "If D > N, |ZZᵀ|²_F takes less time than |ZᵀZ|²_F, which the paper's experiments use, at the "
        "largest D timed.",
        source="Section 3, after Eq. 6",
        measure=seconds("Gram norm", dim=last),
        below=seconds("covariance norm", dim=last),
        unit="seconds",
        word="depending on if",
    ),
    *(
        for_all(
            f"skean2024/sec3/{name}-operations",
            f"{formula} takes {order} operations: log-log slopes over d and over n.",
            {
                f"over {letter}": in_every_case(
                    near(
                        exponent(term, over, others),
                        power,
                        quantity="slope",
                        unit="log-log slope of operations",
                    )
                )
                for letter, over, others, power in (
                    ("d", "dim", "samples", d_power),
                    ("n", "samples", "dim", n_power),
                )
            },
            source="Section 3, after Eq. 6; Section 4.3",
            word=word,
        )
        for name, term, formula, order, d_power, n_power, word in (
            ("covariance", "covariance norm", "|ZᵀZ|²_F", "O(n d²)", 2.0, 1.0, "has time complexity"),
            ("gram", "Gram norm", "|ZZᵀ|²_F", "O(n² d)", 1.0, 2.0, "has complexity"),
        )
    ),
]
