"""Claims of Sections 6.1 and 6.3 about the methods, each at the learning rate that its pilots choose.

A claim reads the first data set of Table 2 (ten classes) or the second (many).
"""

from collections.abc import Sequence
from itertools import product

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import (
    LEARNED,
    MARGINS,
    PERCENT,
    Comparison,
    Measure,
    Premise,
    above,
    below,
    near,
)
from reprise.evidence.edits import plus, put
from reprise.evidence.measures import (
    Wide,
    applied,
    beside,
    column,
    difference,
    each_seed,
    mean,
    once,
    rows,
    wide,
)
from reprise.papers.skean2024.learned import above_start, learned
from reprise.papers.skean2024.lineup import EARLY, EPOCHS, FIGURE3_PUBLISHED, METHODS, ROWS
from reprise.papers.skean2024.printed import (
    BEST_DIMENSION,
    BEST_EARLY,
    COMPETITIVE,
    NOTICEABLY_WORSE,
    SLOWER,
    SUBSTANTIALLY,
)
from reprise.papers.skean2024.published import DATA_SETS, NEEDS, Number, numbers_of

LEAD = "percentage points, FroSSL's lead"
BEHIND_ALL = "percentage points behind the last sample-contrastive method, the least over epochs"
SIZES = {0: "ten classes", 1: "many classes"}
"""Names of Table 2's data sets, by place."""
OTHERS = tuple(key for key in ROWS if key != "frossl")
OF_TABLE3 = tuple(key for key in OTHERS if key != "corinfomax")
SAMPLE, DIMENSION = (
    tuple(key for key in OF_TABLE3 if METHODS[key].family == family and not key.startswith("frossl"))
    for family in ("sample-contrastive", "dimension-contrastive")
)
ALTERNATIVES = tuple(key for key in OF_TABLE3 if key != "frossl-no-logs")
NO_LOGS = {
    "frossl-no-logs": "as Section 3.1 has it",
    "frossl-no-logs-unit-trace": "of covariances of trace 1",
    "frossl-no-logs-matched": "weighted so that its gradient is FroSSL's at step 0",
}
EARLY_STEPS = 12_300
"""The steps of 30 epochs of STL-10, 410 each."""
SHARES = (
    "the paper's epochs 3, 10, 30, 50 and 100 are steps 1,230 to 41,000; a shorter run looks once at each of "
    "about the same shares of its steps (ours)"
)
WITHIN = "competitive: within the margin of accuracies, as of the printed numbers (ours)"
GATE = "that the final probe of FroSSL or of the other is above its random initialisation, after 15 points"
VARIETY = "other methods: those of Figure 3 (ours); the sentence names none"
BEHIND = plus("probes", "top1", -20.0, method="frossl")
"""Takes 20 points off FroSSL's linear probes."""
NOTHING_ONLINE = put("online", "top1", 0.0, method="frossl")
"""Takes all off FroSSL's online probe."""


def accuracy(place: int, method: str) -> Measure:
    """Accuracy of Table 2 on a data set."""
    return column("probes", "top1", place=place, method=method)


def or_nothing(probe: Measure) -> Measure:
    """A linear probe; 0 of a network that diverged, which has none."""
    return applied(lambda top1: top1.fillna(0.0), probe)


@once
def of_table3(tables: Tables) -> pd.DataFrame:
    """The linear probes of Table 3's networks."""
    return rows(tables["probes"], data_set=tables["online"]["data_set"].iloc[0])


def either_above_start(method: str) -> Premise:
    """Returns the premise of a sentence about FroSSL's lead over a method in the first epochs."""
    return above_start(of_table3, any_of=True, method=("frossl", method))


def online(epoch: int) -> Wide:
    """The methods' accuracies at an epoch of Table 3, a column each; 0 of a network that has diverged."""
    return lambda tables: wide("online", "top1", "method", epoch=epoch)(tables).fillna(0.0)


def lead(method: str, epoch: int) -> Measure:
    """FroSSL's lead over a method at an epoch of Table 3."""

    def measure(tables: Tables) -> pd.Series:
        top1 = online(epoch)(tables)
        return top1["frossl"] - top1[method] if method in top1 else pd.Series(dtype=float)

    return measure


def mean_lead(method: str) -> Measure:
    """FroSSL's lead over a method, on average over the epochs of Table 3."""
    leads = beside(*(lead(method, epoch) for epoch in EPOCHS))
    return applied(lambda each: each.mean(axis=1, skipna=False), leads)


def early(method: str) -> Measure:
    """A method's mean over the tests of the online probe in the first 30 epochs of STL-10; after a divergence
    they count 0."""
    tests = column("online", "top1", method=method, step=lambda steps: steps <= EARLY_STEPS)
    return each_seed(mean, or_nothing(tests))


def behind(method: str, epoch: int) -> Measure:
    """Distance of a method behind the last of the sample-contrastive ones at an epoch of Table 3."""

    def measure(tables: Tables) -> pd.Series:
        top1 = online(epoch)(tables)
        if not {*SAMPLE, method} <= set(top1):
            return pd.Series(dtype=float)
        return top1[list(SAMPLE)].min(axis=1) - top1[method]

    return measure


def least_behind(method: str) -> Measure:
    """Smallest distance, over the epochs of Table 3, of a method behind the last of the sample-contrastive
    ones."""
    behind_at = beside(*(behind(method, epoch) for epoch in EPOCHS))
    return applied(lambda each: each.min(axis=1, skipna=False), behind_at)


def gain_or_none(data_set: str, method: str) -> Measure:
    """Gain of a method's linear probe over its random initialisation; 0 where the network diverged."""
    where = {"data_set": data_set, "method": method}
    ends = (column("probes", name, **where) for name in ("top1", "start"))
    return applied(lambda top1, start: (top1 - start).fillna(0.0), *ends)


def ahead(methods: Sequence[str], epochs: Sequence[int], margin: float = 0.0) -> Cells:
    """FroSSL leads every method at early epochs of Table 3, by more than a margin."""
    for method, epoch in product(methods, epochs):
        yield (
            f"{METHODS[method].name}, epoch {epoch}",
            above(lead(method, epoch), margin, unit=LEAD, premise=either_above_start(method)),
        )


def not_behind(methods: Sequence[str]) -> Cells:
    """FroSSL is at most the margin of accuracies behind every method on every data set."""
    for method, (place, size) in product(methods, SIZES.items()):
        leads = difference(accuracy(place, "frossl"), or_nothing(accuracy(place, method)))
        has_learned = learned("probes", place=place, method="frossl")
        yield (
            f"{METHODS[method].name}, {size}",
            above(leads, -MARGINS["accuracy"], unit=LEAD, learned=has_learned),
        )


@claim(
    "skean2024/abstract/some-require-more-epochs",
    """Some dimension-contrastive method converges more slowly than every sample-contrastive one: its online
    accuracy is below theirs at every epoch of Table 3.""",
    quotes=SLOWER,
    quantifier="existential",
    word="some methods",
    reading=f"slower: behind at every epoch, as of the printed numbers (ours); {SHARES}",
    looked="the claim, after the accuracies of the methods trained here had been seen",
    broken_by=put("online", "top1", 99.0, method="w-mse-2"),
)
def some_require_more_epochs() -> Cells:
    has_learned = learned(of_table3, method=SAMPLE)
    for method in DIMENSION:
        yield METHODS[method].name, above(least_behind(method), 0.0, unit=BEHIND_ALL, learned=has_learned)


@claim(
    "skean2024/abstract/converges-quicker",
    f"""FroSSL's online accuracy is above those of SimCLR, VICReg and Barlow Twins, on average over them and
    over the first {EARLY_STEPS:,} steps, which are 30 epochs of STL-10, or all of a shorter run.""",
    quotes=Quotation("FroSSL converges more quickly than a variety of other SSL methods", "Abstract"),
    quantifier="generic",
    word="converges more quickly than",
    partial=True,
    reading=f"{VARIETY}; a run of fewer steps is judged by all of them, where FroSSL's final probe or the "
    "other method's is above its random initialisation; a diverged network has 0 %",
    looked="the three methods, the mean over tests of the probe and the gate, after Table 3's epochs at the "
    "same shares of a run's steps, of all methods, had been judged",
    broken_by=NOTHING_ONLINE,
)
def converges_quicker() -> Cells:
    for method in FIGURE3_PUBLISHED:
        quicker = above(
            early("frossl"), early(method), unit="% online top-1", range=PERCENT,
            premise=either_above_start(method),
        )  # fmt: skip
        yield METHODS[method].name, quicker


@claim(
    "skean2024/sec6.1/early-lead",
    """FroSSL's online accuracy is above every other method's at each of the first three epochs of Table 3
    ('for the first 30 epochs').""",
    quotes=BEST_EARLY,
    word="outperforms all other",
    reading=SHARES,
    looked=GATE,
    broken_by=NOTHING_ONLINE,
)
def early_lead() -> Cells:
    return ahead(OF_TABLE3, EARLY)


@claim(
    "skean2024/sec6.1/best-dimension-contrastive",
    """FroSSL's online accuracy is above that of each other dimension-contrastive method, on average over the
    epochs of Table 3.""",
    quotes=BEST_DIMENSION,
    word="outperforms all other",
    reading=f"the sentence names no epoch; {SHARES}",
    looked="the average over epochs, after each had been judged",
    broken_by=NOTHING_ONLINE,
)
def best_dimension_contrastive() -> Cells:
    has_learned = learned(of_table3, method="frossl")
    for key in OF_TABLE3:
        if METHODS[key].family == "dimension-contrastive":
            yield METHODS[key].name, above(mean_lead(key), 0.0, unit=LEAD, learned=has_learned)


@claim(
    "skean2024/sec7/substantially-stronger",
    """FroSSL's online accuracy is above that of other methods by more than the margin of accuracies, on
    average over them and the first three epochs of Table 3.""",
    quotes=(
        SUBSTANTIALLY,
        Quotation(
            "FroSSL achieves strong performance, especially when models are trained for fewer epochs",
            at="Section 1",
        ),
    ),
    quantifier="generic",
    word="substantially stronger performance than",
    reading=f"substantially: by more than the margin of accuracies (ours); {SHARES}",
    looked=f"the claim, after the early lead over the methods trained here had been judged; {GATE}",
    broken_by=NOTHING_ONLINE,
)
def substantially_stronger() -> Cells:
    return ahead(ALTERNATIVES, EARLY, MARGINS["accuracy"])


@claim(
    "skean2024/abstract/competitive",
    """FroSSL is competitive with SimCLR, VICReg and Barlow Twins: on every data set its linear probe is at
    most the margin of accuracies below that of any of them.""",
    quotes=COMPETITIVE[1],
    quantifier="similar",
    word="competitive",
    partial=True,
    reading=f"{VARIETY}; {WITHIN}",
    looked="the claim, after it had been judged of all methods that a run trained",
    broken_by=BEHIND,
)
def competitive() -> Cells:
    return not_behind(FIGURE3_PUBLISHED)


@claim(
    "skean2024/sec6.1/competitive",
    """FroSSL is competitive: on every data set its linear probe is at most the margin of accuracies below
    that of any other method of Table 2.""",
    quotes=COMPETITIVE[0],
    quantifier="similar",
    word="competitive",
    reading=WITHIN,
    broken_by=BEHIND,
)
def competitive_with_all() -> Cells:
    return not_behind(OTHERS)


@claim(
    "skean2024/sec6.1/corinfomax-fails",
    f"""CorInfoMax does not converge on STL-10: its linear probe gains less over its random initialisation
    than the {LEARNED:g} points that show learning.""",
    quotes=Quotation("we were not able to get it to converge on STL-10", at="Section 6.1"),
    word="we were not able to",
    needs=NEEDS,
    reading="converges: learns (ours); a network that diverges gains nothing",
    broken_by=plus("probes", "top1", 50.0, data_set="stl10", method="corinfomax"),
)
def corinfomax_fails() -> Comparison:
    return below(
        gain_or_none("stl10", "corinfomax"),
        LEARNED,
        unit="percentage points over random initialisation",
        learned=learned("probes", data_set="stl10", method="frossl"),
    )


@each(NO_LOGS)
def logs_help(method: str) -> Claim:
    @claim(
        f"skean2024/sec6.3/logs-help-{method.removeprefix('frossl-')}",
        f"""Without logarithms FroSSL's linear probe is worse, on average over the data sets: the loss
        {NO_LOGS[method]}.""",
        quotes=NOTICEABLY_WORSE,
        quantifier="generic",
        word="noticeably worse performance than",
        reading=f"the loss {NO_LOGS[method]}; the paper gives neither its scale nor its rate, and trials "
        "found none at which it learned more (docs/image_task.md); a diverged network has 0 %",
        looked="the three readings, after trials in which the loss of Section 3.1 had learned nothing at any "
        "rate",
        broken_by=BEHIND,
    )
    def with_logs_above() -> Cells:
        for place, size in SIZES.items():
            yield (
                size,
                above(
                    accuracy(place, "frossl"),
                    or_nothing(accuracy(place, method)),
                    unit="% top-1 linear probe",
                    range=PERCENT,
                    learned=learned("probes", place=place, method="frossl"),
                ),
            )

    return with_logs_above


# The printed numbers, which a run without departures alone decides.


def name_of(column: str) -> str:
    """The data set of a column of Table 2."""
    return column.lower().replace("-", "")


def average(method: str) -> Measure:
    """Average of Table 2 over its data sets; nothing if one of them is missing."""

    def over_data_sets(top1: pd.DataFrame) -> pd.Series:
        complete = len(top1.columns) == len(DATA_SETS)
        return top1.mean(axis=1, skipna=False) if complete else pd.Series(dtype=float)

    return applied(over_data_sets, wide("probes", "top1", "data_set", method=method))


@each(numbers_of("Table 2"))
def reaches(number: Number) -> Claim:
    is_average = number.column == "Average"
    where = {} if is_average else {"data_set": name_of(number.column)}

    @claim(
        f"skean2024/{number.key}",
        f"""A linear probe of {number.row} reaches {number.value} % on
        {"the three data sets" if is_average else number.column}.""",
        quotes=number.as_printed,
        word=str(number.value),
        needs=NEEDS,
        broken_by=plus("probes", "top1", 9.0, method=number.method, **where),
    )
    def accuracy_of() -> Comparison:
        one = column("probes", "top1", method=number.method, **where)
        measure = average(number.method) if is_average else one
        return near(measure, number.value, quantity="accuracy", unit="% top-1")

    return accuracy_of


@each(numbers_of("Table 3"))
def reaches_online(number: Number) -> Claim:
    epoch = int(number.column.removeprefix("epoch "))

    @claim(
        f"skean2024/{number.key}",
        f"""An online linear probe of {number.row} reaches {number.value} % at epoch {epoch} on STL-10.""",
        quotes=number.as_printed,
        word=str(number.value),
        needs=NEEDS,
        broken_by=plus("online", "top1", 9.0, method=number.method, epoch=epoch),
    )
    def accuracy_of() -> Comparison:
        measure = column("online", "top1", method=number.method, epoch=epoch)
        return near(measure, number.value, quantity="accuracy", unit="% top-1")

    return accuracy_of
