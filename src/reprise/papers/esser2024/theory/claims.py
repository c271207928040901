"""Every lemma, remark, proposition, theorem and formula that can be tried at random points."""

from collections.abc import Mapping
from functools import partial

from reprise.evidence import identities
from reprise.evidence.claim import Claim, ours, single
from reprise.evidence.claims import always, for_all
from reprise.evidence.comparison import COLLAPSED, IDENTITY_TOLERANCE, identity, inequality
from reprise.evidence.identities import Formula, error_of

holds = partial(identities.holds, "esser2024")
bound = partial(identities.bound, "esser2024")
remark = partial(identities.remark, "esser2024")
misprint = partial(identities.misprint, "esser2024")
falsehood = partial(identities.falsehood, "esser2024")

SMOOTH = {"tanh": "tanh", "scaled-sigmoid": "4 (σ(x) - σ(0))", "softplus": "2 (softplus(x) - log 2)"}
"""The activations on which Theorem 1 is tried; the last is curved at 0."""


def _in_each(
    name: str, statement: str, source: str, cells: Mapping[str, str], make: Formula = identity
) -> Claim:
    """A formula in several models: cell -> the name of what was tried there."""
    formulas = {cell: make(error_of(tried)) for cell, tried in cells.items()}
    return for_all(
        f"esser2024/{name}", statement, formulas, source=source, word="=" if make is identity else "≤"
    )


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
    holds(
        "lemma1/kernel",
        "In a kernel machine the tangent kernel ⟨∇u_l(x), ∇u_j(x')⟩ is k(x, x') for l = j, else 0.",
        "Lemma 1",
    ),
    holds(
        "lemma1/wide-no-interaction",
        "In an infinitely wide ReLU network of two layers, at initialisation, the tangent kernel "
        "⟨∇u_l(x), ∇u_j(x')⟩ between different outputs, l ≠ j, is 0.",
        "after Lemma 1",
    ),
    *falsehood(
        "lemma1-two-layers",
        "In the proof of Lemma 1, which itself is about one layer: in a linear network of two layers with "
        "orthonormal weights the tangent kernel of an output is xᵀx', the last layer's share.",
        "In a linear network of two layers with orthonormal weights the tangent kernel of an output "
        "is 2 xᵀx': both layers contribute alike.",
        "Lemma 1, proof",
    ),
    *falsehood(
        "lemma1-wide-relu",
        "In the proof of Lemma 1, which itself is about one layer: the tangent kernel of an infinitely wide "
        "ReLU network is that of its last layer, E[φ(wᵀx) φ(wᵀx')].",
        "The tangent kernel of an infinitely wide ReLU network is E[φ(wᵀx) φ(wᵀx')] + xᵀx' E[φ'(wᵀx) "
        "φ'(wᵀx')]: both layers have a share.",
        "Lemma 1, proof",
    ),
    holds(
        "remark1/independent",
        "A linear regression on z labels, by gradient descent, is z regressions on one.",
        "Remark 1",
    ),
    # Section 2: collapse.
    *(
        _in_each(
            f"prop1/{name}",
            f"In linear models and kernel machines outputs move as Proposition 1 says for the {name} loss.",
            "Proposition 1",
            {"linear model": f"prop1/{name}", "kernel machine": f"prop1/{name}-kernel"},
        )
        for name in ("non-contrastive", "contrastive")
    ),
    holds(
        "prop1/identical",
        "Every output of a linear model is moved by the same map, exp(-2 C t) on its weights.",
        "Proposition 1",
    ),
    holds(
        "prop1/collapse",
        "If C has a single smallest eigenvalue, and it is negative, the outputs of a linear model "
        "tend to one dimension: their second singular value, as a share of the first, vanishes.",
        "Proposition 1",
    ),
    remark(
        "prop1/growth",
        "If C has a negative eigenvalue, the outputs of a linear model grow forever at the rate -2 "
        "λ_1; only their direction converges, to Θ_0 v_1 v_1ᵀ.",
        "Proposition 1, Section 3",
    ),
    *falsehood(
        "prop1-fixed-points",
        "Where the outputs of a linear model do converge, they are one-dimensional (tried: C ⪰ 0 with"
        " a null space of two or more dimensions).",
        "Where C ⪰ 0, the outputs of a linear model converge to Θ_0 P x, P the projection on C's null"
        " space, and have as many dimensions as this allows.",
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
        "Under InfoNCE the outputs of a linear model decouple only if its softmax weights, which "
        "depend on all outputs, are held fixed.",
        "Remark 2",
    ),
    always(
        "esser2024/remark2/infonce-collapse",
        "Under InfoNCE, as under (1), the outputs of a linear model collapse to one dimension: at the "
        "minimum their second singular value has collapsed.",
        source="Remark 2",
        word="would also happen",
        measure=error_of("remark2/infonce-collapse"),
        at_most=COLLAPSED,
        unit="second singular value over the first",
    ),
    always(
        "esser2024/remark2/spectral",
        "Under the spectral contrastive loss the outputs of a linear model stay coupled: its Hessian has "
        "entries between weights of two outputs.",
        source="Remark 2",
        word="remain coupled",
        measure=error_of("remark2/spectral"),
        at_least=IDENTITY_TOLERANCE,
        unit="share of the Hessian's norm",
    ),
    holds(
        "remark3/collapse",
        "Behind a fixed projector A with r > 1 rows the outputs of a linear model still tend to one "
        "dimension.",
        "Remark 3",
    ),
    *falsehood(
        "remark3-identical",
        "Behind a fixed projector A every output moves as in Proposition 1, u̇ = -2 A Θ C x.",
        "Behind a fixed projector A the outputs move by u̇ = -2 A Aᵀ A Θ C x: they are coupled, "
        "unless A's rows are orthonormal.",
        "Remark 3",
    ),
    # Section 3: constraints.
    holds(
        "prop2/global",
        "Under Frobenius constraints [a(x) 0 ... 0] solves the problem: descent ends at its loss, and no "
        "drawn weights lie below.",
        "Proposition 2",
    ),
    holds(
        "prop2/value",
        "Under Frobenius constraints the loss of the solution [a(x) 0 ... 0] is λ_1 c_1² c_2².",
        "Proposition 2, proof",
    ),
    holds(
        "prop2/rank-one",
        "Where descent under Frobenius constraints ends, the outputs are one-dimensional.",
        "Proposition 2",
    ),
    *falsehood(
        "prop2-eigenvector",
        "In a network with any φ, at fixed W1, the best W2 is an eigenvector of f(X, W1).",
        "In a network with any φ, at fixed W1, the best W2 is an eigenvector of (f + fᵀ)/2: f(X, W1) "
        "is not symmetric.",
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
        "The loss under orthonormality (4) has the minimum of the scaled loss (3) at any width that "
        "allows its constraints, h ≥ max(d, z).",
        "Under orthonormality (4), if h < d + z - min(d, z, l), at least d + z - h singular values of"
        " W2ᵀ W1 are 1, and the minimum of the loss is the sum of the d + z - h smallest eigenvalues "
        "of C.",
        "Proposition 3, proof of (3) ⇔ (4)",
    ),
    holds(
        "prop3/rank",
        "At the minimum of the orthogonal loss the outputs have min(d, z, l) dimensions, l the number"
        " of C's negative eigenvalues: several avoid collapse, one does not.",
        "Proposition 3, last sentence, and its proof",
    ),
    *misprint(
        "prop3-loss",
        "A linear network's contrastive loss (1) is ‖W2ᵀ W1 C W1ᵀ W2‖₂².",
        "A linear network's contrastive loss (1) is Tr(W2ᵀ W1 C W1ᵀ W2).",
        "Proposition 3",
    ),
    # Section 4: wide networks.
    *(
        bound(
            f"thm1/conditions-{name}",
            f"{formula} fulfils φ(0) = 0, φ'(0) = 1, |φ''| ≤ c.",
            "Theorem 1, Section 4",
        )
        for name, formula in SMOOTH.items()
    ),
    _in_each(
        "thm1/eq13",
        "|φ(x) - x| ≤ c x²/2.",
        "Eq. 13",
        {formula: f"thm1/eq13-{name}" for name, formula in SMOOTH.items()},
        inequality,
    ),
    _in_each(
        "thm1/proof",
        "At orthonormal weights ‖u^φ - u^I‖ ≤ ‖ε‖ ≤ c ‖(W1 x)²‖/2: nonlinear and linear output differ"
        " by no more than the activation's second-order rest.",
        "Theorem 1, proof",
        {formula: f"thm1/proof-{name}" for name, formula in SMOOTH.items()},
        inequality,
    ),
    bound(
        "lemma2/tail",
        "P(max |Q_ij| ≥ L log h / √h) vanishes for wide h (tried: a union bound, L of 1 to 3, h of 20,000 to "
        "100,000).",
        "Lemma 2",
    ),
    remark(
        "sec4/linear-size",
        "At initialisation the mean square of the linear network's output u^I(x) is z ‖x‖² / h: it, "
        "too, vanishes with the width h.",
        "our remark on Theorem 1",
    ),
    remark(
        "sec4/relu-share",
        "With ReLU, at initialisation, the difference u^φ - u^I of nonlinear and linear output is "
        "1/√2 of u^I at every width: it vanishes only as u^I does.",
        "our remark on Section 4, Figure 2",
    ),
    holds(
        "sec4/sigmoid-offset",
        "At initialisation the sigmoid's mean square difference from the linear output is that of σ -"
        " σ(0) plus z σ(0)², at any width: only the offset keeps it from vanishing.",
        "Section 4, on Figure 2",
    ),
    remark("sec4/scaled-sigmoid", "4 (σ(x) - σ(0)) is 2 tanh(x/2).", "our remark on Section 4"),
    *misprint(
        "conjecture1-objective",
        "A linear network's contrastive loss (1) is Tr(uᵀ u), u the outputs at the unit vectors.",
        "A linear network's contrastive loss (1) is Tr(uᵀ C u), u the outputs at the unit vectors.",
        "Conjecture 1",
    ),
    # Section 5: the loss as a trace.
    holds(
        "eq7/loss",
        "A linear network's contrastive loss (1) is Tr(W2ᵀ W1 C W1ᵀ W2), as Eq. 7 says.",
        "before Eq. 7",
    ),
    holds(
        "eq7/one-sided",
        "The one-sided C~ in place of its symmetric part C gives a linear network the same contrastive loss.",
        "before Eq. 7",
    ),
    *misprint(
        "eq7-sum",
        "The contrastive loss is the sum of its terms from i = n to n.",
        "The contrastive loss is the sum of its terms from i = 1 to n.",
        "before Eq. 7",
    ),
    *misprint(
        "sec5-many-samples",
        "With p positives and q negatives of each anchor the contrastive loss has C~ = Σ_i (Σ_j x_i "
        "(x_j⁻)ᵀ - Σ_j x_i (x_j⁺)ᵀ), which are the same for all anchors.",
        "With p positives and q negatives of each anchor the contrastive loss has C~ = Σ_i (Σ_j x_i "
        "(x_ij⁻)ᵀ - Σ_j x_i (x_ij⁺)ᵀ), with each anchor's own.",
        "after Eq. 7",
    ),
    *misprint(
        "sec5-non-contrastive",
        "For the non-contrastive loss (2) C~ = Σ_i x_i (x_i⁺)ᵀ.",
        "For the non-contrastive loss (2) C~ = -Σ_i x_i (x_i⁺)ᵀ.",
        "after Eq. 7",
    ),
    *falsehood(
        "sec5-expectation",
        "For the contrastive loss with independent negatives E[C~] = -n E[x xᵀ], whatever the mean of x.",
        "For the contrastive loss with independent negatives E[C~] = -n Cov(x), which is -n E[x xᵀ] "
        "for centred x only.",
        "after Theorem 3",
    ),
    holds(
        "sec5/expectation-centred",
        "For the contrastive loss with independent negatives and centred x, E[C~] = -n E[x xᵀ].",
        "after Theorem 3",
    ),
    bound(
        "sec5/negative-definite",
        "The expected C of the contrastive loss is negative definite (1 where an eigenvalue is not "
        "negative), if x fills the space.",
        "after Theorem 3",
    ),
    *misprint(
        "appendix-expectation",
        "For the contrastive loss and centred x, E[C] = -E[x xᵀ].",
        "For the contrastive loss and centred x, E[C] = -n E[x xᵀ].",
        "Proposition 3, proof, last sentence",
    ),
    # Section 5.1 and 5.2: the outputs' dynamics.
    ours(
        single(
            "esser2024/thm2/paper-ode-velocity-gap-h2",
            "The outputs of projected gradient descent with a step to 0 follow the ODE (9) (h = d = 2, "
            "z = 1).",
            identity(error_of("thm2/velocity-h2")),
            source="Theorem 2, Eq. 9",
            word="=",
        ),
        "ours: an instance of `thm2-ode`, in which the gap is exactly 1/3",
    ),
    ours(
        single(
            "esser2024/thm2/corrected-ode-gap-h2",
            "The outputs of projected gradient descent with a step to 0 follow dQ/dt = -[4 C Q - 3 Q Qᵀ C"
            " Q - C Q Qᵀ Q] (h = d = 2, z = 1).",
            identity(error_of("thm2/velocity-h2", "corrected")),
            source="Theorem 2, Eq. 9, corrected",
            word="=",
        )
    ),
    *falsehood(
        "thm2-ode",
        "The outputs of gradient flow on the orthogonal loss (8), within its constraints, obey dq/dt = "
        "-2 [2 Λ q - Λ q qᵀ q - q qᵀ Λ q] (those of the proof's flow, by (I - W Wᵀ) times the gradient, do).",
        "The outputs of gradient flow on the orthogonal loss (8) obey dq/dt = -[4 Λ q - Λ q qᵀ q - 3 "
        "q qᵀ Λ q], whatever the width.",
        "Theorem 2, Eqs. 9 and 12",
    ),
    holds(
        "thm2/proof-flow",
        "Eq. 9 is the flow in which (I - W Wᵀ) times the gradient moves W1 and W2.",
        "Proof of Theorem 2",
    ),
    *falsehood(
        "thm2-grassmann",
        "The orthogonal loss (8) lives on Grassmann manifolds: for orthogonal R it is the same for W1"
        " R and for W2 R as for W1 and W2.",
        "The orthogonal loss (8) is the same for W2 R, R orthogonal, but not for W1 R: W1 lives on a "
        "Stiefel manifold.",
        "Section 'Learning Dynamics of Linear SSL Models', proof of Theorem 2",
    ),
    holds("eq10/one-output", "The ODE (10) is the ODE (9) for one output, z = 1.", "Theorem 3, Eq. 10"),
    holds(
        "thm3/norm",
        "Along the ODE (10) of one output q, d(qᵀ q)/dt = -8 (1 - qᵀ q) qᵀ Λ q.",
        "Proof of Theorem 3",
    ),
    holds(
        "thm3/first-component",
        "Along the ODE (10) of one output q, d(e_1ᵀ q)/dt = 2 [(1 - qᵀ q) (-λ_1) + (qᵀ Λ q - λ_1)] e_1ᵀ q.",
        "Proof of Theorem 3",
    ),
    *falsehood(
        "thm3-positive",
        "If all eigenvalues of C are positive, the outputs go to 0 (tried: h = d, where |q| = 1).",
        "If all eigenvalues of C are positive, the outputs go to 0 from |q| < 1, by Eq. 9 and by the "
        "corrected ODE.",
        "Theorem 3, first case",
    ),
    *misprint(
        "thm3-limit",
        "If an eigenvalue of C is negative, the output q goes to e_1: its derivative along e_1 is always "
        "positive (tried: e_1ᵀ q_0 < 0).",
        "If an eigenvalue of C is negative, the output q goes to e_1 or -e_1 by the sign of e_1ᵀ q_0 "
        "(not 0), by Eq. 9 and by the corrected ODE.",
        "Theorem 3, second case, and its proof",
    ),
    *misprint(
        "thm3-zero",
        "Along the ODE (10) there are two cases: q goes to 0, or to the smallest eigenvector (tried: "
        "smallest eigenvalue 0).",
        "Along the ODE (10), if the smallest eigenvalue is 0, q goes to a multiple of e_1 that "
        "depends on the start.",
        "Theorem 3",
    ),
    holds(
        "prop3/most-negative-eigenvectors",
        "Under the orthogonality constraints descent extracts the eigenvectors of C with the most negative "
        "eigenvalues, as many as there are outputs or negative eigenvalues: Q Qᵀ goes to their projector "
        "(h = d + z).",
        "After Proposition 3",
    ),
    holds(
        "new-datapoint/output",
        "At a new point x̂ a linear network's output is u_t(x̂) = q_tᵀ Vᵀ x̂, q_t the outputs at the "
        "eigenvectors V of C.",
        "Paragraph 'New Datapoint'",
    ),
    *misprint(
        "eq11",
        "A short step W + η ∇L on the orthogonal loss, projected, lowers the loss (1 where it raises it).",
        "A short step W - η ∇L on the orthogonal loss, projected, lowers the loss (1 where it raises it).",
        "Eq. 11",
        make=inequality,
    ),
]
