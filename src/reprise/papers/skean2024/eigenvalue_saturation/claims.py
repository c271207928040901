"""What Section 5.2 says of Figure 3: the three metrics, FroSSL against each of the others, at the paper's
shared learning rate and at each method's own (`rates`), of the spectrum as it is and of normalised columns.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.claims import Claim, Measure, for_all, ordering
from reprise.evidence.measures import applied, column, rows
from reprise.papers.skean2024.eigenvalue_saturation.measures import SCALES, summary
from reprise.papers.skean2024.eigenvalue_saturation.params import SHARED_RATE
from reprise.papers.skean2024.lineup import FIGURE3_PUBLISHED, METHODS
from reprise.papers.skean2024.rates import at_own_rate, gains
from reprise.study.experiment import Tables

Select = Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]
"""(table, probes) to the table's rows at some learning rates."""

METRICS = {
    "condition": ("condition number λ1/λ14", "smaller", "log10 of λ1/λ14"),
    "entropy": ("eigenvalue entropy", "larger", "nats"),
    "saturation": ("14th eigenvalue", "saturated at an earlier step", "steps"),
}
HOW = {"raw": "of the embeddings as they are", "normalised": "of embeddings with columns of unit variance"}


def at_shared_rate(table: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    return table[table["learning_rate"] == SHARED_RATE]


RATES: dict[str, tuple[Select, str]] = {
    "shared-rate": (at_shared_rate, f"at the shared learning rate of {SHARED_RATE}"),
    "own-rate": (at_own_rate, "at its own learning rate"),
}


def metric(name: str, select: Select, method: str) -> Measure:
    """A column of `measures.summary` by seed; of condition numbers, which span decades, the logarithm."""

    def summaries(tables: Tables) -> pd.DataFrame:
        return select(summary(tables["eigenvalues"], tables["traces"]), tables["probes"])

    values = column(summaries, name, method=method)
    return applied(np.log10, values) if name.startswith("condition") else values


def learned(select: Select, *methods: str) -> Measure:
    """Gains of these methods' networks over random initialisation."""
    return lambda tables: gains(rows(select(tables["probes"], tables["probes"]), method=methods))


def _claim(name: str, scale: str, rate: str) -> Claim:
    what, comparison, unit = METRICS[name]
    select, where = RATES[rate]
    scaled = f"{name}_{scale}"
    side = "above" if comparison == "larger" else "below"
    return for_all(
        f"skean2024/fig3/{name}-{scale}-{rate}",
        f"FroSSL's {what} is {comparison} than that of SimCLR, VICReg and Barlow Twins, each {where}; "
        f"{HOW[scale]}.",
        {
            METHODS[method].name: ordering(
                "", "",
                source="Section 5.2, Figure 3",
                measure=metric(scaled, select, "frossl"),
                unit=unit,
                learned=learned(select, "frossl", method),
                reading=f"ours: {HOW[scale]}, {where}",
                **{side: metric(scaled, select, method)},
            )
            for method in FIGURE3_PUBLISHED
        },
    )  # fmt: skip


CLAIMS: list[Claim] = [_claim(*reading) for reading in product(METRICS, SCALES, RATES)]
