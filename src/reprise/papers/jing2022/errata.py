"""Errors in the paper's text, by reading."""

from reprise.evidence.errata import Erratum, read

ERRATA: list[Erratum] = [
    read(
        "jing2022",
        "thm2-limit",
        "condition",
        "Theorem 2, Section 5.3, and its proof, Appendix B.5",
        "if X(t) is positive definite for all t, W2 W1 is never 0 and the singular values at the end are "
        "distinct, A = V2ᵀ U1 tends to the identity",
        "it does, up to signs, if W1 W1ᵀ = W2ᵀ W2 at the start as well. The proof drops the constant "
        "W1 W1ᵀ - W2ᵀ W2 since the norms grow without bound, which they need not: in the counterexample "
        "the singular values tend to 1.69 and 1.14 in W1 and to 1.77 and 1.23 in W2, and |A| to "
        "[[0.88, 0.47], [0.47, 0.88]]",
    ),
]
