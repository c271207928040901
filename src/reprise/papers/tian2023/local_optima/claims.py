"""Claims about one unit's local optima.

The data of Figure 8 are given, so that there is no sampling error: their `seeds` are ten turns of the figure,
each with another grid, and a claim must hold in all of them, or it is about the grid.
"""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import (
    COSINE,
    SHARE,
    Comparison,
    Measure,
    above,
    at_least,
    at_most,
    below,
    exactly,
    identity,
    in_every_case,
    in_every_run,
)
from reprise.evidence.edits import plus, times, without
from reprise.evidence.measures import applied, column, each_seed, rank_correlation, ratio, rows, wide
from reprise.papers.tian2023.local_optima.experiment import CLAIMED_ROTATION, CLAIMED_UNITS, FULL_GROUP


def by_seed(
    name: str,
    reduce: str | Callable[[pd.Series], float],
    data: str,
    activation: str,
    alpha: str = "uniform",
    where_none: float = math.nan,
) -> Measure:
    """One number for the optima of each data set; `where_none` for a data set without optima."""
    optima = each_seed(reduce, column("optima", name, data=data, activation=activation, alpha=alpha))

    def measure(tables: Tables) -> pd.Series:
        seeds = sorted(rows(tables["pca"], data=data)["seed"])
        return optima(tables).reindex(seeds, fill_value=where_none)

    return measure


def number(data: str, activation: str, alpha: str = "uniform") -> Measure:
    """Number of local optima; NaN where one has no angle."""

    def counted(angles: pd.Series) -> float:
        return float(len(angles)) if angles.notna().all() else math.nan

    return by_seed("angle", counted, data, activation, alpha, where_none=0)


def mean_depth(data: str, activation: str, alpha: str) -> Measure:
    """Mean depth of the local optima, as a share of the highest energy."""
    return by_seed("depth", "mean", data, activation, alpha)


def away_from_pca(tables: Tables) -> pd.Series:
    """The sine of the angle between ϕ1 and the linear unit's maxima, the largest; 1 unless there are two, on
    opposite sides. A point is a data set, Figure 8's among them."""
    optima = rows(tables["optima"], activation="linear", alpha="uniform")
    joined = optima.merge(tables["pca"], on=["data", "seed"], suffixes=("", "_pca"))
    along = np.cos(joined["angle"] - joined["angle_pca"])
    joined = joined.assign(sine=np.abs(np.sin(joined["angle"] - joined["angle_pca"])), side=np.sign(along))
    by_set = joined.groupby(["data", "seed"])
    opposite = (by_set.size() == 2) & (by_set["side"].sum() == 0)
    return by_set["sine"].max().where(opposite, 1.0)


def turned(name: str, rotation: float) -> Measure:
    """A column of `counts` (ReLU, uniform α, random data), where data are augmented by rotations of up to so
    many degrees."""
    return column("counts", name, data="random", rotation=rotation)


def collected(activation: str, units: int) -> Measure:
    """Number of patterns that so many units collect."""
    return column("collected", "patterns", data="random", activation=activation, units=units)


OPTIMA = "local optima"
RELU = {"data": "random", "activation": "relu"}
LOOKED = "25 data sets had left it undecided; there are 200 since statements about every data set need them"
DEPTH = "ours: the energy that must be lost on the way out of an optimum; the paper defines no depth"
ALPHAS = {"gaussian": "A Gaussian α", "infonce": "InfoNCE's own α, which is normalised,"}

MANY = Quotation(
    "the presence of nonlinearity can lead to many local optima even in 1-layer setting", "Abstract"
)
ONE_MAJOR = Quotation("with linear activation, only one major pattern can be learned", "Abstract")
COLLECTED = Quotation(
    "the more nonlinear nodes in 1-layer networks with different initialization, the more local optima are "
    "likely to be collected",
    "Section 1",
)
INFONCE = Quotation(
    "popular loss functions like InfoNCE tends to have more local optima than quadratic ones", "Section 1"
)
SALIENT = Quotation(
    "is learned while other less salient ones are lost, regardless of the number of hidden nodes", "Section 1"
)
LANDSCAPE = Quotation("nonlinearity can change the landscape and create more local optima", "Section 3")
DEEPER = Quotation(
    "creates more and deeper local optima that better accommodate local patterns",
    "After Corollary 2, Section 5.1",
)
REMOVES = Quotation("the data augmentation can remove certain local optima", "Appendix B.5")
NO_OPTIMUM = Quotation("cannot be a local optimal", "Appendix B.5")
SEEN = Quotation("From the figure, we can see many local maxima", "Figure 8, Appendix E.1")
TWO = Quotation("There are only two local maxima corresponding to", "Figure 8, Appendix E.1")


@claim(
    "tian2023/fig8/relu-maxima",
    "The objective of one ReLU unit on the nine points has at least 8 local maxima.",
    quotes=SEEN,
    word="many local maxima",
    broken_by=without("optima", data="E.1", activation="relu", alpha="uniform"),
)
def relu_maxima() -> Comparison:
    return in_every_case(at_least(number("E.1", "relu"), 8, unit=OPTIMA))


@claim(
    "tian2023/fig8/linear-maxima",
    "The objective of one linear unit on the nine points has two local maxima.",
    quotes=TWO,
    word="only two local maxima",
    broken_by=without("optima", data="E.1", activation="linear", alpha="uniform"),
)
def linear_maxima() -> Comparison:
    return in_every_case(exactly(number("E.1", "linear"), 2, unit=OPTIMA))


@claim(
    "tian2023/fig8/linear-maxima-are-pca",
    """The local maxima of one linear unit are two, at plus and minus the first principal direction (the nine
    points, and random data).""",
    quotes=TWO,
    word="only two local maxima",
    broken_by=plus("optima", "angle", 0.3, activation="linear"),
)
def linear_maxima_are_pca() -> Comparison:
    return identity(away_from_pca)


@claim(
    "tian2023/sec3/relu-more-optima",
    "One ReLU unit has more local optima than a linear one (random data, uniform α).",
    quotes=(MANY, LANDSCAPE),
    quantifier="existential",
    word="can lead to",
    broken_by=without("optima", **RELU, alpha="uniform"),
)
def relu_more_optima() -> Comparison:
    return above(number("random", "relu"), number("random", "linear"), unit=OPTIMA)


@each(ALPHAS)
def more_optima(alpha: str) -> Claim:
    @claim(
        f"tian2023/cor2/{alpha}-more-optima",
        f"""{ALPHAS[alpha]} gives one ReLU unit more local optima than the uniform α of the quadratic loss
        (random data).""",
        quotes=INFONCE if alpha == "infonce" else DEEPER,
        quantifier="generic",
        word="tends to have more" if alpha == "infonce" else "creates more and deeper",
        broken_by=without("optima", **RELU, alpha=alpha),
    )
    def cells() -> Comparison:
        return above(number("random", "relu", alpha), number("random", "relu"), unit=OPTIMA)

    return cells


@each(ALPHAS)
def deeper_optima(alpha: str) -> Claim:
    @claim(
        f"tian2023/cor2/{alpha}-deeper-optima",
        f"""{ALPHAS[alpha]} gives one ReLU unit deeper local optima than a uniform one (random data; the
        temperature τ is unstated). Depth is the energy to be lost on the way out of an optimum, α held, as a
        share of the highest energy: the mean over a data set's optima.""",
        quotes=DEEPER,
        quantifier="generic",
        word="creates more and deeper",
        reading=DEPTH,
        looked=LOOKED if alpha == "gaussian" else "",
        broken_by=times("optima", "depth", 0.1, **RELU, alpha=alpha),
    )
    def cells() -> Comparison:
        deeper, uniform = (mean_depth("random", "relu", each) for each in (alpha, "uniform"))
        return above(deeper, uniform, unit="share of the highest energy", bounds=SHARE)

    return cells


@claim(
    "tian2023/sec1/more-units-more-optima",
    """The more ReLU units there are, with different initial weights, the more local optima they collect
    (random data, uniform α, mean over draws of the weights).""",
    quotes=COLLECTED,
    quantifier="generic",
    word="are likely to be collected",
    reading=f"ours: optima and units {CLAIMED_UNITS} are correlated in rank",
    looked="each doubling was judged before, and was tied: it adds .59 optima on average, the smallest "
    "effect of a count being 1; how far apart our numbers of units are is no part of the sentence",
    broken_by=times("collected", "patterns", -1.0, activation="relu"),
)
def more_units_more_optima() -> Comparison:
    by_units = wide("collected", "patterns", "units", data="random", activation="relu", units=CLAIMED_UNITS)
    correlation = applied(lambda counts: rank_correlation(counts, counts.columns), by_units)
    return above(correlation, 0.0, unit="rank correlation", bounds=COSINE)


@claim(
    "tian2023/sec1/linear-one-pattern",
    "Linear units learn only the most salient pattern, however many there are (random data, uniform α).",
    quotes=(ONE_MAJOR, SALIENT),
    word="regardless of",
    broken_by=plus("collected", "patterns", 1.0, activation="linear"),
)
def linear_one_pattern() -> Cells:
    for units in CLAIMED_UNITS:
        yield f"{units} units", in_every_run(exactly(collected("linear", units), 1, unit="patterns"))


@claim(
    "tian2023/b5/full-group-no-optima",
    "With rotations by any angle as the augmentation no local optimum is left (random data, ReLU).",
    quotes=NO_OPTIMUM,
    word="cannot be",
    broken_by=plus("counts", "maxima", 1.0, rotation=FULL_GROUP),
)
def full_group_no_optima() -> Comparison:
    return in_every_run(at_most(turned("maxima", FULL_GROUP), 0, unit=OPTIMA))


@claim(
    "tian2023/b5/full-group-constant",
    """With rotations by any angle as the augmentation the objective does not change as the weight turns
    (random data, ReLU).""",
    at="Eqs. 105 to 108, Appendix B.5",
    word="=",
    broken_by=plus("counts", "energy_range", 0.5, rotation=FULL_GROUP),
)
def full_group_constant() -> Comparison:
    return identity(ratio(turned("energy_range", FULL_GROUP), turned("energy", FULL_GROUP)))


@claim(
    "tian2023/b5/small-rotations-fewer-optima",
    f"""Rotations by up to {CLAIMED_ROTATION:g} degrees, which are no group, remove local optima (random
    data, ReLU).""",
    quotes=REMOVES,
    quantifier="existential",
    word="can remove certain",
    broken_by=plus("counts", "maxima", 9.0, rotation=CLAIMED_ROTATION),
)
def small_rotations_fewer_optima() -> Comparison:
    return below(turned("maxima", CLAIMED_ROTATION), turned("maxima", 0.0), unit=OPTIMA)
