"""Means, intervals and ranks of the objectives on a task, from the result tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from reprise.annex.ours.objectives_by_diagnostics.lineup import FIRST, UNTRAINED, Place
from reprise.contract.experiment import Tables
from reprise.errors import RepriseError
from reprise.evidence.comparison import LEARNED
from reprise.evidence.measures import mean
from reprise.evidence.separability import rank_intervals, separable
from reprise.evidence.statistics import Interval, mean_interval
from reprise.plotting.style import drawable

PROBE = "linear probe"
NOT_COMPARED = "most frequent class"
"""Diagnostic that is not compared, as it depends on the labels alone."""
LOGARITHMIC = "condition number"
LARGEST = -np.log(np.finfo(float).eps) / 2
"""Logarithm of an infinite condition number: beyond it, double precision does not tell the smallest singular
value of a covariance from 0."""


@dataclass(frozen=True)
class Standing:
    """Objectives in one of their settings, on one task and layer.

    Attributes:
        values: a row an objective and a seed, a column a diagnostic; NaN where there is no number.
        learned: the objectives that are ranked.
    """

    values: pd.DataFrame
    learned: Sequence[str]

    @property
    def diagnostics(self) -> list[str]:
        return [str(name) for name in self.values]

    @property
    def objectives(self) -> list[str]:
        return [str(name) for name in self.values.index.unique("objective")]

    @cached_property
    def means(self) -> pd.DataFrame:
        """Means over seeds, [objective, diagnostic]; NaN where a seed has no number."""
        return self.values.groupby(level="objective", sort=False).agg(mean)

    def by_seed(self, diagnostic: str) -> pd.DataFrame:
        """The compared numbers of the objectives that learned, [seed, objective]; of a condition number its
        logarithm."""
        wide = self.values[diagnostic].unstack("objective")[list(self.learned)]
        return wide.apply(np.log).clip(upper=LARGEST) if diagnostic == LOGARITHMIC else wide

    @cached_property
    def signs(self) -> dict[str, pd.DataFrame]:
        """Separable pairs of objectives and their order, by diagnostic (`separability`)."""
        return {name: separable(self.by_seed(name)) for name in self.diagnostics}

    @cached_property
    def positions(self) -> pd.DataFrame:
        """Positions from 0, the largest mean, to 1, the smallest, [objective that learned, diagnostic]; NaN
        without a number."""
        ranks = pd.DataFrame(
            {name: self.by_seed(name).mean(skipna=False).rank(ascending=False) for name in self.signs}
        )
        return (ranks - 1) / (ranks.max() - 1).clip(lower=1)

    @cached_property
    def decided(self) -> pd.DataFrame:
        """The share of the others that learned from which an objective is separable, [objective,
        diagnostic]."""
        others = max(len(self.learned) - 1, 1)
        return pd.DataFrame({name: signs.abs().sum(axis=1) / others for name, signs in self.signs.items()})

    def ranks(self, diagnostic: str) -> pd.DataFrame:
        """The ranks `low` to `high` that each objective can have."""
        return rank_intervals(self.signs[diagnostic])

    def mean(self, objective: str, diagnostic: str) -> float:
        """An objective's mean over seeds, from `means`."""
        return float(self.means[diagnostic].to_dict()[objective])

    def interval(self, objective: str, diagnostic: str) -> Interval:
        """Interval of an objective's mean over seeds."""
        values = self.values[diagnostic]
        return mean_interval(values[values.index.get_level_values("objective") == objective])


def standing(
    tables: Tables,
    task: str,
    layer: str,
    objectives: Sequence[str],
    *,
    place: Place = FIRST,
    column: str,
) -> Standing:
    """The objectives on a task, in this order.

    Args:
        column: `estimate` or `share`.

    Raises:
        RepriseError: if an objective has no rows.
    """
    learned = [name for name in objectives if has_learned(tables, task, name, place)]
    table = tables["diagnostics"]
    rows = table[
        (table["task"] == task)
        & (table["layer"] == layer)
        & (table["place"] == place)
        & (table["diagnostic"] != NOT_COMPARED)
    ]
    wide = rows.pivot(index=["objective", "seed"], columns="diagnostic", values=column)
    if missing := [name for name in objectives if name not in wide.index]:
        raise RepriseError(f"nothing to draw: no rows of {missing[0]} on {task}")
    if wide.loc[list(objectives)].isna().to_numpy().all():
        raise RepriseError(f"nothing to draw: no numbers on {task}")
    return Standing(wide.loc[list(objectives), list(dict.fromkeys(rows["diagnostic"]))], learned)


def gain(tables: Tables, task: str, objective: str, place: Place) -> float:
    """Percentage points by which a linear probe of images without augmentation beats that of untrained
    networks, mean over seeds; NaN if one of them diverged.

    Raises:
        RepriseError: if the untrained networks have no numbers.
    """
    rows = tables["probes"]
    probes = rows[(rows["task"] == task) & (rows["place"] == place)].set_index("seed")
    start = rows[(rows["task"] == task) & (rows["objective"] == UNTRAINED)].set_index("seed")["accuracy"]
    gains = probes[probes["objective"] == objective]["accuracy"] - drawable(start, f"untrained on {task}")
    return mean(gains) if len(gains) else np.nan


def has_learned(tables: Tables, task: str, objective: str, place: Place) -> bool:
    """Tells if an objective's networks are evidence: on images they gain `LEARNED` points; as toy networks,
    whose inputs tell their classes already, they do not diverge."""
    if is_on_images(task):
        return bool(gain(tables, task, objective, place) >= LEARNED)
    rows = tables["diagnostics"]
    chosen = (rows["task"] == task) & (rows["objective"] == objective) & (rows["place"] == place)
    estimates = rows.loc[chosen & (rows["diagnostic"] == PROBE), "estimate"]
    return bool(len(estimates) and estimates.notna().all())


def is_on_images(task: str) -> bool:
    """Tells if a task is a data set of images, not a toy network."""
    return task not in ("linear", "relu")
