"""Figure 9, quickly drawn, does without these tasks."""

UNSHOWN = ("filters",)
"""Figure 5."""
