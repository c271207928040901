"""Observations of ours: statements of other papers, carried over to the two-layer model of Section 5.

Written before the first run, with ten seeds and the margins of all claims (`MARGINS`); each statement is the
prediction. Remark 3 of esser2024, that outputs end in one dimension, is about the losses (1) and (2): it
should not carry over to InfoNCE, which repels pairs as long as they are close. The statement of ren2023 that
negatives keep a net balanced should carry over in part: more balanced than without them, but short of the
best, as singular values grow slowly. The statement of tian2023 that linear nets have no filters of their own
follows here from symmetry: the loss and the start are the same after a rotation of the hidden units. ReLU
breaks the symmetry.
"""

from functools import partial

from reprise.evidence.claim import Cells, claim
from reprise.evidence.comparison import MARGINS, Comparison, Measure, above, at_least, below, near
from reprise.evidence.edits import put, times
from reprise.evidence.measures import column, last

DIM = 16
"""Dimension of the model, as in Figure 4."""

STABLE_RANK, MATCHING = "stable rank", "matching score"
SPECIALISED = (
    "ours: tian2023 has other data; chi of W1's rows on the axes of the data: cosines, of linear layers "
    "their size (tian2023's code)"
)
BALANCED = "ours: ren2023 has two modalities with a net each, here two views go through one"

after_remark_3 = partial(claim, at="Our observation, after Remark 3 of esser2024", form="ours")
after_balance = partial(
    claim, at="Our observation, after Definition 4.2 of ren2023", form="ours", reading=BALANCED
)
after_chi = partial(
    claim, at="Our observation, after Eq. 16 and Section 5 of tian2023", form="ours", reading=SPECIALISED
)


def at_end(arm: str, name: str) -> Measure:
    """A column of the trajectory after the last step."""
    return column("trajectory", name, step=last, arm=arm)


def at_start(arm: str, name: str) -> Measure:
    """A column of the trajectory before training."""
    return column("trajectory", name, step=0, arm=arm)


@after_remark_3(
    "jing2022/other-papers/fixed-projector-dimensions",
    """Not carried over from Remark 3 of esser2024 to the two-layer model and InfoNCE: the embeddings behind a
    fixed projector keep two dimensions or more.""",
    word="keep two dimensions or more",
    reading="ours: esser2024 has other losses; collapsed is under 1e-3 of the largest",
    broken_by=put("trajectory", "standing", 1.0, step=last),
)
def fixed_projector_dimensions() -> Cells:
    for arm in ("low-rank", "decaying"):
        yield arm, at_least(at_end(arm, "standing"), 2, unit="values that have not collapsed")


@after_balance(
    "jing2022/other-papers/noncontrastive-balance",
    """As ren2023 finds of two modalities, without negatives the embeddings of two views through one net end
    less balanced than at the start, and less than with negatives (the two-layer model).""",
    word="and less than",
    broken_by=put("trajectory", "stable_rank", 12.0, step=last, arm="non-contrastive"),
)
def noncontrastive_balance() -> Cells:
    others = {
        "at the start": at_start("non-contrastive", "stable_rank"),
        "with negatives": at_end("none", "stable_rank"),
    }
    for when, other in others.items():
        yield f"than {when}", below(at_end("non-contrastive", "stable_rank"), other, unit=STABLE_RANK)


@after_balance(
    "jing2022/other-papers/contrastive-unbalanced",
    """Unlike two modalities in ren2023, two views through one net do not become balanced in the steps of
    Figures 4 and 5: the stable rank of the embeddings stays more than a tenth below its 16 dimensions (the
    two-layer model).""",
    word="do not become balanced",
    broken_by=put("trajectory", "stable_rank", 15.5, step=last, arm="none"),
)
def contrastive_unbalanced() -> Comparison:
    least = (1 - MARGINS["singular value"]) * DIM
    return below(at_end("none", "stable_rank"), least, unit=f"{STABLE_RANK}, against the margin")


@after_chi(
    "jing2022/other-papers/chi-linear",
    """As tian2023 finds of linear nets, filters do not specialise without ReLU: after training, the rows of
    W1 match the axes of the data no better than random rotations of them do (the two-layer model).""",
    quantifier="similar",
    word="no better than",
    broken_by=times("trajectory", "chi", 1.5, step=last, arm="none"),
)
def chi_linear() -> Comparison:
    return near(at_end("none", "chi"), at_end("none", "chi_rotated"), quantity="score", unit=MATCHING)


@after_chi(
    "jing2022/other-papers/chi-relu",
    """As tian2023 finds of ReLU nets, filters specialise with ReLU: after training, the rows of W1 match the
    axes of the data better than random rotations of them do (the two-layer model).""",
    quantifier="generic",
    word="better than",
    broken_by=times("trajectory", "chi", 0.4, step=last, arm="relu"),
)
def chi_relu() -> Comparison:
    return above(at_end("relu", "chi"), at_end("relu", "chi_rotated"), unit=MATCHING)
