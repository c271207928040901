"""Each formula of the theory against an independent computation, at random points and sizes."""

import pandas as pd

from reprise.evidence.identities import tried
from reprise.papers.tian2023.dynamics import batchnorm, kernels, one_layer, roughness, two_layers
from reprise.papers.tian2023.dynamics.params import Params
from reprise.study.experiment import Context

CHECKS = (*kernels.CHECKS, *one_layer.CHECKS, *roughness.CHECKS, *two_layers.CHECKS, *batchnorm.CHECKS)
SIZES = ("samples", "inputs", "fields", "filters", "outputs", "classes")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, a row a point (`seed`).

    Columns of sizes: samples or states; inputs of a receptive field; receptive fields; filters a field;
    outputs; classes of a latent variable. A size of 0 is one that the formula does not have.
    """
    points = range(params.first_point, params.first_point + params.points)
    return {"identities": tried(CHECKS, points, params.largest, SIZES, context)}
