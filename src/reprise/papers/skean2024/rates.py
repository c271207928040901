"""The rule by which each method gets its learning rate, fixed before any run: of the grid that all methods
share, the one with the best mean validation accuracy over the seeds.

The validation images are a fifth of the labelled training images (`observations.probes`); the test images
have no part in it. A rate at which a seed diverged cannot be chosen, unless all did; of equals the lowest is
taken.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from reprise.errors import RepriseError
from reprise.study.experiment import Tables

CELL = ["data_set", "method"]


def chosen(probes: pd.DataFrame) -> pd.DataFrame:
    """The `learning_rate` of each data set and method.

    Args:
        probes: a row a run, with `validation`.

    Raises:
        RepriseError: when there is no accuracy to choose by.
    """
    if probes["validation"].isna().all():
        raise RepriseError("no run has a validation accuracy to choose a learning rate by")
    by_rate = probes.groupby([*CELL, "learning_rate"])["validation"]
    means = by_rate.agg(lambda values: values.mean(skipna=False)).fillna(-np.inf)
    best = means.groupby(CELL).idxmax()
    rates = [rate for *_, rate in best]
    return pd.DataFrame({"learning_rate": rates}, index=best.index).reset_index()


def at_own_rate(table: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    """The rows at each method's chosen rate, where `table` has a data set and a method."""
    return table.merge(chosen(probes), on=[*CELL, "learning_rate"])


def at_own_rates(name: str) -> Callable[[Tables], pd.DataFrame]:
    """The same of an experiment's table by its name, for `evidence.measures`."""
    return lambda tables: at_own_rate(tables[name], tables["probes"])


def gains(probes: pd.DataFrame) -> pd.Series:
    """Percentage points of each run's linear probe above that of its random initialisation."""
    return probes["top1"] - probes["start"]
