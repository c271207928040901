"""What Section 4.1 says of FroSSL's batch size."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim
from reprise.evidence.claims import ordering
from reprise.evidence.comparison import MARGINS
from reprise.evidence.measures import column, difference, first, last, rows
from reprise.papers.skean2024.learned import learned


def varied(tables: Tables) -> pd.DataFrame:
    """The linear probes of the networks that differ in batch size only: of the dimension that they share."""
    probes = tables["probes"]
    shared = probes.groupby("dim")["batch"].nunique().idxmax()
    return rows(probes, dim=shared)


CLAIMS: list[Claim] = [
    ordering(
        "skean2024/sec41/small-batches",
        "FroSSL needs no large batches for its best performance: after as many images, its linear probe "
        "at the smallest batch size is at most the margin of accuracies below that at the largest.",
        source="Section 4.1, after which Appendix C has a graph",
        measure=difference(column(varied, "top1", batch=first), column(varied, "top1", batch=last)),
        above=-MARGINS["accuracy"],
        unit="percentage points of a linear probe, smallest over largest batch, against the margin",
        learned=learned(varied, batch=lambda sizes: first(sizes) | last(sizes)),
        word="is not a property",
        reading="ours: the smallest and the largest batch of Appendix C, at one learning rate, which pilots "
        "at the batch of the settings choose",
    )
]
