"""What captions and statements of several experiments say in the same words."""

ASSUMED = """Our copy of the paper has lost the values of these settings in conversion; we assume ours, and
    the claims are judged with other plausible ones too."""
"""In captions."""
STAGE_NAMES = {1: "Stage 1 (small temperature τ²)", 2: "Stage 2 (large temperature τ²)"}
"""Of contrastive training, in statements."""
