"""Agreement of two limits, as precisely as they can be measured."""

import pandas as pd

from reprise.evidence.comparison import COARSEST, IDENTITY_TOLERANCE, Measure
from reprise.evidence.measures import applied


def beyond(distance: Measure, *resolutions: Measure) -> Measure:
    """Excess of the distance of two limits over their resolution, a number a run, in units of the limit's
    size.

    A run that is too coarse to show that the limits agree gives no number, unless another run shows that they
    do not.

    Args:
        resolutions: by how much a limit may be off: what still moves, or an integrator's error.
    """

    def excess(apart: pd.Series, *precisions: pd.Series) -> pd.Series:
        precision = pd.concat(precisions, axis=1).sum(axis=1, skipna=False)
        by = (apart.abs() - precision).clip(lower=0)
        return by if (by > IDENTITY_TOLERANCE).any() else by.where(precision <= COARSEST)

    return applied(excess, distance, *resolutions)
