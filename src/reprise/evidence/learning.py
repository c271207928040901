"""The rule of what is evidence about trained networks: a claim that compares them decides something only
where they have learned. Of two accuracies, the network that is said to be better must have learned; the other
must only if its learning rate was not the best of a grid."""

import numpy as np
import pandas as pd

PIXELS = ["pixel_neighbours", "pixel_probe"]
"""Columns of what raw pixels alone tell: accuracies of nearest neighbours and of a linear probe."""

ELSEWHERE = (
    "on further data sets, whose labels are no measure of learning, networks count as having learned if "
    "those of the same methods have on the experiment's own"
)
"""The reading of a claim about spectra there."""


def gain(accuracy: pd.Series, start: pd.Series, pixels: pd.DataFrame) -> pd.Series:
    """The gain of each network's linear probe over its random initialisation, in percentage points; where the
    probe is not above raw pixels, its distance from them, which is zero or less.

    Args:
        accuracy, start: of the probe after and before training, in %.
        pixels: the columns `PIXELS` in %; missing where no classes are named that pixels should not tell.
    """
    over_pixels = accuracy - pixels[PIXELS].max(axis=1).fillna(-np.inf)
    gains = (accuracy - start).where(over_pixels > 0, over_pixels)
    return gains.round(6)  # 34.7 - 19.7 is 15, not less
