"""How precisely the two-layer model's limits are measured."""

import numpy as np

from reprise.evidence.comparison import Measure
from reprise.evidence.measures import applied, column, each_seed

ROUNDING = 16 * float(np.finfo(np.float32).eps)
"""Of an entry of the alignment matrix, an inner product of 16 numbers in single precision."""


def still_moving(arm: str, name: str) -> Measure:
    """By how much a column of the trajectory changes over the last tenth of the steps."""
    late = column("trajectory", name, arm=arm, step=lambda step: step >= 0.9 * step.max())
    return applied(lambda high, low: high - low, each_seed("max", late), each_seed("min", late))


def off_diagonal_error(arm: str) -> Measure:
    """The same of the alignment matrix's mass off the diagonal, or rounding if that is more."""
    return applied(lambda moved: moved.clip(lower=ROUNDING), still_moving(arm, "off_diagonal_mass"))
