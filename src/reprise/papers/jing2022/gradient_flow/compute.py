"""Each formula of the theory against an independent computation, at random points and sizes."""

import zlib

import numpy as np
import pandas as pd

from reprise.experiment import Context
from reprise.papers.jing2022.gradient_flow import directclr, one_layer, singular_values, two_layers
from reprise.papers.jing2022.gradient_flow.params import Params
from reprise.papers.jing2022.gradient_flow.points import Check

CHECKS = (*one_layer.CHECKS, *singular_values.CHECKS, *two_layers.CHECKS, *directclr.CHECKS)
SIZES = ("samples", "inputs", "hidden", "outputs")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, a row a point (`seed`).

    A size of 0 is one that the formula does not have.
    """
    points = range(params.first_point, params.first_point + params.points)
    rows = []
    for done, check in enumerate(CHECKS):
        context.progress(done, len(CHECKS), check.__name__)
        rows += [row for point in points for row in _rows(check, point, params.largest)]
    return {"identities": pd.DataFrame(rows)}


def _rows(check: Check, point: int, largest: int) -> list[dict[str, object]]:
    """One row an identity and form. A check's random numbers are its own, whatever runs beside it."""
    checked = check(np.random.default_rng([point, zlib.crc32(check.__name__.encode())]), largest)
    sizes = {name: checked.sizes.get(name, 0) for name in SIZES}
    return [
        {"identity": identity, "form": form, "seed": point, "relative_error": error, **sizes}
        for identity, forms in checked.errors.items()
        for form, error in forms.items()
    ]
