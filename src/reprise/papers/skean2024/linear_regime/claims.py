"""What Section 5.1 and Figure 2 say of the two losses, and the corrected theory of the same runs."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours
from reprise.evidence.claims import for_all, ordering
from reprise.evidence.comparison import Measure, at_least, near
from reprise.evidence.measures import applied, column, each_seed, interned, ratio, rows, selected
from reprise.papers.skean2024.linear_regime.experiment import READ, SHOWN
from reprise.papers.skean2024.linear_views import closed_form

Run = Literal["frossl", "barlow", "barlow-own"]

Which = str | None
"""One of the ways to make views, or None for those that claims read."""
LOSS: dict[Run, str] = {"frossl": "Eq. 8", "barlow": "Barlow Twins' variant"}
LONGEST: dict[Run, str] = {"frossl": LOSS["frossl"], "barlow-own": LOSS["barlow"]}
"""The run of each loss that goes farthest in t."""
THRESHOLD = 0.25
"""An eigenvalue has risen here: at half the least end value under Eq. 8, (1 + ρ)/2 with ρ = 0."""
CONVERGED = 0.01
"""Share of its fall that a converged loss has left."""
FIGURE = "Section 5.1, Figure 2"
THEORY = "Section 5.1, Appendix D, corrected"


def of_views(table: pd.DataFrame, views: Which) -> pd.DataFrame:
    """The rows of some views. Claims read the authors' (`READ`), or in a setting without them its own."""
    if views is None:
        views = READ if table["views"].eq(READ).any() else table["views"].iloc[0]
    return table[table["views"] == views]


@interned
def viewed(table: str, views: Which) -> Callable[[Tables], pd.DataFrame]:
    """`of_views`, of an experiment's table by name."""
    return lambda tables: of_views(tables[table], views)


@interned
def course(table: str, column: str, views: Which, run: Run, **which: int) -> Callable[[Tables], pd.DataFrame]:
    """Rows in the order of the steps with `time`, `step` and `y`, and their `seed`."""
    records = selected(viewed(table, views), run=run, **which)
    return lambda tables: records(tables).sort_values(["seed", "step"]).rename(columns={column: "y"})


def crossing(times: np.ndarray, y: np.ndarray, level: float) -> float:
    """When a growing quantity first reaches the level, its logarithm taken as linear between records; the
    last time, which is then a lower bound, where it does not."""
    (reached,) = np.nonzero(y >= level)
    if not len(reached) or not np.isfinite(y).all():
        return float(times[-1]) if np.isfinite(y).all() else float("nan")
    k = reached[0]
    around = slice(k - 1, k + 1)
    return float(times[0] if k == 0 else np.interp(np.log(level), np.log(y[around]), times[around]))


@interned
def rise(views: Which, run: Run, clock: str = "time", *, half: bool = False) -> Measure:
    """When the last shown eigenvalue reaches the threshold, or half its end value."""

    def measure(tables: Tables) -> pd.Series:
        paths = course("spectrum", "eigenvalue", views, run, index=SHOWN)(tables)
        return pd.Series(
            {
                seed: crossing(path[clock].to_numpy(), y, y[-1] / 2 if half else THRESHOLD)
                for seed, path in paths.groupby("seed")
                for y in [path["y"].to_numpy()]
            },
            dtype=float,
        )

    return measure


def risen(views: Which, run: Run) -> Measure:
    """Whether it reaches the threshold within the horizon."""
    eigenvalue = column(viewed("spectrum", views), "eigenvalue", run=run, index=SHOWN)
    return applied(lambda highest: highest >= THRESHOLD, each_seed("max", eigenvalue))


def rise_beside(run: Run, other: Run, clock: str) -> Measure:
    """When it reaches the threshold in one run, unless it is unknown whether that is before it does in the
    other: where neither comes to it, or one ends before the other has."""

    def measure(tables: Tables) -> pd.Series:
        first, second = (rise(None, each, clock)(tables) for each in (run, other))
        one, both = (risen(None, each)(tables) for each in (run, other))
        return first.where(one & both | one & (first < second) | both & (second < first))

    return measure


def convergence(run: Run) -> Measure:
    """When the loss has all but a hundredth of its fall behind it; the end, which is then a lower bound,
    where that is in the last tenth of the time."""

    def measure(tables: Tables) -> pd.Series:
        paths = course("loss", "loss", None, run)(tables).groupby("seed")
        return pd.Series({seed: _converged(path) for seed, path in paths}, dtype=float)

    return measure


def _converged(path: pd.DataFrame) -> float:
    y, time = path["y"].to_numpy(), path["time"].to_numpy()
    if not np.isfinite(y).all():
        return float("nan")
    converged = time[np.argmax(y - y[-1] <= CONVERGED * (y[0] - y[-1]))]
    return float(converged if converged <= 0.9 * time[-1] else time[-1])


def convergence_within(run: Run) -> Measure:
    """No number where it is only a bound."""
    ends = each_seed("max", column(viewed("loss", None), "time", run=run))
    return applied(lambda time, end: time.where(time < end), convergence(run), ends)


def predicted_rise(run: Run) -> Measure:
    """When the closed form has the last shown eigenvalue at the threshold; no number where descent does not
    come to it."""

    def measure(tables: Tables) -> pd.Series:
        modes, paths = (
            dict(iter(selected(viewed(name, None), run=run)(tables).groupby("seed")))
            for name in ("modes", "spectrum")
        )
        times = {}
        for seed, path in paths.items():
            time = np.unique(path["time"])
            least = eigenvalues(modes[seed], run, time)[:, -1]
            reached = path.loc[path["index"] == SHOWN, "eigenvalue"].max() >= THRESHOLD
            times[seed] = crossing(time, least, THRESHOLD) if reached else float("nan")
        return pd.Series(times, dtype=float)

    return measure


def eigenvalues(modes: pd.DataFrame, run: Run, time: np.ndarray) -> np.ndarray:
    """λ s² of every mode by the closed form, the largest first. Shape [time, mode]."""
    modes = modes.sort_values("index")
    variance, cross, start = (modes[name].to_numpy() for name in ("variance", "cross", "start"))
    s2 = closed_form(run.removesuffix("-own"), variance, cross, start, time)
    return -np.sort(-variance * s2, axis=1)


def rise_ratio(views: str) -> Measure:
    """Of Barlow's time to half the end value to that under Eq. 8, at the same learning rate."""
    return ratio(rise(views, "barlow", half=True), rise(views, "frossl", half=True))


def predicted_ratio(views: str) -> Measure:
    """Of the rates at which each loss's last shown mode grows: 1 + 1/ρ where these are the same mode."""

    def measure(tables: Tables) -> pd.Series:
        modes = rows(tables["modes"], views=views, index=SHOWN).set_index("seed")
        ours, theirs = (rows(modes, run=run) for run in ("frossl", "barlow"))
        return (ours["variance"] + ours["cross"]) / theirs["cross"]

    return measure


def steps_apart(run: Run) -> Measure:
    """How many of the shown eigenvalues reach half their end value before the next has a tenth of its own."""

    def measure(tables: Tables) -> pd.Series:
        counts = {}
        for seed, spectrum in course("spectrum", "eigenvalue", None, run)(tables).groupby("seed"):
            paths = [path["y"].to_numpy() for _, path in spectrum.groupby("index")]
            time = np.unique(spectrum["time"])
            half, tenth = (
                np.array([crossing(time, y, share * y[-1]) for y in paths]) for share in (0.5, 0.1)
            )
            finite = np.isfinite([half, tenth]).all()
            counts[seed] = float((half[:-1] < tenth[1:]).sum()) if finite else float("nan")
        return pd.Series(counts, dtype=float)

    return measure


def _at(table: str, name: str, run: Run) -> Measure:
    return column(viewed(table, None), name, run=run)


QUICKER = {
    "source": FIGURE,
    "unit": "t = learning rate * step",
    "quantifier": "generic",
    "word": "converges much quicker",
}
CLAIMS = [
    ordering(
        "skean2024/fig2/quicker",
        f"At the same learning rate the 10th eigenvalue of view 1's covariance reaches {THRESHOLD} "
        f"earlier under Eq. 8 than under {LOSS['barlow']}.",
        measure=rise_beside("frossl", "barlow", "time"),
        below=rise(None, "barlow"),
        **QUICKER,  # type: ignore[arg-type]
    ),
    ours(
        ordering(
            "skean2024/fig2/quicker-own-rate",
            "Where each loss has its own largest stable learning rate, the 10th eigenvalue of view 1's "
            f"covariance reaches {THRESHOLD} in fewer steps under Eq. 8 than under Barlow Twins' variant.",
            source=FIGURE,
            quantifier="generic",
            word="in fewer steps",
            measure=rise_beside("frossl", "barlow-own", "step"),
            below=rise(None, "barlow-own", "step"),
            unit="steps",
        ),
        "ours: in steps, each loss at its own learning rate; Figure 2 has the learning rate times the step",
    ),
    ordering(
        "skean2024/fig2/loss-quicker",
        "At the same learning rate the loss of Eq. 8 has converged earlier than that of Barlow Twins' "
        "variant.",
        measure=convergence_within("frossl"),
        below=convergence("barlow"),
        reading="converged: all but a hundredth of its fall (ours)",
        **QUICKER,  # type: ignore[arg-type]
    ),
    ours(
        for_all(
            "skean2024/fig2/closed-form",
            "The corrected closed form of Proposition D.1 says when the 10th eigenvalue rises from small "
            "random layers, under Eq. 8 and under Barlow Twins' variant.",
            {
                words: near(
                    rise(None, run),
                    predicted_rise(run),
                    quantity="singular value",
                    unit="t = learning rate * step",
                )
                for run, words in LONGEST.items()
            },
            source=THEORY,
            word="says when",
        )
    ),
    ours(
        for_all(
            "skean2024/fig2/sharpness",
            "At the end of training linear layers the Hessian has the largest eigenvalue 4 λ1 + 8 c1 under "
            f"Eq. 8 and 4 c1 under {LOSS['barlow']}, and two divided by it is the largest stable learning "
            "rate.",
            {
                words: near(
                    _at("runs", "sharpness", run),
                    _at("runs", "predicted_sharpness", run),
                    quantity="singular value",
                    unit="sharpness",
                )
                for run, words in LOSS.items()
            },
            source=THEORY,
            word="has the largest eigenvalue",
        )
    ),
    ours(
        for_all(
            "skean2024/fig2/rise-ratio",
            f"Under {LOSS['barlow']} the 10th eigenvalue takes 1 + 1/ρ times as long to half its end "
            "value as under Eq. 8, twice where both views are the image itself.",
            {
                views: near(
                    rise_ratio(views),
                    predicted_ratio(views),
                    quantity="singular value",
                    unit="ratio of times",
                )
                for views in ("same", "noise", "crops")
            },
            source=THEORY,
            word="times as long",
        )
    ),
    ours(
        for_all(
            "skean2024/sec51/stepwise",
            "Linear layers learn one eigendirection at a time, under Eq. 8 and under Barlow Twins' variant.",
            {words: at_least(steps_apart(run), SHOWN - 1, unit="eigenvalues") for run, words in LOSS.items()},
            source="Section 5.1",
            word="one eigendirection at a time",
            reading="each of the first nine is at half its end before the next is at a tenth (ours)",
        ),
        "ours: the paper reports stepwise behaviour, and does not say how far apart the steps are",
    ),
]
