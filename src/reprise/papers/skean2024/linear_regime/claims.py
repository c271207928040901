"""Claims of Section 5.1 and Figure 2 about the two losses, and the corrected theory of the same runs."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import Comparison, Measure, below, near
from reprise.evidence.edits import swapped, times
from reprise.evidence.measures import applied, column, each_seed, interned, ratio, rows, selected
from reprise.papers.skean2024.linear_regime.experiment import READ, SHOWN
from reprise.papers.skean2024.linear_views import closed_form

Run = Literal["frossl", "barlow", "barlow-own"]

Which = str | None
"""One of the ways to make views, or None for those that claims read."""
LOSS: dict[Run, str] = {"frossl": "FroSSL's variant (Eq. 8)", "barlow": "Barlow Twins' variant"}
THRESHOLD = 0.25
"""An eigenvalue has risen here: at half the least end value under Eq. 8, (1 + ρ)/2 with views of correlation
ρ = 0."""
COMPARED = Quotation(
    "Shown in Figure 2 is a comparison between Equation (10) and the Barlow Twins variant",
    at="Figure 2, Section 5.1",
)
FASTER = Quotation("theoretical and empirical support that this faster convergence is due to", at="Abstract")
THEORY = "Section 5.1; Appendix D, corrected"
CENSORED = "t = learning rate * step; at least the end of the run where it is not reached"
EXCHANGED = swapped("spectrum", "run", "frossl", "barlow")


def of_views(table: pd.DataFrame, views: Which) -> pd.DataFrame:
    """The rows of some views. Claims read the authors' (`READ`), or in a setting without them its own."""
    if views is None:
        views = READ if table["views"].eq(READ).any() else table["views"].iloc[0]
    return table[table["views"] == views]


@interned
def viewed(table: str, views: Which) -> Callable[[Tables], pd.DataFrame]:
    """The rows of some views (`of_views`) in an experiment's table, by its name."""
    return lambda tables: of_views(tables[table], views)


def crossing(times: np.ndarray, y: np.ndarray, level: float) -> float:
    """Time at which a growing quantity first reaches the level, its logarithm taken as linear between
    records; where it does not, the last time, a lower bound; NaN if a value is not finite."""
    (reached,) = np.nonzero(y >= level)
    if not len(reached) or not np.isfinite(y).all():
        return float(times[-1]) if np.isfinite(y).all() else float("nan")
    k = reached[0]
    around = slice(k - 1, k + 1)
    return float(times[0] if k == 0 else np.interp(np.log(level), np.log(y[around]), times[around]))


@interned
def rise(views: Which, run: Run, clock: str = "time", *, half: bool = False) -> Measure:
    """Time at which the last shown eigenvalue reaches the threshold, or half its end value."""
    highest = selected(viewed("spectrum", views), run=run, index=SHOWN)

    def crossed(path: pd.DataFrame) -> float:
        y = path["eigenvalue"].to_numpy()
        return crossing(path[clock].to_numpy(), y, y[-1] / 2 if half else THRESHOLD)

    def measure(tables: Tables) -> pd.Series:
        paths = highest(tables).sort_values("step").groupby("seed")
        return pd.Series({seed: crossed(path) for seed, path in paths}, dtype=float)

    return measure


def risen(views: Which, run: Run) -> Measure:
    """Tells if the last shown eigenvalue reaches the threshold within the horizon."""
    eigenvalue = column(viewed("spectrum", views), "eigenvalue", run=run, index=SHOWN)
    return applied(lambda highest: highest >= THRESHOLD, each_seed("max", eigenvalue))


def rise_beside(run: Run, other: Run) -> Measure:
    """Time at which the last shown eigenvalue reaches the threshold in one run; NaN where the order of two
    runs is unknown, since neither reaches it, or one ends before the other does."""

    def measure(tables: Tables) -> pd.Series:
        first, second = (rise(None, each)(tables) for each in (run, other))
        one, both = (risen(None, each)(tables) for each in (run, other))
        return first.where(one & both | one & (first < second) | both & (second < first))

    return measure


def eigenvalues(modes: pd.DataFrame, run: Run, time: np.ndarray) -> np.ndarray:
    """λ s² of every mode by the closed form, the largest first. Shape [time, mode]."""
    modes = modes.sort_values("index")
    variance, cross, start = (modes[name].to_numpy() for name in ("variance", "cross", "start"))
    s2 = closed_form(run.removesuffix("-own"), variance, cross, start, time)
    return -np.sort(-variance * s2, axis=1)


def rise_ratio(views: str) -> Measure:
    """Ratio of Barlow's time to half the end value to that under Eq. 8, at the same learning rate."""
    return ratio(rise(views, "barlow", half=True), rise(views, "frossl", half=True))


def predicted_ratio(views: str) -> Measure:
    """Ratio of the growth rates of each loss's last shown mode, Eq. 8's to Barlow's: 1 + 1/ρ where these are
    the same mode."""

    def measure(tables: Tables) -> pd.Series:
        modes = rows(tables["modes"], views=views, index=SHOWN).set_index("seed")
        ours, theirs = (rows(modes, run=run) for run in ("frossl", "barlow"))
        return (ours["variance"] + ours["cross"]) / theirs["cross"]

    return measure


def sharpness(name: str, run: Run) -> Measure:
    """Sharpness, as measured at the end or as predicted."""
    return column(viewed("runs", None), name, run=run)


@claim(
    "skean2024/fig2/quicker",
    f"""At the same learning rate the {SHOWN}th eigenvalue of view 1's covariance reaches {THRESHOLD} earlier
    under {LOSS["frossl"]} than under {LOSS["barlow"]}.""",
    quotes=(COMPARED, FASTER),
    quantifier="generic",
    word="faster convergence",
    reading="Section 5.1 says 'converges much quicker': by any amount, and told by the last eigenvalue that "
    f"Figure 2 shows, at {THRESHOLD} (ours), since the losses are not at rest when the runs end; "
    "where Barlow Twins' variant has not reached it by then, the end stands for a later time; Eqs. 8, 10 and "
    "11 are one loss",
    broken_by=EXCHANGED,
)
def quicker() -> Comparison:
    return below(rise_beside("frossl", "barlow"), rise(None, "barlow"), unit=CENSORED)


@claim(
    "skean2024/fig2/sharpness",
    f"""At the end of training, the Hessian for two linear layers has the largest eigenvalue 4 λ1 + 8 c1 under
    {LOSS["frossl"]} and 4 c1 under {LOSS["barlow"]}, with the views' variance λ1 and covariance c1 in the
    leading mode.""",
    at=THEORY,
    form="ours",
    word="has the largest eigenvalue",
    reading="ours: it sets the learning rates of our runs, of which the paper states none",
    broken_by=times("runs", "sharpness", 2.0),
)
def hessian() -> Cells:
    for run, words in LOSS.items():
        found, predicted = sharpness("sharpness", run), sharpness("predicted_sharpness", run)
        yield words, near(found, predicted, quantity="singular value", unit="sharpness")


@claim(
    "skean2024/fig2/rise-ratio",
    f"""Under {LOSS["barlow"]} the {SHOWN}th eigenvalue takes 1 + 1/ρ times as long to half its end value as
    under {LOSS["frossl"]}, ρ being the views' correlation in its mode: twice where both are the image
    itself.""",
    at=THEORY,
    form="ours",
    word="times as long",
    reading="ours: it explains Figure 2, in which the paper shows the curves alone",
    broken_by=EXCHANGED,
)
def times_as_long() -> Cells:
    for views in ("same", "noise", "crops"):
        yield (
            views,
            near(rise_ratio(views), predicted_ratio(views), quantity="singular value", unit="ratio of times"),
        )
