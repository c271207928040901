"""The image claims. Those on the paper's own numbers are judged at the paper's scale alone."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.datasets.catalogue import DATA_SETS
from reprise.evidence import comparison
from reprise.evidence.claim import Claim, single
from reprise.evidence.claims import for_all, ordering, value
from reprise.evidence.comparison import Comparison, Measure, Premise
from reprise.evidence.learning import ELSEWHERE, gain
from reprise.evidence.measures import applied, column, difference, each_seed, selected
from reprise.papers.jing2022.projector_spectra.networks import OWN, START
from reprise.papers.jing2022.projector_spectra.settings import WITHOUT_SHORTCUT
from reprise.papers.jing2022.spectra import collapsed_values, has_collapse, rank_of_covariance

NEEDS = (
    "a run without departures: ImageNet at its root, and GPUs; compute it with: "
    "snakemake --config tier=paper paper=jing2022"
)
TOP1 = "% linear probe top-1"
DIFFERENCE = "percentage points of linear probe top-1"
READING = "collapsed: under 1e-3 of the largest (ours)"
RANK = "effective rank"
RANK_READING = (
    "collapse: a small effective rank, exp of the entropy of the shares of the covariance's values (ours)"
)
LOOKED = "the premise, that something collapses without a projector, after nothing did on the stand-ins"


def accuracy(net: str, part: str = "all", when: str = "accuracy") -> Measure:
    """A probe's, of the trained net, or of the net before training (`initial`)."""
    return column("probes", when, net=net, part=part)


def collapsed_of(net: str, what: str, **where: Any) -> Measure:
    """How many singular values are collapsed."""
    return each_seed(collapsed_values, _spectrum(net, what, where))


def rank_of(net: str, what: str, **where: Any) -> Measure:
    """The effective rank."""
    return each_seed(rank_of_covariance, _spectrum(net, what, where))


def _spectrum(net: str, what: str, where: Mapping[str, Any]) -> Measure:
    return column("spectra", "log_value", net=net, what=what, **(where or OWN))


def learned(*nets: str) -> Measure:
    """What each net's probe gains (`evidence.learning.gain`) on the experiment's own data set: the labels of
    photographs, which say of which one a crop is, are no measure of learning."""
    networks = selected("probes", net=nets, part="all")

    def gains(tables: Tables) -> pd.Series:
        probes = networks(tables)
        return gain(probes["accuracy"], probes["initial"], probes)

    return gains


def collapse_to_prevent(**where: Any) -> Premise:
    """The collapse of the network without a projector that others are said to prevent."""
    return Premise(
        "collapse without a projector that could be prevented: no singular value below 1e-5 of the largest, "
        "no fall by e^4 between neighbours",
        each_seed(has_collapse, _spectrum("none", "representation", where)),
    )


def lead(one: Measure, other: Measure) -> Measure:
    """One measure less another, in the seeds that both networks have."""
    return applied(lambda a, b: a[a.index.isin(b.index)] - b[b.index.isin(a.index)], one, other)


def shared(one: Measure, other: Measure) -> Measure:
    """A measure in the seeds that both networks have."""
    return applied(lambda a, b: a[a.index.isin(b.index)], one, other)


def reaches(name: str, statement: str, published: float, source: str, net: str, part: str = "all") -> Claim:
    return value(
        f"jing2022/{name}",
        statement,
        source=source,
        quantity="accuracy",
        measure=accuracy(net, part),
        published=published,
        unit=TOP1,
        word=str(published),
        needs=NEEDS,
        learned=learned(net),
    )


def above(name: str, statement: str, source: str, one: str, other: str, word: str, **rest: Any) -> Claim:
    """One net's probe beats another's."""
    return ordering(
        f"jing2022/{name}",
        statement,
        source=source,
        measure=lead(accuracy(one), accuracy(other)),
        quantifier="generic",
        word=word,
        above=0.0,
        unit=DIFFERENCE,
        learned=learned(one, other),
        **rest,
    )


def above_none(name: str, statement: str, source: str, net: str, word: str) -> Claim:
    """A net's probe beats that of the net whose representation collapses for want of a projector."""
    return above(name, statement, source, net, "none", word, premise=collapse_to_prevent(), looked=LOOKED)


def on_each_data_set(
    name: str,
    statement: str,
    cells: Callable[[str], Mapping[str, Comparison]],
    source: str,
    reading: str,
    word: str,
    looked: str = "",
) -> Claim:
    """A sentence about spectra, on each data set that a run has.

    Args:
        cells: from a data set to what the sentence says there, each by its name.
    """
    named = {
        ", ".join(filter(None, (data_set, each))): cell
        for data_set in DATA_SETS
        for each, cell in cells(data_set).items()
    }
    return for_all(
        f"jing2022/{name}",
        statement,
        named,
        source=source,
        quantifier="generic",
        word=word,
        partial=True,
        reading=f"{reading}; {ELSEWHERE}",
        looked=looked,
    )


def some_collapse(name: str, statement: str, source: str, net: str, what: str, word: str) -> Claim:
    """More singular values are collapsed than before training, when some are already, and the effective rank
    is smaller."""

    def cells(data_set: str) -> dict[str, Comparison]:
        return {
            "collapsed values": comparison.above(
                collapsed_of(net, what, data_set=data_set),
                collapsed_of(START, what, data_set=data_set),
                unit=f"collapsed singular values of the {what}",
                learned=learned(net),
            ),
            "effective rank": comparison.below(
                rank_of(net, what, data_set=data_set),
                rank_of(START, what, data_set=data_set),
                unit=f"{RANK} of the {what}",
                learned=learned(net),
            ),
        }

    return on_each_data_set(name, statement, cells, source, READING, word)


def prevents(figure: str, name: str, who: str, source: str, net: str) -> list[Claim]:
    """A net's representation has fewer collapsed values than SimCLR's without a projector; and a larger
    effective rank: the paper shows spectra, and says collapse, without a measure.

    Args:
        who: the net, in words.
    """

    def differs(
        number: Callable[..., Measure], how: Callable[..., Comparison], unit: str
    ) -> Callable[[str], dict[str, Comparison]]:
        """A number of the net is above or below that of the net without a projector."""

        def cells(data_set: str) -> dict[str, Comparison]:
            own, without = (number(each, "representation", data_set=data_set) for each in (net, "none"))
            return {
                "": how(
                    shared(own, without),
                    shared(without, own),
                    unit=f"{unit} of the representation",
                    learned=learned("none", net),
                    premise=collapse_to_prevent(data_set=data_set),
                )
            }

        return cells

    return [
        on_each_data_set(
            f"{figure}/{name}-prevents-collapse",
            f"{who} has fewer collapsed singular values than SimCLR's without a projector.",
            differs(collapsed_of, comparison.below, "collapsed singular values"),
            source,
            READING,
            "prevents",
            LOOKED,
        ),
        on_each_data_set(
            f"{figure}/{name}-raises-rank",
            f"{who} has a larger effective rank than SimCLR's without a projector.",
            differs(rank_of, comparison.above, RANK),
            source,
            RANK_READING,
            "prevents",
            LOOKED,
        ),
    ]


CLAIMS = [
    single(
        "jing2022/fig2/collapsed-dimensions",
        "About 30 of the 128 singular values of SimCLR's embedding covariance collapse.",
        comparison.near(
            collapsed_of("nonlinear", "embedding"),
            30,
            quantity="count",
            margin=5.0,
            unit="collapsed singular values of 128",
            learned=learned("nonlinear"),
        ),
        source="Figure 2, caption",
        word="About 30",
        needs=NEEDS,
        reading=f"about: between 25 and 35, which round to 30; {READING}",
    ),
    some_collapse(
        "fig2/some-collapse",
        "Singular values of SimCLR's embedding covariance collapse in training: more than before it, and to "
        "a smaller effective rank.",
        "Abstract, Sections 1 and 3, Figure 2",
        "nonlinear",
        "embedding",
        "also happens in",
    ),
    some_collapse(
        "fig7/collapse-without-projector",
        "Without a projector, singular values of SimCLR's representation covariance collapse in training: "
        "more than before it, and to a smaller effective rank.",
        "Section 6.1, Figure 7b",
        "none",
        "representation",
        "happens when",
    ),
    *prevents(
        "fig7",
        "projector",
        "SimCLR's representation with a 2-layer nonlinear projector",
        "Section 6.1, Figure 7b",
        "nonlinear",
    ),
    *prevents("fig9", "directclr", "DirectCLR's representation", "Section 6.2, Figure 9", "directclr"),
    *prevents(
        "fig9",
        "linear-projector",
        "SimCLR's representation with a linear projector",
        "Section 6.2, Figure 9",
        "linear",
    ),
    ordering(
        "jing2022/fig10/rest-learns",
        "A linear probe on the part of DirectCLR's representation that its loss does not see beats the same "
        "probe before training.",
        source="Section 6.2, Figure 10",
        word="entire",
        measure=difference(accuracy("directclr", "rest"), accuracy("directclr", "rest", "initial")),
        above=0.0,
        unit=DIFFERENCE,
        learned=learned("directclr"),
    ),
    ordering(
        "jing2022/fig10/through-residual",
        "The linear probe on the part of DirectCLR's representation that its loss does not see loses "
        "accuracy when the last block has no identity shortcut.",
        source="Section 6.2, Figure 10",
        quantifier="generic",
        word="takes advantage of",
        measure=lead(accuracy("directclr", "rest"), accuracy(WITHOUT_SHORTCUT, "rest")),
        above=0.0,
        unit=DIFFERENCE,
        learned=learned("directclr", WITHOUT_SHORTCUT),
    ),
    reaches(
        "table1/simclr-nonlinear",
        "A linear probe of SimCLR with a 2-layer nonlinear projector reaches 66.5 % on ImageNet.",
        66.5,
        "Table 1",
        "nonlinear",
    ),
    reaches(
        "table1/simclr-linear",
        "A linear probe of SimCLR with a 1-layer linear projector reaches 61.1 % on ImageNet.",
        61.1,
        "Table 1",
        "linear",
    ),
    reaches(
        "table1/simclr-none",
        "A linear probe of SimCLR without a projector reaches 51.5 % on ImageNet.",
        51.5,
        "Table 1",
        "none",
    ),
    reaches(
        "table1/directclr",
        "A linear probe of DirectCLR, which has no projector, reaches 62.7 % on ImageNet.",
        62.7,
        "Table 1",
        "directclr",
    ),
    above(
        "table1/directclr-above-linear",
        "The linear probe of DirectCLR is above that of SimCLR with a trainable linear projector.",
        "Abstract, Sections 1, 6.2 and 7, Table 1",
        "directclr",
        "linear",
        "outperforms",
    ),
    above(
        "table1/nonlinear-above-directclr",
        "The linear probe of SimCLR with a 2-layer nonlinear projector is above that of DirectCLR.",
        "Table 1",
        "nonlinear",
        "directclr",
        "66.5",
    ),
    above_none(
        "table1/nonlinear-above-none",
        "The linear probe of SimCLR with a 2-layer nonlinear projector is above that of SimCLR without one.",
        "Section 6.1, Table 1",
        "nonlinear",
        "substantially improves",
    ),
    above_none(
        "table1/directclr-above-none",
        "The linear probe of DirectCLR is above that of SimCLR without a projector.",
        "Section 6.2, Table 1",
        "directclr",
        "62.7",
    ),
    above_none(
        "table1/linear-above-none",
        "The linear probe of SimCLR with a linear projector is above that of SimCLR without one.",
        "Section 6.1, Table 1",
        "linear",
        "substantially improves",
    ),
    reaches(
        "sec63/fixed-low-rank",
        "A linear probe of SimCLR with a fixed low-rank projector reaches 62.3 % on ImageNet.",
        62.3,
        "Section 6.3, fixed low-rank projector",
        "low_rank",
    ),
    reaches(
        "sec63/trainable-diagonal",
        "A linear probe of SimCLR with a trainable diagonal projector reaches 60.2 % on ImageNet.",
        60.2,
        "Section 6.3, trainable diagonal projector",
        "diagonal",
    ),
    reaches(
        "sec63/probe-on-subvector",
        "A linear probe on DirectCLR's sub-vector alone reaches 47.9 % on ImageNet.",
        47.9,
        "Section 6.3, linear probe on subvector",
        "directclr",
        "subvector",
    ),
    above(
        "sec63/linear-above-diagonal",
        "The linear probe of SimCLR with a trainable linear projector is above that of SimCLR with a "
        "trainable diagonal one.",
        "Section 6.3, trainable diagonal projector",
        "linear",
        "diagonal",
        "slightly worse than",
    ),
    ordering(
        "jing2022/sec63/all-above-subvector",
        "A linear probe on all of DirectCLR's representation is above one on the sub-vector.",
        source="Section 6.3, linear probe on subvector",
        word="still contains useful information",
        measure=difference(accuracy("directclr"), accuracy("directclr", "subvector")),
        above=0.0,
        unit=DIFFERENCE,
        learned=learned("directclr"),
    ),
]
