"""Section 5: z = W2 W1 x."""

from collections.abc import Mapping

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import block_diag

from reprise.evidence.identities import Array, Checked, Random, as_printed, orthonormal, relative_error, size
from reprise.papers.jing2022.gradient_flow import formulas
from reprise.papers.jing2022.gradient_flow.motion import factors_velocity, gradient_flow, svd, whole_svd
from reprise.papers.jing2022.gradient_flow.points import (
    Linear,
    augmented_at_threshold,
    distinct,
    on_random_data,
    spread_values,
)


def any_widths(rng: Random, largest: int) -> Linear:
    inputs, hidden, outputs = (size(rng, 2, largest) for _ in range(3))
    return on_random_data(rng, distinct(rng, hidden, inputs), distinct(rng, outputs, hidden))


def aligned(rng: Random, largest: int) -> Linear:
    """A bottleneck with V2 = U1, the two layers' singular values paired by rank and different."""
    sizes = _bottleneck_sizes(rng, 2, largest)
    u1 = orthonormal(rng, sizes["hidden"], sizes["hidden"])
    return _with_bases(rng, sizes, u1, u1)


def lemma3(rng: Random, largest: int) -> Checked:
    """Eqs. 8, 9 and 10."""
    model = any_widths(rng, largest)
    w1, w2 = model.layers
    velocity1, velocity2 = gradient_flow(model.layers, model.x, model.x_aug)
    g = model.gradient_sum
    return Checked(
        model.sizes,
        {
            "lemma3/first-layer": as_printed(relative_error(-w2.T @ g, velocity1)),
            "lemma3/second-layer": as_printed(relative_error(-g @ w1.T, velocity2)),
            "lemma3/gradient-sum": as_printed(relative_error(-w2 @ w1 @ model.x_matrix, g)),
        },
    )


def lemma6(rng: Random, largest: int) -> Checked:
    """Eqs. 18 to 20 for layers of any widths, with H as printed and with its sign changed."""
    model = any_widths(rng, largest)
    errors = {"printed": lemma6_error(model, sign=-1), "corrected": lemma6_error(model, sign=1)}
    return Checked(model.sizes, {"lemma6": errors})


def lemma6_error(model: Linear, *, sign: int) -> float:
    """The relative error of Eq. 18, of the vectors that have a value in both layers.

    Args:
        sign: of H: 1 as corrected, -1 as printed.
    """
    (u1, s1, v1), (u2, s2, v2) = (whole_svd(w) for w in model.layers)
    f = s2.T @ u2.T @ model.gradient_sum @ v1 @ s1.T  # Eq. 20
    velocity = formulas.alignment_velocity(
        v2.T @ u1, f, sign * formulas.inverse_gaps(s1), sign * formulas.inverse_gaps(s2.T)
    )
    expected = _alignment_velocity(model)
    rows, columns = expected.shape
    return relative_error(velocity[:rows, :columns], expected)


def lemma7(rng: Random, largest: int) -> Checked:
    """Eqs. 21 and 22."""
    model = any_widths(rng, largest)
    (u1, s1, v1t), (u2, s2, v2t) = (svd(w) for w in model.layers)
    (_, first, _), (_, second, _) = _factor_velocities(model)
    overlap = v2t @ u1  # (v2_k' · u1_k), k' down, k across
    gains = u2.T @ model.gradient_sum @ v1t.T  # u2_k'ᵀ G v1_k
    return Checked(
        model.sizes,
        {
            "lemma7/first-layer": as_printed(relative_error(-(overlap * s2[:, None] * gains).sum(0), first)),
            "lemma7/second-layer": as_printed(relative_error(-(overlap * s1 * gains).sum(1), second)),
        },
    )


def conservation(rng: Random, largest: int) -> Checked:
    """d/dt (W1 W1ᵀ - W2ᵀ W2) = 0 (proof of Theorem 2)."""
    model = any_widths(rng, largest)
    (w1, w2), (velocity1, velocity2) = model.layers, gradient_flow(model.layers, model.x, model.x_aug)
    first = velocity1 @ w1.T + w1 @ velocity1.T
    second = velocity2.T @ w2 + w2.T @ velocity2
    return Checked(model.sizes, {"thm2/conserved": as_printed(relative_error(second, first))})


def limit(rng: Random, largest: int) -> Checked:
    """W1 W1ᵀ - W2ᵀ W2 before and after |W1|² grows a hundredfold under a fixed positive definite X."""
    model = augmented_at_threshold(any_widths(rng, largest), rng.uniform(0.2, 0.9))
    x, (w1, w2) = model.x_matrix / np.linalg.norm(model.x_matrix, 2), model.layers

    def unpack(flat: Array) -> tuple[Array, Array]:
        return flat[: w1.size].reshape(w1.shape), flat[w1.size :].reshape(w2.shape)

    def flow(t: float, flat: Array) -> Array:
        first, second = unpack(flat)
        g = -second @ first @ x
        return np.concatenate([(-second.T @ g).ravel(), (-g @ first.T).ravel()])

    def has_grown(t: float, flat: Array) -> float:
        return float(np.sum(unpack(flat)[0] ** 2) / np.sum(w1**2) - 100)

    has_grown.terminal = True  # type: ignore[attr-defined]
    start = np.concatenate([w1.ravel(), w2.ravel()])
    path = solve_ivp(flow, (0, 1e3), start, "DOP853", events=has_grown, rtol=1e-12, atol=1e-13)
    before, after = (_imbalance(*unpack(path.y[:, index])) for index in (0, -1))
    grown = bool(path.t_events[0].size)
    return Checked(
        model.sizes,
        {
            "thm2-limit": {
                "printed": float(np.linalg.norm(after) / np.linalg.norm(before)) if grown else np.nan,
                "corrected": relative_error(after, before) if grown else np.nan,
            }
        },
    )


def growth(rng: Random, largest: int) -> Checked:
    """d/dt |W1|² = d/dt |W2|² = 2 tr(W2 W1 X W1ᵀ W2ᵀ), which is positive while X is positive definite."""
    model = augmented_at_threshold(any_widths(rng, largest), rng.uniform(0.2, 0.9))
    (w1, w2), (velocity1, velocity2) = model.layers, gradient_flow(model.layers, model.x, model.x_aug)
    rates = 2 * np.array([np.sum(velocity1 * w1), np.sum(velocity2 * w2)])
    expected = 2 * np.trace(w2 @ w1 @ model.x_matrix @ w1.T @ w2.T)
    return Checked(
        model.sizes,
        {
            "thm2/norm-rate": as_printed(relative_error(np.array([expected, expected]), rates)),
            "thm2/norm-never-shrinks": as_printed(float(rates.min() <= 0)),
        },
    )


def last_step_of_theorem2(rng: Random, largest: int) -> Checked:
    """W1 W1ᵀ = W2ᵀ W2 with distinct singular values gives |V2ᵀ U1| = I."""
    sizes = _bottleneck_sizes(rng, 2, largest)
    a = _alignment_of_balanced(rng, sizes, spread_values(rng, sizes["hidden"]))
    return Checked(sizes, {"thm2/last-step": as_printed(relative_error(np.abs(a), np.eye(len(a))))})


def remark(rng: Random, largest: int) -> Checked:
    """W1 W1ᵀ = W2ᵀ W2 with groups of equal singular values: A is block-diagonal, not the identity."""
    groups = rng.permutation([2, size(rng, 1, 3), 1])
    hidden = int(groups.sum())
    inputs, outputs = (size(rng, hidden, largest + 4) for _ in range(2))
    sizes = {"inputs": inputs, "hidden": hidden, "outputs": outputs}
    a = _alignment_of_balanced(rng, sizes, np.repeat(spread_values(rng, 3), groups))
    group = np.repeat(np.arange(3), groups)
    within = np.equal.outer(group, group)
    # Singular vectors of W2 rotated within the groups are equally valid.
    turn = block_diag(*[orthonormal(rng, n, n) for n in groups])
    return Checked(
        sizes,
        {
            "thm2/degenerate-block-diagonal": as_printed(relative_error(np.where(within, a, 0), a)),
            "thm2/degenerate-identity": as_printed(relative_error(np.abs(turn.T @ a), np.eye(hidden))),
        },
    )


def theorem3(rng: Random, largest: int) -> Checked:
    """Eq. 11 with V2 = U1, and with the printed V2 = U1ᵀ."""
    sizes = _bottleneck_sizes(rng, 3, largest)  # with 2 hidden units, U1 can be its own transpose
    u1 = orthonormal(rng, sizes["hidden"], sizes["hidden"])
    return Checked(
        sizes,
        {
            "thm3": {
                "printed": _eq11_error(_with_bases(rng, sizes, u1, u1.T)),
                "corrected": _eq11_error(_with_bases(rng, sizes, u1, u1)),
            }
        },
    )


def closed_form(rng: Random, largest: int) -> Checked:
    """Under alignment σ1² - σ2² = C is conserved, and σ1 follows its own equation (after Theorem 3)."""
    model = aligned(rng, largest)
    (_, s1, v1t), (_, s2, _) = (svd(w) for w in model.layers)
    (_, first, _), (_, second, _) = _factor_velocities(model)
    rate = np.diag(v1t @ model.x_matrix @ v1t.T)
    difference = s1**2 - s2**2
    return Checked(
        model.sizes,
        {
            "thm3/squares": as_printed(relative_error(s1 * first, s2 * second)),
            "thm3-closed-form": {
                "printed": relative_error(s1 * (s1**2 + difference) * rate, first),
                "corrected": relative_error(s1 * (s1**2 - difference) * rate, first),
            },
        },
    )


def alignment_preserved(rng: Random, largest: int) -> Checked:
    """Whether two aligned layers stay aligned: A's velocity away from the identity, relative to U1's
    velocity."""
    model = aligned(rng, largest)
    w1, (_, s1, _) = model.layers[0], svd(model.layers[0])
    u2, _, v2t = svd(model.layers[1])
    balanced = Linear((w1, (u2 * s1) @ v2t), model.x, model.x_aug)

    def drift(layers: Linear) -> float:
        (turning, _, _), _ = _factor_velocities(layers)
        return float(np.linalg.norm(_alignment_velocity(layers)) / np.linalg.norm(turning))

    return Checked(model.sizes, {"thm3/balanced-stay-aligned": as_printed(drift(balanced))})


def _bottleneck_sizes(rng: Random, smallest: int, largest: int) -> dict[str, int]:
    hidden = size(rng, smallest, largest)
    return {"inputs": size(rng, hidden, largest), "hidden": hidden, "outputs": size(rng, hidden, largest)}


def _with_bases(rng: Random, sizes: Mapping[str, int], u1: Array, v2: Array) -> Linear:
    """Random singular values and outer singular vectors around the given inner ones."""
    w1 = (u1 * spread_values(rng, len(u1))) @ orthonormal(rng, sizes["inputs"], len(u1)).T
    w2 = (orthonormal(rng, sizes["outputs"], len(u1)) * spread_values(rng, len(u1))) @ v2.T
    return on_random_data(rng, w1, w2)


def _eq11_error(model: Linear) -> float:
    (_, s1, v1t), (_, s2, _) = (svd(w) for w in model.layers)
    (_, first, _), (_, second, _) = _factor_velocities(model)
    rate = np.diag(v1t @ model.x_matrix @ v1t.T)
    return relative_error(np.stack([s1 * s2**2 * rate, s2 * s1**2 * rate]), np.stack([first, second]))


def _alignment_of_balanced(rng: Random, sizes: Mapping[str, int], s: Array) -> Array:
    """A of two random layers with W1 W1ᵀ = W2ᵀ W2 and singular values `s`."""
    inner = orthonormal(rng, len(s), len(s))
    w1 = (inner * s) @ orthonormal(rng, sizes["inputs"], len(s)).T
    w2 = (orthonormal(rng, sizes["outputs"], len(s)) * s) @ inner.T
    return svd(w2)[2] @ svd(w1)[0]


def _imbalance(w1: Array, w2: Array) -> Array:
    return w1 @ w1.T - w2.T @ w2


def _factor_velocities(model: Linear) -> list[tuple[Array, Array, Array]]:
    """dU/dt, dS/dt, dV/dt of both layers under gradient flow."""
    velocities = gradient_flow(model.layers, model.x, model.x_aug)
    return [factors_velocity(w, velocity) for w, velocity in zip(model.layers, velocities, strict=True)]


def _alignment_velocity(model: Linear) -> Array:
    """dA/dt = V̇2ᵀ U1 + V2ᵀ U̇1."""
    (u1, _, _), (_, _, v2t) = (svd(w) for w in model.layers)
    (turning1, _, _), (_, _, turning2) = _factor_velocities(model)
    return turning2.T @ u1 + v2t @ turning1


CHECKS = (
    lemma3,
    lemma6,
    lemma7,
    conservation,
    limit,
    growth,
    last_step_of_theorem2,
    remark,
    theorem3,
    closed_form,
    alignment_preserved,
)
