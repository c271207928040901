"""What Section 6.2 says of Figure 4."""

import pandas as pd

from reprise.evidence.claims import Claim, Measure, ordering, value
from reprise.experiment import Tables
from reprise.papers.skean2024.early_lead.params import EPOCHS, PAIR, SHOWN
from reprise.papers.skean2024.rates import at_own_rate, gains

K = {"top1": "top-1", "top5": "top-5"}


def leads(tables: Tables, column: str) -> pd.DataFrame:
    """FroSSL's lead over Barlow Twins: a row a seed, a column an epoch."""
    own = at_own_rate(tables["online"], tables["probes"])
    wide = own.pivot(index=["seed", "epoch"], columns="method", values=column)
    return (wide["frossl"] - wide["barlow-twins"]).unstack("epoch")


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


def probe(method: str, column: str) -> Measure:
    """The linear probe of the end."""

    def measure(tables: Tables) -> pd.Series:
        own = at_own_rate(tables["probes"], tables["probes"])
        return own[own["method"] == method].set_index("seed")[column]

    return measure


def learned(tables: Tables) -> pd.Series:
    own = at_own_rate(tables["probes"], tables["probes"])
    return gains(own[own["method"].isin(PAIR)])


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


CLAIMS: list[Claim] = [claim for column in K for claim in _claims(column)]
