"""Claims of Section 5.4 about depth and nonlinearity, read from the embeddings' covariance (Eq. 1)."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import Comparison, Measure, at_least, at_most, collapsed
from reprise.evidence.edits import put
from reprise.evidence.measures import column, difference, each_seed, largest, last, selected

UNIT = "collapsed values of 16"
AT_START = "than at the start"
READING = "collapsed: under 1e-3 of the largest (ours)"
DEPTHS = (1, 2, 3, 4)

SINGLE = (
    Quotation(
        "for a single-layer case, L = 1, there is no dimensional collapse in the embedding space",
        "Section 5.4",
    ),
    Quotation("happens only in networks where the network has more than one layer", "Section 1"),
)
LOW_RANK = Quotation(
    "With small augmentation and over-parametrized linear networks, the embedding space covariance matrix "
    "becomes low-rank",
    "Corollary 2, Section 5.3",
)
DEEPER = Quotation(
    "Adding more linear layers in the network leads to more collapsed dimensions", "Figure 6, Section 5.4"
)
NONLINEAR = Quotation("the collapsing effect also applies to the nonlinear scenario", "Section 5.4")
SIMILAR = Quotation("observe a similar singular value collapse compared to the linear case", "Section 5.4")


def course(tables: Tables) -> pd.DataFrame:
    """The spectra up to the step where claims read."""
    return tables["spectrum"].query("step <= read")


def at_end(tables: Tables) -> pd.DataFrame:
    """The spectra at the step where claims read."""
    return tables["spectrum"].query("step == read")


def collapsed_count(arm: str, depth: int) -> Measure:
    """Collapsed singular values at the step where claims read."""
    return each_seed(collapsed, column(at_end, "singular_value", arm=arm, depth=depth))


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


@claim(
    "jing2022/fig6a/linear-L1-collapsed",
    """With a single linear layer and small augmentation, training collapses no dimension of the embedding
    that had not collapsed at the start.""",
    quotes=SINGLE,
    word="there is no",
    reading=READING,
    broken_by=put("spectrum", "singular_value", 0.0, arm="linear", depth=1, step=last, index=last),
)
def single_layer_stands() -> Comparison:
    more = difference(collapsed_count("linear", 1), at_start("linear", 1))
    return at_most(more, 0, unit=f"more {UNIT} {AT_START}")


@claim(
    "jing2022/fig6a/linear-collapsed",
    """With more than one linear layer and small augmentation, training collapses dimensions of the embedding
    that had not collapsed at the start.""",
    quotes=LOW_RANK,
    word="becomes low-rank",
    reading=READING,
    broken_by=put("spectrum", "singular_value", 1.0, arm="linear"),
)
def linear_collapses() -> Cells:
    for depth in DEPTHS[1:]:
        yield f"L = {depth}", _collapses("linear", depth)


@claim(
    "jing2022/fig6a/more-layers",
    "With small augmentation, more linear layers collapse more dimensions of the embedding.",
    quotes=DEEPER,
    quantifier="generic",
    word="leads to",
    reading=READING,
    broken_by=put("spectrum", "singular_value", 1.0, arm="linear"),
)
def more_layers() -> Cells:
    for shallow in DEPTHS[:-1]:
        more = difference(collapsed_count("linear", shallow + 1), collapsed_count("linear", shallow))
        yield f"L = {shallow + 1} after {shallow}", at_least(more, 1, unit=f"more {UNIT}")


@claim(
    "jing2022/fig6a/isotropic-L4-collapsed",
    """Small augmentation and over-parametrised linear layers (L = 4) suffice for dimensions of the embedding
    to collapse, whatever the data: they collapse on isotropic data, too.""",
    quotes=LOW_RANK,
    word="becomes low-rank",
    reading=READING,
    looked="the spread of the initial singular values, after a degenerate start had collapsed nothing",
    broken_by=put("spectrum", "singular_value", 1.0, arm="isotropic"),
)
def isotropic_collapses() -> Comparison:
    return _collapses("isotropic", 4)


@claim(
    "jing2022/fig6b/relu-collapsed",
    """With ReLU between two layers, too, dimensions of the embedding collapse: at some step, more than at the
    start.""",
    quotes=(NONLINEAR, SIMILAR),
    quantifier="generic",
    word="also applies to",
    reading=f"over the course; {READING}",
    looked="that L = 2 alone is judged, the paper's; at L = 3 it was reproduced as well",
    broken_by=put("spectrum", "singular_value", 1.0, arm="relu"),
)
def relu_collapses() -> Comparison:
    more = difference(most("relu", 2), at_start("relu", 2))
    return at_least(more, 1, unit=f"more {UNIT} {AT_START}, at most")


@claim(
    "jing2022/fig6b/relu-fewer",
    """At the end of training, networks of two layers with ReLU have fewer collapsed dimensions of the
    embedding than linear ones.""",
    at="Figure 6b, Section 5.4",
    form="ours",
    word="fewer",
    reading=f"ours: the paper calls the collapse similar, and does not count; {READING}",
    looked="all of it, after 8 (linear) and about 2.5 (ReLU) had been seen; as many had been "
    "contradicted, which was our reading of a similar collapse",
    broken_by=put("spectrum", "singular_value", 1.0, arm="linear"),
)
def relu_collapses_fewer() -> Comparison:
    fewer = difference(collapsed_count("linear", 2), collapsed_count("relu", 2))
    return at_least(fewer, 1, unit=f"fewer {UNIT}")
