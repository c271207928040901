"""What Section 6.2 says of Figure 4."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reprise.evidence.claims import Claim, Measure, ordering, value
from reprise.evidence.measures import column, rows
from reprise.papers.skean2024.early_lead.params import EPOCHS, PAIR, SHOWN
from reprise.papers.skean2024.published import NEEDS, rows_of, slug
from reprise.papers.skean2024.rates import at_own_rate, at_own_rates, gains
from reprise.study.experiment import Tables

K = {"top1": "top-1", "top5": "top-5"}


def leads(tables: Tables, column: str) -> pd.DataFrame:
    """FroSSL's lead over Barlow Twins: a row a seed, a column an epoch."""
    online = at_own_rate(tables["online"], tables["probes"])
    accuracy = online.pivot(index=["seed", "epoch"], columns="method", values=column)
    return (accuracy["frossl"] - accuracy["barlow-twins"]).unstack("epoch")


def first(column: str) -> Measure:
    """At the first test of the online probe."""
    return lambda tables: leads(tables, column).iloc[:, 0]


def early(column: str) -> Measure:
    """The smallest over the epochs that the figure shows."""
    return lambda tables: leads(tables, column).loc[:, :SHOWN].min(axis=1, skipna=False)


def mean_early(column: str) -> Measure:
    """The mean over the epochs that the figure shows."""
    return lambda tables: leads(tables, column).loc[:, :SHOWN].mean(axis=1, skipna=False)


def final(column: str) -> Measure:
    return lambda tables: leads(tables, column)[EPOCHS]


def probe(method: str, name: str) -> Measure:
    """The linear probe of the end."""
    return column(at_own_rates("probes"), name, method=method)


def learned(tables: Tables) -> pd.Series:
    return gains(rows(at_own_rates("probes")(tables), method=PAIR))


def _claims(column: str) -> list[Claim]:
    k = K[column]
    unit = f"percentage points of online {k}, FroSSL's lead over Barlow Twins"
    common = {"source": "Section 6.2, Figure 4", "learned": learned}
    return [
        ordering(
            f"skean2024/fig4/ahead-after-the-first-epoch-{column}",
            f"FroSSL's {k} accuracy is above Barlow Twins' already at the first test of the online probe.",
            measure=first(column),
            above=0.0,
            unit=unit,
            **common,  # type: ignore[arg-type]
        ),
        ordering(
            f"skean2024/fig4/ahead-for-30-epochs-{column}",
            f"FroSSL's {k} accuracy is above Barlow Twins' at every test in the first {SHOWN} of {EPOCHS} "
            "epochs.",
            measure=early(column),
            above=0.0,
            unit=unit,
            **common,  # type: ignore[arg-type]
        ),
        ordering(
            f"skean2024/fig4/barlow-catches-up-{column}",
            f"Barlow Twins catches up: at the end FroSSL's lead in {k} accuracy is smaller than its mean "
            f"over the first {SHOWN} epochs.",
            measure=final(column),
            below=mean_early(column),
            unit=unit,
            **common,  # type: ignore[arg-type]
        ),
        value(
            f"skean2024/fig4/similar-in-the-end-{column}",
            f"In the end the two have similar {k} accuracies of a linear probe.",
            quantity="accuracy",
            measure=probe("frossl", column),
            published=probe("barlow-twins", column),
            kind="trend",
            unit=f"% {k} linear probe",
            **common,  # type: ignore[arg-type]
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
    )


def _printed_lead(row: Mapping[str, Any]) -> Claim:
    return value(
        "skean2024/fig4/lead-after-epoch1",
        f"After the first epoch FroSSL is {row['value']} percentage points of top-1 above Barlow Twins (our "
        "reading: the paper says neither which accuracy nor that it means points).",
        source="Section 6.2",
        quantity="accuracy",
        measure=first("top1"),
        published=row["value"],
        unit="percentage points of online top-1",
        needs=NEEDS,
    )


*FINALS, LEAD = rows_of("Section 6.2 text")
CLAIMS: list[Claim] = [
    *(claim for column in K for claim in _claims(column)),
    *(_final(row) for row in FINALS),
    _printed_lead(LEAD),
]
