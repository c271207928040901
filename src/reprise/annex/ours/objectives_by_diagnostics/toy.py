"""Two-layer networks on vectors with a class, as many at a time as there are seeds."""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from reprise.annex.diagnose.trained import LAYERS, neighbours_held_out, of_embeddings
from reprise.annex.ours.objectives_by_diagnostics.experiment import Params, Toy
from reprise.errors import RepriseError
from reprise.networks.dense import Weights, default_init
from reprise.numerics.streams import Streams
from reprise.objectives import Objective
from reprise.training.pilots import PILOT_SEED
from reprise.training.replicas import sgd

CLASS_MEAN = 2.0
CONTENT = (0.5, 1.0, 1.0, 0.0)
NOISE = (0.3, 0.3, 1.5, 1.0)
"""Deviations within a class, which both views share, and between the views, in each quarter of the inputs: a
quarter tells the class, one tells samples apart, one does so under strong augmentation, one holds noise
alone."""


def contrastive(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """mean_i u_iᵀ (u_i⁻ - u_i⁺), with the next sample's second view as the negative (Esser 2024, Eq. 1).

    Example:
        >>> contrastive(torch.eye(2), torch.eye(2)).item()
        -1.0
    """
    return (z1 * (z2.roll(1, -2) - z2)).sum(-1).mean(-1)


def non_contrastive(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """-mean_i u_iᵀ u_i⁺ (Esser 2024, Eq. 2).

    Example:
        >>> non_contrastive(torch.eye(2), torch.eye(2)).item()
        -1.0
    """
    return -(z1 * z2).sum(-1).mean(-1)


def nearest_orthonormal(weight: Float[Tensor, "*replica out in"]) -> Float[Tensor, "*replica out in"]:
    """The nearest matrix with orthonormal rows: U Vᵀ for W = U S Vᵀ, of at most as many rows as columns.

    Raises:
        RepriseError: if a weight is not finite.
    """
    if not weight.isfinite().all():
        raise RepriseError("diverged: weights to project are not finite; lower toy_rates")
    u, _, vt = torch.linalg.svd(weight, full_matrices=False)
    return u @ vt


def pairs(
    streams: Streams, count: int, dim: int
) -> tuple[Float[Tensor, "seed sample dim"], Float[Tensor, "seed sample dim"], Int[Tensor, "seed sample"]]:
    """Two views of samples of dim/4 classes, and the classes."""
    labels, normal = streams.integers(dim // 4, count), streams.normal(3, count, dim)
    content, noise = (torch.tensor(each).repeat_interleave(dim // 4) for each in (CONTENT, NOISE))
    sample = CLASS_MEAN * one_hot(labels, dim) + content * normal[:, 0]
    return sample + noise * normal[:, 1], sample + noise * normal[:, 2], labels


def outputs(
    toy: Toy, weights: Weights, x: Float[Tensor, "seed sample dim"]
) -> tuple[Float[Tensor, "seed sample hidden"], Float[Tensor, "seed sample out"]]:
    """Representations, the hidden units, and embeddings."""
    hidden = x @ weights[0].mT
    if toy == "relu":
        hidden = hidden.relu()
    return hidden, hidden @ weights[1].mT


def descended(
    params: Params, toy: Toy, loss: Objective, seeds: list[int], rate: float, steps: int, orthonormal: bool
) -> Weights | None:
    """The weights after gradient descent on a loss, or None if a network diverges.

    Args:
        orthonormal: whether both layers are projected onto orthonormal rows after each step.
    """
    dim = params.toy_dim
    start = Streams(seeds, f"{toy} toy: weights")
    weights: Weights = [
        default_init(start, dim, dim, inputs=dim), default_init(start, dim // 2, dim, inputs=dim)
    ]  # fmt: skip
    if orthonormal:
        weights = [nearest_orthonormal(weight) for weight in weights]
    streams = Streams(seeds, "toy: batches")

    def of_batch(current: Weights) -> Float[Tensor, " seed"]:
        x1, x2, _ = pairs(streams, params.toy_batch, dim)
        return loss(*(outputs(toy, current, x)[1] for x in (x1, x2)))

    try:
        ends = sgd(
            weights,
            of_batch,
            learning_rate=rate,
            steps=steps,
            checkpoints=[steps],
            project=nearest_orthonormal if orthonormal else None,
        )
        return next(weights for _, weights in ends)
    except RepriseError:
        return None


def pilot(params: Params, toy: Toy, loss: Objective, rate: float, orthonormal: bool) -> float:
    """Accuracy of a pilot's nearest neighbours, by its hidden units; NaN if it diverged."""
    seeds = [PILOT_SEED]
    weights = descended(params, toy, loss, seeds, rate, max(params.toy_steps // 2, 1), orthonormal)
    if weights is None:
        return float("nan")
    x, _, labels = pairs(Streams(seeds, "toy: test"), params.toy_samples, params.toy_dim)
    return neighbours_held_out(outputs(toy, weights, x)[0][0], labels[0])


def measured(params: Params, toy: Toy, weights: Weights) -> Iterator[dict[str, object]]:
    """The rows of all seeds."""
    seeds = params.seed_range(len(weights[0]))
    x1, x2, labels = pairs(Streams(seeds, "toy: test"), params.toy_samples, params.toy_dim)
    both = [outputs(toy, weights, x) for x in (x1, x2)]
    for place, seed in enumerate(seeds):
        for layer, views in zip(LAYERS, zip(*both, strict=True), strict=True):
            rows = of_embeddings([view[place].numpy() for view in views], labels[place].numpy())
            yield from ({"layer": layer, "seed": seed, **row} for row in rows)
