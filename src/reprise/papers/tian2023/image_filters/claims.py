"""Claims of Figures 12 and 13 and Appendix E.3 about the filters; the measures are our reading.

Filters that still are their random start, and dead ones, are not counted (`measures.learned`).
"""

from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import SHARE, Comparison, Measure, above, below
from reprise.evidence.edits import times
from reprise.evidence.measures import column, each_seed, last, mean
from reprise.papers.tian2023.image_filters.experiment import UNTRAINED

SHARES = {
    "with their means": "high_frequency_share",
    "about their means": "high_frequency_share_without_mean",
}
LOOKED = "the stand-in: on images of 8x8 pixels at this learning rate, nearly all filters had died"
UNMEASURED = "ours: the paper measures nothing here"

SMOOTHER = Quotation(
    "the resulting learned patterns becomes smoother with much weaker high-frequency components",
    "Figure 13, Appendix E.3",
)
REMOVED = Quotation(
    "According to the tentative theory in Sec. B.5, data augmentation removes some of the local optima",
    "Figure 13, Appendix E.3",
    hedge="tentative",
)


def at_the_end(arm: str, statistic: str) -> Measure:
    """A statistic of the learned filters after the last step, the mean over the four fields: NaN where a
    field has none."""
    return each_seed(mean, column("statistics", statistic, step=last, arm=arm))


def pattern(arm: str, name: str) -> Measure:
    """A column of `patterns`, the mean over the four fields: NaN where a field has no learned filter."""
    return each_seed(mean, column("patterns", name, arm=arm))


@claim(
    "tian2023/fig12/diverse",
    """Filters of a field capture diverse patterns of the images: the effective rank of a field's learned
    filters is higher with ReLU than in a linear net that is trained alike, and they resemble parts of the
    images more than untrained filters do.""",
    at="Figure 12, Appendix E.3",
    form="ours",
    word="Filters of a field",
    reading="ours: the paper measures nothing here, and does not say which settings it used; with those of "
    "the token experiments most ReLU filters die",
    looked=LOOKED,
    broken_by=(
        times("patterns", "effective_rank", 0.01, arm="plain"),
        times("patterns", "match", 0.01, arm="plain"),
    ),
)
def diverse() -> Cells:
    relu, linear = pattern("plain", "effective_rank"), pattern("linear", "effective_rank")
    yield "more diverse than a linear net's", above(relu, linear, unit="effective rank")
    learned, untrained = pattern("plain", "match"), pattern(UNTRAINED, "match")
    resemblance = above(learned, untrained, unit="correlation with the closest patch", bounds=SHARE)
    yield "patterns of the images", resemblance


@claim(
    "tian2023/fig13/smoother",
    """With augmentation filters are smoother than without: less of their power lies above half the Nyquist
    frequency, whether that at frequency 0, their means, is counted or not.""",
    quotes=SMOOTHER,
    quantifier="generic",
    word="becomes smoother",
    reading=UNMEASURED,
    looked=LOOKED,
    broken_by=times("statistics", list(SHARES.values()), 9.0, arm="cropped"),
)
def smoother() -> Cells:
    for name, share in SHARES.items():
        cropped, plain = at_the_end("cropped", share), at_the_end("plain", share)
        yield name, below(cropped, plain, unit="share of a filter's power", bounds=SHARE)


@claim(
    "tian2023/fig13/fewer-patterns",
    """Augmentation removes some of the patterns that filters settle on: the effective rank of a field's
    learned filters is lower than without it.""",
    quotes=REMOVED,
    quantifier="generic",
    word="removes some of",
    reading=UNMEASURED,
    looked=LOOKED,
    broken_by=times("patterns", "effective_rank", 9.0, arm="cropped"),
)
def fewer_patterns() -> Comparison:
    fewer, plain = pattern("cropped", "effective_rank"), pattern("plain", "effective_rank")
    return below(fewer, plain, unit="effective rank")
