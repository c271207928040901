"""Stacks of small dense networks without biases, and their initialisations."""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.streams import Streams
from reprise.training.replicas import Weights


def linear(weights: Weights, x: Float[Tensor, "replica batch in"]) -> Float[Tensor, "replica batch out"]:
    """z = W_L ... W_1 x. The weights are multiplied first: that costs dim³ a layer, not batch dim²."""
    product = weights[0]
    for weight in weights[1:]:
        product = weight @ product
    return x @ product.mT


def relu(weights: Weights, x: Float[Tensor, "replica batch in"]) -> Float[Tensor, "replica batch out"]:
    """z = W_L relu(... relu(W_1 x))."""
    for weight in weights[:-1]:
        x = (x @ weight.mT).relu()
    return x @ weights[-1].mT


def random_orthogonal(streams: Streams, dim: int) -> Float[Tensor, "seed dim dim"]:
    """Haar-distributed orthogonal matrices: the Q of a normal matrix, with the signs of R's diagonal."""
    q, r = torch.linalg.qr(streams.normal(dim, dim))
    return q * r.diagonal(dim1=-2, dim2=-1).sign()[:, None, :]


def decaying_spectrum(streams: Streams, dim: int, decay: float = 0.35) -> Float[Tensor, "seed dim dim"]:
    """U diag(exp(-decay i)) V with random orthogonal U and V: the initialisation of Jing et al.'s toy code."""
    scale = torch.exp(-decay * torch.arange(dim))
    return random_orthogonal(streams, dim) @ (scale[:, None] * random_orthogonal(streams, dim))
