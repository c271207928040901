"""Losses beside the published one: what a figure shows of each, and in which colours."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from reprise.contract.experiment import BASE, Tables
from reprise.contract.losses import TakesLosses, labels
from reprise.evidence.verdicts import setting


class OtherLoss(NamedTuple):
    """A loss that a figure shows beside the published one.

    Attributes:
        label: for a legend.
        tables: the rows of this loss.
        color: none of those of `plotting.style.colors`. Shape [4].
    """

    label: str
    tables: dict[str, pd.DataFrame]
    color: np.ndarray

    def shades(self, n: int) -> np.ndarray:
        """n shades of the loss's colour, dark to light. Shape [n, 4]."""
        white = np.linspace(0.0, 0.6, n)[:, None]
        return (1 - white) * self.color + white


def with_other_losses(tables: Tables, params: TakesLosses) -> dict[str, pd.DataFrame]:
    """The rows of the published loss and of the losses that `params.objective` names."""
    return {name: table[table["setting"].isin([BASE, *params.objective])] for name, table in tables.items()}


def other_losses(tables: Tables, params: TakesLosses) -> list[OtherLoss]:
    """The losses that `params.objective` names, in its order."""
    label_of = labels(params.objective)
    reds = plt.get_cmap("YlOrRd")(np.linspace(0.95, 0.6, len(params.objective)))  # viridis has no red
    return [
        OtherLoss(label_of[name], setting(tables, name), color)
        for name, color in zip(params.objective, reds, strict=True)
    ]
