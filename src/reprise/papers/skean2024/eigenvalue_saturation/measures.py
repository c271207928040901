"""Figure 3's three metrics. Imports no torch."""

import math

import numpy as np
import pandas as pd

from reprise.papers.skean2024.lineup import TOP

RUN = ["data_set", "method", "own_rate", "learning_rate", "seed"]
SCALES = ("raw", "normalised")
END = 0.9
"""Fraction of the steps after which traces enter the metrics."""
BAND = 0.2
"""An eigenvalue has saturated once it stays within this fraction of its final value."""


def summary(eigenvalues: pd.DataFrame, traces: pd.DataFrame) -> pd.DataFrame:
    """One row per run: `condition_`, `entropy_` and `saturation_` of the spectrum, unscaled (`raw`) and with
    columns of unit variance (`normalised`), and `view_correlation`.

    NaN for a run that diverged before the last trace.
    """
    last = traces["step"].max()
    late = traces[traces["step"] >= END * last].groupby(RUN)
    columns = {name: late[name].mean() for name in ("view_correlation", *(f"entropy_{s}" for s in SCALES))}
    for scale in SCALES:
        wide = eigenvalues.pivot(index=[*RUN, "step"], columns="index", values=scale)
        condition = (wide[1] / wide[TOP].where(wide[TOP] > 0)).map(math.log)
        steps = condition.index.get_level_values("step")
        final = condition[steps >= END * last].groupby(RUN)
        columns[f"condition_{scale}"] = np.exp(final.agg(lambda values: values.mean(skipna=False)))
        columns[f"saturation_{scale}"] = wide[TOP].groupby(RUN).agg(_saturation_of_group)
    ended = traces.groupby(RUN)["step"].max() == last
    return pd.DataFrame(columns).where(ended).reset_index()


def _saturation_of_group(values: pd.Series) -> float:
    return saturation(values.index.get_level_values("step").to_numpy(), values.to_numpy())


def saturation(steps: np.ndarray, values: np.ndarray) -> float:
    """The first step after which all values lie within 20 % of the mean over the last tenth of the steps.

    Infinite if they do so only within the last tenth (the eigenvalue still moves), and NaN if from the first
    step on (it never had to rise). The result depends on the horizon, the last step.
    """
    late = steps >= END * steps[-1]
    end = values[late].mean()
    outside = np.flatnonzero(~(np.abs(values - end) <= BAND * end))
    if np.isnan(values).any() or len(outside) == 0:
        return math.nan
    if outside[-1] + 1 >= len(steps) or late[outside[-1] + 1]:
        return math.inf
    return float(steps[outside[-1] + 1])


def half_rise(steps: np.ndarray, values: np.ndarray) -> float:
    """The first step at which an eigenvalue has risen half of the way from its start to its mean over the
    last tenth of the steps; NaN if it does not rise."""
    start, end = values[0], values[steps >= END * steps[-1]].mean()
    if not end > start:
        return math.nan
    return float(steps[np.argmax(values >= (start + end) / 2)])
