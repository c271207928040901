"""Every diagnostic: how it follows from the sums, what it means, and where it is from."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from reprise.annex.diagnose.samples import GROUPS, Gathered, Sample
from reprise.diagnostics.ranks import (
    alpha_req,
    collapsed_dimensions,
    effective_rank,
    intrinsic_dimension,
    rank_of_entropy,
    spectral_entropy,
    stable_rank,
)
from reprise.evidence.comparison import COLLAPSED
from reprise.evidence.statistics import LEVEL, quantile

Scale = Literal["plain", "rank", "entropy"]
"""Divisor that makes values of networks of different dimensions comparable: `rank`, the highest possible
rank; `entropy`, its logarithm; `plain`, 1."""


@dataclass(frozen=True)
class Diagnostic:
    """A diagnostic of embeddings.

    Attributes:
        name: as in the table.
        value: of a view of a sample, or of both views.
        views: whether it is of each view, or of both together.
        range: lowest and highest value; the interval is cut there.
        scale: as in `Scale`.
        logarithmic: whether its interval is symmetric on a logarithmic scale.
        meaning: one sentence.
        equation: with λ the eigenvalues of the covariance and σ = √λ the singular values of the centred
            embeddings, over √samples; largest first.
        source: the paper that it is from.
    """

    name: str
    value: Callable[[Sample, int], float]
    meaning: str
    equation: str
    source: str
    views: Literal["each", "both"] = "each"
    range: tuple[float, float] = (0.0, math.inf)
    scale: Scale = "plain"
    logarithmic: bool = False


class Observed(NamedTuple):
    """The value of a diagnostic.

    Attributes:
        view: `1`, `2` or `both`.
        low, high: ends of the interval; NaN where it has none.
        limit: by which `scale` divides.
    """

    measure: Diagnostic
    view: str
    value: float
    low: float
    high: float
    limit: float


def observe(gathered: Gathered, progress: Callable[[float], None] = lambda share: None) -> list[Observed]:
    """All diagnostics that the views allow, with their intervals.

    The interval is value ± t s: s² = (g - 1) / g Σ (v_k - mean v)² over the values v_k without group k
    (the delete-a-group jackknife: Kott 2001, "The Delete-a-Group Jackknife"), t Student's with g - 1 degrees
    of freedom. It says how much the value would vary with other samples, as many of them; not how it would
    change with more samples, with which ranks grow.

    Args:
        progress: called with the share of the spectra that are known.
    """
    found = values(gathered)
    without = []
    for done, part in enumerate(gathered.leave_one_out(), 1):
        progress(done / (GROUPS + 1))
        without.append([measure.value(part, view) for measure, view in _applicable(part)])
    progress(1.0)
    ends = [
        interval(one.value, others, one.measure)
        for one, others in zip(found, np.array(without).T, strict=True)
    ]
    return [one._replace(low=low, high=high) for one, (low, high) in zip(found, ends, strict=True)]


def values(gathered: Gathered) -> list[Observed]:
    """All diagnostics that the views allow, without intervals, as they take ten further spectra."""
    sample = gathered.whole
    return [
        _observed(sample, measure, view, measure.value(sample, view)) for measure, view in _applicable(sample)
    ]


def _applicable(sample: Sample) -> list[tuple[Diagnostic, int]]:
    """The diagnostics that the views allow, each with its view; those of both views with the first."""
    return [
        (measure, view)
        for measure in MEASURES
        for view in (range(sample.views) if measure.views == "each" else range(1))
        if measure.views == "each" or sample.views == 2
    ]


def _observed(sample: Sample, measure: Diagnostic, view: int, value: float) -> Observed:
    limit = {"plain": 1.0, "rank": sample.limit, "entropy": math.log(sample.limit)}[measure.scale]
    name = str(view + 1) if measure.views == "each" else "both"
    return Observed(measure, name, value, math.nan, math.nan, limit)


def interval(value: float, without: np.ndarray, measure: Diagnostic) -> tuple[float, float]:
    """The ends of the jackknife's interval; NaN if a value is not finite.

    Args:
        without: the value without each of the groups, [group].
    """
    if measure.logarithmic:
        with np.errstate(divide="ignore", invalid="ignore"):
            value, without = np.log(value), np.log(without)
    if not np.isfinite([value, *without]).all():
        return math.nan, math.nan
    error = math.sqrt((GROUPS - 1) / GROUPS * np.square(without - without.mean()).sum())
    margin = float(quantile(GROUPS - 1, LEVEL)) * error
    ends = np.array([value - margin, value + margin])
    low, high = np.clip(np.exp(ends) if measure.logarithmic else ends, *measure.range)
    return float(low), float(high)


def _spread(sample: Sample, view: int) -> float:
    variance = sample.eigenvalues[view].sum()
    square = variance + sample.mean[view] @ sample.mean[view]
    return float((variance / square).sqrt()) if square > 0 else 0.0


def _condition(sample: Sample, view: int) -> float:
    values = sample.singular_values[view]
    return float(values[0] / values[-1]) if values[0] > 0 else math.nan


JING = "Jing et al. 2022, Understanding Dimensional Collapse in Contrastive SSL"
WANG = "Wang and Isola 2020, Alignment and Uniformity on the Hypersphere"
REN = "Ren and Li 2023, On the Importance of Contrastive Loss in Multimodal Learning"
ZBONTAR = "Zbontar et al. 2021, Barlow Twins"

MEASURES = (
    Diagnostic(
        "spread",
        _spread,
        "Root-mean-square distance of the embeddings from their mean, over their root-mean-square length: "
        "0 if all samples have the same embedding.",
        "√(Σ λ / (Σ λ + |mean z|²))",
        "Chen and He 2021, Exploring Simple Siamese Representation Learning, Section 4.1, of embeddings at "
        "any length",
        range=(0.0, 1.0),
    ),
    Diagnostic(
        "largest singular value",
        lambda sample, view: float(sample.singular_values[view, 0]),
        "Standard deviation of the embeddings along their first principal direction; the whole spectrum is "
        "the figure.",
        "σ_1",
        f"{JING}, Eq. 1, whose singular values are λ",
    ),
    Diagnostic(
        "collapsed dimensions",
        lambda sample, view: float(collapsed_dimensions(sample.singular_values[view], threshold=COLLAPSED)),
        f"Singular values of the centred embeddings of at most {COLLAPSED:g} times the largest: directions "
        "in which they hardly vary.",
        f"number of k with σ_k ≤ {COLLAPSED:g} σ_1",
        f"{JING}, Section 3, counted",
        scale="rank",
    ),
    Diagnostic(
        "effective rank",
        lambda sample, view: float(effective_rank(sample.singular_values[view])),
        "How many dimensions the embeddings use, by the entropy of their singular values, centred.",
        "exp(-Σ p log p), p_k = σ_k / Σ σ",
        "Roy and Vetterli 2007, The effective rank, Definition 1",
        range=(1.0, math.inf),
        scale="rank",
    ),
    Diagnostic(
        "RankMe",
        lambda sample, view: float(rank_of_entropy(sample.uncentred_singular_values[view])),
        "The same of embeddings that are not centred: the higher, the better its networks' probes, in its "
        "paper's comparisons of one method's settings.",
        "exp(-Σ p log p), p_k = s_k / Σ s + 1e-7, s the singular values without centring",
        "Garrido et al. 2023, RankMe, its definition of the rank",
        range=(1.0, math.inf),
        scale="rank",
    ),
    Diagnostic(
        "stable rank",
        lambda sample, view: float(intrinsic_dimension(sample.eigenvalues[view])),
        "Total variance over that of the first direction: a few strong directions make it small, whatever "
        "the tail.",
        "Σ λ / λ_1",
        "Rudelson and Vershynin 2007, Sampling from Large Matrices, its numerical rank",
        range=(1.0, math.inf),
        scale="rank",
    ),
    Diagnostic(
        "balance",
        lambda sample, view: float(stable_rank(sample.eigenvalues[view])),
        "Stable rank of the covariance: how evenly the strongest directions are used.",
        "Σ λ² / λ_1²",
        f"{REN}, Definition 4.2",
        range=(1.0, math.inf),
        scale="rank",
    ),
    Diagnostic(
        "condition number",
        _condition,
        "Largest over smallest singular value; infinite if a direction is not used, or about 10⁷ times less "
        "than another.",
        "σ_1 / σ_last",
        f"{REN}, below Definition 4.2",
        range=(1.0, math.inf),
        logarithmic=True,
    ),
    Diagnostic(
        "entropy",
        lambda sample, view: float(spectral_entropy(sample.eigenvalues[view])),
        "Von Neumann entropy of the covariance in nats: 0 for one direction, log of the dimension for an "
        "even spectrum.",
        "-Σ p log p, p_k = λ_k / Σ λ",
        "Giraldo et al. 2015, Measures of Entropy From Data Using Infinitely Divisible Kernels, at α → 1",
        scale="entropy",
    ),
    Diagnostic(
        "alpha-ReQ",
        lambda sample, view: float(alpha_req(sample.eigenvalues[view])),
        "Exponent with which the covariance's eigenvalues decay, ranks 6 to 100: its paper finds the best "
        "networks near 1; much larger is a collapsed tail.",
        "minus the slope of log λ_j on log j, weights 1/j, j = 6 to 100",
        "Agrawal et al. 2022, α-ReQ, its decay coefficient",
        range=(-math.inf, math.inf),
    ),
    Diagnostic(
        "uniformity",
        lambda sample, view: math.log(sample.potential[view]),
        "Log of the mean potential of pairs on the unit sphere: -4 if pairs are orthogonal, 0 if all are "
        "one point; lower is more uniform.",
        "log mean exp(-2 |u_i - u_j|²), u = z / |z|",
        f"{WANG}, Section 4.1, t = 2",
        range=(-8.0, 0.0),
    ),
    Diagnostic(
        "alignment",
        lambda sample, view: float(sample.distance2 or 0.0),
        "Mean squared distance of a sample's two views on the unit sphere: 0 if they coincide, 2 if they "
        "have nothing in common.",
        "mean |u1_i - u2_i|², u = z / |z|",
        f"{WANG}, Section 4.1, α = 2",
        views="both",
        range=(0.0, 4.0),
    ),
    Diagnostic(
        "alignment score, 1 to 2",
        lambda sample, view: float(sample.closer[0]) if sample.closer is not None else math.nan,
        "Share of samples of the first view that lie closer to their own second view than to another "
        "sample's; 0 for constant embeddings, a half by chance.",
        "P(|a - b| < |a - b'|), b' another sample's",
        f"{REN}, Definition 4.1",
        views="both",
        range=(0.0, 1.0),
    ),
    Diagnostic(
        "alignment score, 2 to 1",
        lambda sample, view: float(sample.closer[1]) if sample.closer is not None else math.nan,
        "The same with the views exchanged.",
        "P(|a - b| < |a - b'|), b' another sample's",
        f"{REN}, Definition 4.1",
        views="both",
        range=(0.0, 1.0),
    ),
    Diagnostic(
        "cross-view correlation",
        lambda sample, view: float(sample.correlation.same.mean()),
        "Correlation of a dimension with itself in the other view, averaged: 1 if the views' differences "
        "leave it unchanged.",
        "mean C_ii",
        f"{ZBONTAR}, Eq. 2",
        views="both",
        range=(-1.0, 1.0),
    ),
    Diagnostic(
        "redundancy",
        lambda sample, view: sample.correlation.others,
        "Correlation of different dimensions across the views, root mean square: 0 if each says something "
        "else.",
        "√(mean C_ij²), i ≠ j",
        f"{ZBONTAR}, Eq. 2",
        views="both",
        range=(0.0, 1.0),
    ),
    Diagnostic(
        "LiDAR",
        lambda sample, view: float(rank_of_entropy(sample.discriminant)),
        "How many dimensions tell samples apart in spite of their views; of two views only, where its "
        "paper has 50.",
        "exp(-Σ p log p), p_k = l_k / Σ l + 1e-7, l the eigenvalues of Σ_w^-½ Σ_b Σ_w^-½",
        "Thilak et al. 2023, LiDAR, its definition of the rank",
        views="both",
        range=(1.0, math.inf),
        scale="rank",
    ),
)

LEFT_OUT = {
    "matching score χ": "Tian 2023's χ compares a layer's filters with the patterns that its inputs are "
    "made of; embeddings have neither.",
}
"""Diagnostics that do not apply to embeddings, and why."""
