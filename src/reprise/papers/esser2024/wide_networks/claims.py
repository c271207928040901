"""What Section 2 and the abstract say of wide networks."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours
from reprise.evidence.claims import for_all, ordering
from reprise.evidence.comparison import COLLAPSED, MARGINS, SHARE, Comparison, Measure, above, below
from reprise.evidence.measures import applied, column, last, log_log_slope, wide
from reprise.papers.esser2024.wide_networks.experiment import ACTIVATIONS, LOSSES

NAMES = {"relu": "ReLU", "tanh": "tanh"}


def distance(arm: str, width: object = last) -> Measure:
    """Of the network's outputs from those of its tangent kernel, at a width."""
    return column("distances", "distance", arm=arm, width=width)


def at_rank(rank: int, arm: str) -> Measure:
    """The distance at the width of this rank, 0 for the smallest."""

    def measure(tables: Tables) -> pd.Series:
        return distance(arm, sorted(tables["distances"]["width"].unique())[rank])(tables)

    return measure


def slope(arm: str) -> Measure:
    """Of the logarithm of the distance against that of the width."""
    return applied(log_log_slope, wide("distances", "distance", "width", arm=arm))


UNIT = "distance over size"
RANKS = {0: "narrowest", -1: "widest"}


def _above(measure: Measure, reference: float | Measure) -> Comparison:
    return above(measure, reference, unit=UNIT, bounds=SHARE_OF_BOTH)


SHARE_OF_BOTH = (0.0, 2.0)
"""Two outputs are at most twice as far apart as the larger is long."""


def _further(arm: str) -> dict[str, Comparison]:
    """That an arm's distance is above that of supervised networks, paired by seed."""
    return {name: _above(at_rank(rank, arm), at_rank(rank, "supervised")) for rank, name in RANKS.items()}


CLAIMS = [
    for_all(
        "esser2024/sec2/wide-collapse",
        "Outputs of wide networks trained by the losses (1) and (2) collapse to one dimension: the second "
        f"singular value falls below {COLLAPSED:g} of the first.",
        {
            f"{NAMES[activation]}, {loss}": below(
                column("collapse", "ratio", activation=activation, loss=loss, step=last),
                COLLAPSED,
                unit="second singular value over the first",
                bounds=SHARE,
            )
            for activation in ACTIVATIONS
            for loss in LOSSES
        },
        source="Section 2, after Proposition 1",
        quantifier="generic",
        word="also happen for",
        reading="ours: in networks of finite width, along the gradient flow in a time of its own",
        looked="steps, after a trial on other seeds",
    ),
    for_all(
        "esser2024/abstract/ntk-deviation",
        "Wide SSL networks with orthonormal weights deviate from their neural tangent kernel: by more than a "
        "tenth at the largest width, and by more than supervised ones do, at the smallest and the largest.",
        {"a tenth": _above(at_rank(-1, "constrained"), MARGINS["score"]), **_further("constrained")},
        source="Abstract",
        quantifier="generic",
        word="significantly deviate from",
        reading="ours: the network's outputs against those of its kernel at the start, after equal training",
        looked="without constraints is a claim of its own, after a look at the smallest width",
    ),
    ours(
        for_all(
            "esser2024/abstract/ntk-unconstrained",
            "Without constraints, too, wide SSL networks are further from their neural tangent kernel than "
            "supervised ones of the same width, at the smallest and the largest.",
            _further("unconstrained"),
            source="our remark on the abstract",
            word="at the smallest and the largest",
        )
    ),
    ours(
        ordering(
            "esser2024/abstract/ntk-supervised",
            "Supervised networks approach their neural tangent kernel as they become wider.",
            source="control of the abstract's sentence",
            quantifier="generic",
            word="as they become wider",
            measure=slope("supervised"),
            below=0.0,
            unit="log-log slope",
        )
    ),
]
