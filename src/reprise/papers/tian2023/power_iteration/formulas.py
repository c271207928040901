"""Theorem 3 and its lemmas, tried at random points.

The error of a bound is the excess over the bound, as a share of it, and 0 if the bound holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, relative_error, size
from reprise.papers.tian2023.power_iteration import irregularity
from reprise.papers.tian2023.power_iteration.irregularity import Affine, Certificate

STEPS = 400
"""Steps of power iteration; at a rate of γ = 0.9, 1e-18 remains after these."""
RESOLVED = 1e-8
"""1 - c is accurate to 1e-16, so bounds relative to it are checked only while it exceeds this."""


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


# Lemmas 7 and 8: one step.


@dataclass(frozen=True)
class OneStep:
    """A step with A, and the eigenvalues and eigenvectors of A, the largest first."""

    step: Step
    values: Array
    vectors: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"dimension": len(self.values)}

    @property
    def squared_parts(self) -> Array:
        """The squares of w's products with all eigenvectors but the first."""
        return np.square(self.vectors[:, 1:].T @ self.step.w)


def lemmas_7_and_8(rng: Random, largest: int) -> OneStep:
    """One step of power iteration with a positive definite A, as Appendix B.4 assumes it."""
    dim = size(rng, 3, largest)
    lambda2 = rng.uniform(0.1, 0.3)
    smaller_values = rng.uniform(0.05, lambda2, dim - 2)
    definite = _symmetric(rng, [1, lambda2, *smaller_values])
    step = Step(definite, _rotated(rng, definite, rng.uniform(0.05, 0.3)))
    return OneStep(step, *irregularity.eigenpairs(definite))


@formula(
    "lemma7",
    """A step of power iteration with c > 0 and a positive definite A, which Appendix B.4 assumes, has 1 - d ≤
    μ (1 - c), c and d the cosines with the first eigenvector before and after it.""",
    at="Lemma 7, Eqs. 182 to 186, Appendix G",
    tried_at=lemmas_7_and_8,
    is_bound=True,
)
def lemma_7(point: OneStep) -> Errors:
    step = point.step
    bound = step.mu * step.slack
    return Errors(_excess(1 - step.d, bound), decoy=_excess(1 - step.d, step.ratio**2 * bound))


@formula(
    "lemma7-parseval",
    "By Parseval's identity {}.",
    at="Lemma 7, proof, Appendix G",
    wrong=Misprint(
        "typo",
        printed=Text("Σ_{i>1} λ_i² (ϕ_iᵀ w)² = 1 - c²", r"\sum_{i>1}\lambda_i^2(\phi_i^{\top}w)^2=1-c^2"),
        corrected=Text("Σ_{i>1} (ϕ_iᵀ w)² = 1 - c²", r"\sum_{i>1}(\phi_i^{\top}w)^2=1-c^2"),
    ),
    tried_at=lemmas_7_and_8,
)
def parseval(point: OneStep) -> Errors:
    sine, parts = np.array([1 - point.step.c**2]), point.squared_parts
    return Errors(
        printed=relative_error(np.array([(point.values[1:] ** 2 * parts).sum()]), sine),
        corrected=relative_error(np.array([parts.sum()]), sine),
    )


@formula(
    "lemma8",
    """A step of power iteration has at most the length √(2 (1 + μc)(1 - c)), c its cosine with the first
    eigenvector.""",
    at="Lemma 8, Eqs. 187 to 189, Appendix G",
    tried_at=lemmas_7_and_8,
    is_bound=True,
)
def lemma_8(point: OneStep) -> Errors:
    """The decoy leaves out the factor 2."""
    step = point.step
    return Errors(
        _excess(step.length, step.length_bound), decoy=_excess(step.length, step.length_bound / np.sqrt(2))
    )


# Lemma 9: the first eigenvector of a matrix that changes.


@dataclass(frozen=True)
class Changed:
    """A symmetric matrix and its eigenpairs, a change of length 1, and a share of the gap."""

    a: Array
    change: Array
    share: float
    values: Array
    vectors: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"dimension": len(self.a)}

    @property
    def gap(self) -> float:
        return float(self.values[0] - self.values[1])

    def first_order(self, delta: Array, *, decoy: bool = False) -> Array:
        """Δϕ1 by Eq. 190; as a decoy without the eigenvalues' differences."""
        others = self.vectors[:, 1:]
        along = others.T @ delta @ self.vectors[:, 0]
        return others @ (along if decoy else along / (self.values[0] - self.values[1:]))

    def perturbed(self, delta: Array) -> Array:
        return irregularity.first_eigenvector(self.a + delta, self.vectors[:, 0])


def lemma_9(rng: Random, largest: int) -> Changed:
    dim = size(rng, 2, largest)
    a = _symmetric(rng, [1, *rng.uniform(0.1, 0.7, dim - 1)])
    change = rng.normal(size=(dim, dim))
    change = (change + change.T) / np.linalg.norm(change + change.T, 2)
    return Changed(a, change, rng.uniform(0.05, 0.45), *irregularity.eigenpairs(a))


@formula(
    "lemma9",
    """Lemma 9's Δϕ1 is the first order of the change of a matrix's first eigenvector, and what it leaves is
    at most κ‖δA‖₂², with κ = 2/(g (g - 2e)) + 1/(2 (g - 2e)²) for ‖δA‖₂ = e under half the gap g.""",
    at="Lemma 9, Eqs. 190 and 191, Appendix G",
    reading="ours: the value of κ, which the lemma leaves open",
    tried_at=lemma_9,
)
def first_order_change(point: Changed) -> Errors:
    """The first order against finite differences, and the rest against our κ."""
    small = 1e-5 * point.gap
    ends = (point.perturbed(sign * small * point.change) for sign in (1, -1))
    numerical = np.subtract(*ends) / (2 * small)
    delta = point.share * point.gap * point.change
    rest = point.perturbed(delta) - point.vectors[:, 0] - point.first_order(delta)
    length = float(np.linalg.norm(delta, 2))
    bound = irregularity.kappa_bound(point.gap, length) * length**2
    return Errors(
        max(
            relative_error(point.first_order(point.change), numerical),
            _excess(float(np.linalg.norm(rest)), bound),
        ),
        decoy=relative_error(point.first_order(point.change, decoy=True), numerical),
    )


# Theorem 3, Lemmas 10 and 11: whole runs.


@dataclass(frozen=True)
class Run:
    """Power iteration from a start at which Theorem 3's condition provably holds."""

    dim: int
    steps: list[Step]
    w0: Array
    certificate: Certificate

    @property
    def sizes(self) -> dict[str, int]:
        return {"dimension": self.dim}

    @property
    def conclusions(self) -> float:
        """The largest error of Theorem 3's conclusions: the iteration converges, to a critical point, inside
        B_γ."""
        last = self.steps[-1]
        largest_distance = max(float(np.linalg.norm(step.w - self.w0)) for step in self.steps)
        return max(last.length, last.velocity, _excess(largest_distance, self.certificate.radius))


def theorem_3(rng: Random, largest: int) -> Run:
    dim = size(rng, 2, largest)
    family, w0, certificate = _certified(rng, [1, *rng.uniform(0.1, 0.4, dim - 1)])
    return Run(dim, _iterate(family, w0), w0, certificate)


def theorem_3_indefinite(rng: Random, largest: int) -> Run:
    """Power iteration with Â(w) = A(w) - λ_min(w) I + ε I, of an A that has an eigenvalue below -λ1; the
    condition provably holds for Â."""
    dim = size(rng, 3, largest)
    lowest_value = -rng.uniform(1.2, 1.5)
    # The others lie near the lowest, so that Â's second eigenvalue is small compared with its first.
    middle_values = lowest_value + rng.uniform(0.2, 0.5, dim - 2)
    family, w0, certificate = _certified(rng, [1, *middle_values, lowest_value], shifted=True)
    return Run(dim, _iterate(lambda w: _shifted(family(w)), w0), w0, certificate)


@formula(
    "thm3",
    """Power iteration from a start at which the irregularity is at most γ < 1 on the ball B_γ around it comes
    to rest at a critical point of Eq. 7, and never leaves B_γ.""",
    at="Theorem 3, Section 3.3 and Appendix B.4",
    tried_at=theorem_3,
)
def converges(point: Run) -> Errors:
    """The decoy takes the start for the critical point."""
    return Errors(point.conclusions, decoy=point.steps[0].velocity)


@formula(
    "thm3/indefinite",
    """Where A(w) is not positive definite, Theorem 3 holds of power iteration with Â(w) = A(w) - λ_min(w) I
    + ε I.""",
    at="Theorem 3, Appendix B.4",
    tried_at=theorem_3_indefinite,
)
def converges_shifted(point: Run) -> Errors:
    return Errors(point.conclusions, decoy=point.steps[0].velocity)


@formula(
    "lemma10",
    """In power iteration |d(t) - c(t+1)| ≤ ν(t) (1 - c(t)): the first eigenvector moves little as the weight
    does.""",
    at="Lemma 10, Eqs. 192 and 193, Appendix G",
    tried_at=theorem_3,
    is_bound=True,
)
def lemma_10(point: Run) -> Errors:
    """The decoy takes L² for L."""

    def worst(lipschitz: float) -> float:
        return max(
            _excess(abs(step.d - after.c), step.nu(lipschitz, point.certificate.kappa) * step.slack)
            for step, after in pairwise(point.steps)
            if step.slack > RESOLVED
        )

    lipschitz = point.certificate.lipschitz
    return Errors(worst(lipschitz), decoy=worst(lipschitz**2))


@formula(
    "lemma11",
    """In power iteration 1 - c(t) ≤ γ^t (1 - c(0)), c the cosine with the first eigenvector; it never falls,
    and the limit is the first eigenvector of its own A(w).""",
    at="Lemma 11, Eqs. 204 to 220, Appendix G",
    tried_at=theorem_3,
)
def lemma_11(point: Run) -> Errors:
    """The decoy has γ^(t+1) for γ^t."""
    c, certificate = np.array([step.c for step in point.steps]), point.certificate
    most = certificate.gamma ** np.arange(len(c)) * (1 - certificate.c0)

    def rate(bound: Array) -> float:
        return _worst((1 - c - bound) / (1 - certificate.c0))

    return Errors(
        max(rate(most), _worst(-np.diff(c)), point.steps[-1].slack), decoy=rate(certificate.gamma * most)
    )


FORMULAS: tuple[Formula, ...] = (
    converges,
    converges_shifted,
    lemma_7,
    parseval,
    lemma_8,
    first_order_change,
    lemma_10,
    lemma_11,
)
