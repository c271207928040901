"""What the networks have learned, for `Claim.learned`."""

from typing import Any

import pandas as pd

from reprise.evidence.comparison import Measure, Premise
from reprise.evidence.learning import gain
from reprise.evidence.measures import Source, interned, selected


def gains(probes: pd.DataFrame) -> pd.Series:
    """`evidence.learning.gain` of each run."""
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


def above_start(probes: Source, /, **where: Any) -> Premise:
    """That the linear probe of every one of these networks is above that of its random initialisation: enough
    for a sentence about first epochs, after which no network has learned what finished ones have.

    Args:
        probes, where: as for `learned`.
    """
    return Premise(
        "linear probe above that of its random initialisation in every run", _has_risen(probes, **where)
    )


@interned
def _has_risen(probes: Source, /, **where: Any) -> Measure:
    networks = selected(probes, **where)
    return lambda tables: (networks(tables)["top1"] > networks(tables)["start"]).astype(float)
