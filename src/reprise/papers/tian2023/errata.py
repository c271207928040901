"""Errors in the paper's text, in the order of their places; those by reading last."""

from functools import partial

from reprise.evidence import errata
from reprise.evidence.errata import Erratum
from reprise.papers.tian2023.global_modulation import formulas

shown = partial(errata.shown, "tian2023")
read = partial(errata.read, "tian2023")

ERRATA: list[Erratum] = [
    shown(
        "sec2-energy",
        "typo",
        "Section 2, after Eq. 3",
        "E_α := tr C_α[f]",
        "E_α := tr C_α[f] / 2, as before Eq. 3 and in Eq. 5",
        formulas=(
            r"\mathcal{E}_{\alpha}:=\operatorname{tr}C_{\alpha}[f]",
            r"\mathcal{E}_{\alpha}:=\frac{1}{2}\operatorname{tr}C_{\alpha}[f]",
        ),
    ),
    shown(
        "thm2",
        "substantive",
        "Theorem 2 and Eqs. 78, 80, 84, 89, 90, 92, 93",
        "ρ(w*) <= C0³ vol(C0) r(w*, α) / π",
        "ρ(w*) <= C0² vol(C0) r(w*, α) / π: a factor C0 appears from Eq. 77 to 78 and from 88 to 89; the "
        "printed bound fails for small inputs",
        formulas=(
            r"\rho(w^{*})\le\frac{C_0^3\operatorname{vol}(C_0)}{\pi}\,r(w^{*},\alpha)",
            r"\rho(w^{*})\le\frac{C_0^2\operatorname{vol}(C_0)}{\pi}\,r(w^{*},\alpha)",
        ),
    ),
    shown(
        "sec4-stationary",
        "substantive",
        "Section 4, after Lemma 4",
        "V = v sᵀ with the top eigenvector s is necessary for a stationary point",
        "for a stable one: any other eigenvector of C_α[f1] makes V stationary as well",
    ),
    shown(
        "thm4-projection",
        "typo",
        "Theorem 4, Eqs. 14 and 158",
        "ẇ_km = s_km b_k, co-linear over m",
        "with the unit filters of Lemma 4, ẇ_km = s_km P⊥ b_k with each filter's own projection; co-linear "
        "are the gradients before it",
        formulas=(
            r"\dot{w}_{km}=s_{km}b_k",
            r"\dot{w}_{km}=s_{km}P^{\perp}_{w_{km}}b_k",
        ),
    ),
    shown(
        "thm4-path",
        "substantive",
        "Theorem 4 (2), Appendix C.4 and Eq. 163",
        "by symmetry two filters of a field may be exchanged at a critical point, and averaged",
        "only if s_k1 = s_k2; with s fixed, all filters of a field may move straight to their mean weighted "
        "by s_km (if Σ_m s_km ≠ 0)",
    ),
    shown(
        "table1-learning-rate",
        "typo",
        "Section 5, Setup",
        "learning rate 2e-3",
        "2e-2, as in the authors' code: only that gives Table 1",
        formulas=(
            r"\eta=2\times10^{-3}",
            r"\eta=2\times10^{-2}",
        ),
        changes_result=True,
    ),
    shown(
        "eq25",
        "typo",
        "Appendix A.1, Eqs. 24 and 25",
        "the intra term sums α_ij over j ≠ i",
        "over all j, as Eq. 3 does: the two differ by α_ii terms of order 1/N",
        formulas=(
            r"C^{\mathrm{intra}}_{\alpha}[a]=\frac{1}{2N}\sum_{i=1}^{N}\left(\frac{1}{N}\sum_{j\neq i}"
            r"\alpha_{ij}\right)(a[i]-a[i'])(a[i]-a[i'])^{\top}",
            r"C^{\mathrm{intra}}_{\alpha}[a]=\frac{1}{2N}\sum_{i=1}^{N}\left(\frac{1}{N}\sum_{j}"
            r"\alpha_{ij}\right)(a[i]-a[i'])(a[i]-a[i'])^{\top}",
        ),
    ),
    shown(
        "thm5-delta",
        "typo",
        "Appendix C.3, after Eq. 143",
        "δ_k = 1 - p0 p1 b_k²/(λ - d_k)",
        "δ_k = (1 - p0 p1 b_k²/(λ - d_k)) / (Z² (λ - d_k))",
        formulas=(
            r"\delta_k=1-\frac{p_0p_1b_k^2}{\lambda-d_k}",
            r"\delta_k=\frac{1}{Z^2(\lambda-d_k)}\left(1-\frac{p_0p_1b_k^2}{\lambda-d_k}\right)",
        ),
    ),
    formulas.winner_of_two.erratum("tian2023"),
    formulas.strong_modulation.erratum("tian2023"),
    formulas.eq_156_far.erratum("tian2023"),
    formulas.eq_157_far.erratum("tian2023"),
    shown(
        "lemma7-parseval",
        "typo",
        "Lemma 7, proof",
        "Σ_{i>1} λ_i² (ϕ_iᵀ w)² = 1 - c²",
        "Σ_{i>1} (ϕ_iᵀ w)² = 1 - c²",
        formulas=(
            r"\sum_{i>1}\lambda_i^2(\phi_i^{\top}w)^2=1-c^2",
            r"\sum_{i>1}(\phi_i^{\top}w)^2=1-c^2",
        ),
    ),
    shown(
        "eq16-code",
        "typo",
        "Eqs. 16 and 180, on Figures 4, 9 and 10",
        "max_m cos(w_km, u_a)",
        "max_m |cos| for the linear activation, as in the code that made the figures: with a filter and its "
        "weights above turned round, a linear net computes the same, so that the sign of cos is chance",
        formulas=(
            r"\max_m\frac{w_{km}^{\top}u_a}{\Vert w_{km}\Vert_2\,\Vert u_a\Vert_2}",
            r"\max_m\frac{|w_{km}^{\top}u_a|}{\Vert w_{km}\Vert_2\,\Vert u_a\Vert_2}\quad"
            r"\text{for a linear activation}",
        ),
        changes_result=True,
    ),
    read(
        "fig5-tokens",
        "typo",
        "Figure 5",
        "each weight is d = 8 dimensional",
        "d = 20, as in Section 5 and the code",
        formulas=(
            r"d=8",
            r"d=20",
        ),
    ),
    read(
        "eq24-notation",
        "typo",
        "Appendix A.1, after Eq. 24",
        "C^intra_α[a] := C^inter_α[a, a]",
        "C^intra_α[a] := C^intra_α[a, a]",
        formulas=(
            r"C^{\mathrm{intra}}_{\alpha}[a]:=C^{\mathrm{inter}}_{\alpha}[a,a]",
            r"C^{\mathrm{intra}}_{\alpha}[a]:=C^{\mathrm{intra}}_{\alpha}[a,a]",
        ),
    ),
    read(
        "eq48",
        "typo",
        "Appendix B.2, Eq. 48",
        "dA = dC_α[h'(wᵀx)]",
        "dA = dC_α[h'(wᵀx) x]",
        formulas=(
            r"\mathrm{d}A=\mathrm{d}C_{\alpha}[h'(w^{\top}x)]",
            r"\mathrm{d}A=\mathrm{d}C_{\alpha}[h'(w^{\top}x)\,x]",
        ),
    ),
    read(
        "eq76-constant",
        "typo",
        "Appendix B.3, after Eq. 75",
        "|w*ᵀx| <= M |w* - w|",
        "|w*ᵀx| <= C0 |w* - w|",
        formulas=(
            r"|w^{*\top}x|\le M\,\Vert w^{*}-w\Vert",
            r"|w^{*\top}x|\le C_0\,\Vert w^{*}-w\Vert",
        ),
    ),
    read(
        "lemma5-shape",
        "typo",
        "Lemma 5 and Appendix C.2",
        "L_k ∈ R^{Md}",
        "L_k ∈ R^{Md × Md}",
        formulas=(
            r"L_k\in\mathbb{R}^{Md}",
            r"L_k\in\mathbb{R}^{Md\times Md}",
        ),
    ),
    read(
        "thm4-critical",
        "substantive",
        "Theorem 4 (2)",
        "critical points of Eq. 14 with S = s sᵀ",
        "Σ s_km w_kmᵀ b_k = sᵀ V[f1] s = λ, so with s the top eigenvector (Assumption 2) b = 0 only where "
        "V[f1] = 0: there is no other critical point before the projection",
    ),
    read(
        "thm6-positive-g",
        "substantive",
        "Theorem 6 and Figure 7",
        "g > 0 linear increasing, with the stable point y_l = -b_l",
        "g(y) = y + b is positive on the sphere only for b > 1 (in units of its slope), and then -b is off "
        "the sphere: the stable point exists without the normalisation only",
    ),
    read(
        "appD-beta",
        "typo",
        "Appendix D, first paragraph",
        "β_k (Eq. 143)",
        "δ_k (Eq. 143)",
        formulas=(
            r"\beta_k",
            r"\delta_k",
        ),
    ),
    read(
        "eq181",
        "typo",
        "Eq. 181",
        "χ- = (1/P) Σ over the tokens outside R^g",
        "divided by their number, as the code has it",
        formulas=(
            r"\chi_{-}(R_k)=\frac{1}{P}\sum_{a\notin R_k^{\mathrm{g}}}\max_m\frac{w_{km}^{\top}u_a}{"
            r"\Vert w_{km}\Vert_2\,\Vert u_a\Vert_2}",
            r"\chi_{-}(R_k)=\frac{1}{|\{a\notin R_k^{\mathrm{g}}\}|}\sum_{a\notin R_k^{\mathrm{g}}}\max_m"
            r"\frac{w_{km}^{\top}u_a}{\Vert w_{km}\Vert_2\,\Vert u_a\Vert_2}",
        ),
        changes_result=True,
    ),
    read(
        "eq16-length",
        "typo",
        "Eqs. 16 and 180, against the code that made the figures",
        "|w_km|; the P tokens of R^g",
        "|w| + max(max |W| / 1000, 1e-6), so that a perfect match scores .999; the tokens of R^g that some "
        "generator uses",
        formulas=(
            r"\Vert w_{km}\Vert_2",
            r"\Vert w_{km}\Vert_2+\max\left(\frac{\max|W|}{1000},10^{-6}\right)",
        ),
        changes_result=True,
    ),
    read(
        "appE2-variants",
        "typo",
        "Appendix E.2, the four BatchNorms",
        "f^bn := (f^bn - μ) / σ",
        "f^bn := (f - μ) / σ",
        formulas=(
            r"f^{\mathrm{bn}}:=\frac{f^{\mathrm{bn}}-\mu}{\sigma}",
            r"f^{\mathrm{bn}}:=\frac{f-\mu}{\sigma}",
        ),
    ),
    read(
        "appE2-variance",
        "substantive",
        "Appendix E.2, on Table 1",
        "not backpropagating σ² is better",
        "not at beta = 10, P = 10, where the table prints .89 and .90 against .97",
    ),
    read(
        "appE3-images",
        "typo",
        "Appendix E.3",
        "MNIST's training split has 50,000 images",
        "it has 60,000",
    ),
]
