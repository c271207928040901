"""Claims of Section 5.2 about Figure 3: its metrics, the eigenvalues' stepwise rise, and the rate."""

import math
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Change, Claim, Quotation, claim, each
from reprise.evidence.comparison import MARGINS, Comparison, Measure, Premise, above, below
from reprise.evidence.edits import plus, swapped, times, together
from reprise.evidence.measures import applied, column, difference, once, rows
from reprise.papers.skean2024.eigenvalue_saturation.experiment import SHARED_RATE
from reprise.papers.skean2024.eigenvalue_saturation.measures import SCALES, TOP, half_rise, summary
from reprise.papers.skean2024.learned import above_start
from reprise.papers.skean2024.lineup import FIGURE3_PUBLISHED, METHODS

SHARED, OWN = False, True
"""Values of the column `own_rate`."""
OUTPERFORMS = Quotation(
    "At the end of the 5th epoch, FroSSL outperforms the other methods in the following three metrics",
    at="Figure 3, Section 5.2",
)
EIGENVALUES = Quotation(
    "this faster convergence is due to how FroSSL affects the eigenvalues of the embedding covariance "
    "matrices",
    at="Abstract",
)
GATE = (
    "that methods count whose probe is above its random initialisation, after networks of 3,000 steps that "
    "had to gain 15 points, and after it had to be in every run, not by its interval"
)
LOOKED = (
    "which reading of Figure 3 is the paper's, and that the others are ours, after the verdicts on each had "
    f"been seen; the logarithm of steps; {GATE}"
)


class Metric(NamedTuple):
    """One of Figure 3's metrics. None can be negative.

    Attributes:
        says: what is better of FroSSL, in words.
        quotes: what the paper says of it beside `OUTPERFORMS`.
    """

    name: str
    says: str
    better: Callable[..., Comparison]
    unit: str
    quotes: tuple[Quotation, ...]

    def broken(self, *scales: str) -> Change:
        """Makes FroSSL's metric the worst, in the given scales."""
        if self.name == "entropy":
            return times("traces", [f"entropy_{scale}" for scale in scales], 0.1, method="frossl")
        if self.name == "condition":
            return times("eigenvalues", scales, 100.0, method="frossl", index=1)
        return times("eigenvalues", scales, 0.1, method="frossl", index=TOP, step=before_late)


def before_late(steps: pd.Series) -> pd.Series:
    """The first four fifths of the steps."""
    return steps < 0.8 * steps.max()


METRICS = (
    Metric(
        "condition",
        f"condition number λ1/λ{TOP} of the embeddings' covariance is smaller at the end",
        below,
        f"log10 of λ1/λ{TOP}",
        (Quotation("because the smallest eigendirection is as relevant as the largest", at="Section 5.2"),),
    ),
    Metric(
        "entropy",
        "eigenvalue entropy of the embeddings' covariance is larger at the end",
        above,
        "nats",
        (
            Quotation(
                "Higher entropy is better because more eigendirections have been learned", "Section 5.2"
            ),
            EIGENVALUES,
        ),
    ),
    Metric(
        "saturation",
        f"{TOP}th eigenvalue of the embeddings' covariance saturates at an earlier step",
        below,
        "log10 of steps, at most the horizon",
        (
            Quotation(
                "Earlier is better because convergence can occur with fewer training steps", at="Section 5.2"
            ),
            EIGENVALUES,
        ),
    ),
)


@once
def every_summary(tables: Tables) -> pd.DataFrame:
    """`measures.summary`. An eigenvalue that still moves at the end saturates there, at the earliest: the
    means are restricted to the horizon, as those of survival times are."""
    return summary(tables["eigenvalues"], tables["traces"]).replace(math.inf, tables["traces"]["step"].max())


def metric(name: str, own_rate: bool, method: str) -> Measure:
    """A column of `measures.summary` by seed; the logarithm of condition numbers and steps, which span
    decades."""
    values = column(every_summary, name, own_rate=own_rate, method=method)
    return values if name.startswith("entropy") else applied(np.log10, values)


def ahead(one: Metric, scale: str, own_rate: bool, other: str) -> Comparison:
    """FroSSL is better than another method by a metric."""
    frossl, others = (metric(f"{one.name}_{scale}", own_rate, method) for method in ("frossl", other))
    risen = above_start("probes", own_rate=own_rate, method=("frossl", other))
    return one.better(frossl, others, unit=one.unit, bounds=(0.0, math.inf), premise=risen)


@each(METRICS)
def outperforms(one: Metric) -> Claim:
    @claim(
        f"skean2024/fig3/{one.name}-raw-shared-rate",
        f"""FroSSL's {one.says} than those of SimCLR, VICReg and Barlow Twins, all at the learning rate
        {SHARED_RATE}.""",
        quotes=(OUTPERFORMS, *one.quotes),
        quantifier="generic",
        word="outperforms the other methods",
        reading="the covariance is of the embeddings as they are: Section 5.2 speaks of dimensions of equal "
        "variance only as a condition",
        looked=LOOKED,
        broken_by=one.broken("raw"),
    )
    def better() -> Cells:
        for method in FIGURE3_PUBLISHED:
            yield METHODS[method].name, ahead(one, "raw", SHARED, method)

    return better


@claim(
    "skean2024/sec1/best-conditioned",
    f"""FroSSL leads to the best-conditioned problem (our reading: Section 1 names no winner): the condition
    number λ1/λ{TOP} of its embeddings' covariance is smaller at the end than each of those of SimCLR, VICReg
    and Barlow Twins, all at the learning rate {SHARED_RATE}.""",
    quotes=Quotation(
        "which methods lead to the best-conditioned, and thus quickest, optimization problems", at="Section 1"
    ),
    word="best-conditioned",
    reading="Section 1 names no winner; that it is FroSSL, by the condition number, we read from Figure 3",
    looked="that the superlative is judged against each method, after it had been on average over them; "
    + GATE,
    broken_by=METRICS[0].broken("raw"),
)
def best_conditioned() -> Cells:
    for method in FIGURE3_PUBLISHED:
        yield METHODS[method].name, ahead(METRICS[0], "raw", SHARED, method)


@claim(
    "skean2024/fig3/other-readings",
    """FroSSL outperforms SimCLR, VICReg and Barlow Twins by Figure 3's metrics also where the embeddings'
    dimensions have unit variance, and where each method has its own learning rate.""",
    at=OUTPERFORMS.at,
    form="ours",
    quantifier="generic",
    word="outperforms",
    partial=True,
    reading="ours: Section 3.2 normalises the variance unless otherwise specified, Figure 3 does not say "
    "whether it does, and a shared rate may suit one method better than another",
    looked=f"{LOOKED}; other images as a setting, after they had been cells here",
    broken_by=together(*(one.broken(*SCALES) for one in METRICS)),
)
def other_readings() -> Cells:
    readings = {"unit variance": ("normalised", SHARED), "own rate": ("raw", OWN)}
    for one, (name, (scale, own_rate)), method in product(METRICS, readings.items(), FIGURE3_PUBLISHED):
        yield f"{one.name}, {name}, {METHODS[method].name}", ahead(one, scale, own_rate, method)


def rise(method: str, index: int) -> Measure:
    """The step at which an eigenvalue, at the shared rate, has risen by half; NaN where it does not rise, or
    the run diverged."""

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


def all_rise(one: pd.Series, other: pd.Series, probe: pd.Series) -> pd.Series:
    """1 where both eigenvalues rise, and so does the probe."""
    return (one.notna() & other.notna() & probe.eq(1)).astype(float)


def or_horizon(rises: Measure) -> Measure:
    """The step of a rise; the horizon where there is none, which the premise keeps from being judged."""
    return lambda tables: rises(tables).fillna(float(tables["eigenvalues"]["step"].max()))


@claim(
    "skean2024/sec52/stepwise-nonlinear",
    f"""In nonlinear networks, too, convergence is stepwise: at the learning rate {SHARED_RATE} the largest
    eigenvalue of the embeddings' covariance rises before the {TOP}th.""",
    quotes=Quotation(
        "The phenomenon of stepwise convergence occurs in the nonlinear regime as well", at="Section 5.2"
    ),
    quantifier="generic",
    word="occurs in the nonlinear regime",
    reading=f"stepwise: the first eigenvalue has risen by half before the {TOP}th has (ours)",
    looked=f"the premise, that both eigenvalues rise, after some had fallen; {GATE}",
    broken_by=swapped("eigenvalues", "index", 1, TOP),
)
def stepwise_nonlinear() -> Cells:
    for method in (*FIGURE3_PUBLISHED, "frossl"):
        first, last = rise(method, 1), rise(method, TOP)
        probe = above_start("probes", own_rate=SHARED, method=method).measure
        premise = Premise(
            f"rise of the probe, the largest and the {TOP}th eigenvalue in every run: one of them falls",
            applied(all_rise, first, last, probe),
        )
        yield (
            METHODS[method].name,
            below(or_horizon(first), or_horizon(last), unit="steps", premise=premise),
        )


def accuracy(method: str, own_rate: bool) -> Measure:
    """The linear probe; 0 where the network diverged, which has none."""
    top1 = column("probes", "top1", method=method, own_rate=own_rate)
    return applied(lambda values: values.fillna(0.0), top1)


@claim(
    "skean2024/sec52/shared-rate-best",
    f"""The learning rate {SHARED_RATE} gives every method of Figure 3 its best linear probe: none is more
    than the margin of accuracies below its probe at the rate that its pilots choose.""",
    quotes=Quotation("A learning rate of 0.1 was best for all objectives", at="Section 5.2"),
    word="best for all objectives",
    reading="ours: after Figure 3's steps, not after 100 epochs, and within the margin of accuracies; a "
    "network that diverges has 0 %; where a method's pilots choose the shared rate, both are the same "
    "networks; a run's rates may go beyond the paper's sweep, whose highest is the shared one",
    looked=GATE,
    broken_by=plus("probes", "top1", -20.0, own_rate=SHARED),
)
def shared_rate_best() -> Cells:
    for method in (*FIGURE3_PUBLISHED, "frossl"):
        best = above(
            difference(accuracy(method, SHARED), accuracy(method, OWN)),
            -MARGINS["accuracy"],
            unit="percentage points of a linear probe, shared over own rate",
            premise=above_start("probes", own_rate=OWN, method=method),
        )
        yield METHODS[method].name, best
