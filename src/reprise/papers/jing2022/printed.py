"""Claims of the paper about its own numbers."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim
from reprise.evidence.claims import printed
from reprise.evidence.comparison import MARGINS, Measure

UNIT = "percentage points"


def top1(table: pd.DataFrame, loss: str, projector: str) -> float:
    """The printed accuracy of the linear probe for a loss and a projector."""
    rows = table[(table["loss"] == loss) & (table["projector"] == projector)]
    return float(rows["value"].item())


def lead(better: tuple[str, str], worse: tuple[str, str]) -> Measure:
    """The lead of the first (loss, projector) over the second."""

    def measure(tables: Tables) -> pd.Series:
        table = tables["published"].query("metric == 'linear probe top-1'")
        return pd.Series([top1(table, *better) - top1(table, *worse)])

    return measure


def closeness(first: tuple[str, str], second: tuple[str, str]) -> Measure:
    """The margin of accuracies minus the difference of two accuracies; negative beyond the margin."""
    difference = lead(first, second)
    return lambda tables: MARGINS["accuracy"] - difference(tables).abs()


NONLINEAR, LINEAR, NONE = ("SimCLR", "2-layer nonlinear"), ("SimCLR", "1-layer linear"), ("SimCLR", "none")
DIRECTCLR, SUBVECTOR = ("DirectCLR", "none"), ("DirectCLR, probe on subvector", "none")
LOW_RANK, DIAGONAL = ("SimCLR", "fixed low-rank"), ("SimCLR", "trainable diagonal")

CLAIMS: list[Claim] = [
    printed(
        "jing2022/table1-printed/directclr-above-linear",
        "DirectCLR outperforms SimCLR with a trainable linear projector.",
        source="Abstract, Sections 1, 6.2 and 7, Table 1",
        quantifier="generic",
        word="outperforms",
        unit=UNIT,
        measure=lead(DIRECTCLR, LINEAR),
        above=0.0,
    ),
    printed(
        "jing2022/table1-printed/nonlinear-projector-helps",
        "A 2-layer nonlinear projector improves SimCLR's representation.",
        source="Section 6.1, Table 1",
        quantifier="generic",
        word="substantially improves",
        unit=UNIT,
        measure=lead(NONLINEAR, NONE),
        above=0.0,
    ),
    printed(
        "jing2022/table1-printed/linear-projector-helps",
        "A 1-layer linear projector improves SimCLR's representation.",
        source="Section 6.1, Table 1",
        quantifier="generic",
        word="substantially improves",
        unit=UNIT,
        measure=lead(LINEAR, NONE),
        above=0.0,
    ),
    printed(
        "jing2022/sec63-printed/low-rank-similar",
        "A fixed low-rank projector performs like DirectCLR: within the margin of accuracies.",
        source="Section 6.3, fixed low-rank projector",
        word="performs similarly",
        unit=f"{UNIT} left of the margin",
        measure=closeness(LOW_RANK, DIRECTCLR),
        above=0.0,
    ),
    printed(
        "jing2022/sec63-printed/diagonal-comparable",
        "A trainable diagonal projector is comparable to a linear one: within the margin of accuracies.",
        source="Section 6.3, trainable diagonal projector",
        word="comparable to",
        unit=f"{UNIT} left of the margin",
        measure=closeness(DIAGONAL, LINEAR),
        above=0.0,
    ),
    printed(
        "jing2022/sec63-printed/diagonal-slightly-worse",
        "A trainable diagonal projector is worse than a trainable linear one.",
        source="Section 6.3, trainable diagonal projector",
        quantifier="generic",
        word="slightly worse than",
        unit=UNIT,
        measure=lead(LINEAR, DIAGONAL),
        above=0.0,
    ),
    printed(
        "jing2022/sec63-printed/rest-useful",
        "The part of DirectCLR's representation that its loss does not see is useful: a probe on all "
        "of the representation beats one on the sub-vector.",
        source="Section 6.3, linear probe on subvector",
        word="still contains useful information",
        unit=UNIT,
        measure=lead(DIRECTCLR, SUBVECTOR),
        above=0.0,
    ),
]
