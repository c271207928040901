"""Claims of Figure 2, Theorem 1 and Conjecture 1."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Change, Quotation, claim
from reprise.evidence.comparison import Comparison, Measure, above, below
from reprise.evidence.edits import times, together
from reprise.evidence.measures import Source, applied, last, rows, wide
from reprise.papers.esser2024.width.slopes import slope_of_means

UNIT = "slope of log difference over log width"
WHEN = {"init": "at initialisation", "end": "after the last epoch"}
COVERED = {"tanh": "tanh", "scaled_sigmoid": "sigmoid less its value at 0, scaled to slope 1 there"}
"""The activations that meet Theorem 1's conditions φ(0) = 0 and φ'(0) = 1, with their names."""
FIGURE = "Figure 2, Section 4"

TO_ZERO = Quotation(
    "we see that with increasing layer size the difference between linear and non-linear goes to zero", FIGURE
)
EVOLUTION = Quotation(
    "the evolution of the infinite width non-linear networks are close to their linear counterparts",
    "Section 1",
)
SLOWER = Quotation("the overall picture still is consistent with tanh but with slower convergence", FIGURE)
OPPOSITE = Quotation(
    "we observe the opposite picture: with increased layer width the difference between linear and "
    "non-linear increases",
    FIGURE,
)
CLOSE = Quotation(
    "at initialization, the dynamics of 2-layer network with nonlinear activation is close to their linear, "
    "width independent counterparts",
    "Section 1",
)
DURING = Quotation(
    "We furthermore conjecture that the same behaviour holds during evolution",
    "Conjecture 1, Section 4",
    hedge="conjecture",
)

WHOLE = "of runs whose two networks end at opposite limits, the whole difference counts"
RARE = (
    "after the last epoch the interval holds the slope in fewer than half of such sets of starts: rare runs "
    "that end opposite decide it, and most sets have none"
)
STARTS = "20 further starts a seed, after results of one start a seed"
SUMMED = f"{STARTS}; that the loss is the sum of Eq. 1, after results of it and of the mean over anchors"


def fit(source: Source, name: str, **where: object) -> Measure:
    """The slope of a column's logarithm, by the mean over seeds, against that of the width."""
    return applied(slope_of_means, wide(source, name, "width", **where))


def slope(activation: str, when: str, name: str = "difference") -> Measure:
    """Slope against width of the outputs' difference from the linear twin's (`relative`: to the twin's
    norm)."""
    if when == "init":
        return fit("starts", name, activation=activation)
    return fit("differences", name, activation=activation, epoch=last)


def slope_of_largest(activation: str) -> Measure:
    """Slope against width of the largest difference over the recorded epochs after the start."""

    def over_epochs(tables: Tables) -> pd.DataFrame:
        looks = rows(tables["differences"], activation=activation)
        later = looks[looks["epoch"] > 0].groupby(["seed", "width"])["difference"].max()
        return later.reset_index()

    return fit(over_epochs, "difference")


def slope_of_bound(activation: str) -> Measure:
    """Slope against width of Theorem 1's bound, whatever its K."""
    return fit("bounds", "bound", activation=activation)


def _falls(measure: Measure) -> Comparison:
    return below(measure, 0.0, unit=UNIT, jackknife=True)


def _at_widest(activation: str, factor: float) -> Change:
    """Multiplies the distance of the widest networks from their linear twins by a factor."""
    start, columns = ("difference", "relative"), ("difference", "relative", "up_to_sign")
    return together(
        times("starts", start, factor, activation=activation, width=last),
        times("differences", columns, factor, activation=activation, width=last),
    )


@claim(
    "esser2024/fig2/tanh-slope",
    """With tanh the difference between nonlinear and linear output falls with width, at initialisation and
    after the last epoch.""",
    quotes=(TO_ZERO, EVOLUTION),
    quantifier="generic",
    word="goes to zero",
    reading=f"{WHOLE}; {RARE}",
    looked=SUMMED,
    broken_by=_at_widest("tanh", 1e9),
)
def tanh_falls() -> Cells:
    for when, words in WHEN.items():
        yield words, _falls(slope("tanh", when))


@claim(
    "esser2024/fig2/tanh-relative-slope",
    """With tanh the difference between nonlinear and linear output falls with width even relative to the
    linear output, at initialisation and after the last epoch.""",
    at=FIGURE,
    form="ours",
    quantifier="generic",
    word="falls with width",
    reading="ours: the paper does not say that at initialisation the linear output falls with width itself",
    looked=SUMMED,
    broken_by=_at_widest("tanh", 1e9),
)
def tanh_falls_relatively() -> Cells:
    for when, words in WHEN.items():
        yield words, _falls(slope("tanh", when, "relative"))


@claim(
    "esser2024/fig2/tanh-slope-up-to-sign",
    """With tanh the difference between nonlinear and linear output, up to the sign of the one, falls with
    width after the last epoch.""",
    at=FIGURE,
    form="ours",
    quantifier="generic",
    word="falls with width",
    reading="ours: the paper does not say that the two may end at opposite limits, which few runs do",
    looked=f"added after a look at the seeds on which the slope at the end hangs; {SUMMED}",
    broken_by=_at_widest("tanh", 1e9),
)
def tanh_falls_up_to_sign() -> Comparison:
    return _falls(slope("tanh", "end", "up_to_sign"))


@claim(
    "esser2024/fig2/relu-slower-than-tanh",
    """With ReLU the difference between nonlinear and linear output falls with width as with tanh, but more
    slowly, at initialisation and after the last epoch.""",
    quotes=SLOWER,
    quantifier="generic",
    word="the overall picture",
    reading=WHOLE,
    looked=SUMMED,
    broken_by=(_at_widest("relu", 1e9), _at_widest("tanh", 1e9)),
)
def relu_falls_more_slowly() -> Cells:
    for when, words in WHEN.items():
        yield f"falls, {words}", _falls(slope("relu", when))
        slower = above(slope("relu", when), slope("tanh", when), unit=UNIT, jackknife=True)
        yield f"more slowly, {words}", slower


@claim(
    "esser2024/fig2/sigmoid-slope",
    """With the sigmoid the difference between nonlinear and linear output grows with width, at initialisation
    and after the last epoch.""",
    quotes=OPPOSITE,
    quantifier="generic",
    word="increases",
    reading=WHOLE,
    looked=SUMMED,
    broken_by=_at_widest("sigmoid", 1e-9),
)
def sigmoid_grows() -> Cells:
    for when, words in WHEN.items():
        yield words, above(slope("sigmoid", when), 0.0, unit=UNIT, jackknife=True)


@claim(
    "esser2024/fig2/scaled-sigmoid-slope",
    """With the sigmoid less its value at 0, scaled to slope 1 there, the difference between nonlinear and
    linear output falls with width, at initialisation and after the last epoch.""",
    at=FIGURE,
    form="ours",
    word="and after the last epoch",
    reading=f"ours: the paper has no sigmoid that meets the conditions on φ; {WHOLE}; {RARE}",
    looked=SUMMED,
    broken_by=_at_widest("scaled_sigmoid", 1e9),
)
def scaled_sigmoid_falls() -> Cells:
    for when, words in WHEN.items():
        yield words, _falls(slope("scaled_sigmoid", when))


@claim(
    "esser2024/thm1/rate",
    """At initialisation, with an activation that meets Theorem 1's conditions, the difference between
    nonlinear and linear output falls with the width h at least as fast as √(log⁴ h / h).""",
    at="Theorem 1, Section 4",
    quotes=CLOSE,
    word="is close to",
    looked=STARTS,
    broken_by=times("starts", "difference", 1e9, activation=tuple(COVERED), width=last),
)
def at_the_bounds_rate() -> Cells:
    for activation, name in COVERED.items():
        bound = slope_of_bound(activation)
        yield name, below(slope(activation, "init"), bound, unit=UNIT, jackknife=True)


@claim(
    "esser2024/conj1/largest",
    """With an activation that meets Theorem 1's conditions the largest difference between nonlinear and
    linear output over all of training falls with width.""",
    quotes=DURING,
    word="holds during evolution",
    reading=f"{WHOLE}; {RARE}",
    looked=SUMMED,
    broken_by=times("differences", "difference", 1e9, activation=tuple(COVERED), width=last),
)
def largest_falls() -> Cells:
    for activation, name in COVERED.items():
        yield name, _falls(slope_of_largest(activation))
