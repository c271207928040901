"""Claims of the paper about its own numbers."""

from dataclasses import replace

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Change, Claim, Quotation, claim, each
from reprise.evidence.comparison import MARGINS, Comparison, Measure, above
from reprise.evidence.edits import put

UNIT = "percentage points"
NONLINEAR, LINEAR, NONE = "table1/simclr-nonlinear", "table1/simclr-linear", "table1/simclr-none"
DIRECTCLR, SUBVECTOR = "table1/directclr", "sec63/probe-on-subvector"
LOW_RANK, DIAGONAL = "sec63/fixed-low-rank", "sec63/trainable-diagonal"


def lead(better: str, worse: str) -> Measure:
    """Lead of one printed accuracy over another, in percentage points."""

    def measure(tables: Tables) -> pd.Series:
        accuracy = tables["published"].set_index("key")["value"]
        return pd.Series([accuracy[better] - accuracy[worse]])

    return measure


def closeness(first: str, second: str) -> Measure:
    """The margin of accuracies minus the difference of two accuracies; negative beyond the margin."""
    difference = lead(first, second)
    return lambda tables: MARGINS["accuracy"] - difference(tables).abs()


def is_above(measure: Measure, unit: str = UNIT) -> Comparison:
    """A number that is calculated from printed ones is above 0."""
    return replace(above(measure, 0.0, unit=unit), kind="printed")


def is_close(first: str, second: str) -> Comparison:
    """Two printed accuracies differ by less than the margin."""
    return is_above(closeness(first, second), f"{UNIT} left of the margin")


def nothing_learned(key: str) -> Change:
    """Prints a probe's accuracy as 0 %."""
    return put("published", "value", 0.0, key=key)


@claim(
    "jing2022/table1-printed/directclr-above-linear",
    """As printed, DirectCLR outperforms SimCLR with a trainable linear projector.""",
    quotes=(
        Quotation(
            "DirectCLR outperforms SimCLR with a trainable linear projector on ImageNet", at="Abstract"
        ),
        Quotation("DirectCLR outperforms SimCLR with 1-layer linear projector", at="Table 1, Section 6.2"),
    ),
    quantifier="generic",
    word="outperforms",
    broken_by=nothing_learned(DIRECTCLR),
)
def directclr_above_linear() -> Comparison:
    return is_above(lead(DIRECTCLR, LINEAR))


@each((("nonlinear", "2-layer nonlinear", NONLINEAR), ("linear", "1-layer linear", LINEAR)))
def projector_helps(projector: tuple[str, str, str]) -> Claim:
    name, words, key = projector

    @claim(
        f"jing2022/table1-printed/{name}-projector-helps",
        f"""As printed, a {words} projector improves SimCLR's representation.""",
        quotes=Quotation(
            "adding a projector substantially improves the quality of the learned representation",
            at="Section 6.1",
        ),
        quantifier="generic",
        word="substantially improves",
        reading="substantially: by any difference (ours)",
        broken_by=nothing_learned(key),
    )
    def helps() -> Comparison:
        return is_above(lead(key, NONE))

    return helps


@claim(
    "jing2022/sec63-printed/low-rank-similar",
    """As printed, SimCLR with a fixed low-rank projector performs like DirectCLR: within the margin of
    accuracies.""",
    quotes=Quotation(
        "it performs similarly on ImageNet when using a fixed low-rank matrix as a projector",
        at="Fixed low-rank projector, Section 6.3",
    ),
    quantifier="similar",
    word="performs similarly",
    broken_by=nothing_learned(LOW_RANK),
)
def low_rank_similar() -> Comparison:
    return is_close(LOW_RANK, DIRECTCLR)


@claim(
    "jing2022/sec63-printed/diagonal-comparable",
    """As printed, SimCLR with a trainable diagonal projector is comparable to SimCLR with a linear one:
    within the margin of accuracies.""",
    quotes=Quotation(
        "which is comparable to a SimCLR with a 1-layer linear projector",
        at="Trainable diagonal projector, Section 6.3",
    ),
    quantifier="similar",
    word="comparable to",
    broken_by=nothing_learned(DIAGONAL),
)
def diagonal_comparable() -> Comparison:
    return is_close(DIAGONAL, LINEAR)


@claim(
    "jing2022/sec63-printed/diagonal-slightly-worse",
    """As printed, SimCLR with a trainable diagonal projector is worse than SimCLR with a trainable linear
    one.""",
    quotes=Quotation(
        "this model is slightly worse than a SimCLR", at="Trainable diagonal projector, Section 6.3"
    ),
    quantifier="generic",
    word="slightly worse than",
    broken_by=nothing_learned(LINEAR),
)
def diagonal_slightly_worse() -> Comparison:
    return is_above(lead(LINEAR, DIAGONAL))


@claim(
    "jing2022/sec63-printed/rest-useful",
    """As printed, the part of DirectCLR's representation that its loss does not see is useful: a probe on all
    of the representation beats one on the sub-vector.""",
    quotes=Quotation(
        "This shows that the rest of r still contains useful information",
        at="Linear probe on subvector, Section 6.3",
    ),
    word="still contains useful information",
    broken_by=nothing_learned(DIRECTCLR),
)
def rest_useful() -> Comparison:
    return is_above(lead(DIRECTCLR, SUBVECTOR))
