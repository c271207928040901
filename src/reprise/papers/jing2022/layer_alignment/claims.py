"""What Section 5 says of alignment and of the singular values' growth."""

from collections.abc import Callable

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import agreement, for_all, limit, ordering
from reprise.evidence.comparison import SHARE, Comparison, Measure, above, at_least, below, collapsed
from reprise.evidence.measures import applied, column, course, difference, each_seed, last, ratio, rows, wide
from reprise.papers.jing2022.limits import off_diagonal_error, still_moving


def at_end(arm: str, name: str) -> Measure:
    """A column of the trajectory after the last step."""
    return column("trajectory", name, step=last, arm=arm)


def at_half(arm: str, name: str) -> Measure:
    """A column of the trajectory after half of the steps."""
    return column("trajectory", name, step=lambda step: step == step.max() // 2, arm=arm)


OFF_DIAGONAL = "1 - mean A_kk²"
STARTS = ("independent", "balanced")
"""The initialisations with distinct singular values, as Section 5.3 has them."""

start = column("trajectory", "imbalance", arm="independent", step=0)
imbalance_left = ratio(at_end("independent", "imbalance"), start)
"""|W1 W1ᵀ - W2ᵀ W2|_F at the end as a share of what it was at the start, from independent layers."""


def imbalance_course(tables: Tables) -> pd.DataFrame:
    """That share over time: a row a step, a column a seed."""
    return course("trajectory", "imbalance", arm="independent")(tables) / start(tables)


def ode_error(other: str) -> Measure:
    """Mean over the singular values of both layers of |s_ODE / s - 1| at the last step; nothing where the
    layers never aligned, and the ODE has only its start.

    Args:
        other: s: the training's (empty), or those of the ODE in coarser steps (`_coarse`).
    """

    def measure(tables: Tables) -> pd.Series:
        end = rows(tables["theorem3"], step=lambda step: (step > step.min()) & last(step))
        errors = ((end[f"{w}_ode"] / end[f"{w}{other}"] - 1).abs() for w in ("w1", "w2"))
        return pd.concat(errors, axis=1).mean(axis=1, skipna=False).groupby(end["seed"]).mean()

    return measure


ode_resolution = applied(lambda error: 2 * error, ode_error("_coarse"))
"""The ODE's error, which is of first order, is as large as what twice the step changes; and so is the
training's, which takes the same steps."""


def growth(arm: str, layer: str, index: int | Callable) -> Measure:
    """Growth of a singular value from the first step to the last; the index of the largest is 1."""
    by_step = wide("singular_values", "singular_value", "step", arm=arm, layer=layer, index=index)
    return applied(lambda values: values[values.columns.max()] / values[0], by_step)


def embedding_collapsed(arm: str, step: int | Callable) -> Measure:
    """Number of collapsed singular values of the embeddings' covariance."""
    values = column("singular_values", "singular_value", arm=arm, layer="embedding", step=step)
    return each_seed(collapsed, values)


def _grows_slower(id: str, layer: str, source: str) -> Claim:
    unit = "growth from the first step to the last"
    cells = {}
    for arm in STARTS:
        smallest, largest = growth(arm, layer, index=last), growth(arm, layer, index=1)
        cells[f"it grows, {arm}"] = above(smallest, 1.0, unit=unit)
        cells[f"slower, {arm}"] = below(smallest, largest, unit=unit)
    statement = f"The smallest singular value of {layer} grows, but significantly slower than the largest."
    return for_all(id, statement, cells, source=source, word="each weight matrix")


def _becomes_low_rank(arm: str) -> Comparison:
    more = difference(embedding_collapsed(arm, last), embedding_collapsed(arm, 0))
    return at_least(more, 1, unit="more collapsed values of 16 than at the start")


def _norm_grows(layer: str, arm: str) -> Comparison:
    norm = f"norm_{layer.lower()}"
    return above(at_end(arm, norm), at_half(arm, norm), unit="Frobenius norm")


CLAIMS = [
    limit(
        "jing2022/fig4/off-diagonal",
        "The alignment matrix V2ᵀ U1 of two linear layers converges to an identity, up to signs, from"
        " layers with distinct singular values and independent singular vectors, as the authors' "
        "public code has them.",
        source="Figure 4, Theorem 2",
        word="converges to an identity matrix",
        measure=at_end("independent", "off_diagonal_mass"),
        reaches=0.0,
        resolution=off_diagonal_error("independent"),
        course=course("trajectory", "off_diagonal_mass", arm="independent"),
        unit=OFF_DIAGONAL,
    ),
    ordering(
        "jing2022/fig4/towards-identity",
        "Training brings the alignment matrix V2ᵀ U1 of two linear layers closer to an identity than "
        "it was at the start.",
        source="Figure 4",
        word="converges to an identity matrix",
        measure=at_end("independent", "off_diagonal_mass"),
        below=column("trajectory", "off_diagonal_mass", arm="independent", step=0),
        unit=OFF_DIAGONAL,
        bounds=SHARE,
    ),
    for_all(
        "jing2022/thm2/norm-grows",
        "The Frobenius norms of W1 and W2 keep growing: each is larger at the last step than at half "
        "of the steps.",
        {f"{layer}, {arm}": _norm_grows(layer, arm) for arm in STARTS for layer in ("W1", "W2")},
        source="Theorem 2 (Appendix B.5)",
        word="each weight matrix",
    ),
    ours(
        limit(
            "jing2022/thm2/imbalance-vanishes",
            "Of the imbalance W1 W1ᵀ - W2ᵀ W2 that independent layers start with, nothing is left at the "
            "end.",
            source="Theorem 2 (Appendix B.5)",
            word="nothing is left",
            measure=imbalance_left,
            reaches=0.0,
            resolution=ratio(still_moving("independent", "imbalance"), start),
            course=imbalance_course,
            unit="share of the imbalance left",
        ),
        "ours: the proof derives that it is constant, and means its share of the growing norms, which "
        "vanishes",
    ),
    agreement(
        "jing2022/thm3/ode",
        "Once the layers are aligned, the singular values of W1 and W2 follow Eq. 11 "
        "along the measured right singular vectors (mean relative error at the last step).",
        source="Theorem 3",
        word="evolve by",
        measure=ode_error(""),
        reference=0.0,
        resolution=ode_resolution,
        unit="mean relative error",
        looked="the number of checkpoints, of which two thirds told the limit too coarsely",
    ),
    _grows_slower("jing2022/fig5/lowest-grow-slower-w1", "W1", "Figure 5a"),
    _grows_slower("jing2022/fig5/lowest-grow-slower-w2", "W2", "Figure 5b"),
    for_all(
        "jing2022/fig5/embedding-low-rank",
        "Although the augmentation is small, the embeddings' covariance becomes low-rank: singular values "
        "collapse that had not at the start.",
        {arm: _becomes_low_rank(arm) for arm in STARTS},
        source="Figure 5c, Corollary 2",
        word="becomes low-rank",
    ),
]
