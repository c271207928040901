"""Every formula, proposition and line of pseudocode that can be tested at random points."""

from functools import partial

from reprise.evidence import identities
from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import always
from reprise.evidence.comparison import IDENTITY_TOLERANCE, inequality
from reprise.evidence.identities import error_of

holds = partial(identities.holds, "skean2024")
bound = partial(identities.bound, "skean2024")
remark = partial(identities.remark, "skean2024")
misprint = partial(identities.misprint, "skean2024")
falsehood = partial(identities.falsehood, "skean2024")


def rotation_claim(name: str, says: str, *, stays: bool, word: str = "changes") -> Claim:
    """A claim that rotating both views' embeddings leaves a loss of Table 1 unchanged, or that it does
    not.

    Args:
        word: `Claim.word`, of one that is changed.
    """
    id, where = f"table1/rotation-{name}", "Section 3, Table 1"
    if stays:
        return holds(id, f"A rotation of the embeddings leaves {says} unchanged.", where)
    return always(
        f"skean2024/{id}",
        f"A rotation of the embeddings changes {says}.",
        source=where,
        measure=error_of(id),
        at_least=IDENTITY_TOLERANCE,
        unit="relative change of the loss",
        word=word,
    )


FORMULAS: list[Claim] = [
    # Sections 2 and 3.
    holds(
        "eq1/singular-values",
        "The squared Frobenius norm |A|²_F is the sum of the squared entries, and of the squared "
        "singular values.",
        "Eq. 1",
    ),
    holds("eq2/duality", "|AᵀA|_F = |AAᵀ|_F.", "Eq. 2"),
    *misprint(
        "sec3-square",
        "|Z1ᵀZ1|²_F can be computed as |Z1Z1ᵀ|_F.",
        "|Z1ᵀZ1|²_F can be computed as |Z1Z1ᵀ|²_F.",
        "Section 3, after Eq. 6",
    ),
    holds("eq3/loss", "Eq. 3 is Barlow Twins' loss on the correlations between the views.", "Eq. 3"),
    holds("eq6/loss", "FroSSL on unnormalised embeddings is Eq. 6, with either matrix.", "Eqs. 4, 5 and 6"),
    holds(
        "eq6/gradient",
        "The gradient of FroSSL on unnormalised embeddings (Eq. 6) for Z1 is 2 (Z1 - Z2) / N + 4 Z1 "
        "Z1ᵀ Z1 / |Z1ᵀZ1|²_F.",
        "Eq. 6",
    ),
    holds(
        "sec1/invariance-of-vicreg",
        "FroSSL's invariance term (Eq. 5) is VICReg's invariance term.",
        "Section 1, Table 1",
    ),
    rotation_claim("frossl-eq6", "Eq. 6 on unnormalised embeddings", stays=True),
    rotation_claim(
        "barlow-twins-unnormalised",
        "Barlow Twins without feature normalisation (λ = .005)",
        stays=False,
        word="is not rotationally invariant",
    ),
    *(
        ours(rotation_claim(name, says, stays=stays))
        for name, says, stays in (
            ("frossl", "FroSSL with dimensions of equal variance, as used in practice", False),
            ("barlow-twins", "Barlow Twins", False),
            (
                "barlow-twins-unnormalised-equal-weights",
                "Barlow Twins without feature normalisation at λ = 1, the variant of Figure 2,",
                True,
            ),
            ("vicreg", "VICReg", False),
            ("w-mse", "W-MSE, which whitens by a Cholesky factor", False),
            ("w-mse-zca", "W-MSE with the covariance's symmetric root instead", True),
            ("corinfomax", "CorInfoMax", True),
        )
    ),
    holds(
        "table1/w-mse-whitened",
        "W-MSE's whitened embeddings have the identity as their covariance.",
        "Table 1",
    ),
    holds(
        "sec3/collapse-without-normalisation",
        "Scaling both views by a adds 8 log a and scales the invariance by a²: without normalisation, Eq. 6 "
        "decreases without bound towards collapse.",
        "Section 3",
    ),
    # Section 3.1: the logarithm.
    holds(
        "sec31/collision-entropy",
        "For unit-length dimensions, FroSSL's variance term (Eq. 4) is minus the collision entropies "
        "of Z1 and Z2, plus 4 log D.",
        "Section 3.1",
    ),
    remark(
        "sec31/collision-entropy-any-scale",
        "For any embeddings, FroSSL's variance term (Eq. 4) is minus the collision entropies of Z1 "
        "and Z2, plus 2 log |Z1|²_F |Z2|²_F.",
        "Section 3.1",
    ),
    holds(
        "sec31/coincidence",
        "For unit-length embeddings, the collision entropy is minus the log of their mean squared cosine.",
        "Section 3.1",
    ),
    bound(
        "sec31/collapse-without-entropy",
        "The collision entropy is 0 if all embeddings lie on one line, and never above log min(N, D).",
        "Section 3.1",
    ),
    holds(
        "sec31/self-regulated",
        "The logarithm divides a gradient by its loss: d log f = df / f for f = |ZᵀZ|²_F.",
        "Section 3.1",
    ),
    remark(
        "sec31/pull-at-any-scale",
        "FroSSL's variance term pulls at any scale alike: Z · d log f / dZ = 4 for f = |ZᵀZ|²_F, at "
        "any scale of Z.",
        "Section 3.1",
    ),
    remark(
        "sec31/equal-weights-depend-on-batch",
        "For unit-length dimensions, the invariance is 2 (D / N) (1 - mean correlation of the views), so the "
        "meaning of equal weights depends on D / N.",
        "our remark on Section 3.1",
    ),
    # Section 3.2, Appendices E.1 and E.2.
    holds(
        "def31/off-diagonal",
        "The dimension-contrastive criterion L_nc is the sum of squared inner products of distinct "
        "dimensions.",
        "Definition 3.1",
    ),
    holds(
        "def32/pairs",
        "The sample-contrastive criterion L_c is the sum of squared inner products of distinct embeddings.",
        "Definition 3.2",
    ),
    holds(
        "sec32/duality",
        "L_nc plus the fourth powers of the dimensions' norms equals L_c plus those of the "
        "embeddings' norms.",
        "Section 3.2",
    ),
    holds("sec32/shared-eigenvalues", "ZZᵀ and ZᵀZ share their nonzero eigenvalues.", "Section 3.2"),
    holds(
        "prop31/criterion",
        "For unit-length dimensions, FroSSL is log(L_nc(Z1) + D) + log(L_nc(Z2) + D) + MSE.",
        "Proposition 3.1",
    ),
    holds(
        "prop31/gradient",
        "For unit-length dimensions, the gradient of FroSSL's variance term is that of L_nc divided "
        "by L_nc + D.",
        "Proposition 3.1",
    ),
    holds(
        "prop31/minimum",
        "Embeddings that minimise FroSSL minimise L_nc of both views, at 0 or, if larger, D² / (N - 1) - D.",
        "Proposition 3.1, Appendix E.1",
    ),
    remark(
        "prop31/views-agree",
        "At the minimum of FroSSL, the embeddings of both views coincide.",
        "Proposition 3.1, Appendix E.1",
    ),
    *misprint(
        "appE1-constant",
        "For dimensions of unit variance, |Z1ᵀZ1|² + |Z2ᵀZ2|² is L_nc(Z1) + L_nc(Z2) + 2 D.",
        "For dimensions of unit variance, |Z1ᵀZ1|² + |Z2ᵀZ2|² is L_nc(Z1) + L_nc(Z2) + 2 D N²; the "
        "constant 2 D holds at unit length.",
        "Appendix E.1",
    ),
    holds(
        "prop32/criterion",
        "For unit-length embeddings, FroSSL is log(L_c(Z1) + N) + log(L_c(Z2) + N) + MSE.",
        "Proposition 3.2, Appendix E.2",
    ),
    holds(
        "prop32/minimum",
        "Unit-length embeddings that minimise FroSSL minimise L_c of both views, at 0 or, if larger, "
        "N² / D - N.",
        "Proposition 3.2, Appendix E.2",
    ),
    *misprint(
        "prop33-doubly-stochastic",
        "Among doubly stochastic matrices, the one with the least |ZᵀZ|²_F has the least L_nc and L_c.",
        "Among matrices with equal row norms and equal column norms, the one with the least |ZᵀZ|²_F "
        "has the least L_nc and L_c.",
        "Proposition 3.3",
        make=inequality,
    ),
    ours(
        bound(
            "prop33/doubly-stochastic-collapse",
            "No doubly stochastic matrix has a smaller |ZᵀZ|²_F than the one whose embeddings all coincide.",
            "our remark on Proposition 3.3",
        )
    ),
    holds(
        "prop33/equal-norms",
        "With rows of norm 1 and equal column norms, |ZᵀZ|²_F = L_nc + N² / D = L_c + N: FroSSL is both.",
        "Proposition 3.3",
    ),
    # Section 4.3.
    holds(
        "eq7/loss", "Eq. 7, per dimension, is CorInfoMax's loss on centred embeddings divided by √N.", "Eq. 7"
    ),
    holds("sec43/von-neumann", "As α → 1, the matrix-based entropy becomes von Neumann's.", "Section 4.3"),
    remark(
        "sec43/determinant-by-cholesky",
        "The logarithm of a determinant, log det(ZᵀZ + ε I), needs no eigendecomposition: a Cholesky "
        "factor gives it.",
        "our remark on Section 4.3",
    ),
    remark(
        "sec43/determinant-of-samples",
        "If N < D, log det(ZᵀZ + ε I) is log det(ZZᵀ + ε I) + (D - N) log ε, in O(N² D).",
        "our remark on Section 4.3",
    ),
    # Section 5.2.
    holds(
        "eq9/eigenvalues",
        "FroSSL's variance term (Eq. 4) is the sum of the logarithms of the sums of squared eigenvalues.",
        "Eq. 9",
    ),
    holds(
        "eq9/orientation",
        "FroSSL's variance term (Eq. 4) does not depend on the eigenvectors.",
        "Section 3, Eq. 9",
    ),
    holds(
        "sec52/eigenvalues-equal",
        "For dimensions of variance ρ and D < N, FroSSL's variance term (Eq. 4) is smallest when all "
        "eigenvalues of the covariance are ρ.",
        "Section 5.2",
    ),
    remark(
        "sec52/eigenvalues-many-dimensions",
        "For dimensions of variance ρ and D ≥ N, FroSSL's variance term (Eq. 4) is smallest when N - "
        "1 eigenvalues of the covariance are ρ D / (N - 1), and the others are 0.",
        "Section 5.2",
    ),
    holds(
        "sec52/entropy-largest",
        "Of 14 eigenvalues, equal ones have the largest Shannon entropy, log 14.",
        "Section 5.2",
    ),
    bound(
        "sec52/metrics-best-when-equal",
        "No spectrum has a larger entropy, or a condition number below 1.",
        "Section 5.2",
    ),
    # Appendix A and the readings of the loss.
    *misprint(
        "appA-norm",
        "The pseudocode's `Z / Z.norm()` gives all dimensions the same variance.",
        "`Z / Z.norm(dim=0)` gives all dimensions the same variance.",
        "Appendix A",
    ),
    *misprint(
        "appA-std",
        "In √D Z / |Z|, normalised per dimension, each dimension has standard deviation √D.",
        "In √D Z / |Z|, normalised per dimension, each dimension has norm √D and standard deviation "
        "√(D / N).",
        "Appendix A",
    ),
    *misprint(
        "appA-log",
        "The gradient of the pseudocode's `log(norm(Z.T @ Z))` is that of FroSSL's variance term (Eq. 4).",
        "The gradient of `log(norm(Z.T @ Z)**2)` is that of FroSSL's variance term (Eq. 4).",
        "Appendix A",
    ),
    *misprint(
        "appA-pseudocode",
        "The gradient of the pseudocode is that of FroSSL (Eq. 6) for unit-length dimensions (reading"
        " D as d).",
        "The gradient of the pseudocode, with a norm per dimension and the square in the logarithm, "
        "as in the authors' code, is that of FroSSL (Eq. 6) for unit-length dimensions.",
        "Appendix A",
    ),
    remark(
        "readings/unit-variance",
        "With dimensions of unit variance, FroSSL (Eq. 6) gives invariance N times the weight it has "
        "at unit length.",
        "our reading of Section 3.2",
    ),
    remark(
        "readings/pseudocode-by-dimension",
        "The pseudocode with a norm per dimension gives invariance twice the weight that FroSSL (Eq. "
        "6) gives it at unit length.",
        "our reading of Appendix A",
    ),
]
