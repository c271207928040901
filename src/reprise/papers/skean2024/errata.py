"""Errors in the paper's text, in the order of their places; those by reading last."""

from functools import partial

from reprise.evidence import errata
from reprise.evidence.errata import Erratum

shown = partial(errata.shown, "skean2024")
read = partial(errata.read, "skean2024")

APPENDIX_D: list[Erratum] = [
    shown(
        "eq12",
        "substantive",
        "Eq. 12",
        "∇_W1 L = -2 (W1 Γ1 + 2 W2 X2ᵀX1 + 2 W1 Γ1 W1ᵀ W1 Γ1)",
        "∇_W1 L = -2 W1 Γ1 - 2 W2 X2ᵀX1 + 4 W1 Γ1 W1ᵀ W1 Γ1",
        formulas=(
            r"\nabla_{W_1}L=-2\left(W_1\Gamma_1+2W_2X_2^{\top}X_1+2W_1\Gamma_1W_1^{\top}W_1\Gamma_1\right)",
            r"\nabla_{W_1}L=-2W_1\Gamma_1-2W_2X_2^{\top}X_1+4W_1\Gamma_1W_1^{\top}W_1\Gamma_1",
        ),
    ),
    shown(
        "eq13",
        "substantive",
        "Eq. 13",
        "∇_W2 L = -2 (W2 Γ2 + 2 W1 X1ᵀX2 + 2 W2 Γ2 W2ᵀ W2 Γ2)",
        "∇_W2 L = -2 W2 Γ2 - 2 W1 X1ᵀX2 + 4 W2 Γ2 W2ᵀ W2 Γ2",
        formulas=(
            r"\nabla_{W_2}L=-2\left(W_2\Gamma_2+2W_1X_1^{\top}X_2+2W_2\Gamma_2W_2^{\top}W_2\Gamma_2\right)",
            r"\nabla_{W_2}L=-2W_2\Gamma_2-2W_1X_1^{\top}X_2+4W_2\Gamma_2W_2^{\top}W_2\Gamma_2",
        ),
    ),
    shown(
        "eq12-descent",
        "typo",
        "Eqs. 12 and 13",
        "dW/dt = ∇L, of gradient descent",
        "dW/dt = -∇L; dW/dt = ∇L climbs",
        formulas=(
            r"\frac{\mathrm{d}W}{\mathrm{d}t}=\nabla L",
            r"\frac{\mathrm{d}W}{\mathrm{d}t}=-\nabla L",
        ),
    ),
    shown(
        "eq18",
        "substantive",
        "Proposition D.1, Eq. 18",
        "s1(t)² = (2 sqrt(λγ) - λ) / ((2 λ² - (λ - 2 sqrt(λγ)) / s1(0)²) exp(8 t sqrt(λγ) - 4 λ t) - 2 λ²), "
        "which solves Eq. 32",
        "Eq. 32 is the wrong equation; with λ = γ, s1 = s2 and c = ρ λ, "
        "s² = (λ + c) / (2 λ² + ((λ + c) / s(0)² - 2 λ²) exp(-4 (λ + c) t))",
        formulas=(
            r"s_1(t)^2=\frac{2\sqrt{\lambda\gamma}-\lambda}{\left(2\lambda^2-\frac{\lambda-2\sqrt{\lambda"
            r"\gamma}}{s_1(0)^2}\right)e^{8t\sqrt{\lambda\gamma}-4\lambda t}-2\lambda^2}",
            r"s(t)^2=\frac{\lambda+c}{2\lambda^2+\left(\frac{\lambda+c}{s(0)^2}-2\lambda^2\right)e^{-4("
            r"\lambda+c)t}}\quad\text{if }\lambda=\gamma,\ s_1=s_2=s,\ c=\rho\lambda",
        ),
    ),
    shown(
        "eq18-limit",
        "substantive",
        "Section 5.1 and Proposition D.1: the optimal representation",
        "by Eq. 18 every singular value vanishes where γ > λ / 4: the representation collapses",
        "λ s² comes to (1 + ρ) / 2 (λ = γ)",
        formulas=(
            r"s^2\to0\quad\text{where }\gamma>\frac{\lambda}{4}",
            r"\lambda s^2\to\frac{1+\rho}{2}\quad\text{where }\lambda=\gamma",
        ),
    ),
    shown(
        "propD1-left-vectors",
        "substantive",
        "Proposition D.1",
        "U1 and U2 are arbitrary, and the singular vectors of W1 do not change",
        "they do not where U1 = U2; else each layer turns towards the other",
    ),
    shown(
        "propD1-eigenvectors",
        "substantive",
        "Appendix D.2 and Proposition D.1",
        "Γ1 and Γ2 sharing eigenvectors keeps the singular vectors of the layers",
        "X1ᵀX2 has to be diagonal in these as well",
    ),
    shown(
        "eq24",
        "typo",
        "Eq. 24",
        "∇_W1 ‖W1 Γ1 W1ᵀ - I‖² = -4 (W1 Γ1 W1ᵀ - I) W1 Γ1",
        "∇_W1 ‖W1 Γ1 W1ᵀ - I‖² = 4 (W1 Γ1 W1ᵀ - I) W1 Γ1",
        formulas=(
            r"\nabla_{W_1}\Vert W_1\Gamma_1W_1^{\top}-I\Vert_F^2=-4(W_1\Gamma_1W_1^{\top}-I)W_1\Gamma_1",
            r"\nabla_{W_1}\Vert W_1\Gamma_1W_1^{\top}-I\Vert_F^2=4(W_1\Gamma_1W_1^{\top}-I)W_1\Gamma_1",
        ),
        changes_result=True,
    ),
    shown(
        "eq27",
        "typo",
        "Eq. 27",
        "∇_W2 ‖W2 Γ2 W2ᵀ - I‖² = -4 (W2 Γ1 W2ᵀ - I) W2 Γ2",
        "∇_W2 ‖W2 Γ2 W2ᵀ - I‖² = 4 (W2 Γ2 W2ᵀ - I) W2 Γ2",
        formulas=(
            r"\nabla_{W_2}\Vert W_2\Gamma_2W_2^{\top}-I\Vert_F^2=-4(W_2\Gamma_1W_2^{\top}-I)W_2\Gamma_2",
            r"\nabla_{W_2}\Vert W_2\Gamma_2W_2^{\top}-I\Vert_F^2=4(W_2\Gamma_2W_2^{\top}-I)W_2\Gamma_2",
        ),
        changes_result=True,
    ),
    shown(
        "eq28",
        "typo",
        "Eq. 28, from its first line to its second",
        "2 W1 Γ1 - 2 W2 X2ᵀX1 - 4 (W1 Γ1 W1ᵀ - I) W1 Γ1 = -2 (W1 Γ1 + 2 W2 X2ᵀX1 + 2 W1 Γ1 W1ᵀ W1 Γ1)",
        "= 6 W1 Γ1 - 2 W2 X2ᵀX1 - 4 W1 Γ1 W1ᵀ W1 Γ1 (the first line has Eq. 24's sign)",
        formulas=(
            r"2W_1\Gamma_1-2W_2X_2^{\top}X_1-4(W_1\Gamma_1W_1^{\top}-I)W_1\Gamma_1=-2\left(W_1\Gamma_1"
            r"+2W_2X_2^{\top}X_1+2W_1\Gamma_1W_1^{\top}W_1\Gamma_1\right)",
            r"2W_1\Gamma_1-2W_2X_2^{\top}X_1-4(W_1\Gamma_1W_1^{\top}-I)W_1\Gamma_1=6W_1\Gamma_1-2W_2X_2^{"
            r"\top}X_1-4W_1\Gamma_1W_1^{\top}W_1\Gamma_1",
        ),
        changes_result=True,
    ),
    shown(
        "eq29",
        "typo",
        "Eq. 29, from its first line to its second",
        "2 W2 Γ2 - 2 W1 X1ᵀX2 - 4 (W2 Γ2 W2ᵀ - I) W2 Γ2 = -2 (W2 Γ2 + 2 W1 X1ᵀX2 + 2 W2 Γ2 W2ᵀ W2 Γ2)",
        "= 6 W2 Γ2 - 2 W1 X1ᵀX2 - 4 W2 Γ2 W2ᵀ W2 Γ2 (the first line has Eq. 27's sign)",
        formulas=(
            r"2W_2\Gamma_2-2W_1X_1^{\top}X_2-4(W_2\Gamma_2W_2^{\top}-I)W_2\Gamma_2=-2\left(W_2\Gamma_2"
            r"+2W_1X_1^{\top}X_2+2W_2\Gamma_2W_2^{\top}W_2\Gamma_2\right)",
            r"2W_2\Gamma_2-2W_1X_1^{\top}X_2-4(W_2\Gamma_2W_2^{\top}-I)W_2\Gamma_2=6W_2\Gamma_2-2W_1X_1^{"
            r"\top}X_2-4W_2\Gamma_2W_2^{\top}W_2\Gamma_2",
        ),
        changes_result=True,
    ),
    shown(
        "eq30-sign",
        "typo",
        "Eq. 30, from Eq. 12 as printed",
        "the first term is 2 U S1 D1 V̂",
        "the first term is -2 U S1 D1 V̂",
        formulas=(
            r"2US_1D_1\hat{V}",
            r"-2US_1D_1\hat{V}",
        ),
        changes_result=True,
    ),
    shown(
        "eq30",
        "substantive",
        "Eq. 30",
        "dW1/dt = U (2 S1 D1 - 4 S1 sqrt(D1 D2) - 4 S1³ D1²) V̂, for any S2, U2 and left vectors of X2",
        "dW1/dt = U (2 S1 D1 + 2 S2 C - 4 S1³ D1²) V̂ where U2 = U1, C = diag(ρ sqrt(λ γ)), ρ the correlation "
        "of the views' left singular vectors",
        formulas=(
            r"\frac{\mathrm{d}W_1}{\mathrm{d}t}=U\left(2S_1D_1-4S_1\sqrt{D_1D_2}-4S_1^3D_1^2\right)\hat{V}",
            r"\frac{\mathrm{d}W_1}{\mathrm{d}t}=U\left(2S_1D_1+2S_2C-4S_1^3D_1^2\right)\hat{V}\quad"
            r"\text{where }U_2=U_1,\ C=\operatorname{diag}(\rho\sqrt{\lambda\gamma})",
        ),
    ),
    shown(
        "eq32",
        "substantive",
        "Eq. 32",
        "s1' = 2 s1 (λ - 2 sqrt(λγ) - 2 s1² λ²)",
        "s1' = 2 λ s1 + 2 c s2 - 4 λ² s1³, c = ρ sqrt(λγ)",
        formulas=(
            r"\dot{s}_1=2s_1\left(\lambda-2\sqrt{\lambda\gamma}-2s_1^2\lambda^2\right)",
            r"\dot{s}_1=2\lambda s_1+2cs_2-4\lambda^2s_1^3,\quad c=\rho\sqrt{\lambda\gamma}",
        ),
    ),
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
]
"""Appendices D, E.3 and E.4."""

ERRATA: list[Erratum] = [
    shown(
        "sec3-square",
        "typo",
        "Section 3, after Eq. 6",
        "compute either |Z1ᵀZ1|²_F or |Z1Z1ᵀ|_F",
        "either |Z1ᵀZ1|²_F or |Z1Z1ᵀ|²_F",
        formulas=(
            r"\Vert Z_1Z_1^{\top}\Vert_F",
            r"\Vert Z_1Z_1^{\top}\Vert_F^2",
        ),
    ),
    shown(
        "prop33-doubly-stochastic",
        "typo",
        "Proposition 3.3",
        "if the embedding matrices are doubly stochastic, FroSSL is dimension- and sample-contrastive",
        "if their rows have equal norms and their columns too (their squared entries doubly stochastic, up "
        "to scale); of doubly stochastic matrices |ZᵀZ|²_F is smallest where all embeddings are one",
    ),
    shown(
        "appA-norm",
        "typo",
        "Appendix A",
        "Z / Z.norm(), `normalize dimensions`",
        "Z / Z.norm(dim=0): as printed one factor scales the whole matrix, whose variances stay unequal",
        formulas=(
            r"Z/\Vert Z\Vert_F",
            r"Z_{:,d}/\Vert Z_{:,d}\Vert_2\quad\text{for each dimension }d",
        ),
        changes_result=True,
    ),
    shown(
        "appA-std",
        "typo",
        "Appendix A",
        "`normalize dimensions to sqrt(D) std`",
        "to norm √D, of which the standard deviation is √(D / N)",
    ),
    shown(
        "appA-log",
        "typo",
        "Appendix A",
        "log(norm(Z.T @ Z))",
        "log(norm(Z.T @ Z)**2), as in Eq. 4: twice as much",
        formulas=(
            r"\log\Vert Z^{\top}Z\Vert_F",
            r"\log\Vert Z^{\top}Z\Vert_F^2",
        ),
        changes_result=True,
    ),
    shown(
        "appA-pseudocode",
        "typo",
        "Appendix A",
        "the pseudocode is Eq. 6",
        "it is another loss, which all but ignores invariance (its gradient is about half a percent of "
        "the variance's); with the corrections above it is Eq. 6 of dimensions at unit length",
        changes_result=True,
    ),
    shown(
        "appE1-constant",
        "typo",
        "Appendix E.1, second step",
        "with unit variance ZᵀZ has 1 on its diagonal, and the terms off it miss 2 D in all",
        "N on its diagonal, and 2 D N²; 1 and 2 D for columns at unit length",
        formulas=(
            r"\Vert Z_1^{\top}Z_1\Vert_F^2+\Vert Z_2^{\top}Z_2\Vert_F^2=L_{\mathrm{nc}}(Z_1)+L_{"
            r"\mathrm{nc}}(Z_2)+2D",
            r"\Vert Z_1^{\top}Z_1\Vert_F^2+\Vert Z_2^{\top}Z_2\Vert_F^2=L_{\mathrm{nc}}(Z_1)+L_{"
            r"\mathrm{nc}}(Z_2)+2DN^2",
        ),
    ),
    *APPENDIX_D,
    read(
        "text-epoch50",
        "substantive",
        "Section 6.1, on Table 3",
        "FroSSL outperforms all other dimension-contrastive methods",
        "but at epoch 50, where VICReg has 67.5 and FroSSL 67.1 (skean2024/text/"
        "best-dimension-contrastive-epoch50)",
    ),
    read(
        "text-substantially",
        "substantive",
        "Section 7",
        "substantially stronger performance than alternative methods, for a small number of epochs",
        "in Table 3 by 1.2 points over VICReg at epoch 3 and .2 over SwAV at epoch 30, of single runs",
    ),
    read(
        "table2-sources",
        "substantive",
        "Table 2, caption and Section 6.1",
        "CIFAR baselines are those of da Costa et al. (2022) and Ermolov et al. (2021)",
        "the rows of SimCLR and W-MSE mix these two sources, which train and probe otherwise than each other",
    ),
    read(
        "appB-lambda",
        "typo",
        "Appendix B.1",
        "λ = .05 as recommended by Zbontar et al. (2021)",
        "they recommend .005, which Section 6.2 uses, with the same words",
        formulas=(
            r"\lambda=0.05",
            r"\lambda=0.005",
        ),
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
        "eq3-sum",
        "typo",
        "Eq. 3",
        "λ Σ_i Σ_{i≠j} M_ij²",
        "λ Σ_i Σ_{j≠i} M_ij²",
        formulas=(
            r"\lambda\sum_i\sum_{i\neq j}M_{ij}^2",
            r"\lambda\sum_i\sum_{j\neq i}M_{ij}^2",
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
        "sec3-barlow",
        "substantive",
        "Section 3, after Eq. 3",
        "without feature normalisation L_Barlow is not rotationally invariant",
        "at λ = 1 it is, being |Z1ᵀZ2 - I|²_F, the variant of Section 5.1 (skean2024/table1/"
        "rotation-barlow-twins-unnormalised-equal-weights)",
    ),
    read(
        "sec43-determinant",
        "substantive",
        "Section 4.3",
        "log det always requires an eigendecomposition, O(d³)",
        "a Cholesky factor does, and where N < D, as in the paper's runs, log det(ZZᵀ + ε I) + (D - N) "
        "log ε, in O(N² D) (skean2024/sec43/determinant-of-samples)",
    ),
    read(
        "sec43-assumption",
        "substantive",
        "Sections 3 and 4.3",
        "O(d² n), assuming that d < n; we always use ZᵀZ",
        "the paper's d is 1024 and its n 256 (224 on ImageNet): ZZᵀ would be the cheaper, d / n times",
    ),
]
