"""What Section 3.1 says of weights between the invariance and the variance."""

from reprise.evidence.claim import Claim
from reprise.evidence.claims import for_all
from reprise.evidence.comparison import PERCENT, Measure, above
from reprise.evidence.measures import column
from reprise.papers.skean2024.learned import learned
from reprise.papers.skean2024.trade_off.experiment import OTHERS


def at_weight(weight: float) -> Measure:
    """The linear probe at that weight's own learning rate."""
    return column("probes", "top1", weight=weight)


CLAIMS: list[Claim] = [
    for_all(
        "skean2024/sec31/equal-weights",
        "FroSSL's linear probe is better with both terms weighted equally than with another weight "
        "of the invariance, each "
        "at its best learning rate.",
        {
            f"weight {weight:g}": above(
                at_weight(1.0),
                at_weight(weight),
                unit="% top-1 of a linear probe",
                range=PERCENT,
                learned=learned("probes", weight=1.0),
            )
            for weight in OTHERS
        },
        source="Section 3.1",
        word="the optimal tradeoff was",
    )
]
