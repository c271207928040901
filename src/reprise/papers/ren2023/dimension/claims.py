"""Theorem 4.3 and Lemma B.17, for the spiked spectrum, in the limit of infinite width.

There is no randomness: observations are dimensions, or the slopes between neighbouring ones, and their
spread says how far from one power law, or from one limit, they are.
"""

import numpy as np
import pandas as pd

from reprise.evidence.claims import Measure, ordering, trend
from reprise.study.experiment import Tables

SLOPE = "slope against log d, an observation a pair of neighbouring d"


def at(moment: str, column: str) -> Measure:
    """A column, a dimension a seed."""

    def measure(tables: Tables) -> pd.Series:
        table = tables["ends"]
        return table[table["moment"] == moment].set_index("dim")[column]

    return measure


def share(moment: str, column: str) -> Measure:
    """A balance score as a share of r."""

    def measure(tables: Tables) -> pd.Series:
        return at(moment, column)(tables) / at(moment, "signals")(tables)

    return measure


def above_one(column: str) -> Measure:
    """What a stable rank has beyond 1, without negatives."""

    def measure(tables: Tables) -> pd.Series:
        return at("without negatives", column)(tables) - 1

    return measure


def slope(of: Measure) -> Measure:
    """How the logarithm grows with log d, from each dimension to the next."""

    def measure(tables: Tables) -> pd.Series:
        values = of(tables).sort_index()
        dims = values.index.to_numpy(dtype=float)
        return pd.Series(np.diff(np.log(values)) / np.diff(np.log(dims)), index=values.index[1:])

    return measure


CLAIMS = [
    ordering(
        "ren2023/thm43/spike-exponent",
        "Without negatives, one signal with σ_1² = ln d among others with σ² = 1 ends with a condition "
        "number that grows as a power of d, which at the start it does not: √ln d. (Our text of the paper "
        "has lost its power.)",
        source="Theorem 4.3 (a), Lemma B.17",
        measure=slope(at("without negatives", "condition")),
        above=slope(at("start", "condition")),
        unit=f"log condition number: {SLOPE}",
    ),
    ordering(
        "ren2023/lemma-b17/stage1-exponent",
        "So it does at the end of Stage 1 with negatives.",
        source="Lemma B.17",
        measure=slope(at("stage 1", "condition")),
        above=slope(at("start", "condition")),
        unit=f"log condition number: {SLOPE}",
    ),
    trend(
        "ren2023/thm43/spike-aligned",
        "Without negatives the two modalities end aligned: K_A = K_B.",
        source="Theorem 4.3 (a)",
        quantity="score",
        measure=at("without negatives", "distance"),
        published=0,
        unit="|K_A - K_B| / |K_A|, an observation a d",
    ),
    ordering(
        "ren2023/thm43/spike-not-balanced",
        "Without negatives they end unbalanced: the balance score, as a share of r, vanishes as d grows.",
        source="Theorem 4.3 (a), Definition 4.2",
        measure=slope(share("without negatives", "stable_rank")),
        below=0.0,
        unit=f"log(|C|_F² / |C|_2² / r): {SLOPE}",
    ),
    ordering(
        "ren2023/thm43/spike-not-balanced-trace",
        "So it does in the other reading of the stable rank.",
        source="Theorem 4.3 (a), Definition 4.2",
        measure=slope(share("without negatives", "intrinsic_dimension")),
        below=0.0,
        unit=f"log(tr C / |C|_2 / r): {SLOPE}",
    ),
    ordering(
        "ren2023/thm43/spike-rank-one",
        "Without negatives the representation tends to a rank-one solution.",
        source="Section 1, contribution 4; Section 7",
        measure=slope(above_one("stable_rank")),
        below=0.0,
        unit=f"log(|C|_F² / |C|_2² - 1): {SLOPE}",
    ),
    ordering(
        "ren2023/thm43/spike-rank-one-trace",
        "So it does in the other reading of the stable rank, for the spectrum of the proof.",
        source="Section 1, contribution 4; Section 7",
        measure=slope(above_one("intrinsic_dimension")),
        below=0.0,
        unit=f"log(tr C / |C|_2 - 1): {SLOPE}",
    ),
    trend(
        "ren2023/thm43/contrast-aligns-spike",
        "With negatives they end aligned as well.",
        source="Theorem 4.3 (b)",
        quantity="score",
        measure=at("stage 2", "distance"),
        published=0,
        unit="|K_A - K_B| / |K_A|, an observation a d",
    ),
    trend(
        "ren2023/thm43/contrast-balances-spike",
        "With negatives they end balanced: the balance score is about r.",
        source="Theorem 4.3 (b)",
        quantity="singular value",
        measure=share("stage 2", "stable_rank"),
        published=1,
        unit="|C|_F² / |C|_2² / r, an observation a d",
    ),
]
