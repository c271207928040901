"""Every formula of the theory that is tried at random points.

Our text of the paper has lost its formulas: each is stated as it was derived again.
"""

from reprise.evidence.formula import Formula
from reprise.papers.ren2023.theory import gradients, limit, scores, stages

FORMULAS: tuple[Formula, ...] = (
    *scores.FORMULAS,
    *gradients.FORMULAS,
    *limit.FORMULAS,
    *stages.FORMULAS,
)
"""All formulas, in the order of the table's rows."""
