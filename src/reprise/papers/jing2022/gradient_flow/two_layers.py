"""Section 5: z = W2 W1 x.

What needs SciPy or torch is imported where it calculates, so that lists of claims do not wait for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, relative_error, size
from reprise.papers.jing2022.gradient_flow import formulas
from reprise.papers.jing2022.gradient_flow.points import (
    Linear,
    augmented_at_threshold,
    distinct,
    on_random_data,
    spread_values,
)


def two_layers(rng: Random, largest: int) -> Linear:
    """Layers of any widths."""
    inputs, hidden, outputs = (size(rng, 2, largest) for _ in range(3))
    return on_random_data(rng, distinct(rng, hidden, inputs), distinct(rng, outputs, hidden))


@formula(
    "lemma3",
    "Two linear layers move by dW1/dt = -W2ᵀ G and dW2/dt = -G W1ᵀ, with G = -W2 W1 X.",
    at="Lemma 3, Eqs. 8 to 10, Section 5.2",
    tried_at=two_layers,
)
def eqs_8_to_10(point: Linear) -> Errors:
    """The decoy leaves the augmentation's covariance out of X."""
    (w1, w2), (velocity1, velocity2) = point.layers, point.velocities

    def error(x: Array) -> float:
        g = -w2 @ w1 @ x
        return max(relative_error(-w2.T @ g, velocity1), relative_error(-g @ w1.T, velocity2))

    return Errors(
        printed=max(error(point.x_matrix), relative_error(-w2 @ w1 @ point.x_matrix, point.gradient_sum)),
        decoy=error(point.data_covariance),
    )


@formula(
    "lemma6",
    "The alignment matrix A = V2ᵀ U1 of two linear layers moves by Eq. 18 with {}.",
    at="Lemma 6, Eqs. 18 to 20, Appendix A",
    wrong=Misprint(
        "typo",
        printed=Text("H_kk' = 1/(σ_k² - σ_k'²)", r"H_{kk'}=\frac{1}{\sigma_k^2-\sigma_{k'}^2}"),
        corrected=Text("H_kk' = 1/(σ_k'² - σ_k²)", r"H_{kk'}=\frac{1}{\sigma_{k'}^2-\sigma_k^2}"),
    ),
    tried_at=two_layers,
)
def eqs_18_to_20(point: Linear) -> Errors:
    return Errors(printed=lemma6_error(point, sign=-1), corrected=lemma6_error(point, sign=1))


def lemma6_error(model: Linear, *, sign: int) -> float:
    """The relative error of Eq. 18, of the vectors that have a value in both layers.

    Args:
        sign: of H: 1 as corrected, -1 as printed.
    """
    from reprise.papers.jing2022.gradient_flow.motion import whole_svd

    (u1, s1, v1), (u2, s2, v2) = (whole_svd(w) for w in model.layers)
    f = s2.T @ u2.T @ model.gradient_sum @ v1 @ s1.T  # Eq. 20
    velocity = formulas.alignment_velocity(
        v2.T @ u1, f, sign * formulas.inverse_gaps(s1), sign * formulas.inverse_gaps(s2.T)
    )
    expected = alignment_velocity(model)
    rows, columns = expected.shape
    return relative_error(velocity[:rows, :columns], expected)


def alignment_velocity(model: Linear) -> Array:
    """dA/dt = V̇2ᵀ U1 + V2ᵀ U̇1, by finite differences."""
    (u1, _, _), (_, _, v2t) = model.factors
    (turning1, _, _), (_, _, turning2) = model.factor_velocities
    return turning2.T @ u1 + v2t @ turning1


@formula(
    "lemma7",
    "The singular values of two linear layers move by Eqs. 21 and 22.",
    at="Lemma 7, Eqs. 21 and 22, Appendix A",
    tried_at=two_layers,
)
def eqs_21_and_22(point: Linear) -> Errors:
    """The decoy leaves out the other layer's singular values."""
    (u1, s1, v1t), (u2, s2, v2t) = point.factors
    (_, first, _), (_, second, _) = point.factor_velocities
    # (v2_k' · u1_k)(u2_k'ᵀ G v1_k), k' down, k across
    gains = (v2t @ u1) * (u2.T @ point.gradient_sum @ v1t.T)
    return Errors(
        printed=max(
            relative_error(-(gains * s2[:, None]).sum(0), first),
            relative_error(-(gains * s1).sum(1), second),
        ),
        decoy=max(relative_error(-gains.sum(0), first), relative_error(-gains.sum(1), second)),
    )


# Theorem 2: A tends to the identity.


def small_augmentation(rng: Random, largest: int) -> Linear:
    """Two layers whose X is positive definite."""
    return augmented_at_threshold(two_layers(rng, largest), rng.uniform(0.2, 0.9))


@formula(
    "thm2-limit",
    "In the proof of Theorem 2: for two linear layers under a positive definite X, {} (tried: this line "
    "alone, with X fixed, until |W1|² has grown a hundredfold).",
    at="Theorem 2, proof, Appendix B.5",
    wrong=Misprint(
        "substantive",
        printed=Text("W1 W1ᵀ = W2ᵀ W2 in the limit", r"W_1W_1^{\top}=W_2^{\top}W_2\quad\text{as }t\to\infty"),
        corrected=Text(
            "W1 W1ᵀ - W2ᵀ W2 = C for all time", r"W_1W_1^{\top}-W_2^{\top}W_2=C\quad\text{for all }t"
        ),
        note="as the proof itself derives; it drops C because the norms grow without bound, which they need "
        "not. The points show this of the line alone; Theorem 2, which does not assume C = 0, is false by "
        "the counterexample in docs/readings.md",
    ),
    tried_at=small_augmentation,
)
def limit_of_the_imbalance(point: Linear) -> Errors:
    """The share of W1 W1ᵀ - W2ᵀ W2 that is left, and the share by which it has changed."""
    from scipy.integrate import solve_ivp

    x, (w1, w2) = point.x_matrix / np.linalg.norm(point.x_matrix, 2), point.layers

    def unpack(flat: Array) -> tuple[Array, Array]:
        return flat[: w1.size].reshape(w1.shape), flat[w1.size :].reshape(w2.shape)

    def imbalance(flat: Array) -> Array:
        first, second = unpack(flat)
        return first @ first.T - second.T @ second

    def flow(t: float, flat: Array) -> Array:
        first, second = unpack(flat)
        g = -second @ first @ x
        return np.concatenate([(-second.T @ g).ravel(), (-g @ first.T).ravel()])

    def has_grown(t: float, flat: Array) -> float:
        return float(np.sum(unpack(flat)[0] ** 2) / np.sum(w1**2) - 100)

    has_grown.terminal = True  # type: ignore[attr-defined]
    start = np.concatenate([w1.ravel(), w2.ravel()])
    path = solve_ivp(flow, (0, 1e3), start, "DOP853", events=has_grown, rtol=1e-12, atol=1e-13)
    if not path.t_events[0].size:
        return Errors(np.nan, np.nan)
    before, after = (imbalance(path.y[:, index]) for index in (0, -1))
    return Errors(
        printed=float(np.linalg.norm(after) / np.linalg.norm(before)),
        corrected=relative_error(after, before),
    )


@dataclass(frozen=True)
class Balanced:
    """Two layers with W1 W1ᵀ = W2ᵀ W2.

    Attributes:
        groups: the numbers of equal singular values, the largest value first.
        turn: an orthogonal matrix within the groups, by which singular vectors may be rotated.
    """

    w1: Array
    w2: Array
    groups: Array
    turn: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"inputs": self.w1.shape[1], "hidden": len(self.w1), "outputs": len(self.w2)}

    @property
    def alignment(self) -> Array:
        from reprise.papers.jing2022.gradient_flow.motion import svd

        return svd(self.w2)[2] @ svd(self.w1)[0]


def _balanced(rng: Random, groups: Array, largest: int) -> Balanced:
    from scipy.linalg import block_diag

    hidden = int(groups.sum())
    inputs, outputs = (size(rng, hidden, largest) for _ in range(2))
    s = np.repeat(spread_values(rng, len(groups)), groups)
    inner = orthonormal(rng, hidden, hidden)
    w1 = (inner * s) @ orthonormal(rng, inputs, hidden).T
    w2 = (orthonormal(rng, outputs, hidden) * s) @ inner.T
    return Balanced(w1, w2, groups, block_diag(*[orthonormal(rng, n, n) for n in groups]))


def balanced(rng: Random, largest: int) -> Balanced:
    return _balanced(rng, np.ones(size(rng, 2, largest), dtype=int), largest)


@formula(
    "thm2/last-step",
    "Two linear layers with W1 W1ᵀ = W2ᵀ W2 and distinct singular values are aligned: |V2ᵀ U1| = I.",
    at="Theorem 2, Section 5.3, and Appendix B.5",
    tried_at=balanced,
)
def theorem_2_of_balanced_layers(point: Balanced) -> Errors:
    """The decoy has the singular vectors of one layer in the opposite order."""
    a = np.abs(point.alignment)
    return Errors(printed=relative_error(a, np.eye(len(a))), decoy=relative_error(a[::-1], np.eye(len(a))))


def degenerate(rng: Random, largest: int) -> Balanced:
    """Balanced layers with groups of equal singular values."""
    groups = rng.permutation([2, size(rng, 1, 3), 1])
    return _balanced(rng, groups, largest + 4)


@formula(
    "thm2/degenerate-block-diagonal",
    "Where W1 W1ᵀ = W2ᵀ W2 has groups of equal eigenvalues, A is block-diagonal, with a block per group.",
    at="Section 5.3, after Theorem 2",
    quotes=Quotation(
        "observe the alignment matrix to converge to a block-diagonal matrix, with each block representing a "
        "group of degenerate singular values",
        at="Section 5.3, after Theorem 2",
    ),
    word="with each block representing",
    tried_at=degenerate,
)
def block_diagonal(point: Balanced) -> Errors:
    """The decoy is |A| = I, for singular vectors rotated within the groups, which are equally valid."""
    a, group = point.alignment, np.repeat(np.arange(len(point.groups)), point.groups)
    within = np.equal.outer(group, group)
    return Errors(
        printed=relative_error(np.where(within, a, 0), a),
        decoy=relative_error(np.abs(point.turn.T @ a), np.eye(len(a))),
    )


# Theorem 3: aligned layers.


@dataclass(frozen=True)
class Aligned:
    """Two layers with V2 = U1, and two with V2 = U1ᵀ."""

    equal: Linear
    transposed: Linear

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.equal.sizes


def aligned(rng: Random, largest: int) -> Aligned:
    """Bottlenecks of at least 3 hidden units: with 2, U1 can be its own transpose."""
    hidden = size(rng, 3, largest)
    inputs, outputs = (size(rng, hidden, largest) for _ in range(2))
    u1 = orthonormal(rng, hidden, hidden)

    def around(v2: Array) -> Linear:
        """Random singular values and outer singular vectors around U1 and V2."""
        w1 = (u1 * spread_values(rng, hidden)) @ orthonormal(rng, inputs, hidden).T
        w2 = (orthonormal(rng, outputs, hidden) * spread_values(rng, hidden)) @ v2.T
        return on_random_data(rng, w1, w2)

    return Aligned(around(u1), around(u1.T))


@formula(
    "thm3",
    "The singular values of two linear layers move by Eq. 11 where these are {}.",
    at="Theorem 3, Eq. 11, Section 5.3",
    wrong=Misprint(
        "typo",
        printed=Text("aligned, i.e. V2 = U1ᵀ", r"V_2=U_1^{\top}"),
        corrected=Text("aligned, i.e. V2 = U1", r"V_2=U_1"),
    ),
    tried_at=aligned,
)
def eq_11(point: Aligned) -> Errors:
    return Errors(printed=_error_of_eq_11(point.transposed), corrected=_error_of_eq_11(point.equal))


def _error_of_eq_11(model: Linear) -> float:
    (_, s1, _), (_, s2, _) = model.factors
    (_, first, _), (_, second, _) = model.factor_velocities
    expected = np.stack([first, second])
    return relative_error(np.stack([s1 * s2**2, s2 * s1**2]) * _rates(model), expected)


def _rates(model: Linear) -> Array:
    """v1ᵀ X v1 of each rank."""
    (_, _, v1t), _ = model.factors
    return np.diag(v1t @ model.x_matrix @ v1t.T)


@formula(
    "thm3-closed-form",
    "With σ1² = σ2² + C, aligned layers have {}.",
    at="Section 5.3, after Theorem 3",
    wrong=Misprint(
        "typo",
        printed=Text(
            "dσ1/dt = σ1 (σ1² + C)(v1ᵀ X v1)",
            r"\dot{\sigma}_1=\sigma_1(\sigma_1^2+C)(v_1^{\top}Xv_1)",
        ),
        corrected=Text(
            "dσ1/dt = σ1 (σ1² - C)(v1ᵀ X v1)",
            r"\dot{\sigma}_1=\sigma_1(\sigma_1^2-C)(v_1^{\top}Xv_1)",
        ),
    ),
    tried_at=aligned,
)
def dynamics_after_theorem_3(point: Aligned) -> Errors:
    model = point.equal
    (_, s1, _), (_, s2, _) = model.factors
    (_, first, _), _ = model.factor_velocities
    c, rates = s1**2 - s2**2, _rates(model)
    return Errors(
        printed=relative_error(s1 * (s1**2 + c) * rates, first),
        corrected=relative_error(s1 * (s1**2 - c) * rates, first),
    )


FORMULAS: tuple[Formula, ...] = (
    eqs_8_to_10,
    eqs_18_to_20,
    eqs_21_and_22,
    limit_of_the_imbalance,
    theorem_2_of_balanced_layers,
    block_diagonal,
    eq_11,
    dynamics_after_theorem_3,
)
