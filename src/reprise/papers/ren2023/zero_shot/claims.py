"""Claims of the abstract, Section 6 and Figure 2 about the heads during and after training.

A comparison is evidence only if the heads learned. Contrastive ones must name categories: their zero-shot
accuracy is held against random heads, and must exceed the other baselines but one. Those without negatives
are said to align and yet to fail, so that a comparison with them asks that they align: their alignment score
is held against random heads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import PERCENT, SHARE, Comparison, Measure, above, below, near
from reprise.evidence.edits import put, times
from reprise.evidence.measures import applied, column, interned, last, once, rows, selected
from reprise.papers.ren2023.zero_shot.experiment import LOSSES, MODALITIES

BASELINES = ("most frequent label", "frozen features")
"""Baselines that contrastive heads must beat, beside random heads. The linear map, which is trained on the
same pairs, is compared, and not required."""

Step = int | Callable[[pd.Series], pd.Series]
"""Step at which the course of the heads is read: 0, for random heads, or the `last`."""


@interned
def at(column: str, loss: str, step: Step = last) -> Measure:
    """A column at a step; of a column by modality, the worse one."""
    chosen = selected("course", loss=loss, step=step)

    def measure(tables: Tables) -> pd.Series:
        heads = chosen(tables).set_index("seed")
        if column in heads:
            return heads[column]
        both = heads[[f"{column}_{modality}" for modality in MODALITIES]]
        return both.max(axis=1, skipna=False) if "condition" in column else both.min(axis=1, skipna=False)

    return measure


def log_condition(loss: str, modality: str = "", step: Step = last) -> Measure:
    """The logarithm of the condition number without the singular values that should be 0, of a modality or of
    the worse one."""
    return applied(np.log, at("_".join(filter(None, (CONDITION, modality))), loss, step))


@interned
def log_peak(loss: str, column: str) -> Measure:
    """A seed's logarithm of a column at the look between start and end where it is largest in the mean of the
    other seeds: a seed's own maximum would be high by its noise alone."""

    def measure(tables: Tables) -> pd.Series:
        course = rows(tables["course"], loss=loss)
        way = course[course["step"].between(0, course["step"].max(), inclusive="neither")]
        logs = way.pivot(index="seed", columns="step", values=column).apply(np.log)
        if len(logs) == 1 or logs.isna().any(axis=None):
            return pd.Series(np.nan, logs.index)
        peaks = [int(np.argmax(logs.drop(index=seed).mean())) for seed in logs.index]
        return pd.Series(logs.to_numpy()[np.arange(len(logs)), peaks], logs.index)

    return measure


@once
def with_negatives(tables: Tables) -> pd.Series:
    """Lead of contrastive heads in zero-shot accuracy, in percentage points, over random heads, or over the
    best other baseline where that is not beaten."""
    accuracy = at("accuracy", "contrastive")(tables)
    random = accuracy - at("accuracy", "contrastive", 0)(tables)
    baselines = rows(tables["baselines"], baseline=BASELINES)
    highest = baselines.pivot(index="seed", columns="baseline", values="accuracy").max(axis=1, skipna=False)
    margin = accuracy - highest
    return random.where(margin > 0, np.minimum(random, margin))


def gain(tables: Tables) -> pd.Series:
    """Gains over random heads of both losses, seed by seed, in percentage points: `with_negatives`, and
    without negatives that of the alignment score."""
    aligned = at("alignment", "non-contrastive")(tables)
    without = 100 * (aligned - at("alignment", "non-contrastive", 0)(tables))
    return pd.concat([with_negatives(tables), without], ignore_index=True)


CONDITION = "effective_condition"
LOG = "log condition number"
POINTS = "percentage points of zero-shot accuracy"
SIGNALS = "those beyond the number of categories should be 0, ours"
LATER = "added after a look at the course of the heads"
BOTH_CONDITIONS = [f"{CONDITION}_{modality}" for modality in MODALITIES]

NEGATIVES_REDUCE = Quotation("the negative pairs will reduce the condition number", "Abstract")
PRACTICAL = Quotation(
    "We also perform simulations and more practical experiments to support our theory further", "Section 1"
)
BOTH_ALIGN = Quotation(
    "both contrastive and non-contrastive methods can align the representations", "Section 4"
)
MORE_BALANCED = Quotation("the representations learned by contrastive methods are more balanced", "Section 4")
WITHOUT_ZEROS = Quotation("after excluding those singular values that should be", "Section 4")
ZERO_SHOT = Quotation(
    "We measure the quality of the learned representation using its zero-shot performance", "Section 6"
)
IMPORTANT = Quotation(
    "contrastive pairs are important for the model to learn representations that are both aligned and "
    "balanced",
    "Section 7",
)

COMPARED: dict[str, Any] = {"at": "Figure 2, Section 6", "quantifier": "generic"}


@claim(
    "ren2023/fig2/contrastive-more-accurate",
    "The contrastive model's zero-shot accuracy is above the non-contrastive one's.",
    quotes=(ZERO_SHOT, IMPORTANT, PRACTICAL),
    word="zero-shot performance",
    broken_by=put("course", "accuracy", 90.0, loss="non-contrastive", step=last),
    **COMPARED,
)
def more_accurate() -> Comparison:
    contrastive, other = (at("accuracy", loss) for loss in LOSSES)
    return above(contrastive, other, unit=POINTS, bounds=PERCENT, learned=gain)


@claim(
    "ren2023/fig2/contrastive-more-balanced",
    """The contrastive model's embeddings are more balanced than the non-contrastive one's (stable rank, the
    smaller one of images and texts).""",
    quotes=(MORE_BALANCED, IMPORTANT, PRACTICAL),
    word="are more balanced",
    broken_by=times("course", "stable_rank_text", 0.1, loss="contrastive", step=last),
    **COMPARED,
)
def more_balanced() -> Comparison:
    contrastive, other = (at("stable_rank", loss) for loss in LOSSES)
    return above(contrastive, other, unit="stable rank", learned=gain)


@claim(
    "ren2023/fig2/contrastive-better-conditioned-signals",
    """The contrastive model's embeddings have a smaller condition number than the non-contrastive one's,
    without the singular values that should be 0.""",
    quotes=(IMPORTANT, WITHOUT_ZEROS, PRACTICAL),
    word="are important for",
    reading=SIGNALS,
    looked="added after a look at one trial seed, which is not among those compared",
    broken_by=times("course", "effective_condition_text", 1000.0, loss="contrastive", step=last),
    **COMPARED,
)
def better_conditioned() -> Comparison:
    contrastive, other = map(log_condition, LOSSES)
    return below(contrastive, other, unit=LOG, learned=gain)


@claim(
    "ren2023/fig2/contrastive-condition-below-peak-signals",
    """Negative pairs reduce the condition number: contrastive heads end with a smaller one than at its peak
    on the way, without the singular values that should be 0.""",
    quotes=(NEGATIVES_REDUCE, WITHOUT_ZEROS),
    quantifier="generic",
    word="reduce the condition number",
    reading=SIGNALS,
    looked=LATER,
    broken_by=times("course", BOTH_CONDITIONS, 1000.0, loss="contrastive", step=last),
)
def below_peak() -> Cells:
    for modality in MODALITIES:
        peak = log_peak("contrastive", f"{CONDITION}_{modality}")
        end = log_condition("contrastive", modality)
        yield f"{modality}s", below(end, peak, unit=LOG, learned=with_negatives)


@claim(
    "ren2023/fig2/noncontrastive-condition-above-start-signals",
    """Non-contrastive heads end with a larger condition number than random ones, without the singular values
    that should be 0.""",
    at="Figure 2, Section 6",
    quantifier="generic",
    word="a larger condition number than",
    form="ours",
    reading="ours: the paper says of its model that positive pairs increase the condition number (Figure 1), "
    "and compares no trained heads with random ones; those beyond the number of categories should be 0",
    looked=LATER,
    broken_by=times("course", BOTH_CONDITIONS, 0.001, loss="non-contrastive", step=last),
)
def above_start() -> Cells:
    for modality in MODALITIES:
        start, end = (log_condition("non-contrastive", modality, step) for step in (0, last))
        yield f"{modality}s", above(end, start, unit=LOG, learned=gain)


@claim(
    "ren2023/fig2/contrastive-above-linear-map",
    """The contrastive model is more accurate than the least-squares map from frozen image features to
    captions, which sees positive pairs only.""",
    at="Figure 2, Section 6",
    quantifier="generic",
    word="is more accurate than",
    form="ours",
    reading="ours: the paper compares with no such map, which shows what positive pairs do without collapse",
    looked=LATER,
    broken_by=put("baselines", "accuracy", 90.0, baseline="linear map"),
)
def above_linear_map() -> Comparison:
    linear_map = column("baselines", "accuracy", baseline="linear map")
    contrastive = at("accuracy", "contrastive")
    return above(contrastive, linear_map, unit=POINTS, bounds=PERCENT, learned=with_negatives)


@each(LOSSES)
def aligned(loss: str) -> Claim:
    @claim(
        f"ren2023/fig2/{loss.replace('-', '')}-aligned",
        f"{loss.capitalize()} training aligns the modalities: the alignment score ends near 1.",
        quotes=BOTH_ALIGN,
        quantifier="existential",
        word="can align",
        reading="near 1: within a tenth",
        looked="near 1 took the place of above random heads, after a look at the scores",
        broken_by=put("course", "alignment", 0.85, loss=loss, step=last),
    )
    def cells() -> Comparison:
        score = at("alignment", loss)
        return near(
            score, 1.0, quantity="score", unit="alignment score", bounds=SHARE, learned=with_negatives
        )

    return cells
