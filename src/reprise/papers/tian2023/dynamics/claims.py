"""Every lemma, theorem and formula of the paper that can be tried at random points."""

from dataclasses import replace
from functools import partial

from reprise.evidence import identities
from reprise.evidence.claim import Claim
from reprise.evidence.claims import ordering
from reprise.evidence.comparison import Measure, inequality
from reprise.evidence.measures import column

holds = partial(identities.holds, "tian2023")
bound = partial(identities.bound, "tian2023")
misprint = partial(identities.misprint, "tian2023")
falsehood = partial(identities.falsehood, "tian2023")

FIELDS = "ours: random networks of two classes, inputs up to 5 times longer or shorter; the mean"


def unequal(name: str, layer: str) -> Measure:
    """A column of `fields`: how unequal the fields are, without BatchNorm (`none`) or with it."""
    return column("fields", name, layer=layer)


def _more_equal(name: str, statement: str, source: str, *, column: str, word: str) -> Claim:
    """Closer to 0 with BatchNorm."""
    with_it, without = unequal(column, "BatchNorm"), unequal(column, "none")
    sides = {"above": without} if column == "speed" else {"below": without}
    return ordering(
        f"tian2023/appD/{name}", statement, source=source, measure=with_it, unit="log10 of a ratio",
        reading=FIELDS, quantifier="generic", word=word, **sides,
    )  # fmt: skip


CLAIMS = [
    # Section 2: contrastive covariance.
    holds(
        "sec2/infonce-alpha",
        "With ε = 0, InfoNCE descends as the contrastive energy ascends whose pair weights α are "
        "InfoNCE's softmax weights.",
        "Section 2, after Eq. 3",
    ),
    *misprint(
        "sec2-energy",
        "Lemma 3's dynamics climb the energy E_α = tr C_α[f].",
        "Lemma 3's dynamics climb the energy E_α = tr C_α[f] / 2.",
        "Section 2, before and after Eq. 3",
    ),
    holds("lemma1/kernel", "Gaussian α is the inner product of the features φ of Eq. 22.", "Lemma 1"),
    bound(
        "lemma1/nonnegative",
        "The features of Eq. 22, whose inner product Gaussian α is, are nonnegative where g is above "
        "the bound v.",
        "Lemma 1",
    ),
    *misprint(
        "eq25",
        "The contrastive covariance C_α is Eq. 23 less Eq. 24, whose sum of α_ij leaves out j = i.",
        "The contrastive covariance C_α is Eq. 23 less Eq. 24 with j = i in its sum, as Eq. 3 has it.",
        "Eqs. 24 and 25",
    ),
    holds(
        "lemma2/variance",
        "In the limit of large batches, C_α[g] is the sum over the kernel's features of z_l² times the "
        "variance of E_aug[g] under the adjusted density.",
        "Lemma 2, Eqs. 4 and 42",
    ),
    bound(
        "lemma2/psd",
        "In the limit of large batches, the contrastive covariance C_α[g] is positive semi-definite.",
        "Lemma 2",
    ),
    holds(
        "cor1/variance",
        "Without augmentation, in the limit of large batches, C_α[g] is the sum over the kernel's features "
        "of z_l² times the variance of g itself under the adjusted density.",
        "Corollary 1",
    ),
    # Section 3: one layer.
    *(
        holds(
            f"eq6/{name}",
            f"With h {name}, the energy of one unit is C_α[h(wᵀx)] = wᵀ C_α[x̃] w, x̃ the gated input.",
            "Assumption 1, after Eq. 6",
        )
        for name in ("linear", "relu", "leaky-relu")
    ),
    *(
        holds(
            f"lemma3/{name}", f"With h {name}, a weight of unit length moves by P⊥ A(w) w.", "Lemma 3, Eq. 7"
        )
        for name in ("linear", "relu", "leaky-relu")
    ),
    holds(
        "lemma3/monomial",
        "For h(x) = xᵖ, Assumption 1 and Eq. 7 hold up to a constant, which is 1/p.",
        "Assumption 1 and the sentence after it",
    ),
    holds(
        "lemma3/remark",
        "For ReLU and a smooth density, wᵀ(dA)w = 0, though the matrix A(w) of Lemma 3 moves with w.",
        "Appendix B.2, Remarks",
    ),
    holds(
        "sec3/linear-pca",
        "With linear activation the weight ends at the maximal eigenvector of C_α[x].",
        "Section 3, after Eq. 5",
    ),
    holds(
        "eq43/binary",
        "The variance of gated inputs is V[x̃] = p0 p1 Δ Δᵀ + p0 Σ0 + p1 Σ1 for a binary latent variable.",
        "Eq. 43",
    ),
    holds(
        "eq8/matrix", "In the latent categorical model A(u_m) = P[m] (1 - P[m]) u_m u_mᵀ.", "Eqs. 8 and 44"
    ),
    holds(
        "eq8/lme",
        "In the latent categorical model u_m is the top eigenvector of A(u_m).",
        "Section 3.1, after Eq. 8",
    ),
    holds(
        "eq9/matrix",
        "In the latent summation model A(u_m) = (1 - q_m)² u_m u_mᵀ + q_m (I - u_m u_mᵀ).",
        "Eqs. 9 and 45",
    ),
    bound(
        "thm1/stable",
        "A locally maximal eigenvector (LME) whose eigenvalue gap exceeds the local roughness "
        "attracts the weights near it (their distance, after a long time, as a share of the first).",
        "Theorem 1",
    ),
    *falsehood(
        "thm2",
        "The roughness is at most C0³ vol(C0) r(w*, α) / π, at any radius C0 (tried: under 0.001).",
        "The roughness is at most C0² vol(C0) r(w*, α) / π, at any radius C0 (tried: under 0.001).",
        "Theorem 2, Eqs. 78, 80, 84, 89, 90, 92 and 93",
        make=inequality,
    ),
    holds(
        "thm2/first-order-term",
        "Of the change of A(w) w*, only that of the mean e against e*ᵀ w* is of first order.",
        "Appendix B.3, Eqs. 84 to 87",
    ),
    holds(
        "cor2/ratio",
        "With 1-D Gaussian α, r(w*, α) is z0 times what it is with uniform α.",
        "Corollary 2, Eq. 99",
    ),
    bound(
        "cor2/at-most-one",
        "The ratio z0 of r(w*, α) with 1-D Gaussian α to that with uniform α is at most 1.",
        "Corollary 2, Eq. 100",
    ),
    replace(
        bound(
            "cor2/exponentially-small",
            "The ratio z0 of r(w*, α) with 1-D Gaussian α to that with uniform α can be exponentially "
            "small: of normal data whose mean lies m standard deviations from the plane, on the weight's "
            "side, z0 <= exp(-m²/(2(1 + τ))).",
            "Section 3.2, after Corollary 2",
        ),
        reading="ours: normal data",
    ),
    holds(
        "appB5/invariance",
        "Under augmentation by a group of rotations, a unit's mean output is the same for a rotated weight.",
        "Appendix B.5, Eq. 108",
    ),
    # Section 4: two layers.
    holds("lemma4/top", "In a two-layer network the top layer moves by V̇ = V C_α[f1].", "Lemma 4, Eq. 12"),
    holds(
        "lemma4/filters",
        "In a two-layer network the unit filters move by ẇ = P⊥ [(S ⊗ 1 1ᵀ) ∘ C_α[x̃]] w.",
        "Lemma 4, Eq. 12",
    ),
    *falsehood(
        "sec4-stationary",
        "A top layer of fixed norm is stationary only if it is v sᵀ, s the top eigenvector of C_α[f1].",
        "A top layer of fixed norm tends to v sᵀ; any other eigenvector in place of s is stationary as well.",
        "Section 4, after Lemma 4",
    ),
    holds("lemma5/variance", "Eq. 120 decomposes V[x̃] under conditional independence.", "Lemma 5"),
    holds(
        "lemma5/two-classes",
        "With two classes the second term of Eq. 120's decomposition of V[x̃] is p0 p1 Δ Δᵀ.",
        "Lemma 5",
    ),
    holds(
        "thm4/dynamics",
        "In a linear network the energy's gradient on w_km is s_km b_k.",
        "Theorem 4, Eqs. 14 and 162",
    ),
    holds(
        "thm4/colinear",
        "In a linear network the energy's gradients on the filters of a field are co-linear.",
        "Theorem 4 (1)",
    ),
    *misprint(
        "thm4-projection",
        "In a linear network unit filters, the setting of Lemma 4, move by ẇ_km = s_km b_k.",
        "In a linear network unit filters move by ẇ_km = s_km P⊥ b_k, with a projection of each "
        "filter's own.",
        "Theorem 4, Eqs. 14 and 158",
    ),
    holds(
        "thm4/critical",
        "The points from which filters of a field are exchanged or moved to their mean, in the checks"
        " of Theorem 4, are critical.",
        "Theorem 4 (2)",
    ),
    *falsehood(
        "thm4-path",
        "In the proof of Theorem 4 (2): two filters of a field may be exchanged, and averaged with those "
        "exchanged, at a critical point.",
        "All filters of a field may move straight to their mean weighted by s_km at a critical point.",
        "Theorem 4 (2), Appendix C.4, Eq. 163",
    ),
    holds(
        "thm5/hidden-variance",
        "With two classes and a filter a field, the hidden layer's variance is V[f1] = D + p0 p1 b bᵀ.",
        "Eq. 138",
    ),
    holds(
        "thm5/top-eigenvector",
        "The top eigenvector of the hidden layer's variance V[f1] = D + p0 p1 b bᵀ has the components"
        " b_k/(d_k - λ)/Z.",
        "Eq. 139",
    ),
    holds(
        "thm5/secular",
        "The top eigenvalue λ of the hidden layer's variance V[f1] = D + p0 p1 b bᵀ solves 1 + p0 p1 "
        "Σ b_k²/(d_k - λ) = 0.",
        "After Eq. 139",
    ),
    holds(
        "thm5/dynamics",
        "With two classes and a filter a field, w_k moves by P⊥ (s_k² A_k + δ_k Δ_k Δ_kᵀ) w_k with δ_k of "
        "Eq. 143.",
        "Theorem 5, Eqs. 15, 142 and 143",
    ),
    bound(
        "thm5/nonnegative",
        "The weight δ_k of the between-class direction in a filter's motion (Eq. 143) is never negative.",
        "Theorem 5",
    ),
    *misprint(
        "thm5-delta",
        "The weight of the between-class direction in a filter's motion is δ_k = 1 - p0 p1 b_k²/(λ - d_k).",
        "The weight of the between-class direction in a filter's motion is δ_k = (1 - p0 p1 b_k²/(λ -"
        " d_k)) / (Z² (λ - d_k)).",
        "After Eq. 143",
    ),
    # Appendix D: batch normalisation.
    holds(
        "lemma6/top",
        "With mean-backprop BatchNorm the top layer of a two-layer network moves by V̇ = V C_α[f1^bn].",
        "Lemma 6, Eq. 166",
    ),
    holds(
        "lemma6/filters",
        "With mean-backprop BatchNorm the filters of a two-layer network move by ẇ = [(S ⊗ 1 1ᵀ) ∘ "
        "C_α[x̃^bn]] w.",
        "Lemma 6, Eq. 166",
    ),
    holds(
        "cor3/gated-variance",
        "With BatchNorm the variance of a field's gated input is V[x̃_k^bn] = A_k/σ_k².",
        "Eq. 175",
    ),
    bound(
        "cor3/bound",
        "With BatchNorm the top eigenvalue λ^bn of the hidden layer's variance is at least the "
        "largest d_k^bn.",
        "Corollary 3 (1)",
    ),
    holds(
        "cor3/top-eigenvector",
        "With BatchNorm the top eigenvector s^bn of the hidden layer's variance has the components "
        "b_k^bn/(λ^bn - d_k^bn)/Z^bn.",
        "Corollary 3 (2)",
    ),
    holds(
        "cor3/dynamics",
        "With BatchNorm a filter w_k moves by ((s_k^bn)² A_k^bn + δ_k^bn Δ_k^bn Δ_k^bnᵀ) w_k with "
        "δ_k^bn of Eq. 179.",
        "Corollary 3 (3), Eq. 178",
    ),
    bound(
        "cor3/nonnegative",
        "With BatchNorm the weight δ_k^bn of the between-class direction in a filter's motion is "
        "never negative.",
        "Corollary 3 (3), Eq. 179",
    ),
    ordering(
        "tian2023/appD/slow-updates",
        "Without BatchNorm weights of the field with the smallest d_k move more slowly than those of the "
        "field with the largest.",
        quantifier="existential",
        word="can be much slower",
        source="Appendix D",
        measure=unequal("speed", "none"),
        below=0.0,
        unit="log10 of a ratio",
        reading=FIELDS,
    ),
    _more_equal(
        "batch-norm-alleviates",
        "BatchNorm brings the speeds of the weights of fields with small and large d_k closer together.",
        "Appendix D",
        column="speed",
        word="alleviates this issue",
    ),
    _more_equal(
        "more-uniform",
        "With BatchNorm a field's within-class variance d_k is more uniform over the fields.",
        "Appendix D, Remarks after Corollary 3",
        column="d",
        word="becomes more uniform",
    ),
    _more_equal(
        "gap-more-constant",
        "With BatchNorm λ - d_k is more constant over the fields.",
        "Appendix D, Remarks after Corollary 3",
        column="gap",
        word="becomes almost constant",
    ),
    holds(
        "cor3/remark",
        "With BatchNorm d_k^bn = 1/(1 + p0 p1 (w_kᵀ Δ_k/√d_k)²).",
        "Appendix D, Remarks after Corollary 3",
    ),
]
