"""Each formula of the theory against an independent computation, at random points and sizes."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.formula import checks
from reprise.evidence.identities import tried
from reprise.papers.jing2022.gradient_flow import directclr, one_layer, singular_values, two_layers
from reprise.papers.jing2022.gradient_flow.experiment import Params

CHECKS = checks((*one_layer.FORMULAS, *singular_values.FORMULAS, *two_layers.FORMULAS, *directclr.FORMULAS))
SIZES = ("samples", "inputs", "hidden", "outputs")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Table `identities`: the relative error of every formula in each of its forms, one row per point
    (`seed`).

    A size of 0 means that the formula does not have it.
    """
    points = params.seed_range(params.points)
    return {"identities": tried(CHECKS, points, params.largest, SIZES, context)}
