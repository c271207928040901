"""Claims of the paper about its own tables."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim, Quantifier, ours
from reprise.evidence.claims import printed
from reprise.evidence.comparison import MARGINS, Measure
from reprise.papers.skean2024.lineup import EARLY, EPOCHS, METHODS, ROWS
from reprise.papers.skean2024.published import DATA_SETS, accuracies

UNIT = "percentage points"
ROUNDING = 0.05 + 1e-9
"""Half of the last printed digit."""
FROSSL, NO_LOGS, BARLOW = "FroSSL", "FroSSL (no logs)", "Barlow Twins"
SAMPLE, ASYMMETRIC, DIMENSION = (
    [METHODS[key].name for key in ROWS if METHODS[key].family == family and not key.startswith("frossl")]
    for family in ("sample-contrastive", "asymmetric network", "dimension-contrastive")
)
"""Names of the other methods; the paper counts FroSSL and its variant as dimension-contrastive too."""
OTHERS = [*SAMPLE, *ASYMMETRIC, *DIMENSION]


def read(tables: Tables, artifact: str) -> pd.DataFrame:
    """A table as printed, with methods as columns."""
    return accuracies(tables["published"], artifact).T


def lead(artifact: str, columns: list[str], others: list[str]) -> Measure:
    """FroSSL's lead over the best of the other methods, for each column of the table."""

    def measure(tables: Tables) -> pd.Series:
        table = read(tables, artifact).loc[columns]
        return table[FROSSL] - table[table.columns.intersection(others)].max(axis=1)

    return measure


def lead_at(epoch: int, others: list[str]) -> Measure:
    return lead("Table 3", [f"epoch {epoch}"], others)


def beyond_margin(gap: Measure) -> Measure:
    """The part of a lead beyond the margin of accuracies."""
    return lambda tables: gap(tables) - MARGINS["accuracy"]


def within_margin(gap: Measure) -> Measure:
    """The margin of accuracies minus the gap; negative beyond the margin."""
    return lambda tables: MARGINS["accuracy"] - gap(tables).abs()


def averages(tables: Tables) -> pd.Series:
    """Rounding minus the difference between each printed average and the mean of its row."""
    table = read(tables, "Table 2").dropna(axis=1).T
    return ROUNDING - (table[list(DATA_SETS)].mean(axis=1) - table["Average"]).abs()


def behind_the_best(tables: Tables) -> pd.Series:
    table = read(tables, "Table 2")
    return table.drop(columns=FROSSL).max(axis=1) - table[FROSSL]


def above_the_next(tables: Tables) -> pd.Series:
    """FroSSL's lead over the second best of the other methods; negative where it is third or worse."""
    table = read(tables, "Table 2").drop(index="STL-10")
    second = table.drop(columns=FROSSL).apply(lambda row: row.nlargest(2).iloc[-1], axis=1)
    return table[FROSSL] - second


def logs_gain(artifact: str) -> Measure:
    def measure(tables: Tables) -> pd.Series:
        table = read(tables, artifact)
        return table[FROSSL] - table[NO_LOGS]

    return measure


def final_gap(tables: Tables) -> pd.Series:
    """FroSSL's final lead over Barlow Twins on ImageNet, top-1 and top-5."""
    table = read(tables, "Section 6.2 text").filter(like="final", axis=0)
    return table[FROSSL] - table[BARLOW]


def first_gap(tables: Tables) -> float:
    """FroSSL's lead over Barlow Twins on ImageNet after epoch 1."""
    table = read(tables, "Section 6.2 text")
    return float(table["FroSSL minus Barlow Twins"].dropna().item())


def slowest_behind(tables: Tables) -> pd.Series:
    """Lead of the worst sample-contrastive method over the worst dimension-contrastive one."""
    table = read(tables, "Table 3")
    return table[SAMPLE].min(axis=1) - table[table.columns.intersection(DIMENSION)].min(axis=1)


def positive(
    name: str,
    statement: str,
    source: str,
    measure: Measure,
    unit: str = UNIT,
    *,
    quantifier: Quantifier = "universal",
    word: str,
) -> Claim:
    """A claim that holds if every observation is positive."""
    return printed(
        f"skean2024/{name}",
        statement,
        source=source,
        unit=unit,
        measure=measure,
        above=0.0,
        quantifier=quantifier,
        word=word,
    )


SECTION = "Section 6.1, Table 3"
CLAIMS: list[Claim] = [
    ours(
        positive(
            "table2-printed/averages",
            "The averages of Table 2 are the means of its rows.",
            "Table 2",
            averages,
            "percentage points left of the rounding",
            word="are the means of its rows",
        )
    ),
    positive(
        "table2-printed/competitive",
        "FroSSL is competitive: within the margin of accuracies of the best in every column of Table 2.",
        "Abstract, Section 6.1, Table 2",
        within_margin(behind_the_best),
        f"{UNIT} left of the margin",
        word="learns competitive representations",
    ),
    ours(
        positive(
            "table2-printed/best-in-no-column",
            "FroSSL is not the best in any column of Table 2.",
            "our reading of Table 2",
            behind_the_best,
            word="not the best in any column",
        )
    ),
    positive(
        "table2-printed/second-best",
        "FroSSL is second best in every column of Table 2 except STL-10, where it is third.",
        "Table 2, which underlines the second best",
        above_the_next,
        word="second best is underlined",
    ),
    ours(
        positive(
            "table2-printed/best-dimension-contrastive-average",
            "On average, FroSSL is above the other dimension-contrastive methods of Table 2.",
            "our reading of Table 2",
            lead("Table 2", ["Average"], DIMENSION),
            quantifier="generic",
            word="On average",
        )
    ),
    positive(
        "table2-printed/logs-help",
        "In Table 2 FroSSL without logarithms is noticeably worse: by more than the margin of "
        "accuracies in every column.",
        "Sections 3.1 and 6.3, Table 2",
        beyond_margin(logs_gain("Table 2")),
        f"{UNIT} beyond the margin",
        quantifier="generic",
        word="noticeably worse performance than",
    ),
    positive(
        "table3-printed/logs-help",
        "In Table 3 FroSSL without logarithms is noticeably worse: by more than the margin of "
        "accuracies at every epoch.",
        "Sections 3.1 and 6.3, Table 3",
        beyond_margin(logs_gain("Table 3")),
        f"{UNIT} beyond the margin",
        quantifier="generic",
        word="noticeably worse performance than",
    ),
    *(
        positive(
            f"text/best-dimension-contrastive-epoch{epoch}",
            f"At epoch {epoch} FroSSL outperforms all other dimension-contrastive methods of Table 3.",
            SECTION,
            lead_at(epoch, [*DIMENSION, NO_LOGS]),
            word="outperforms all other",
        )
        for epoch in EPOCHS
    ),
    *(
        positive(
            f"text/best-of-all-epoch{epoch}",
            f"At epoch {epoch}, within the first 30, FroSSL outperforms all other methods of Table 3.",
            f"{SECTION}; Sections 1 and 7",
            lead_at(epoch, OTHERS),
            word="outperforms all other",
        )
        for epoch in EARLY
    ),
    *(
        ours(
            positive(
                f"text/substantially-stronger-epoch{epoch}",
                f"At epoch {epoch} of Table 3 FroSSL's lead over all other methods is larger than the margin "
                "of accuracies.",
                "Section 7, on Table 3",
                beyond_margin(lead_at(epoch, OTHERS)),
                f"{UNIT} beyond the margin",
                word="over all other methods",
            ),
            "ours: the paper calls the lead substantial, and names no size",
        )
        for epoch in EARLY
    ),
    positive(
        "text/some-converge-slower",
        "At every epoch of Table 3, some dimension-contrastive method is behind every "
        "sample-contrastive one.",
        "Abstract, Section 1",
        slowest_behind,
        quantifier="existential",
        word="some methods",
    ),
    ours(
        positive(
            "text/frossl-above-barlow-imagenet",
            "FroSSL ends above Barlow Twins on ImageNet, in top-1 and top-5 accuracy.",
            "Section 6.2",
            final_gap,
            quantifier="generic",
            word="ends above",
        )
    ),
    positive(
        "text/barlow-similar-in-the-end",
        "On ImageNet FroSSL and Barlow Twins end with similar accuracies, as printed: within the "
        "margin, in top-1 and top-5.",
        "Section 6.2",
        within_margin(final_gap),
        f"{UNIT} left of the margin",
        word="achieves similar performances",
    ),
    positive(
        "text/barlow-catches-up",
        "On ImageNet, as printed, Barlow Twins catches up: FroSSL's lead after epoch 1, 12.2 points, "
        "is larger than its final lead.",
        "Section 6.2, Figure 4",
        lambda tables: first_gap(tables) - final_gap(tables),
        word="does catch up",
    ),
]
