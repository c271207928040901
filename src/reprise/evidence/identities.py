"""Formulas tried at random points: how far each is off there, as a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.comparison import Measure
from reprise.evidence.measures import column
from reprise.numerics.streams import stream

Array = np.ndarray
Random = np.random.Generator


@dataclass(frozen=True)
class Checked:
    """Relative errors of some identities at one point, by identity and form (`printed` or `corrected`).

    Attributes:
        sizes: samples, inputs, ... of the point; those that a formula does not have are left out.
    """

    sizes: Mapping[str, int]
    errors: Mapping[str, Mapping[str, float]]


Check = Callable[[Random, int], Checked]
"""Function from a stream of random numbers and the largest size to a random point and the errors there."""


def as_printed(error: float) -> dict[str, float]:
    """A formula that the text has right."""
    return {"printed": error}


def relative_error(actual: Array, expected: Array) -> float:
    return float(np.linalg.norm(actual - expected) / np.linalg.norm(expected))


def below_zero(values: Array) -> float:
    """Depth of the smallest value below zero, relative to the largest magnitude; 0 if none is negative."""
    return float(max(0.0, -np.min(values)) / np.max(np.abs(values)))


def size(rng: Random, smallest: int, largest: int) -> int:
    """A whole number from `smallest` to `largest`, both included."""
    return int(rng.integers(smallest, largest, endpoint=True))


def orthonormal(rng: Random, rows: int, columns: int) -> Array:
    """Random orthonormal columns."""
    return np.linalg.qr(rng.normal(size=(rows, columns)))[0]


def tried(
    checks: Sequence[Check], points: Iterable[int], largest: int, sizes: Sequence[str], context: Context
) -> pd.DataFrame:
    """The relative error of every formula in each of its forms, a row a point (`seed`).

    Args:
        points: their numbers; a point's random numbers depend on its own number and the check alone.
        largest: the largest size.
        sizes: the columns of sizes; a size of 0 is one that the formula does not have.
    """
    numbers = list(points)
    rows = []
    for done, check in enumerate(checks):
        context.progress(done, len(checks), check.__name__)
        rows += [row for point in numbers for row in _rows(check, point, largest, sizes)]
    return pd.DataFrame(rows)


def _rows(check: Check, point: int, largest: int, sizes: Sequence[str]) -> list[dict[str, object]]:
    """One row an identity and form. A check's random numbers are its own, whatever runs beside it."""
    checked = check(stream(point, check.__name__), largest)
    return [
        {
            "identity": name,
            "form": form,
            "seed": point,
            "relative_error": error,
            **{size: checked.sizes.get(size, 0) for size in sizes},
        }
        for name, forms in checked.errors.items()
        for form, error in forms.items()
    ]


def error_of(name: str, form: str = "printed") -> Measure:
    """The relative error of an identity in one of its forms, a point a seed."""
    return column("identities", "relative_error", identity=name, form=form)
