"""The rule that chooses each method's learning rate, fixed before any run: the rate with the best mean
validation accuracy over the seeds, from a grid that all methods share.

The validation images are a fifth of the labelled training images (`observations.probes`); test images play no
part. A rate at which a seed diverged cannot be chosen unless all rates diverged; ties go to the lowest rate.

The rule of what is evidence is here too (`learned`): a claim that compares networks decides something only
where all of them have learned, those that should be worse included.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reprise.errors import RepriseError
from reprise.evidence.claims import Measure
from reprise.evidence.measures import interned, selected
from reprise.study.experiment import Tables

CELL = ["data_set", "method"]


def chosen(probes: pd.DataFrame) -> pd.DataFrame:
    """The chosen `learning_rate` of each data set and method.

    Args:
        probes: one row per run, with `validation`.

    Raises:
        RepriseError: if there is no accuracy to choose by.
    """
    if probes["validation"].isna().all():
        raise RepriseError("no run has a validation accuracy to choose a learning rate by")
    by_rate = probes.groupby([*CELL, "learning_rate"])["validation"]
    means = by_rate.agg(lambda values: values.mean(skipna=False)).fillna(-np.inf)
    best = means.groupby(CELL).idxmax()
    rates = [rate for *_, rate in best]
    return pd.DataFrame({"learning_rate": rates}, index=best.index).reset_index()


def at_own_rate(table: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    """The rows of `table` at the learning rate chosen for their data set and method."""
    return table.merge(chosen(probes), on=[*CELL, "learning_rate"])


@interned
def at_own_rates(name: str) -> Callable[[Tables], pd.DataFrame]:
    """`at_own_rate` for an experiment's table by name, for use in `evidence.measures`."""
    return lambda tables: at_own_rate(tables[name], tables["probes"])


def gains(probes: pd.DataFrame) -> pd.Series:
    """Gain of each run's linear probe over its random initialisation, in percentage points."""
    return probes["top1"] - probes["start"]


@interned
def learned(probes: Callable[[Tables], pd.DataFrame], /, **where: Any) -> Measure:
    """The gains of all networks that a claim compares, for `Claim.learned`.

    Args:
        probes: gives the linear probes at the learning rates at which the claim reads the networks.
        where: as in `measures.rows`: the networks that it reads.
    """
    networks = selected(probes, **where)
    return lambda tables: gains(networks(tables))
