"""Claim of Section 4.1 about FroSSL's batch size."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Quotation, claim
from reprise.evidence.comparison import MARGINS, Comparison, above
from reprise.evidence.edits import plus
from reprise.evidence.measures import column, difference, first, last, rows
from reprise.papers.skean2024.learned import learned


def varied(tables: Tables) -> pd.DataFrame:
    """The linear probes of the networks that differ in batch size only: of the dimension that they share."""
    probes = tables["probes"]
    shared = probes.groupby("dim")["batch"].nunique().idxmax()
    return rows(probes, dim=shared)


@claim(
    "skean2024/sec41/small-batches",
    """FroSSL needs no large batches for its best performance: after as many images, its linear probe at the
    smallest batch size is at most the margin of accuracies below that at the largest.""",
    quotes=Quotation("this is not a property that FroSSL shares", at="Section 4.1"),
    word="is not a property",
    reading="ours: the smallest and the largest batch of Appendix C, at one learning rate, which pilots at "
    "the batch of the settings choose",
    broken_by=plus("probes", "top1", -20.0, batch=first),
)
def small_batches() -> Comparison:
    return above(
        difference(column(varied, "top1", batch=first), column(varied, "top1", batch=last)),
        -MARGINS["accuracy"],
        unit="percentage points of a linear probe, smallest over largest batch, against the margin",
        learned=learned(varied, batch=lambda sizes: first(sizes) | last(sizes)),
    )
