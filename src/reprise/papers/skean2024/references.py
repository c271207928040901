"""References of every linear probe that is shown: chance, raw pixels, the start and, where it was trained, a
supervised network."""

import pandas as pd
from matplotlib.axes import Axes

from reprise.datasets.catalogue import DATA_SETS
from reprise.evidence.learning import PIXELS
from reprise.evidence.measures import rows

CAPTION = """Dotted: the probe of the random initialisation. Dashed: the better of nearest neighbours and a
    linear probe on raw pixels."""


def reference_lines(axes: Axes, probes: pd.DataFrame) -> None:
    """Horizontal lines of the start and of raw pixels."""
    axes.axhline(probes["start"].mean(), color="0.5", ls=":", lw=0.9, label="random initialisation")
    axes.axhline(probes[PIXELS].max(axis=1).mean(), color="0.5", ls="--", lw=0.9, label="raw pixels")


def references(probes: pd.DataFrame, data_set: str) -> dict[str, pd.Series]:
    """Reference accuracies of the probes on a data set, in %, by name: one a seed of the start, and one of
    each of the others; only Table 2 has the supervised network."""
    ends = rows(probes, data_set=data_set)
    neighbours, linear = (ends[name].iloc[:1] for name in PIXELS)
    every = {
        "chance": pd.Series([100 / DATA_SETS[data_set].classes]),
        "raw pixels, nearest neighbours": neighbours,
        "raw pixels, linear probe": linear,
        "start": ends.groupby("seed")["start"].first(),
    }
    return every | ({"supervised": ends["supervised"].iloc[:1]} if "supervised" in ends else {})
