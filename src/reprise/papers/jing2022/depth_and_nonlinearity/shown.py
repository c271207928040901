"""What Figures 6a and 6b can do without where only one of them is drawn."""

ALONE: dict[str, dict[str, tuple[int, ...]]] = {
    "fig06a": {"relu_depths": (2,), "isotropic_depths": (4,), "degenerate_depths": (4,)},
    "fig06b": {"depths": (2, 3), "isotropic_depths": (4,), "degenerate_depths": ()},
}
