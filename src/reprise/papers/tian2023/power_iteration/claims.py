"""Claims about power iteration, Theorem 3 and its lemmas, and Eq. 9's threshold.

Claims about runs are of the latent summation model as published, without our noise.
"""

import math

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import Comparison, at_least, identity, in_every_run
from reprise.evidence.edits import plus, put, times
from reprise.evidence.formula import claims
from reprise.evidence.measures import applied, column
from reprise.papers.tian2023.power_iteration.experiment import CLAIMED_SMALL
from reprise.papers.tian2023.power_iteration.formulas import FORMULAS

THRESHOLD = (3 - math.sqrt(5)) / 2
PUBLISHED = "discrete"
"""The model without noise."""
SMALL = " and ".join(f"{distance:g}" for distance in CLAIMED_SMALL)

CLOSE = Quotation("there still exist local optima close to each", "Figure 1, Section 3")

THEORY = claims("tian2023", *FORMULAS)


def covered_runs_converge(tables: Tables) -> pd.Series:
    """1 for each run from u_1 that comes to rest in B_γ, else 0, among the runs that Theorem 3 covers, U not
    orthogonal."""
    keys = ["model", "gram_distance", "seed"]
    runs = tables["irregularity"].merge(tables["ends"].query("start == 1"), on=keys)
    runs = runs[(runs["covered"] == 1) & (runs["gram_distance"] > 0)].set_index("seed")
    return ((runs["period"] == 1) & (runs["distance"] <= runs["radius"])).astype(float)


@claim(
    "tian2023/fig1/orthogonal-fixed-point-discrete",
    "With an orthogonal U the start u_m does not move.",
    at="Figure 1, after Eq. 9, Section 3.1",
    word="=",
    broken_by=put("steps", "step", 0.1, gram_distance=0, iteration=0),
)
def orthogonal_fixed_point() -> Comparison:
    return identity(column("steps", "step", gram_distance=0, iteration=0, model=PUBLISHED))


@claim(
    "tian2023/fig1/close-to-its-pattern-discrete",
    f"""With a U that is not quite orthogonal (‖UᵀU - I‖₂ = {SMALL}) there is an optimum close to each u_m:
    power iteration ends nearer to the u_m from which it starts than to any other.""",
    quotes=CLOSE,
    word="close to each",
    broken_by=put("ends", "nearest", 0.0),
)
def close_to_its_pattern() -> Cells:
    for distance in CLAIMED_SMALL:
        nearest = column("ends", "nearest", model=PUBLISHED, gram_distance=distance)
        yield f"‖UᵀU - I‖₂ = {distance:g}", in_every_run(at_least(nearest, 1, unit="(1: nearest)"))


@claim(
    "tian2023/thm3/covered-runs-converge",
    """In those of Figure 1's runs to which Theorem 3 would apply with L over B_γ alone, power iteration
    converges within B_γ.""",
    at="Theorem 3, Section 3.3",
    form="ours",
    word="converges",
    reading="ours: the theorem's L is over the whole sphere, and then covers none of these runs",
    broken_by=times("irregularity", "radius", 1e-3),
)
def covered() -> Comparison:
    return in_every_run(at_least(covered_runs_converge, 1, unit="(1: converges)"))


@claim(
    "tian2023/eq9/threshold-exact",
    """u_m is the distinct first eigenvector of A(u_m) for q_m up to (3 - √5)/2 and no further, whatever M,
    the orthogonal U and the other patterns' probabilities.""",
    at="Eq. 9, Section 3.1 and Appendix B.1",
    word="≈",
    reading="ours: the paper says that it is below; that it is no longer above follows from Eq. 9",
    broken_by=plus("thresholds", "threshold", 0.01),
)
def threshold_is_exact() -> Comparison:
    thresholds = column("thresholds", "threshold")
    return identity(applied(lambda threshold: (threshold / THRESHOLD - 1).abs(), thresholds))
