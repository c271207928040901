"""Words that captions and statements of several experiments share."""

from reprise.evidence.claim import Quotation

ASSUMED = """Our copy of the paper has lost the values of these settings in conversion; we assume ours, and
    the claims are judged with other plausible ones too."""
"""Sentence of captions about lost settings."""
STAGE_NAMES = {1: "Stage 1 (small temperature τ²)", 2: "Stage 2 (large temperature τ²)"}
"""Names of the stages of contrastive training, in statements."""

RECOVERS = Quotation(
    "much more balanced, meaning that [...] can recover all the singular vectors of [...] and [...] and "
    "normalize them",
    at="Section 1, contribution 4",
)
"""Section 1 says this of negative pairs; it is judged at finite and at infinite width. Each [...] is a
formula that our copy of the paper has lost."""
