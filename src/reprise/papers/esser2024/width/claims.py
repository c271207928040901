"""What the paper says of Figure 2, Theorem 1 and Conjecture 1."""

import pandas as pd

from reprise.evidence.claims import Claim, Measure, ordering
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


def slope(activation: str, when: str, column: str = "difference", reduction: str = "mean") -> Measure:
    """Of the outputs' difference from the linear twin's (`relative`: to its norm) against width."""

    def measure(tables: Tables) -> pd.Series:
        rows = _rows(tables, activation, reduction)
        epoch = 0 if when == "init" else rows["epoch"].max()
        return _fit(rows[rows["epoch"] == epoch], column)

    return measure


def slope_of_largest(activation: str, reduction: str = "mean") -> Measure:
    """Of the largest difference over the recorded epochs after the start."""

    def measure(tables: Tables) -> pd.Series:
        rows = _rows(tables, activation, reduction)
        later = rows[rows["epoch"] > 0].groupby(["seed", "width"])["difference"].max()
        return _fit(later.reset_index(), "difference")

    return measure


def slope_of_bound(activation: str) -> Measure:
    """Of Theorem 1's bound, whatever its K."""

    def measure(tables: Tables) -> pd.Series:
        table = tables["bounds"]
        return _fit(table[table["activation"] == activation], "bound")

    return measure


def _rows(tables: Tables, activation: str, reduction: str) -> pd.DataFrame:
    table = tables["differences"]
    return table[(table["activation"] == activation) & (table["reduction"] == reduction)]


def _fit(rows: pd.DataFrame, column: str) -> pd.Series:
    return slope_of_means(rows.pivot(index="seed", columns="width", values=column))


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
