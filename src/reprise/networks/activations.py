"""Activations by name. All but the sigmoid are homogeneous (Tian 2023): h(x) = h'(x) x up to a constant."""

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
}
