"""Every formula, proposition and line of pseudocode that is tried at random points."""

from reprise.evidence.formula import Formula
from reprise.papers.skean2024.theory import duality, entropy, norms, pseudocode

FORMULAS: tuple[Formula, ...] = (
    *norms.FORMULAS,
    *duality.FORMULAS,
    *entropy.FORMULAS,
    *pseudocode.FORMULAS,
)
"""All formulas, in the order of the table's rows."""
