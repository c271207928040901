"""The image claims. Those on the paper's own numbers are judged at the paper's scale alone."""

import math
from dataclasses import replace

import pandas as pd

from reprise.evidence.claims import COLLAPSED, Claim, Measure, for_all, ordering, value
from reprise.evidence.measures import applied, column, difference, each_seed
from reprise.papers.jing2022.projector_spectra.cells import START
from reprise.papers.jing2022.spectra import collapsed_values

NEEDS = (
    "a run without departures: ImageNet at its root, and GPUs; compute it with: "
    "snakemake --config tier=paper paper=jing2022"
)
TOP1 = "% linear probe top-1"
DIFFERENCE = "percentage points of linear probe top-1"
READING = "collapsed: under 1e-3 of the largest (ours)"
FEWER = "collapsed singular values of the representation, difference"
NO_SHORTCUT = "directclr, no shortcut"


def accuracy(net: str, part: str = "all", when: str = "accuracy") -> Measure:
    """A probe's, of the trained net, or of the net before training (`initial`)."""
    return column("probes", when, net=net, part=part)


def collapsed_of(net: str, what: str) -> Measure:
    """How many singular values are collapsed."""
    return each_seed(collapsed_values, column("spectra", "log_value", net=net, what=what))


def smallest(net: str, what: str) -> Measure:
    """ln of the smallest singular value over the largest."""
    return each_seed(lambda logs: logs.min() - logs.max(), column("spectra", "log_value", net=net, what=what))


def learned(*nets: str) -> Measure:
    """Percentage points of each net's probe above that of its start."""
    gains = (difference(accuracy(net), accuracy(net, when="initial")) for net in nets)
    return applied(lambda *each: pd.concat(each, ignore_index=True), *gains)


def reaches(name: str, statement: str, published: float, source: str, net: str, part: str = "all") -> Claim:
    return value(
        f"jing2022/{name}",
        statement,
        source=source,
        quantity="accuracy",
        measure=accuracy(net, part),
        published=published,
        unit=TOP1,
        needs=NEEDS,
        learned=learned(net),
    )


def above(name: str, statement: str, source: str, one: str, other: str) -> Claim:
    """One net's probe beats another's."""
    return ordering(
        f"jing2022/{name}",
        statement,
        source=source,
        measure=difference(accuracy(one), accuracy(other)),
        above=0.0,
        unit=DIFFERENCE,
        learned=learned(one, other),
    )


def some_collapse(name: str, statement: str, source: str, net: str, what: str) -> Claim:
    """The smallest singular value is collapsed, which some are before training too, and has fallen since
    then."""
    cells: dict[str, float | Measure] = {
        "collapsed": math.log(COLLAPSED),
        "below its start": smallest(START, what),
    }
    return for_all(
        f"jing2022/{name}",
        statement,
        {
            cell: ordering(
                "", "",
                source=source,
                measure=smallest(net, what),
                below=level,
                unit="ln of the smallest singular value over the largest",
                reading=READING,
                learned=learned(net),
            )
            for cell, level in cells.items()
        },
    )  # fmt: skip


def prevents(name: str, statement: str, source: str, net: str) -> Claim:
    """A net's representation has fewer collapsed values than SimCLR's without a projector."""
    return ordering(
        f"jing2022/{name}",
        statement,
        source=source,
        measure=difference(collapsed_of("none", "representation"), collapsed_of(net, "representation")),
        above=0.0,
        unit=FEWER,
        reading=READING,
        learned=learned("none", net),
    )


CLAIMS = [
    replace(
        value(
            "jing2022/fig2/collapsed-dimensions",
            "About 30 of the 128 singular values of SimCLR's embedding covariance collapse.",
            source="Figure 2, caption",
            quantity="count",
            measure=collapsed_of("nonlinear", "embedding"),
            published=30,
            unit="collapsed singular values of 128",
            needs=NEEDS,
            learned=learned("nonlinear"),
            reading=f"about: between 25 and 35, which round to 30; {READING}",
        ),
        kind="value",
        margin=5.0,
    ),
    some_collapse(
        "fig2/some-collapse",
        "Singular values of SimCLR's embedding covariance collapse in training: at least one, and "
        "further than before it.",
        "Abstract, Sections 1 and 3, Figure 2",
        "nonlinear",
        "embedding",
    ),
    some_collapse(
        "fig7/collapse-without-projector",
        "Without a projector, singular values of SimCLR's representation covariance collapse in "
        "training: at least one, "
        "and further than before it.",
        "Section 6.1, Figure 7b",
        "none",
        "representation",
    ),
    prevents(
        "fig7/projector-prevents-collapse",
        "SimCLR's representation has more collapsed singular values without a projector than with one.",
        "Section 6.1, Figure 7b",
        "nonlinear",
    ),
    prevents(
        "fig9/directclr-prevents-collapse",
        "SimCLR's representation without a projector has more collapsed singular values than DirectCLR's.",
        "Section 6.2, Figure 9",
        "directclr",
    ),
    prevents(
        "fig9/linear-projector-prevents-collapse",
        "SimCLR's representation has more collapsed singular values with no projector than a linear one.",
        "Section 6.2, Figure 9",
        "linear",
    ),
    ordering(
        "jing2022/fig10/rest-learns",
        "A linear probe on the part of DirectCLR's representation that its loss does not see beats the same "
        "probe before training.",
        source="Section 6.2, Figure 10",
        measure=difference(accuracy("directclr", "rest"), accuracy("directclr", "rest", "initial")),
        above=0.0,
        unit=DIFFERENCE,
        learned=learned("directclr"),
    ),
    ordering(
        "jing2022/fig10/through-residual",
        "That part's probe loses accuracy when the last block has no identity shortcut.",
        source="Section 6.2, Figure 10",
        measure=difference(accuracy("directclr", "rest"), accuracy(NO_SHORTCUT, "rest")),
        above=0.0,
        unit=DIFFERENCE,
        learned=learned("directclr", NO_SHORTCUT),
    ),
    reaches(
        "table1/simclr-nonlinear",
        "SimCLR with a 2-layer nonlinear projector reaches 66.5 %.",
        66.5,
        "Table 1",
        "nonlinear",
    ),
    reaches(
        "table1/simclr-linear",
        "SimCLR with a 1-layer linear projector reaches 61.1 %.",
        61.1,
        "Table 1",
        "linear",
    ),
    reaches("table1/simclr-none", "SimCLR without a projector reaches 51.5 %.", 51.5, "Table 1", "none"),
    reaches(
        "table1/directclr", "DirectCLR reaches 62.7 % without a projector.", 62.7, "Table 1", "directclr"
    ),
    above(
        "table1/directclr-above-linear",
        "DirectCLR is above SimCLR with a trainable linear projector.",
        "Abstract, Sections 1, 6.2 and 7, Table 1",
        "directclr",
        "linear",
    ),
    above(
        "table1/nonlinear-above-directclr",
        "SimCLR with a 2-layer nonlinear projector is above DirectCLR.",
        "Table 1",
        "nonlinear",
        "directclr",
    ),
    above(
        "table1/linear-above-none",
        "SimCLR with a linear projector is above SimCLR without one.",
        "Section 6.1, Table 1",
        "linear",
        "none",
    ),
    reaches(
        "sec63/fixed-low-rank",
        "SimCLR with a fixed low-rank projector reaches 62.3 %.",
        62.3,
        "Section 6.3, fixed low-rank projector",
        "low_rank",
    ),
    reaches(
        "sec63/trainable-diagonal",
        "SimCLR with a trainable diagonal projector reaches 60.2 %.",
        60.2,
        "Section 6.3, trainable diagonal projector",
        "diagonal",
    ),
    reaches(
        "sec63/probe-on-subvector",
        "A linear probe on DirectCLR's sub-vector alone reaches 47.9 %.",
        47.9,
        "Section 6.3, linear probe on subvector",
        "directclr",
        "subvector",
    ),
    above(
        "sec63/linear-above-diagonal",
        "SimCLR with a trainable linear projector is above SimCLR with a trainable diagonal one.",
        "Section 6.3, trainable diagonal projector",
        "linear",
        "diagonal",
    ),
    ordering(
        "jing2022/sec63/all-above-subvector",
        "A linear probe on all of DirectCLR's representation is above one on the sub-vector.",
        source="Section 6.3, linear probe on subvector",
        measure=difference(accuracy("directclr"), accuracy("directclr", "subvector")),
        above=0.0,
        unit=DIFFERENCE,
        learned=learned("directclr"),
    ),
]
