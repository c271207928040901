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


def layers_that_do_not_align() -> str:
    """Eight normal inputs, normal noise on one view, and two normal layers, by gradient flow of InfoNCE."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(8, 2))
    shift = rng.normal(size=(8, 2)) * rng.uniform(0.4, 1.0)
    w1, w2 = 0.5 * rng.normal(size=(2, 2)), 0.5 * rng.normal(size=(2, 2))
    pairs, lowest = x[:, None] - x, np.inf
    for _ in range(12_000):
        product = w2 @ w1
        distances = (pairs + np.eye(8)[..., None] * shift) @ product.T  # the diagonal has the positives
        weights = np.exp(-np.square(distances).sum(-1) / 2)
        alpha = weights / weights.sum(1, keepdims=True)
        data = np.einsum("ij,ijk,ijl->kl", alpha, pairs, pairs)
        matrix = data - (shift.T * (1 - np.diag(alpha))) @ shift  # X of Lemma 2
        lowest = min(lowest, np.linalg.eigvalsh(matrix)[0])
        w1, w2 = w1 + 1e-3 * w2.T @ product @ matrix, w2 + 1e-3 * product @ matrix @ w1.T
    (_, s1, _), (_, s2, _) = np.linalg.svd(w1), np.linalg.svd(w2)
    alignment = np.abs(np.linalg.svd(w2)[2] @ np.linalg.svd(w1)[0]).round(2).tolist()
    sign = "stays" if lowest > 0 else "does not stay"
    return (
        f"eight inputs, noise on one view: X {sign} positive definite and tends to 0; the singular values "
        f"tend to {s1.round(2).tolist()} and {s2.round(2).tolist()}, and |V2ᵀ U1| to {alignment}"
    )


def velocity_of_orthonormal_layers() -> str:
    """h = d = 2 and z = 1: W1 = I, W2 at 45 degrees, C = diag(-1, 1), and a short step of (11), whose
    projection makes it a step of the flow in the Euclidean metric."""
    c, w1, w2, rate = np.diag([-1.0, 1.0]), np.eye(2), np.array([[1.0], [1.0]]) / np.sqrt(2), 1e-6
    q, stepped = w1.T @ w2, []
    for w, gradient in ((w1, 2 * w2 @ q.T @ c), (w2, 2 * w1 @ c @ q)):
        u, _, v = np.linalg.svd(w - rate * gradient, full_matrices=False)
        stepped.append(u @ v)
    velocity = ((stepped[0].T @ stepped[1] - q) / rate).ravel()
    printed = -2 * (2 * c @ q - c @ q @ q.T @ q - q @ q.T @ c @ q).ravel()
    gap = np.linalg.norm(printed - velocity) / np.linalg.norm(velocity)
    return (
        f"C = diag(-1, 1), q = (1, 1)/√2: in the Euclidean metric dq/dt is ({velocity[0]:.3f}, "
        f"{velocity[1]:.3f}), and by Eq. 9 ({printed[0]:.3f}, {printed[1]:.3f}), {gap:.4f} of it less"
    )


def narrow_orthonormal_layers() -> str:
    """C = diag(-1, 2, 3), z = 2, h = 3: W1 is square, so that W1ᵀ W2 has orthonormal columns."""
    c, rng = np.diag([-1.0, 2.0, 3.0]), np.random.default_rng(0)
    q = np.outer([1.0, 0.0, 0.0], [1.0, 0.0])
    drawn = (np.linalg.qr(rng.normal(size=(3, 2)))[0] for _ in range(20_000))
    least = min(float(np.trace(each.T @ c @ each)) for each in drawn)
    return (
        f"C = diag(-1, 2, 3), z = 2, h = 3: (3) has {np.trace(q.T @ c @ q):.0f} at W1ᵀ W2 = e1 e1ᵀ, (4) no "
        f"less than λ1 + λ2 = {c[0, 0] + c[1, 1]:.0f} (the least of 20,000 drawn: {least:.3f})"
    )


def outputs_under_infonce() -> str:
    """Two orthogonal anchors, x⁺ = x and x⁻ = -x: gradient flow of a linear model under (1) and InfoNCE."""
    x, shares = np.diag([1.5, 1.0]), []
    for is_infonce in (False, True):
        theta = np.array([[0.3, 0.1], [-0.1, 0.3]])
        for _ in range(4_000):
            u = theta @ x  # a column an anchor: the loss (1) is -2 |u|² each, InfoNCE log(1 + exp(-2 |u|²))
            weights = 1 / (1 + np.exp(2 * (u**2).sum(0))) if is_infonce else np.ones(2)
            theta = theta + 4e-3 * weights * u @ x
        values = np.linalg.svd(theta @ x, compute_uv=False)
        shares.append(values[1] / values[0])
    simple, infonce = shares
    return (
        f"orthogonal anchors of lengths 1.5 and 1, x⁺ = x, x⁻ = -x, Θ0 = (.3, .1; -.1, .3): the second "
        f"singular value of the outputs comes to {simple:.0e} of the first under (1), and "
        f"to {infonce:.2f} under InfoNCE"
    )


def gradient_of_linear_layers() -> str:
    """One input, x1 = x2 = 1, and layers w1 = w2 = 1, at which the loss is 0."""
    w1, w2, step = 1.0, 1.0, 1e-5

    def loss(w1: float) -> float:
        return (w1**2 - 1) ** 2 + (w2**2 - 1) ** 2 + (w1 - w2) ** 2

    slope = (loss(w1 + step) - loss(w1 - step)) / (2 * step)
    printed, corrected = -2 * (w1 + 2 * w2 + 2 * w1**3), -2 * w1 - 2 * w2 + 4 * w1**3
    return (
        f"x1 = x2 = w1 = w2 = 1, the minimum, L = {loss(w1):.0f}: dL/dw1 = {abs(slope):.0f}; Eq. 12 gives "
        f"{printed:.0f}, and corrected {corrected:.0f}"
    )


def closed_form_of_aligned_layers() -> str:
    """One input, x1 = x2 = 1 (λ = γ = ρ = 1), and layers that start at s = 0.1."""
    start, time, rate = 0.1, 0.5, 1e-4
    s = start
    for _ in range(round(time / rate)):
        s -= rate * 4 * (s**2 - 1) * s  # of both layers, which stay equal: w1 - w2 = 0
    printed = np.sqrt(1 / ((2 + 1 / start**2) * np.exp(4 * time) - 2))
    corrected = np.sqrt(2 / (2 + (2 / start**2 - 2) * np.exp(-8 * time)))
    return (
        f"x1 = x2 = 1, s(0) = 0.1: at t = {time} descent is at s = {s:.4f}; Eq. 18 gives {printed:.4f}, "
        f"and corrected {corrected:.4f}"
    )


def singular_vectors_of_aligned_layers() -> str:
    """X1 = X2 = diag(2, 1), and two layers with the values 0.6 and 0.3, of which W2 is turned by 90°."""
    x, values = np.diag([2.0, 1.0]), np.diag([0.6, 0.3])
    w = [values, np.array([[0.0, -1.0], [1.0, 0.0]]) @ values]
    for _ in range(1_000):
        z = [x @ layer.T for layer in w]
        slopes = [4 * of @ (of.T @ of - np.eye(2)) + 2 * (of - to) for of, to in (z, z[::-1])]
        w = [layer - 1e-4 * slope.T @ x for layer, slope in zip(w, slopes, strict=True)]
    return (
        f"X1 = X2 = diag(2, 1), U1 = I, U2 = a turn by 90°, S1 = S2 = diag(0.6, 0.3): W1 = diag(0.6, 0.3) "
        f"should stay diagonal; descent has it at {w[0].round(2).tolist()} at t = 0.1"
    )


COUNTEREXAMPLES: dict[str, Callable[[], str]] = {
    "tian2023/thm2": bound_on_the_roughness,
    "tian2023/thm6-winner": pattern_that_wins,
    "tian2023/sec4-stationary": stationary_top_layer,
    "jing2022/thm2-limit": layers_that_do_not_align,
    "esser2024/thm2-ode": velocity_of_orthonormal_layers,
    "esser2024/prop3-width": narrow_orthonormal_layers,
    "esser2024/remark2-infonce": outputs_under_infonce,
    "skean2024/eq12": gradient_of_linear_layers,
    "skean2024/appD/printed-closed-form-error": closed_form_of_aligned_layers,
    "skean2024/propD1-left-vectors": singular_vectors_of_aligned_layers,
}


def main(names: list[str]) -> int:
    """Prints the counterexamples to these statements, or to all."""
    if unknown := [name for name in names if name not in COUNTEREXAMPLES]:
        here = f"not worked out here (`reprise show` has its points). Here: {', '.join(COUNTEREXAMPLES)}"
        print(f"{unknown[0]}: {here}", file=sys.stderr)
        return 1
    for name in names or COUNTEREXAMPLES:
        print(f"{name}: {COUNTEREXAMPLES[name]()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
