"""Section 3.3 and its lemmas at random points: Theorem 3, Lemmas 7 to 11, Eq. 103.

A bound's error is by how much it is exceeded, as a share of the bound: 0 where it holds.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from reprise.evidence.identities import Array, Check, Checked, Random, as_printed, relative_error, size
from reprise.papers.tian2023.power_iteration import irregularity
from reprise.papers.tian2023.power_iteration.irregularity import Affine, Certificate

STEPS = 400
"""Of power iteration: at a rate of γ = 0.9 what is left is 1e-18."""
RESOLVED = 1e-8
"""1 - c is known to 1e-16: bounds of a share of it are read while it is larger than this."""


def lemmas_7_and_8(rng: Random, largest: int) -> Checked:
    """One step of power iteration with a positive definite A; Lemma 7 as printed, which asks for λ1 > 0
    alone, with negative eigenvalues larger than λ2."""
    dim = size(rng, 3, largest)
    second = rng.uniform(0.1, 0.3)
    rest = rng.uniform(0.05, second, dim - 2)
    definite = _symmetric(rng, [1, second, *rest])
    indefinite = _symmetric(rng, [1, second, *(-rng.uniform(0.6, 0.95, dim - 2))])
    angle = rng.uniform(0.05, 0.3)
    step = Step(definite, _turned(rng, definite, angle))
    # Turned in a random direction: along ϕ2 alone Lemma 7 would hold as printed.
    wild = Step(indefinite, _turned(rng, indefinite, angle))
    values, vectors = irregularity.eigenpairs(definite)
    parts = np.square(vectors[:, 1:].T @ step.w)
    sine = np.array([1 - step.c**2])
    return Checked(
        {"dimension": dim},
        {
            "lemma7": {"printed": _excess(1 - wild.d, wild.mu * wild.slack),
                       "corrected": _excess(1 - step.d, step.mu * step.slack)},
            "lemma7-parseval": {
                "printed": relative_error(np.array([(np.square(values[1:]) * parts).sum()]), sine),
                "corrected": relative_error(np.array([parts.sum()]), sine),
            },
            "lemma8/step": as_printed(_excess(step.length, step.length_bound)),
        },
    )  # fmt: skip


def lemma_9(rng: Random, largest: int) -> Checked:
    """The first order of ϕ1's change against finite differences, and the rest against our κ."""
    dim = size(rng, 2, largest)
    a = _symmetric(rng, [1, *rng.uniform(0.1, 0.7, dim - 1)])
    change = rng.normal(size=(dim, dim))
    change = (change + change.T) / np.linalg.norm(change + change.T, 2)
    values, vectors = irregularity.eigenpairs(a)
    phi = vectors[:, 0]
    gap = float(values[0] - values[1])

    def first_order(by: Array) -> Array:
        return vectors[:, 1:] @ (vectors[:, 1:].T @ by @ phi / (values[0] - values[1:]))

    def moved(by: Array) -> Array:
        return irregularity.first_eigenvector(a + by, phi)

    short = 1e-5 * gap
    numerical = (moved(short * change) - moved(-short * change)) / (2 * short)
    far = rng.uniform(0.05, 0.45) * gap * change
    rest = float(np.linalg.norm(moved(far) - phi - first_order(far)))
    length = float(np.linalg.norm(far, 2))
    return Checked(
        {"dimension": dim},
        {
            "lemma9/first-order": as_printed(relative_error(first_order(change), numerical)),
            "lemma9/rest": as_printed(_excess(rest, irregularity.kappa_bound(gap, length) * length**2)),
        },
    )


def eq_103(rng: Random, largest: int) -> Checked:
    """The distance from w(0) of a unit vector on the edge that Theorem 3 gives B_γ, against Lemma 11's."""
    dim = size(rng, 2, largest)
    gamma = rng.uniform(0.01, 0.7)
    # So near that the ball is not the whole sphere.
    c0 = 1 - rng.uniform(0.1, 0.9) * 2 * (1 - np.sqrt(gamma)) ** 2 / (1 + gamma)
    threshold = irregularity.ball_threshold(gamma, c0)
    w0, across = np.linalg.qr(rng.normal(size=(dim, 2)))[0].T
    edge = threshold * w0 + np.sqrt(1 - threshold**2) * across
    found, expected = np.linalg.norm(edge - w0), irregularity.ball_radius(gamma, c0)
    return Checked({"dimension": dim}, {"eq103/same-ball": as_printed(float(abs(found / expected - 1)))})


def theorem_3(rng: Random, largest: int) -> Checked:
    """Power iteration from a start at which Theorem 3's condition is proven."""
    dim = size(rng, 2, largest)
    family, w0, proven = _certified(rng, [1, *rng.uniform(0.1, 0.4, dim - 1)])
    steps = _iterate(family, w0)
    c = np.array([step.c for step in steps])
    seen = [(now, after) for now, after in pairwise(steps) if now.slack > RESOLVED]
    return Checked(
        {"dimension": dim},
        {
            **{f"thm3/{name}": as_printed(error) for name, error in _conclusions(steps, w0, proven).items()},
            "lemma10/bound": as_printed(
                max(
                    _excess(abs(now.d - after.c), now.nu(proven.lipschitz, proven.kappa) * now.slack)
                    for now, after in seen
                )
            ),
            "lemma11/rate": as_printed(
                _worst((1 - c - proven.gamma ** np.arange(len(c)) * (1 - proven.c0)) / (1 - proven.c0))
            ),
            "lemma11/monotone": as_printed(_worst(-np.diff(c))),
            "lemma11/first-eigenvector": as_printed(steps[-1].slack),
        },
    )


def theorem_3_indefinite(rng: Random, largest: int) -> Checked:
    """The condition is proven for Â(w) = A(w) - λ_min(w) I + ε I, A having an eigenvalue under -λ1: power
    iteration with A, as printed, and with Â."""
    dim = size(rng, 3, largest)
    lowest = -rng.uniform(1.2, 1.5)
    # The others near the lowest, for Â's second eigenvalue to be small beside its first.
    others = lowest + rng.uniform(0.2, 0.5, dim - 2)
    family, w0, proven = _certified(rng, [1, *others, lowest], shifted=True)
    runs = {"printed": _iterate(family, w0), "corrected": _iterate(lambda w: _shifted(family(w)), w0)}
    errors = {form: max(_conclusions(steps, w0, proven).values()) for form, steps in runs.items()}
    return Checked({"dimension": dim}, {"thm3-indefinite": errors})


CHECKS: tuple[Check, ...] = (lemmas_7_and_8, lemma_9, eq_103, theorem_3, theorem_3_indefinite)


class Step:
    """A step of power iteration with A at w, and what the lemmas say of it."""

    def __init__(self, a: Array, w: Array) -> None:
        values, _ = irregularity.eigenpairs(a)
        phi = irregularity.first_eigenvector(a, w)
        moved = a @ w
        self.w, self.next = w, moved / np.linalg.norm(moved)
        self.c, self.d = float(phi @ w), float(phi @ self.next)
        self.ratio, self.gap = values[1] / values[0], values[0] - values[1]
        self.mu = irregularity.mu(self.c, self.ratio)
        self.slack = max(0.0, 1 - self.c)
        self.length = float(np.linalg.norm(self.next - w))
        self.length_bound = float(np.sqrt(2 * (1 + self.mu * self.c) * self.slack))
        self.velocity = float(np.linalg.norm(moved - (moved @ w) * w) / values[0])
        """Of Eq. 7, as a share of λ1."""

    def nu(self, lipschitz: float, kappa: float) -> float:
        return irregularity.nu(self.c, self.ratio, self.gap, lipschitz, kappa)


def _iterate(a: Callable[[Array], Array], w0: Array) -> list[Step]:
    steps = [Step(a(w0), w0)]
    for _ in range(STEPS):
        steps.append(Step(a(steps[-1].next), steps[-1].next))
    return steps


def _conclusions(steps: list[Step], w0: Array, proven: Certificate) -> dict[str, float]:
    """Of Theorem 3: how far the iteration is from coming to rest, at a critical point, within B_γ."""
    away = max(float(np.linalg.norm(step.w - w0)) for step in steps)
    return {
        "converges": steps[-1].length,
        "critical-point": steps[-1].velocity,
        "inside-ball": _excess(away, proven.radius),
    }


def _certified(
    rng: Random, values: list[float], *, shifted: bool = False
) -> tuple[Affine, Array, Certificate]:
    """A random family whose A(w) has about these eigenvalues, a start near its first eigenvector, and the
    certificate of A(w), or of Â(w); the slopes are about as large as it allows, or smaller."""
    dim = len(values)
    constant = _symmetric(rng, values)
    slopes = rng.normal(size=(dim, dim, dim))
    unit = Affine(constant, slopes + slopes.mT)
    w0, share = _turned(rng, constant, rng.uniform(0.05, 0.2)), rng.uniform(0.3, 1)
    for size_of_slopes in 0.8 ** np.arange(60):
        family = Affine(constant, unit.slopes * size_of_slopes * share / unit.lipschitz)
        # λ_min moves by no more than A does.
        lipschitz = 2 * family.lipschitz if shifted else family.lipschitz
        a0 = _shifted(family(w0)) if shifted else family(w0)
        proven = irregularity.certificate(a0, w0, lipschitz)
        if proven and (shifted or np.linalg.eigvalsh(a0)[0] > lipschitz * proven.radius):
            return family, w0, proven
    raise AssertionError("a constant A this close to its first eigenvector is certified")


def _shifted(a: Array) -> Array:
    """Â = A - λ_min I + ε I (Appendix B.4)."""
    return a - (np.linalg.eigvalsh(a)[0] - 1e-3) * np.eye(len(a))


def _symmetric(rng: Random, values: Sequence[float]) -> Array:
    """A random matrix with these eigenvalues."""
    q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    return (q * np.asarray(values)) @ q.T


def _turned(rng: Random, a: Array, angle: float) -> Array:
    """The first eigenvector of A, turned by an angle towards a random direction."""
    phi = irregularity.eigenpairs(a)[1][:, 0]
    across = rng.normal(size=len(phi))
    across -= (across @ phi) * phi
    return np.cos(angle) * phi + np.sin(angle) * across / np.linalg.norm(across)


def _excess(found: float, bound: float) -> float:
    return float(max(0.0, found / bound - 1))


def _worst(violations: Array) -> float:
    return float(max(0.0, violations.max()))
