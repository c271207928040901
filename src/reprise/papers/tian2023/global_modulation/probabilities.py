"""Remark after Theorem 6: P[E_l] for initial values Y_l ~ U[-1, 1] and advantages ε_l."""

from itertools import pairwise

import numpy as np

from reprise.evidence.identities import Array


def eq155(dim: int, epsilon: float) -> float:
    """P[Y_l > 0, Y_l + ε >= max of the d - 1 others] in closed form, for ε > -1 (Eq. 155)."""
    if epsilon > 1:
        return 0.5
    if epsilon >= 0:
        return (1 - ((1 + epsilon) / 2) ** dim) / dim + epsilon / 2
    return ((1 + epsilon / 2) ** dim - ((1 + epsilon) / 2) ** dim) / dim


def exact(l: int, epsilons: Array) -> float:  # noqa: E741
    """P[Y_l > 0, Y_l + ε_l >= max over the others of Y_l' + ε_l'], by piecewise integration of Eq. 154.

    Between the points where one of its factors is clipped, the integrand is a polynomial of degree d - 1, for
    which Gauss-Legendre quadrature is exact.
    """
    leads = epsilons[l] - np.delete(epsilons, l)
    cuts = np.unique(np.clip(np.concatenate([[0, 1], -1 - leads, 1 - leads]), 0, 1))
    nodes, weights = np.polynomial.legendre.leggauss(len(epsilons))
    total = 0.0
    for low, high in pairwise(cuts):
        y = (low + high) / 2 + (high - low) / 2 * nodes
        factors = np.clip((y[:, None] + leads + 1) / 2, 0, 1)
        total += (high - low) / 2 * float(weights @ factors.prod(1))
    return total / 2


def simulated(y: Array, epsilons: Array) -> Array:
    """Share of the draws in which Y_1 > 0 and Y_1 + ε is the largest, for each ε.

    Args:
        y: draws. Shape [draw, dim].
    """
    largest = y[:, 1:].max(1)
    return ((y[:, 0] > 0) & (y[:, 0] + epsilons[:, None] >= largest)).mean(1)
