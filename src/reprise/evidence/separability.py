"""Separability of arms: differences beyond those between seeds, and the ranks that they leave open."""

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from reprise.evidence.statistics import LEVEL


def holm(p_values: Float[np.ndarray, " test"]) -> Float[np.ndarray, " test"]:
    """Holm's adjusted p-values: rejecting those of at most α errs in any test with probability α at most.

    The k-th smallest of m is multiplied by m - k + 1, and no smaller one is left larger.

    Example:
        >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
        [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1)
    return adjusted


def paired_p_values(differences: Float[np.ndarray, "seed test"]) -> Float[np.ndarray, " test"]:
    """Two-sided p-values of Student's t test that the mean difference is 0; 1 where one is not a number.

    Differences without spread have 0, unless they are 0.

    Args:
        differences: of n >= 2 seeds.
    """
    from scipy import special  # here, so that a plan does not wait for its import

    count = len(differences)
    equal = (differences == differences[0]).all(0)  # exactly, where the mean is rounded
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences.mean(0)) / (differences.std(0, ddof=1) / count**0.5)
    t = np.where(equal, np.where(differences[0] == 0, 0.0, np.inf), t)
    return np.where(np.isnan(t), 1.0, 2 * special.stdtr(count - 1, -t))


def separable(values: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """The sign of the difference of each pair of arms where it is separable, else 0: 1 where the row's arm
    has the larger value.

    Pairs are compared by seed (Student's t), and Holm's correction is for their number, so that with this
    probability no pair is separated by chance.

    Args:
        values: a row a seed, a column an arm; an arm with a value that is not a number is separable from
            none.

    Returns:
        A square table, arm by arm.
    """
    array = values.to_numpy(dtype=float)
    arms = array.shape[1]
    first, second = np.triu_indices(arms, 1)
    signs = np.zeros((arms, arms), dtype=int)
    if len(first):
        differences = array[:, first] - array[:, second]
        decided = holm(paired_p_values(differences)) <= 1 - level
        signs[first, second] = np.where(decided, np.sign(differences.mean(0)), 0)
    return pd.DataFrame(signs - signs.T, values.columns, values.columns)


def rank_intervals(signs: pd.DataFrame) -> pd.DataFrame:
    """The ranks that each arm can have, `low` to `high`, of which 1 is the largest value: as many arms are
    above it as are separably larger, at least, and as many below as are separably smaller.

    With the probability of `separable`, all of them hold the true ranks (Mogstad et al. 2024, "Inference for
    Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across Countries").

    Args:
        signs: as from `separable`.

    Example:
        >>> signs = pd.DataFrame([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
        >>> rank_intervals(signs).values.tolist()
        [[1, 1], [2, 3], [2, 3]]
    """
    array: Int[np.ndarray, "arm arm"] = signs.to_numpy()
    low, high = 1 + (array < 0).sum(1), len(array) - (array > 0).sum(1)
    return pd.DataFrame({"low": low, "high": high}, index=signs.index)
