"""Appendices D.1 and E.3: the gradient of Eq. 10 for the layers, term by term, against automatic
differentiation."""

import numpy as np
import torch
from torch import Tensor

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error
from reprise.papers.skean2024.linear_dynamics.points import Point, differentiated, random_point


def eq11(rng: Random, largest: int) -> Checked:
    """Eq. 10 in terms of the covariances, and Eq. 21 for its last term."""
    point = random_point(rng, largest)
    (w1, w2), (g1, g2), (x1, x2) = point.w, point.gamma, point.x
    identity = np.eye(len(w1))
    difference = np.square(x1 @ w1.T - x2 @ w2.T).sum()
    value = np.square(w1 @ g1 @ w1.T - identity).sum() + np.square(w2 @ g2 @ w2.T - identity).sum()
    traces = np.trace(w1 @ g1 @ w1.T) + np.trace(w2 @ g2 @ w2.T) - 2 * np.trace(w2 @ point.cross.T @ w1.T)
    return Checked(
        point.sizes,
        {
            "eq11/loss": as_printed(abs((value + difference) / point.loss(point.w) - 1)),
            "eq21/traces": as_printed(abs(traces / difference - 1)),
        },
    )


def terms(rng: Random, largest: int) -> Checked:
    """Eqs. 22 to 27."""
    point = random_point(rng, largest)
    (w1, w2), (g1, g2), (x1, x2), c = point.w, point.gamma, point.x, point.cross
    identity = np.eye(len(w1))

    def invariance(a: Tensor, b: Tensor) -> Tensor:
        return (torch.from_numpy(x1) @ a.T - torch.from_numpy(x2) @ b.T).square().sum()

    def variances(a: Tensor, b: Tensor) -> Tensor:
        unit = torch.eye(len(a), dtype=a.dtype)
        pairs = zip((a, b), map(torch.from_numpy, (g1, g2)), strict=True)
        return sum(((w @ g @ w.T - unit).square().sum() for w, g in pairs), torch.zeros(()))

    def first_alone(a: Tensor, b: Tensor) -> Tensor:
        z = torch.from_numpy(x1) @ a.T
        return (z.T @ z - torch.eye(len(a), dtype=a.dtype)).square().sum() + 0 * b.sum()

    invariance1, invariance2 = differentiated(invariance, w1, w2)
    variance1, variance2 = differentiated(variances, w1, w2)
    own_gradient, other_gradient = differentiated(first_alone, w1, w2)
    eq24 = 4 * (w1 @ g1 @ w1.T - identity) @ w1 @ g1
    eq27 = -4 * (w2 @ g1 @ w2.T - identity) @ w2 @ g2
    eq27_corrected = 4 * (w2 @ g2 @ w2.T - identity) @ w2 @ g2
    return Checked(
        point.sizes,
        {
            "eq22/invariance": as_printed(relative_error(2 * w1 @ g1 - 2 * w2 @ c.T, invariance1)),
            "eq23/invariance": as_printed(relative_error(2 * w2 @ g2 - 2 * w1 @ c, invariance2)),
            "eq25/other-layer": as_printed(
                float(np.linalg.norm(other_gradient) / np.linalg.norm(own_gradient))
            ),
            "eq24": {
                "printed": relative_error(-eq24, variance1),
                "corrected": relative_error(eq24, variance1),
            },
            "eq27": {
                "printed": relative_error(eq27, variance2),
                "corrected": relative_error(eq27_corrected, variance2),
            },
        },
    )


def layers(rng: Random, largest: int) -> Checked:
    """Eqs. 12 and 13, the two lines of Eqs. 28 and 29, and whether a short step along ∇L raises the loss."""
    point = random_point(rng, largest)
    expected = point.gradient()
    step = 1e-4 / max(float(np.linalg.norm(part)) for part in expected)
    raises_loss = {
        form: float(point.loss(_moved(point, sign * step)) > point.loss(point.w))
        for form, sign in (("printed", 1), ("corrected", -1))
    }
    names = zip((("eq12", "eq28"), ("eq13", "eq29")), views(point), expected, strict=True)
    errors = {"eq12-descent": raises_loss}
    for (final, combined), (w, gamma, cross), gradient in names:
        line1 = 2 * w @ gamma - 2 * cross - 4 * (w @ gamma @ w.T - np.eye(len(w))) @ w @ gamma
        cubic = w @ gamma @ w.T @ w @ gamma
        line2 = -2 * (w @ gamma + 2 * cross + 2 * cubic)
        errors[combined] = {
            "printed": relative_error(line2, line1),
            "corrected": relative_error(6 * w @ gamma - 2 * cross - 4 * cubic, line1),
        }
        errors[final] = {
            "printed": relative_error(line2, gradient),
            "corrected": relative_error(-2 * w @ gamma - 2 * cross + 4 * cubic, gradient),
        }
    return Checked(point.sizes, errors)


def views(point: Point) -> list[tuple[Array, Array, Array]]:
    """For each view: its layer, its Γ, and the other view's layer times the cross-covariance."""
    (w1, w2), (g1, g2) = point.w, point.gamma
    return [(w1, g1, w2 @ point.cross.T), (w2, g2, w1 @ point.cross)]


def _moved(point: Point, step: float) -> tuple[Array, Array]:
    g1, g2 = point.gradient()
    return point.w[0] + step * g1, point.w[1] + step * g2


CHECKS = (eq11, terms, layers)
