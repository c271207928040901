"""Stacks of small dense networks without biases, and their initialisations."""

from collections.abc import Sequence
from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.numerics.streams import Streams

Weights = Sequence[Float[Tensor, "replica out in"]]
"""The weights of a stack of nets, one tensor per layer, input layer first."""


def linear(
    nets: Sequence[Weights], x: Float[Tensor, "net replica batch in"]
) -> Float[Tensor, "net replica batch out"]:
    """Linear nets z = W_L ... W_1 x, whose depths may differ.

    The weights are multiplied first, which costs dim³ per layer instead of batch · dim².
    """
    return x @ torch.stack([product(weights) for weights in nets]).mT


def relu(
    nets: Sequence[Weights], x: Float[Tensor, "net replica batch in"]
) -> Float[Tensor, "net replica batch out"]:
    """ReLU nets z = W_L relu(... relu(W_1 x)), whose depths may differ."""
    return torch.stack([_relu(weights, inputs) for weights, inputs in zip(nets, x, strict=True)])


def product(weights: Weights) -> Float[Tensor, "replica out in"]:
    """The product W_L ... W_1."""
    return reduce(lambda partial_product, weight: weight @ partial_product, weights)


def _relu(weights: Weights, x: Float[Tensor, "replica batch in"]) -> Float[Tensor, "replica batch out"]:
    for weight in weights[:-1]:
        x = (x @ weight.mT).relu()
    return x @ weights[-1].mT


def default_init(streams: Streams, *shape: int, inputs: int) -> Float[Tensor, "seed *shape"]:
    """torch.nn.Linear's default initialisation, uniform within ±1/sqrt(inputs), for any shape of weights."""
    return (2 * streams.uniform(*shape) - 1) / inputs**0.5


def random_orthogonal(streams: Streams, dim: int) -> Float[Tensor, "seed dim dim"]:
    """Haar-distributed orthogonal matrices: Q of a normal matrix's QR, columns signed by R's diagonal."""
    q, r = torch.linalg.qr(streams.normal(dim, dim))
    return q * r.diagonal(dim1=-2, dim2=-1).sign()[:, None, :]


def decaying_spectrum(streams: Streams, dim: int, decay: float = 0.35) -> Float[Tensor, "seed dim dim"]:
    """U diag(exp(-decay i)) V with random orthogonal U and V.

    Source: the toy code of Jing et al. 2022, "Understanding Dimensional Collapse in Contrastive
    Self-supervised Learning"; code: github.com/facebookresearch/directclr.
    """
    scale = torch.exp(-decay * torch.arange(dim))
    return random_orthogonal(streams, dim) @ (scale[:, None] * random_orthogonal(streams, dim))
