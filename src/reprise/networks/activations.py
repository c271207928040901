"""Activations by name. The first four are homogeneous (Tian 2023): h(x) = h'(x) x up to a constant."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

Activation = Callable[[Tensor], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "linear": lambda x: x,
    "relu": torch.relu,
    "leaky_relu": lambda x: leaky_relu(x, 0.05),
    "quadratic": torch.square,
    # torch.sigmoid rounds the last numbers of a stack otherwise than the rest; exp does not.
    "sigmoid": lambda x: 1 / (1 + torch.exp(-x)),
    "centred_sigmoid": lambda x: torch.tanh(x / 2) / 2,
    "scaled_sigmoid": lambda x: 2 * torch.tanh(x / 2),
    "tanh": torch.tanh,
}
"""The centred sigmoid is the sigmoid less its value at 0, 1/2; the scaled one has slope 1 there too."""
