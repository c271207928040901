"""Theorem 4.3 (b), an existence: somewhere in the region of schedules it holds on every A."""

from itertools import product

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import MARGINS, Measure, at_least, at_most, in_every_case
from reprise.evidence.edits import put, times
from reprise.evidence.measures import last, once, rows
from reprise.papers.ren2023.schedules.experiment import SCHEDULE, Params, words
from reprise.papers.ren2023.spectra import EVERY_SPECTRUM

GRID = {name: Params.model_fields[name].default for name in SCHEDULE}
"""Values of each setting of a schedule; a run with fewer schedules has no observations of the others."""
BALANCED = 1 - MARGINS["singular value"]
"""A balance score from this share of r on counts as r."""
SLOWEST_POWER = 10.0
"""A power law with this exponent takes 10^(1/10) times as long for each further power of ten."""

EXISTS = Quotation(
    "Contrastive loss. There exists ... such that, for any valid ... at which the learned representations "
    "are aligned and balanced",
    at="Theorem 4.3 (b), Section 4",
)
LINEAR = Quotation(
    "When the condition number is larger than, say, ... and the above implies a linear convergence rate",
    at="Section 5.4",
)


def ends(schedule: str) -> Measure:
    """The balance score as a share of r, in every case; 0 where the learners are not aligned."""

    return lambda tables: _balances(tables).get(schedule, pd.Series(dtype=float))


@once
def _balances(tables: Tables) -> dict[str, pd.Series]:
    table = tables["region"]
    balances = table["balance"].where(table["alignment"] > 0, 0.0).groupby(table["schedule"])
    return {str(schedule): balance.reset_index(drop=True) for schedule, balance in balances}


def growth(spectrum: str, noise: bool) -> Measure:
    """Ratio of the steps of the last power of ten to those of the one before it."""

    def measure(tables: Tables) -> pd.Series:
        steps = rows(tables["decay"], spectrum=spectrum, noise=noise).sort_values("decade")["steps"]
        return pd.Series([steps.iloc[-1] / steps.iloc[-2]])

    return measure


@claim(
    "ren2023/thm43/schedule",
    """At infinite width, some temperatures and lengths of the two stages let learners with negatives end
    aligned and balanced, whatever A is (four spectra, with noise and without).""",
    quotes=EXISTS,
    quantifier="existential",
    word="There exists",
    reading="balanced: a stable rank within a tenth of r; at infinite width",
    looked="the grid was thinned after a look at a finer one: three τ² of Stage 1 made no difference",
    broken_by=put("region", "alignment", 0.0, spectrum="spiked"),
)
def schedule_exists() -> Cells:
    for schedule in product(*GRID.values()):
        balanced = at_least(ends(words(*schedule)), BALANCED, unit="stable rank as a share of r")
        yield words(*schedule), in_every_case(balanced)


@claim(
    "ren2023/sec54/linear-rate",
    f"""In contrastive training at infinite width, the condition number converges to 1 at a linear rate in
    Stage 2 (large temperature τ²): each further power of ten towards 1 takes no longer than the one before,
    whereas under a power law (up to t^-{SLOWEST_POWER:g}) it would.""",
    quotes=LINEAR,
    word="implies a linear convergence rate",
    reading="at infinite width, and near the end: our copy of the paper has lost from which condition number "
    "on it says so",
    looked="the powers of ten and the largest ratio were set after a look at the times",
    broken_by=times("decay", "steps", 2.0, decade=last),
)
def linear_rate() -> Cells:
    for spectrum, noise in product(EVERY_SPECTRUM, (True, False)):
        longer = at_most(
            growth(spectrum, noise),
            10 ** (1 / SLOWEST_POWER),
            unit="ratio of times, from 1e-3 to 1e-4 and from 1e-4 to 1e-5",
        )
        yield f"{spectrum} spectrum" + ("" if noise else ", no noise"), in_every_case(longer)
