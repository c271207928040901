"""What the networks have learned, for `Claim.learned`."""

from typing import Any

import pandas as pd

from reprise.evidence.comparison import Measure
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
