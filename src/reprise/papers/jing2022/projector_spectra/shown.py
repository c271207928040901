"""What Figures 2 and 7b, quickly drawn, do without."""

ALONE: dict[str, dict[str, tuple[str, ...]]] = {"fig02": {"nets": ("nonlinear",)}}
UNSHOWN = ("pixels/", "supervised/")
