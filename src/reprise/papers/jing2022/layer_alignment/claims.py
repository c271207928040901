"""What Section 5 says of alignment and of the singular values' growth."""

from collections.abc import Callable

import pandas as pd

from reprise.evidence.claims import Claim, Measure, collapsed, count, for_all, limit, ordering
from reprise.evidence.measures import applied, column, each_seed, last, ratio, rows, wide
from reprise.papers.jing2022.limits import off_diagonal_error, still_moving
from reprise.study.experiment import Tables


def at_end(arm: str, name: str) -> Measure:
    """A column of the trajectory after the last step."""
    return column("trajectory", name, step=last, arm=arm)


def at_half(arm: str, name: str) -> Measure:
    """A column of the trajectory after half of the steps."""
    return column("trajectory", name, step=lambda step: step == step.max() // 2, arm=arm)


start = column("trajectory", "imbalance", arm="public", step=0)
imbalance_left = ratio(at_end("public", "imbalance"), start)
"""|W1 W1ᵀ - W2ᵀ W2|_F at the end as a share of what it was at the start, from the public initialisation."""


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


def growth(layer: str, index: int | Callable) -> Measure:
    """Growth of a singular value from the first step to the last; the index of the largest is 1."""
    by_step = wide("singular_values", "singular_value", "step", arm="balanced", layer=layer, index=index)
    return applied(lambda values: values[values.columns.max()] / values[0], by_step)


embedding_collapsed = each_seed(
    collapsed, column("singular_values", "singular_value", arm="balanced", layer="embedding", step=last)
)
"""Number of collapsed singular values of the embeddings' covariance after the last step."""


def _aligned(id: str, arm: str, statement: str) -> Claim:
    return limit(
        id,
        statement,
        source="Figure 4, Theorem 2",
        measure=at_end(arm, "off_diagonal_mass"),
        reaches=0.0,
        resolution=off_diagonal_error(arm),
        unit="1 - mean A_kk²",
    )


def _grows_slower(id: str, layer: str, source: str) -> Claim:
    common = {"source": source, "unit": "growth from the first step to the last"}
    smallest, largest = growth(layer, index=last), growth(layer, index=1)
    return for_all(
        id,
        f"The smallest singular value of {layer} grows, but significantly slower than the largest.",
        {
            "it grows": ordering("", "", measure=smallest, above=1.0, **common),  # type: ignore[arg-type]
            "slower than the largest": ordering("", "", measure=smallest, below=largest, **common),  # type: ignore[arg-type]
        },
    )


def _norm_grows(layer: str, arm: str) -> Claim:
    norm = f"norm_{layer.lower()}"
    return ordering(
        "",
        "",
        source="Theorem 2 (Appendix B.5)",
        measure=at_end(arm, norm),
        above=at_half(arm, norm),
        unit="Frobenius norm",
    )


CLAIMS = [
    _aligned(
        "jing2022/fig4/off-diagonal-balanced",
        "balanced",
        "The alignment matrix V2ᵀ U1 converges to an identity, up to signs, from a balanced initialisation "
        "(where the conserved W1 W1ᵀ = W2ᵀ W2 forces it at once).",
    ),
    _aligned(
        "jing2022/fig4/off-diagonal-public",
        "public",
        "The alignment matrix V2ᵀ U1 converges to an identity, up to signs, from the unbalanced "
        "initialisation of the authors' public code.",
    ),
    for_all(
        "jing2022/thm2/norm-grows",
        "The Frobenius norms of W1 and W2 keep growing: each is larger at the last step than at half "
        "of the steps.",
        {
            f"{layer}, {arm}": _norm_grows(layer, arm)
            for arm in ("balanced", "public")
            for layer in ("W1", "W2")
        },
    ),
    limit(
        "jing2022/thm2/imbalance-vanishes",
        "In the limit W1 W1ᵀ = W2ᵀ W2: of the imbalance that the public initialisation starts with, nothing "
        "is left at the end.",
        source="Theorem 2 (Appendix B.5)",
        measure=imbalance_left,
        reaches=0.0,
        resolution=ratio(still_moving("public", "imbalance"), start),
        unit="share of the imbalance left",
    ),
    limit(
        "jing2022/thm3/ode",
        "Once the layers are aligned, the singular values of W1 and W2 follow Eq. 11 "
        "along the measured right singular vectors (mean relative error at the last step).",
        source="Theorem 3",
        measure=ode_error(""),
        reaches=0.0,
        resolution=ode_resolution,
        unit="mean relative error",
        looked="the number of checkpoints, of which two thirds told the limit too coarsely",
    ),
    _grows_slower("jing2022/fig5/lowest-grow-slower-w1", "W1", "Figure 5a"),
    _grows_slower("jing2022/fig5/lowest-grow-slower-w2", "W2", "Figure 5b"),
    count(
        "jing2022/fig5/embedding-low-rank",
        "Although the augmentation is small, the embeddings' covariance becomes low-rank: at least one "
        "singular value collapses.",
        source="Figure 5c, Corollary 2",
        measure=embedding_collapsed,
        at_least=1,
        unit="collapsed values of 16",
    ),
]
