"""Tables in which every claim of this room holds."""

import pandas as pd

from reprise.evidence.formula import without_errors
from reprise.papers.jing2022.gradient_flow.claims import THEORY
from reprise.papers.jing2022.gradient_flow.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Formulas without errors."""
    return {"identities": without_errors(THEORY, params.seed_range(params.points))}
