"""What Section 5.4 says of depth and nonlinearity, read from the embeddings' covariance (Eq. 1)."""

import pandas as pd

from reprise.evidence.claims import Claim, Measure, collapsed, count, for_all
from reprise.evidence.measures import column, difference, each_seed
from reprise.study.experiment import Tables

UNIT = "collapsed values of 16"
READING = "collapsed: under 1e-3 of the largest (ours)"
DEPTHS = (1, 2, 3, 4)


def at_reading(tables: Tables) -> pd.DataFrame:
    """The spectra at the step where claims read."""
    return tables["spectrum"].query("step == read")


def collapsed_count(arm: str, depth: int) -> Measure:
    """Singular values under 1e-3 of the largest."""
    return each_seed(collapsed, column(at_reading, "singular_value", arm=arm, depth=depth))


def _collapses(id: str, statement: str, source: str, arm: str, depth: int) -> Claim:
    return count(
        id,
        statement,
        source=source,
        measure=collapsed_count(arm, depth),
        at_least=1,
        unit=UNIT,
        reading=READING,
    )


def _one_more_layer(shallow: int) -> Claim:
    more = difference(collapsed_count("linear", shallow + 1), collapsed_count("linear", shallow))
    return count("", "", source="Figure 6a", measure=more, at_least=1, unit=f"more {UNIT}", reading=READING)


CLAIMS = [
    count(
        "jing2022/fig6a/linear-L1-collapsed",
        "With a single linear layer and small augmentation, no dimension of the embedding collapses.",
        source="Figure 6a, Section 5.4",
        measure=collapsed_count("linear", 1),
        at_most=0,
        unit=UNIT,
        reading=READING,
    ),
    for_all(
        "jing2022/fig6a/linear-collapsed",
        "With more than one linear layer and small augmentation, dimensions of the embedding collapse.",
        {
            f"L = {depth}": _collapses("", "", "Figure 6a, Corollary 2", "linear", depth)
            for depth in DEPTHS[1:]
        },
    ),
    for_all(
        "jing2022/fig6a/more-layers",
        "Each further linear layer collapses more dimensions.",
        {f"L = {depth + 1} after {depth}": _one_more_layer(depth) for depth in DEPTHS[:-1]},
    ),
    _collapses(
        "jing2022/fig6a/isotropic-L4-collapsed",
        "Small augmentation and over-parametrised linear layers (L = 4) suffice for collapse, whatever the "
        "data: isotropic data collapse too.",
        "Corollary 2",
        "isotropic",
        4,
    ),
    for_all(
        "jing2022/fig6b/relu-collapsed",
        "With ReLU between the layers, dimensions of the embedding collapse as well.",
        {f"L = {depth}": _collapses("", "", "Section 5.4, Figure 6b", "relu", depth) for depth in (2, 3)},
    ),
    count(
        "jing2022/fig6b/relu-like-linear",
        "ReLU (L = 2) leads to a similar collapse as no nonlinearity: as many collapsed dimensions.",
        source="Figure 6b",
        measure=difference(collapsed_count("relu", 2), collapsed_count("linear", 2)),
        exactly=0,
        unit=f"more {UNIT}",
        reading=f"similar: as many; {READING}",
    ),
]
