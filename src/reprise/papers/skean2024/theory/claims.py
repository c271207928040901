"""What Sections 2 to 5 and Appendices A, E.1 and E.2 say of the loss itself."""

import numpy as np
import pandas as pd

from reprise.evidence.claims import Claim, Measure, ordering, trend
from reprise.papers.skean2024.theory.formulas import FORMULAS
from reprise.papers.skean2024.theory.params import CORRELATION, DECAY
from reprise.study.experiment import Tables

NEGLIGIBLE = 0.05
"""A term whose gradient is under this share of the other's is all but ignored."""
RATIO = "norm of the invariance's gradient over the variance's"


def ratio(reading: str) -> Measure:
    """The norm of the invariance's gradient over that of the variance's, by seed."""

    def measure(tables: Tables) -> pd.Series:
        rows = tables["gradients"]
        rows = rows[(rows["correlation"] == CORRELATION) & (rows["decay"] == DECAY)]
        rows = rows[rows["reading"] == reading].set_index("seed")
        return rows["invariance"] / rows["variance"]

    return measure


def swing(reading: str) -> Measure:
    """The largest ratio over the smallest, of embeddings that are spread out and of such as have nearly
    collapsed, by seed."""

    def measure(tables: Tables) -> pd.Series:
        rows = tables["gradients"]
        rows = rows[(rows["correlation"] == CORRELATION) & (rows["reading"] == reading)]
        found = (rows["invariance"] / rows["variance"]).groupby(rows["seed"])
        return found.max() / found.min()

    return measure


def at_smallest(term: str) -> Measure:
    """Seconds at the smallest dimension timed, by repeat."""

    def measure(tables: Tables) -> pd.Series:
        rows = tables["cost_seconds"]
        rows = rows[(rows["term"] == term) & (rows["dim"] == rows["dim"].min())]
        return rows.set_index("seed")["seconds"]

    return measure


def at_largest(term: str) -> Measure:
    """Seconds at the largest."""

    def measure(tables: Tables) -> pd.Series:
        rows = tables["cost_seconds"]
        rows = rows[(rows["term"] == term) & (rows["dim"] == rows["dim"].max())]
        return rows.set_index("seed")["seconds"]

    return measure


def slope(term: str) -> Measure:
    """Of log seconds over log dimension, over the larger half of the dimensions, by repeat."""

    def measure(tables: Tables) -> pd.Series:
        rows = tables["cost_seconds"]
        rows = rows[(rows["term"] == term) & (rows["dim"] >= rows["dim"].median())]
        return rows.groupby("seed")[["dim", "seconds"]].apply(
            lambda of: np.polyfit(np.log(of["dim"]), np.log(of["seconds"]), 1)[0]
        )

    return measure


CLAIMS: list[Claim] = [
    *FORMULAS,
    # Gradients.
    ordering(
        "skean2024/sec31/logs-steady-balance",
        "With logarithms the two terms' gradients stay closer to one ratio between spread-out embeddings and "
        "nearly collapsed ones than without.",
        source="Section 3.1",
        measure=swing("unit length"),
        below=swing("no logarithms"),
        unit=f"largest over smallest {RATIO}",
    ),
    *(
        ordering(
            f"skean2024/readings/{name}",
            f"{says}: its gradient is under 5 % of the variance's.",
            source=source,
            measure=ratio(reading),
            below=NEGLIGIBLE,
            unit=RATIO,
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
                "So does Eq. 6 of dimensions at unit length without its logarithms",
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
        measure=at_smallest("covariance norm"),
        below=at_smallest("log determinant"),
        unit="seconds",
    ),
    ordering(
        "skean2024/sec43-time/determinant-grows-faster",
        "The time of the determinant grows faster with D: log-log slope.",
        source="Section 4.3",
        measure=slope("log determinant"),
        above=slope("covariance norm"),
        unit="log-log slope",
    ),
    ordering(
        "skean2024/sec3-time/smaller-matrix",
        "If D > N, |ZZᵀ|²_F takes less time than |ZᵀZ|²_F, which the paper's experiments have, at the "
        "largest D timed.",
        source="Section 3, after Eq. 6",
        measure=at_largest("Gram norm"),
        below=at_largest("covariance norm"),
        unit="seconds",
    ),
    *(
        trend(
            f"skean2024/sec3-time/{name}",
            f"The time of {formula} grows as {growth}: log-log slope over D.",
            source="Section 3, after Eq. 6; Section 4.3",
            quantity="slope",
            measure=slope(term),
            published=power,
            unit="log-log slope",
        )
        for name, term, formula, growth, power in (
            ("covariance-quadratic", "covariance norm", "|ZᵀZ|²_F", "D²", 2.0),
            ("gram-linear", "Gram norm", "|ZZᵀ|²_F", "D", 1.0),
        )
    ),
]
