"""What Figures 12 and 13 and Appendix E.3 say of the filters; how to measure it is our reading.

Filters that still are their random start, and dead ones, are not counted (`measures.learned`).
"""

from reprise.evidence.claim import ours
from reprise.evidence.claims import for_all, ordering
from reprise.evidence.comparison import SHARE, Measure, above, below
from reprise.evidence.measures import column, each_seed, last, mean
from reprise.papers.tian2023.image_filters.experiment import UNTRAINED

POWER = "share of a filter's power"


def at_the_end(arm: str, statistic: str) -> Measure:
    """A statistic of the learned filters after the last step, the mean over the four fields: NaN where a
    field has none."""
    return each_seed(mean, column("statistics", statistic, step=last, arm=arm))


def pattern(arm: str, name: str) -> Measure:
    """A column of `patterns`, the mean over the four fields: NaN where a field has no learned filter."""
    return each_seed(mean, column("patterns", name, arm=arm))


LOOKED = "the stand-in: on images of 8x8 pixels at this learning rate, nearly all filters had died"

UNSETTLED = (
    "ours: the paper measures nothing here, and does not say which settings it used; with those of the token "
    "experiments most ReLU filters die"
)

CLAIMS = [
    ours(
        for_all(
            "tian2023/fig12/diverse",
            "Filters of a field capture diverse patterns of the images: the effective rank of a field's "
            "learned filters is higher with ReLU than in a linear net that is trained alike, and they "
            "resemble parts of the images more than untrained filters do.",
            {
                "more diverse than a linear net's": above(
                    pattern("plain", "effective_rank"),
                    pattern("linear", "effective_rank"),
                    unit="effective rank",
                ),
                "patterns of the images": above(
                    pattern("plain", "match"),
                    pattern(UNTRAINED, "match"),
                    unit="correlation with the closest patch",
                    bounds=SHARE,
                ),
            },
            word="Filters of a field",
            source="Appendix E.3, Figure 12",
            looked=LOOKED,
        ),
        UNSETTLED,
    ),
    for_all(
        "tian2023/fig13/smoother",
        "With augmentation filters are smoother than without: less of their power lies above half the"
        " Nyquist frequency, with the power at frequency 0, their means, and without it.",
        {
            name: below(at_the_end("cropped", share), at_the_end("plain", share), unit=POWER, bounds=SHARE)
            for name, share in (
                ("with their means", "high_frequency_share"),
                ("about their means", "high_frequency_share_without_mean"),
            )
        },
        quantifier="generic",
        word="becomes smoother",
        source="Appendix E.3, Figure 13",
        reading="ours: the paper measures nothing here",
        looked=LOOKED,
    ),
    ordering(
        "tian2023/fig13/fewer-patterns",
        "Augmentation removes some of the patterns that filters settle on: the effective rank of a "
        "field's learned filters is lower than without it.",
        quantifier="generic",
        word="removes some of",
        source="Appendix E.3 and the caption of Figure 13, after Appendix B.5",
        measure=pattern("cropped", "effective_rank"),
        below=pattern("plain", "effective_rank"),
        unit="effective rank",
        reading="ours: the paper measures nothing here",
        looked=LOOKED,
    ),
]
