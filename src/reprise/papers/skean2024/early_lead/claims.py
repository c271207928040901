"""What Section 6.2 says of Figure 4."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim
from reprise.evidence.claims import for_all, value
from reprise.evidence.comparison import Comparison, Measure, above, below, near
from reprise.evidence.measures import Wide, column, interned
from reprise.papers.skean2024.early_lead.experiment import EPOCHS, LOOKS, PAIR, SHOWN
from reprise.papers.skean2024.learned import learned
from reprise.papers.skean2024.published import NEEDS, rows_of, slug

K = {"top1": "top-1", "top5": "top-5"}


@interned
def leads(column: str) -> Wide:
    """FroSSL's lead over Barlow Twins: a row a seed, a column an epoch."""

    def measure(tables: Tables) -> pd.DataFrame:
        accuracy = tables["online"].pivot(index=["seed", "epoch"], columns="method", values=column)
        return (accuracy["frossl"] - accuracy["barlow-twins"]).unstack("epoch")

    return measure


def first(column: str) -> Measure:
    """At the first test of the online probe."""
    return lambda tables: leads(column)(tables).iloc[:, 0]


def mean_early(column: str) -> Measure:
    """The mean over the epochs that the figure shows."""
    return lambda tables: leads(column)(tables).loc[:, :SHOWN].mean(axis=1, skipna=False)


def after(epoch: int, column: str) -> Measure:
    return lambda tables: leads(column)(tables)[epoch]


def final(column: str) -> Measure:
    return after(EPOCHS, column)


def probe(method: str, name: str) -> Measure:
    """The linear probe of the end."""
    return column("probes", name, method=method)


SOURCE = "Section 6.2, Figure 4"
LEARNED_BY_PAIR = learned("probes", method=PAIR)


def _unit(column: str) -> str:
    return f"percentage points of online {K[column]}, FroSSL's lead over Barlow Twins"


def _leads(column: str, lead: Measure) -> Comparison:
    return above(lead, 0.0, unit=_unit(column), learned=learned("probes", method="frossl"))


def _similar(column: str) -> Comparison:
    return near(
        probe("frossl", column),
        probe("barlow-twins", column),
        quantity="accuracy",
        kind="trend",
        unit=f"% {K[column]} linear probe",
        learned=LEARNED_BY_PAIR,
    )


def _catches_up(column: str) -> dict[str, Comparison]:
    k, early = K[column], mean_early(column)
    return {
        f"{k}: FroSSL leads at first": _leads(column, early),
        f"{k}: by less in the end": below(final(column), early, unit=_unit(column), learned=LEARNED_BY_PAIR),
    }


SENTENCES: list[Claim] = [
    for_all(
        "skean2024/fig4/ahead-after-the-first-epoch",
        "FroSSL's top-1 and top-5 accuracies are above Barlow Twins' already at the first test of "
        "the online probe.",
        {k: _leads(column, first(column)) for column, k in K.items()},
        source=SOURCE,
        quantifier="generic",
        word="has an improvement of",
    ),
    for_all(
        "skean2024/fig4/ahead-for-30-epochs",
        f"FroSSL's top-1 and top-5 accuracies are above Barlow Twins' in the first {SHOWN} of {EPOCHS} "
        f"epochs: after {LOOKS[0]}, {LOOKS[1]} and {LOOKS[2]}.",
        {
            f"{k}, epoch {epoch}": _leads(column, after(epoch, column))
            for (column, k), epoch in product(K.items(), LOOKS)
        },
        source=SOURCE,
        quantifier="generic",
        word="what happens early in training",
    ),
    for_all(
        "skean2024/fig4/barlow-catches-up",
        "Barlow Twins catches up: at the end FroSSL's lead in top-1 and top-5 accuracy is smaller "
        "than its mean over "
        f"the first {SHOWN} epochs.",
        {name: cell for column in K for name, cell in _catches_up(column).items()},
        source=SOURCE,
        word="does catch up",
    ),
    for_all(
        "skean2024/fig4/similar-in-the-end",
        "In the end FroSSL and Barlow Twins have similar top-1 and top-5 accuracies of a linear probe.",
        {k: _similar(column) for column, k in K.items()},
        source=SOURCE,
        quantifier="similar",
        word="achieves similar performances",
    ),
]


def _final(row: Mapping[str, Any]) -> Claim:
    """A printed final accuracy."""
    k = row["column"].split()[1]  # top-1 or top-5
    column = k.replace("-", "")
    return value(
        f"skean2024/fig4/{slug(row['row'])}-{column}",
        f"{row['row']} ends at {row['value']} % {k} on ImageNet.",
        source="Section 6.2",
        quantity="accuracy",
        measure=probe(slug(row["row"]), column),
        published=row["value"],
        unit=f"% {k} linear probe",
        needs=NEEDS,
        word="achieve final top1/top5 accuracies of",
    )


def _printed_lead(row: Mapping[str, Any]) -> Claim:
    return value(
        "skean2024/fig4/lead-after-epoch1",
        f"After the first epoch FroSSL is {row['value']} percentage points of top-1 above Barlow Twins.",
        source="Section 6.2",
        quantity="accuracy",
        measure=first("top1"),
        published=row["value"],
        unit="percentage points of online top-1",
        needs=NEEDS,
        word="has an improvement of",
        reading="ours: the paper says neither which accuracy nor that it means points",
    )


*FINALS, LEAD = rows_of("Section 6.2 text")
CLAIMS: list[Claim] = [
    *SENTENCES,
    *(_final(row) for row in FINALS),
    _printed_lead(LEAD),
]
