"""What Section 5.1 and Figure 2 say of the two losses, and the corrected theory of the same runs."""

from typing import Literal

import numpy as np
import pandas as pd

from reprise.evidence.claims import Claim, Measure, count, ordering, value
from reprise.evidence.measures import applied, column, each_seed, ratio, rows
from reprise.papers.skean2024.linear_regime.params import SHOWN, VIEWS
from reprise.papers.skean2024.linear_views import closed_form
from reprise.study.experiment import Tables

Run = Literal["frossl", "barlow", "barlow-own"]

WORDS = {
    "same": "both views the image itself",
    "noise": "views with noise",
    "crops": "weak crops and jitter",
    "strong": "the authors' augmentation",
}
LOSS = {"frossl": "Eq. 8", "barlow": "Barlow Twins' variant"}
LONGEST: dict[Run, str] = {"frossl": LOSS["frossl"], "barlow-own": LOSS["barlow"]}
"""The run of each loss that goes farthest in t."""
THRESHOLD = 0.25
"""An eigenvalue has risen here: at half the least end value under Eq. 8, (1 + ρ)/2 with ρ = 0."""
CONVERGED = 0.01
"""Share of its fall that a converged loss has left."""
FIGURE = "Section 5.1, Figure 2"
THEORY = "Section 5.1, Appendix D, corrected"


def course(tables: Tables, table: str, column: str, views: str, run: Run, **which: int) -> pd.DataFrame:
    """Rows in the order of the steps with `time`, `step` and `y`, and their `seed`."""
    records = rows(tables[table], views=views, run=run, **which)
    return records.sort_values(["seed", "step"]).rename(columns={column: "y"})


def crossing(times: np.ndarray, y: np.ndarray, level: float) -> float:
    """When a growing quantity first reaches the level, its logarithm taken as linear between records; the
    last time, which is then a lower bound, where it does not."""
    (reached,) = np.nonzero(y >= level)
    if not len(reached) or not np.isfinite(y).all():
        return float(times[-1]) if np.isfinite(y).all() else float("nan")
    k = reached[0]
    around = slice(k - 1, k + 1)
    return float(times[0] if k == 0 else np.interp(np.log(level), np.log(y[around]), times[around]))


def rise(views: str, run: Run, clock: str = "time", *, half: bool = False) -> Measure:
    """When the last shown eigenvalue reaches the threshold, or half its end value."""

    def measure(tables: Tables) -> pd.Series:
        paths = course(tables, "spectrum", "eigenvalue", views, run, index=SHOWN)
        return pd.Series(
            {
                seed: crossing(path[clock].to_numpy(), y, y[-1] / 2 if half else THRESHOLD)
                for seed, path in paths.groupby("seed")
                for y in [path["y"].to_numpy()]
            },
            dtype=float,
        )

    return measure


def risen(views: str, run: Run) -> Measure:
    """Whether it reaches the threshold within the horizon."""
    eigenvalue = column("spectrum", "eigenvalue", views=views, run=run, index=SHOWN)
    return applied(lambda highest: highest >= THRESHOLD, each_seed("max", eigenvalue))


def rise_beside(views: str, run: Run, other: Run, clock: str) -> Measure:
    """When it reaches the threshold in one run, unless it is unknown whether that is before it does in the
    other: where neither comes to it, or one ends before the other has."""

    def measure(tables: Tables) -> pd.Series:
        ours, theirs = (rise(views, each, clock)(tables) for each in (run, other))
        we, they = (risen(views, each)(tables) for each in (run, other))
        return ours.where(we & they | we & (ours < theirs) | they & (theirs < ours))

    return measure


def convergence(views: str, run: Run) -> Measure:
    """When the loss has all but a hundredth of its fall behind it; the end, which is then a lower bound,
    where that is in the last tenth of the time."""

    def measure(tables: Tables) -> pd.Series:
        paths = course(tables, "loss", "loss", views, run).groupby("seed")
        return pd.Series({seed: _converged(path) for seed, path in paths}, dtype=float)

    return measure


def _converged(path: pd.DataFrame) -> float:
    y, time = path["y"].to_numpy(), path["time"].to_numpy()
    if not np.isfinite(y).all():
        return float("nan")
    converged = time[np.argmax(y - y[-1] <= CONVERGED * (y[0] - y[-1]))]
    return float(converged if converged <= 0.9 * time[-1] else time[-1])


def convergence_within(views: str, run: Run) -> Measure:
    """No number where it is only a bound."""
    ends = each_seed("max", column("loss", "time", views=views, run=run))
    return applied(lambda time, end: time.where(time < end), convergence(views, run), ends)


def predicted_rise(views: str, run: Run) -> Measure:
    """When the closed form has the last shown eigenvalue at the threshold; no number where descent does not
    come to it."""

    def measure(tables: Tables) -> pd.Series:
        modes, paths = (
            dict(iter(rows(tables[name], views=views, run=run).groupby("seed")))
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
        for seed, spectrum in course(tables, "spectrum", "eigenvalue", "same", run).groupby("seed"):
            paths = [path["y"].to_numpy() for _, path in spectrum.groupby("index")]
            time = np.unique(spectrum["time"])
            half, tenth = (
                np.array([crossing(time, y, share * y[-1]) for y in paths]) for share in (0.5, 0.1)
            )
            finite = np.isfinite([half, tenth]).all()
            counts[seed] = float((half[:-1] < tenth[1:]).sum()) if finite else float("nan")
        return pd.Series(counts, dtype=float)

    return measure


def _fig2(name: str) -> str:
    return f"skean2024/fig2/{name}"


def _of_views(views: str) -> list[Claim]:
    where = WORDS[views]
    return [
        ordering(
            _fig2(f"quicker-{views}"),
            f"At the same learning rate the 10th eigenvalue of view 1's covariance reaches {THRESHOLD} "
            f"earlier under Eq. 8 than under {LOSS['barlow']} ({where}).",
            source=FIGURE,
            measure=rise_beside(views, "frossl", "barlow", "time"),
            below=rise(views, "barlow"),
            unit="t = learning rate * step",
        ),
        ordering(
            _fig2(f"quicker-own-rate-{views}"),
            f"So it does in steps where each loss has its own largest stable learning rate ({where}).",
            source=FIGURE,
            measure=rise_beside(views, "frossl", "barlow-own", "step"),
            below=rise(views, "barlow-own", "step"),
            unit="steps",
        ),
        ordering(
            _fig2(f"loss-quicker-{views}"),
            f"At the same learning rate the loss of Eq. 8 has converged earlier ({where}).",
            source=FIGURE,
            measure=convergence_within(views, "frossl"),
            below=convergence(views, "barlow"),
            unit="t = learning rate * step",
        ),
        *(
            value(
                _fig2(f"closed-form-{run.removesuffix('-own')}-{views}"),
                f"The corrected closed form says when the 10th eigenvalue rises under {words} from small "
                f"random layers ({where}).",
                source=THEORY,
                quantity="singular value",
                measure=rise(views, run),
                published=predicted_rise(views, run),
                unit="t = learning rate * step",
            )
            for run, words in LONGEST.items()
        ),
        *(
            value(
                _fig2(f"sharpness-{run}-{views}"),
                f"The Hessian of {words} at the end of training has the largest eigenvalue {formula}, whose "
                f"inverse doubled is the largest stable learning rate ({where}).",
                source=THEORY,
                quantity="singular value",
                measure=column("runs", "sharpness", views=views, run=run),
                published=column("runs", "predicted_sharpness", views=views, run=run),
                unit="sharpness",
            )
            for (run, words), formula in zip(LOSS.items(), ("4 λ1 + 8 c1", "4 c1"), strict=True)
        ),
    ]


CLAIMS = [
    *(claim for views in VIEWS for claim in _of_views(views)),
    *(
        value(
            _fig2(f"rise-ratio-{views}{'-views' if views == 'same' else ''}"),
            f"Under {LOSS['barlow']} the 10th eigenvalue takes 1 + 1/ρ times as long to half its end value "
            f"as under Eq. 8{': twice' if views == 'same' else ''} ({WORDS[views]}).",
            source=THEORY,
            quantity="singular value",
            measure=rise_ratio(views),
            published=predicted_ratio(views),
            unit="ratio of times",
        )
        for views in ("same", "noise", "crops")
    ),
    *(
        count(
            f"skean2024/sec51/stepwise-{run}",
            f"Under {words} one eigendirection is learned at a time: each of the first nine has reached half "
            "its end value before the next has a tenth of its own (our reading).",
            source="Section 5.1",
            measure=steps_apart(run),  # type: ignore[arg-type]
            at_least=SHOWN - 1,
            unit="eigenvalues",
        )
        for run, words in LOSS.items()
    ),
]
