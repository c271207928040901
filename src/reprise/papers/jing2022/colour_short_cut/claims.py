"""Claims about the stand-in of the image experiments; ours, not the paper's.

The second claim asserts a net that did not learn, so neither requires that it did.
"""

from reprise.evidence.claim import claim
from reprise.evidence.comparison import LEARNED, Comparison, Measure, above, below
from reprise.evidence.edits import put
from reprise.evidence.measures import applied, last, wide

AT = "Our stand-in of ImageNet"
OURS = "ours: the paper trains on ImageNet alone"
POINTS = "percentage points of linear probe top-1"
LIFT = 25.0


def gain(arm: str) -> Measure:
    """The probe's accuracy after the last step over that at random initialisation."""
    probes = wide("probes", "accuracy", "step", arm=arm)
    return applied(lambda accuracy: accuracy[accuracy.columns.max()] - accuracy[0], probes)


@claim(
    "jing2022/stand-in/learns-shape",
    """On rendered shapes with any hue, a minute of SimCLR lifts a linear probe for shape by more than 25
    points above random initialisation.""",
    at=AT,
    form="ours",
    quantifier="generic",
    word="lifts",
    reading=OURS,
    broken_by=put("probes", "accuracy", 20.0, arm="any hue", step=last),
)
def learns_shape() -> Comparison:
    return above(gain("any hue"), LIFT, unit=POINTS)


@claim(
    "jing2022/stand-in/colour-short-cut",
    """Negative control: where bright backdrops keep their hues, colour tells which views belong together, and
    SimCLR does not learn shape (by our rule for all image nets: under 15 points).""",
    at=AT,
    form="ours",
    word="does not learn shape",
    reading=OURS,
    broken_by=put("probes", "accuracy", 60.0, arm="short cut", step=last),
)
def colour_short_cut() -> Comparison:
    return below(gain("short cut"), LEARNED, unit=POINTS)
