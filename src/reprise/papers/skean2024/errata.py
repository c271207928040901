"""Errors in the paper's text, in the order of their places; those by reading last."""

from reprise.evidence.errata import Erratum


def shown(name: str, where: str, printed: str, corrected: str) -> Erratum:
    """An error of which both forms are claims."""
    forms = (f"skean2024/{name}/printed", f"skean2024/{name}/corrected")
    return Erratum(f"skean2024/{name}", where, printed, corrected, forms)


def read(name: str, where: str, printed: str, corrected: str) -> Erratum:
    """An error that shows itself."""
    return Erratum(f"skean2024/{name}", where, printed, corrected)


APPENDIX_D = [
    shown(
        "eq12",
        "Eq. 12",
        "∇_W1 L = -2 (W1 Γ1 + 2 W2 X2ᵀX1 + 2 W1 Γ1 W1ᵀ W1 Γ1)",
        "∇_W1 L = -2 W1 Γ1 - 2 W2 X2ᵀX1 + 4 W1 Γ1 W1ᵀ W1 Γ1",
    ),
    shown(
        "eq13",
        "Eq. 13",
        "∇_W2 L = -2 (W2 Γ2 + 2 W1 X1ᵀX2 + 2 W2 Γ2 W2ᵀ W2 Γ2)",
        "∇_W2 L = -2 W2 Γ2 - 2 W1 X1ᵀX2 + 4 W2 Γ2 W2ᵀ W2 Γ2",
    ),
    shown(
        "eq12-descent",
        "Eqs. 12 and 13",
        "dW/dt = ∇L, of gradient descent",
        "dW/dt = -∇L; dW/dt = ∇L climbs",
    ),
    shown(
        "eq18",
        "Proposition D.1, Eq. 18",
        "s1(t)² = (2 sqrt(λγ) - λ) / ((2 λ² - (λ - 2 sqrt(λγ)) / s1(0)²) exp(8 t sqrt(λγ) - 4 λ t) - 2 λ²), "
        "which solves Eq. 32",
        "Eq. 32 is the wrong equation; with λ = γ, s1 = s2 and c = ρ λ, "
        "s² = (λ + c) / (2 λ² + ((λ + c) / s(0)² - 2 λ²) exp(-4 (λ + c) t))",
    ),
    shown(
        "eq18-limit",
        "Section 5.1 and Proposition D.1: the optimal representation",
        "by Eq. 18 every singular value vanishes where γ > λ / 4: the representation collapses",
        "λ s² comes to (1 + ρ) / 2 (λ = γ)",
    ),
    shown(
        "propD1-left-vectors",
        "Proposition D.1",
        "U1 and U2 are arbitrary, and the singular vectors of W1 do not change",
        "they do not where U1 = U2; else each layer turns towards the other",
    ),
    shown(
        "propD1-eigenvectors",
        "Appendix D.2 and Proposition D.1",
        "Γ1 and Γ2 sharing eigenvectors keeps the singular vectors of the layers",
        "X1ᵀX2 has to be diagonal in these as well",
    ),
    shown(
        "eq24",
        "Eq. 24",
        "∇_W1 ‖W1 Γ1 W1ᵀ - I‖² = -4 (W1 Γ1 W1ᵀ - I) W1 Γ1",
        "∇_W1 ‖W1 Γ1 W1ᵀ - I‖² = 4 (W1 Γ1 W1ᵀ - I) W1 Γ1",
    ),
    shown(
        "eq27",
        "Eq. 27",
        "∇_W2 ‖W2 Γ2 W2ᵀ - I‖² = -4 (W2 Γ1 W2ᵀ - I) W2 Γ2",
        "∇_W2 ‖W2 Γ2 W2ᵀ - I‖² = 4 (W2 Γ2 W2ᵀ - I) W2 Γ2",
    ),
    shown(
        "eq28",
        "Eq. 28, from its first line to its second",
        "2 W1 Γ1 - 2 W2 X2ᵀX1 - 4 (W1 Γ1 W1ᵀ - I) W1 Γ1 = -2 (W1 Γ1 + 2 W2 X2ᵀX1 + 2 W1 Γ1 W1ᵀ W1 Γ1)",
        "= 6 W1 Γ1 - 2 W2 X2ᵀX1 - 4 W1 Γ1 W1ᵀ W1 Γ1 (the first line has Eq. 24's sign)",
    ),
    shown(
        "eq29",
        "Eq. 29, from its first line to its second",
        "2 W2 Γ2 - 2 W1 X1ᵀX2 - 4 (W2 Γ2 W2ᵀ - I) W2 Γ2 = -2 (W2 Γ2 + 2 W1 X1ᵀX2 + 2 W2 Γ2 W2ᵀ W2 Γ2)",
        "= 6 W2 Γ2 - 2 W1 X1ᵀX2 - 4 W2 Γ2 W2ᵀ W2 Γ2 (the first line has Eq. 27's sign)",
    ),
    shown(
        "eq30-sign",
        "Eq. 30, from Eq. 12 as printed",
        "the first term is 2 U S1 D1 V̂",
        "the first term is -2 U S1 D1 V̂",
    ),
    shown(
        "eq30",
        "Eq. 30",
        "dW1/dt = U (2 S1 D1 - 4 S1 sqrt(D1 D2) - 4 S1³ D1²) V̂, for any S2, U2 and left vectors of X2",
        "dW1/dt = U (2 S1 D1 + 2 S2 C - 4 S1³ D1²) V̂ where U2 = U1, C = diag(ρ sqrt(λ γ)), ρ the correlation "
        "of the views' left singular vectors",
    ),
    shown(
        "eq32",
        "Eq. 32",
        "s1' = 2 s1 (λ - 2 sqrt(λγ) - 2 s1² λ²)",
        "s1' = 2 λ s1 + 2 c s2 - 4 λ² s1³, c = ρ sqrt(λγ)",
    ),
    read(
        "eq16-shapes",
        "Eq. 16 and after it",
        "W1 = U1 S1 V̂ with S1 and V̂ both d x m",
        "S1 is d x d: d x m and d x m do not multiply",
    ),
]
"""Appendices D, E.3 and E.4."""

ERRATA: list[Erratum] = [*APPENDIX_D]
