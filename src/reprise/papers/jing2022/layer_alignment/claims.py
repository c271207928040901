"""What Section 5 says of alignment and of the singular values' growth."""

from collections.abc import Callable

import pandas as pd

from reprise.evidence.claims import Claim, Measure, collapsed, count, ordering, value
from reprise.evidence.measures import applied, column, each_seed, last, ratio, rows, wide
from reprise.study.experiment import Tables


def at_end(arm: str, name: str) -> Measure:
    """A column of the trajectory after the last step."""
    return column("trajectory", name, step=last, arm=arm)


def at_half(arm: str, name: str) -> Measure:
    """A column of the trajectory after half of the steps."""
    return column("trajectory", name, step=lambda step: step == step.max() // 2, arm=arm)


imbalance_left = ratio(at_end("public", "imbalance"), column("trajectory", "imbalance", arm="public", step=0))
"""|W1 W1ᵀ - W2ᵀ W2|_F at the end as a share of what it was at the start, from the public initialisation."""


def ode_error(tables: Tables) -> pd.Series:
    """Mean over the singular values of both layers of |s_ODE / s - 1| at the last step; nothing where the
    layers never aligned, and the ODE has only its start."""
    end = rows(tables["theorem3"], step=lambda step: (step > step.min()) & last(step))
    error = (end["w1_ode"] / end["w1"] - 1).abs() + (end["w2_ode"] / end["w2"] - 1).abs()
    return (error / 2).groupby(end["seed"]).mean()


def growth(layer: str, index: int | Callable) -> Measure:
    """Growth of a singular value from the first step to the last; the index of the largest is 1."""
    by_step = wide("singular_values", "singular_value", "step", arm="balanced", layer=layer, index=index)
    return applied(lambda values: values[values.columns.max()] / values[0], by_step)


embedding_collapsed = each_seed(
    collapsed, column("singular_values", "singular_value", arm="balanced", layer="embedding", step=last)
)
"""Number of collapsed singular values of the embeddings' covariance after the last step."""


def _aligned(id: str, arm: str, statement: str) -> Claim:
    return value(
        id,
        statement,
        source="Figure 4, Theorem 2",
        quantity="score",
        measure=at_end(arm, "off_diagonal_mass"),
        published=0.0,
        unit="1 - mean A_kk²",
    )


def _grows_slower(id: str, layer: str, source: str) -> Claim:
    return ordering(
        id,
        f"The smallest singular value of {layer} grows significantly slower than the largest.",
        source=source,
        measure=growth(layer, index=last),
        below=growth(layer, index=1),
        unit="growth from the first step to the last",
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
    ordering(
        "jing2022/thm2/norm-grows",
        "The Frobenius norm of W1 keeps growing: it is larger at the last step than at half of the steps.",
        source="Theorem 2 (Appendix B.5)",
        measure=at_end("balanced", "norm_w1"),
        above=at_half("balanced", "norm_w1"),
        unit="Frobenius norm of W1",
    ),
    value(
        "jing2022/thm2/imbalance-vanishes",
        "In the limit W1 W1ᵀ = W2ᵀ W2: of the imbalance that the public initialisation starts with, nothing "
        "is left at the end.",
        source="Theorem 2 (Appendix B.5)",
        quantity="score",
        measure=imbalance_left,
        published=0.0,
        unit="share of the imbalance left",
    ),
    value(
        "jing2022/thm3/ode",
        "Once the layers are aligned, the singular values of W1 and W2 follow Eq. 11 "
        "along the measured right singular vectors (mean relative error at the last step).",
        source="Theorem 3",
        quantity="score",
        measure=ode_error,
        published=0.0,
        unit="mean relative error",
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
