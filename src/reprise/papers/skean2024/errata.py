"""Errors in the paper's text, in the order of their places; those by reading last."""

from functools import partial

from reprise.evidence import errata
from reprise.evidence.errata import Erratum

read = partial(errata.read, "skean2024")

ERRATA: list[Erratum] = [
    read(
        "eq16-shapes",
        "typo",
        "Eq. 16 and after it",
        "W1 = U1 S1 V̂ with S1 and V̂ both d x m",
        "S1 is d x d: d x m and d x m do not multiply",
        formulas=(
            r"W_1=U_1S_1\hat{V},\quad S_1\in\mathbb{R}^{d\times m}",
            r"W_1=U_1S_1\hat{V},\quad S_1\in\mathbb{R}^{d\times d}",
        ),
    ),
    read(
        "appB-lambda",
        "typo",
        "Appendix B.1",
        "Barlow Twins' λ = .05 as recommended by Zbontar et al. (2021)",
        "they recommend .005, which Section 6.2 uses, citing them too",
        changes_result=True,
    ),
    read(
        "appA-names",
        "typo",
        "Appendix A",
        "z_a, z_b; N, d = Z_a.shape; D; torch.norm(..., ord='fro')",
        "Z_a, Z_b and D are never defined, and torch.norm has no argument `ord` (torch.linalg.norm has)",
    ),
    read(
        "sec2-row",
        "typo",
        "Section 2",
        "A_{i,:} ∈ R^m, the i-th row of A ∈ R^{m × n}",
        "A_{i,:} ∈ R^n",
        formulas=(
            r"A_{i,:}\in\mathbb{R}^{m}",
            r"A_{i,:}\in\mathbb{R}^{n}",
        ),
    ),
    read(
        "eq6-batch",
        "typo",
        "Eq. 6",
        "1/N Σ from i = 1 to n",
        "1/n, as in Eq. 5",
        formulas=(
            r"\frac{1}{N}\sum_{i=1}^{n}",
            r"\frac{1}{n}\sum_{i=1}^{n}",
        ),
    ),
    read(
        "sec43-determinant",
        "typo",
        "Section 4.3",
        "log det always requires an eigendecomposition, O(d³)",
        "a decomposition, O(d³): a Cholesky factor gives it as well",
    ),
]
