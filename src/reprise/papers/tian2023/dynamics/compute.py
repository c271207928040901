"""Compares each formula of the theory with an independent computation, at random points and sizes."""

import pandas as pd

from reprise.evidence.identities import tried
from reprise.papers.tian2023.dynamics import batchnorm, kernels, one_layer, roughness, two_layers
from reprise.papers.tian2023.dynamics.params import Params
from reprise.study.experiment import Context

CHECKS = (*kernels.CHECKS, *one_layer.CHECKS, *roughness.CHECKS, *two_layers.CHECKS, *batchnorm.CHECKS)
BOUNDS = (
    kernels.lemma1,
    kernels.lemma2,
    one_layer.theorem1,
    roughness.theorem2,
    roughness.corollary2_bound,
    two_layers.theorem5,
    batchnorm.corollary3,
)
"""Those that hold a bound or a sign, which a few points cannot show."""
SIZES = ("samples", "inputs", "fields", "filters", "outputs", "classes")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, one row per point (`seed`).

    Its sizes are samples or states, inputs per receptive field, receptive fields, filters per field, outputs,
    and classes of a latent variable; a size that the formula does not have is 0.
    """
    equations = [check for check in CHECKS if check not in BOUNDS]
    tables = [
        tried(checks, range(params.first_point, params.first_point + points), params.largest, SIZES, context)
        for checks, points in ((equations, params.points), (BOUNDS, params.bound_points))
    ]
    return {"identities": pd.concat(tables, ignore_index=True)}
