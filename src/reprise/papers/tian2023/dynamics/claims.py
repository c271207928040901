"""The lemmas, theorems and corollaries that can be tried at random points, and claims of Appendix D about
slow fields."""

from reprise.evidence.claim import Quotation, claim
from reprise.evidence.comparison import Comparison, Measure, above, below
from reprise.evidence.edits import put, swapped
from reprise.evidence.formula import claims
from reprise.evidence.measures import column
from reprise.papers.tian2023.dynamics.formulas import FORMULAS

UNIT = "log10 of a ratio"
FIELDS = "ours: random networks of two classes, inputs up to 5 times longer or shorter; the mean"
LAYERS_EXCHANGED = swapped("fields", "layer", "none", "BatchNorm")

SLOWER = Quotation("the weight updating can be much slower for RF with small", at="Appendix D")
ALLEVIATES = Quotation("adding BatchNorm at each node alleviates this issue", at="Appendix D")
UNIFORM = Quotation("becomes more uniform. This is because", at="Remarks after Corollary 3, Appendix D")
CONSTANT = Quotation(
    "becomes almost constant across different receptive field", at="Remarks after Corollary 3, Appendix D"
)

THEORY = claims("tian2023", *FORMULAS)


def unequal(name: str, layer: str) -> Measure:
    """A column of `fields`: how unequal the fields are, without BatchNorm (`none`) or with it."""
    return column("fields", name, layer=layer)


@claim(
    "tian2023/appD/slow-updates",
    """Without BatchNorm weights of the field with the smallest d_k move more slowly than those of the field
    with the largest.""",
    quotes=SLOWER,
    quantifier="existential",
    word="can be much slower",
    reading=FIELDS,
    broken_by=put("fields", "speed", 0.1, layer="none"),
)
def slow_updates() -> Comparison:
    return below(unequal("speed", "none"), 0.0, unit=UNIT)


@claim(
    "tian2023/appD/batch-norm-alleviates",
    "BatchNorm brings the speeds of the weights of fields with small and large d_k closer together.",
    quotes=ALLEVIATES,
    quantifier="generic",
    word="alleviates this issue",
    reading=FIELDS,
    broken_by=LAYERS_EXCHANGED,
)
def batch_norm_alleviates() -> Comparison:
    return above(unequal("speed", "BatchNorm"), unequal("speed", "none"), unit=UNIT)


@claim(
    "tian2023/appD/more-uniform",
    "With BatchNorm a field's within-class variance d_k is more uniform over the fields.",
    quotes=UNIFORM,
    quantifier="generic",
    word="becomes more uniform",
    reading=FIELDS,
    broken_by=LAYERS_EXCHANGED,
)
def more_uniform() -> Comparison:
    return below(unequal("d", "BatchNorm"), unequal("d", "none"), unit=UNIT)


@claim(
    "tian2023/appD/gap-more-constant",
    "With BatchNorm λ - d_k is more constant over the fields.",
    quotes=CONSTANT,
    quantifier="generic",
    word="becomes almost constant",
    reading=FIELDS,
    broken_by=LAYERS_EXCHANGED,
)
def gap_more_constant() -> Comparison:
    return below(unequal("gap", "BatchNorm"), unequal("gap", "none"), unit=UNIT)
