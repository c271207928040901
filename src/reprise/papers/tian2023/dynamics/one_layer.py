"""Section 3: one layer, f = h(wᵀ x), with unit weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, relative_error, size
from reprise.papers.tian2023.dynamics.points import (
    HOMOGENEOUS,
    Activation,
    Batch,
    gradient,
    projected,
    random_batch,
    rank_one_distance,
    seeing,
    slope,
    tensor,
    top_eigenvector,
    unit,
    variance,
)

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Unit:
    """A batch and a unit weight w."""

    batch: Batch
    w: Tensor

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(("samples", "inputs"), self.batch.x.shape, strict=True))

    def by_lemma3(self, activation: Activation) -> Array:
        """P⊥ A(w) w of Eq. 7, with A(w) = C_α[x̃] and x̃ = x h'(wᵀ x)."""
        a = self.batch.covariance(lambda x: x * slope(activation, x @ self.w)[:, None])
        return projected(self.w, a @ self.w).numpy()

    def ascent(self, activation: Activation) -> Array:
        """The gradient of E_α with α fixed, by automatic differentiation, projected."""
        (dw,) = gradient(lambda w: self.batch.energy(lambda x: activation(x @ w)[:, None]), self.w)
        return projected(self.w, dw).numpy()


def _unit(rng: Random, largest: int) -> Unit:
    batch = random_batch(rng, size(rng, 2, largest))
    return Unit(batch, seeing(rng, batch.x))


def lemma3(rng: Random, largest: int) -> Unit:
    return _unit(rng, largest)


@formula(
    "lemma3",
    "A weight of unit length moves by P⊥ A(w) w, for linear activation, ReLU and leaky ReLU.",
    at="Lemma 3, Eq. 7, Section 3",
    tried_at=lemma3,
)
def motion_of_a_unit(point: Unit) -> Errors:
    """The decoy is ReLU's A(w) without the gates."""
    velocities = {name: point.ascent(activation) for name, activation in HOMOGENEOUS.items()}
    return Errors(
        printed=max(
            relative_error(point.by_lemma3(activation), velocities[name])
            for name, activation in HOMOGENEOUS.items()
        ),
        decoy=relative_error(point.by_lemma3(HOMOGENEOUS["linear"]), velocities["relu"]),
    )


def energy_factor(rng: Random, largest: int) -> Unit:
    return _unit(rng, largest)


@formula(
    "sec2-energy",
    "Lemma 3's dynamics are the gradient of the energy {}.",
    at="Section 2, after Eq. 3",
    wrong=Misprint(
        "typo",
        printed=Text("E_α := tr C_α[f]", r"\mathcal{E}_{\alpha}:=\operatorname{tr}C_{\alpha}[f]"),
        corrected=Text(
            "E_α := tr C_α[f] / 2", r"\mathcal{E}_{\alpha}:=\frac{1}{2}\operatorname{tr}C_{\alpha}[f]"
        ),
        note="as before Eq. 3 and in Eq. 5",
    ),
    quotes=Quotation(
        "For the energy function ... in this work we mainly study its landscape", at="Section 2, after Eq. 3"
    ),
    word="For the energy function",
    tried_at=energy_factor,
)
def energy_that_is_climbed(point: Unit) -> Errors:
    formula, velocity = point.by_lemma3(HOMOGENEOUS["relu"]), point.ascent(HOMOGENEOUS["relu"])
    return Errors(printed=relative_error(formula, 2 * velocity), corrected=relative_error(formula, velocity))


def follow(velocity: Any, start: Array, time: float) -> Array:
    """The end point of a flow after `time`."""
    from scipy.integrate import solve_ivp

    solution = solve_ivp(velocity, (0, time), start, method="DOP853", rtol=1e-12, atol=1e-14)
    return solution.y[:, -1]


@dataclass(frozen=True)
class Linear:
    """C_α[x] of a batch, without two nearly equal top eigenvalues, which would make convergence very slow."""

    samples: int
    matrix: Array
    start: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"samples": self.samples, "inputs": len(self.start)}


def linear_pca(rng: Random, largest: int) -> Linear:
    dim = size(rng, 2, largest)
    while True:
        batch = random_batch(rng, dim)
        matrix = batch.covariance(lambda x: x).numpy()
        values = np.linalg.eigvalsh(matrix)
        if values[-1] - values[-2] > 0.1 * (values[-1] - values[0]):
            return Linear(len(batch.x), matrix, unit(rng, dim).numpy())


@formula(
    "sec3/linear-pca",
    "With linear activation the weight ends at the maximal eigenvector of C_α[x], wherever it starts.",
    at="Section 3, after Eq. 5",
    quotes=(
        Quotation("converge to the maximal eigenvector of", at="Section 3, after Eq. 5"),
        Quotation("regardless of how they are initialized", at="Section 3, after Eq. 5"),
    ),
    word="regardless of how they are initialized",
    tried_at=linear_pca,
)
def linear_units_find_the_top_eigenvector(point: Linear) -> Errors:
    """The decoy is the second eigenvector."""
    values, vectors = np.linalg.eigh(point.matrix)

    def velocity(_: float, w: Array) -> Array:
        aw = point.matrix @ w
        return aw - (w @ aw) / (w @ w) * w

    end = follow(velocity, point.start, 25 / (values[-1] - values[-2]))
    limit = tensor(end / np.linalg.norm(end))
    return Errors(
        printed=rank_one_distance(limit, tensor(vectors[:, -1])),
        decoy=rank_one_distance(limit, tensor(vectors[:, -2])),
    )


@dataclass(frozen=True)
class Latent:
    """A latent-variable model with orthonormal u_m.

    Attributes:
        u: a column a latent.
        x: all inputs. Shape [state, dim].
        p: of the states.
        q: of the latents: P[m], or q_m.
        m: the latent whose u_m is the weight.
    """

    u: Array
    x: Array
    p: Array
    q: Array
    m: int
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def weight(self) -> Array:
        return self.u[:, self.m]

    @property
    def a(self) -> Tensor:
        """A(u_m) = V[x̃] for a ReLU, which is off at 0 (Appendix B.1), also at products that are 0 up to
        rounding."""
        x = tensor(self.x)
        return variance(tensor(self.p), x * (x @ tensor(self.weight) > 1e-12)[:, None])


def latent_categorical(rng: Random, largest: int) -> Latent:
    categories = size(rng, 2, largest + 2)
    u = orthonormal(rng, categories + size(rng, 0, 2), categories)
    p = rng.dirichlet(np.full(categories, 3.0))
    sizes = {"inputs": len(u), "classes": categories}
    return Latent(u, u.T, p, p, size(rng, 0, categories - 1), sizes)


@formula(
    "eq8",
    "In the latent categorical model A(u_m) = P[m] (1 - P[m]) u_m u_mᵀ, and u_m is its top eigenvector.",
    at="Eqs. 8 and 44, Section 3.1",
    tried_at=latent_categorical,
)
def latent_categories(point: Latent) -> Errors:
    """The decoy is P[m] u_m u_mᵀ."""
    found, p, w = point.a, point.q[point.m], point.weight
    formula = p * (1 - p) * np.outer(w, w)
    return Errors(
        printed=max(
            relative_error(formula, found.numpy()), rank_one_distance(top_eigenvector(found), tensor(w))
        ),
        decoy=relative_error(p * np.outer(w, w), found.numpy()),
    )


def latent_summation(rng: Random, largest: int) -> Latent:
    """All 2^M states; each y_m has its own q_m."""
    latents = size(rng, 2, largest + 1)
    u, q = orthonormal(rng, latents, latents), rng.uniform(0.1, 0.9, latents)
    active = (np.arange(2**latents)[:, None] >> np.arange(latents)) & 1 == 1
    y = np.where(active, np.sqrt((1 - q) / q), -np.sqrt(q / (1 - q)))
    chances = np.where(active, q, 1 - q).prod(1)
    sizes = {"samples": len(y), "inputs": latents}
    return Latent(u, y @ u.T, chances, q, size(rng, 0, latents - 1), sizes)


@formula(
    "eq9/matrix",
    "In the latent summation model A(u_m) = (1 - q_m)² u_m u_mᵀ + q_m (I - u_m u_mᵀ).",
    at="Eqs. 9 and 45, Section 3.1",
    tried_at=latent_summation,
)
def latent_sums(point: Latent) -> Errors:
    """The decoy has 1 - q_m without its square."""
    found, q = point.a.numpy(), point.q[point.m]
    projection = np.outer(point.weight, point.weight)
    others = q * (np.eye(len(projection)) - projection)
    return Errors(
        printed=relative_error((1 - q) ** 2 * projection + others, found),
        decoy=relative_error((1 - q) * projection + others, found),
    )


@dataclass(frozen=True)
class AroundLME:
    """A random smooth A(v) with a locally maximal eigenvector w* (LME): the first of the basis.

    Attributes:
        at_lme: A(w*).
        slopes: of A at w*, by the components of v - w*.
        curvature: of the terms of second order.
        offset: of the start, a unit vector orthogonal to w*.
        time: long after every weight that is attracted has arrived.
    """

    basis: Array
    at_lme: Array
    slopes: Array
    curvature: Array
    offset: Array
    time: float

    @property
    def sizes(self) -> dict[str, int]:
        return {"inputs": len(self.basis)}

    def left(self, sign: int = 1) -> float:
        """The distance from w* after a long time, as a share of that of the start.

        Args:
            sign: -1 turns the motion round.
        """
        w = self.basis[:, 0]

        def velocity(_: float, v: Array) -> Array:
            v = v / np.linalg.norm(v)
            shift = v - w
            av = self.at_lme @ v + np.einsum("iab,i,b->a", self.slopes, shift, v)
            av += np.einsum("iab,i,i,b->a", self.curvature, shift, shift, v)
            return sign * (av - (v @ av) * v)

        start = w + 1e-3 * self.offset
        start /= np.linalg.norm(start)
        end = follow(velocity, start, self.time)
        return float(np.linalg.norm(end / np.linalg.norm(end) - w) / np.linalg.norm(start - w))


def theorem1(rng: Random, largest: int) -> AroundLME:
    dim = size(rng, 2, largest)
    return around_an_lme(rng, dim, rng.uniform(0.2, 0.9))


def around_an_lme(rng: Random, dim: int, share: float) -> AroundLME:
    """An LME whose roughness is a share of its gap."""
    basis = orthonormal(rng, dim, dim)
    values = np.concatenate([[2.0], np.sort(rng.uniform(0.2, 1.5, dim - 1))[::-1]])
    gap = values[0] - values[1]
    slopes, curvature = (_symmetric(rng, dim) for _ in range(2))  # A(v) = A* + Σ_i slopes_i (v - w)_i + ...
    roughness = np.linalg.norm(np.einsum("iab,b->ai", slopes, basis[:, 0]) @ basis[:, 1:], 2)
    return AroundLME(
        basis,
        (basis * values) @ basis.T,
        slopes * share * gap / roughness,
        curvature,
        basis[:, 1:] @ unit(rng, dim - 1).numpy(),
        20 / (abs(1 - share) * gap),
    )


@formula(
    "thm1/stable",
    "A locally maximal eigenvector (LME) whose eigenvalue gap exceeds the local roughness attracts the "
    "weights near it (tried: their distance, after a long time, as a share of the first).",
    at="Theorem 1, Section 3.2",
    tried_at=theorem1,
    is_bound=True,
)
def lme_attracts(point: AroundLME) -> Errors:
    """The decoy turns the motion round."""
    return Errors(printed=point.left(), decoy=point.left(sign=-1))


def _symmetric(rng: Random, dim: int) -> Array:
    matrices = rng.normal(size=(dim, dim, dim))
    return matrices + matrices.transpose(0, 2, 1)


FORMULAS: tuple[Formula, ...] = (
    motion_of_a_unit,
    energy_that_is_climbed,
    linear_units_find_the_top_eigenvector,
    latent_categories,
    latent_sums,
    lme_attracts,
)
