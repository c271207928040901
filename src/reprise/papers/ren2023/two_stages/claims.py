"""Claims of Figure 1, its text, Theorem 4.3 and Lemmas 5.1 and 5.3 about the simulation.

"First ..., then ..." is read at events, not at fixed steps: the modalities are aligned, or the condition
number has come to rest.
"""

from typing import Literal

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import MARGINS, SHARE, Comparison, Measure, above, agrees, below, near
from reprise.evidence.edits import times
from reprise.evidence.measures import applied, column, course, each_seed, interned, last, once, rows
from reprise.papers.ren2023.words import RECOVERS, STAGE_NAMES

When = Literal["start", "aligned", "stage 1", "rest", "end"]
"""Moment of a run: before the first step; the first measurement of Stage 1 at which the modalities are
aligned; the end of Stage 1; the end of Stage 2, if the condition number rests by then; the end of Stage 2, at
rest or not."""

CELLS = {
    "linear spectrum": {"spectrum": "linear", "noise": True},
    "linear spectrum, no noise": {"spectrum": "linear", "noise": False},
    "spiked spectrum": {"spectrum": "spiked", "noise": True},
    "spiked spectrum, no noise": {"spectrum": "spiked", "noise": False},
}
NOISY = ("linear spectrum", "spiked spectrum")
ALIGNED = MARGINS["score"]
"""The modalities are aligned when |K_A - K_B| is at most this share of |K_A|."""
RESTS = MARGINS["singular value"] / 2
"""The condition number rests when over the second half of Stage 2 it stays within so large a share of its
last value. If it falls as 1/t, or faster, no more than that is still to come: half the margin of what is
"approximately 1"."""


SPANS: dict[int, tuple[When, When]] = {1: ("start", "stage 1"), 2: ("stage 1", "rest")}
"""Start and end of each stage."""


@interned
def at(when: When, name: str, cell: str, loss: str = "contrastive") -> Measure:
    """A column at a moment or an event; NaN for a seed in which the event does not occur."""

    def over_time(tables: Tables, name: str) -> pd.DataFrame:
        return course("trajectory", name, loss=loss, **CELLS[cell])(tables)

    def measure(tables: Tables) -> pd.Series:
        values, boundary = over_time(tables, name), end_of_stage1(tables)
        end = values.index.max()
        if when == "aligned":
            aligned = over_time(tables, "distance").loc[:boundary] <= ALIGNED
            return values.loc[:boundary].where(aligned & (aligned.cumsum() == 1)).max()
        if when == "rest":
            late = over_time(tables, "condition").loc[(boundary + end) / 2 :]
            return values.loc[end].where(late.max() - late.min() <= RESTS * late.loc[end])
        return values.loc[{"start": 0, "stage 1": boundary, "end": end}[when]]

    return measure


@once
def end_of_stage1(tables: Tables) -> int:
    """The last step of Stage 1."""
    return int(rows(tables["trajectory"], stage=1)["step"].max())


UNIT = "condition number"
RANK = "stable rank"
SCORE = "alignment score"
NOISE = "noise-to-signal ratio"
ABOUT = "within a tenth"
AT_REST = (
    f"at rest: over the second half of Stage 2 the condition number stays within {100 * RESTS:g} %; read "
    "after 700 steps of Stage 2 before, when it was still falling; the rule, and a longer Stage 2, came "
    "after a look at one seed's course"
)

SIGNALS = each_seed("first", column("trajectory", "signals"))
SHARED = applied(lambda signals: 0.5 ** (signals + 1), SIGNALS)
"""Half the share of negatives that have the anchor's z. Such negatives leave the score of aligned learners
open: it is 1 - 2^-r where they are as far off as the positive, as in the limit, and higher where noise
decides."""
CEILING = applied(lambda shared: 1 - shared, SHARED)
SAMPLING = applied(
    lambda shared, pairs: shared + 2 * np.sqrt(shared / pairs),
    SHARED,
    each_seed("first", column("trajectory", "fresh_pairs")),
)
"""Resolution of a score: the share that negatives with the anchor's z leave open, and two standard errors."""


def high_score(cell: str, when: When, loss: str = "contrastive") -> Comparison:
    """The alignment score is as high as Definition 4.1 allows."""
    return agrees(at(when, "alignment", cell, loss), CEILING, resolution=SAMPLING, unit=SCORE, bounds=SHARE)


def balanced(cell: str) -> Comparison:
    """The output is as balanced as r signals can be."""
    return near(at("rest", "stable_rank", cell), SIGNALS, quantity="singular value", unit=RANK)


def is_one(measure: Measure, unit: str) -> Comparison:
    """A number that is at least 1 is about 1."""
    return near(measure, 1.0, quantity="singular value", unit=unit, bounds=(1.0, np.inf))


ALIGN = Quotation(
    "the positive pairs will drive the model to align the representations at the cost of increasing the "
    "condition number",
    at="Abstract",
)
REDUCE = Quotation(
    "the negative pairs will reduce the condition number, keeping the learned representations balanced",
    at="Abstract",
)
TO_ONE = Quotation("the model will reduce the condition number of", at="Section 5.4")
BALANCED = Quotation("this implies that the learned representations are balanced", at="Section 5.4")
MAINTAINED = Quotation("Maintaining and the noise-signal ratio being close to", at="Section 5.4")
SMALL_NOISE = {
    1: Quotation("in the relative sense, the noise-signal ratio is small", at="Section 5.3"),
    2: Quotation("the noise-signal ratio being close to", at="Section 5.4"),
}
AT_END = {
    1: Quotation("at the end of Stage 1, we have, for any", at="Lemma 5.1, Section 5.3"),
    2: Quotation("at the end of Stage 2, we have, for any", at="Lemma 5.3, Section 5.4"),
}
CAN_BE = Quotation("with only non-contrastive pairs, the final condition number can be", at="Section 5.3")
UNBALANCED = Quotation(
    "Non-contrastive loss. There exists ... satisfying the above assumptions such that ... the learned "
    "representations are aligned but not balanced",
    at="Theorem 4.3 (a), Section 4",
)
RANK_ONE = Quotation("the learned representation is close to a rank one solution", at="Section 1")
ALSO_ALIGN = Quotation("although the latter can also learn to align", at="Section 1")
MORE_BALANCED = Quotation(
    "the representations learned by contrastive methods are more balanced", at="Section 4"
)
FOR_ANY_A = Quotation(
    "Contrastive loss. There exists ... such that, for any valid ... the learned representations are aligned "
    "and balanced",
    at="Theorem 4.3 (b), Section 4",
)


@claim(
    "ren2023/fig1/contrastive-condition-stage1",
    """In contrastive training, Stage 1 (small temperature τ²) aligns the modalities at the cost of the
    condition number of K_A, which is larger once they are aligned than at the start.""",
    quotes=ALIGN,
    quantifier="generic",
    word="at the cost of increasing",
    reading="aligned: |K_A - K_B| is at most a tenth of |K_A|",
    broken_by=times("trajectory", "condition", 9.0, loss="contrastive", step=0),
)
def condition_rises() -> Cells:
    for cell in CELLS:
        yield cell, above(at("aligned", "condition", cell), at("start", "condition", cell), unit=UNIT)


@claim(
    "ren2023/fig1/contrastive-condition-one",
    """In contrastive training, Stage 2 (large temperature τ²) brings the condition number of the
    representation to about 1: it has all r singular vectors of A and of B, about equally strong.""",
    quotes=(TO_ONE, RECOVERS),
    quantifier="generic",
    word="will reduce",
    reading=f"about 1: {ABOUT}; K_A = W_Aᵀ A and K_B have r singular values each, and the larger of their "
    "condition numbers is read; noise is not in it",
    looked=f"{AT_REST}; that it is Section 1's recovery of singular vectors",
    broken_by=times("trajectory", "condition", 1.4, loss="contrastive", stage=2),
)
def condition_one() -> Cells:
    for cell in CELLS:
        yield cell, is_one(at("rest", "condition", cell), UNIT)


@claim(
    "ren2023/fig1/alignment-stage1",
    """In contrastive training, Stage 1 (small temperature τ²) improves the alignment score of the
    modalities.""",
    quotes=ALIGN,
    quantifier="generic",
    word="will drive the model to align",
    broken_by=times("trajectory", "alignment", 0.4, loss="contrastive", stage=1, step=last),
)
def alignment_rises() -> Cells:
    for cell in CELLS:
        after, before = at("stage 1", "alignment", cell), at("start", "alignment", cell)
        yield cell, above(after, before, unit=SCORE, bounds=SHARE)


@claim(
    "ren2023/fig1/alignment-stage2",
    """In contrastive training, the alignment score of the modalities is maintained through Stage 2 (large
    temperature τ²).""",
    quotes=MAINTAINED,
    quantifier="similar",
    word="Maintaining",
    looked=AT_REST,
    broken_by=times("trajectory", "alignment", 0.6, loss="contrastive", stage=2),
)
def alignment_stays() -> Cells:
    for cell in CELLS:
        after, before = at("rest", "alignment", cell), at("stage 1", "alignment", cell)
        yield cell, near(after, before, quantity="score", unit=SCORE, bounds=SHARE)


@claim(
    "ren2023/fig1/contrastive-condition-stage2",
    """In contrastive training, Stage 2 (large temperature τ²) reduces the condition number of the
    representation.""",
    quotes=(REDUCE, TO_ONE),
    quantifier="generic",
    word="will reduce",
    looked=AT_REST,
    broken_by=times("trajectory", "condition", 9.0, loss="contrastive", stage=2),
)
def condition_falls() -> Cells:
    for cell in CELLS:
        yield cell, below(at("rest", "condition", cell), at("stage 1", "condition", cell), unit=UNIT)


@claim(
    "ren2023/fig1/contrastive-balance-stage2",
    """In contrastive training, at the end of Stage 2 (large temperature τ²) the output is balanced: the
    stable rank of its covariance is about r.""",
    quotes=BALANCED,
    quantifier="generic",
    word="are balanced",
    reading=f"balanced: about r, {ABOUT}; of the output's exact covariance",
    looked=f"the exact covariance took the place of one estimated from 2,000 pairs after a look at both; "
    f"{AT_REST}",
    broken_by=times("trajectory", "stable_rank", 0.7, loss="contrastive", step=last),
)
def ends_balanced() -> Cells:
    for cell in CELLS:
        yield cell, balanced(cell)


@claim(
    "ren2023/fig1/noncontrastive-balance",
    "Without negative pairs the output ends less balanced than at the start.",
    quotes=(CAN_BE, UNBALANCED),
    quantifier="existential",
    word="can be",
    broken_by=times("trajectory", "stable_rank", 9.0, loss="non-contrastive", step=last),
)
def less_balanced() -> Cells:
    for cell in CELLS:
        after, before = (at(when, "stable_rank", cell, "non-contrastive") for when in ("end", "start"))
        yield cell, below(after, before, unit=RANK)


@claim(
    "ren2023/fig1/noncontrastive-rank-one",
    "Without negative pairs the output comes close to rank one, for some A.",
    quotes=(RANK_ONE, UNBALANCED),
    quantifier="existential",
    word="There exists",
    reading=f"close to 1: {ABOUT}; stable rank |C|_F² / |C|_2²",
    broken_by=times("trajectory", "stable_rank", 1.5, loss="non-contrastive", step=last),
)
def rank_one() -> Cells:
    for cell in CELLS:
        yield cell, is_one(at("end", "stable_rank", cell, "non-contrastive"), RANK)


@claim(
    "ren2023/fig1/contrastive-more-balanced",
    "With negative pairs the output ends more balanced than without them.",
    quotes=MORE_BALANCED,
    quantifier="generic",
    word="are more balanced",
    looked=AT_REST,
    broken_by=times("trajectory", "stable_rank", 0.02, loss="contrastive", step=last),
)
def more_balanced() -> Cells:
    for cell in CELLS:
        without = at("end", "stable_rank", cell, "non-contrastive")
        yield cell, above(at("rest", "stable_rank", cell), without, unit=RANK)


@each((1, 2))
def less_noise(stage: int) -> Claim:
    @claim(
        f"ren2023/fig1/noise-to-signal-stage{stage}",
        f"""In contrastive training, at the end of {STAGE_NAMES[stage]} the noise-to-signal ratio is smaller
        than at its start.""",
        quotes=(AT_END[stage], SMALL_NOISE[stage]),
        word="for any",
        looked=AT_REST if stage == 2 else "",
        broken_by=times("trajectory", "noise_to_signal", 9.0, loss="contrastive", stage=stage, step=last),
    )
    def cells() -> Cells:
        start, end = SPANS[stage]
        for cell in NOISY:
            after, before = at(end, "noise_to_signal", cell), at(start, "noise_to_signal", cell)
            yield cell, below(after, before, unit=NOISE)

    return cells


@claim(
    "ren2023/thm43/noncontrastive-aligned",
    "Non-contrastive descent ends aligned: the alignment score is as high as its definition allows.",
    quotes=(ALSO_ALIGN, UNBALANCED),
    quantifier="existential",
    word="can also learn to align",
    looked="what negatives with the same z leave open was worked out after a look at the scores",
    broken_by=times("trajectory", "alignment", 0.9, loss="non-contrastive", step=last),
)
def noncontrastive_aligned() -> Cells:
    for cell in NOISY:
        yield cell, high_score(cell, "end", "non-contrastive")


@claim(
    "ren2023/thm43/contrastive",
    """With some τ² and lengths of the two stages, contrastive descent at finite width ends aligned and
    balanced on every A: its alignment score is as high as the definition allows, and the stable rank of the
    output's exact covariance is about r. How the number of steps grows with the dimension is not judged.""",
    quotes=FOR_ANY_A,
    word="for any valid",
    reading=f"about r: {ABOUT}; every A: the linear and the spiked spectrum, with noise",
    exists=True,
    looked=AT_REST,
    broken_by=(
        times("trajectory", "alignment", 0.9, loss="contrastive", step=last),
        times("trajectory", "stable_rank", 0.7, loss="contrastive", step=last),
    ),
)
def contrastive_nearly_optimal() -> Cells:
    for cell in NOISY:
        yield f"{cell}: aligned", high_score(cell, "rest")
        yield f"{cell}: balanced", balanced(cell)
