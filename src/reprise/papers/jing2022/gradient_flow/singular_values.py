"""Appendix A, Lemmas 4 and 5: the motion of a moving matrix's singular values and vectors."""

import numpy as np

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error, size
from reprise.papers.jing2022.gradient_flow import formulas
from reprise.papers.jing2022.gradient_flow.motion import factors_velocity, svd
from reprise.papers.jing2022.gradient_flow.points import distinct


def lemma4(rng: Random, largest: int) -> Checked:
    """Eq. 12: dσ_k/dt = u_kᵀ Ẇ v_k."""
    w, velocity = _moving(rng, size(rng, 2, largest), size(rng, 2, largest))
    u, _, vt = svd(w)
    error = relative_error(np.diag(u.T @ velocity @ vt.T), factors_velocity(w, velocity)[1])
    return Checked(_sizes(w), {"lemma4/singular-values": as_printed(error)})


def lemma5(rng: Random, largest: int) -> Checked:
    """Eq. 13 for square U and Eq. 14 for square V, with H as printed and with its sign changed."""
    short = size(rng, 2, largest)
    wide = _moving(rng, short, size(rng, short, largest))
    tall = _moving(rng, size(rng, short, largest), short)

    def error(sign: int) -> float:
        return max(_eq13(*wide, sign=sign), _eq14(*tall, sign=sign))

    return Checked(_sizes(wide[0]), {"lemma5": {"printed": error(-1), "corrected": error(1)}})


def lemma5_thin(rng: Random, largest: int) -> Checked:
    """Eqs. 13 and 14 for the longer factor, which is not square and also moves out of its own span."""
    short = size(rng, 2, largest - 1)
    w, velocity = _moving(rng, size(rng, short + 1, largest), short)
    u, s, vt = svd(w)
    expected, _, _ = factors_velocity(w, velocity)
    within = formulas.left_velocity(u, s, vt, velocity, formulas.inverse_gaps(s))
    complete = within + formulas.out_of_span(u, s, vt, velocity)
    errors = {"printed": relative_error(within, expected), "corrected": relative_error(complete, expected)}
    return Checked(_sizes(w), {"lemma5-thin": errors})


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


def _eq13(w: Array, velocity: Array, *, sign: int) -> float:
    u, s, vt = svd(w)
    du = formulas.left_velocity(u, s, vt, velocity, sign * formulas.inverse_gaps(s))
    return relative_error(du, factors_velocity(w, velocity)[0])


def _eq14(w: Array, velocity: Array, *, sign: int) -> float:
    u, s, vt = svd(w)
    dv = formulas.left_velocity(vt.T, s, u.T, velocity.T, sign * formulas.inverse_gaps(s))
    return relative_error(dv, factors_velocity(w, velocity)[2])


def _moving(rng: Random, rows: int, columns: int) -> tuple[Array, Array]:
    """A matrix with distinct singular values, and a velocity."""
    return distinct(rng, rows, columns), rng.normal(size=(rows, columns))


def _sizes(w: Array) -> dict[str, int]:
    return {"inputs": w.shape[1], "outputs": w.shape[0]}


CHECKS = (lemma4, lemma5, lemma5_thin, eq16_and_17)
