"""What Section 5.2 says of its learning rate, and of Figure 3: the three metrics, FroSSL against each of the
others, at the paper's shared learning rate and at each method's own (`rates`), of the spectrum as it is and
of normalised columns.
"""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.claims import Claim, Measure, for_all, ordering
from reprise.evidence.measures import applied, column, interned, once, rows
from reprise.papers.skean2024.eigenvalue_saturation.measures import SCALES, TOP, half_rise, summary
from reprise.papers.skean2024.eigenvalue_saturation.params import OTHER_RATES, SHARED_RATE
from reprise.papers.skean2024.lineup import FIGURE3_PUBLISHED, METHODS
from reprise.papers.skean2024.rates import at_own_rate, at_own_rates, learned
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


@once
def every_summary(tables: Tables) -> pd.DataFrame:
    """`measures.summary`."""
    return summary(tables["eigenvalues"], tables["traces"])


@interned
def summaries(select: Select) -> Callable[[Tables], pd.DataFrame]:
    """The same at some learning rates."""
    return lambda tables: select(every_summary(tables), tables["probes"])


def metric(name: str, select: Select, method: str) -> Measure:
    """A column of `measures.summary` by seed; of condition numbers, which span decades, the logarithm."""
    values = column(summaries(select), name, method=method)
    return applied(np.log10, values) if name.startswith("condition") else values


@interned
def read(select: Select) -> Callable[[Tables], pd.DataFrame]:
    """The linear probes at some learning rates."""
    return lambda tables: select(tables["probes"], tables["probes"])


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
                learned=learned(read(select), method=("frossl", method)),
                reading=f"ours: {HOW[scale]}, {where}",
                **{side: metric(scaled, select, method)},
            )
            for method in FIGURE3_PUBLISHED
        },
    )  # fmt: skip


def rise(method: str, index: int) -> Measure:
    """The step at which an eigenvalue, at the shared rate, has risen by half; NaN for a run that diverged."""

    def measure(tables: Tables) -> pd.Series:
        traced = rows(tables["eigenvalues"], learning_rate=SHARED_RATE, index=index)
        last = traced["step"].max()
        return pd.Series(
            {
                seed: half_rise(run["step"].to_numpy(), run["raw"].to_numpy())
                if run["step"].max() == last
                else math.nan
                for seed, run in rows(traced, method=method).sort_values("step").groupby("seed")
            },
            dtype=float,
        )

    return measure


def _stepwise(method: str) -> Claim:
    return ordering(
        "", "",
        source="Section 5.2",
        measure=rise(method, 1),
        below=rise(method, TOP),
        unit="steps",
        learned=learned(read(at_shared_rate), method=method),
        reading=f"stepwise: the first eigenvalue has risen by half before the {TOP}th has (ours)",
    )  # fmt: skip


def at_rate(method: str, rate: float) -> Measure:
    """The linear probe at that rate; 0 where the network diverged, which has none."""
    top1 = column("probes", "top1", method=method, learning_rate=rate)
    return applied(lambda values: values.fillna(0.0), top1)


def _best(method: str, rate: float) -> Claim:
    return ordering(
        "", "",
        source="Section 5.2",
        measure=at_rate(method, SHARED_RATE),
        above=at_rate(method, rate),
        unit="% top-1 linear probe",
        learned=learned(at_own_rates("probes"), method=method),
        reading="ours: after Figure 3's steps, not after 100 epochs; a network that diverges has 0 %",
    )  # fmt: skip


CLAIMS: list[Claim] = [
    for_all(
        "skean2024/sec52/shared-rate-best",
        f"Of the sweep, the rate of {SHARED_RATE} gives every method of Figure 3 its best linear probe.",
        {
            f"{METHODS[method].name}, {SHARED_RATE} against {rate:g}": _best(method, rate)
            for method, rate in product((*FIGURE3_PUBLISHED, "frossl"), OTHER_RATES)
        },
    ),
    for_all(
        "skean2024/sec52/stepwise-nonlinear",
        "In nonlinear networks, too, convergence is stepwise: the largest eigenvalue of the embeddings' "
        f"covariance rises before the {TOP}th, at the rate of {SHARED_RATE}.",
        {METHODS[method].name: _stepwise(method) for method in (*FIGURE3_PUBLISHED, "frossl")},
    ),
    *(_claim(*reading) for reading in product(METRICS, SCALES, RATES)),
]
