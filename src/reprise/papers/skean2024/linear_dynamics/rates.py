"""How fast layers grow from zero, and the sharpness of the losses at the optimum, from Hessians by automatic
differentiation."""

import numpy as np

from reprise.evidence.identities import Checked, Random, as_printed
from reprise.papers.skean2024.linear_dynamics.points import random_aligned
from reprise.papers.skean2024.linear_views import closed_form


def growth(rng: Random, largest: int) -> Checked:
    """Growth rate of the fastest mode near zero: λ + c against c."""
    aligned = random_aligned(rng, min(largest, 4), alike=True)
    zero = np.zeros_like(aligned.top)
    fastest = {
        name: -np.linalg.eigvalsh(aligned.point.hessian(name, (zero, zero)))[0]
        for name in ("frossl", "barlow")
    }
    ratio = fastest["frossl"] / fastest["barlow"]
    return Checked(
        aligned.point.sizes, {"growth-ratio": as_printed(abs(ratio / (1 + 1 / aligned.rho[0]) - 1))}
    )


def sharpness(rng: Random, largest: int) -> Checked:
    """The largest eigenvalue at the optimum that the closed form approaches."""
    aligned = random_aligned(rng, min(largest, 4), alike=True)
    lam, _, c = aligned.leading
    errors = {}
    for name, expected in (("frossl", 4 * lam[0] + 8 * c[0]), ("barlow", 4 * c[0])):
        s = np.sqrt(closed_form(name, lam, c, aligned.s[0], np.array([1e6]))[0])
        w = aligned.u * s @ aligned.top
        measured = np.linalg.eigvalsh(aligned.point.hessian(name, (w, w)))[-1]
        errors[f"sharpness/{name}"] = as_printed(abs(measured / expected - 1))
    return Checked(aligned.point.sizes, errors)


CHECKS = (growth, sharpness)
