"""Every lemma, remark, proposition and formula before the ODE that can be tried at random points."""

from functools import partial

from reprise.evidence import identities
from reprise.evidence.claims import IDENTITY_TOLERANCE, ordering
from reprise.evidence.identities import error_of

holds = partial(identities.holds, "esser2024")
remark = partial(identities.remark, "esser2024")
misprint = partial(identities.misprint, "esser2024")
falsehood = partial(identities.falsehood, "esser2024")

NEGLIGIBLE = 0.05
"""A singular value under this share of the largest does not count as a dimension."""
SMOOTH = {"tanh": "tanh", "scaled-sigmoid": "4 (σ(x) - σ(0))", "softplus": "2 (softplus(x) - log 2)"}
"""The activations on which Theorem 1 is tried; the last is curved at 0."""

CLAIMS = [
    # Section 2: outputs along the gradient flow.
    holds("eq3/dynamics", "Outputs of any network follow Eq. 3 under the squared loss.", "Eq. 3"),
    holds("eq4/dynamics", "Outputs of any network follow Eq. 4 under the non-contrastive loss.", "Eq. 4"),
    holds("eq5/dynamics", "Outputs of any network follow Eq. 5 under the contrastive loss.", "Eq. 5"),
    holds(
        "lemma1/linear",
        "In a linear model ⟨∇u_l(x), ∇u_j(x')⟩ is xᵀx' for l = j, else 0 (at any width).",
        "Lemma 1",
    ),
    holds("lemma1/kernel", "In a kernel machine it is k(x, x') for l = j, else 0.", "Lemma 1"),
    holds(
        "lemma1/wide-no-interaction",
        "In an infinitely wide ReLU network of two layers, at initialisation, it is 0 for l ≠ j.",
        "after Lemma 1",
    ),
    *falsehood(
        "lemma1-two-layers",
        "In a linear network of two layers the kernel is xᵀx', the last layer's (orthonormal weights).",
        "It is 2 xᵀx': both layers contribute alike (orthonormal weights).",
        "Lemma 1, proof",
    ),
    *falsehood(
        "lemma1-wide-relu",
        "The kernel of an infinitely wide ReLU network is that of its last layer, E[φ(wᵀx) φ(wᵀx')].",
        "It is E[φ(wᵀx) φ(wᵀx')] + xᵀx' E[φ'(wᵀx) φ'(wᵀx')].",
        "Lemma 1, proof",
    ),
    holds(
        "remark1/independent",
        "A linear regression on z labels, by gradient descent, is z regressions on one.",
        "Remark 1",
    ),
    # Section 2: collapse.
    *(
        holds(
            f"prop1/{name}{suffix}",
            f"In a {model} the outputs move as Proposition 1 says for the {name} loss.",
            "Proposition 1",
        )
        for name in ("non-contrastive", "contrastive")
        for suffix, model in (("", "linear model"), ("-kernel", "kernel machine"))
    ),
    holds(
        "prop1/identical",
        "Every output of a linear model is moved by the same map, exp(-2 C t) on its weights.",
        "Proposition 1",
    ),
    holds(
        "prop1/collapse",
        "If C has a single smallest eigenvalue, and it is negative, the outputs tend to one dimension: their "
        "second singular value, as a share of the first, vanishes.",
        "Proposition 1",
    ),
    *falsehood(
        "prop1-convergence",
        "If C has a negative eigenvalue the outputs converge to a fixed point (their speed, as a share of "
        "them, vanishes).",
        "They grow forever at the rate -2 λ_1; only their direction converges, to Θ_0 v_1 v_1ᵀ.",
        "Proposition 1",
    ),
    *falsehood(
        "prop1-fixed-points",
        "Where the outputs do converge, they are one-dimensional (tried: C ⪰ 0 with a null space of two or "
        "more dimensions).",
        "There they converge to Θ_0 P x, P the projection on C's null space, of any dimension up to its.",
        "Proposition 1",
    ),
    holds(
        "remark2/decoupled",
        "Under the contrastive loss the outputs of a linear model decouple: its Hessian has no entry between "
        "weights of two outputs.",
        "Proposition 1, Remark 2",
    ),
    *falsehood(
        "remark2-infonce",
        "Under InfoNCE the outputs of a linear model decouple.",
        "Only with its softmax weights, which depend on all outputs, held fixed.",
        "Remark 2",
    ),
    ordering(
        "esser2024/remark2/infonce-collapse",
        "Under InfoNCE, as under (1), the outputs of a linear model collapse to one dimension: at the "
        "minimum their second singular value is under 5 % of the first.",
        source="Remark 2",
        measure=error_of("remark2/infonce-collapse"),
        below=NEGLIGIBLE,
        unit="second singular value over the first",
    ),
    *falsehood(
        "remark2-cosine",
        "Under the non-contrastive loss with the cosine similarity the outputs of a linear model decouple.",
        "Only with the dot product in its place, i.e. under Eq. 2.",
        "Remark 2, footnote 2",
    ),
    ordering(
        "esser2024/remark2/spectral",
        "Under the spectral contrastive loss the outputs of a linear model stay coupled: its Hessian has "
        "entries between weights of two outputs.",
        source="Remark 2",
        measure=error_of("remark2/spectral"),
        above=IDENTITY_TOLERANCE,
        unit="share of the Hessian's norm",
    ),
    holds(
        "remark3/collapse",
        "Behind a fixed projector A with r > 1 rows the outputs tend to one dimension all the same.",
        "Remark 3",
    ),
    *falsehood(
        "remark3-identical",
        "Behind a fixed projector A every output moves as in Proposition 1, u̇ = -2 A Θ C x.",
        "u̇ = -2 A Aᵀ A Θ C x: the outputs are coupled, unless A's rows are orthonormal.",
        "Remark 3",
    ),
    # Section 3: constraints.
    holds(
        "prop2/global",
        "Under Frobenius constraints [a(x) 0 ... 0] solves the problem: descent ends at its loss, and no "
        "drawn weights lie below.",
        "Proposition 2",
    ),
    holds("prop2/value", "Its loss is λ_1 c_1² c_2².", "Proposition 2, proof"),
    holds("prop2/rank-one", "Where descent ends, the outputs are one-dimensional.", "Proposition 2"),
    *falsehood(
        "prop2-eigenvector",
        "In a network with any φ, at fixed W1, the best W2 is an eigenvector of f(X, W1).",
        "It is an eigenvector of (f + fᵀ)/2: f is not symmetric.",
        "Proposition 2, proof (under `Proof of Proposition 1`)",
    ),
    *(
        holds(
            f"prop3/{name}",
            f"The minimum {where} is the sum of the min(d, z, l) smallest eigenvalues of C, of which l are "
            "negative.",
            f"Proposition 3 ({number})",
        )
        for number, name, where in (
            (1, "scaled", "of the scaled loss"),
            (2, "norms", "under ‖W1‖₂, ‖W2‖₂ ≤ 1"),
            (3, "product", "under ‖W2ᵀ W1‖₂ ≤ 1"),
            (4, "orthonormal", "under orthonormality, in a network wide enough,"),
        )
    ),
    *falsehood(
        "prop3-width",
        "Problem (4) has the minimum of (3) at any width that allows its constraints, h ≥ max(d, z).",
        "If h < d + z - min(d, z, l), at least d + z - h singular values of W2ᵀ W1 are 1, and the minimum is "
        "the sum of the d + z - h smallest eigenvalues.",
        "Proposition 3, proof of (3) ⇔ (4)",
    ),
    holds(
        "prop3/rank",
        "The outputs at the minimum have min(d, z, l) dimensions, l the number of C's negative eigenvalues: "
        "several avoid collapse, one does not.",
        "Proposition 3, last sentence, and its proof",
    ),
    *misprint(
        "prop3-loss",
        "A linear network's loss (1) is ‖W2ᵀ W1 C W1ᵀ W2‖₂².",
        "It is Tr(W2ᵀ W1 C W1ᵀ W2).",
        "Proposition 3",
    ),
    # Section 4: wide networks.
    *(
        claim
        for name, formula in SMOOTH.items()
        for claim in (
            holds(
                f"thm1/conditions-{name}",
                f"{formula} fulfils φ(0) = 0, φ'(0) = 1, |φ''| ≤ c.",
                "Theorem 1, Section 4",
            ),
            holds(f"thm1/eq13-{name}", f"|φ(x) - x| ≤ c x²/2 for {formula}.", "Eq. 13"),
            holds(
                f"thm1/proof-{name}",
                f"‖u^φ - u^I‖ ≤ ‖ε‖ ≤ c ‖(W1 x)²‖/2 at orthonormal weights, for {formula}.",
                "Theorem 1, proof",
            ),
        )
    ),
    holds(
        "lemma2/tail",
        "P(max |Q_ij| ≥ L log h / √h) vanishes for wide h (tried: a union bound, L of 1 to 3, h of 20,000 to "
        "100,000).",
        "Lemma 2",
    ),
    remark(
        "sec4/linear-size",
        "At initialisation the mean square of u^I(x) is z ‖x‖² / h: it, too, vanishes with the width.",
        "our remark on Theorem 1",
    ),
    remark(
        "sec4/relu-share",
        "With ReLU u^φ - u^I at initialisation is 1/√2 of u^I at every width: it vanishes only as u^I does.",
        "our remark on Section 4, Figure 2",
    ),
    holds(
        "sec4/sigmoid-offset",
        "At initialisation the sigmoid's mean square difference is that of σ - σ(0) plus z σ(0)², at any "
        "width: only the offset keeps it from vanishing.",
        "Section 4, on Figure 2",
    ),
    remark("sec4/scaled-sigmoid", "4 (σ(x) - σ(0)) is 2 tanh(x/2).", "our remark on Section 4"),
    *misprint(
        "conjecture1-objective",
        "A linear network's loss (1) is Tr(uᵀ u).",
        "It is Tr(uᵀ C u), u the outputs at the unit vectors.",
        "Conjecture 1",
    ),
    # Section 5: the loss as a trace.
    holds("eq7/loss", "A linear network's loss (1) is Tr(W2ᵀ W1 C W1ᵀ W2).", "before Eq. 7"),
    holds("eq7/one-sided", "C~ in place of C gives the same loss.", "before Eq. 7"),
    *misprint(
        "eq7-sum",
        "The loss is the sum of its terms from i = n to n.",
        "It is their sum from i = 1 to n.",
        "before Eq. 7",
    ),
    *misprint(
        "sec5-many-samples",
        "With p positives and q negatives C~ = Σ_i (Σ_j x_i (x_j⁻)ᵀ - Σ_j x_i (x_j⁺)ᵀ).",
        "C~ = Σ_i (Σ_j x_i (x_ij⁻)ᵀ - Σ_j x_i (x_ij⁺)ᵀ), with each anchor's own.",
        "after Eq. 7",
    ),
    *misprint(
        "sec5-non-contrastive",
        "For the loss (2) C~ = Σ_i x_i (x_i⁺)ᵀ.",
        "For the loss (2) C~ = -Σ_i x_i (x_i⁺)ᵀ.",
        "after Eq. 7",
    ),
    *falsehood(
        "sec5-expectation",
        "E[C~] = -n E[x xᵀ].",
        "E[C~] = -n Cov(x), which is the same for centred x only.",
        "after Theorem 3",
    ),
    holds("sec5/expectation-centred", "E[C~] = -n E[x xᵀ] for centred x.", "after Theorem 3"),
    holds(
        "sec5/negative-definite",
        "E[C] is negative definite (1 where an eigenvalue is not negative), if x fills the space.",
        "after Theorem 3",
    ),
    *misprint(
        "appendix-expectation",
        "E[C] = -E[x xᵀ], for centred x.",
        "E[C] = -n E[x xᵀ], for centred x.",
        "Proposition 3, proof, last sentence",
    ),
]
