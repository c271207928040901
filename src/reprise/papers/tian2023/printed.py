"""Sentences of the paper about its own Table 1."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import printed
from reprise.papers.tian2023.published import CELL

UNIT = "matching score"


def gains(tables: Tables) -> pd.Series:
    """By how much χ+ is better without the variance's gradient, of each (beta, P, mean backpropagated)."""
    table = tables["published"].query("artifact == 'Table 1'").set_index(CELL)["value"]
    return table.xs(False, level="backprop_variance") - table.xs(True, level="backprop_variance")


CLAIMS: list[Claim] = [
    printed(
        "tian2023/table1-printed/variance-detached-better",
        "In Table 1 as printed, without the gradient through BatchNorm's variance the score is "
        "better, on average over the table.",
        quantifier="generic",
        word="is actually better",
        source="Appendix E.2, on Table 1",
        unit=UNIT,
        measure=lambda tables: pd.Series([gains(tables).mean()]),
        above=0.0,
    ),
    ours(
        printed(
            "tian2023/table1-printed/variance-detached-never-worse",
            "In no cell of Table 1 as printed is the score worse without the gradient through BatchNorm's"
            " variance than with it.",
            word="In no cell",
            source="our reading of Appendix E.2, on Table 1",
            unit=f"{UNIT}, the smallest gain",
            measure=lambda tables: pd.Series([gains(tables).min()]),
            above=-0.005,  # half of the last printed digit
        )
    ),
]
