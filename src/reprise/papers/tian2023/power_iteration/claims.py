"""What the paper says of power iteration, of Theorem 3 and its lemmas, and of Eq. 9's threshold."""

import math
from collections.abc import Callable
from functools import partial

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence import identities
from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import always, count, for_all, identity
from reprise.evidence.comparison import Comparison, Measure, at_least, at_most, in_every_run
from reprise.evidence.measures import applied, column
from reprise.papers.tian2023.power_iteration.experiment import CLAIMED_SMALL

holds = partial(identities.holds, "tian2023")
bound = partial(identities.bound, "tian2023")
misprint = partial(identities.misprint, "tian2023")

THRESHOLD = (3 - math.sqrt(5)) / 2
MODELS = {"discrete": "as published", "smoothed": "with Gaussian noise on x"}
SMALL = f"‖UᵀU - I‖₂ = {' and '.join(f'{distance:g}' for distance in CLAIMED_SMALL)}"


def first_step(model: str) -> Measure:
    """‖w(1) - w(0)‖₂ from w(0) = u_1 with an orthogonal U."""
    return column("steps", "step", gram_distance=0, iteration=0, model=model)


def at_rest(model: str, distance: float) -> Measure:
    """Of each run from a u_m: 1 if it comes to rest."""
    period = column("ends", "period", model=model, gram_distance=distance)
    return applied(lambda periods: (periods == 1).where(periods.notna()).astype(float), period)


def near_own(model: str, distance: float) -> Measure:
    """Of each run from a u_m: 1 if it ends nearer to this u_m than to another."""
    return column("ends", "nearest", model=model, gram_distance=distance)


def at_start(name: str, model: str, distance: float) -> Measure:
    """A quantity of Theorem 3's condition at u_1."""
    return column("irregularity", name, model=model, gram_distance=distance)


def covered_runs_converge(tables: Tables) -> pd.Series:
    """Of each run from u_1 that Theorem 3 covers, U not orthogonal: 1 if it comes to rest in B_γ."""
    keys = ["model", "gram_distance", "seed"]
    runs = tables["irregularity"].merge(tables["ends"].query("start == 1"), on=keys)
    runs = runs[(runs["covered"] == 1) & (runs["gram_distance"] > 0)].set_index("seed")
    return ((runs["period"] == 1) & (runs["distance"] <= runs["radius"])).astype(float)


thresholds = column("thresholds", "threshold")
"""The largest q_m at which u_m is the distinct first eigenvector of A(u_m), a random U a seed."""


def _figure_1(model: str, which: str) -> list[Claim]:
    return [
        identity(
            f"tian2023/fig1/orthogonal-fixed-point-{model}",
            f"With an orthogonal U the start u_m does not move (latent summation model, {which}).",
            source="Figure 1 right, Section 3.1",
            measure=first_step(model),
        ),
        ours(
            _at_small_distances(
                f"tian2023/fig1/converges-{model}",
                f"With a U that is not quite orthogonal ({SMALL}) power iteration converges from every u_m "
                f"(latent summation model, {which}).",
                "Figure 1 right",
                "every",
                lambda distance: at_least(at_rest(model, distance), 1, unit="(1: at rest)"),
            ),
            "ours: the paper says that there are local optima close to each u_m, not that every run comes to "
            "rest",
        ),
        _at_small_distances(
            f"tian2023/fig1/close-to-its-pattern-{model}",
            f"With a U that is not quite orthogonal ({SMALL}) there is an optimum close to each u_m: power "
            f"iteration ends nearer to the u_m from which it starts than to any other (latent summation "
            f"model, {which}).",
            "Figure 1 right, Section 3.3",
            "close to each",
            lambda distance: at_least(near_own(model, distance), 1, unit="(1: nearest)"),
        ),
        ours(
            _at_small_distances(
                f"tian2023/thm3/covers-fig1-{model}",
                f"Theorem 3 covers Figure 1 ({SMALL}): with L as defined, over the whole sphere, the "
                "irregularity at u_m can be under 1 (a lower bound of it is; latent summation model, "
                f"{which}).",
                "Figure 1, Section 3.3 after Theorem 3",
                "covers Figure 1",
                lambda distance: at_most(at_start("omega", model, distance), 1, unit="irregularity"),
            ),
            "ours: the paper does not say that the theorem's condition holds in Figure 1",
        ),
    ]


def _at_small_distances(
    id: str, statement: str, source: str, word: str, compared: Callable[[float], Comparison]
) -> Claim:
    cells = {f"‖UᵀU - I‖₂ = {distance:g}": in_every_run(compared(distance)) for distance in CLAIMED_SMALL}
    return for_all(id, statement, cells, source=source, word=word)


CLAIMS = [
    *(claim for model, which in MODELS.items() for claim in _figure_1(model, which)),
    ours(
        count(
            "tian2023/thm3/covers-fig1-locally",
            f"Theorem 3 covers more than half of Figure 1's runs (‖UᵀU - I‖₂ = {CLAIMED_SMALL[-1]:g}) if L "
            "is taken over B_γ alone: A(w) is constant there (latent summation model as published).",
            word="more than half",
            source="Figure 1, Section 3.3 after Theorem 3",
            measure=at_start("covered", "discrete", CLAIMED_SMALL[-1]),
            at_least=1,
            unit="(1: covered)",
        )
    ),
    always(
        "tian2023/thm3/covered-runs-converge",
        "In Figure 1's runs to which Theorem 3 applies, with L over B_γ alone, power iteration converges "
        "within B_γ.",
        word="converges to a critical point",
        source="Theorem 3",
        measure=covered_runs_converge,
        at_least=1,
        unit="(1: converges)",
    ),
    identity(
        "tian2023/eq9/threshold-exact",
        "The largest q at which u_m is the distinct first eigenvector of A(u_m) is (3 - √5)/2, whatever "
        "M, the orthogonal U and the other patterns' probabilities.",
        source="Eq. 9",
        measure=applied(lambda threshold: (threshold / THRESHOLD - 1).abs(), thresholds),
    ),
    bound(
        "thm3/converges",
        "Power iteration from a start at which the irregularity is at most γ < 1 on the ball B_γ "
        "around it comes to rest.",
        "Theorem 3",
    ),
    holds(
        "thm3/critical-point",
        "Power iteration from a start at which the irregularity is at most γ < 1 on B_γ comes to rest"
        " at a critical point of Eq. 7.",
        "Theorem 3",
    ),
    bound(
        "thm3/inside-ball",
        "Power iteration from a start at which the irregularity is at most γ < 1 on the ball B_γ "
        "around it never leaves B_γ.",
        "Theorem 3, Lemma 11",
    ),
    holds(
        "thm3/indefinite",
        "Where A(w) is not positive definite, Theorem 3 holds of power iteration with Â(w) = A(w) - "
        "λ_min(w) I + ε I.",
        "Theorem 3, Appendix B.4",
    ),
    holds(
        "eq103/same-ball",
        "The two forms of B_γ, by the inner product with w(0) and by the distance from it, are the same.",
        "Theorem 3, Eq. 103",
    ),
    bound(
        "lemma7",
        "A step of power iteration with c > 0 and a positive definite A, which Appendix B.4 assumes, has "
        "1 - d ≤ μ (1 - c), c and d the cosines with the first eigenvector before and after it.",
        "Lemma 7, Eqs. 182 to 186, Appendix B.4",
    ),
    *misprint(
        "lemma7-parseval",
        "By Parseval's identity the sum of λ_i² (ϕ_iᵀ w)² over i > 1 is 1 - c².",
        "By Parseval's identity the sum of (ϕ_iᵀ w)² over i > 1 is 1 - c².",
        "Lemma 7, proof",
    ),
    bound(
        "lemma8/step",
        "A step of power iteration has at most the length √(2 (1 + μc)(1 - c)), c its cosine with the"
        " first eigenvector.",
        "Lemma 8, Eqs. 187 to 189",
    ),
    holds(
        "lemma9/first-order",
        "Lemma 9's Δϕ1 is the first order of the change of a matrix's first eigenvector.",
        "Lemma 9, Eq. 190",
    ),
    bound(
        "lemma9/rest",
        "What Lemma 9's first order leaves of the change of the first eigenvector is at most κ‖δA‖₂²,"
        " with κ = 2/(g (g - 2e)) + 1/(2 (g - 2e)²) for ‖δA‖₂ = e under half the gap g.",
        "Lemma 9, Eq. 191",
    ),
    bound(
        "lemma10/bound",
        "In power iteration |d(t) - c(t+1)| ≤ ν(t) (1 - c(t)): the first eigenvector moves little as "
        "the weight does.",
        "Lemma 10, Eqs. 192 and 193",
    ),
    bound(
        "lemma11/rate",
        "In power iteration 1 - c(t) ≤ γ^t (1 - c(0)), c the cosine with the first eigenvector: it "
        "converges geometrically.",
        "Lemma 11, Eq. 216",
    ),
    bound(
        "lemma11/monotone",
        "In power iteration the cosine c(t) with the first eigenvector never falls.",
        "Lemma 11",
    ),
    holds(
        "lemma11/first-eigenvector",
        "The limit of power iteration is the first eigenvector of its own A(w).",
        "Lemma 11",
    ),
]
