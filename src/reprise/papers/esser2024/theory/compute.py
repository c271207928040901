"""Compares each formula of the theory with an independent computation, at random points and sizes."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.formula import checks
from reprise.evidence.identities import tried
from reprise.papers.esser2024.theory.experiment import Params
from reprise.papers.esser2024.theory.formulas import FORMULAS

SIZES = ("samples", "inputs", "hidden", "outputs")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, one row per point (`seed`).

    Its sizes are anchors or samples n, inputs d, hidden units h and outputs z; a size that the formula does
    not have is 0.
    """
    points = params.seed_range(params.points)
    return {"identities": tried(checks(FORMULAS), points, params.largest, SIZES, context)}
