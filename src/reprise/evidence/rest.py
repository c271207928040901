"""A test whether a course over time rests away from its limit, or is still on its way.

A course that falls as t^-1/2 has the limit 0 and is far from it at any time that a run can afford. So a limit
fails only where the course has come to rest: where it moves by no more than rounding, or where it is flat on
logarithmic axes and a fit leaves it a positive distance for ever.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from reprise.evidence.estimates import Mean

ROUNDING = 1e-6
"""Relative change over the last octave of time that counts as none."""
OCTAVES = 3
"""The last octaves of time that are fitted."""
FEWEST = 4
"""Fewest times in these octaves to which a power law is fitted."""
POWERS = (0.05, 20.0)
"""Smallest and largest exponent of the fitted power laws."""


class Rest(NamedTuple):
    """The end of a course.

    Attributes:
        rests: whether the course has come to rest away from its limit.
        heading: what the course does, in words.
    """

    rests: bool
    heading: str


def rest(course: pd.DataFrame, resolution: float) -> Rest:
    """The end of a course.

    Args:
        course: distance from the limit, a row a step (the index), a column a seed.
        resolution: how precisely the distance is measured.
    """
    late = course[course.index >= course.index.max() / 2**OCTAVES].abs()
    late = late[late.index > 0]
    times, distances = late.index.to_numpy(dtype=float), late.to_numpy(dtype=float)
    octave = distances[times >= times[-1] / 2] if len(times) else distances
    if len(octave) < 2 or not np.isfinite(distances).all():
        return Rest(False, "its course is not known")
    moved = np.ptp(octave, axis=0) / np.maximum(octave[-1], np.finfo(float).tiny)
    if (moved <= ROUNDING).all() and (distances[-1] > resolution).all():
        return Rest(True, "it no longer moves")
    if len(times) < FEWEST:
        return Rest(False, "its course is known at few times")
    slopes = np.polyfit(np.log(times), np.log(np.maximum(distances, np.finfo(float).tiny)), 1)[0]
    asymptotes = np.array([asymptote(times, column) for column in distances.T])
    if len(slopes) < 2:
        return Rest(False, f"it falls as t^{slopes.mean():.2g}")
    slope = Mean(slopes).interval()
    is_flat = slope.low <= 0 <= slope.high
    if is_flat and Mean(asymptotes).interval().low > resolution:
        return Rest(True, "it is flat, away from its limit")
    return Rest(False, f"it goes as t^{slope.mean:.2g} and heads for {asymptotes.mean():.2g}")


def asymptote(times: Float[np.ndarray, " step"], distances: Float[np.ndarray, " step"]) -> float:
    """The a >= 0 of a + c t^-p that fits best by least squares."""
    best, found = np.inf, 0.0
    for power in np.geomspace(*POWERS, 80):
        falling = (times / times[-1]) ** -power
        design = np.stack([np.ones_like(falling), falling], axis=1)
        (a, c), *_ = np.linalg.lstsq(design, distances, rcond=None)
        if a < 0:
            a, c = 0.0, float(falling @ distances / (falling @ falling))
        error = float(((a + c * falling - distances) ** 2).sum())
        if error < best * (1 - 1e-9):
            best, found = error, float(a)
    return found
