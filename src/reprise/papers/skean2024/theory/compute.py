"""Formulas at random points, gradients of the readings of the loss, and the time that a term takes."""

import pandas as pd

from reprise.evidence.identities import tried
from reprise.papers.skean2024.theory import cost, duality, entropy, losses, readings, table1
from reprise.papers.skean2024.theory.params import Params
from reprise.study.experiment import Context

CHECKS = (*losses.CHECKS, *duality.CHECKS, *entropy.CHECKS, *table1.CHECKS, *readings.CHECKS, *cost.CHECKS)
SIZES = ("samples", "dims")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, a row a point (`seed`).

    `gradients`: the norms of the gradients of the invariance and of the variance term on both views'
    embeddings, a row a reading of the loss, correlation of the views, decay of the spectrum, and seed.
    `cost_seconds`: CPU time of a term of one view, a row a term, dimension and repeat (`seed`).
    """
    points = range(params.first_point, params.first_point + params.points)
    return {
        "identities": tried(CHECKS, points, params.largest, SIZES, context),
        "gradients": readings.gradients(
            params, lambda done, total: context.progress(done, total, "gradients of five readings")
        ),
        "cost_seconds": cost.times(params),
    }
