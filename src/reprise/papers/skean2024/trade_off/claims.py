"""What Section 3.1 says of weights between the invariance and the variance."""

import pandas as pd

from reprise.evidence.claims import Claim, Measure, ordering
from reprise.papers.skean2024.rates import at_own_rate, gains
from reprise.papers.skean2024.trade_off.params import OTHERS
from reprise.study.experiment import Tables


def at_weight(weight: float) -> Measure:
    """The linear probe at that weight's own learning rate, by seed."""
    return lambda tables: _own(tables, weight).set_index("seed")["top1"]


def learned(weight: float) -> Measure:
    """Gains over random initialisation with that weight and with equal ones."""
    return lambda tables: pd.concat([gains(_own(tables, of)) for of in (1.0, weight)])


def _own(tables: Tables, weight: float) -> pd.DataFrame:
    own = at_own_rate(tables["probes"], tables["probes"])
    return own[own["weight"] == weight]


CLAIMS: list[Claim] = [
    ordering(
        f"skean2024/sec31/equal-weights-above-{weight:g}",
        f"FroSSL's linear probe is better with both terms weighted equally than with {weight:g} times the "
        "invariance, each at its best learning rate.",
        source="Section 3.1",
        measure=at_weight(1.0),
        above=at_weight(weight),
        unit="% top-1 of a linear probe",
        learned=learned(weight),
    )
    for weight in OTHERS
]
