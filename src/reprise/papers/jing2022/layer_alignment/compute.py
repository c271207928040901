"""Trains a two-layer linear net from two initialisations and under three constraints on its second layer, all at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise import objectives
from reprise.diagnostics.alignment import alignment_matrix, imbalance, off_diagonal_mass, subspace_mass_outside
from reprise.diagnostics.spectra import embedding_spectrum
from reprise.experiment import Context
from reprise.networks.dense import decaying_spectrum, linear, random_orthogonal
from reprise.papers.jing2022.layer_alignment.params import Params
from reprise.streams import Streams
from reprise.tidy import tidy
from reprise.training.replicas import Weights, sgd


@dataclass(frozen=True)
class Arm:
    """Initial weights, and which entries of W2 train: W2 = fixed + mask * (what SGD moves)."""

    w1: Float[Tensor, "seed dim dim"]
    w2: Float[Tensor, "seed dim dim"]
    mask: Float[Tensor, "dim dim"]


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Alignment, imbalance, norms and singular values over the steps, and Theorem 3's ODE beside the balanced run."""
    seeds, dim = range(params.seeds), params.dim
    data = Streams(seeds, "data")
    std = torch.from_numpy(np.geomspace(params.covariance_span, 1 / params.covariance_span, dim)).sqrt().float()
    x = data.normal(params.batch_size, dim) * std
    noise = params.noise_std * data.normal(2, params.batch_size, dim)
    arms = arms_of(params)
    x1, x2 = ((x + noise[:, view]).repeat(len(arms), 1, 1) for view in (0, 1))
    clean = x.repeat(len(arms), 1, 1)

    start1, start2 = (torch.cat([getattr(arm, name) for arm in arms.values()]) for name in ("w1", "w2"))
    mask = torch.cat([arm.mask.expand(params.seeds, dim, dim) for arm in arms.values()])
    fixed = start2 * (1 - mask)
    loss_of = objectives.resolve(params.objective)

    def loss(weights: Weights) -> Tensor:
        w1, w2 = weights[0], fixed + mask * weights[1]
        return loss_of(linear([w1, w2], x1), linear([w1, w2], x2))

    checkpoints = checkpoints_of(params.steps)
    records: list[dict[str, Tensor]] = []
    for _, (w1, free) in sgd(
        [start1, start2],
        loss,
        learning_rate=params.learning_rate,
        steps=params.steps,
        checkpoints=checkpoints,
        progress=lambda step: context.progress(step, params.steps, "training two layers"),
    ):
        w2 = fixed + mask * free
        z1, z2 = linear([w1, w2], x1), linear([w1, w2], x2)
        a = alignment_matrix(w1, w2)
        records.append(
            {
                "alignment": a.abs(),
                "off_diagonal_mass": off_diagonal_mass(a),
                "mass_outside_subspace": subspace_mass_outside(a, params.low_rank),
                "imbalance": imbalance(w1, w2),
                "norm_w1": torch.linalg.matrix_norm(w1),
                "norm_w2": torch.linalg.matrix_norm(w2),
                "loss": loss_of(z1, z2),
                "W1": torch.linalg.svdvals(w1),
                "W2": torch.linalg.svdvals(w2),
                "embedding": embedding_spectrum(linear([w1, w2], clean)).float(),
                "V1": torch.linalg.svd(w1).Vh.mT,
            }
        )

    by_step = {"step": checkpoints, "arm": list(arms), "seed": seeds}
    shape = tuple(map(len, by_step.values()))
    index = {"index": range(1, dim + 1)}

    def over_time(name: str) -> Tensor:
        stacked = torch.stack([record[name] for record in records])
        return stacked.view(*shape, *stacked.shape[2:])

    scalars = ("off_diagonal_mass", "mass_outside_subspace", "imbalance", "norm_w1", "norm_w2", "loss")
    last = {"arm": list(arms), "seed": seeds, "row": range(1, dim + 1), "column": range(1, dim + 1)}
    balanced = list(arms).index("balanced")
    mass, s1, s2, v1 = (over_time(name)[:, balanced] for name in ("off_diagonal_mass", "W1", "W2", "V1"))
    unaligned = (mass >= params.aligned_below).any(-1).nonzero()
    aligned = min(int(unaligned.max()) + 1 if len(unaligned) else 0, len(checkpoints) - 1)
    own1, own2 = (half[balanced * params.seeds :][: params.seeds] for half in (x1, x2))
    ode1, ode2 = theorem3_ode(
        lambda product: loss_of(linear([product], own1), linear([product], own2)),
        *(values[aligned:] for values in (s1, s2, v1)),
        checkpoints[aligned:],
        params.learning_rate,
    )
    return {
        "alignment": tidy(last, magnitude=over_time("alignment")[-1]),
        "trajectory": tidy(by_step, **{name: over_time(name) for name in scalars}),
        "singular_values": pd.concat(
            [
                tidy({**by_step, **index}, singular_value=over_time(layer)).assign(layer=layer)
                for layer in ("W1", "W2", "embedding")
            ],
            ignore_index=True,
        ),
        "theorem3": tidy(
            {"step": checkpoints[aligned:], "seed": seeds, **index}, w1_ode=ode1, w2_ode=ode2, w1=s1[aligned:], w2=s2[aligned:]
        ),
    }


def arms_of(params: Params) -> Mapping[str, Arm]:
    """What is compared. `balanced` and `public` train both layers; the others restrict W2 as Section 6.1 proposes."""
    dim, seeds = params.dim, range(params.seeds)
    streams = Streams(seeds, "weights")
    small1, small2 = (params.init_scale * random_orthogonal(streams, dim) for _ in range(2))
    public1, public2 = (decaying_spectrum(streams, dim) for _ in range(2))
    u, v = random_orthogonal(streams, dim), random_orthogonal(streams, dim)
    low_rank = u[:, :, : params.low_rank] @ v[:, : params.low_rank]
    every, none, diagonal = torch.ones(dim, dim), torch.zeros(dim, dim), torch.eye(dim)
    values = torch.exp(-0.35 * torch.arange(dim)).diag().repeat(params.seeds, 1, 1)
    return {
        "balanced": Arm(small1, small2, every),
        "public": Arm(public1, public2, every),
        "frozen": Arm(small1, public2, none),
        "diagonal": Arm(small1, values, diagonal),
        "low-rank": Arm(small1, low_rank, none),
    }


def checkpoints_of(steps: int) -> list[int]:
    """Steps 0 to `steps`, evenly in the square root, with half of them: where Theorem 2's growth is read."""
    return sorted({round(steps * (k / 80) ** 2) for k in range(81)} | {steps // 2})


def theorem3_ode(
    loss: Callable[[Float[Tensor, "seed dim in"]], Float[Tensor, " seed"]],
    s1: Float[Tensor, "step seed index"],
    s2: Float[Tensor, "step seed index"],
    v1: Float[Tensor, "step seed in index"],
    checkpoints: list[int],
    learning_rate: float,
) -> tuple[Float[Tensor, "step seed index"], Float[Tensor, "step seed index"]]:
    """Solves ds1/dt = s1 s2² (v1ᵀ X v1), ds2/dt = s2 s1² (v1ᵀ X v1) (Eq. 11) from the first of `checkpoints`.

    Since -dL/dW = W X, it is the gradient flow of the same loss over the singular values alone, of W2 W1 = diag(s1 s2) V1ᵀ up
    to a rotation that the loss does not see. X follows from the solution's own values; of the training it takes the start and
    the right singular vectors, of which Theorem 3 says nothing. The Euler step is training's.
    """
    first, step = checkpoints[0], iter(range(checkpoints[0], checkpoints[-1]))

    def of_values(values: Weights) -> Tensor:
        now = v1[np.searchsorted(checkpoints, next(step), side="right") - 1]
        return loss((now * (values[0] * values[1])[:, None, :]).mT)

    path = [
        values
        for _, values in sgd(
            [s1[0], s2[0]],
            of_values,
            learning_rate=learning_rate,
            steps=checkpoints[-1] - first,
            checkpoints={at - first for at in checkpoints},
        )
    ]
    return torch.stack([values[0] for values in path]), torch.stack([values[1] for values in path])
