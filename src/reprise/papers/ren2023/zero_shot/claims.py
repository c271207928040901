"""What the abstract, Section 6 and Figure 2 say of the heads during and after training.

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
from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import for_all, ordering, value
from reprise.evidence.comparison import PERCENT, SHARE, Comparison, Measure, above, below
from reprise.evidence.measures import applied, interned, last, once, rows, selected
from reprise.papers.ren2023.zero_shot.experiment import LOSSES, MODALITIES

BASELINES = ("most frequent label", "frozen features")
"""What contrastive heads must beat, beside random heads. The linear map is trained on the same pairs: it is
compared, and not required."""

Look = Callable[[pd.DataFrame], pd.DataFrame]
"""From the course of one loss to one row a seed: where its heads are read."""


def start(course: pd.DataFrame) -> pd.DataFrame:
    """Random heads."""
    return rows(course, step=0)


def end(course: pd.DataFrame) -> pd.DataFrame:
    return rows(course, step=last)


def best(course: pd.DataFrame) -> pd.DataFrame:
    """Each seed's checkpoint with the highest zero-shot accuracy, the first of several; a seed without a
    number in all looks has none."""
    complete = course.groupby("seed").filter(lambda looks: looks["accuracy"].notna().all())
    return course.loc[complete.groupby("seed")["accuracy"].idxmax()]


@interned
def at(column: str, loss: str, look: Look = end) -> Measure:
    """A column at a look; of a column by modality, the worse one."""

    def measure(tables: Tables) -> pd.Series:
        heads = look(selected("course", loss=loss)(tables)).set_index("seed")
        if column in heads:
            return heads[column]
        both = heads[[f"{column}_{modality}" for modality in MODALITIES]]
        return both.max(axis=1, skipna=False) if "condition" in column else both.min(axis=1, skipna=False)

    return measure


def log_condition(loss: str, column: str = "condition", look: Look = end) -> Measure:
    return applied(np.log, at(column, loss, look))


def log_start(loss: str, column: str) -> Measure:
    return log_condition(loss, column, start)


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
    """By how many percentage points contrastive heads name categories better than random heads, or than the
    best other baseline where that is not beaten."""
    accuracy = at("accuracy", "contrastive")(tables)
    random = accuracy - at("accuracy", "contrastive", start)(tables)
    baselines = tables["baselines"]
    highest = baselines.loc[baselines["baseline"].isin(BASELINES), "accuracy"].max(skipna=False)
    return random.where(accuracy > highest, np.minimum(random, accuracy - highest))


def gain(tables: Tables) -> pd.Series:
    """Of either loss, seed by seed, in percentage points from random heads: `with_negatives`, and of the
    alignment score without them."""
    aligned = at("alignment", "non-contrastive")(tables)
    without = 100 * (aligned - at("alignment", "non-contrastive", start)(tables))
    return pd.concat([with_negatives(tables), without], ignore_index=True)


def linear_map(tables: Tables) -> pd.Series:
    """The accuracy of the least-squares map, the same for every seed of the heads."""
    baselines = tables["baselines"].set_index("baseline")["accuracy"]
    accuracy = at("accuracy", "contrastive")(tables)
    return pd.Series(baselines["linear map"], accuracy.index)


SOURCE = "Section 6, Figure 2"
CONDITION = "log condition number"
SIGNALS = "those beyond the number of categories should be 0, ours"
LATER = "added after a look at the course of the heads"


def _compared(suffix: str, when: str, look: Look, looked: str = "") -> list[Claim]:
    """The heads of both losses against each other, at a look of each."""
    rest: dict[str, Any] = {"source": SOURCE, "quantifier": "generic", "learned": gain, "looked": looked}
    smaller = (
        f"The contrastive model's embeddings have a smaller condition number{when} than the non-contrastive "
        "one's"
    )
    return [
        ordering(
            f"ren2023/fig2/contrastive-more-accurate{suffix}",
            f"The contrastive model's zero-shot accuracy is{when} above the non-contrastive one's.",
            word="zero-shot performance",
            measure=at("accuracy", "contrastive", look),
            above=at("accuracy", "non-contrastive", look),
            unit="percentage points of zero-shot accuracy",
            bounds=PERCENT,
            **rest,
        ),
        ordering(
            f"ren2023/fig2/contrastive-more-balanced{suffix}",
            f"The contrastive model's embeddings are{when} more balanced than the non-contrastive one's "
            "(stable rank, the smaller one of images and texts).",
            word="are more balanced",
            measure=at("stable_rank", "contrastive", look),
            above=at("stable_rank", "non-contrastive", look),
            unit="stable rank",
            **rest,
        ),
        ordering(
            f"ren2023/fig2/contrastive-better-conditioned{suffix}",
            f"{smaller} (the larger one of images and texts).",
            word="are important for",
            measure=log_condition("contrastive", look=look),
            below=log_condition("non-contrastive", look=look),
            unit=CONDITION,
            **rest,
        ),
        ordering(
            f"ren2023/fig2/contrastive-better-conditioned-signals{suffix}",
            f"{smaller}, without the singular values that should be 0.",
            word="are important for",
            measure=log_condition("contrastive", "effective_condition", look),
            below=log_condition("non-contrastive", "effective_condition", look),
            unit=CONDITION,
            reading=SIGNALS,
            **rest | {"looked": looked or "added after a look at one trial seed, which is not among the ten"},
        ),
    ]


def _moved(
    name: str,
    statement: str,
    word: str,
    loss: str,
    learned: Measure,
    side: Callable[..., Comparison],
    reference: Callable[[str, str], Measure],
) -> list[Claim]:
    """Training moves the condition number, for images and for texts: over all singular values, and without
    those that should be 0.

    Args:
        side: `above` or `below`.
        reference: of what, from a loss and a column.
    """
    return [
        for_all(
            f"ren2023/fig2/{name}{suffix}",
            f"{statement}{words}.",
            {
                f"{modality}s": side(
                    log_condition(loss, f"{column}_{modality}"),
                    reference(loss, f"{column}_{modality}"),
                    unit=CONDITION,
                    learned=learned,
                )
                for modality in MODALITIES
            },
            source="Abstract, Figure 2",
            quantifier="generic",
            word=word,
            reading=reading,
            looked=LATER,
        )
        for column, suffix, words, reading in (
            ("condition", "", "", ""),
            ("effective_condition", "-signals", ", without the singular values that should be 0", SIGNALS),
        )
    ]


AGAINST_RANDOM = (
    "ours: the paper says that negative pairs reduce what positive pairs have raised, not that the condition "
    "number ends below that of random heads"
)

CLAIMS: list[Claim] = [
    *_compared("", "", end),
    *_compared("-best", ", each at its most accurate checkpoint,", best, LATER),
    *(
        ours(claim, AGAINST_RANDOM)
        for claim in _moved(
            "contrastive-condition-below-start",
            "Negative pairs reduce the condition number: "
            "contrastive heads end with a smaller one than random ones",
            "reduce the condition number",
            "contrastive",
            with_negatives,
            below,
            log_start,
        )
    ),
    *_moved(
        "contrastive-condition-below-peak",
        "Negative pairs reduce the condition number: "
        "contrastive heads end with a smaller one than at its peak on the way",
        "reduce the condition number",
        "contrastive",
        with_negatives,
        below,
        log_peak,
    ),
    *_moved(
        "noncontrastive-condition-above-start",
        "Positive pairs increase the condition number: "
        "non-contrastive heads end with a larger one than random ones",
        "at the cost of increasing",
        "non-contrastive",
        gain,
        above,
        log_start,
    ),
    for_all(
        "ren2023/fig2/contrastive-balance-above-start",
        "Negative pairs balance the embeddings: contrastive heads end with a larger stable rank than random "
        "ones, in both readings.",
        {
            f"{modality}s, {words}": above(
                at(f"{column}_{modality}", "contrastive"),
                at(f"{column}_{modality}", "contrastive", start),
                unit="stable rank",
                learned=with_negatives,
            )
            for modality in MODALITIES
            for column, words in (("stable_rank", "of C"), ("intrinsic_dimension", "of its root"))
        },
        quantifier="generic",
        word="keeping the learned representations balanced",
        source="Abstract, Figure 2",
        looked=LATER,
    ),
    ours(
        ordering(
            "ren2023/fig2/contrastive-above-linear-map",
            "The contrastive model is more accurate than the least-squares map from frozen image features to "
            "captions, which sees positive pairs only.",
            quantifier="generic",
            word="is more accurate than",
            source="our remark on Figure 2",
            measure=at("accuracy", "contrastive"),
            above=linear_map,
            unit="percentage points of zero-shot accuracy",
            bounds=PERCENT,
            learned=with_negatives,
            looked=LATER,
        )
    ),
    *(
        value(
            f"ren2023/fig2/{loss.replace('-', '')}-aligned",
            f"{loss.capitalize()} training aligns the modalities: the alignment score ends near 1.",
            quantifier="existential",
            word="can align",
            source="Sections 4 and 6, Figure 2",
            reading="near 1: within a tenth",
            looked="near 1 took the place of above random heads, after a look at the scores",
            quantity="score",
            measure=at("alignment", loss),
            published=1.0,
            unit="alignment score",
            bounds=SHARE,
            learned=with_negatives,
        )
        for loss in LOSSES
    ),
]
