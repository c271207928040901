"""What Section 5.4 says of depth and nonlinearity, read from the embeddings' covariance (Eq. 1)."""

from collections.abc import Callable

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours, single
from reprise.evidence.claims import count, for_all
from reprise.evidence.comparison import Comparison, Measure, at_least, collapsed, exactly
from reprise.evidence.measures import column, difference, each_seed, interned, largest, selected

UNIT = "collapsed values of 16"
AT_START = "than at the start"
READING = "collapsed: under 1e-3 of the largest (ours)"
DEPTHS = (1, 2, 3, 4)
COURSE = {"a quarter of the steps": 4, "half of the steps": 2, "all steps": 1}
"""Where nets are compared: after one n-th of the steps."""
SPREAD = "the spread of the initial singular values, after a degenerate start, from which nothing collapsed"


def course(tables: Tables) -> pd.DataFrame:
    """The spectra up to the step where claims read."""
    return tables["spectrum"].query("step <= read")


@interned
def after(divisor: int) -> Callable[[Tables], pd.DataFrame]:
    """The spectra after one `divisor`-th of the steps."""
    return lambda tables: tables["spectrum"].query(f"step == read // {divisor}")


def collapsed_count(arm: str, depth: int, divisor: int = 1) -> Measure:
    """Collapsed singular values after one `divisor`-th of the steps."""

    return each_seed(collapsed, column(after(divisor), "singular_value", arm=arm, depth=depth))


def at_start(arm: str, depth: int) -> Measure:
    """Collapsed singular values before training."""
    return each_seed(collapsed, column(course, "singular_value", arm=arm, depth=depth, step=0))


def most(arm: str, depth: int) -> Measure:
    """Collapsed singular values at the step with the most."""

    def measure(tables: Tables) -> pd.Series:
        net = selected(course, arm=arm, depth=depth)(tables)
        counts = net.groupby(["seed", "step"])["singular_value"].agg(collapsed)
        return counts.groupby("seed").agg(largest)

    return measure


def _collapses(arm: str, depth: int) -> Comparison:
    more = difference(collapsed_count(arm, depth), at_start(arm, depth))
    return at_least(more, 1, unit=f"more {UNIT} {AT_START}")


def _one_more_layer(shallow: int) -> Comparison:
    more = difference(collapsed_count("linear", shallow + 1), collapsed_count("linear", shallow))
    return at_least(more, 1, unit=f"more {UNIT}")


def _collapses_with_relu(depth: int) -> Comparison:
    more = difference(most("relu", depth), at_start("relu", depth))
    return at_least(more, 1, unit=f"more {UNIT} {AT_START}, at most")


def _as_linear(divisor: int) -> Comparison:
    relu, linear = (collapsed_count(arm, 2, divisor) for arm in ("relu", "linear"))
    return exactly(difference(relu, linear), 0, unit=f"more {UNIT}")


CLAIMS = [
    count(
        "jing2022/fig6a/linear-L1-collapsed",
        "With a single linear layer and small augmentation, no dimension of the embedding collapses that had "
        "not collapsed at the start.",
        source="Figure 6a, Section 5.4",
        word="there is no",
        measure=difference(collapsed_count("linear", 1), at_start("linear", 1)),
        at_most=0,
        unit=f"more {UNIT} {AT_START}",
        reading=READING,
    ),
    for_all(
        "jing2022/fig6a/linear-collapsed",
        "With more than one linear layer and small augmentation, dimensions of the embedding collapse"
        " that had not collapsed at the start.",
        {f"L = {depth}": _collapses("linear", depth) for depth in DEPTHS[1:]},
        source="Figure 6a, Corollary 2",
        word="becomes low-rank",
        reading=READING,
    ),
    for_all(
        "jing2022/fig6a/more-layers",
        "With small augmentation, each further linear layer collapses more dimensions of the embedding.",
        {f"L = {depth + 1} after {depth}": _one_more_layer(depth) for depth in DEPTHS[:-1]},
        source="Figure 6a",
        quantifier="generic",
        word="leads to",
        reading=READING,
    ),
    single(
        "jing2022/fig6a/isotropic-L4-collapsed",
        "Small augmentation and over-parametrised linear layers (L = 4) suffice for collapse, whatever the "
        "data: isotropic data collapse too.",
        _collapses("isotropic", 4),
        source="Corollary 2",
        word="becomes low-rank",
        reading=READING,
        looked=SPREAD,
    ),
    ours(
        count(
            "jing2022/fig6a/degenerate-L4-stands",
            "Control: from a degenerate start, which Section 5.3 excludes, isotropic data collapse nothing "
            "(L = 4): depth widens a spread that is there.",
            source="Section 5.3, the start",
            word="nothing",
            measure=collapsed_count("degenerate", 4),
            at_most=0,
            unit=UNIT,
            reading=READING,
            looked="that there is this control, after it had been the default",
        )
    ),
    for_all(
        "jing2022/fig6b/relu-collapsed",
        "With ReLU between the layers, dimensions of the embedding collapse as well, at least for a time: "
        "more than at the start.",
        {f"L = {depth}": _collapses_with_relu(depth) for depth in (2, 3)},
        source="Section 5.4, Figure 6b",
        quantifier="generic",
        word="also applies to",
        reading=f"over the course; {READING}",
    ),
    ours(
        for_all(
            "jing2022/fig6b/relu-like-linear",
            "ReLU (L = 2) leads to as many collapsed dimensions as no nonlinearity, throughout training.",
            {part: _as_linear(divisor) for part, divisor in COURSE.items()},
            source="Figure 6b",
            quantifier="similar",
            word="as many",
            reading=READING,
        ),
        "ours: the paper calls the collapse similar, and does not count",
    ),
]
