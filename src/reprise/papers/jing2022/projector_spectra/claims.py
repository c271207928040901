"""The image claims. Those on the paper's own numbers are judged at the paper's scale alone.

A sentence that compares what stands between representation and loss speaks of remedies: "The projector in
contrastive learning is essential to prevent dimensional collapse in the representation space" (Section 6.1).
It is judged on ImageNet, and on other images only where there is a collapse to prevent, which 169 settings
were searched for (docs/collapse_search.md). A sentence about one network, or about its shortcut, is judged
everywhere.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.datasets.catalogue import DATA_SETS
from reprise.evidence.claim import Cells, Change, Claim, Quotation, claim, each
from reprise.evidence.comparison import Comparison, Measure, Premise, above, below, near
from reprise.evidence.edits import plus, put, swapped, together
from reprise.evidence.learning import ELSEWHERE, gain
from reprise.evidence.measures import applied, column, difference, each_seed, selected
from reprise.papers.jing2022.projector_spectra.networks import OWN, START
from reprise.papers.jing2022.projector_spectra.settings import WITHOUT_SHORTCUT
from reprise.papers.jing2022.published import number
from reprise.papers.jing2022.spectra import collapsed_values, has_collapse

NEEDS = (
    "a run without departures: ImageNet at its root, and GPUs; compute it with: "
    "snakemake --config tier=paper paper=jing2022"
)
TOP1 = "% linear probe top-1"
DIFFERENCE = "percentage points of linear probe top-1"
READING = "collapsed: under 1e-3 of the largest (ours)"
IN_TRAINING = f"{READING}; in training: more of them than before it (ours); {ELSEWHERE}"
PAPERS_OWN = "imagenet"
"""The data set of the paper's sentences, on which a collapse that is not there speaks against them."""
WHERE = (
    "on ImageNet, and on other images only where singular values of the representation collapse in training "
    "without a projector: of 169 settings none did for every seed (docs/collapse_search.md)"
)
PREMISE = (
    "the premise, that the images are ImageNet's, or something collapses without a projector, after nothing "
    "did on the stand-ins; that it did not before training either, after untrained networks had such values"
)
COUNTED = "that the effective rank has no part, after it had been judged with the collapsed values"
IMPROVES = "substantially: by any difference that is worth a name (ours)"
OF_THE_TABLE = "the order of two printed numbers, which the text does not compare"


def accuracy(net: str, part: str = "all", when: str = "accuracy") -> Measure:
    """Accuracy of a probe of the trained net, or of the net before training (`initial`)."""
    return column("probes", when, net=net, part=part)


def collapsed_of(net: str, what: str, **where: Any) -> Measure:
    """Number of collapsed singular values."""
    return each_seed(collapsed_values, _spectrum(net, what, where))


def _spectrum(net: str, what: str, where: Mapping[str, Any]) -> Measure:
    return column("spectra", "log_value", net=net, what=what, **(where or OWN))


def learned(*nets: str) -> Measure:
    """Gain of each net's probe (`evidence.learning.gain`) on the experiment's own data set: the labels of
    photographs, which say of which one a crop is, are no measure of learning."""
    networks = selected("probes", net=nets, part="all")

    def gains(tables: Tables) -> pd.Series:
        probes = networks(tables)
        return gain(probes["accuracy"], probes["initial"], probes)

    return gains


def collapse_to_prevent(**where: Any) -> Premise:
    """Returns the premise that the representation collapses in training without a projector. On ImageNet,
    whose collapse the paper shows, it holds by itself."""
    after, before = (
        each_seed(has_collapse, _spectrum(net, "representation", where)) for net in ("none", START)
    )
    images = selected("spectra", net="none", what="representation", **(where or OWN))

    def is_there(tables: Tables) -> pd.Series:
        trained, start = after(tables), before(tables)
        of_the_paper = bool((images(tables)["data_set"] == PAPERS_OWN).all())
        return ((trained > start.reindex(trained.index)) | of_the_paper).astype(float)

    return Premise(
        "collapse without a projector: in training no singular value of the representation comes below 1e-5 "
        "of the largest, or below e^-4 of the next larger one (docs/collapse_search.md)",
        is_there,
    )


def lead(one: Measure, other: Measure) -> Measure:
    """One measure less another, in the seeds that both networks have."""
    return applied(lambda a, b: a[a.index.isin(b.index)] - b[b.index.isin(a.index)], one, other)


def shared(one: Measure, other: Measure) -> Measure:
    """A measure in the seeds that both networks have."""
    return applied(lambda a, b: a[a.index.isin(b.index)], one, other)


def beats(one: str, other: str) -> Comparison:
    """One remedy's probe is above another's or that of none, and both nets have learned."""
    ahead = lead(accuracy(one), accuracy(other))
    return above(ahead, 0.0, unit=DIFFERENCE, learned=learned(one, other), premise=collapse_to_prevent())


def beaten(one: str, other: str, part: str = "all") -> Change:
    """Exchanges the probes of two nets."""
    return swapped("probes", "net", one, other, part=part)


def collapses_in_training(
    net: str, what: str, premise: Callable[..., Premise | None] = lambda **where: None
) -> Cells:
    """On each data set, more singular values are collapsed than before training, when some are already."""
    unit = f"collapsed singular values of the {what}"
    for data_set in DATA_SETS:
        trained, start = (collapsed_of(one, what, data_set=data_set) for one in (net, START))
        there = premise(data_set=data_set)
        yield data_set, above(trained, start, unit=unit, learned=learned(net), premise=there)


def without_collapse(net: str, what: str) -> Change:
    """Makes a net's singular values equal."""
    return put("spectra", "log_value", 0.0, net=net, what=what)


def beyond_the_second(index: pd.Series) -> pd.Series:
    """Tells which singular values are neither the largest nor the next one."""
    return index > index.min() + 1


def beyond_the_first(index: pd.Series) -> pd.Series:
    """Tells which singular values are not the largest."""
    return index > index.min()


ALL_SMALL_BEFORE = together(
    put("spectra", "log_value", -3.9, net=START, what="representation", index=beyond_the_first),
    put("spectra", "log_value", -7.8, net=START, what="representation", index=beyond_the_second),
)
"""All but two singular values are below 1e-3 of the largest before training, none of them by a steep fall."""


# Collapse.


@claim(
    "jing2022/fig2/collapsed-dimensions",
    """About 30 of the 128 singular values of SimCLR's embedding covariance collapse.""",
    quotes=Quotation(
        "About 30 singular values drop to zero, indicating those dimensions in the embedding space have "
        "collapsed",
        at="Figure 2, Section 3",
    ),
    word="About 30",
    needs=NEEDS,
    reading=f"about: between 25 and 35, which round to 30; {READING}",
    broken_by=without_collapse("nonlinear", "embedding"),
)
def collapsed_dimensions() -> Comparison:
    return near(
        collapsed_of("nonlinear", "embedding"),
        number("fig2/collapsed-dimensions"),
        quantity="count",
        margin=5.0,
        unit="collapsed singular values of 128",
        learned=learned("nonlinear"),
    )


@claim(
    "jing2022/fig2/some-collapse",
    """Singular values of SimCLR's embedding covariance collapse in training: more of them are collapsed after
    it than before.""",
    quotes=(
        Quotation("dimensional collapse also happens in contrastive learning", at="Abstract"),
        Quotation("We observe that a number of singular values collapse to zero", at="Figure 2, Section 3"),
    ),
    quantifier="generic",
    word="also happens in",
    partial=True,
    reading=IN_TRAINING,
    looked=COUNTED,
    broken_by=without_collapse("nonlinear", "embedding"),
)
def some_collapse() -> Cells:
    return collapses_in_training("nonlinear", "embedding")


@claim(
    "jing2022/fig7/collapse-without-projector",
    """Without a projector, singular values of SimCLR's representation covariance collapse in training: more
    of them are collapsed after it than before.""",
    quotes=(
        Quotation(
            "collapse in representation space happens when the model is trained without a projector",
            at="Section 6.1",
        ),
        Quotation(
            "Without a projector, SimCLR suffers from dimensional collapse in the representation space",
            at="Figure 7b, Section 6.1",
        ),
    ),
    quantifier="generic",
    word="happens when",
    partial=True,
    reading=f"{IN_TRAINING}; {WHERE}",
    looked=f"{COUNTED}; {PREMISE}",
    broken_by=(
        without_collapse("none", "representation"),  # on ImageNet
        ALL_SMALL_BEFORE,
    ),
)
def collapse_without_projector() -> Cells:
    return collapses_in_training("none", "representation", collapse_to_prevent)


class Preventing(NamedTuple):
    """A net whose representation is said not to collapse.

    Attributes:
        who: the net, in words.
    """

    name: str
    who: str
    net: str
    quotes: Quotation | tuple[Quotation, ...]


DIRECTCLR_PREVENTS = Quotation(
    "DirectCLR prevents dimensional collapse in the representation space similar to the functionality of a "
    "trainable projector in SimCLR",
    at="Section 6.2",
)
PREVENTING = (
    Preventing(
        "fig7/projector-prevents-collapse",
        "SimCLR's representation with a 2-layer nonlinear projector",
        "nonlinear",
        Quotation("the projector prevents the collapse in the representation space", at="Section 6.1"),
    ),
    Preventing(
        "fig9/directclr-prevents-collapse", "DirectCLR's representation", "directclr", DIRECTCLR_PREVENTS
    ),
    Preventing(
        "fig9/linear-projector-prevents-collapse",
        "SimCLR's representation with a linear projector",
        "linear",
        (
            DIRECTCLR_PREVENTS,
            Quotation(
                "Similar to SimCLR with projectors, DirectCLR is able to prevent dimensional collapse",
                at="Figure 9, Section 6.2",
            ),
        ),
    ),
)


@each(PREVENTING)
def prevents_collapse(one: Preventing) -> Claim:
    @claim(
        f"jing2022/{one.name}",
        f"""{one.who} has fewer collapsed singular values than SimCLR's without a projector.""",
        quotes=one.quotes,
        quantifier="generic",
        word="prevents",
        partial=True,
        reading=f"{READING}; {ELSEWHERE}; {WHERE}",
        looked=f"{PREMISE}; {COUNTED}",
        broken_by=put(
            "spectra", "log_value", -20.0, net=one.net, what="representation", index=beyond_the_first
        ),
    )
    def fewer() -> Cells:
        for data_set in DATA_SETS:
            own = collapsed_of(one.net, "representation", data_set=data_set)
            without = collapsed_of("none", "representation", data_set=data_set)
            prevented = below(
                shared(own, without),
                shared(without, own),
                unit="collapsed singular values of the representation",
                learned=learned("none", one.net),
                premise=collapse_to_prevent(data_set=data_set),
            )
            yield data_set, prevented

    return fewer


# The part of the representation that DirectCLR's loss does not see.


@claim(
    "jing2022/fig10/rest-learns",
    """A linear probe on the part of DirectCLR's representation that its loss does not see beats the same
    probe before training.""",
    quotes=Quotation(
        "the entire representation vector r is trained and contains useful information", at="Section 6.2"
    ),
    word="entire",
    broken_by=put("probes", "accuracy", 0.0, net="directclr", part="rest"),
)
def rest_learns() -> Comparison:
    gained = difference(accuracy("directclr", "rest"), accuracy("directclr", "rest", "initial"))
    return above(gained, 0.0, unit=DIFFERENCE, learned=learned("directclr"))


@claim(
    "jing2022/fig10/through-residual",
    """The linear probe on the part of DirectCLR's representation that its loss does not see loses accuracy
    when the last block has no identity shortcut.""",
    quotes=Quotation(
        "Thus, DirectCLR takes advantage of the residual connection in the ResNet backbone",
        at="Section 6.2",
    ),
    quantifier="generic",
    word="takes advantage of",
    reading="ours: the paper trains no network without the shortcut",
    broken_by=beaten("directclr", WITHOUT_SHORTCUT, "rest"),
)
def through_residual() -> Comparison:
    ahead = lead(accuracy("directclr", "rest"), accuracy(WITHOUT_SHORTCUT, "rest"))
    return above(ahead, 0.0, unit=DIFFERENCE, learned=learned("directclr", WITHOUT_SHORTCUT))


@claim(
    "jing2022/sec63/all-above-subvector",
    """A linear probe on all of DirectCLR's representation is above one on the sub-vector.""",
    quotes=Quotation(
        "This shows that the rest of r still contains useful information",
        at="Linear probe on subvector, Section 6.3",
    ),
    word="still contains useful information",
    broken_by=swapped("probes", "part", "all", "subvector", net="directclr"),
)
def all_above_subvector() -> Comparison:
    ahead = difference(accuracy("directclr"), accuracy("directclr", "subvector"))
    return above(ahead, 0.0, unit=DIFFERENCE, learned=learned("directclr"))


# Accuracies.


class Printed(NamedTuple):
    """A printed accuracy.

    Attributes:
        probe: what is probed, in words.
    """

    key: str
    probe: str
    net: str
    part: str
    words: str
    at: str


TABLE1 = "Table 1, Section 6.2"
PRINTED = (
    Printed(
        "table1/simclr-nonlinear",
        "of SimCLR with a 2-layer nonlinear projector",
        "nonlinear",
        "all",
        "SimCLR 2-layer nonlinear projector 66.5",
        TABLE1,
    ),
    Printed(
        "table1/simclr-linear",
        "of SimCLR with a 1-layer linear projector",
        "linear",
        "all",
        "SimCLR 1-layer linear projector 61.1",
        TABLE1,
    ),
    Printed(
        "table1/simclr-none",
        "of SimCLR without a projector",
        "none",
        "all",
        "SimCLR no projector 51.5",
        TABLE1,
    ),
    Printed(
        "table1/directclr",
        "of DirectCLR, which has no projector,",
        "directclr",
        "all",
        "DirectCLR no projector 62.7",
        TABLE1,
    ),
    Printed(
        "sec63/fixed-low-rank",
        "of SimCLR with a fixed low-rank projector",
        "low_rank",
        "all",
        "using a fixed low-rank matrix as a projector, which achieves 62.3% linear probe accuracy",
        "Fixed low-rank projector, Section 6.3",
    ),
    Printed(
        "sec63/trainable-diagonal",
        "of SimCLR with a trainable diagonal projector",
        "diagonal",
        "all",
        "The model achieves 60.2% linear probe accuracy on ImageNet",
        "Trainable diagonal projector, Section 6.3",
    ),
    Printed(
        "sec63/probe-on-subvector",
        "on DirectCLR's sub-vector alone",
        "directclr",
        "subvector",
        "we perform a linear probe only on the sub-vector z and get 47.9% accuracy on ImageNet",
        "Linear probe on subvector, Section 6.3",
    ),
)
ROWS = {one.key: Quotation(one.words, one.at) for one in PRINTED}


@each(PRINTED)
def reaches(one: Printed) -> Claim:
    published = number(one.key)

    @claim(
        f"jing2022/{one.key}",
        f"""A linear probe {one.probe} reaches {published} % on ImageNet.""",
        quotes=ROWS[one.key],
        word=str(published),
        needs=NEEDS,
        broken_by=plus("probes", "accuracy", 9.0, net=one.net, part=one.part),
    )
    def accuracy_of() -> Comparison:
        probe = accuracy(one.net, one.part)
        return near(probe, published, quantity="accuracy", unit=TOP1, learned=learned(one.net))

    return accuracy_of


@claim(
    "jing2022/table1/directclr-above-linear",
    """The linear probe of DirectCLR is above that of SimCLR with a trainable linear projector.""",
    quotes=(
        Quotation(
            "DirectCLR outperforms SimCLR with a trainable linear projector on ImageNet", at="Abstract"
        ),
        Quotation("DirectCLR outperforms SimCLR with 1-layer linear projector", at=TABLE1),
    ),
    quantifier="generic",
    word="outperforms",
    reading=WHERE,
    looked=PREMISE,
    broken_by=beaten("directclr", "linear"),
)
def directclr_above_linear() -> Comparison:
    return beats("directclr", "linear")


@claim(
    "jing2022/table1/nonlinear-above-directclr",
    """The linear probe of SimCLR with a 2-layer nonlinear projector is above that of DirectCLR.""",
    quotes=(ROWS["table1/simclr-nonlinear"], ROWS["table1/directclr"]),
    quantifier="generic",
    word="66.5",
    reading=f"{OF_THE_TABLE}; {WHERE}",
    looked=PREMISE,
    broken_by=beaten("nonlinear", "directclr"),
)
def nonlinear_above_directclr() -> Comparison:
    return beats("nonlinear", "directclr")


@claim(
    "jing2022/table1/directclr-above-none",
    """The linear probe of DirectCLR is above that of SimCLR without a projector.""",
    quotes=(ROWS["table1/directclr"], ROWS["table1/simclr-none"]),
    quantifier="generic",
    word="62.7",
    reading=f"{OF_THE_TABLE}; {WHERE}",
    looked=PREMISE,
    broken_by=beaten("directclr", "none"),
)
def directclr_above_none() -> Comparison:
    return beats("directclr", "none")


@each((("nonlinear", "2-layer nonlinear"), ("linear", "linear")))
def projector_above_none(projector: tuple[str, str]) -> Claim:
    net, words = projector

    @claim(
        f"jing2022/table1/{net}-above-none",
        f"""The linear probe of SimCLR with a {words} projector is above that of SimCLR without one.""",
        quotes=Quotation(
            "adding a projector substantially improves the quality of the learned representation",
            at="Section 6.1",
        ),
        quantifier="generic",
        word="substantially improves",
        reading=f"{IMPROVES}; {WHERE}",
        looked=PREMISE,
        broken_by=beaten(net, "none"),
    )
    def above_none() -> Comparison:
        return beats(net, "none")

    return above_none


@claim(
    "jing2022/sec63/linear-above-diagonal",
    """The linear probe of SimCLR with a trainable linear projector is above that of SimCLR with a trainable
    diagonal one.""",
    quotes=Quotation(
        "this model is slightly worse than a SimCLR", at="Trainable diagonal projector, Section 6.3"
    ),
    quantifier="generic",
    word="slightly worse than",
    reading=f"slightly: 0.9 points as printed; a difference under 1 point is a tie (ours); {WHERE}",
    looked=PREMISE,
    broken_by=beaten("linear", "diagonal"),
)
def linear_above_diagonal() -> Comparison:
    return beats("linear", "diagonal")
