"""What the stand-in of the image experiments is good for; ours, not the paper's.

The second claim asserts a net that did not learn, so none of them requires that it did.
"""

from reprise.evidence.claim import ours
from reprise.evidence.claims import ordering
from reprise.evidence.comparison import LEARNED, Measure
from reprise.evidence.measures import applied, column, last, wide

POINTS = "percentage points of linear probe top-1"
LIFT = 25.0


def gain(arm: str) -> Measure:
    """The probe's accuracy after the last step over that at random initialisation."""
    probes = wide("probes", "accuracy", "step", arm=arm)
    return applied(lambda accuracy: accuracy[accuracy.columns.max()] - accuracy[0], probes)


def final_loss(arm: str) -> Measure:
    """The loss over the last stretch of training."""
    return column("losses", "loss", arm=arm, step=last)


STATEMENTS = [
    ordering(
        "jing2022/stand-in/learns-shape",
        "On rendered shapes with any hue, a minute of SimCLR lifts a linear probe for shape by more "
        "than 25 points above random initialisation.",
        source="Our stand-in of ImageNet",
        quantifier="generic",
        word="lifts",
        measure=gain("any hue"),
        above=LIFT,
        unit=POINTS,
    ),
    ordering(
        "jing2022/stand-in/colour-short-cut",
        "Negative control: where bright backdrops keep their hues, colour tells which views belong together, "
        "and SimCLR does not learn shape (by our rule for all image nets: under 15 points).",
        source="Our stand-in of ImageNet",
        word="does not learn shape",
        measure=gain("short cut"),
        below=LEARNED,
        unit=POINTS,
    ),
    ordering(
        "jing2022/stand-in/short-cut-is-easier",
        "Negative control: where bright backdrops keep their hues, SimCLR trains all the same, to a "
        "lower loss than the net that learns shape.",
        source="Our stand-in of ImageNet",
        quantifier="generic",
        word="a lower loss than",
        measure=final_loss("short cut"),
        below=final_loss("any hue"),
        unit="loss over the last twentieth of the steps",
    ),
]
CLAIMS = [ours(claim) for claim in STATEMENTS]
