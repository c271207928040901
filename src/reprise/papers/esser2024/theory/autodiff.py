"""Losses of a model's outputs, and their motion under gradient flow, by automatic differentiation."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from scipy.integrate import solve_ivp
from torch import Tensor

from reprise.evidence.identities import Array
from reprise.papers.esser2024 import losses
from reprise.papers.esser2024.theory.points import Triplets

Weights = tuple[Tensor, ...]
Model = Callable[[Weights, Tensor], Tensor]
"""Maps weights and inputs [sample, dim] to outputs u [sample, output]."""
Loss = Callable[[Triplets, Callable[[Tensor], Tensor]], Tensor]
"""Maps triplets and the embedding u to a loss."""


def tensor(values: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=float))


def linear(weights: Weights, x: Tensor) -> Tensor:
    """Linear model u(x) = Θ x with Θ [output, dim]."""
    return x @ weights[0].T


def projected(projector: Array) -> Model:
    """Linear model behind a fixed projector, u(x) = A Θ x."""
    return lambda weights, x: linear(weights, x) @ tensor(projector).T


def linear_network(weights: Weights, x: Tensor) -> Tensor:
    """u(x) = W2ᵀ W1 x with W1 [hidden, dim] and W2 [hidden, output]."""
    return x @ weights[0].T @ weights[1]


def tanh_network(weights: Weights, x: Tensor) -> Tensor:
    """u(x) = W2ᵀ tanh(W1 x)."""
    return torch.tanh(x @ weights[0].T) @ weights[1]


def kernel_machine(offset: float) -> Model:
    """Kernel machine u(x) = Θ ψ(x) with an explicit feature map ψ of the kernel (xᵀx' + offset)²."""
    return lambda weights, x: features(x, offset) @ weights[0].T


def features(x: Float[Tensor, "sample dim"], offset: float) -> Float[Tensor, "sample feature"]:
    squares = torch.einsum("na,nb->nab", x, x).flatten(1)
    constant = torch.full((len(x), 1), offset, dtype=x.dtype)
    return torch.cat([squares, (2 * offset) ** 0.5 * x, constant], 1)


def contrastive(triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Tensor:
    """Eq. 1."""
    return losses.contrastive(*_outputs(triplets, u), reduction="sum")


def non_contrastive(triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Tensor:
    """Eq. 2."""
    anchor, positive, _ = _outputs(triplets, u)
    return losses.non_contrastive(anchor, positive, reduction="sum")


def infonce(triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Tensor:
    """InfoNCE with the negatives of every anchor."""
    found = logits(triplets, u)
    return (found.logsumexp(1) - found[:, 0]).sum()


def infonce_held(theta: Array) -> Loss:
    """InfoNCE with its softmax weights held at those of a linear model."""

    def held(triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Tensor:
        weights = logits(triplets, partial(linear, (tensor(theta),))).softmax(1)
        found = logits(triplets, u)
        return (weights * found).sum() - found[:, 0].sum()

    return held


def spectral(triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Tensor:
    """Spectral contrastive loss (HaoChen et al. 2021): -2 E[u(x)ᵀ u(x⁺)] + E[(u(x)ᵀ u(x⁻))²]."""
    products = logits(triplets, u)
    return -2 * products[:, 0].mean() + (products[:, 1:] ** 2).mean()


def logits(triplets: Triplets, u: Callable[[Tensor], Tensor]) -> Float[Tensor, "sample other"]:
    """Products of u(x_i) with u of its positive, then with u of every negative."""
    anchor, positive, negative = _outputs(triplets, u)
    return torch.cat([(anchor * positive).sum(1, keepdim=True), anchor @ negative.T], 1)


def _outputs(triplets: Triplets, u: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    return u(tensor(triplets.x)), u(tensor(triplets.positive)), u(tensor(triplets.negative))


def outputs(model: Model, weights: Sequence[Array], x: Array) -> Array:
    """u(x). Shape [sample, output]."""
    return model(tuple(map(tensor, weights)), tensor(x)).numpy()


def gradients(loss: Loss, triplets: Triplets, model: Model, weights: Sequence[Array]) -> tuple[Array, ...]:
    """The gradients of a loss on a model's weights."""
    leaves = tuple(tensor(each).requires_grad_() for each in weights)
    found = torch.autograd.grad(loss(triplets, partial(model, leaves)), leaves)
    return tuple(each.numpy() for each in found)


def velocity(loss: Loss, triplets: Triplets, model: Model, weights: Sequence[Array], x: Array) -> Array:
    """u̇(x) if all weights follow the negative gradient of a loss."""
    descent = tuple(tensor(-slope) for slope in gradients(loss, triplets, model, weights))
    at = tuple(map(tensor, weights))
    return torch.func.jvp(lambda *w: model(w, tensor(x)), at, descent)[1].numpy()


def tangent_kernel(
    model: Model, weights: Sequence[Array], x: Array, other: Array
) -> Float[Array, "sample output sample2 output"]:
    """⟨∇ u_l(x), ∇ u_j(x')⟩ over all weights."""
    at = tuple(map(tensor, weights))

    def jacobian(inputs: Array) -> Tensor:
        parts = torch.func.jacrev(lambda w: model(w, tensor(inputs)))(at)
        return torch.cat([part.flatten(2) for part in parts], 2)

    return torch.einsum("nlp,mjp->nlmj", jacobian(x), jacobian(other)).numpy()


def coupling(loss: Loss, triplets: Triplets, theta: Array) -> float:
    """Share of a loss's Hessian that couples weights of different outputs of a linear model."""
    hessian = torch.func.hessian(lambda w: loss(triplets, partial(linear, (w,))))(tensor(theta))
    diagonal = torch.einsum("lajb,lj->lajb", hessian, torch.eye(len(theta), dtype=hessian.dtype))
    return float((hessian - diagonal).norm() / hessian.norm())


def follow(triplets: Triplets, theta: Array, time: float) -> Array:
    """Θ of a linear model after `time` of gradient flow on the contrastive loss."""

    def flow(_: float, flat: Array) -> Array:
        (slope,) = gradients(contrastive, triplets, linear, (flat.reshape(theta.shape),))
        return -slope.ravel()

    solution = solve_ivp(flow, (0, time), theta.ravel(), method="DOP853", rtol=1e-10, atol=1e-12)
    return solution.y[:, -1].reshape(theta.shape)
