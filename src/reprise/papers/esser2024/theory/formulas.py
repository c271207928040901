"""Every formula of the theory that is tried at random points."""

from reprise.evidence.formula import Formula
from reprise.papers.esser2024.theory import (
    collapse,
    constraints,
    output_dynamics,
    outputs,
    sigmoid,
    trace_loss,
)

FORMULAS: tuple[Formula, ...] = (
    *outputs.FORMULAS,
    *collapse.FORMULAS,
    *constraints.FORMULAS,
    *sigmoid.FORMULAS,
    *trace_loss.FORMULAS,
    *output_dynamics.FORMULAS,
)
"""All formulas, in the order of the table's rows."""
