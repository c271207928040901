"""Errors in the paper's text, in the order of their places.

Typos are signs, transposes and swapped indices: the paper has the right form elsewhere (Eq. 6 in Appendix
B.2), or the formula beside it leaves no other. Substantive are sentences that lack a condition or rest on a
wrong step, and that no other symbol would mend; each says which.
"""

from functools import partial

from reprise.evidence import errata
from reprise.evidence.errata import Erratum

shown = partial(errata.shown, "jing2022")
read = partial(errata.read, "jing2022")

ERRATA: list[Erratum] = [
    shown(
        "eq6",
        "typo",
        "Eq. 6",
        "X = -Σ_i (…) x_iᵀ - Σ_i (1 - α_ii)(x'_i - x_i) x'_iᵀ",
        "X = Σ_i (…) x_iᵀ - Σ_i (1 - α_ii)(x'_i - x_i) x'_iᵀ, as Appendix B.2 has it",
        formulas=(
            r"X=-\sum_i(\cdots)\,x_i^{\top}-\sum_i(1-\alpha_{ii})(x'_i-x_i)\,x_i'^{\top}",
            r"X=\sum_i(\cdots)\,x_i^{\top}-\sum_i(1-\alpha_{ii})(x'_i-x_i)\,x_i'^{\top}",
        ),
    ),
    shown(
        "thm1-any-width",
        "typo",
        "Theorem 1, Corollary 1 and Appendix B.3",
        "if X has a negative eigenvalue, W has vanishing singular values",
        "if W has more outputs than X has positive eigenvalues, as a square W always has: a condition that "
        "goes without saying where the layers are square",
    ),
    shown(
        "thm3",
        "typo",
        "Theorem 3",
        "aligned, i.e. V2 = U1ᵀ",
        "aligned, i.e. V2 = U1",
        formulas=(
            r"V_2=U_1^{\top}",
            r"V_2=U_1",
        ),
    ),
    shown(
        "thm3-closed-form",
        "typo",
        "Section 5.3, after Theorem 3",
        "dσ1/dt = σ1 (σ1² + C)(v1ᵀ X v1), with σ1² = σ2² + C",
        "dσ1/dt = σ1 (σ1² - C)(v1ᵀ X v1)",
        formulas=(
            r"\dot{\sigma}_1=\sigma_1(\sigma_1^2+C)(v_1^{\top}Xv_1)",
            r"\dot{\sigma}_1=\sigma_1(\sigma_1^2-C)(v_1^{\top}Xv_1)",
        ),
    ),
    shown(
        "sec62-loss",
        "typo",
        "Section 6.2, the loss of DirectCLR",
        "L = Σ_i log( exp(z_i·z'_i) / Σ_j exp(z_i·z_j) )",
        "L = -Σ_i log( exp(z_i·z'_i / τ) / Σ_j exp(z_i·z'_j / τ) ): a minus, a temperature, and the positive "
        "pair in the denominator",
        formulas=(
            r"L=\sum_i\log\frac{\exp(z_i\cdot z'_i)}{\sum_j\exp(z_i\cdot z_j)}",
            r"L=-\sum_i\log\frac{\exp(z_i\cdot z'_i/\tau)}{\sum_j\exp(z_i\cdot z'_j/\tau)}",
        ),
    ),
    shown(
        "lemma6",
        "typo",
        "Lemma 6, Eq. 19",
        "H_kk' = 1/(σ_k² - σ_k'²)",
        "H_kk' = 1/(σ_k'² - σ_k²)",
        formulas=(
            r"H_{kk'}=\frac{1}{\sigma_k^2-\sigma_{k'}^2}",
            r"H_{kk'}=\frac{1}{\sigma_{k'}^2-\sigma_k^2}",
        ),
    ),
    shown(
        "thm2-limit",
        "typo",
        "Theorem 2, Appendix B.5",
        "in the limit, W1 W1ᵀ = W2ᵀ W2",
        "W1 W1ᵀ - W2ᵀ W2 = C for all time, as the proof itself derives; only its share of the growing norms "
        "vanishes, and the theorem's last step needs C itself to",
        formulas=(
            r"W_1W_1^{\top}=W_2^{\top}W_2\quad\text{as }t\to\infty",
            r"W_1W_1^{\top}-W_2^{\top}W_2=C\quad\text{for all }t",
        ),
        changes_result=True,
    ),
    read(
        "thm2-unbounded",
        "substantive",
        "Theorem 2, Appendix B.5",
        "tr(B) > 0 for all t, therefore |W1|² grows without bound",
        "a positive rate may still be integrable: the norms are unbounded only if ∫ tr(B) dt is, and B "
        "shrinks as X does",
    ),
    read(
        "thm1-fixed-x",
        "substantive",
        "Corollary 1",
        "with strong augmentation, the embeddings' covariance becomes low-rank",
        "Theorem 1 holds X fixed; in training X(t) moves with the embeddings, and negative eigenvalues of "
        "X(0) alone do not decide",
    ),
]
