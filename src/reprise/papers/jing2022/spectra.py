"""What is read off a spectrum of logarithms."""

import numpy as np
import pandas as pd

from reprise.evidence.claims import collapsed

FLOOR = -30.0
"""Where smaller values are drawn: ln of what single precision cannot tell from zero beside the largest."""


def relative(log_values: pd.Series, by: pd.Series | list[pd.Series]) -> pd.Series:
    """ln(value / largest) of each spectrum, no lower than `FLOOR`.

    Args:
        by: which spectrum a row belongs to.
    """
    largest = log_values.groupby(by).transform("max")
    return (log_values - largest).clip(lower=FLOOR)


def collapsed_values(log_values: pd.Series) -> float:
    """How many are collapsed."""
    return collapsed(np.exp(log_values))


def effective_rank(log_values: pd.Series) -> float:
    """exp(-Σ_k p_k ln p_k), p_k = σ_k / Σ_j σ_j of one spectrum: how many equal values have its entropy."""
    values = np.exp(log_values.to_numpy())
    p = values / values.sum()
    p = p[~(p <= 0)]  # 0 ln 0 = 0; NaN stays
    return float(np.exp(-(p * np.log(p)).sum()))
