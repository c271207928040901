"""Compares each formula of the theory with an independent computation, at random points and sizes."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.formula import checks
from reprise.evidence.identities import tried
from reprise.papers.ren2023.theory.experiment import Params
from reprise.papers.ren2023.theory.formulas import FORMULAS

SIZES = ("signals", "noises", "width")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, one row per point (`seed`).

    Its sizes are r, d - r and the width m; a size that the formula does not have is 0.
    """
    points = params.seed_range(params.points)
    return {"identities": tried(checks(FORMULAS), points, params.largest, SIZES, context)}
