"""Settings that suffice for Figure 6a or Figure 6b alone."""

ALONE: dict[str, dict[str, tuple[int, ...]]] = {
    "fig06a": {"relu_depths": (2,), "isotropic_depths": (4,), "degenerate_depths": (4,)},
    "fig06b": {"depths": (2, 3), "isotropic_depths": (4,), "degenerate_depths": ()},
}
