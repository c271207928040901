"""Theorem 4.3 (b), an existence: somewhere in the region of schedules it holds on every A."""

from itertools import product

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours
from reprise.evidence.claims import for_all, for_some
from reprise.evidence.comparison import MARGINS, Measure, at_least, at_most, in_every_case, near
from reprise.evidence.measures import column, rows
from reprise.papers.ren2023.schedules.experiment import SCHEDULE, Params, words
from reprise.papers.ren2023.spectra import EVERY_SPECTRUM, SPECTRA

GRID = {name: Params.model_fields[name].default for name in SCHEDULE}
"""A run with fewer schedules has no observations of the others."""
BALANCED = 1 - MARGINS["singular value"]
"""A balance score from this share of r on counts as r."""
SLOWEST_POWER = 10.0
"""A power law with this exponent takes 10^(1/10) times as long for each further power of ten."""
CORNERS = {
    f"τ² = {first:g}, then {second:g}, {steps} steps of Stage 2": {
        "stage1_tau2": first,
        "stage2_tau2": second,
        "stage1_steps": min(GRID["stage1_steps"]),
        "stage2_steps": steps,
    }
    for first in (min(GRID["stage1_tau2"]), max(GRID["stage1_tau2"]))
    for second in (min(GRID["stage2_tau2"]), max(GRID["stage2_tau2"]))
    for steps in GRID["stage2_steps"]
    if steps <= Params.model_fields["corner_steps"].default
}


def ends(schedule: str) -> Measure:
    """In every case, the balance score as a share of r; 0 where the learners are not aligned."""

    def measure(tables: Tables) -> pd.Series:
        table = rows(tables["region"], schedule=schedule)
        return table["balance"].where(table["alignment"] > 0, 0.0).reset_index(drop=True)

    return measure


def growth(spectrum: str, noise: bool) -> Measure:
    """How many times as long the last power of ten takes as the one before it."""

    def measure(tables: Tables) -> pd.Series:
        steps = rows(tables["decay"], spectrum=spectrum, noise=noise).sort_values("decade")["steps"]
        return pd.Series([steps.iloc[-1] / steps.iloc[-2]])

    return measure


UNIT = "stable rank as a share of r"

CLAIMS = [
    for_some(
        "ren2023/thm43/schedule",
        "Some temperatures and lengths of the two stages let learners with negatives end aligned and "
        "balanced, whatever A is (four spectra, with noise and without).",
        {
            words(*schedule): in_every_case(at_least(ends(words(*schedule)), BALANCED, unit=UNIT))
            for schedule in product(*GRID.values())
        },
        word="There exists",
        source="Theorem 4.3 (b)",
        reading="balanced: a stable rank within a tenth of r; at infinite width",
        looked="the grid was thinned after a look at a finer one: three τ² of Stage 1 made no difference",
    ),
    for_all(
        "ren2023/sec54/linear-rate",
        "In contrastive training, Stage 2 (large temperature τ²) converges at a linear rate: the condition "
        "number less 1 takes no longer for each further "
        f"power of ten than for the one before, as under a power law it would (up to t^-{SLOWEST_POWER:g}).",
        {
            f"{spectrum} spectrum" + ("" if noise else ", no noise"): in_every_case(
                at_most(
                    growth(spectrum, noise),
                    10 ** (1 / SLOWEST_POWER),
                    unit="ratio of times, from 1e-3 to 1e-4 and from 1e-4 to 1e-5",
                )
            )
            for spectrum, noise in product(EVERY_SPECTRUM, (True, False))
        },
        word="implies a linear convergence rate",
        source="Section 5.4",
        reading="at infinite width, and near the end",
        looked="the powers of ten and the largest ratio were set after a look at the times",
    ),
    ours(
        for_all(
            "ren2023/thm43/schedule-corners",
            "At the corners of the region of temperatures and lengths that balance the limit, descent at "
            "finite width ends as balanced as the limit.",
            {
                name: in_every_case(
                    near(
                        column("corners", "balance", by="spectrum", **corner),
                        column("region", "balance", by="spectrum", spectrum=SPECTRA, noise=True, **corner),
                        quantity="score",
                        unit=UNIT,
                    )
                )
                for name, corner in CORNERS.items()
            },
            quantifier="similar",
            word="as balanced as",
            source="Theorem 4.3 (b)",
        )
    ),
]
