"""Tables in which every claim of this room holds."""

import pandas as pd

from reprise.evidence.formula import without_errors
from reprise.papers.esser2024.theory.claims import THEORY
from reprise.papers.esser2024.theory.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Formulas that hold."""
    return {"identities": without_errors(THEORY, params.seed_range(params.points))}
