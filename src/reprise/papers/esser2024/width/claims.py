"""What the paper says of Figure 2, Theorem 1 and Conjecture 1."""

from collections.abc import Callable

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim, Quantifier, ours, single
from reprise.evidence.claims import for_all
from reprise.evidence.comparison import Comparison, Measure, above, below
from reprise.evidence.measures import Source, applied, last, rows, wide
from reprise.papers.esser2024.width.slopes import slope_of_means

UNIT = "slope of log difference over log width"
WHEN = {"init": "at initialisation", "end": "after the last epoch"}
NAMES = {
    "tanh": "tanh",
    "relu": "ReLU",
    "sigmoid": "sigmoid",
    "centred_sigmoid": "sigmoid less its value at 0",
    "scaled_sigmoid": "sigmoid less its value at 0, scaled to slope 1 there",
}
DECIDING = {"tanh": "goes to zero", "relu": "still is consistent with", "sigmoid": "increases"}
"""The paper's words on an activation's curves."""
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


def _falls(measure: Measure) -> Comparison:
    return below(measure, 0.0, unit=UNIT, jackknife=True)


def _grows(measure: Measure) -> Comparison:
    return above(measure, 0.0, unit=UNIT, jackknife=True)


RARE = (
    "after the last epoch the interval holds the slope in fewer than half of such sets of starts: rare runs "
    "that end opposite make it steeper, and most sets have none"
)


def _at_both_ends(cell: Callable[[str], Comparison]) -> dict[str, Comparison]:
    """The cells of a sentence about initialisation and the last epoch."""
    return {words: cell(when) for when, words in WHEN.items()}


def _vanishes(activation: str, *, reading: str, quantifier: Quantifier, word: str) -> Claim:
    return for_all(
        f"esser2024/fig2/{_word(activation)}-slope",
        f"{_named(activation)}: the difference between nonlinear and linear output falls with width, at "
        "initialisation and after the last epoch.",
        _at_both_ends(lambda when: _falls(slope(activation, when))),
        source=SOURCE,
        quantifier=quantifier,
        word=word,
        reading=reading,
    )


def _vanishes_relatively(activation: str) -> Claim:
    return for_all(
        f"esser2024/fig2/{_word(activation)}-relative-slope",
        f"{_named(activation)}: relative to the linear output, the difference from it falls with width, at "
        "initialisation and after the last epoch.",
        _at_both_ends(lambda when: _falls(slope(activation, when, "relative"))),
        source=SOURCE,
        quantifier="generic",
        word=DECIDING[activation],
        reading="ours: relative to the linear output, which itself falls with width at initialisation",
    )


def _vanishes_up_to_sign(activation: str) -> Claim:
    return single(
        f"esser2024/fig2/{_word(activation)}-slope-up-to-sign",
        f"{_named(activation)}: up to its sign, the nonlinear output's difference from the linear one falls "
        "with width after the last epoch.",
        _falls(slope(activation, "end", "up_to_sign")),
        source="our remark on Figure 2",
        quantifier="generic",
        word="falls with width",
        form="ours",
        reading="up to the sign, ours; the loss is a mean over anchors, where Eq. 1 has their sum",
        looked="added after a look at the seeds on which the slope at the end hangs",
    )


def _with_summed_loss(activation: str, verb: str, cell: Callable[[Measure], Comparison]) -> Claim:
    return single(
        f"esser2024/fig2/{activation}-slope-end-sum",
        f"{_named(activation)}: the difference between nonlinear and linear output {verb} with width after "
        "the last epoch (summed loss).",
        cell(slope(activation, "end", reduction="sum")),
        source=SOURCE,
        quantifier="generic",
        word=DECIDING[activation],
        reading=SUM,
    )


def _word(activation: str) -> str:
    return activation.replace("_", "-")


def _named(activation: str) -> str:
    return f"{NAMES[activation][0].upper()}{NAMES[activation][1:]}"


COVERED = ("tanh", "scaled_sigmoid")
"""The activations that meet Theorem 1's conditions φ(0) = 0 and φ'(0) = 1."""
MEAN = (
    "the loss is a mean over anchors, where Eq. 1 has their sum; of runs whose two networks end at opposite "
    "limits, the whole difference counts"
)
SUM = "the loss is a sum over anchors, as in Eq. 1"

CLAIMS = [
    _vanishes("tanh", reading=f"{MEAN}; {RARE}", quantifier="generic", word=DECIDING["tanh"]),
    _vanishes("relu", reading=MEAN, quantifier="generic", word=DECIDING["relu"]),
    *(_vanishes_up_to_sign(name) for name in ("tanh", "relu")),
    for_all(
        "esser2024/fig2/sigmoid-slope",
        "Sigmoid: the difference between nonlinear and linear output grows with width, at initialisation and "
        "after the last epoch.",
        _at_both_ends(lambda when: _grows(slope("sigmoid", when))),
        source=SOURCE,
        quantifier="generic",
        word=DECIDING["sigmoid"],
        reading=MEAN,
    ),
    *(_with_summed_loss(name, "falls", _falls) for name in ("tanh", "relu")),
    _with_summed_loss("sigmoid", "grows", _grows),
    *(_vanishes_relatively(name) for name in ("tanh", "relu")),
    for_all(
        "esser2024/fig2/relu-slower-than-tanh",
        "The difference between nonlinear and linear output falls with width for ReLU as for tanh, "
        "but more slowly, at initialisation and after the last epoch.",
        {
            f"{name}, {words}": cell
            for when, words in WHEN.items()
            for name, cell in {
                "falls": _falls(slope("relu", when)),
                "more slowly": above(slope("relu", when), slope("tanh", when), unit=UNIT, jackknife=True),
            }.items()
        },
        source=SOURCE,
        quantifier="generic",
        word="slower convergence",
        reading=MEAN,
    ),
    *(
        ours(_vanishes(name, reading=MEAN, quantifier="universal", word="and after the last epoch"))
        for name in ("centred_sigmoid", "scaled_sigmoid")
    ),
    for_all(
        "esser2024/thm1/rate",
        "With an activation that meets Theorem 1's conditions the difference between nonlinear and "
        "linear output falls with width, at initialisation, at least as fast as √(log⁴ h / h) does "
        "over these widths.",
        {
            NAMES[name]: below(slope(name, "init"), slope_of_bound(name), unit=UNIT, jackknife=True)
            for name in COVERED
        },
        source="Theorem 1",
        word="≤",
    ),
    for_all(
        "esser2024/conj1/largest",
        "With an activation that meets Theorem 1's conditions the largest difference between "
        "nonlinear and linear output over all of training falls with width.",
        {NAMES[name]: _falls(slope_of_largest(name)) for name in COVERED},
        source="Conjecture 1",
        word="∀",
        reading=MEAN,
    ),
]
