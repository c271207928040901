"""Errors in the paper's text, in the order of their places; those by reading last.

Its sections have no numbers: here they are counted.
"""

from functools import partial

from reprise.evidence import errata
from reprise.evidence.errata import Erratum

read = partial(errata.read, "esser2024")

ERRATA: list[Erratum] = [
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
