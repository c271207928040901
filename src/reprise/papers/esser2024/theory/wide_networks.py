"""Section 4: the distance of a wide network's output from its linear counterpart's (Theorem 1, Lemma 2)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error, size
from reprise.papers.esser2024.theory.points import orthonormal, tensor, two_layers

TANH_CURVATURE = 4 / (3 * np.sqrt(3))
"""The largest |tanh''|, at tanh² = 1/3."""


@dataclass(frozen=True)
class Activation:
    """An activation φ, and c, the largest |φ''|."""

    phi: Callable[[Tensor], Tensor]
    curvature: float


ACTIVATIONS = {
    "tanh": Activation(torch.tanh, TANH_CURVATURE),
    "scaled-sigmoid": Activation(lambda x: 4 * torch.sigmoid(x) - 2, TANH_CURVATURE / 2),
    # Unlike the other two it is curved at 0, which determines the theorem's rate.
    "softplus": Activation(lambda x: 2 * torch.nn.functional.softplus(x) - 2 * np.log(2), 0.5),
}
"""Activations with φ(0) = 0, φ'(0) = 1 and |φ''| ≤ c, as Theorem 1 requires."""


def conditions(rng: Random, largest: int) -> Checked:
    """Theorem 1's three conditions and Eq. 13, at points of either sign, small and large."""
    x = tensor(rng.choice([-1, 1], 50) * 10 ** rng.uniform(-2, 1, 50)).requires_grad_()
    zero = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    errors = {}
    for name, activation in ACTIVATIONS.items():
        curvature = _second_derivative(activation.phi, x)
        at_zero = activation.phi(zero).sum()
        (slope_at_zero,) = torch.autograd.grad(at_zero, zero)
        excess = float((curvature.abs() / activation.curvature - 1).max())
        errors[f"thm1/conditions-{name}"] = as_printed(
            max(abs(at_zero.item()), abs(slope_at_zero.item() - 1), excess)
        )
        distance = (activation.phi(x) - x).abs().detach()
        errors[f"thm1/eq13-{name}"] = as_printed(
            max(0.0, float((distance / (activation.curvature * x.detach() ** 2 / 2) - 1).max()))
        )
    return Checked({"samples": len(x)}, errors)


def _second_derivative(phi: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    (slope,) = torch.autograd.grad(phi(x).sum(), x, create_graph=True)
    return torch.autograd.grad(slope.sum(), x)[0]


def theorem1(rng: Random, largest: int) -> Checked:
    """Two steps of Theorem 1's proof, which hold for any weights, at a random start."""
    dim, outputs = size(rng, 2, largest), size(rng, 1, largest)
    hidden = round(10 ** rng.uniform(1, np.log10(2000)))
    w1, w2 = orthonormal(rng, hidden, dim), orthonormal(rng, hidden, outputs)
    x = rng.normal(size=(20, dim)) * rng.uniform(0.3, 3)
    errors = {}
    for name, activation in ACTIVATIONS.items():
        weights, inputs = (tensor(w1), tensor(w2)), tensor(x)
        gap = two_layers(activation.phi)(weights, inputs) - two_layers(lambda h: h)(weights, inputs)
        distances = gap.norm(dim=1).numpy()
        first_layer = x @ w1.T
        residual = activation.phi(tensor(first_layer)).numpy() - first_layer
        squares = activation.curvature / 2 * np.linalg.norm(first_layer**2, axis=1)
        errors[f"thm1/proof-{name}"] = as_printed(
            max(above(distances, np.linalg.norm(residual, axis=1)), above(distances, squares))
        )
    sizes = {"samples": len(x), "inputs": dim, "hidden": hidden, "outputs": outputs}
    return Checked(sizes, errors)


def above(values: Array, bounds: Array) -> float:
    """The largest relative excess of a value over its bound; 0 if no value exceeds its bound."""
    return float(max(0.0, np.max(values / bounds) - 1))


def lemma2(rng: Random, largest: int) -> Checked:
    """Lemma 2: P(max |Q_ij| ≥ L log h / √h) at a large width, by a union bound over Beta-distributed
    Q_ij²."""
    columns, constant = size(rng, 1, largest), rng.uniform(1, 3)
    hidden = size(rng, 20_000, 100_000)
    threshold = constant**2 * np.log(hidden) ** 2 / hidden
    tail = columns * hidden * stats.beta.sf(threshold, 0.5, (hidden - 1) / 2)
    return Checked({"inputs": columns, "hidden": hidden}, {"lemma2/tail": as_printed(float(tail))})


def sizes_at_start(rng: Random, largest: int) -> Checked:
    """Mean squares of u^I, and of what φ adds to it, over uniformly random orthonormal weights.

    The distribution is invariant under signed cyclic shifts of W2's rows and sign changes of W1's, so a mean
    over these is exact for any weights.
    """
    dim, outputs, hidden = size(rng, 2, 3), size(rng, 1, 3), size(rng, 3, 5)
    w1, w2 = orthonormal(rng, hidden, dim), orthonormal(rng, hidden, outputs)
    x = rng.normal(size=dim)
    signs = np.array(list(product([-1.0, 1.0], repeat=hidden)))
    first_layer = signs * (w1 @ x)  # [start, hidden]

    def mean_square(residual: Array) -> float:
        """Mean square of W2ᵀ residual over the starts."""
        shifted = np.stack([np.roll(residual, step, axis=-1) for step in range(hidden)])
        outputs_at = (signs[:, None, None] * shifted) @ w2  # [signs, shift, start, output]
        return float((outputs_at**2).sum(-1).mean())

    linear = mean_square(first_layer)
    relu = mean_square(np.maximum(first_layer, 0) - first_layer)
    sigmoid = 1 / (1 + np.exp(-first_layer))
    sigmoid_square, centred_square = (
        mean_square(sigmoid - first_layer),
        mean_square(sigmoid - 0.5 - first_layer),
    )
    ratio = np.sqrt(relu / linear)
    return Checked(
        {"inputs": dim, "hidden": hidden, "outputs": outputs},
        {
            "sec4/linear-size": as_printed(abs(outputs / hidden * float(x @ x) / linear - 1)),
            "sec4/sigmoid-offset": as_printed(abs((centred_square + outputs / 4) / sigmoid_square - 1)),
            "sec4/relu-share": as_printed(float(abs(ratio - np.sqrt(0.5)))),
        },
    )


def centred_sigmoid(rng: Random, largest: int) -> Checked:
    """4 (σ(x) - σ(0)) is 2 tanh(x/2): the sigmoid without its offset, with slope 1."""
    x = rng.normal(size=50) * 10 ** rng.uniform(-2, 1)
    computed = ACTIVATIONS["scaled-sigmoid"].phi(tensor(x)).numpy()
    return Checked(
        {"samples": len(x)}, {"sec4/scaled-sigmoid": as_printed(relative_error(computed, 2 * np.tanh(x / 2)))}
    )


CHECKS = (conditions, theorem1, lemma2, sizes_at_start, centred_sigmoid)
