"""Compares each formula of the theory with an independent computation, at random points and sizes."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.identities import tried
from reprise.papers.ren2023.theory import gradients, limit, scores, stages
from reprise.papers.ren2023.theory.experiment import Params

EQUATIONS = (*gradients.CHECKS, *limit.EQUATIONS, *stages.EQUATIONS)
BOUNDS = (*limit.BOUNDS, *scores.CHECKS, *stages.BOUNDS)
"""Those with bounds and signs among their statements, which need more points."""
CHECKS = (*EQUATIONS, *BOUNDS)
SIZES = ("signals", "noises", "width")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, one row per point (`seed`).

    Its sizes are r, d - r and the width m; a size that the formula does not have is 0.
    """
    parts = [
        tried(checks, range(params.first_point, params.first_point + points), params.largest, SIZES, context)
        for checks, points in ((EQUATIONS, params.points), (BOUNDS, params.bound_points))
    ]
    return {"identities": pd.concat(parts, ignore_index=True)}
