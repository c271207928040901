"""Compares each formula of the theory with an independent computation, at random points and sizes."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.formula import checks
from reprise.evidence.identities import tried
from reprise.numerics.streams import stream
from reprise.papers.tian2023.dynamics import batchnorm
from reprise.papers.tian2023.dynamics.experiment import Params
from reprise.papers.tian2023.dynamics.formulas import FORMULAS

SIZES = ("samples", "inputs", "fields", "filters", "outputs", "classes")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, one row per point (`seed`).

    Its sizes are samples or states, inputs per receptive field, receptive fields, filters per field, outputs,
    and classes of a latent variable; a size that the formula does not have is 0. `fields`: how unequal fields
    are (`batchnorm.slow_fields`), one row per point and layer.
    """
    points = params.seed_range(params.points)
    fields = [
        {"seed": point, "layer": layer, **inequalities}
        for point in points
        for layer, inequalities in batchnorm.slow_fields(stream(point, "slow_fields"), params.largest).items()
    ]
    return {
        "identities": tried(checks(FORMULAS), points, params.largest, SIZES, context),
        "fields": pd.DataFrame(fields),
    }
