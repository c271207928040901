"""What the paper says of one unit's local optima.

The data of Figure 8 are given, so that there is no sampling error: their `seeds` are ten turns of the figure,
each with another grid, and a claim must hold in all of them, or it is about the grid.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours
from reprise.evidence.claims import always, count, for_all, given, identity, ordering
from reprise.evidence.comparison import IDENTITY_TOLERANCE, SHARE, Measure, above, exactly, in_every_run
from reprise.evidence.measures import column, each_seed, ratio, rows
from reprise.papers.tian2023.local_optima.experiment import CLAIMED_ROTATION, CLAIMED_UNITS, FULL_GROUP


def by_seed(
    name: str,
    reduce: str | Callable[[pd.Series], float],
    data: str,
    activation: str,
    alpha: str = "uniform",
    where_none: float = math.nan,
) -> Measure:
    """One number for each data set's optima, and `where_none` where it has none."""
    optima = each_seed(reduce, column("optima", name, data=data, activation=activation, alpha=alpha))

    def measure(tables: Tables) -> pd.Series:
        seeds = sorted(rows(tables["pca"], data=data)["seed"])
        return optima(tables).reindex(seeds, fill_value=where_none)

    return measure


def number(data: str, activation: str, alpha: str = "uniform") -> Measure:
    """How many local optima there are; NaN where one has no angle."""

    def counted(angles: pd.Series) -> float:
        return float(len(angles)) if angles.notna().all() else math.nan

    return by_seed("angle", counted, data, activation, alpha, where_none=0)


def mean_depth(data: str, activation: str, alpha: str) -> Measure:
    """How deep the local optima are on average, as a share of the highest energy."""
    return by_seed("depth", "mean", data, activation, alpha)


def moving(speed: pd.Series) -> float:
    """How many maxima are no critical point of Eq. 7: the weight's speed does not vanish."""
    return float((speed > IDENTITY_TOLERANCE).sum()) if speed.notna().all() else math.nan


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
    """How many patterns so many units collect."""
    return column("collected", "patterns", data="random", activation=activation, units=units)


OPTIMA = "local optima"
SECTION_5_1 = "Section 5.1, after Corollary 2"

CLAIMS = [
    given(
        count(
            "tian2023/fig8/relu-maxima",
            "The objective of one ReLU unit on the nine points has at least 8 local maxima.",
            word="many local maxima",
            source="Appendix E.1, Figure 8",
            measure=number("E.1", "relu"),
            at_least=8,
            unit=OPTIMA,
        )
    ),
    given(
        count(
            "tian2023/fig8/linear-maxima",
            "The objective of one linear unit on the nine points has two local maxima.",
            word="only two local maxima",
            source="Appendix E.1, Figure 8",
            measure=number("E.1", "linear"),
            exactly=2,
            unit=OPTIMA,
        )
    ),
    identity(
        "tian2023/fig8/linear-maxima-are-pca",
        "The local maxima of one linear unit are two, at plus and minus the first principal direction (the "
        "nine points, and random data).",
        source="Appendix E.1, Section 3",
        measure=away_from_pca,
    ),
    ours(
        given(
            count(
                "tian2023/fig8/maxima-are-critical-points",
                "Critical points of Eq. 7 include the local optima: at none of Figure 8's (ReLU) does the "
                "velocity stay away from 0.",
                word="at none",
                source="Appendix F, on Lemma 3",
                measure=by_seed("speed", moving, "E.1", "relu"),
                at_most=0,
                unit="maxima that are no critical point",
            )
        ),
        "ours: the velocity on one side of a kink; all of Figure 8's maxima lie on kinks, where 0 is among "
        "the generalised gradients",
    ),
    ours(
        always(
            "tian2023/sec3/linear-gaussian-two-optima",
            "One linear unit has only the two optima of PCA, C_α[x] being a constant matrix, under a "
            "Gaussian α as well (random data).",
            word="only the two",
            source="Section 3, Figure 1b",
            measure=number("random", "linear", "gaussian"),
            exactly=2,
            unit=OPTIMA,
        ),
        "ours: α is evaluated anew at each weight; the paper takes α as an independent variable, with which "
        "there are two",
    ),
    ordering(
        "tian2023/sec3/relu-more-optima",
        "One ReLU unit has more local optima than a linear one (random data, uniform α).",
        quantifier="existential",
        word="can change the landscape",
        source="Section 3",
        measure=number("random", "relu"),
        above=number("random", "linear"),
        unit=OPTIMA,
    ),
    ordering(
        "tian2023/cor2/gaussian-more-optima",
        "A Gaussian α gives one ReLU unit more local optima than a uniform one (random data).",
        quantifier="generic",
        word="creates more and deeper",
        source=SECTION_5_1,
        measure=number("random", "relu", "gaussian"),
        above=number("random", "relu"),
        unit=OPTIMA,
    ),
    ordering(
        "tian2023/cor2/gaussian-deeper-optima",
        "A Gaussian α gives one ReLU unit deeper local optima than a uniform one: the mean over a data set's "
        "optima of the energy to be lost on the way out, α held, as a share of the highest energy (random "
        "data).",
        quantifier="generic",
        word="creates more and deeper",
        source=SECTION_5_1,
        measure=mean_depth("random", "relu", "gaussian"),
        above=mean_depth("random", "relu", "uniform"),
        unit="share of the highest energy",
        bounds=SHARE,
        looked="25 data sets had left it undecided; there are 200 since statements about every data set need "
        "as many",
    ),
    ordering(
        "tian2023/cor2/infonce-more-optima",
        "InfoNCE's own α, which is normalised, gives one ReLU unit more local optima than a uniform one "
        "(random data).",
        quantifier="generic",
        word="tends to have more",
        source="Section 1, Section 3.2, Section 5.1",
        measure=number("random", "relu", "infonce"),
        above=number("random", "relu"),
        unit=OPTIMA,
    ),
    ordering(
        "tian2023/cor2/infonce-deeper-optima",
        "InfoNCE's own α gives one ReLU unit deeper local optima than a uniform one, in the measure of a "
        "Gaussian α (random data).",
        quantifier="generic",
        word="creates more and deeper",
        source=SECTION_5_1,
        measure=mean_depth("random", "relu", "infonce"),
        above=mean_depth("random", "relu", "uniform"),
        unit="share of the highest energy",
        bounds=SHARE,
    ),
    given(
        ordering(
            "tian2023/cor2/infonce-more-optima-fig8",
            "InfoNCE's own α gives one ReLU unit more local optima than a uniform one on Figure 8's points.",
            word="creates more and deeper",
            source=SECTION_5_1,
            measure=number("E.1", "relu", "infonce"),
            above=number("E.1", "relu"),
            unit=OPTIMA,
        )
    ),
    for_all(
        "tian2023/sec1/more-units-more-optima",
        "The more ReLU units there are, with different initial weights, the more local optima they collect: "
        "each doubling adds some (random data, uniform α, mean over draws of the weights).",
        {
            f"from {few} to {many} units": above(collected("relu", many), collected("relu", few), unit=OPTIMA)
            for few, many in pairwise(CLAIMED_UNITS)
        },
        quantifier="generic",
        word="are likely to be collected",
        source="Section 1",
    ),
    for_all(
        "tian2023/sec1/linear-one-pattern",
        "Linear units learn only the most salient pattern, however many there are (random data, uniform α).",
        {
            f"{units} units": in_every_run(exactly(collected("linear", units), 1, unit="patterns"))
            for units in CLAIMED_UNITS
        },
        word="regardless of",
        source="Section 1",
    ),
    given(
        ordering(
            "tian2023/cor2/gaussian-more-optima-fig8",
            "A Gaussian α gives one ReLU unit more local optima than a uniform one on Figure 8's points.",
            word="creates more and deeper",
            source=SECTION_5_1,
            measure=number("E.1", "relu", "gaussian"),
            above=number("E.1", "relu"),
            unit=OPTIMA,
        )
    ),
    always(
        "tian2023/b5/full-group-no-optima",
        "With rotations by any angle as the augmentation no local optimum is left (random data, ReLU).",
        word="cannot be a local optimal",
        source="Appendix B.5",
        measure=turned("maxima", FULL_GROUP),
        at_most=0,
        unit=OPTIMA,
    ),
    identity(
        "tian2023/b5/full-group-constant",
        "With rotations by any angle as the augmentation the objective does not change as the weight turns "
        "(random data, ReLU).",
        source="Appendix B.5, Eqs. 105 to 108",
        measure=ratio(turned("energy_range", FULL_GROUP), turned("energy", FULL_GROUP)),
    ),
    ordering(
        "tian2023/b5/small-rotations-fewer-optima",
        f"Rotations by up to {CLAIMED_ROTATION:g} degrees, which are no group, also remove local optima "
        "(random data, ReLU).",
        quantifier="existential",
        word="can remove certain",
        source="Appendix B.5",
        measure=turned("maxima", CLAIMED_ROTATION),
        below=turned("maxima", 0.0),
        unit=OPTIMA,
    ),
]
