"""Checks Section 3.3 and its lemmas at random points: Theorem 3, Lemmas 7 to 11, Eq. 103.

The error of a bound is the excess over the bound, as a share of it, and 0 if the bound holds.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from reprise.evidence.identities import (
    Array,
    Check,
    Checked,
    Random,
    as_printed,
    orthonormal,
    relative_error,
    size,
)
from reprise.papers.tian2023.power_iteration import irregularity
from reprise.papers.tian2023.power_iteration.irregularity import Affine, Certificate

STEPS = 400
"""Steps of power iteration; at a rate of γ = 0.9, 1e-18 remains after these."""
RESOLVED = 1e-8
"""1 - c is accurate to 1e-16, so bounds relative to it are checked only while it exceeds this."""


def lemmas_7_and_8(rng: Random, largest: int) -> Checked:
    """One step of power iteration with a positive definite A, as Appendix B.4 assumes it."""
    dim = size(rng, 3, largest)
    lambda2 = rng.uniform(0.1, 0.3)
    smaller_values = rng.uniform(0.05, lambda2, dim - 2)
    definite = _symmetric(rng, [1, lambda2, *smaller_values])
    step = Step(definite, _rotated(rng, definite, rng.uniform(0.05, 0.3)))
    values, vectors = irregularity.eigenpairs(definite)
    squared_parts = np.square(vectors[:, 1:].T @ step.w)
    sine = np.array([1 - step.c**2])
    return Checked(
        {"dimension": dim},
        {
            "lemma7": as_printed(_excess(1 - step.d, step.mu * step.slack)),
            "lemma7-parseval": {
                "printed": relative_error(np.array([(np.square(values[1:]) * squared_parts).sum()]), sine),
                "corrected": relative_error(np.array([squared_parts.sum()]), sine),
            },
            "lemma8/step": as_printed(_excess(step.length, step.length_bound)),
        },
    )  # fmt: skip


def lemma_9(rng: Random, largest: int) -> Checked:
    """The first-order change of ϕ1 against finite differences, and the remainder against our κ."""
    dim = size(rng, 2, largest)
    a = _symmetric(rng, [1, *rng.uniform(0.1, 0.7, dim - 1)])
    change = rng.normal(size=(dim, dim))
    change = (change + change.T) / np.linalg.norm(change + change.T, 2)
    values, vectors = irregularity.eigenpairs(a)
    phi = vectors[:, 0]
    gap = float(values[0] - values[1])

    def first_order(delta: Array) -> Array:
        return vectors[:, 1:] @ (vectors[:, 1:].T @ delta @ phi / (values[0] - values[1:]))

    def perturbed(delta: Array) -> Array:
        return irregularity.first_eigenvector(a + delta, phi)

    small = 1e-5 * gap
    numerical = (perturbed(small * change) - perturbed(-small * change)) / (2 * small)
    large_change = rng.uniform(0.05, 0.45) * gap * change
    remainder = float(np.linalg.norm(perturbed(large_change) - phi - first_order(large_change)))
    length = float(np.linalg.norm(large_change, 2))
    return Checked(
        {"dimension": dim},
        {
            "lemma9/first-order": as_printed(relative_error(first_order(change), numerical)),
            "lemma9/rest": as_printed(_excess(remainder, irregularity.kappa_bound(gap, length) * length**2)),
        },
    )


def eq_103(rng: Random, largest: int) -> Checked:
    """B_γ's radius: Theorem 3 gives the ball by its edge, Lemma 11 by its distance from w(0)."""
    dim = size(rng, 2, largest)
    gamma = rng.uniform(0.01, 0.7)
    # Close enough for the ball not to be the whole sphere.
    c0 = 1 - rng.uniform(0.1, 0.9) * 2 * (1 - np.sqrt(gamma)) ** 2 / (1 + gamma)
    threshold = irregularity.ball_threshold(gamma, c0)
    w0, orthogonal = orthonormal(rng, dim, 2).T
    edge = threshold * w0 + np.sqrt(1 - threshold**2) * orthogonal
    distance, radius = np.linalg.norm(edge - w0), irregularity.ball_radius(gamma, c0)
    return Checked({"dimension": dim}, {"eq103/same-ball": as_printed(float(abs(distance / radius - 1)))})


def theorem_3(rng: Random, largest: int) -> Checked:
    """Power iteration from a start at which Theorem 3's condition provably holds."""
    dim = size(rng, 2, largest)
    family, w0, certificate = _certified(rng, [1, *rng.uniform(0.1, 0.4, dim - 1)])
    steps = _iterate(family, w0)
    c = np.array([step.c for step in steps])
    resolved = [(step, successor) for step, successor in pairwise(steps) if step.slack > RESOLVED]
    return Checked(
        {"dimension": dim},
        {
            **{
                f"thm3/{name}": as_printed(error)
                for name, error in _conclusions(steps, w0, certificate).items()
            },
            "lemma10/bound": as_printed(
                max(
                    _excess(
                        abs(step.d - successor.c),
                        step.nu(certificate.lipschitz, certificate.kappa) * step.slack,
                    )
                    for step, successor in resolved
                )
            ),
            "lemma11/rate": as_printed(
                _worst(
                    (1 - c - certificate.gamma ** np.arange(len(c)) * (1 - certificate.c0))
                    / (1 - certificate.c0)
                )
            ),
            "lemma11/monotone": as_printed(_worst(-np.diff(c))),
            "lemma11/first-eigenvector": as_printed(steps[-1].slack),
        },
    )


def theorem_3_indefinite(rng: Random, largest: int) -> Checked:
    """Power iteration with Â(w) = A(w) - λ_min(w) I + ε I, of an A that has an eigenvalue below -λ1; the
    condition provably holds for Â."""
    dim = size(rng, 3, largest)
    lowest_value = -rng.uniform(1.2, 1.5)
    # The others lie near the lowest, so that Â's second eigenvalue is small compared with its first.
    middle_values = lowest_value + rng.uniform(0.2, 0.5, dim - 2)
    family, w0, certificate = _certified(rng, [1, *middle_values, lowest_value], shifted=True)
    steps = _iterate(lambda w: _shifted(family(w)), w0)
    error = max(_conclusions(steps, w0, certificate).values())
    return Checked({"dimension": dim}, {"thm3/indefinite": as_printed(error)})


CHECKS: tuple[Check, ...] = (lemmas_7_and_8, lemma_9, eq_103, theorem_3, theorem_3_indefinite)


class Step:
    """A step of power iteration with A at w, and the quantities of the lemmas."""

    def __init__(self, a: Array, w: Array) -> None:
        values, _ = irregularity.eigenpairs(a)
        phi = irregularity.first_eigenvector(a, w)
        product = a @ w
        self.w, self.next = w, product / np.linalg.norm(product)
        self.c, self.d = float(phi @ w), float(phi @ self.next)
        self.ratio, self.gap = values[1] / values[0], values[0] - values[1]
        self.mu = irregularity.mu(self.c, self.ratio)
        self.slack = max(0.0, 1 - self.c)
        self.length = float(np.linalg.norm(self.next - w))
        self.length_bound = float(np.sqrt(2 * (1 + self.mu * self.c) * self.slack))
        self.velocity = float(np.linalg.norm(product - (product @ w) * w) / values[0])
        """The velocity of Eq. 7, as a share of λ1."""

    def nu(self, lipschitz: float, kappa: float) -> float:
        return irregularity.nu(self.c, self.ratio, self.gap, lipschitz, kappa)


def _iterate(a: Callable[[Array], Array], w0: Array) -> list[Step]:
    steps = [Step(a(w0), w0)]
    for _ in range(STEPS):
        steps.append(Step(a(steps[-1].next), steps[-1].next))
    return steps


def _conclusions(steps: list[Step], w0: Array, certificate: Certificate) -> dict[str, float]:
    """Errors of Theorem 3's conclusions: the iteration converges, to a critical point, inside B_γ."""
    largest_distance = max(float(np.linalg.norm(step.w - w0)) for step in steps)
    return {
        "converges": steps[-1].length,
        "critical-point": steps[-1].velocity,
        "inside-ball": _excess(largest_distance, certificate.radius),
    }


def _certified(
    rng: Random, values: list[float], *, shifted: bool = False
) -> tuple[Affine, Array, Certificate]:
    """A random family whose A(w) has about these eigenvalues, a start near its first eigenvector, and the
    certificate of A(w), or of Â(w) if `shifted`. The slopes are at most about as large as it allows."""
    dim = len(values)
    constant = _symmetric(rng, values)
    slopes = rng.normal(size=(dim, dim, dim))
    unscaled = Affine(constant, slopes + slopes.mT)
    w0, share = _rotated(rng, constant, rng.uniform(0.05, 0.2)), rng.uniform(0.3, 1)
    for size_of_slopes in 0.8 ** np.arange(60):
        family = Affine(constant, unscaled.slopes * size_of_slopes * share / unscaled.lipschitz)
        # λ_min changes by no more than A does.
        lipschitz = 2 * family.lipschitz if shifted else family.lipschitz
        a0 = _shifted(family(w0)) if shifted else family(w0)
        certificate = irregularity.certificate(a0, w0, lipschitz)
        if certificate and (shifted or np.linalg.eigvalsh(a0)[0] > lipschitz * certificate.radius):
            return family, w0, certificate
    raise AssertionError("a constant A this close to its first eigenvector is certified")


def _shifted(a: Array) -> Array:
    """Â = A - λ_min I + ε I (Appendix B.4)."""
    return a - (np.linalg.eigvalsh(a)[0] - 1e-3) * np.eye(len(a))


def _symmetric(rng: Random, values: Sequence[float]) -> Array:
    """A random matrix with these eigenvalues."""
    q = orthonormal(rng, len(values), len(values))
    return (q * np.asarray(values)) @ q.T


def _rotated(rng: Random, a: Array, angle: float) -> Array:
    """The first eigenvector of A, rotated by an angle towards a random direction."""
    phi = irregularity.eigenpairs(a)[1][:, 0]
    orthogonal = rng.normal(size=len(phi))
    orthogonal -= (orthogonal @ phi) * phi
    return np.cos(angle) * phi + np.sin(angle) * orthogonal / np.linalg.norm(orthogonal)


def _excess(value: float, bound: float) -> float:
    return float(max(0.0, value / bound - 1))


def _worst(violations: Array) -> float:
    return float(max(0.0, violations.max()))
