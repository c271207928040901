"""What Sections 6.1 and 6.3 say of the methods, each at the learning rate that its pilots choose.

Of Table 2 a claim reads the first data set (ten classes) or the second (many).
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim
from reprise.evidence.claims import for_all, ordering, value
from reprise.evidence.comparison import LEARNED, MARGINS, PERCENT, Comparison, Measure, above
from reprise.evidence.measures import applied, column, difference, once, rows, wide
from reprise.papers.skean2024.learned import learned
from reprise.papers.skean2024.lineup import EARLY, EPOCHS, METHODS, ROWS
from reprise.papers.skean2024.published import DATA_SETS, NEEDS, rows_of, slug

POINTS = "percentage points"
TEN_CLASSES, MANY_CLASSES = 0, 1
SIZES = {TEN_CLASSES: "ten classes", MANY_CLASSES: "many classes"}
"""Of Table 2's data sets."""
TABLE3 = tuple(key for key in ROWS if key != "corinfomax")
NO_LOGS = {
    "frossl-no-logs": "as Section 3.1 has it",
    "frossl-no-logs-unit-trace": "of covariances of trace 1",
    "frossl-no-logs-matched": "weighted so that its gradient is FroSSL's at step 0",
}


def accuracy(place: int, method: str) -> Measure:
    """Table 2's, of a data set."""
    return column("probes", "top1", place=place, method=method)


@once
def of_table3(tables: Tables) -> pd.DataFrame:
    """The linear probes of Table 3's networks."""
    return rows(tables["probes"], data_set=tables["online"]["data_set"].iloc[0])


def lead(method: str, epoch: int) -> Measure:
    """FroSSL's lead over a method at an epoch of Table 3."""

    def measure(tables: Tables) -> pd.Series:
        top1 = wide("online", "top1", "method", epoch=epoch)(tables)
        return top1["frossl"] - top1[method] if method in top1 else pd.Series(dtype=float)

    return measure


def _leads(name: str, statement: str, methods: Sequence[str], epochs: Sequence[int]) -> Claim:
    return for_all(
        f"skean2024/sec6.1/{name}",
        statement,
        {
            f"{METHODS[method].name}, epoch {epoch}": _lead(method, epoch)
            for method, epoch in product(methods, epochs)
        },
        source="Section 6.1, Table 3",
        word="outperforms all other",
    )


def _lead(method: str, epoch: int) -> Comparison:
    return above(
        lead(method, epoch),
        0.0,
        unit=f"{POINTS}, FroSSL's lead",
        learned=learned(of_table3, method="frossl"),
    )


def _competitive(method: str, place: int) -> Comparison:
    return above(
        difference(accuracy(place, "frossl"), accuracy(place, method)),
        -MARGINS["accuracy"],
        unit=f"{POINTS}, FroSSL's lead",
        learned=learned("probes", place=place, method="frossl"),
    )


def _logs(method: str) -> Claim:
    sets = {
        SIZES[place]: above(
            accuracy(place, "frossl"),
            accuracy(place, method),
            unit="% top-1 linear probe",
            range=PERCENT,
            learned=learned("probes", place=place, method="frossl"),
        )
        for place in SIZES
    }
    return for_all(
        f"skean2024/sec6.3/logs-help-{method.removeprefix('frossl-')}",
        f"Without logarithms FroSSL's linear probe is worse on every data set: the loss {NO_LOGS[method]}.",
        sets,
        source="Section 6.3",
        quantifier="generic",
        word="noticeably worse performance than",
        reading=f"the loss {NO_LOGS[method]}; the paper does not give its scale",
    )


def probe(data_set: str, method: str) -> Measure:
    """Table 2's, of a data set by name."""
    return column("probes", "top1", data_set=data_set, method=method)


def gain_or_none(data_set: str, method: str) -> Measure:
    """Of a method's linear probe over its random initialisation; 0 where the network diverged."""
    where = {"data_set": data_set, "method": method}
    ends = (column("probes", name, **where) for name in ("top1", "start"))
    return applied(lambda top1, start: (top1 - start).fillna(0.0), *ends)


def average(method: str) -> Measure:
    """Table 2's, over its data sets; nothing if one of them is missing."""

    def over_data_sets(top1: pd.DataFrame) -> pd.Series:
        complete = len(top1.columns) == len(DATA_SETS)
        return top1.mean(axis=1, skipna=False) if complete else pd.Series(dtype=float)

    return applied(over_data_sets, wide("probes", "top1", "data_set", method=method))


def at_epoch(method: str, epoch: int) -> Measure:
    """Table 3's."""
    return column("online", "top1", method=method, epoch=epoch)


def _printed_number(row: Mapping[str, Any]) -> Claim:
    """That a run at the paper's scale gives a number of Tables 2 and 3 again."""
    name, column, number = row["row"], row["column"], row["value"]
    method, online = slug(name), row["artifact"] == "Table 3"
    where = f"{column} of STL-10" if online else {"Average": "the three data sets"}.get(column, column)
    if online:
        measure = at_epoch(method, int(column.removeprefix("epoch ")))
    elif column == "Average":
        measure = average(method)
    else:
        measure = probe(column.lower().replace("-", ""), method)
    return value(
        f"skean2024/{slug(row['artifact']).replace('-', '')}/{method}-{slug(column)}",
        f"{'An online' if online else 'A'} linear probe of {name} reaches {number} % on {where}.",
        source=row["artifact"],
        quantity="accuracy",
        measure=measure,
        published=number,
        unit="% top-1",
        needs=NEEDS,
        word="online linear classifier accuracies" if online else "linear probe evaluation results",
    )


CLAIMS: list[Claim] = [
    _leads(
        "early-lead",
        "FroSSL's online accuracy is above every other method's at each of the first three epochs of "
        "Table 3 ('for the "
        "first 30 epochs').",
        [method for method in TABLE3 if method != "frossl"],
        EARLY,
    ),
    _leads(
        "best-dimension-contrastive",
        "FroSSL's online accuracy is above that of every other dimension-contrastive method at each "
        "epoch of Table 3.",
        [
            method
            for method in TABLE3
            if METHODS[method].family == "dimension-contrastive" and method != "frossl"
        ],
        EPOCHS,
    ),
    for_all(
        "skean2024/sec6.1/competitive",
        "FroSSL is competitive: on every data set its linear probe is at most the margin of accuracies "
        "below that of any other method.",
        {
            f"{METHODS[method].name}, {SIZES[place]}": _competitive(method, place)
            for method, place in product(ROWS, SIZES)
            if method != "frossl"
        },
        source="Section 6.1, Table 2",
        word="learns competitive representations",
        reading="competitive: within the margin of accuracies, as of the printed numbers (ours)",
    ),
    ordering(
        "skean2024/sec6.1/corinfomax-fails",
        "CorInfoMax does not converge on STL-10: its linear probe gains less over its random "
        f"initialisation than the {LEARNED:g} points that show learning.",
        source="Section 6.1, Table 2",
        measure=gain_or_none("stl10", "corinfomax"),
        below=LEARNED,
        unit=f"{POINTS} over random initialisation",
        learned=learned("probes", data_set="stl10", method="frossl"),
        needs=NEEDS,
        word="we were not able to",
        reading="converges: learns (ours); a network that diverges gains nothing",
    ),
    *(_logs(method) for method in NO_LOGS),
    *(_printed_number(row) for artifact in ("Table 2", "Table 3") for row in rows_of(artifact)),
]
