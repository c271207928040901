"""The shortest counterexample to each statement that docs/readings.md calls false.

    python docs/counterexamples.py [CLAIM]

prints one, or all. They use NumPy alone, and nothing of Reprise.
"""

import sys
from collections.abc import Callable

import numpy as np


def bound_on_the_roughness() -> str:
    """Inputs uniform on a disc of radius R in the plane, and one ReLU unit."""
    radius = 0.05
    density = 1 / (np.pi * radius**2)
    activity = 2 * radius / (3 * np.pi)  # the mean of max(0, wᵀx) over the disc
    entering = 2 * radius**3 / 3 * density  # of |x|² on the boundary line wᵀx = 0
    volume, largest_density = np.pi * radius**2, density
    printed = radius**3 * volume * largest_density / np.pi
    corrected = radius**2 * volume * largest_density / np.pi
    return (
        f"x uniform on a disc of radius C0 = {radius}: the roughness is {activity * entering:.2e}; "
        f"C0³ vol(C0) r / π = {printed:.2e} is less, C0² vol(C0) r / π = {corrected:.2e} is not"
    )


def pattern_that_wins() -> str:
    """Two patterns: ẏ_l = (y_l + b_l) y_l on the circle, from a start at which the two rules differ."""
    offsets, start = np.array([1.5, 1.1]), np.array([0.6, 0.8])
    times = np.log(1 + offsets / start) / offsets
    y, step = start, 1e-3
    for _ in range(20_000):
        climb = (y + offsets) * y
        y = y + step * (climb - (y @ climb) * y)
        y = y / np.linalg.norm(y)
    return (
        f"b = (1.5, 1.1), y(0) = (0.6, 0.8): t* = ({times[0]:.3f}, {times[1]:.3f}), so that the second "
        f"pattern should win; the unit weight ends at ({y[0]:.3f}, {y[1]:.3f}), and y(0) + b = (2.1, 1.9)"
    )


def stationary_top_layer() -> str:
    """Two fields with one input each, so that the filters, w = ±1, cannot move; one output."""
    covariance, top = np.diag([2.0, 1.0]), np.array([0.0, 1.0])
    velocity = top @ covariance
    across = velocity - (velocity @ top) * top
    return (
        f"filters w = 1 of one input each, C_α[f1] = diag(2, 1), V = (0, 1), which is not the top "
        f"eigenvector: V̇ = V C = (0, 1), whose part across V is {np.linalg.norm(across):.0f}, so that (W, V) "
        f"is stationary, and not stable"
    )


COUNTEREXAMPLES: dict[str, Callable[[], str]] = {
    "tian2023/thm2": bound_on_the_roughness,
    "tian2023/thm6-winner": pattern_that_wins,
    "tian2023/sec4-stationary": stationary_top_layer,
}


def main(names: list[str]) -> int:
    """Prints the counterexamples to these statements, or to all."""
    if unknown := [name for name in names if name not in COUNTEREXAMPLES]:
        print(f"no counterexample to {unknown[0]}; there are: {', '.join(COUNTEREXAMPLES)}", file=sys.stderr)
        return 1
    for name in names or COUNTEREXAMPLES:
        print(f"{name}: {COUNTEREXAMPLES[name]()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
