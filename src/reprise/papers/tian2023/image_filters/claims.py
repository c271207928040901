"""What Figures 12 and 13 and Appendix E.3 say of the filters; how to measure it is our reading.

Filters that still are their random start, and dead ones, are not counted (`measures.learned`).
"""

from reprise.evidence.claims import Measure, ordering
from reprise.evidence.measures import column, each_seed, last, mean

SHARE = "share of a filter's power"


def at_the_end(arm: str, statistic: str) -> Measure:
    """A statistic of the learned filters after the last step, the mean over the four fields: NaN where a
    field has none."""
    return each_seed(mean, column("statistics", statistic, step=last, arm=arm))


CLAIMS = [
    ordering(
        "tian2023/fig12/diverse",
        "Filters of a field capture diverse patterns: the effective rank of a field's learned filters is "
        "higher with ReLU than in a linear net that is trained alike (our reading).",
        source="Appendix E.3, Figure 12",
        measure=at_the_end("plain", "effective_rank"),
        above=at_the_end("linear", "effective_rank"),
        unit="effective rank",
    ),
    ordering(
        "tian2023/fig13/smoother",
        "With augmentation filters are smoother: less of their power lies above half the Nyquist frequency.",
        source="Appendix E.3, Figure 13",
        measure=at_the_end("cropped", "high_frequency_share"),
        below=at_the_end("plain", "high_frequency_share"),
        unit=SHARE,
    ),
    ordering(
        "tian2023/fig13/smoother-about-mean",
        "With augmentation filters are smoother about their means too: less of the power at frequencies "
        "other than 0 lies above half the Nyquist frequency.",
        source="Appendix E.3, Figure 13",
        measure=at_the_end("cropped", "high_frequency_share_without_mean"),
        below=at_the_end("plain", "high_frequency_share_without_mean"),
        unit=SHARE,
    ),
    ordering(
        "tian2023/fig13/fewer-patterns",
        "Augmentation removes some of the patterns that filters settle on: the effective rank of a field's "
        "learned filters is lower (our reading).",
        source="Appendix E.3 and the caption of Figure 13, after Appendix B.5",
        measure=at_the_end("cropped", "effective_rank"),
        below=at_the_end("plain", "effective_rank"),
        unit="effective rank",
    ),
]
