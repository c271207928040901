"""The lemmas, theorems and formulas of the paper, tried at random points."""

from reprise.evidence.formula import Formula, claims
from reprise.papers.jing2022.gradient_flow import directclr, one_layer, singular_values, two_layers

FORMULAS: tuple[Formula, ...] = (
    *one_layer.FORMULAS,
    *singular_values.FORMULAS,
    *two_layers.FORMULAS,
    *directclr.FORMULAS,
)
"""All formulas, in the order of the table's rows."""

THEORY = claims("jing2022", *FORMULAS)
