"""Errors in the paper's text that show themselves to a reader, in the order of their places."""

from functools import partial

from reprise.evidence import errata
from reprise.evidence.errata import Erratum

read = partial(errata.read, "tian2023")

ERRATA: list[Erratum] = [
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
        "typo",
        "Theorem 4 (2)",
        "from any critical point with distinct {w_km}, there exists a path of critical points to identical "
        "weights",
        "true of Eq. 14, and empty: with s the top eigenvector (Assumption 2) Σ s_km w_kmᵀ b_k = sᵀ V[f1] s "
        "= λ, so that b = 0 only where V[f1] = 0. With the projection of Lemma 4 critical unit filters have "
        "w_km = ±b_k/|b_k|: those of a field are equal up to their signs, and no path is needed",
    ),
    read(
        "thm6-positive-g",
        "condition",
        "Theorem 6 and Figure 7",
        "g > 0 linear increasing",
        "g(y) = y + b is positive where unit weights have their y, on [-1, 1], for b > 1 (in units of its "
        "slope); on the whole line no linear increasing function is",
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
        "code",
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
        "appE3-images",
        "typo",
        "Appendix E.3",
        "In its training, the MNIST dataset consists of 50,000 images",
        "60,000, unless 10,000 are set aside, of which the text says nothing",
    ),
]
