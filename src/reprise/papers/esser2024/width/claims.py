"""What the paper says of Figure 2, Theorem 1 and Conjecture 1."""

import pandas as pd

from reprise.evidence.claims import Claim, Measure, ordering
from reprise.evidence.measures import Source, applied, last, rows, wide
from reprise.papers.esser2024.width.slopes import slope_of_means
from reprise.study.experiment import Tables

UNIT = "slope of log difference over log width"
WHEN = {"init": "at initialisation", "end": "after the last epoch"}
NAMES = {
    "tanh": "tanh",
    "relu": "ReLU",
    "sigmoid": "sigmoid",
    "centred_sigmoid": "sigmoid less its value at 0",
    "scaled_sigmoid": "sigmoid less its value at 0, scaled to slope 1 there",
}
SOURCE = "Figure 2, Section 4, Numerical Evaluation"


def fit(source: Source, name: str, **where: object) -> Measure:
    """The slope of a column's logarithm, by the mean over seeds, against that of the width."""
    return applied(slope_of_means, wide(source, name, "width", **where))


def slope(activation: str, when: str, name: str = "difference", reduction: str = "mean") -> Measure:
    """Of the outputs' difference from the linear twin's (`relative`: to its norm) against width."""
    epoch = 0 if when == "init" else last
    return fit("differences", name, activation=activation, reduction=reduction, epoch=epoch)


def slope_of_largest(activation: str) -> Measure:
    """Of the largest difference over the recorded epochs after the start."""

    def over_epochs(tables: Tables) -> pd.DataFrame:
        looks = rows(tables["differences"], activation=activation, reduction="mean")
        later = looks[looks["epoch"] > 0].groupby(["seed", "width"])["difference"].max()
        return later.reset_index()

    return fit(over_epochs, "difference")


def slope_of_bound(activation: str) -> Measure:
    """Of Theorem 1's bound, whatever its K."""
    return fit("bounds", "bound", activation=activation)


def _vanishes(activation: str, when: str, column: str = "difference", reduction: str = "mean") -> Claim:
    what = "relative-slope" if column == "relative" else "slope"
    named = {"difference": "", "relative": ", relative to the linear output,"}[column]
    loss = " (summed loss)" if reduction == "sum" else ""
    return ordering(
        f"esser2024/fig2/{_word(activation)}-{what}-{when}{'-sum' if reduction == 'sum' else ''}",
        f"{NAMES[activation][0].upper()}{NAMES[activation][1:]}: the difference between nonlinear and linear "
        f"output{named} falls with width {WHEN[when]}{loss}.",
        source=SOURCE,
        measure=slope(activation, when, column, reduction),
        below=0.0,
        unit=UNIT,
    )


def _sigmoid_grows(when: str, reduction: str = "mean") -> Claim:
    return ordering(
        f"esser2024/fig2/sigmoid-slope-{when}{'-sum' if reduction == 'sum' else ''}",
        f"Sigmoid: the difference between nonlinear and linear output grows with width {WHEN[when]}"
        f"{' (summed loss)' if reduction == 'sum' else ''}.",
        source=SOURCE,
        measure=slope("sigmoid", when, reduction=reduction),
        above=0.0,
        unit=UNIT,
    )


def _slower(when: str) -> Claim:
    return ordering(
        f"esser2024/fig2/relu-slower-than-tanh-{when}",
        f"The difference falls more slowly with width for ReLU than for tanh {WHEN[when]}.",
        source=SOURCE,
        measure=slope("relu", when),
        above=slope("tanh", when),
        unit=UNIT,
    )


def _theorem(activation: str) -> Claim:
    return ordering(
        f"esser2024/thm1/{_word(activation)}-rate",
        f"{NAMES[activation][0].upper()}{NAMES[activation][1:]}: at initialisation the difference falls with "
        "width at least as fast as √(log⁴ h / h) does over these widths.",
        source="Theorem 1",
        measure=slope(activation, "init"),
        below=slope_of_bound(activation),
        unit=UNIT,
    )


def _conjecture(activation: str) -> Claim:
    return ordering(
        f"esser2024/conj1/{_word(activation)}",
        f"{NAMES[activation][0].upper()}{NAMES[activation][1:]}: the largest difference over all of training "
        "falls with width.",
        source="Conjecture 1",
        measure=slope_of_largest(activation),
        below=0.0,
        unit=UNIT,
    )


def _word(activation: str) -> str:
    return activation.replace("_", "-")


COVERED = ("tanh", "scaled_sigmoid")
"""The activations that meet Theorem 1's conditions φ(0) = 0 and φ'(0) = 1."""

CLAIMS = [
    *(_vanishes(name, when) for name in ("tanh", "relu") for when in WHEN),
    *(_sigmoid_grows(when) for when in WHEN),
    *(_vanishes(name, "end", reduction="sum") for name in ("tanh", "relu")),
    _sigmoid_grows("end", "sum"),
    *(_vanishes(name, when, "relative") for name in ("tanh", "relu") for when in WHEN),
    *(_slower(when) for when in WHEN),
    *(_vanishes(name, when) for name in ("centred_sigmoid", "scaled_sigmoid") for when in WHEN),
    *(_theorem(name) for name in COVERED),
    *(_conjecture(name) for name in COVERED),
]
