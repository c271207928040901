"""Tables in which every claim of this room holds."""

from itertools import product

import pandas as pd

from reprise.papers.ren2023.schedules.experiment import SCHEDULE, Params, words
from reprise.papers.ren2023.spectra import EVERY_SPECTRUM

DECADES = 4
"""Powers of ten, from 0.1 to 1e-5."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Every schedule balances every A, and Stage 2 takes as long for each power of ten."""
    cases = list(product(EVERY_SPECTRUM, (True, False)))
    schedules = [words(*schedule) for schedule in product(*(getattr(params, name) for name in SCHEDULE))]
    region = [
        (schedule, *case, 0.95 + 0.005 * number)
        for schedule in schedules
        for number, case in enumerate(cases)
    ]
    decay = [
        (*case, decade, 100 + number) for number, case in enumerate(cases) for decade in range(1, DECADES + 1)
    ]
    return {
        "region": pd.DataFrame(region, columns=["schedule", "spectrum", "noise", "balance"]).assign(
            alignment=1.0
        ),
        "decay": pd.DataFrame(decay, columns=["spectrum", "noise", "decade", "steps"]).astype(
            {"steps": float}
        ),
    }
