"""Every lemma and formula of the paper that can be tried at random points.

Our text of the paper has lost its formulas: each is stated here as it was derived again.
"""

from functools import partial

from reprise.evidence import identities
from reprise.evidence.claim import restated
from reprise.evidence.claims import always
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.identities import error_of

holds, bound = (partial(make, "ren2023") for make in (identities.holds, identities.bound))

STATEMENTS = [
    # Sections 3 and 4: learners and scores.
    holds(
        "eq2/norm",
        "The normalisation of the representation is N_A² = (|K_A|² + |K_A,ξ|²) / d.",
        "Section 3, before Eq. 2",
    ),
    holds(
        "def41/ceiling",
        "Learners that recover the latent signal have the alignment score 1 - 2^-r, and no more: a "
        "negative may share the positive's signal z.",
        "Definition 4.1",
    ),
    holds(
        "def42/recovered",
        "Learners that recover the latent signal have the balance score r, in either reading.",
        "Definition 4.2",
    ),
    bound(
        "def42/effective-condition",
        "Where the largest cr singular values of K_A lie within a factor κ, the balance score is at least "
        "cr / κ⁴ (cr / κ² in its other reading).",
        "Section 4, after Definition 4.2",
    ),
    holds(
        "sec4/example-aligned",
        "Learners that stress one coordinate of the latent signal are as aligned as those that recover it.",
        "Section 4, why balanced representations are important",
    ),
    holds(
        "sec4/example-unbalanced",
        "Learners that stress one coordinate of the latent signal have a balance score of about 1.",
        "Section 4, why balanced representations are important",
    ),
    bound(
        "lemma-44/sufficient",
        "For alignment, little noise, little difference between K_A / N_A and K_B / N_B, and a "
        "smallest singular value well above both suffice: every negative of another signal is farther"
        " off than the positive.",
        "Lemma 4.4",
    ),
    always(
        "ren2023/lemma-44/needs-condition",
        "Where the condition number is large, noise and a difference between the modalities that are "
        "otherwise small enough leave the learners unaligned.",
        word="is upper bounded by",
        source="Lemma 4.4",
        measure=error_of("lemma-44/needs-condition"),
        at_least=IDENTITY_TOLERANCE,
        unit="share of negatives of another signal that are no farther off",
    ),
    bound(
        "def41/at-least",
        "The alignment score of the learners of Lemma 4.4 is at least 1 - 2^-r.",
        "Lemma 4.4, Definition 4.1",
    ),
    holds(
        "sec4/covariance",
        "Of aligned, noiseless learners the output's covariance is C = K_A K_Aᵀ / (d N_A²).",
        "Section 4, before Lemma 4.5",
    ),
    bound(
        "lemma-45/bound",
        "Of aligned learners the balance score is at least r / κ⁴ (r / κ² in its other reading), κ "
        "being the condition number.",
        "Lemma 4.5",
    ),
    # Appendix A.1: finite width.
    holds(
        "lemma-a1/similarity",
        "The gradient of <f_A, f_B> on W_A is x_A f_Bᵀ / N_A - <f_A, f_B> E[x_A x_Aᵀ] W_A / N_A².",
        "Lemma A.1",
    ),
    holds(
        "lemma-a2/gradient",
        "The gradient of the contrastive loss pulls positive pairs by 2 - S_A - S_B and pushes negatives by "
        "their share of the softmax, each with its normalisation term.",
        "Lemma A.2",
    ),
    holds(
        "lemma-a3/signal",
        "Under the contrastive loss the signal part K_A of the representation moves by Eq. 5.",
        "Lemma A.3, Eq. 5",
    ),
    holds(
        "lemma-a3/noise",
        "Under the contrastive loss the noise part K_A,ξ of the representation moves by Eq. 5 with "
        "the noise ξ for the signal z.",
        "Lemma A.3",
    ),
    holds(
        "cor-a4/q-matrices",
        "Under the contrastive loss K̇_A = ((K_B Q_1 + K_B,ξ Q_1,ξ) / (N_A N_B d) - Q_0 K_A / (N_A² "
        "d)) diag(σ²), and K_A,ξ alike.",
        "Corollary A.4",
    ),
    holds(
        "lemma-a5/radial",
        "The squared norms of the columns of K_A grow by the part of Corollary A.4's right-hand side "
        "along the columns.",
        "Lemma A.5",
    ),
    holds(
        "lemma-a5/tangent",
        "The columns of K_A turn by the part of Corollary A.4's right-hand side across them, in which"
        " Q_0 has no share.",
        "Lemma A.5",
    ),
    holds(
        "lemma-a6/signal",
        "Without negatives, K̇_A = (K_B / (N_A N_B d) - E<f_A, f_B> K_A / (N_A² d)) diag(σ²).",
        "Lemma A.6, Eq. 6",
    ),
    holds(
        "lemma-a6/noise",
        "Without negatives the noise part K_A,ξ moves by the normalisation's term alone.",
        "Lemma A.6",
    ),
    # Section 5.2, Appendix A.2: infinite width.
    holds(
        "eq7/orthogonal-stays",
        "Without noise, different columns of K_A and K_B that are orthogonal stay so in training.",
        "Section 5.2, after Eq. 7",
    ),
    holds(
        "eq7/twins-stay",
        "Columns of K_A and K_B of equal norms, |[K_A]_p| = |[K_B]_p|, keep equal norms in training.",
        "Section 5.2, after Eq. 7",
    ),
    holds(
        "lemma-a7/softmax",
        "With orthogonal columns of equal norms and no noise, the softmax terms S_A and S_B do not "
        "depend on the signal z.",
        "Lemma A.7",
    ),
    holds(
        "lemma-a7/norms",
        "With orthogonal columns of equal norms and no noise, |[K_A]_p|² moves by Eq. 8.",
        "Lemma A.7, Eq. 8",
    ),
    holds(
        "lemma-a7/inner-products",
        "With orthogonal columns of equal norms and no noise, <[K_A]_p, [K_B]_p> moves by Eq. 8.",
        "Lemma A.7, Eq. 8",
    ),
    holds(
        "sec5/noise",
        "With orthogonal noise the columns' norms and inner products move by Eq. 8 as well, with Σ_q "
        "|[K_A,ξ]_q|² as a part of N_A² d.",
        "Section 5.2; the proof of Lemma B.11",
    ),
    *(
        holds(f"lemma-c2/{name}", statement, "Lemma C.2")
        for name, statement in (
            ("mean", "Over the negatives' signals, E exp(τ² f_A+ · f_B-) = Π cosh(τ² h_p / F)."),
            (
                "first",
                "Over the negatives' signals, E exp(τ² f_A+ · f_B-) with z_p+ z_p- d as a factor is T_p = "
                "tanh(τ² h_p / F) times the same without it.",
            ),
            (
                "second",
                "Over the negatives' signals, E exp(τ² f_A+ · f_B-) with two factors z_p+ z_p- d and z_q+ "
                "z_q- d is T_p T_q times the same without them, or 1 times where p = q.",
            ),
        )
    ),
    # Section 5.3, Appendix B: Stage 1.
    holds(
        "sec53/first-term",
        "Without negatives, Eq. 6 is the first term of Eq. 8 up to a factor: T = 0 and c = 2 / F.",
        "Section 5.3",
    ),
    holds(
        "lemma-b10/rate",
        "Without negatives h/k, the cosine between a signal's columns of the two modalities, moves by"
        " c σ_p² (1 - (h/k)²): to 1.",
        "Section 5.3, Lemma B.10",
    ),
    holds(
        "lemma-b11/rate",
        "Without negatives log(v / k_p), the noise beside a signal, moves by -c (σ_ξ² ρ + σ_p² (h_p /"
        " k_p - ρ)).",
        "Lemma B.11",
    ),
    holds(
        "lemma-b12/rate",
        "Without negatives log(k_p / k_q), two signals beside each other, moves by c (σ_p² (h_p / k_p"
        " - ρ) - σ_q² (h_q / k_q - ρ)).",
        "Section 5.3, Lemma B.12",
    ),
    holds(
        "lemma-b9/small-temperature",
        "As τ² vanishes, learners of any width move as without negatives, 2K / (1 + K) times as fast.",
        "Section 5.3, Lemma B.9",
    ),
    holds(
        "lemma-b14/kept",
        "In the limit of infinite width the condition number of the noise part K_A,ξ stays what it is.",
        "Lemma B.14",
    ),
    holds(
        "sec53/weights-conserved",
        "Without negatives Σ k_p / σ_p² + (d - r) v / σ_ξ² = d at all times: the norm of W_A is conserved.",
        "Section 3: a normalised output does not change with its scale",
    ),
    holds(
        "lemma-52/solution",
        "Where A' = -X A and E' = X A E, the error at time T is E(T) = E(0) exp(A(0) - A(T)).",
        "Lemma B.2",
    ),
    bound(
        "lemma-52/bound",
        "Where A' = -X A and E' = X A E, the error stays bounded: E(T) <= E(0) exp(A(0)), whatever X "
        "> 0 and T.",
        "Lemmas 5.2 and B.2",
    ),
    holds(
        "lemma-51/noise",
        "Without negatives, in the limit of infinite width, the noise-to-signal ratio vanishes.",
        "Lemma 5.1, Eq. 9",
    ),
    holds(
        "lemma-51/aligned",
        "Without negatives, in the limit of infinite width, K_A - K_B vanishes.",
        "Lemmas 5.1 and B.1",
    ),
    bound(
        "lemma-51/condition-bounded",
        "Without negatives, in the limit of infinite width, the condition number never exceeds √(2d) "
        "σ_max / σ_min (our constant).",
        "Lemma 5.1, Eq. 9",
    ),
    # Section 5.4, Appendix C: Stage 2.
    holds(
        "sec54/norms",
        "Of aligned, noiseless learners Eq. 8 is k_p' = c σ_p² k_p (T̄ - T_p).",
        "Section 5.4",
    ),
    bound(
        "sec54/alignment-kept",
        "Every h_p / k_p, the cosine between a signal's columns of the two modalities, grows, with "
        "negatives or without, at any τ².",
        "Section 5.4: alignment is maintained",
    ),
    bound(
        "lemma-c19/falls",
        "With negatives, of aligned, noiseless learners, the largest squared column norm k_p falls "
        "beside the smallest.",
        "Section 5.4",
    ),
    bound(
        "lemma-c19/bound",
        "With negatives, of aligned, noiseless learners, (k_p / k_q)' <= -c σ_min² (T_p - T_q) k_p / "
        "k_q for the largest k_p and the smallest k_q.",
        "Section 5.4, Lemma C.19",
    ),
    bound(
        "cor-c20/time",
        "With negatives, of aligned, noiseless learners, the ratio k_p / k_q of the largest and "
        "smallest squared column norm is under 1 + δ after a time of at most log(k_p(0) / k_q(0) / (1"
        " + δ)) over the slowest c σ_min² (T_p - T_q) on the way.",
        "Corollary C.20",
    ),
    bound(
        "lemma-c18/never-grows",
        "With negatives, of aligned learners with noise, the ratio v / k_p of noise to the smallest "
        "k_p does not grow.",
        "Lemma C.18",
    ),
    holds(
        "lemma-53/balanced",
        "In the limit of infinite width, after a long Stage 2 (large temperature τ²) the condition "
        "number is 1.",
        "Lemma 5.3, Eq. 10",
    ),
    holds(
        "lemma-53/noise",
        "In the limit of infinite width, after a long Stage 2 (large temperature τ²) the "
        "noise-to-signal ratio is 0.",
        "Lemma 5.3, Eq. 10",
    ),
    holds(
        "lemma-53/aligned",
        "In the limit of infinite width, after a long Stage 2 (large temperature τ²) the modalities "
        "are aligned: K_A = K_B.",
        "Lemmas 5.3 and C.1",
    ),
]

CLAIMS = [restated(claim) for claim in STATEMENTS]
