"""Random batches, networks and latent-variable models, away from zero and from symmetric points.

Here and in the formulas' modules, torch and SciPy are imported where they calculate, so that lists of claims
do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.identities import Array, Random, size

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

Activation = Callable[["Tensor"], "Tensor"]

HOMOGENEOUS: dict[str, Activation] = {
    "linear": lambda x: x,
    "relu": lambda x: x.relu(),
    "leaky-relu": lambda x: x.maximum(0.05 * x),
}
"""Activations with h(x) = h'(x) x (Assumption 1)."""


def tensor(values: Array) -> Tensor:
    import torch

    return torch.from_numpy(np.ascontiguousarray(values, dtype=float))


def normal(rng: Random, *shape: int) -> Tensor:
    return tensor(rng.normal(size=shape))


def unit(rng: Random, *shape: int) -> Tensor:
    """Random unit vectors along the last axis."""
    vectors = normal(rng, *shape)
    return vectors / vectors.norm(dim=-1, keepdim=True)


def slope(activation: Activation, x: Tensor) -> Tensor:
    """h'(x), by automatic differentiation."""
    import torch

    x = x.detach().requires_grad_()
    return torch.autograd.grad(activation(x).sum(), x)[0]


def gradient(scalar: Callable[..., Tensor], *arguments: Tensor) -> tuple[Tensor, ...]:
    """The gradients of a function of several tensors, by automatic differentiation."""
    import torch

    leaves = [value.detach().requires_grad_() for value in arguments]
    return torch.autograd.grad(scalar(*leaves), leaves)


def projected(w: Float[Tensor, "*rows dim"], v: Float[Tensor, "*rows dim"]) -> Float[Tensor, "*rows dim"]:
    """P_w^⊥ v, row by row, for unit rows w."""
    return v - (w * v).sum(-1, keepdim=True) * w


@dataclass(frozen=True)
class Batch:
    """Two views of samples and arbitrary pairwise importances, neither symmetric nor a kernel in general."""

    alpha: Float[Tensor, "sample sample"]
    x: Float[Tensor, "sample ..."]
    x_aug: Float[Tensor, "sample ..."]

    @property
    def views(self) -> tuple[Tensor, Tensor]:
        return self.x, self.x_aug

    def covariance(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """C_α of a function of the input."""
        from reprise.papers.tian2023.contrastive import contrastive_covariance

        return contrastive_covariance(self.alpha, *(function(x).flatten(1) for x in self.views))

    def energy(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """E_α of a function of the input, with values in rows."""
        from reprise.papers.tian2023.contrastive import energy

        return energy(self.alpha, *(function(x) for x in self.views))


def seeing(rng: Random, x: Float[Tensor, "sample dim"]) -> Tensor:
    """A random unit w whose ReLU is active for some of the samples and inactive for others."""
    while True:
        w = unit(rng, x.shape[1])
        active = int((x @ w > 0).sum())
        if 0 < active < len(x):
            return w


def random_batch(rng: Random, *dims: int) -> Batch:
    samples = size(rng, int(np.prod(dims)) + 6, 2 * int(np.prod(dims)) + 9)
    x = normal(rng, samples, *dims) + 0.3 * normal(rng, *dims)
    alpha = tensor(rng.uniform(0.2, 1.5, (samples, samples)))
    return Batch(alpha, x, x + 0.4 * normal(rng, *x.shape))


@dataclass(frozen=True)
class TwoLayers:
    """f2 = V f1 with f1 = [h(w_kmᵀ x_k)]: K receptive fields with M unit filters each."""

    activation: Activation
    w: Float[Tensor, "field filter dim"]
    v: Float[Tensor, "output hidden"]

    @property
    def sizes(self) -> dict[str, int]:
        fields, filters, inputs = self.w.shape
        return {"inputs": inputs, "fields": fields, "filters": filters, "outputs": len(self.v)}

    def reaching(self, x: Tensor, w: Tensor) -> Float[Tensor, "sample field filter"]:
        """w_kmᵀ x_k."""
        return (w * x[:, :, None]).sum(-1)

    def hidden(self, x: Tensor, w: Tensor | None = None) -> Float[Tensor, "sample hidden"]:
        """f1, with the weights w if given."""
        return self.activation(self.reaching(x, self.w if w is None else w)).flatten(1)

    def gated(self, x: Float[Tensor, "sample field dim"]) -> Float[Tensor, "sample field filter dim"]:
        """x̃_km = x_k h'(w_kmᵀ x_k) (Eq. 122)."""
        return slope(self.activation, self.reaching(x, self.w))[..., None] * x[:, :, None]

    def modulated(self, covariance: Tensor, coupling: Tensor) -> Float[Tensor, "field filter dim"]:
        """[(S ⊗ 1 1ᵀ) ∘ C] w of Eqs. 12 and 166, with S = `coupling`."""
        import torch

        ones = torch.ones(self.w.shape[-1], self.w.shape[-1], dtype=torch.float64)
        return ((torch.kron(coupling, ones) * covariance) @ self.w.flatten()).view_as(self.w)


def random_network(rng: Random, largest: int, activation: Activation | None = None) -> TwoLayers:
    fields, filters = size(rng, 2, 3), size(rng, 2, 3)
    inputs, outputs = size(rng, 2, largest), size(rng, 1, largest)
    activation_used = activation or HOMOGENEOUS[str(rng.choice(list(HOMOGENEOUS)))]
    return TwoLayers(
        activation_used, unit(rng, fields, filters, inputs), normal(rng, outputs, fields * filters)
    )


@dataclass(frozen=True)
class Mixture:
    """Receptive fields with finitely many inputs each, independent given a latent class z (Eq. 13).

    Attributes:
        classes: P[z]. Shape [class].
        values: the inputs that a field can have. Shape [field, state, dim].
        given: P[x_k | z]. Shape [class, field, state].
    """

    classes: Array
    values: Array
    given: Array

    @property
    def joint(self) -> tuple[Tensor, Tensor]:
        """All inputs x and their probabilities. Shapes [state, field, dim] and [state]."""
        fields, states = self.values.shape[:2]
        indices = np.array(list(product(range(states), repeat=fields)))
        chances = self.given[:, np.arange(fields), indices].prod(-1)  # [class, state]
        return tensor(self.values[np.arange(fields), indices]), tensor(self.classes @ chances)

    def mean_given(self, values: Array) -> Array:
        """E[g_k | z] for a function's values on a field's inputs. Shapes [field, state, n] -> [class, field,
        n]."""
        return np.einsum("cks,ksn->ckn", self.given, values)

    def within(self, values: Array) -> Array:
        """L_k = E_z V[g_k | z] (Eq. 134). Shapes [field, state, n] -> [field, n, n]."""
        centred = values[None] - self.mean_given(values)[:, :, None]
        return np.einsum("c,cks,cksm,cksn->kmn", self.classes, self.given, centred, centred)


def random_mixture(rng: Random, classes: int, fields: int, inputs: int) -> Mixture:
    states = size(rng, 3, 4)
    return Mixture(
        rng.dirichlet(np.full(classes, 5.0)),
        rng.normal(size=(fields, states, inputs)) * rng.uniform(0.5, 1.5, (fields, 1, 1)),
        rng.dirichlet(np.full(states, 2.0), (classes, fields)),
    )


def variance(probability: Tensor, values: Float[Tensor, "state n"]) -> Float[Tensor, "n n"]:
    """V[g], exactly, over finitely many states."""
    centred = values - probability @ values
    return (centred.T * probability) @ centred


def top_eigenvector(matrix: Tensor) -> Tensor:
    """The unit eigenvector with the largest eigenvalue."""
    import torch

    return torch.linalg.eigh(matrix)[1][:, -1]


def rank_one_distance(a: Tensor, b: Tensor) -> float:
    """Distance |a aᵀ - b bᵀ| between the lines that two unit vectors span."""
    import torch

    return float((torch.outer(a, a) - torch.outer(b, b)).norm())
