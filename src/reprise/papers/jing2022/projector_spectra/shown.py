"""Figures 2 and 7b, quickly drawn, do without these settings and tasks."""

ALONE: dict[str, dict[str, tuple[str, ...]]] = {"fig02": {"nets": ("nonlinear",)}}
UNSHOWN = ("pixels/", "supervised/")
