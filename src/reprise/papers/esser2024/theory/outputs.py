"""Section 2: the outputs' motion under gradient flow, and its decoupling (Eqs. 3 to 5, Lemma 1)."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import torch
from torch import Tensor

from reprise.evidence.identities import Checked, Random, as_printed, relative_error, size
from reprise.papers.esser2024.theory.points import (
    Model,
    Triplets,
    Weights,
    gradient,
    kernel_machine,
    linear,
    normal,
    orthonormal,
    random_triplets,
    tangent_kernel,
    tensor,
    two_layers,
    velocity,
)


def error(value: Tensor, expected: Tensor) -> float:
    return relative_error(value.detach().numpy(), expected.detach().numpy())


def diagonal(kernel: Tensor, outputs: int) -> Tensor:
    """k(x, x') if l = j, else 0. Shapes [n, m] -> [n, output, m, output]."""
    return torch.einsum("nm,lj->nlmj", kernel, torch.eye(outputs, dtype=kernel.dtype))


def lemma1(rng: Random, largest: int) -> Checked:
    """Lemma 1: inner products of the gradients of a single layer and of a kernel machine."""
    dim, outputs, offset = size(rng, 2, largest), size(rng, 2, largest), rng.uniform(0.5, 1.5)
    x, other = normal(rng, size(rng, 2, 6), dim), normal(rng, size(rng, 2, 6), dim)
    theta = normal(rng, outputs, dim)
    feature_weights = normal(rng, outputs, dim**2 + dim + 1)
    products = x @ other.T
    return Checked(
        {"samples": len(x), "inputs": dim, "outputs": outputs},
        {
            "lemma1/linear": as_printed(
                error(tangent_kernel(linear, (theta,), x, other), diagonal(products, outputs))
            ),
            "lemma1/kernel": as_printed(
                error(
                    tangent_kernel(kernel_machine(offset), (feature_weights,), x, other),
                    diagonal((products + offset) ** 2, outputs),
                )
            ),
        },
    )


def two_layer_kernel(rng: Random, largest: int) -> Checked:
    """The two layers of Lemma 1's proof, with the identity for φ and orthonormal weights: the whole
    kernel."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    hidden = size(rng, dim + outputs, 10 * largest)
    weights = tensor(orthonormal(rng, hidden, dim)), tensor(orthonormal(rng, hidden, outputs))
    x, other = normal(rng, size(rng, 2, 6), dim), normal(rng, size(rng, 2, 6), dim)
    kernel = tangent_kernel(two_layers(lambda hidden: hidden), weights, x, other)
    products = diagonal(x @ other.T, outputs)
    errors = {"printed": error(products, kernel), "corrected": error(2 * products, kernel)}
    return Checked(
        {"samples": len(x), "inputs": dim, "hidden": hidden, "outputs": outputs},
        {"lemma1-two-layers": errors},
    )


def wide_relu(rng: Random, largest: int) -> Checked:
    """The infinitely wide ReLU network with Gaussian weights, u(x) = W2ᵀ relu(W1 x) / √h.

    Its kernel is an expectation over a hidden unit's weights. A network whose units are the nodes of an exact
    quadrature has the same kernel and can be differentiated automatically.
    """
    outputs = size(rng, 2, 3)
    x, other = normal(rng, 1, 2), normal(rng, 1, 2)
    model, weights = _quadrature_network(x, other, outputs)
    kernel = tangent_kernel(model, weights, x, other)[0, :, 0]
    lengths = float(x.norm() * other.norm())
    cosine = float((x @ other.T).squeeze()) / lengths
    angle = np.arccos(cosine)
    last_layer = lengths * (np.sin(angle) + (np.pi - angle) * cosine) / (2 * np.pi)
    first_layer = lengths * cosine * (np.pi - angle) / (2 * np.pi)
    ones = torch.eye(outputs, dtype=torch.float64)
    interaction = kernel - kernel.diagonal().diag()
    return Checked(
        {"inputs": 2, "outputs": outputs},
        {
            "lemma1-wide-relu": {
                "printed": error(last_layer * ones, kernel),
                "corrected": error((last_layer + first_layer) * ones, kernel),
            },
            "lemma1/wide-no-interaction": as_printed(float(interaction.norm() / kernel.norm())),
        },
    )


def _quadrature_network(x: Tensor, other: Tensor, outputs: int) -> tuple[Model, Weights]:
    """Hidden units at the nodes of a quadrature of N(0, I) for W1 (in the plane) and of ±1 for W2.

    Each unit is scaled by the square root of its share. Arcs end where ReLU switches on or off for one of the
    inputs; |w|²/2 has an exponential distribution, and the kernel is linear in it.
    """
    turns = [np.arctan2(*point[0].numpy()[::-1]) + s * np.pi / 2 for point in (x, other) for s in (-1, 1)]
    edges = np.sort(np.mod(turns, 2 * np.pi))
    edges = np.append(edges, edges[0] + 2 * np.pi)
    nodes, shares = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    angles = ((edges[:-1] + edges[1:])[:, None] / 2 + half * nodes).ravel()
    arcs = (half * shares).ravel() / (2 * np.pi)
    radii, chances = np.polynomial.laguerre.laggauss(2)
    signs = np.array(list(product([-1.0, 1.0], repeat=outputs)))
    w1, w2, share = [], [], []
    for (angle, arc), (half_square, chance), sign in product(
        zip(angles, arcs, strict=True), zip(radii, chances, strict=True), signs
    ):
        w1.append(np.sqrt(2 * half_square) * np.array([np.cos(angle), np.sin(angle)]))
        w2.append(sign)
        share.append(arc * chance / len(signs))
    scale = tensor(np.sqrt(share))
    return two_layers(lambda hidden: torch.relu(hidden) * scale), (tensor(np.array(w1)), tensor(np.array(w2)))


def regression(rng: Random, largest: int) -> Checked:
    """Eq. 3 in a two-layer network, and Remark 1 in a linear model."""
    triplets = random_triplets(rng, size(rng, 2, largest))
    dim, outputs, hidden = triplets.x.shape[1], size(rng, 2, largest), size(rng, 4, 3 * largest)
    labels, probe = normal(rng, len(triplets.x), outputs), normal(rng, 3, dim)
    model = two_layers(torch.tanh)
    weights = normal(rng, hidden, dim), normal(rng, hidden, outputs)
    kernel = tangent_kernel(model, weights, probe, triplets.x)
    eq3 = -torch.einsum("nlmj,mj->nl", kernel, model(weights, triplets.x) - labels)
    output_velocity = velocity(
        model, weights, lambda *w: ((model(w, triplets.x) - labels) ** 2).sum() / 2, probe
    )
    theta = normal(rng, outputs, dim)
    single_outputs = [_least_squares(theta[[j]], triplets.x, labels[:, [j]], probe) for j in range(outputs)]
    return Checked(
        {"samples": len(triplets.x), "inputs": dim, "hidden": hidden, "outputs": outputs},
        {
            "eq3/dynamics": as_printed(error(eq3, output_velocity)),
            "remark1/independent": as_printed(
                error(torch.cat(single_outputs, 1), _least_squares(theta, triplets.x, labels, probe))
            ),
        },
    )


def _least_squares(theta: Tensor, x: Tensor, labels: Tensor, probe: Tensor) -> Tensor:
    """Outputs at `probe` after 20 steps of gradient descent."""
    rate = 0.5 / float((x.T @ x).trace())
    for _ in range(20):
        (slope,) = gradient(lambda weights: ((x @ weights.T - labels) ** 2).sum() / 2, theta)
        theta = theta - rate * slope
    return probe @ theta.T


Pull = Callable[[Tensor, Tensor], Tensor]
"""Maps samples x_i and u(x_i) to the sum over i and j of ⟨∇u_l(x), ∇u_j(x_i)⟩ u_j(x_i), at a fixed x."""


def by_gradients(model: Model, weights: Weights, probe: Tensor) -> Pull:
    return lambda x, u: torch.einsum("nlmj,mj->nl", tangent_kernel(model, weights, probe, x), u)


def by_kernel(kernel: Callable[[Tensor, Tensor], Tensor], probe: Tensor) -> Pull:
    """The sum by Lemma 1: one kernel for every output, and none between outputs."""
    return lambda x, u: kernel(probe, x) @ u


def eq4(pull: Pull, triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Tensor:
    return pull(triplets.x, u(triplets.positive)) + pull(triplets.positive, u(triplets.x))


def eq5(pull: Pull, triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Tensor:
    return (
        eq4(pull, triplets, u)
        - pull(triplets.x, u(triplets.negative))
        - pull(triplets.negative, u(triplets.x))
    )


def self_supervised(rng: Random, largest: int) -> Checked:
    """Eqs. 4 and 5 in a two-layer network, and in the simplified form of Proposition 1."""
    triplets = random_triplets(rng, size(rng, 2, largest))
    dim, outputs, hidden = triplets.x.shape[1], size(rng, 2, largest), size(rng, 4, 3 * largest)
    probe, offset = normal(rng, 3, dim), rng.uniform(0.5, 1.5)
    network, net = two_layers(torch.tanh), (normal(rng, hidden, dim), normal(rng, hidden, outputs))
    theta, feature_weights = (normal(rng, outputs, dim),), (normal(rng, outputs, dim**2 + dim + 1),)
    machine = kernel_machine(offset)
    errors = {}
    for name, loss, formula in (
        ("non-contrastive", triplets.non_contrastive, eq4),
        ("contrastive", triplets.contrastive, eq5),
    ):
        for identity, model, weights, pull in (
            (f"{formula.__name__}/dynamics", network, net, by_gradients(network, net, probe)),
            (f"prop1/{name}", linear, theta, by_kernel(lambda a, b: a @ b.T, probe)),
            (
                f"prop1/{name}-kernel",
                machine,
                feature_weights,
                by_kernel(lambda a, b: (a @ b.T + offset) ** 2, probe),
            ),
        ):
            formula_velocity = formula(pull, triplets, partial(model, weights))
            flow_velocity = velocity(model, weights, partial(_loss_of, loss, model), probe)
            errors[identity] = as_printed(error(formula_velocity, flow_velocity))
    return Checked({"samples": len(triplets.x), "inputs": dim, "hidden": hidden, "outputs": outputs}, errors)


def _loss_of(loss: Callable[..., Tensor], model: Model, *weights: Tensor) -> Tensor:
    return loss(partial(model, weights))


CHECKS = (lemma1, two_layer_kernel, wide_relu, regression, self_supervised)
