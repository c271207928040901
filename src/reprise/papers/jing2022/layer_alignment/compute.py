"""Trains a two-layer linear network from several initialisations, and integrates Theorem 3's ODE for the
balanced one."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.contract.tidy import Axes, tidy
from reprise.diagnostics.alignment import alignment_matrix, imbalance, off_diagonal_mass
from reprise.diagnostics.spectra import embedding_spectrum
from reprise.networks.dense import Weights
from reprise.numerics.streams import Streams
from reprise.objectives import infonce_distance, infonce_dot
from reprise.papers.jing2022.layer_alignment.experiment import CODE_POINTS, Params
from reprise.papers.jing2022.starts import layers
from reprise.papers.jing2022.two_layers import Pairs, batches_of, checkpoints_of, free, pairs_of, train
from reprise.training.replicas import sgd

SPECTRUM_POINTS = 1000
"""Points at most on which the embeddings' spectrum is taken, as in the authors' code."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Alignment, imbalance, norms and singular values over the steps, and Theorem 3's ODE for the balanced
    run, also with steps twice as long and singular vectors from every second checkpoint (`coarse`, at the
    next of these), which tells how precise it is; the ODE follows Eq. 2 on the fixed pairs: it is left out
    for another loss, and has only its last step in the authors' code."""
    seeds, dim = params.seed_range(params.seeds), params.dim
    arms = {start: free(_weights(params, start)) for start in ("independent", "balanced", *params.controls)}
    code = params.authors_code
    pairs = pairs_of(params.model_copy(update={"batch_size": CODE_POINTS}) if code else params)
    clean = pairs.clean[:, :SPECTRUM_POINTS].repeat(len(arms), 1, 1)
    trained = (
        train(params, context, arms, batches_of(params, pairs.clean), infonce_dot)
        if code
        else train(params, context, arms)
    )
    records: list[dict[str, Tensor]] = []
    for _, w1, w2 in trained:
        a, svd1 = alignment_matrix(w1, w2), torch.linalg.svd(w1)
        records.append(
            {
                "alignment": a.abs(),
                "off_diagonal_mass": off_diagonal_mass(a),
                "imbalance": imbalance(w1, w2),
                "norm_w1": torch.linalg.matrix_norm(w1),
                "norm_w2": torch.linalg.matrix_norm(w2),
                "W1": svd1.S,
                "W2": torch.linalg.svdvals(w2),
                "V1": svd1.Vh.mT,
                "embedding": embedding_spectrum(clean @ (w2 @ w1).mT).float(),
            }
        )

    checkpoints = checkpoints_of(params.steps)
    by_step: Axes = {"step": checkpoints, "arm": list(arms), "seed": seeds}
    index: Axes = {"index": range(1, dim + 1)}

    def over_time(name: str) -> Tensor:
        stacked = torch.stack([record[name] for record in records])
        return stacked.view(*map(len, by_step.values()), *stacked.shape[2:])

    last: Axes = {"arm": list(arms), "seed": seeds, "row": range(1, dim + 1), "column": range(1, dim + 1)}
    tables = {
        "alignment": tidy(last, magnitude=over_time("alignment")[-1]),
        "trajectory": tidy(
            by_step,
            **{name: over_time(name) for name in ("off_diagonal_mass", "imbalance", "norm_w1", "norm_w2")},
        ),
        "singular_values": pd.concat(
            [
                tidy({**by_step, **index}, singular_value=over_time(layer)).assign(layer=layer)
                for layer in ("W1", "W2", "embedding")
            ],
            ignore_index=True,
        ),
    }
    if context.objective:
        return tables
    balanced = list(arms).index("balanced")
    mass, s1, s2, v1 = (over_time(name)[:, balanced] for name in ("off_diagonal_mass", "W1", "W2", "V1"))
    if code:
        mass = torch.ones_like(mass)
    return {**tables, "theorem3": _theorem3(params, pairs, mass, s1, s2, v1)}


def _weights(params: Params, start: str) -> list[Tensor]:
    """The layers of an initialisation."""
    span = 1.0 if start == "degenerate" else params.init_span
    streams = Streams(params.seed_range(params.seeds), f"{start} weights")
    return layers(
        streams,
        params.dim,
        2,
        scale=params.init_scale,
        span=span,
        balanced=start == "balanced",
        from_uniform=params.authors_code and start == "independent",
    )


def _theorem3(
    params: Params,
    pairs: Pairs,
    mass: Float[Tensor, "step seed"],
    s1: Float[Tensor, "step seed index"],
    s2: Float[Tensor, "step seed index"],
    v1: Float[Tensor, "step seed in index"],
) -> pd.DataFrame:
    """Theorem 3's ODE, from the checkpoint from which on every seed is aligned, beside the training.

    Args:
        mass: of the alignment matrix, off the diagonal.
        s1, s2, v1: singular values of W1 and W2 and the right singular vectors of W1.
    """
    checkpoints = checkpoints_of(params.steps)
    unaligned = (mass >= params.aligned_below).any(-1).nonzero()
    aligned = min(int(unaligned.max()) + 1 if len(unaligned) else 0, len(checkpoints) - 1)

    def loss(product: Tensor) -> Tensor:
        return infonce_distance(pairs.view1 @ product.mT, pairs.view2 @ product.mT)

    steps = checkpoints[aligned:]
    ode1, ode2 = theorem3_ode(loss, s1[aligned:], s2[aligned:], v1[aligned:], steps, params.learning_rate)
    every_second = slice((len(checkpoints) - aligned - 1) % 2 + aligned, None, 2)  # and the last
    coarse1, coarse2 = theorem3_ode(
        loss,
        s1[every_second],
        s2[every_second],
        v1[every_second],
        [step // 2 for step in checkpoints[every_second]],
        2 * params.learning_rate,
    )
    nearest = np.searchsorted(checkpoints[every_second], steps)
    axes: Axes = {"step": steps, "seed": params.seed_range(params.seeds), "index": range(1, params.dim + 1)}
    return tidy(
        axes,
        w1_ode=ode1, w2_ode=ode2, w1=s1[aligned:], w2=s2[aligned:],
        w1_coarse=coarse1[nearest], w2_coarse=coarse2[nearest],
    )  # fmt: skip


def theorem3_ode(
    loss: Callable[[Float[Tensor, "seed dim in"]], Float[Tensor, " seed"]],
    s1: Float[Tensor, "step seed index"],
    s2: Float[Tensor, "step seed index"],
    v1: Float[Tensor, "step seed in index"],
    checkpoints: list[int],
    learning_rate: float,
) -> tuple[Float[Tensor, "step seed index"], Float[Tensor, "step seed index"]]:
    """Solves ds1/dt = s1 s2² (v1ᵀ X v1), ds2/dt = s2 s1² (v1ᵀ X v1) (Eq. 11) from the first of `checkpoints`.

    Since -dL/dW = W X, this is the gradient flow of the same loss over the singular values alone, with
    W2 W1 = diag(s1 s2) V1ᵀ up to a rotation that does not change the loss. X follows from the solution's own
    values. Only the start and the right singular vectors, about which Theorem 3 says nothing, come from the
    training, those of the nearest checkpoint. The Euler step is that of the training.
    """
    first, step = checkpoints[0], iter(range(checkpoints[0], checkpoints[-1]))
    halfway = [(before + after) / 2 for before, after in pairwise(checkpoints)]

    def loss_of_values(values: Weights) -> Tensor:
        directions = v1[np.searchsorted(halfway, next(step) + 0.5)]
        return loss((directions * (values[0] * values[1])[:, None, :]).mT)

    path = [
        values
        for _, values in sgd(
            [s1[0], s2[0]],
            loss_of_values,
            learning_rate=learning_rate,
            steps=checkpoints[-1] - first,
            checkpoints={checkpoint - first for checkpoint in checkpoints},
        )
    ]
    return torch.stack([values[0] for values in path]), torch.stack([values[1] for values in path])
