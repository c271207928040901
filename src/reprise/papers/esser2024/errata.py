"""Errors in the paper's text, in the order of their places; those by reading last.

Its sections have no numbers: here they are counted.
"""

from functools import partial

from reprise.evidence import errata
from reprise.evidence.errata import Erratum

shown = partial(errata.shown, "esser2024")
read = partial(errata.read, "esser2024")

ERRATA: list[Erratum] = [
    shown(
        "lemma1-two-layers",
        "substantive",
        "Lemma 1, proof, for two layers with φ the identity",
        "for l = j the W1 part of ⟨∇u_l(x), ∇u_j(x')⟩ is 0, and the kernel is xᵀx'",
        "the W1 part is xᵀx' as well, and the kernel 2 xᵀx'; Lemma 1 itself is about one layer",
        formulas=(
            r"k(x,x')=x^{\top}x'",
            r"k(x,x')=2x^{\top}x'",
        ),
    ),
    shown(
        "lemma1-wide-relu",
        "substantive",
        "Lemma 1, proof, for infinitely wide networks",
        "all gradients arise from the last layer: k(x, x') = E[φ(wᵀx) φ(wᵀx')]",
        "the neural tangent kernel has a part of W1 too, xᵀx' E[φ'(wᵀx) φ'(wᵀx')]; only for l ≠ j is it 0",
        formulas=(
            r"k(x,x')=\mathbb{E}[\phi(w^{\top}x)\,\phi(w^{\top}x')]",
            r"k(x,x')=\mathbb{E}[\phi(w^{\top}x)\,\phi(w^{\top}x')]+x^{\top}x'\,\mathbb{E}[\phi'(w^{"
            r"\top}x)\,\phi'(w^{\top}x')]",
        ),
    ),
    shown(
        "prop1-fixed-points",
        "substantive",
        "Proposition 1",
        "identical dynamics and fixed points make the limit one-dimensional",
        "identical maps of different starts: where the limit exists (C ⪰ 0) it is Θ_0 P x, P the projection "
        "on C's null space, of as many dimensions as that has",
    ),
    shown(
        "remark2-infonce",
        "substantive",
        "Remark 2",
        "under InfoNCE the output dimensions decouple, and hence collapse",
        "they decouple only with its softmax weights held fixed, which depend on all outputs; and at its "
        "minimum they are not collapsed",
    ),
    shown(
        "remark3-identical",
        "substantive",
        "Remark 3",
        "behind a fixed projector A all components of u have identical dynamics",
        "u̇ = -2 A Aᵀ A Θ C x couples them, unless A's rows are orthonormal; that they collapse is right",
        formulas=(
            r"\dot{u}=-2A\Theta Cx",
            r"\dot{u}=-2AA^{\top}A\Theta Cx",
        ),
    ),
    shown(
        "prop2-eigenvector",
        "substantive",
        "Proposition 2, proof",
        "v_1 is the eigenvector of f(X, W1) with the most negative eigenvalue",
        "of (f + fᵀ)/2: f is not symmetric, and its eigenvalues may be complex",
        formulas=(
            r"f(X,W_1)\,v_1=\lambda_1v_1",
            r"\frac{f+f^{\top}}{2}\,v_1=\lambda_1v_1",
        ),
    ),
    shown(
        "prop3-loss",
        "typo",
        "Proposition 3",
        "L(W1, W2) = ‖W2ᵀ W1 C W1ᵀ W2‖₂²",
        "L(W1, W2) = Tr(W2ᵀ W1 C W1ᵀ W2), as in its proof and in (8)",
        formulas=(
            r"L(W_1,W_2)=\Vert W_2^{\top}W_1CW_1^{\top}W_2\Vert_2^2",
            r"L(W_1,W_2)=\operatorname{Tr}(W_2^{\top}W_1CW_1^{\top}W_2)",
        ),
    ),
    shown(
        "prop3-width",
        "substantive",
        "Proposition 3 and its proof, (3) ⇔ (4)",
        "U and V filled with zero rows are weights of (4)",
        "they are orthonormal only if U and V are square; (3) and (4) agree if h ≥ d + z - min(d, z, l), l "
        "the number of C's negative eigenvalues: not for C = diag(-1, 2, 3), z = 2, h = 3, where the minimum "
        "of (3) is -1 and that of (4) is 1",
        formulas=(
            r"h\ge\max(d,z)",
            r"h\ge d+z-\min(d,z,l),\quad l\text{ the number of negative eigenvalues of }C",
        ),
    ),
    shown(
        "appendix-expectation",
        "typo",
        "Proposition 3, proof, last sentence",
        "E[C] = -E[x xᵀ]",
        "E[C] = -n E[x xᵀ], as after Theorem 3 (for centred x)",
        formulas=(
            r"\mathbb{E}[C]=-\mathbb{E}[xx^{\top}]",
            r"\mathbb{E}[C]=-n\,\mathbb{E}[xx^{\top}]",
        ),
    ),
    shown(
        "conjecture1-objective",
        "typo",
        "Conjecture 1",
        "min Tr(u_(t)ᵀ u_(t))",
        "min Tr(u_(t)ᵀ C u_(t)), u_(t) the outputs at the unit vectors: as printed it has no data in it",
        formulas=(
            r"\min\operatorname{Tr}(u_{(t)}^{\top}u_{(t)})",
            r"\min\operatorname{Tr}(u_{(t)}^{\top}Cu_{(t)})",
        ),
    ),
    shown(
        "eq7-sum",
        "typo",
        "before Eq. 7",
        "L = Σ from i = n to n",
        "L = Σ from i = 1 to n",
        formulas=(
            r"L=\sum_{i=n}^{n}",
            r"L=\sum_{i=1}^{n}",
        ),
    ),
    shown(
        "sec5-many-samples",
        "typo",
        "after Eq. 7",
        "C~ = Σ_i (Σ_j x_i (x_j⁻)ᵀ - Σ_j x_i (x_j⁺)ᵀ)",
        "C~ = Σ_i (Σ_j x_i (x_ij⁻)ᵀ - Σ_j x_i (x_ij⁺)ᵀ): each anchor has its own",
        formulas=(
            r"\tilde{C}=\sum_i\left(\sum_jx_i(x_j^{-})^{\top}-\sum_jx_i(x_j^{+})^{\top}\right)",
            r"\tilde{C}=\sum_i\left(\sum_jx_i(x_{ij}^{-})^{\top}-\sum_jx_i(x_{ij}^{+})^{\top}\right)",
        ),
    ),
    shown(
        "sec5-non-contrastive",
        "typo",
        "after Eq. 7",
        "for the non-contrastive loss C~ = Σ_i x_i (x_i⁺)ᵀ",
        "C~ = -Σ_i x_i (x_i⁺)ᵀ",
        formulas=(
            r"\tilde{C}=\sum_ix_i(x_i^{+})^{\top}",
            r"\tilde{C}=-\sum_ix_i(x_i^{+})^{\top}",
        ),
    ),
    shown(
        "thm2-ode",
        "substantive",
        "Theorem 2, Eq. 9, and hence Eqs. 10 and 12",
        "q̇ = -2 [2 Λ q - Λ q qᵀ q - q qᵀ Λ q]",
        "q̇ = -[4 Λ q - Λ q qᵀ q - 3 q qᵀ Λ q] is what projected gradient descent with small steps follows; "
        "for z = 1 it has the same limits, but not the same velocity",
        formulas=(
            r"\dot{q}=-2\left[2\Lambda q-\Lambda qq^{\top}q-qq^{\top}\Lambda q\right]",
            r"\dot{q}=-\left[4\Lambda q-\Lambda qq^{\top}q-3qq^{\top}\Lambda q\right]",
        ),
    ),
    shown(
        "thm2-grassmann",
        "substantive",
        "Theorem 2, proof, and the text before it",
        "W1 and W2 move on Grassmann manifolds, by the gradient's part (I - W Wᵀ) G",
        "the loss changes under W1 -> W1 R, so W1 moves on a Stiefel manifold: a step back onto it takes "
        "W1 (W1ᵀ G + Gᵀ W1)/2 off; for W2 the two are the same",
        formulas=(
            r"\dot{W}_1=-(I-W_1W_1^{\top})G",
            r"\dot{W}_1=-G+\frac{1}{2}W_1(W_1^{\top}G+G^{\top}W_1)",
        ),
    ),
    shown(
        "thm3-positive",
        "substantive",
        "Theorem 3, first case",
        "all eigenvalues positive: q converges to 0",
        "if |q_0| < 1: h = d makes it 1, and then it stays 1",
        formulas=(
            r"\lambda_1>0\ \Rightarrow\ q\to0",
            r"\lambda_1>0\text{ and }\Vert q_0\Vert<1\ \Rightarrow\ q\to0",
        ),
    ),
    shown(
        "thm3-limit",
        "typo",
        "Theorem 3, second case",
        "q becomes the smallest eigenvector e_1",
        "±e_1, by the sign of e_1ᵀ q_0, as Figure 3 shows",
        formulas=(
            r"q\to e_1",
            r"q\to\operatorname{sign}(e_1^{\top}q_0)\,e_1",
        ),
    ),
    shown(
        "thm3-zero",
        "typo",
        "Theorem 3",
        "the smallest eigenvalue is positive or negative",
        "or 0: then q goes to the line through e_1, to some length between 0 and 1",
    ),
    shown(
        "eq11",
        "typo",
        "Eq. 11",
        "W + η ∇L",
        "W - η ∇L",
        formulas=(
            r"W+\eta\nabla L",
            r"W-\eta\nabla L",
        ),
    ),
    shown(
        "sec5-expectation",
        "substantive",
        "after Theorem 3",
        "E[C~] = -n E[x xᵀ]",
        "E[C~] = -n Cov(x), which is that for centred x only; negative definite either way",
        formulas=(
            r"\mathbb{E}[\tilde{C}]=-n\,\mathbb{E}[xx^{\top}]",
            r"\mathbb{E}[\tilde{C}]=-n\operatorname{Cov}(x)",
        ),
    ),
    read(
        "sec4-activations",
        "typo",
        "Section 4, Numerical Evaluation",
        "the following three loss functions: (1) sigmoid, (2) ReLU and (3) tanh",
        "three activation functions",
    ),
    read(
        "prop2-linear",
        "typo",
        "Proposition 2",
        "a linear SSL model u^φ(x) = W2ᵀ φ(W1 x)",
        "a network with any φ, as its proof has it, or the linear u^I(x) = W2ᵀ W1 x, as the text after it",
        formulas=(
            r"u^{\phi}(x)=W_2^{\top}\phi(W_1x)",
            r"u^{I}(x)=W_2^{\top}W_1x",
        ),
    ),
    read(
        "appendix-prop1",
        "typo",
        "Appendix",
        "Proof of Proposition 1",
        "it is the proof of Proposition 2; Proposition 1 has none",
    ),
    read(
        "lemma1-argument",
        "typo",
        "Lemma 1, proof, last sentence",
        "⟨φ(W1 x), φ(W1 x')⟩ = xᵀ (W1ᵀ W1) x → xᵀx'",
        "= xᵀ (W1ᵀ W1) x' → xᵀx'",
        formulas=(
            r"\langle\phi(W_1x),\phi(W_1x')\rangle=x^{\top}(W_1^{\top}W_1)x\to x^{\top}x'",
            r"\langle\phi(W_1x),\phi(W_1x')\rangle=x^{\top}(W_1^{\top}W_1)x'\to x^{\top}x'",
        ),
    ),
    read(
        "prop3-dimensions",
        "typo",
        "Proposition 3, proof",
        "n × d and n × z matrices, and rank(W) ≤ n",
        "h × d and h × z, and rank(W) ≤ h",
        formulas=(
            r"\operatorname{rank}(W)\le n",
            r"\operatorname{rank}(W)\le h",
        ),
    ),
    read(
        "thm1-footnote",
        "typo",
        "Theorem 1, proof, footnote 4",
        "the weaker assumption that φ''(0) is continuous at 0",
        "that φ'' is continuous at 0, as in footnote 3",
    ),
    read(
        "lemma2-event",
        "typo",
        "Lemma 2, proof",
        "Σ X_i²/h ≤ 1 + s bounds max |X_i|/‖X‖ by t log h / √(h (1 - s))",
        "Σ X_i²/h ≥ 1 - s does, the event whose probability is bounded before",
        formulas=(
            r"\sum_i\frac{X_i^2}{h}\le1+s",
            r"\sum_i\frac{X_i^2}{h}\ge1-s",
        ),
    ),
]
