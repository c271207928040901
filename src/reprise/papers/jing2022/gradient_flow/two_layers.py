"""Section 5: z = W2 W1 x.

Functions that need SciPy or torch import it where they calculate, so that lists of claims do not wait for it.
"""

from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, relative_error, size
from reprise.papers.jing2022.gradient_flow import formulas
from reprise.papers.jing2022.gradient_flow.points import (
    Linear,
    distinct,
    on_random_data,
    spread_values,
)
from reprise.papers.jing2022.gradient_flow.singular_values import LOST_IN_OUR_COPY


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
    "The alignment matrix A = V2ᵀ U1 of two linear layers moves by Eq. 18 with H_kk' = 1/(σ_k'² - σ_k²).",
    at="Lemma 6, Eqs. 18 to 20, Appendix A",
    form="restated",
    reading=LOST_IN_OUR_COPY,
    tried_at=two_layers,
)
def eqs_18_to_20(point: Linear) -> Errors:
    """The decoy has the negative of H."""
    return Errors(printed=lemma6_error(point), decoy=lemma6_error(point, sign=-1))


def lemma6_error(model: Linear, *, sign: int = 1) -> float:
    """The relative error of Eq. 18, of the vectors that have a value in both layers.

    Args:
        sign: of H; -1 for its negative.
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


def aligned(rng: Random, largest: int) -> Linear:
    """Layers with V2 = U1, and random singular values and outer singular vectors."""
    hidden = size(rng, 3, largest)
    inputs, outputs = (size(rng, hidden, largest) for _ in range(2))
    u1 = orthonormal(rng, hidden, hidden)
    w1 = (u1 * spread_values(rng, hidden)) @ orthonormal(rng, inputs, hidden).T
    w2 = (orthonormal(rng, outputs, hidden) * spread_values(rng, hidden)) @ u1.T
    return on_random_data(rng, w1, w2)


@formula(
    "thm3",
    "The singular values of two linear layers that are aligned, V2ᵀ U1 = I, move by Eq. 11.",
    at="Theorem 3, Eq. 11, Section 5.3",
    reading="aligned as in Theorem 2; a superscript of the U1 in its brackets cannot be read in our copy",
    tried_at=aligned,
)
def eq_11(point: Linear) -> Errors:
    """The decoy has the layers' singular values exchanged."""
    (_, s1, _), (_, s2, _) = point.factors
    expected, rates = _value_velocities(point), _rates(point)
    return Errors(
        printed=relative_error(np.stack([s1 * s2**2, s2 * s1**2]) * rates, expected),
        decoy=relative_error(np.stack([s2 * s1**2, s1 * s2**2]) * rates, expected),
    )


def _value_velocities(model: Linear) -> Array:
    """dσ/dt of both layers."""
    (_, first, _), (_, second, _) = model.factor_velocities
    return np.stack([first, second])


def _rates(model: Linear) -> Array:
    """v1ᵀ X v1 of each rank."""
    (_, _, v1t), _ = model.factors
    return np.diag(v1t @ model.x_matrix @ v1t.T)


@formula(
    "thm3-closed-form",
    "With σ1² = σ2² + C, aligned layers have dσ1/dt = σ1 (σ1² - C)(v1ᵀ X v1).",
    at="Section 5.3, after Theorem 3",
    form="restated",
    reading="which layer an index names is lost in our copy, and with it the sign of C",
    tried_at=aligned,
)
def dynamics_after_theorem_3(point: Linear) -> Errors:
    """The decoy has +C."""
    (_, s1, _), (_, s2, _) = point.factors
    (first, _), rates, c = _value_velocities(point), _rates(point), s1**2 - s2**2
    return Errors(
        printed=relative_error(s1 * (s1**2 - c) * rates, first),
        decoy=relative_error(s1 * (s1**2 + c) * rates, first),
    )


FORMULAS: tuple[Formula, ...] = (
    eqs_8_to_10,
    eqs_18_to_20,
    eqs_21_and_22,
    theorem_2_of_balanced_layers,
    block_diagonal,
    eq_11,
    dynamics_after_theorem_3,
)
