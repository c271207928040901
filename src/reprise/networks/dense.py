"""Stacks of small dense networks without biases, and their initialisations."""

from collections.abc import Sequence
from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.numerics.streams import Streams

Weights = Sequence[Float[Tensor, "replica out in"]]
"""The layers of a stack of nets, the first one first."""


def linear(
    nets: Sequence[Weights], x: Float[Tensor, "net replica batch in"]
) -> Float[Tensor, "net replica batch out"]:
    """z = W_L ... W_1 x, of nets of any depths. The weights are multiplied first: dim³ a layer, not batch
    dim²."""
    return x @ torch.stack([product(weights) for weights in nets]).mT


def relu(
    nets: Sequence[Weights], x: Float[Tensor, "net replica batch in"]
) -> Float[Tensor, "net replica batch out"]:
    """z = W_L relu(... relu(W_1 x)), of nets of any depths."""
    return torch.stack([_relu(weights, inputs) for weights, inputs in zip(nets, x, strict=True)])


def product(weights: Weights) -> Float[Tensor, "replica out in"]:
    """W_L ... W_1."""
    return reduce(lambda below, weight: weight @ below, weights)


def _relu(weights: Weights, x: Float[Tensor, "replica batch in"]) -> Float[Tensor, "replica batch out"]:
    for weight in weights[:-1]:
        x = (x @ weight.mT).relu()
    return x @ weights[-1].mT


def default_init(streams: Streams, *shape: int, inputs: int) -> Float[Tensor, "seed *shape"]:
    """torch.nn.Linear's default start, whatever the layout: uniform within ±1/sqrt(inputs)."""
    return (2 * streams.uniform(*shape) - 1) / inputs**0.5


def random_orthogonal(streams: Streams, dim: int) -> Float[Tensor, "seed dim dim"]:
    """Haar-distributed orthogonal matrices: the Q of a normal matrix, with the signs of R's diagonal."""
    q, r = torch.linalg.qr(streams.normal(dim, dim))
    return q * r.diagonal(dim1=-2, dim2=-1).sign()[:, None, :]


def decaying_spectrum(streams: Streams, dim: int, decay: float = 0.35) -> Float[Tensor, "seed dim dim"]:
    """U diag(exp(-decay i)) V with random orthogonal U and V: the initialisation of Jing et al.'s toy
    code."""
    scale = torch.exp(-decay * torch.arange(dim))
    return random_orthogonal(streams, dim) @ (scale[:, None] * random_orthogonal(streams, dim))
