"""Activations by name.

The first four are homogeneous, h(x) = c h'(x) x with a constant c, as assumed in Tian 2023, "Understanding
the Role of Nonlinearity in Training Dynamics of Contrastive Learning".
"""

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
    # torch.sigmoid rounds the last numbers of a stack differently from the rest; exp does not.
    "sigmoid": lambda x: 1 / (1 + torch.exp(-x)),
    "centred_sigmoid": lambda x: torch.tanh(x / 2) / 2,
    "scaled_sigmoid": lambda x: 2 * torch.tanh(x / 2),
    "tanh": torch.tanh,
}
"""`centred_sigmoid` is the sigmoid minus 1/2, its value at 0; `scaled_sigmoid` also has slope 1 at 0."""
