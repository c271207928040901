"""Compares each formula of the theory with an independent computation, at random points and sizes."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.identities import tried
from reprise.papers.esser2024.theory import (
    collapse,
    constraints,
    output_dynamics,
    outputs,
    trace_loss,
    wide_networks,
)
from reprise.papers.esser2024.theory.experiment import Params

CHECKS = (
    *outputs.CHECKS,
    *collapse.CHECKS,
    *constraints.CHECKS,
    *wide_networks.CHECKS,
    *trace_loss.CHECKS,
    *output_dynamics.CHECKS,
)
AT_MANY_POINTS = (
    collapse.spectral_loss,
    wide_networks.conditions,
    wide_networks.theorem1,
    wide_networks.lemma2,
    trace_loss.expectation,
    output_dynamics.eq_11,
)
"""The checks of bounds and signs, which may fail at few points."""
SIZES = ("samples", "inputs", "hidden", "outputs")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`identities`: the relative error of every formula in each of its forms, one row per point (`seed`).

    Its sizes are anchors or samples n, inputs d, hidden units h and outputs z; a size that the formula does
    not have is 0.
    """
    few = [check for check in CHECKS if check not in AT_MANY_POINTS]
    numbers = (few, params.points), (AT_MANY_POINTS, params.many_points)
    tables = [
        tried(checks, range(params.first_point, params.first_point + number), params.largest, SIZES, context)
        for checks, number in numbers
    ]
    return {"identities": pd.concat(tables, ignore_index=True)}
