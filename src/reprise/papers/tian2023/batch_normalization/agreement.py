"""Agreement of our Table 1 with the printed one as a whole.

A printed spread is read as a standard deviation with n - 1 in its denominator, at n = 3. It is rounded to two
digits, as its mean is, which adds the variance of rounding.

Cells of a seed share pools, data and initial weights, so the 64 comparisons are not independent. What chance
would give is therefore found among our own seeds: three of them take the place of the printed table against
the others.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from reprise.evidence.statistics import jackknife, welch_error
from reprise.papers.tian2023.published import REPETITIONS, Score, table1

ROUNDING = 0.01 / np.sqrt(12)
"""Standard deviation of rounding to two digits."""
FAR = 2.0
"""Standard errors beyond which a cell is an outlier."""


def compared(cells: pd.DataFrame) -> pd.DataFrame:
    """A row a cell: our mean (`ours`), the printed one, their difference in standard errors (`errors`) and as
    a normal score (`score`), which allows for spreads of few repetitions.

    Args:
        cells: a row a seed, a column a cell.
    """
    means, spreads = _printed(cells)
    against = _against(cells.to_numpy(dtype=float), means, spreads)
    return pd.DataFrame({"ours": cells.mean(), "printed": means, **against}, index=cells.columns)


def _printed(cells: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The printed means and deviations of the cells."""
    scores: dict[Any, Score] = {**table1()}
    found = [scores[cell] for cell in cells]
    return np.array([score.mean for score in found]), np.hypot([score.std for score in found], ROUNDING)


def _against(ours: np.ndarray, means: np.ndarray, spreads: np.ndarray) -> dict[str, np.ndarray]:
    from scipy import special

    error, freedom = welch_error(ours.var(0, ddof=1), len(ours), spreads, REPETITIONS)  # type: ignore[arg-type]
    errors = (ours.mean(0) - means) / error
    tail = special.stdtr(freedom, -np.abs(errors))
    return {"errors": errors, "score": -np.sign(errors) * special.ndtri(tail)}


def by_chance(cells: pd.DataFrame) -> pd.DataFrame:
    """A row a way to take three of our seeds for the printed ones: how many cells lie beyond `FAR` standard
    errors (`outliers`), and the sum of the squared normal scores (`chi_square`). None where
    fewer than two seeds are left."""
    if len(cells) < REPETITIONS + 2:
        return pd.DataFrame(columns=["outliers", "chi_square"], dtype=float)
    return pd.DataFrame(list(_splits(cells.to_numpy(dtype=float))), columns=["outliers", "chi_square"])


def _splits(ours: np.ndarray) -> Iterator[tuple[float, float]]:
    for chosen in combinations(range(len(ours)), REPETITIONS):
        few, rest = ours[list(chosen)], np.delete(ours, chosen, axis=0)
        against = _against(rest, few.mean(0).round(2), np.hypot(few.std(0, ddof=1).round(2), ROUNDING))
        yield outliers(against["errors"]), chi_square(against["score"])


def outliers(errors: np.ndarray | pd.Series) -> float:
    """Number of cells beyond `FAR` standard errors; NaN where a cell has no number."""
    return float((np.abs(errors) > FAR).sum()) if np.isfinite(errors).all() else np.nan


def chi_square(score: np.ndarray | pd.Series) -> float:
    """The sum of the squared normal scores, with a degree of freedom a cell if these were independent."""
    return float(np.square(score).sum())


def p_value(chi_square: float, cells: int) -> float:
    """Probability of a larger `chi_square`, if the cells were independent."""
    from scipy import special

    return float(special.gammaincc(cells / 2, chi_square / 2))


def differences(cells: pd.DataFrame) -> pd.Series:
    """The mean difference of our scores from the printed ones over all cells, one value a seed
    (`_widened`)."""
    printed, _ = _printed(cells)
    gradient = np.full(len(printed), -1 / len(printed))
    return _widened((cells - printed).mean(axis=1, skipna=False), cells, gradient)


def slopes(cells: pd.DataFrame) -> pd.Series:
    """The slope of the regression of our scores on the printed ones over all cells, a number a seed
    (`_widened`)."""
    printed, _ = _printed(cells)
    deviations = printed - printed.mean()
    square = deviations @ deviations
    by_seed = cells @ deviations / square
    means = cells.mean().to_numpy()
    gradient = (means - means.mean() - 2 * by_seed.mean() * deviations) / square
    return _widened(by_seed, cells, gradient)


def unexplained(cells: pd.DataFrame) -> pd.Series:
    """The mean square, over the cells, of the difference from print that repetitions do not explain: the
    square of the difference less that of its standard error. Jackknife pseudo-values, one a seed
    (`_widened`)."""
    means, spreads = _printed(cells)

    def estimate(ours: np.ndarray) -> float:
        noise = ours.var(0, ddof=1) / len(ours) + spreads**2 / REPETITIONS
        return float(np.mean((ours.mean(0) - means) ** 2 - noise))

    values = pd.Series(jackknife(estimate, cells.to_numpy(dtype=float)), cells.index)
    return _widened(values, cells, -2 * (cells.mean().to_numpy() - means) / len(means))


def _widened(values: pd.Series, cells: pd.DataFrame, gradient: np.ndarray) -> pd.Series:
    """A quantity's values, one a seed, moved away from their mean until its standard error holds the error of
    the printed means too.

    Three repetitions err more than our seeds do, and seeds alone do not show it. To first order the printed
    error changes the quantity by its `gradient` by the printed means. The repetitions are taken to have the
    printed spreads, and the correlations between cells that our seeds have.
    """
    _, spreads = _printed(cells)
    own = values.var(ddof=1) / len(values)
    if not own > 0:
        return values
    ours = cells.to_numpy(dtype=float)
    scores = (ours - ours.mean(0)) / np.where(np.ptp(ours, 0) > 0, ours.std(0, ddof=1), 1)
    theirs = (scores @ (gradient * spreads)).var(ddof=1) / REPETITIONS
    return values.mean() + (values - values.mean()) * np.sqrt(1 + theirs / own)
