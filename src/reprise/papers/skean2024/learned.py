"""Evidence that networks have learned, for `Claim.learned` and premises."""

from typing import Any

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.comparison import Measure, Premise
from reprise.evidence.learning import gain
from reprise.evidence.measures import Source, interned, selected
from reprise.evidence.statistics import mean_interval


def gains(probes: pd.DataFrame) -> pd.Series:
    """Gain of each run (`evidence.learning.gain`)."""
    return gain(probes["top1"], probes["start"], probes)


@interned
def learned(probes: Source, /, **where: Any) -> Measure:
    """The gains of all networks that must have learned.

    Args:
        probes: the table of linear probes.
        where: as in `measures.rows`: these networks.
    """
    networks = selected(probes, **where)
    return lambda tables: gains(networks(tables))


def above_start(probes: Source, /, *, any_of: bool = False, **where: Any) -> Premise:
    """Returns the premise of a sentence about first epochs: the linear probe of these methods is above that
    of their random initialisation, by its 95 % interval over seeds.

    Args:
        probes, where: as for `learned`.
        any_of: whether one of the methods is enough.
    """
    who = "linear probe" if any_of else "linear probe of each method"
    return Premise(f"{who} above its random initialisation", _risen(probes, any_of, **where))


@interned
def _risen(probes: Source, any_of: bool, /, **where: Any) -> Measure:
    networks = selected(probes, **where)

    def risen(tables: Tables) -> pd.Series:
        found = networks(tables)
        gained = (found["top1"] - found["start"]).groupby(found["method"])
        above = [len(each) > 1 and mean_interval(each).low > 0 for _, each in gained]
        return pd.Series(float(any(above) if any_of else all(above)), index=found["seed"].unique())

    return risen
