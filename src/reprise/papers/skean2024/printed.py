"""Claims of the paper about its own tables."""

from dataclasses import replace

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import MARGINS, Comparison, Measure, above
from reprise.evidence.edits import put
from reprise.papers.skean2024.lineup import EARLY, METHODS, ROWS
from reprise.papers.skean2024.published import accuracies, numbers_of

UNIT = "percentage points"
LEFT, BEYOND = f"{UNIT} left of the margin", f"{UNIT} beyond the margin"
FROSSL, NO_LOGS, BARLOW = (METHODS[key].name for key in ("frossl", "frossl-no-logs", "barlow-twins"))
SAMPLE, ASYMMETRIC, DIMENSION = (
    [METHODS[key].name for key in ROWS if METHODS[key].family == family and not key.startswith("frossl")]
    for family in ("sample-contrastive", "asymmetric network", "dimension-contrastive")
)
"""Names of the other methods; the paper counts FroSSL and its variant as dimension-contrastive too."""
OTHERS = [*SAMPLE, *ASYMMETRIC, *DIMENSION]
IN_TABLE3 = {number.row for number in numbers_of("Table 3")}
NOTHING_LEARNED = put("published", "value", 0.0, row=FROSSL)
"""Prints FroSSL's accuracies as 0 %."""

COMPETITIVE = (
    Quotation("FroSSL learns competitive representations with other SSL methods", at="Section 6.1"),
    Quotation("FroSSL learns competitive representations on linear probe evaluation", at="Abstract"),
)
NOTICEABLY_WORSE = (
    Quotation("This variant has noticeably worse performance than FroSSL", at="Section 6.3"),
    Quotation("showing that using logarithms leads to a gain in performance", at="Section 3.1"),
)
BEST_DIMENSION = Quotation("FroSSL outperforms all other dimension-contrastive methods", at="Section 6.1")
BEST_EARLY = Quotation(
    "for the first 30 epochs, FroSSL outperforms all other SSL methods shown", at="Section 6.1"
)
SUBSTANTIALLY = Quotation(
    "FroSSL is able to achieve substantially stronger performance than alternative SSL methods when trained "
    "for a small number of epochs",
    at="Section 7",
)
SLOWER = (
    Quotation(
        "it can be empirically shown that some methods require more epochs of training to converge",
        at="Abstract",
    ),
    Quotation("certain SSL methods seem to converge slower than others", at="Section 1"),
)
CATCHES_UP = Quotation(
    "Barlow Twins does catch up to FroSSL and achieves similar performances", at="Section 6.2"
)


def read(tables: Tables, artifact: str, *columns: str) -> pd.DataFrame:
    """A table as printed, with methods as columns and its columns, by default all, as rows."""
    table = accuracies(tables["published"], artifact).T
    return table.loc[list(columns)] if columns else table


def lead(artifact: str, others: list[str], *columns: str) -> Measure:
    """FroSSL's lead over the best of the other methods, for each of the table's columns."""

    def measure(tables: Tables) -> pd.Series:
        table = read(tables, artifact, *columns)
        return table[FROSSL] - table[table.columns.intersection(others)].max(axis=1)

    return measure


def mean_lead(artifact: str, others: list[str], *columns: str) -> Measure:
    """FroSSL's lead over other methods, on average over them and over the table's columns."""

    def measure(tables: Tables) -> pd.Series:
        table = read(tables, artifact, *columns)
        leads = table[FROSSL] - table[table.columns.intersection(others)].mean(axis=1)
        return pd.Series([leads.mean()])

    return measure


def beyond_margin(gap: Measure) -> Measure:
    """The part of a lead beyond the margin of accuracies."""
    return lambda tables: gap(tables) - MARGINS["accuracy"]


def within_margin(gap: Measure) -> Measure:
    """The margin of accuracies minus the gap; negative beyond the margin."""
    return lambda tables: MARGINS["accuracy"] - gap(tables).abs()


def final_gap(tables: Tables) -> pd.Series:
    """FroSSL's final lead over Barlow Twins on ImageNet, top-1 and top-5."""
    table = read(tables, "Section 6.2 text").filter(like="final", axis=0)
    return table[FROSSL] - table[BARLOW]


def lead_lost(tables: Tables) -> pd.Series:
    """FroSSL's lead over Barlow Twins on ImageNet after epoch 1 less the final ones."""
    printed = tables["published"].set_index("key")["value"]
    return printed["fig4/lead-after-epoch1"] - final_gap(tables)


def slowest_behind(tables: Tables) -> pd.Series:
    """Lead of the worst sample-contrastive method over the worst dimension-contrastive one."""
    table = read(tables, "Table 3")
    return table[SAMPLE].min(axis=1) - table[table.columns.intersection(DIMENSION)].min(axis=1)


def is_positive(measure: Measure, unit: str = UNIT) -> Comparison:
    """All numbers that are calculated from printed ones are above 0."""
    return replace(above(measure, 0.0, unit=unit), kind="printed")


@claim(
    "skean2024/table2-printed/competitive",
    """As printed, FroSSL is competitive: within the margin of accuracies of the best in every column of
    Table 2.""",
    quotes=COMPETITIVE,
    quantifier="similar",
    word="competitive",
    broken_by=NOTHING_LEARNED,
)
def competitive() -> Comparison:
    return is_positive(within_margin(lead("Table 2", OTHERS)), LEFT)


@each((2, 3))
def logs_help(number: int) -> Claim:
    @claim(
        f"skean2024/table{number}-printed/logs-help",
        f"""In Table {number} as printed, FroSSL without logarithms is worse by more than the margin of
        accuracies, on average over the columns.""",
        quotes=NOTICEABLY_WORSE,
        quantifier="generic",
        word="noticeably worse performance than",
        reading="noticeably: by more than the margin of accuracies (ours)",
        broken_by=NOTHING_LEARNED,
    )
    def gained() -> Comparison:
        return is_positive(beyond_margin(mean_lead(f"Table {number}", [NO_LOGS])), BEYOND)

    return gained


@claim(
    "skean2024/text/best-dimension-contrastive",
    """As printed, FroSSL outperforms each other dimension-contrastive method of Table 3, on average over the
    epochs.""",
    quotes=BEST_DIMENSION,
    word="outperforms all other",
    reading="the sentence names no epoch; of single ones there is one exception: at epoch 50 VICReg is .4 "
    "points ahead",
    looked="the average over epochs, after each had been judged",
    broken_by=NOTHING_LEARNED,
)
def best_dimension_contrastive() -> Cells:
    for name in (*DIMENSION, NO_LOGS):
        if name in IN_TABLE3:
            yield name, is_positive(mean_lead("Table 3", [name]))


@claim(
    "skean2024/text/best-of-all",
    """As printed, FroSSL outperforms all other methods of Table 3 at each of epochs 3, 10 and 30 ('for the
    first 30 epochs').""",
    quotes=BEST_EARLY,
    word="outperforms all other",
    broken_by=NOTHING_LEARNED,
)
def best_of_all() -> Cells:
    for epoch in EARLY:
        yield f"epoch {epoch}", is_positive(lead("Table 3", OTHERS, f"epoch {epoch}"))


@claim(
    "skean2024/text/substantially-stronger",
    """As printed, FroSSL is above the other methods of Table 3 by more than the margin of accuracies, on
    average over them and over epochs 3, 10 and 30.""",
    quotes=SUBSTANTIALLY,
    quantifier="generic",
    word="substantially stronger performance than",
    reading="substantially: by more than the margin of accuracies (ours)",
    looked="the average over methods, after the lead over the best of them had been judged",
    broken_by=NOTHING_LEARNED,
)
def substantially_stronger() -> Comparison:
    epochs = [f"epoch {epoch}" for epoch in EARLY]
    return is_positive(beyond_margin(mean_lead("Table 3", OTHERS, *epochs)), BEYOND)


@claim(
    "skean2024/text/some-converge-slower",
    """At every epoch of Table 3 as printed, some dimension-contrastive method is behind every
    sample-contrastive one.""",
    quotes=SLOWER,
    quantifier="existential",
    word="some methods",
    reading="slower: behind at every epoch (ours)",
    broken_by=put("published", "value", 50.0, artifact="Table 3", row="W-MSE 2"),
)
def some_converge_slower() -> Comparison:
    return is_positive(slowest_behind)


@claim(
    "skean2024/text/barlow-similar-in-the-end",
    """FroSSL and Barlow Twins end with similar accuracies on ImageNet, as printed: within the margin of
    accuracies, in top-1 and top-5.""",
    quotes=CATCHES_UP,
    quantifier="similar",
    word="achieves similar performances",
    broken_by=NOTHING_LEARNED,
)
def barlow_similar_in_the_end() -> Comparison:
    return is_positive(within_margin(final_gap), LEFT)


@claim(
    "skean2024/text/barlow-catches-up",
    """Barlow Twins catches up on ImageNet, as printed: FroSSL's lead after epoch 1, 12.2 points, is larger
    than its final lead in top-1 and top-5.""",
    quotes=CATCHES_UP,
    word="does catch up",
    broken_by=put("published", "value", 90.0, artifact="Section 6.2 text", row=FROSSL),
)
def barlow_catches_up() -> Comparison:
    return is_positive(lead_lost)
