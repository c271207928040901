"""Losses beside the published one: what a figure shows of each, and in which colours."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from reprise.evidence.verdicts import setting
from reprise.study.experiment import Tables
from reprise.study.losses import TakesLosses, labels


class Shown(NamedTuple):
    """A loss beside the published one.

    Attributes:
        tables: its rows alone.
        color: its own, none of those of `plotting.style.colors`. Shape [4].
    """

    label: str
    tables: dict[str, pd.DataFrame]
    color: np.ndarray

    def shades(self, n: int) -> np.ndarray:
        """n shades of its colour, dark to light. Shape [n, 4]."""
        share = np.linspace(0.0, 0.6, n)[:, None]
        return (1 - share) * self.color + share


def beside(tables: Tables, params: TakesLosses) -> list[Shown]:
    """The losses that `params.objective` names, in its order."""
    names = params.objective
    own = plt.get_cmap("YlOrRd")(np.linspace(0.95, 0.55, len(names)))  # reds: viridis has none
    called = labels(names)
    return [Shown(called[name], setting(tables, name), color) for name, color in zip(names, own, strict=True)]
