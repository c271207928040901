"""Appendix A, Lemmas 4 and 5: the motion of a moving matrix's singular values and vectors.

Functions that need SciPy or torch import it where they calculate, so that lists of claims do not wait for it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, relative_error, size
from reprise.papers.jing2022.gradient_flow import formulas

LOST_IN_OUR_COPY = (
    "the indices in Eqs. 15 and 19 are lost in our copy; this H follows from the proof of Lemma 5"
)


@dataclass(frozen=True)
class Moving:
    """A matrix with distinct singular values, and its velocity."""

    w: Array
    velocity: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"inputs": self.w.shape[1], "outputs": self.w.shape[0]}

    @cached_property
    def factors(self) -> tuple[Array, Array, Array]:
        """U, S and Vᵀ."""
        from reprise.papers.jing2022.gradient_flow.motion import svd

        return svd(self.w)

    @cached_property
    def factors_velocity(self) -> tuple[Array, Array, Array]:
        """Velocities of U, S and V."""
        from reprise.papers.jing2022.gradient_flow.motion import factors_velocity

        return factors_velocity(self.w, self.velocity)


def _moving(rng: Random, rows: int, columns: int) -> Moving:
    from reprise.papers.jing2022.gradient_flow.points import distinct

    return Moving(distinct(rng, rows, columns), rng.normal(size=(rows, columns)))


def moving(rng: Random, largest: int) -> Moving:
    """A matrix of any shape."""
    return _moving(rng, size(rng, 2, largest), size(rng, 2, largest))


@formula(
    "lemma4/singular-values",
    "The singular values of a moving matrix W change by dσ_k/dt = u_kᵀ Ẇ v_k.",
    at="Lemma 4, Eq. 12, Appendix A",
    tried_at=moving,
)
def eq_12(point: Moving) -> Errors:
    """The decoy has the right vector of another value."""
    (u, _, vt), (_, expected, _) = point.factors, point.factors_velocity
    gains = u.T @ point.velocity @ vt.T
    return Errors(
        printed=relative_error(np.diag(gains), expected),
        decoy=relative_error(np.diag(np.roll(gains, 1, axis=1)), expected),
    )


@formula(
    "lemma5",
    "Singular vectors move by Eqs. 13 and 14 with H_kk' = 1/(σ_k'² - σ_k²).",
    at="Lemma 5, Eq. 15, Appendix A",
    form="restated",
    reading=LOST_IN_OUR_COPY,
    tried_at=moving,
)
def eqs_13_to_15(point: Moving) -> Errors:
    """The decoy has the negative of H."""
    w, velocity = point.w, point.velocity
    return Errors(printed=lemma5_error(w, velocity), decoy=lemma5_error(w, velocity, sign=-1))


def lemma5_error(w: Array, velocity: Array, *, sign: int = 1) -> float:
    """The larger relative error of Eqs. 13 and 14, of the vectors that have a value; how the others turn
    among themselves is not determined.

    Args:
        sign: of H; -1 for its negative.
    """
    from reprise.papers.jing2022.gradient_flow.motion import factors_velocity, whole_svd

    u, s, v = whole_svd(w)
    du = formulas.left_velocity(u, s, v, velocity, sign * formulas.inverse_gaps(s))
    dv = formulas.left_velocity(v, s.T, u, velocity.T, sign * formulas.inverse_gaps(s.T))
    expected_du, values, expected_dv = factors_velocity(w, velocity)
    rank = len(values)
    return max(relative_error(du[:, :rank], expected_du), relative_error(dv[:, :rank], expected_dv))


def moving_square(rng: Random, largest: int) -> Moving:
    side = size(rng, 2, largest)
    return _moving(rng, side, side)


@formula(
    "eq17",
    """A matrix W = U S Vᵀ that moves has Ī ∘ Vᵀ Ẇᵀ U = -S Uᵀ U̇ - V̇ᵀ V S, with Ī = 1 off the diagonal and 0
    on it.""",
    at="Eq. 17, Appendix A",
    form="restated",
    reading="the transpose of Ẇ, which our copy lacks, is that of Eq. 16",
    tried_at=moving_square,
)
def eq_17(point: Moving) -> Errors:
    """The decoy does not transpose the velocity."""
    (u, s, vt), (du, _, dv), velocity = point.factors, point.factors_velocity, point.velocity
    right = -s[:, None] * (u.T @ du) - dv.T @ vt.T * s
    off_diagonal = 1 - np.eye(len(s))
    return Errors(
        printed=relative_error(off_diagonal * (vt @ velocity.T @ u), right),
        decoy=relative_error(off_diagonal * (vt @ velocity @ u), right),
    )


FORMULAS: tuple[Formula, ...] = (eq_12, eqs_13_to_15, eq_17)
