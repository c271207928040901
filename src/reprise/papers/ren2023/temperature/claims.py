"""One τ² throughout shows stages as well, and a small one makes the dynamics those without negatives."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import MARGINS, Comparison, Measure, at_least, near
from reprise.evidence.edits import put
from reprise.evidence.measures import applied, log_log_slope, rows, wide
from reprise.papers.ren2023.temperature.experiment import SMALL, Params

PLAINLY = 1 + MARGINS["singular value"]
"""A condition number has risen when it is this many times the first, and is about 1 when under this."""

UNIFORM = Quotation("similar stage-wise behavior can still be observed when using a uniform", at="Section 5")
EQUIVALENT = Quotation(
    "The dynamics of the non-contrastive method and the Stage 1 dynamics are equivalent, up to a "
    "multiplicative constant and some higher order terms",
    at="Lemma B.9, Appendix B.1",
)


def stages(table: pd.DataFrame) -> pd.DataFrame:
    """The first, largest and last condition number of each τ², K and seed."""
    wide = table.pivot(index=["negatives", "tau2", "seed"], columns="step", values="condition")
    return pd.DataFrame({"first": wide[0], "largest": wide.max(axis=1), "last": wide[wide.columns.max()]})


def both_stages(tau2: float) -> Measure:
    """1 where the condition number at one τ² first rises plainly and then falls to about 1, else 0."""

    def measure(tables: Tables) -> pd.Series:
        table = rows(tables["uniform"], claimed=True, tau2=tau2)
        if table.empty:
            return pd.Series(dtype=float)
        turns = stages(table).droplevel(["negatives", "tau2"])
        both = (turns["largest"] >= PLAINLY * turns["first"]) & (turns["last"] <= PLAINLY)
        return both.astype(float).where(turns.notna().all(axis=1))

    return measure


power = applied(log_log_slope, wide("stage1", "distance", "tau2", tau2=lambda tau2: tau2 <= SMALL))
"""Exponent of τ² in the distance, by least squares over small τ²."""


@claim(
    "ren2023/sec5/uniform-temperature",
    """At some τ² that is kept throughout, instead of two stages, the condition number also first rises, by 10
    %, and then falls to about 1 (1.1 at the last step), with most spectra.""",
    quotes=UNIFORM,
    quantifier="existential",
    word="can still be observed",
    reading="stages: a rise and a fall by 10 %, ours",
    looked="16 spectra after a look at 10, with which no alternative could be decided",
    broken_by=put("uniform", "condition", 1.5),
)
def uniform_temperature() -> Cells:
    for tau2 in Params.model_fields["tau2"].default:
        yield f"τ² = {tau2:g}", at_least(both_stages(tau2), 1, unit="(1: both stages)")


@claim(
    "ren2023/lemma-b9/power",
    """Stage 1 of contrastive training (small temperature τ²) and the dynamics without negatives are the same
    up to a factor of time, 2K / (1 + K), and higher-order terms: their distance is proportional to τ².""",
    quotes=EQUIVALENT,
    word="are equivalent",
    broken_by=put("stage1", "distance", 0.1),
)
def lemma_b9() -> Comparison:
    return near(
        power,
        1,
        quantity="slope",
        kind="trend",
        unit="power of τ² in the largest relative distance of (k, h), τ² up to 0.01",
    )
