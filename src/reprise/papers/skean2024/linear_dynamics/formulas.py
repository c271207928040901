"""Appendices D and E.3: each formula beside the function that tries it, against automatic differentiation."""

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, relative_error
from reprise.papers.skean2024.linear_dynamics.points import (
    Aligned,
    Pair,
    Point,
    random_aligned,
    random_alike,
    random_point,
)


@formula(
    "eq24",
    "The variance term of the first view's linear layer has the gradient {}.",
    at="Eq. 24, Appendix E.3",
    wrong=Misprint(
        "typo",
        printed=Text(
            "∇_W1 ‖W1 Γ1 W1ᵀ - I‖² = -4 (W1 Γ1 W1ᵀ - I) W1 Γ1",
            r"\nabla_{W_1}\Vert W_1\Gamma_1W_1^{\top}-I\Vert_F^2=-4(W_1\Gamma_1W_1^{\top}-I)W_1\Gamma_1",
        ),
        corrected=Text(
            "∇_W1 ‖W1 Γ1 W1ᵀ - I‖² = 4 (W1 Γ1 W1ᵀ - I) W1 Γ1",
            r"\nabla_{W_1}\Vert W_1\Gamma_1W_1^{\top}-I\Vert_F^2=4(W_1\Gamma_1W_1^{\top}-I)W_1\Gamma_1",
        ),
        note="the sign is that of descent's velocity -∇L, which Eqs. 12 and 13 take for the gradient as well "
        "(dW/dt = ∇L); Eq. 27, the first lines of Eqs. 28 and 29, and the cubic terms of Eqs. 12, 13, "
        "28 and 29 inherit it",
        changes_result=True,
    ),
    tried_at=random_point,
)
def eq24(point: Point) -> Errors:
    variance, _ = point.gradient("variance")
    expected = variance_gradient(point.w[0], point.gamma[0])
    return Errors(relative_error(-expected, variance), relative_error(expected, variance))


@formula(
    "eq27",
    "The variance term of the second view's linear layer has, its sign aside, the gradient {}.",
    at="Eq. 27, Appendix E.3",
    wrong=Misprint(
        "typo",
        printed=Text(
            "∇_W2 ‖W2 Γ2 W2ᵀ - I‖² = -4 (W2 Γ1 W2ᵀ - I) W2 Γ2",
            r"\nabla_{W_2}\Vert W_2\Gamma_2W_2^{\top}-I\Vert_F^2=-4(W_2\Gamma_1W_2^{\top}-I)W_2\Gamma_2",
        ),
        corrected=Text(
            "∇_W2 ‖W2 Γ2 W2ᵀ - I‖² = 4 (W2 Γ2 W2ᵀ - I) W2 Γ2",
            r"\nabla_{W_2}\Vert W_2\Gamma_2W_2^{\top}-I\Vert_F^2=4(W_2\Gamma_2W_2^{\top}-I)W_2\Gamma_2",
        ),
        note="the index of Γ1 is its own error, which Eq. 29 does not have; its sign is that of Eq. 24",
    ),
    tried_at=random_point,
)
def eq27(point: Point) -> Errors:
    _, variance = point.gradient("variance")
    w, (g1, g2) = point.w[1], point.gamma
    printed = 4 * (w @ g1 @ w.T - np.eye(len(w))) @ w @ g2
    return Errors(relative_error(printed, variance), relative_error(variance_gradient(w, g2), variance))


def variance_gradient(w: Array, gamma: Array) -> Array:
    """Gradient of ‖W Γ Wᵀ - I‖² on W."""
    return 4 * (w @ gamma @ w.T - np.eye(len(w))) @ w @ gamma


@formula(
    "eq12",
    "FroSSL's variant for linear layers (one loss, printed as Eqs. 8, 10 and 11) has the gradient {}, and "
    "the same for W2 with the views exchanged.",
    at="Eqs. 12 and 13, Appendix D.1",
    wrong=Misprint(
        "substantive",
        printed=Text(
            "∇_W1 L = -2 (W1 Γ1 + 2 W2 X2ᵀX1 + 2 W1 Γ1 W1ᵀ W1 Γ1)",
            r"\nabla_{W_1}L=-2\left(W_1\Gamma_1+2W_2X_2^{\top}X_1+2W_1\Gamma_1W_1^{\top}W_1\Gamma_1\right)",
        ),
        corrected=Text(
            "∇_W1 L = -2 W1 Γ1 - 2 W2 X2ᵀX1 + 4 W1 Γ1 W1ᵀ W1 Γ1",
            r"\nabla_{W_1}L=-2W_1\Gamma_1-2W_2X_2^{\top}X_1+4W_1\Gamma_1W_1^{\top}W_1\Gamma_1",
        ),
        note="its cubic term has Eq. 24's sign; its own error is the second factor 2 of W2 X2ᵀX1, in Eqs. 28 "
        "and 29 too, whose first lines are 6 W Γ - 2 W' X'ᵀX - 4 W Γ Wᵀ W Γ; Eqs. 30 to 34 and 18 inherit it",
    ),
    tried_at=random_point,
)
def eqs12_13(point: Point) -> Errors:
    """The larger error of the two layers."""
    found = point.gradient()

    def error(gradients: Pair) -> float:
        return max(relative_error(*both) for both in zip(gradients, found, strict=True))

    return Errors(error(printed_gradient(point)), error(gradient(point)))


def printed_gradient(point: Point) -> Pair:
    """Eqs. 12 and 13 as printed."""
    first, second = (-2 * own - 4 * other - 4 * cubic for own, other, cubic in point.products)
    return first, second


def gradient(point: Point) -> Pair:
    """Eqs. 12 and 13, corrected."""
    first, second = (-2 * own - 2 * other + 4 * cubic for own, other, cubic in point.products)
    return first, second


@formula(
    "propD1-left-vectors",
    "Linear layers that start aligned, W1 = U1 S1 V̂ and W2 = U2 S2 V̂, keep their singular vectors for {}.",
    at="Proposition D.1, Appendix D.2",
    quotes=Quotation(
        "the singular vectors of ... do not change over time", at="Proposition D.1, Appendix D.2"
    ),
    word="do not change over time",
    wrong=Misprint(
        "substantive",
        printed=Text("arbitrary U1 and U2"),
        corrected=Text("U1 = U2, and X1ᵀX2 diagonal in the eigenvectors that Γ1 and Γ2 share"),
        note="else the term W2 X2ᵀX1 turns each layer towards the other; Eq. 30 puts U1 S1 sqrt(D1 D2) V̂ in "
        "its place, as if both views had the same left singular vectors and layers",
    ),
    tried_at=random_aligned,
)
def proposition_d1(point: Aligned) -> Errors:
    """W1's motion off the diagonal of U1 and V̂, relative to the whole motion."""
    return Errors(rotation(point, point.turned), rotation(point, point.point))


def rotation(aligned: Aligned, point: Point) -> float:
    motion = point.gradient()[0]
    within = aligned.u.T @ motion @ aligned.top.T
    return relative_error(aligned.u @ np.diag(np.diag(within)) @ aligned.top, motion)


@formula(
    "growth-ratio",
    "Near zero the fastest singular value of aligned layers grows 1 + 1/ρ times as fast under FroSSL's "
    "variant (Eq. 8) as under Barlow Twins' variant, ρ being the correlation of the views in its mode.",
    at="Section 5.1 and Figure 2; Appendix D, corrected",
    form="ours",
    reading="ours: it explains Figure 2, which the paper leaves to Appendix D's closed form",
    tried_at=random_alike,
)
def growth_ratio(point: Aligned) -> Errors:
    """The decoy leaves out 1, the part of FroSSL's variance term."""
    zero = np.zeros_like(point.top)
    fastest = [
        -np.linalg.eigvalsh(point.point.hessian(loss, (zero, zero)))[0] for loss in ("frossl", "barlow")
    ]
    ratio, part = fastest[0] / fastest[1], 1 / point.rho[0]
    return Errors(abs(ratio / (1 + part) - 1), decoy=abs(ratio / part - 1))


def eq18(start: Array, lam: Array, gamma: Array, time: Array) -> Array:
    """s1(t) as Proposition D.1 prints it. Shape [time, mode]."""
    root = np.sqrt(lam * gamma)
    growth = np.exp(8 * time[:, None] * root - 4 * lam * time[:, None])
    return np.sqrt((2 * root - lam) / ((2 * lam**2 - (lam - 2 * root) / start**2) * growth - 2 * lam**2))


FORMULAS: tuple[Formula, ...] = (eq24, eq27, eqs12_13, proposition_d1, growth_ratio)
"""All formulas, in the order of the table's rows."""
