"""What Figure 9, quickly drawn, does without."""

UNSHOWN = ("filters",)
"""Figure 5."""
