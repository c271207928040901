"""The variances of the signals: the spectra that the paper draws, and others that its theorems cover."""

import math

import numpy as np

SPECTRA = ("linear", "spiked")
EVERY_SPECTRUM = (*SPECTRA, "geometric", "halves")


def signal_variances(spectrum: str, dim: int, signals: int) -> np.ndarray:
    """σ_1² .. σ_r²: from 4 to 1, equally spaced (`linear`), in equal ratios (`geometric`) or one half each
    (`halves`); or 1.5 ln d once and 1 otherwise (`spiked`)."""
    if spectrum == "linear":
        return np.linspace(4.0, 1.0, signals)
    if spectrum == "spiked":
        return np.array([1.5 * math.log(dim), *np.ones(signals - 1)])
    if spectrum == "geometric":
        return np.geomspace(4.0, 1.0, signals)
    if spectrum == "halves":
        return np.where(np.arange(signals) < signals // 2, 4.0, 1.0)
    raise ValueError(f"unknown spectrum '{spectrum}'; allowed: {', '.join(EVERY_SPECTRUM)}")
