"""What other papers say, carried over to the two-layer model of Section 5 and read as an observation of ours.

Written before the first run, with ten seeds and the margins of all claims (`MARGINS`); each statement
is the prediction. Remark 3 of esser2024 is about the losses (1) and (2): that a fixed projector does not help
should carry over to InfoNCE, since it stops descent in directions that it does not read; that outputs end in
one dimension should not, since InfoNCE repels pairs as long as they are close. Of ren2023, that negatives
keep a net balanced should carry over in part: more balanced than without them, but short of the best, as
singular values grow slowly. Alignment should need no training where both views pass through one net. Without
negatives one direction is left, of variance 4 under noise of .09: a score of 2/π arctan(√(8.18/.18)) = .91,
under that of the start. Of tian2023, that linear nets have no filters of their own follows here from
symmetry: the loss and the start are the same after a rotation of the hidden units. ReLU breaks it.
"""

import math
from typing import Any

from reprise.evidence.claim import ours
from reprise.evidence.claims import for_all, ordering, value
from reprise.evidence.comparison import MARGINS, SHARE, Measure, above, at_least, below
from reprise.evidence.measures import column, difference, last

DIM = 16
"""Of the model, as Figure 4 has it."""

PROJECTORS = ("low-rank", "decaying")
AFTER_REMARK_3 = "Our observation, after Remark 3 of esser2024"
AFTER_BALANCE = "Our observation, after Definitions 4.1 and 4.2 of ren2023"
AFTER_CHI = "Our observation, after Eq. 16 and Section 5 of tian2023"
STABLE_RANK, MATCHING = "stable rank", "matching score"
BALANCE: dict[str, Any] = {"source": AFTER_BALANCE, "unit": STABLE_RANK}
CHI: dict[str, Any] = {"source": AFTER_CHI, "unit": MATCHING}
COSINES = "chi of W1's rows on the axes of the data: cosines, of linear layers their size (tian2023's code)"


def at_end(arm: str, name: str) -> Measure:
    """A column of the trajectory after the last step."""
    return column("trajectory", name, step=last, arm=arm)


def at_start(arm: str, name: str) -> Measure:
    """A column of the trajectory before training."""
    return column("trajectory", name, step=0, arm=arm)


STATEMENTS = [
    for_all(
        "jing2022/other-papers/fixed-projector",
        "Carried over from Remark 3 of esser2024 to the two-layer model and InfoNCE: behind a fixed "
        "projector, of low rank or of decaying singular values, at least as many dimensions of the "
        "representation collapse as without one.",
        {
            arm: at_least(
                difference(at_end(arm, "collapsed"), at_end("none", "collapsed")),
                0,
                unit="more collapsed values of 16 than without a projector",
            )
            for arm in PROJECTORS
        },
        source=AFTER_REMARK_3,
        word="at least as many",
        reading="collapsed: under 1e-3 of the largest (ours)",
    ),
    for_all(
        "jing2022/other-papers/fixed-projector-dimensions",
        "Not carried over from Remark 3 of esser2024 to the two-layer model and InfoNCE: the embeddings "
        "behind a fixed projector keep two dimensions or more.",
        {
            arm: at_least(at_end(arm, "standing"), 2, unit="values that have not collapsed")
            for arm in PROJECTORS
        },
        source=AFTER_REMARK_3,
        word="keep two dimensions or more",
        reading="collapsed: under 1e-3 of the largest (ours)",
    ),
    value(
        "jing2022/other-papers/aligned-at-start",
        "Two views through one net need no training to be aligned as ren2023 measures it: the alignment "
        "score of the two-layer model is about 1 at its random start.",
        source=AFTER_BALANCE,
        word="about 1",
        quantity="score",
        measure=at_start("none", "alignment"),
        published=1.0,
        unit="alignment score",
        bounds=(-math.inf, 1.0),  # a mean over pairs of samples, no share of runs
    ),
    value(
        "jing2022/other-papers/contrastive-aligned",
        "As ren2023 finds of two modalities, training with negatives leaves two views through one net "
        "aligned: the alignment score of the two-layer model ends where it started.",
        source=AFTER_BALANCE,
        quantifier="similar",
        word="ends where it started",
        quantity="score",
        measure=at_end("none", "alignment"),
        published=at_start("none", "alignment"),
        unit="alignment score",
        bounds=SHARE,
    ),
    ordering(
        "jing2022/other-papers/noncontrastive-alignment",
        "Unlike two modalities in ren2023, two views through one net lose alignment without negatives: the "
        "alignment score of the two-layer model ends below that of its start.",
        source=AFTER_BALANCE,
        quantifier="generic",
        word="lose alignment",
        measure=at_end("non-contrastive", "alignment"),
        below=at_start("non-contrastive", "alignment"),
        unit="alignment score",
        bounds=SHARE,
    ),
    for_all(
        "jing2022/other-papers/noncontrastive-balance",
        "As ren2023 finds of two modalities, without negatives the embeddings of two views through one net "
        "end less balanced than at the start, and less than with negatives (the two-layer model).",
        {
            f"than {when}": below(at_end("non-contrastive", "stable_rank"), other, unit=STABLE_RANK)
            for when, other in (
                ("at the start", at_start("non-contrastive", "stable_rank")),
                ("with negatives", at_end("none", "stable_rank")),
            )
        },
        source=AFTER_BALANCE,
        word="and less than",
    ),
    ordering(
        "jing2022/other-papers/contrastive-balance",
        "As ren2023 finds of two modalities, training with negatives makes the embeddings of two views "
        "through one net more balanced than at the start (the two-layer model).",
        quantifier="generic",
        word="more balanced than",
        measure=at_end("none", "stable_rank"),
        above=at_start("none", "stable_rank"),
        **BALANCE,
    ),
    ordering(
        "jing2022/other-papers/contrastive-unbalanced",
        "Unlike two modalities in ren2023, two views through one net do not become balanced in the steps of "
        "Figures 4 and 5: the stable rank of the embeddings stays more than a tenth below its 16 dimensions "
        "(the two-layer model).",
        word="do not become balanced",
        measure=at_end("none", "stable_rank"),
        below=(1 - MARGINS["singular value"]) * DIM,
        **BALANCE | {"unit": f"{STABLE_RANK}, against the margin"},
    ),
    value(
        "jing2022/other-papers/chi-linear",
        "As tian2023 finds of linear nets, filters do not specialise without ReLU: after training, the rows "
        "of W1 match the axes of the data no better than random rotations of them do (the two-layer model).",
        quantifier="similar",
        word="no better than",
        quantity="score",
        measure=at_end("none", "chi"),
        published=at_end("none", "chi_rotated"),
        reading=COSINES,
        **CHI,
    ),
    ordering(
        "jing2022/other-papers/chi-relu",
        "As tian2023 finds of ReLU nets, filters specialise with ReLU: after training, the rows of W1 match "
        "the axes of the data better than random rotations of them do (the two-layer model).",
        quantifier="generic",
        word="better than",
        measure=at_end("relu", "chi"),
        above=at_end("relu", "chi_rotated"),
        reading=COSINES,
        **CHI,
    ),
    for_all(
        "jing2022/other-papers/chi-varied",
        "After training, chi of tian2023 is higher for the half of the axes along which the data vary more "
        "than for the other half, with and without ReLU (the two-layer model).",
        {
            words: above(at_end(arm, "chi_varied"), at_end(arm, "chi_other"), unit=MATCHING)
            for words, arm in (("linear", "none"), ("ReLU", "relu"))
        },
        source=AFTER_CHI,
        word="with and without ReLU",
        reading=COSINES,
    ),
]
CLAIMS = [ours(claim) for claim in STATEMENTS]
