"""Tests formulas at random points, rotates embeddings, compares gradients of the readings of the loss, and
counts and times the operations of its terms."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.formula import checks
from reprise.evidence.identities import tried
from reprise.papers.skean2024.theory import cost, readings
from reprise.papers.skean2024.theory.experiment import Params
from reprise.papers.skean2024.theory.formulas import FORMULAS
from reprise.papers.skean2024.theory.table1 import rotations

CHECKS = (*checks(FORMULAS), rotations)
SIZES = ("samples", "dims")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables:

    `identities`: the relative error of every formula in each of its forms, and the relative change of every
    loss of Table 1 under a rotation, one row per point (`seed`). A size of 0 is one that a formula lacks.
    `gradients`: the norms of the gradients of the invariance and variance terms for both views' embeddings,
    one row per reading of the loss, correlation of the views, decay of the spectrum, and seed.
    `operations`: floating-point operations of one view's term, one row per term, samples and dimension.
    `cost_seconds`: CPU time of one view's term, one row per term, dimension and repeat (`seed`).
    """
    points = params.seed_range(params.points)
    return {
        "identities": tried(CHECKS, points, params.largest, SIZES, context),
        "gradients": readings.gradients(
            params, lambda done, total: context.progress(done, total, "gradients of the readings")
        ),
        "operations": cost.operations(params),
        "cost_seconds": cost.times(params),
    }
