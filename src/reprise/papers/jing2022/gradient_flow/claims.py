"""Every lemma, theorem and formula of the paper that can be tried at random points."""

from functools import partial

from reprise.evidence import identities
from reprise.evidence.claims import always
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.formula import claims
from reprise.evidence.identities import error_of
from reprise.papers.jing2022.gradient_flow import singular_values

holds = partial(identities.holds, "jing2022")
bound = partial(identities.bound, "jing2022")
misprint = partial(identities.misprint, "jing2022")
remark = partial(identities.remark, "jing2022")

CLAIMS = [
    holds(
        "eq2/inner-products",
        "For unit vectors, InfoNCE is the same with inner products for negative half squared distances.",
        "Section 4.1, after Eq. 2",
    ),
    holds(
        "lemma1/gradient-flow",
        "The weights of a linear model move by dW/dt = -G, G the sum of embedding gradients times inputs.",
        "Lemma 1, Eq. 3",
    ),
    holds(
        "eq4/embedding-gradients",
        "Eq. 4 gives the gradients of InfoNCE on both branches' embeddings (negatives from the same branch).",
        "Eq. 4",
    ),
    *misprint(
        "eq6",
        "Gradient flow of a linear model has G = -W X with X = -(first sum) - (second sum) of Eq. 6.",
        "Gradient flow of a linear model has G = -W X with X = +(first sum) - (second sum) of Eq. 6: "
        "without the leading minus.",
        "Eqs. 5 and 6",
    ),
    holds(
        "lemma2/difference",
        "X is the weighted data covariance minus the weighted augmentation covariance.",
        "Lemma 2, Eq. 7",
    ),
    bound("lemma2/data-psd", "The weighted data covariance is positive semi-definite.", "Lemma 2"),
    bound(
        "lemma2/augmentation-psd",
        "The weighted augmentation covariance is positive semi-definite.",
        "Lemma 2",
    ),
    bound(
        "lemma2/small-augmentation",
        "X is positive semi-definite while the augmentation's amplitude is under the one at which its "
        "weighted covariance stops being under that of the data (which span all inputs).",
        "Section 4.2, after Lemma 2",
    ),
    bound(
        "lemma2/strong-augmentation",
        "Beyond the amplitude at which the augmentation's weighted covariance stops being under that "
        "of the data, X has a negative eigenvalue.",
        "Section 4.2, after Lemma 2",
    ),
    holds(
        "thm1/closed-form",
        "With X fixed, the weights of a linear model under gradient flow move as W(0) exp(X t).",
        "Theorem 1, Appendix B.3",
    ),
    holds(
        "thm1/vanishing-values",
        "With X fixed, a W of at least as many outputs as inputs has as many vanishing singular values as X "
        "has negative eigenvalues.",
        "Theorem 1",
    ),
    *misprint(
        "thm1-any-width",
        "Whatever its number of outputs, W has a vanishing singular value if X has a negative eigenvalue.",
        "Of W's singular values min(outputs, inputs) - min(outputs, positive eigenvalues of X) vanish: none, "
        "where there are no more outputs than positive eigenvalues.",
        "Theorem 1, Corollary 1",
    ),
    holds(
        "lemma3/first-layer",
        "Under gradient flow the first of two linear layers moves by dW1/dt = -W2ᵀ G.",
        "Lemma 3, Eq. 8",
    ),
    holds(
        "lemma3/second-layer",
        "Under gradient flow the second of two linear layers moves by dW2/dt = -G W1ᵀ.",
        "Lemma 3, Eq. 9",
    ),
    holds(
        "lemma3/gradient-sum",
        "For two linear layers, the gradient of the loss on their product is G = -W2 W1 X.",
        "Eq. 10",
    ),
    *claims("jing2022", *singular_values.FORMULAS),
    *misprint(
        "lemma6",
        "The alignment matrix moves by Eq. 18 with H_kk' = 1/(σ_k² - σ_k'²).",
        "The alignment matrix moves by Eq. 18 with H_kk' = 1/(σ_k'² - σ_k²).",
        "Lemma 6, Eqs. 18 to 20",
    ),
    holds(
        "lemma7/first-layer",
        "Eq. 21 gives the motion of the first layer's singular values.",
        "Lemma 7, Eq. 21",
    ),
    holds(
        "lemma7/second-layer",
        "Eq. 22 gives the motion of the second layer's singular values.",
        "Lemma 7, Eq. 22",
    ),
    holds("thm2/conserved", "Gradient flow of two linear layers conserves W1 W1ᵀ - W2ᵀ W2.", "Appendix B.5"),
    holds(
        "thm2/norm-rate",
        "|W1|² and |W2|² both change at the rate 2 tr(W2 W1 X W1ᵀ W2ᵀ).",
        "Appendix B.5",
    ),
    bound(
        "thm2/norm-never-shrinks",
        "While X is positive definite, the norms of both linear layers grow.",
        "Appendix B.5",
    ),
    *misprint(
        "thm2-limit",
        "W1 W1ᵀ - W2ᵀ W2 is gone when |W1|² has grown a hundredfold under a fixed positive definite X.",
        "W1 W1ᵀ - W2ᵀ W2 is as it was when |W1|² has grown a hundredfold under a fixed positive definite X.",
        "Theorem 2, Appendix B.5",
    ),
    holds(
        "thm2/last-step",
        "Where W1 W1ᵀ = W2ᵀ W2 has distinct eigenvalues, |A| is the identity.",
        "Theorem 2, Appendix B.5",
    ),
    holds(
        "thm2/degenerate-block-diagonal",
        "Where W1 W1ᵀ = W2ᵀ W2 has groups of equal eigenvalues, A is block-diagonal, a block a group.",
        "Section 5.3, after Theorem 2",
    ),
    always(
        "jing2022/thm2/degenerate-not-aligned",
        "Within a group of equal singular values the vectors are not unique, and |A| is not the identity.",
        source="Appendix B.5, Remark",
        word="will not observe",
        measure=error_of("thm2/degenerate-identity"),
        at_least=IDENTITY_TOLERANCE,
        unit="relative distance of |A| from I",
    ),
    *misprint(
        "thm3",
        "Eq. 11 gives the motion of the singular values of two linear layers where V2 = U1ᵀ.",
        "Eq. 11 gives the motion of the singular values of two linear layers where V2 = U1.",
        "Theorem 3, Eq. 11",
    ),
    holds(
        "thm3/squares",
        "Between aligned layers, σ1² - σ2² of each rank is conserved.",
        "Section 5.3, after Theorem 3",
    ),
    *misprint(
        "thm3-closed-form",
        "With σ1² = σ2² + C, aligned layers have dσ1/dt = σ1 (σ1² + C)(v1ᵀ X v1).",
        "With σ1² = σ2² + C, aligned layers have dσ1/dt = σ1 (σ1² - C)(v1ᵀ X v1).",
        "Section 5.3, after Theorem 3",
    ),
    remark(
        "thm3/balanced-stay-aligned",
        "Aligned layers with equal singular values stay aligned; others need not.",
        "Theorem 3, which is about a moment",
    ),
    *misprint(
        "sec62-loss",
        "DirectCLR's loss, as printed, is InfoNCE: Σ log( exp(z_i·z'_i) / Σ_j exp(z_i·z_j) ).",
        "-Σ log( exp(z_i·z'_i / τ) / Σ_j exp(z_i·z'_j / τ) ) is InfoNCE.",
        "Section 6.2",
    ),
    holds(
        "sec62/rest-has-no-gradient",
        "DirectCLR's loss has no gradient on the rest of the representation.",
        "Section 6.2, before Figure 10",
    ),
    holds(
        "sec63/diagonal-projector",
        "DirectCLR is SimCLR with a fixed diagonal projector.",
        "Section 6.3, fixed low-rank projector",
    ),
    holds(
        "sec63/low-rank-projector",
        "A fixed projector with d0 singular values of 1, the rest 0, is DirectCLR behind a fixed rotation.",
        "Section 6.3, fixed low-rank projector",
    ),
]
