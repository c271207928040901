"""Errors in the paper's text, in the order of their places; those by reading last."""

from reprise.evidence.errata import Erratum


def shown(name: str, where: str, printed: str, corrected: str) -> Erratum:
    """An error of which both forms are claims."""
    forms = (f"skean2024/{name}/printed", f"skean2024/{name}/corrected")
    return Erratum(f"skean2024/{name}", where, printed, corrected, forms)


def read(name: str, where: str, printed: str, corrected: str) -> Erratum:
    """An error that shows itself."""
    return Erratum(f"skean2024/{name}", where, printed, corrected)


ERRATA: list[Erratum] = [
    shown(
        "sec3-rotation",
        "Section 3, beside Section 3.2",
        "dimension-contrastive methods should be rotationally invariant, and the Frobenius norm is",
        "Eq. 6 of embeddings as they are is; FroSSL as it is used, with dimensions of one variance, is not: "
        "the normalisation singles out the axes, as Barlow Twins' does",
    ),
    shown(
        "sec3-square",
        "Section 3, after Eq. 6",
        "compute either |Z1ᵀZ1|²_F or |Z1Z1ᵀ|_F",
        "either |Z1ᵀZ1|²_F or |Z1Z1ᵀ|²_F",
    ),
    shown(
        "prop33-doubly-stochastic",
        "Proposition 3.3",
        "if the embedding matrices are doubly stochastic, FroSSL is dimension- and sample-contrastive",
        "if their rows have equal norms and their columns too (their squared entries doubly stochastic, up "
        "to scale); of doubly stochastic matrices |ZᵀZ|²_F is smallest where all embeddings are one",
    ),
    shown(
        "sec52-eigenvalues",
        "Section 5.2, before Eq. 9",
        "with dimensions of variance ρ, L_Fro makes the covariance eigenvalues approach ρ",
        "if D < N; in the paper's runs D = 1024 and N = 256, and 255 approach 4.02 ρ, the others 0",
    ),
    shown(
        "appA-norm",
        "Appendix A",
        "Z / Z.norm(), `normalize dimensions`",
        "Z / Z.norm(dim=0): as printed one factor scales the whole matrix, whose variances stay unequal",
    ),
    shown(
        "appA-std",
        "Appendix A",
        "`normalize dimensions to sqrt(D) std`",
        "to norm √D, of which the standard deviation is √(D / N)",
    ),
    shown(
        "appA-log",
        "Appendix A",
        "log(norm(Z.T @ Z))",
        "log(norm(Z.T @ Z)**2), as in Eq. 4: twice as much",
    ),
    shown(
        "appA-pseudocode",
        "Appendix A",
        "the pseudocode is Eq. 6",
        "it is another loss, which all but ignores invariance (its gradient is about half a percent of "
        "the variance's); with the corrections above it is Eq. 6 of dimensions at unit length",
    ),
    shown(
        "appE1-argmin",
        "Appendix E.1, first step",
        "argmin[log f + log g + h] = argmin[f + g + h]",
        "argmin[f / f* + g / g* + h], f* and g* being their values there, in general; embeddings that are "
        "free, as in the proof, minimise all three terms at once, so its conclusion stands",
    ),
    shown(
        "appE1-constant",
        "Appendix E.1, second step",
        "with unit variance ZᵀZ has 1 on its diagonal, and the terms off it miss 2 D in all",
        "N on its diagonal, and 2 D N²; 1 and 2 D for columns at unit length",
    ),
    read(
        "text-epoch50",
        "Section 6.1, on Table 3",
        "FroSSL outperforms all other dimension-contrastive methods",
        "but at epoch 50, where VICReg has 67.5 and FroSSL 67.1 (skean2024/text/"
        "best-dimension-contrastive-epoch50)",
    ),
    read(
        "text-substantially",
        "Section 7",
        "substantially stronger performance than alternative methods, for a small number of epochs",
        "in Table 3 by 1.2 points over VICReg at epoch 3 and .2 over SwAV at epoch 30, of single runs",
    ),
    read(
        "table2-sources",
        "Table 2, caption and Section 6.1",
        "CIFAR baselines are those of da Costa et al. (2022) and Ermolov et al. (2021)",
        "the rows of SimCLR and W-MSE mix these two sources, which train and probe otherwise than each other",
    ),
    read(
        "appB-lambda",
        "Appendix B.1",
        "λ = .05 as recommended by Zbontar et al. (2021)",
        "they recommend .005, which Section 6.2 uses, with the same words",
    ),
    read(
        "appA-names",
        "Appendix A",
        "z_a, z_b; N, d = Z_a.shape; D; torch.norm(..., ord='fro')",
        "Z_a, Z_b and D are never defined, and torch.norm has no argument `ord` (torch.linalg.norm has)",
    ),
    read(
        "sec2-row",
        "Section 2",
        "A_{i,:} ∈ R^m, the i-th row of A ∈ R^{m × n}",
        "A_{i,:} ∈ R^n",
    ),
    read(
        "eq3-sum",
        "Eq. 3",
        "λ Σ_i Σ_{i≠j} M_ij²",
        "λ Σ_i Σ_{j≠i} M_ij²",
    ),
    read(
        "eq6-batch",
        "Eq. 6",
        "1/N Σ from i = 1 to n",
        "1/n, as in Eq. 5",
    ),
    read(
        "sec3-barlow",
        "Section 3, after Eq. 3",
        "without feature normalisation L_Barlow is not rotationally invariant",
        "at λ = 1 it is, being |Z1ᵀZ2 - I|²_F, the variant of Section 5.1 (skean2024/table1/"
        "rotation-barlow-twins-unnormalised-equal-weights)",
    ),
    read(
        "sec43-determinant",
        "Section 4.3",
        "log det always requires an eigendecomposition, O(d³)",
        "a Cholesky factor does, and where N < D, as in the paper's runs, log det(ZZᵀ + ε I) + (D - N) "
        "log ε, in O(N² D) (skean2024/sec43/determinant-of-samples)",
    ),
    read(
        "sec43-assumption",
        "Sections 3 and 4.3",
        "O(d² n), assuming that d < n; we always use ZᵀZ",
        "the paper's d is 1024 and its n 256 (224 on ImageNet): ZZᵀ would be the cheaper, d / n times",
    ),
]
