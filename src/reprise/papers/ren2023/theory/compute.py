"""Compares each formula of the theory with an independent computation, at random points and sizes."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.identities import tried
from reprise.papers.ren2023.theory import gradients, limit, scores, stages
from reprise.papers.ren2023.theory.experiment import Params

CHECKS = (*gradients.CHECKS, *limit.CHECKS, *scores.CHECKS, *stages.CHECKS)
SIZES = ("signals", "noises", "width")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, one row per point (`seed`).

    Its sizes are r, d - r and the width m; a size that the formula does not have is 0.
    """
    points = range(params.first_point, params.first_point + params.points)
    return {"identities": tried(CHECKS, points, params.largest, SIZES, context)}
