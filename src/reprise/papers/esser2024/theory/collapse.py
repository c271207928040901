"""Proposition 1's collapse, and Remarks 2 and 3 on other losses and on a fixed projector.

Functions that need torch or SciPy import it where they calculate, so that lists of claims do not wait for it.
"""

from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, relative_error, size
from reprise.papers.esser2024.theory.points import Triplets, random_triplets, symmetric, triplets_of

LONG = 12.0
"""E-folding times after which slower directions count as vanished: they are e⁻²⁴ of the fastest."""


def second(matrix: Array) -> float:
    """Ratio of the second singular value to the first."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[1] / values[0])


@dataclass(frozen=True)
class Linear:
    """Triplets and the weights of a linear model."""

    triplets: Triplets
    theta: Array

    @property
    def sizes(self) -> dict[str, int]:
        outputs, inputs = self.theta.shape
        return {"samples": len(self.triplets.x), "inputs": inputs, "outputs": outputs}


def growing(rng: Random, largest: int) -> Linear:
    """C has a single smallest eigenvalue, and it is negative."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, dim)
    triplets = triplets_of(rng, symmetric(rng, negative, dim - negative))
    return Linear(triplets, rng.normal(size=(outputs, dim)))


@formula(
    "prop1/collapse",
    "If C has a single smallest eigenvalue, and it is negative, the outputs of a linear model tend to one "
    "dimension: their second singular value, as a share of the first, vanishes.",
    at="Proposition 1, Section 2.2",
    quotes=Quotation(
        "As a consequence, the output collapses to one dimension at convergence",
        at="Proposition 1, Section 2.2",
    ),
    word="collapses to one dimension",
    tried_at=growing,
)
def collapse(point: Linear) -> Errors:
    """The weights move by exp(-2 C t), here without what makes all of them grow alike: exp(2 λ_1 t).

    The decoy has a twentieth of the time.
    """
    from scipy.linalg import expm

    matrix = point.triplets.matrix
    values = np.linalg.eigvalsh(matrix)

    def share(folds: float) -> float:
        relative = matrix - values[0] * np.eye(len(matrix))
        return second(
            point.triplets.x @ (point.theta @ expm(-2 * folds / (values[1] - values[0]) * relative)).T
        )

    return Errors(printed=share(LONG), decoy=share(LONG / 20))


@dataclass(frozen=True)
class Resting(Linear):
    """C ⪰ 0, so that gradient flow converges."""

    null: Array
    slowest: float


def resting(rng: Random, largest: int) -> Resting:
    """C has a null space of two or more dimensions."""
    dim, outputs = size(rng, 3, largest), size(rng, 2, largest)
    null = size(rng, 2, dim - 1)
    vectors = orthonormal(rng, dim, dim)
    values = np.where(np.arange(dim) < null, 0.0, rng.uniform(0.5, 2, dim))
    triplets = triplets_of(rng, (vectors * values) @ vectors.T)
    return Resting(triplets, rng.normal(size=(outputs, dim)), vectors[:, :null], values[null:].min())


@formula(
    "prop1-fixed-points",
    "Where the outputs of a linear model converge, as with a positive semi-definite C, they {} (tried: C "
    "with a null space of two or more dimensions).",
    at="Proposition 1, Section 2.2",
    wrong=Misprint(
        "condition",
        printed=Text("collapse to one dimension"),
        corrected=Text("do so if C's smallest eigenvalue is single, as it is unless data are degenerate"),
        note="where it is 0 and not single they tend to Θ_0 P x, P the projection on C's null space, and "
        "have as many dimensions as it: outputs share their dynamics, and not their starts",
    ),
    quotes=Quotation(
        "As a consequence, the output collapses to one dimension at convergence",
        at="Proposition 1, Section 2.2",
    ),
    word="collapses to one dimension",
    tried_at=resting,
)
def fixed_points(point: Resting) -> Errors:
    from reprise.papers.esser2024.theory import autodiff

    x, start = point.triplets.x, point.theta
    found = x @ autodiff.follow(point.triplets, start, LONG / point.slowest).T
    limit = x @ (start @ point.null @ point.null.T).T
    return Errors(printed=second(found), corrected=relative_error(found, limit))


def near_zero(rng: Random, largest: int) -> Linear:
    """A model with small outputs on random data."""
    triplets = random_triplets(rng, size(rng, 2, largest))
    return Linear(triplets, 0.5 * rng.normal(size=(size(rng, 2, largest), triplets.x.shape[1])))


@formula(
    "remark2-infonce",
    "In a linear model {} (tried: that outputs decouple).",
    at="Remark 2, Section 2.2",
    wrong=Misprint(
        "substantive",
        printed=Text(
            "decoupling of output dimensions (and hence, dimension collapse) would also happen for InfoNCE"
        ),
        corrected=Text(
            "outputs decouple under InfoNCE only with the softmax weights held fixed, which depend on all of "
            "them"
        ),
        note="the loss (1) is InfoNCE's leading order at small outputs; nor need dimensions collapse: of two "
        "orthogonal anchors, of lengths 1.5 and 1, with x⁺ = x and x⁻ = -x, from a start of rank two, "
        "InfoNCE keeps both, where (1) keeps one",
    ),
    quotes=Quotation(
        "decoupling of output dimensions (and hence, dimension collapse) would also happen for InfoNCE",
        at="Remark 2, Section 2.2",
    ),
    word="would also happen",
    tried_at=near_zero,
)
def of_infonce(point: Linear) -> Errors:
    """The share of the Hessian that couples outputs; as corrected, also the gradient's error."""
    from reprise.papers.esser2024.theory import autodiff

    held = autodiff.infonce_held(point.theta)
    by_held, by_infonce = (
        autodiff.gradients(loss, point.triplets, autodiff.linear, (point.theta,))[0]
        for loss in (held, autodiff.infonce)
    )
    return Errors(
        printed=autodiff.coupling(autodiff.infonce, point.triplets, point.theta),
        corrected=max(
            autodiff.coupling(held, point.triplets, point.theta), relative_error(by_held, by_infonce)
        ),
    )


@formula(
    "remark2/spectral",
    "Under the spectral contrastive loss the outputs of a linear model stay coupled: its Hessian has entries "
    "between weights of two outputs.",
    at="Remark 2, Section 2.2",
    quotes=Quotation(
        "for the spectral contrastive loss of HaoChen et al. (2021), the output dimensions remain coupled",
        at="Remark 2, Section 2.2",
    ),
    word="remain coupled",
    tried_at=near_zero,
)
def of_spectral_loss(point: Linear) -> Errors:
    """The error is 1 where outputs decouple; the decoy is the loss (1)."""
    from reprise.papers.esser2024.theory import autodiff

    spectral, simple = (
        autodiff.coupling(loss, point.triplets, point.theta)
        for loss in (autodiff.spectral, autodiff.contrastive)
    )
    return Errors(printed=float(spectral < IDENTITY_TOLERANCE), decoy=float(simple < IDENTITY_TOLERANCE))


@dataclass(frozen=True)
class Projected(Linear):
    """A linear model behind a fixed projector A."""

    a: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, "hidden": len(self.theta), "outputs": len(self.a)}

    @property
    def rates(self) -> Array:
        """Rates at which the modes of the outputs grow, in ascending order."""
        scales, values = np.linalg.eigvalsh(self.a @ self.a.T), np.linalg.eigvalsh(self.triplets.matrix)
        return np.sort(-2 * np.outer(scales, values).ravel())


def behind_projector(rng: Random, largest: int) -> Projected:
    """A has more than one row; no two modes grow at nearly equal rates, which would make convergence slow."""
    dim, outputs = size(rng, 2, largest), size(rng, 3, largest)
    rows, negative = size(rng, 2, outputs - 1), size(rng, 1, dim)
    while True:
        a = rng.normal(size=(rows, outputs))
        triplets = triplets_of(rng, symmetric(rng, negative, dim - negative))
        point = Projected(triplets, rng.normal(size=(outputs, dim)), a)
        if point.rates[-1] - point.rates[-2] > 0.1 * point.rates[-1]:
            return point


@formula(
    "remark3-identical",
    "Behind a fixed matrix A, of the outputs u = A Θ x of a linear model {}, and the outputs collapse "
    "(tried: one equation for all, u̇ = -2 A Θ C x).",
    at="Remark 3, Section 2.2",
    wrong=Misprint(
        "condition",
        printed=Text("all the components have identical learning dynamics"),
        corrected=Text("this holds if A's rows are orthonormal, as those of a projection are"),
        note="with any other A the equation is u̇ = -2 A Aᵀ A Θ C x, in which A Aᵀ couples the components; "
        "they collapse with any A",
    ),
    quotes=Quotation(
        "have identical learning dynamics, and hence, collapse at convergence", at="Remark 3, Section 2.2"
    ),
    word="identical learning dynamics",
    tried_at=behind_projector,
)
def behind_fixed_projector(point: Projected) -> Errors:
    from scipy.linalg import expm

    from reprise.papers.esser2024.theory import autodiff

    a, x, matrix, rates = point.a, point.triplets.x, point.triplets.matrix, point.rates
    u, loss = a @ point.theta, autodiff.contrastive
    velocity = autodiff.velocity(loss, point.triplets, autodiff.projected(a), (point.theta,), x)
    operator = np.kron(-2 * a @ a.T, matrix) - rates[-1] * np.eye(u.size)  # acts on u, flattened by rows
    end = (expm(2 * LONG / (rates[-1] - rates[-2]) * operator) @ u.ravel()).reshape(u.shape)
    return Errors(
        printed=relative_error(x @ (-2 * u @ matrix).T, velocity),
        corrected=max(relative_error(x @ (-2 * a @ a.T @ u @ matrix).T, velocity), second(x @ end.T)),
    )


FORMULAS: tuple[Formula, ...] = (
    collapse,
    fixed_points,
    of_infonce,
    of_spectral_loss,
    behind_fixed_projector,
)
