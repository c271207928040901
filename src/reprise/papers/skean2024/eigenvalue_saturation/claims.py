"""What Section 5.2 says of its learning rate, and of Figure 3: the three metrics, FroSSL against each of the
others, at the paper's shared learning rate and at each method's own, of the spectrum as it is and of
normalised columns.
"""

import math
from itertools import product

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.datasets.catalogue import DATA_SETS
from reprise.evidence.claim import Claim
from reprise.evidence.claims import for_all
from reprise.evidence.comparison import MARGINS, Comparison, Measure, above, below
from reprise.evidence.learning import ELSEWHERE
from reprise.evidence.measures import applied, column, difference, once, rows
from reprise.papers.skean2024.eigenvalue_saturation.experiment import SHARED_RATE
from reprise.papers.skean2024.eigenvalue_saturation.measures import SCALES, TOP, half_rise, summary
from reprise.papers.skean2024.learned import learned
from reprise.papers.skean2024.lineup import FIGURE3_PUBLISHED, METHODS

METRICS = {
    "condition": ("condition number λ1/λ14", "smaller", "log10 of λ1/λ14"),
    "entropy": ("eigenvalue entropy", "larger", "nats"),
    "saturation": ("14th eigenvalue", "saturated at an earlier step", "steps, at most the horizon"),
}
"""None of them can be negative."""
HOW = {"raw": "of the embeddings as they are", "normalised": "of embeddings with columns of unit variance"}


SHARED, OWN = False, True
"""Of the column `own_rate`."""
RATES = {
    "shared-rate": (SHARED, f"at the shared learning rate of {SHARED_RATE}"),
    "own-rate": (OWN, "at its own learning rate"),
}


@once
def every_summary(tables: Tables) -> pd.DataFrame:
    """`measures.summary`, in which an eigenvalue that still moves at the end saturates there, at the
    earliest: their means are restricted to the horizon, as those of survival times are."""
    return summary(tables["eigenvalues"], tables["traces"]).replace(math.inf, tables["traces"]["step"].max())


def metric(name: str, own_rate: bool, data_set: str, method: str) -> Measure:
    """A column of `measures.summary` by seed; of condition numbers, which span decades, the logarithm."""
    values = column(every_summary, name, own_rate=own_rate, data_set=data_set, method=method)
    return applied(np.log10, values) if name.startswith("condition") else values


def _claim(name: str, scale: str, rate: str) -> Claim:
    what, comparison, unit = METRICS[name]
    own_rate, where = RATES[rate]
    scaled = f"{name}_{scale}"
    side = above if comparison == "larger" else below
    return for_all(
        f"skean2024/fig3/{name}-{scale}-{rate}",
        f"FroSSL's {what} is {comparison} than that of SimCLR, VICReg and Barlow Twins, each {where}; "
        f"{HOW[scale]}; on each data set on which a run looks.",
        {
            f"{data_set}, {METHODS[method].name}": side(
                metric(scaled, own_rate, data_set, "frossl"),
                metric(scaled, own_rate, data_set, method),
                unit=unit,
                bounds=(0.0, math.inf),
                learned=learned("probes", own_rate=own_rate, method=("frossl", method)),
            )
            for data_set, method in product(DATA_SETS, FIGURE3_PUBLISHED)
        },
        source="Section 5.2, Figure 3",
        reading=f"ours: {HOW[scale]}, {where}; {ELSEWHERE}",
        quantifier="generic",
        word="outperforms the other methods",
        partial=True,
    )


def rise(method: str, index: int) -> Measure:
    """The step at which an eigenvalue, at the shared rate, has risen by half; NaN for a run that diverged."""

    def measure(tables: Tables) -> pd.Series:
        traced = rows(tables["eigenvalues"], own_rate=SHARED, index=index)
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


def _stepwise(method: str) -> Comparison:
    return below(
        rise(method, 1),
        rise(method, TOP),
        unit="steps",
        learned=learned("probes", own_rate=SHARED, method=method),
    )


def accuracy(method: str, own_rate: bool) -> Measure:
    """The linear probe; 0 where the network diverged, which has none."""
    top1 = column("probes", "top1", method=method, own_rate=own_rate)
    return applied(lambda values: values.fillna(0.0), top1)


def _best(method: str) -> Comparison:
    return above(
        difference(accuracy(method, SHARED), accuracy(method, OWN)),
        -MARGINS["accuracy"],
        unit="percentage points of a linear probe, shared over own rate",
        learned=learned("probes", own_rate=OWN, method=method),
    )


CLAIMS: list[Claim] = [
    for_all(
        "skean2024/sec52/shared-rate-best",
        f"The rate of {SHARED_RATE} gives every method of Figure 3 its best linear probe: none is more than "
        "the margin of accuracies below its probe at the rate that its pilots choose.",
        {METHODS[method].name: _best(method) for method in (*FIGURE3_PUBLISHED, "frossl")},
        source="Section 5.2",
        word="best for all objectives",
        reading="ours: after Figure 3's steps, not after 100 epochs, and within the margin of accuracies; a "
        "network that diverges has 0 %; where a method's pilots, of one seed, choose the shared rate, both "
        "are the same networks",
    ),
    for_all(
        "skean2024/sec52/stepwise-nonlinear",
        "In nonlinear networks, too, convergence is stepwise: the largest eigenvalue of the embeddings' "
        f"covariance rises before the {TOP}th, at the rate of {SHARED_RATE}.",
        {METHODS[method].name: _stepwise(method) for method in (*FIGURE3_PUBLISHED, "frossl")},
        source="Section 5.2",
        quantifier="generic",
        word="occurs in the nonlinear regime",
        reading=f"stepwise: the first eigenvalue has risen by half before the {TOP}th has (ours)",
    ),
    *(_claim(*reading) for reading in product(METRICS, SCALES, RATES)),
]
