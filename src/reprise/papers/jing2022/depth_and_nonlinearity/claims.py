"""What Section 5.4 says of depth and nonlinearity, read from the embeddings' covariance (Eq. 1)."""

import pandas as pd

from reprise.evidence.claims import Claim, Measure, collapsed, count, ordering, value
from reprise.evidence.measures import column, each_seed
from reprise.study.experiment import Tables

UNIT = "collapsed values of 16"


def at_reading(tables: Tables) -> pd.DataFrame:
    """The spectra at the step where claims read."""
    return tables["spectrum"].query("step == read")


def collapsed_count(arm: str, depth: int) -> Measure:
    """Singular values under 1e-3 of the largest."""
    return each_seed(collapsed, column(at_reading, "singular_value", arm=arm, depth=depth))


def _linear_collapses(depth: int) -> Claim:
    return count(
        f"jing2022/fig6a/linear-L{depth}-collapsed",
        f"With {depth} linear layers and small augmentation, dimensions of the embedding collapse.",
        source="Figure 6a, Corollary 2",
        measure=collapsed_count("linear", depth),
        at_least=1,
        unit=UNIT,
    )


def _more_layers(shallow: int, deep: int) -> Claim:
    return ordering(
        f"jing2022/fig6a/more-layers-L{shallow}-L{deep}",
        f"More layers collapse more: {deep} linear layers more than {shallow}.",
        source="Figure 6a",
        measure=collapsed_count("linear", deep),
        above=collapsed_count("linear", shallow),
        unit=UNIT,
    )


def _relu_collapses(depth: int, source: str) -> Claim:
    return count(
        f"jing2022/fig6b/relu-L{depth}-collapsed",
        f"With {depth} layers and ReLU between them, dimensions of the embedding collapse.",
        source=source,
        measure=collapsed_count("relu", depth),
        at_least=1,
        unit=UNIT,
    )


CLAIMS = [
    count(
        "jing2022/fig6a/linear-L1-collapsed",
        "With a single linear layer and small augmentation, no dimension of the embedding collapses.",
        source="Figure 6a, Section 5.4",
        measure=collapsed_count("linear", 1),
        at_most=0,
        unit=UNIT,
    ),
    *(_linear_collapses(depth) for depth in (2, 3, 4)),
    *(_more_layers(depth, depth + 1) for depth in (1, 2, 3)),
    count(
        "jing2022/fig6a/isotropic-L4-collapsed",
        "Small augmentation and over-parametrised linear layers (L = 4) suffice for collapse, whatever the "
        "data: isotropic data collapse too.",
        source="Corollary 2",
        measure=collapsed_count("isotropic", 4),
        at_least=1,
        unit=UNIT,
    ),
    _relu_collapses(2, "Figure 6b"),
    _relu_collapses(3, "Section 5.4: the theory extends to multilayer and nonlinear cases"),
    value(
        "jing2022/fig6b/relu-like-linear",
        "ReLU (L = 2) leads to a similar collapse as no nonlinearity: as many collapsed dimensions.",
        source="Figure 6b",
        quantity="count",
        measure=collapsed_count("relu", 2),
        published=collapsed_count("linear", 2),
        unit=UNIT,
    ),
]
