"""The formulas of Appendices D.2 and E.4 for the singular values of aligned layers, as printed."""

import numpy as np

from reprise.evidence.identities import Array


def eq30(s1: Array, lam: Array, gamma: Array) -> Array:
    """The diagonal factor between U and V̂."""
    return 2 * s1 * lam - 4 * s1 * np.sqrt(lam * gamma) - 4 * s1**3 * lam**2


def eq31(s1: Array, lam: Array, gamma: Array) -> Array:
    """The same factor, rearranged."""
    return 2 * (s1 * (lam - 2 * np.sqrt(lam) * np.sqrt(gamma) - 2 * s1**2 * lam**2))


def eq32(s1: Array, lam: Array, gamma: Array) -> Array:
    """ds1/dt."""
    return 2 * s1 * (lam - 2 * np.sqrt(lam * gamma) - 2 * s1**2 * lam**2)


def singular_velocity(s1: Array, s2: Array, lam: Array, c: Array) -> Array:
    """ds1/dt, corrected; with c = ρ sqrt(λ γ)."""
    return 2 * lam * s1 + 2 * c * s2 - 4 * lam**2 * s1**3


def eq18(start: Array, lam: Array, gamma: Array, time: Array) -> Array:
    """s1(t). Shape [time, mode]."""
    root = np.sqrt(lam * gamma)
    growth = np.exp(8 * time[:, None] * root - 4 * lam * time[:, None])
    return np.sqrt((2 * root - lam) / ((2 * lam**2 - (lam - 2 * root) / start**2) * growth - 2 * lam**2))


def eq33(start: Array, lam: Array, gamma: Array, time: Array) -> Array:
    """s1(t), with the constant set by s1(0). Shape [time, mode]."""
    drop = 2 * np.sqrt(lam * gamma) - lam
    c1 = np.log(2 * lam**2 + drop / start**2) / (2 * drop)
    return np.sqrt(drop / (np.exp(2 * drop * (c1 + 2 * time[:, None])) - 2 * lam**2))
