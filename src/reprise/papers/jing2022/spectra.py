"""Measures of a spectrum given by logarithms."""

import math

import numpy as np
import pandas as pd

from reprise.evidence.comparison import collapsed

FLOOR = -30.0
"""Smallest value drawn: ln of a ratio that single precision cannot tell from zero."""

SMALLEST = 1e-5
"""A value below this share of the largest shows a collapse by itself (`has_collapse`)."""


def relative(log_values: pd.Series, by: pd.Series | list[pd.Series]) -> pd.Series:
    """ln(value / largest) of each spectrum, no lower than `FLOOR`.

    Args:
        by: the spectrum that each row belongs to.
    """
    largest = log_values.groupby(by).transform("max")
    return (log_values - largest).clip(lower=FLOOR)


def collapsed_values(log_values: pd.Series) -> float:
    """Number of collapsed values."""
    return collapsed(np.exp(log_values))


def has_collapse(log_values: pd.Series) -> float:
    """1 if a value is below `SMALLEST` of the largest, or below e^-4 of the next larger one, else 0."""
    ordered = np.sort(log_values.to_numpy())[::-1]
    return float(ordered[-1] < ordered[0] + math.log(SMALLEST) or (np.diff(ordered) < -4).any())


def rank_of_covariance(log_values: pd.Series) -> float:
    """The effective rank of a covariance's values λ, not of their roots as `diagnostics.effective_rank` is:
    exp(-Σ_k p_k ln p_k), p_k = λ_k / Σ_j λ_j, the number of equal values with the same entropy."""
    values = np.exp(log_values.to_numpy())
    p = values / values.sum()
    p = p[~(p <= 0)]  # 0 ln 0 = 0; NaN stays
    return float(np.exp(-(p * np.log(p)).sum()))
