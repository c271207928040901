"""What the stand-in of the image experiments is good for; ours, not the paper's.

A net that did not learn is what the second claim asserts, so that none of them asks whether it did.
"""

import pandas as pd

from reprise.evidence.claims import LEARNED, Measure, ordering
from reprise.study.experiment import Tables

POINTS = "percentage points of linear probe top-1"
LIFT = 25.0


def gain(arm: str) -> Measure:
    """Of the probe over its accuracy at random initialisation, by seed."""

    def measure(tables: Tables) -> pd.Series:
        probes = tables["probes"]
        by_step = probes[probes["arm"] == arm].pivot(index="seed", columns="step", values="accuracy")
        return by_step[by_step.columns.max()] - by_step[0]

    return measure


def final_loss(arm: str) -> Measure:
    """Over the last stretch of the training, by seed."""

    def measure(tables: Tables) -> pd.Series:
        losses = tables["losses"]
        of_arm = losses[losses["arm"] == arm]
        return of_arm[of_arm["step"] == of_arm["step"].max()].set_index("seed")["loss"]

    return measure


CLAIMS = [
    ordering(
        "jing2022/stand-in/learns-shape",
        "On the stand-in, with any hue, SimCLR of a minute lifts a linear probe for shape by more than "
        "25 points above random initialisation.",
        source="Our stand-in of ImageNet",
        measure=gain("any hue"),
        above=LIFT,
        unit=POINTS,
    ),
    ordering(
        "jing2022/stand-in/colour-short-cut",
        "Negative control: where bright backdrops keep their hues, colour tells which views belong together, "
        "and SimCLR does not learn shape (by our rule for all image nets: under 15 points).",
        source="Our stand-in of ImageNet",
        measure=gain("short cut"),
        below=LEARNED,
        unit=POINTS,
    ),
    ordering(
        "jing2022/stand-in/short-cut-is-easier",
        "Negative control: it does train all the same, to a lower loss than that which learns shape.",
        source="Our stand-in of ImageNet",
        measure=final_loss("short cut"),
        below=final_loss("any hue"),
        unit="loss over the last twentieth of the steps",
    ),
]
