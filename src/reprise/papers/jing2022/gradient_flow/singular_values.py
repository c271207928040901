"""Appendix A, Lemmas 4 and 5: the motion of a moving matrix's singular values and vectors."""

import numpy as np

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error, size
from reprise.papers.jing2022.gradient_flow import formulas
from reprise.papers.jing2022.gradient_flow.motion import factors_velocity, svd, whole_svd
from reprise.papers.jing2022.gradient_flow.points import distinct


def lemma4(rng: Random, largest: int) -> Checked:
    """Eq. 12: dσ_k/dt = u_kᵀ Ẇ v_k."""
    w, velocity = _moving(rng, size(rng, 2, largest), size(rng, 2, largest))
    u, _, vt = svd(w)
    error = relative_error(np.diag(u.T @ velocity @ vt.T), factors_velocity(w, velocity)[1])
    return Checked(_sizes(w), {"lemma4/singular-values": as_printed(error)})


def lemma5(rng: Random, largest: int) -> Checked:
    """Eqs. 13 and 14 for matrices of any shape, with H as printed and with its sign changed."""
    moving = _moving(rng, size(rng, 2, largest), size(rng, 2, largest))
    errors = {"printed": lemma5_error(*moving, sign=-1), "corrected": lemma5_error(*moving, sign=1)}
    return Checked(_sizes(moving[0]), {"lemma5": errors})


def lemma5_error(w: Array, velocity: Array, *, sign: int) -> float:
    """The larger relative error of Eqs. 13 and 14, of the vectors that have a value; how the others turn
    among themselves is not determined.

    Args:
        sign: of H: 1 as corrected, -1 as printed.
    """
    u, s, v = whole_svd(w)
    du = formulas.left_velocity(u, s, v, velocity, sign * formulas.inverse_gaps(s))
    dv = formulas.left_velocity(v, s.T, u, velocity.T, sign * formulas.inverse_gaps(s.T))
    expected_du, values, expected_dv = factors_velocity(w, velocity)
    rank = len(values)
    return max(relative_error(du[:, :rank], expected_du), relative_error(dv[:, :rank], expected_dv))


def eq16_and_17(rng: Random, largest: int) -> Checked:
    """The two steps to Lemma 5: Ī ∘ Uᵀ Ẇ V = Uᵀ U̇ S + S V̇ᵀ V, and its transpose."""
    side = size(rng, 2, largest)
    w, velocity = _moving(rng, side, side)
    u, s, vt = svd(w)
    du, _, dv = factors_velocity(w, velocity)
    off_diagonal = 1 - np.eye(side)
    eq16 = u.T @ du * s + s[:, None] * (dv.T @ vt.T)
    eq17 = -s[:, None] * (u.T @ du) - dv.T @ vt.T * s
    return Checked(
        _sizes(w),
        {
            "lemma5/eq16": as_printed(relative_error(off_diagonal * (u.T @ velocity @ vt.T), eq16)),
            "eq17": {
                "printed": relative_error(off_diagonal * (vt @ velocity @ u), eq17),
                "corrected": relative_error(off_diagonal * (vt @ velocity.T @ u), eq17),
            },
        },
    )


def _moving(rng: Random, rows: int, columns: int) -> tuple[Array, Array]:
    """A matrix with distinct singular values, and a velocity."""
    return distinct(rng, rows, columns), rng.normal(size=(rows, columns))


def _sizes(w: Array) -> dict[str, int]:
    return {"inputs": w.shape[1], "outputs": w.shape[0]}


CHECKS = (lemma4, lemma5, eq16_and_17)
