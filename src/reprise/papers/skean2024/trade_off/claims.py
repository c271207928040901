"""Claim of Section 3.1 about weights between the invariance and the variance."""

from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import PERCENT, Measure, above
from reprise.evidence.edits import plus
from reprise.evidence.measures import column
from reprise.papers.skean2024.learned import learned
from reprise.papers.skean2024.trade_off.experiment import OTHERS


def at_weight(weight: float) -> Measure:
    """The linear probe of a weight at its own learning rate."""
    return column("probes", "top1", weight=weight)


@claim(
    "skean2024/sec31/equal-weights",
    """FroSSL's linear probe is better with both terms weighted equally than with another weight of the
    invariance, each at its best learning rate.""",
    quotes=Quotation(
        "a grid search showed that the optimal tradeoff was when the terms were equally weighted",
        at="Section 3.1",
    ),
    word="the optimal tradeoff was",
    broken_by=plus("probes", "top1", -20.0, weight=1.0),
)
def equal_weights() -> Cells:
    for weight in OTHERS:
        better = above(
            at_weight(1.0),
            at_weight(weight),
            unit="% top-1 of a linear probe",
            range=PERCENT,
            learned=learned("probes", weight=1.0),
        )
        yield f"weight {weight:g}", better
