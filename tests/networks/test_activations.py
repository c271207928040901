"""Activations against their formulas in NumPy."""

import numpy as np
import pytest
import torch

from reprise.networks.activations import ACTIVATIONS

FORMULAS = {
    "linear": lambda x: x,
    "relu": lambda x: np.where(x > 0, x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.05 * x),
    "quadratic": lambda x: x**2,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "centred_sigmoid": lambda x: 1 / (1 + np.exp(-x)) - 0.5,
    "scaled_sigmoid": lambda x: 4 / (1 + np.exp(-x)) - 2,
    "tanh": np.tanh,
}
HOMOGENEOUS = {"linear": 1, "relu": 1, "leaky_relu": 1, "quadratic": 0.5}
"""c in h(x) = c h'(x) x."""


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_each_is_its_formula(name):
    x = torch.linspace(-3, 3, 24, dtype=torch.float64)
    np.testing.assert_allclose(ACTIVATIONS[name](x), FORMULAS[name](x.numpy()), rtol=1e-12, atol=1e-12)


def slope(name, at):
    x = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(ACTIVATIONS[name](x).sum(), x)[0]


@pytest.mark.parametrize(("name", "factor"), HOMOGENEOUS.items())
def test_the_first_four_are_homogeneous(name, factor):
    x = torch.tensor([-2.0, -0.5, 0.5, 3.0], dtype=torch.float64)
    torch.testing.assert_close(ACTIVATIONS[name](x), factor * slope(name, x.tolist()) * x)
    assert list(ACTIVATIONS)[:4] == list(HOMOGENEOUS)


def test_of_the_centred_ones_the_scaled_has_slope_1_at_0():
    assert [slope(name, [0.0]).item() for name in ("centred_sigmoid", "scaled_sigmoid", "tanh")] == [
        0.25,
        1,
        1,
    ]
