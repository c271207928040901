"""Every formula, proposition and line of pseudocode that can be tried at random points."""

from functools import partial

from reprise.evidence import identities
from reprise.evidence.claims import IDENTITY_TOLERANCE, Claim, ordering
from reprise.evidence.identities import error_of

holds = partial(identities.holds, "skean2024")
misprint = partial(identities.misprint, "skean2024")


def turned(name: str, says: str, *, stays: bool) -> Claim:
    """Whether a loss of Table 1 stays as it is when one rotation turns both views' embeddings."""
    id, where = f"table1/rotation-{name}", "Section 3, Table 1"
    if stays:
        return holds(id, f"A rotation of the embeddings leaves {says} as it is.", where)
    return ordering(
        f"skean2024/{id}",
        f"A rotation of the embeddings changes {says}.",
        source=where,
        measure=error_of(id),
        above=IDENTITY_TOLERANCE,
        unit="relative change of the loss",
    )


FORMULAS: list[Claim] = [
    # Sections 2 and 3.
    holds(
        "eq1/singular-values", "|A|²_F is the sum of squared entries and of squared singular values.", "Eq. 1"
    ),
    holds("eq2/duality", "|AᵀA|_F = |AAᵀ|_F.", "Eq. 2"),
    *misprint(
        "sec3-square",
        "|Z1ᵀZ1|²_F can be computed as |Z1Z1ᵀ|_F.",
        "|Z1ᵀZ1|²_F can be computed as |Z1Z1ᵀ|²_F.",
        "Section 3, after Eq. 6",
    ),
    holds("eq3/loss", "Eq. 3 is Barlow Twins' loss of the correlations between the views.", "Eq. 3"),
    holds("eq6/loss", "FroSSL of embeddings as they are is Eq. 6, with either matrix.", "Eqs. 4, 5 and 6"),
    holds("eq6/gradient", "Its gradient on Z1 is 2 (Z1 - Z2) / N + 4 Z1 Z1ᵀ Z1 / |Z1ᵀZ1|²_F.", "Eq. 6"),
    holds("sec1/invariance-of-vicreg", "Eq. 5 is VICReg's invariance term.", "Section 1, Table 1"),
    turned("frossl-eq6", "Eq. 6 of embeddings as they are", stays=True),
    turned("frossl", "FroSSL with dimensions of one variance, as it is used,", stays=False),
    turned("barlow-twins", "Barlow Twins", stays=False),
    turned("barlow-twins-unnormalised", "Barlow Twins without feature normalisation (λ = .005)", stays=False),
    turned(
        "barlow-twins-unnormalised-equal-weights",
        "Barlow Twins without feature normalisation at λ = 1, the variant of Figure 2,",
        stays=True,
    ),
    turned("vicreg", "VICReg", stays=False),
    turned("w-mse", "W-MSE, which whitens by a Cholesky factor,", stays=False),
    turned("w-mse-zca", "W-MSE with the covariance's symmetric root in its place", stays=True),
    turned("corinfomax", "CorInfoMax", stays=True),
    holds("table1/w-mse-whitened", "W-MSE's whitened embeddings have the identity as covariance.", "Table 1"),
    *misprint(
        "sec3-rotation",
        "FroSSL, with dimensions of one variance, is invariant to rotations of the embeddings.",
        "Eq. 6 of embeddings as they are is; the normalisation singles out the axes.",
        "Section 3, Section 3.2",
    ),
    holds(
        "sec3/collapse-without-normalisation",
        "Scaling both views by a adds 8 log a and scales the invariance by a²: without a normalisation Eq. 6 "
        "falls for ever towards collapse.",
        "Section 3",
    ),
    # Section 3.1: the logarithm.
    holds(
        "sec31/collision-entropy",
        "Of dimensions at unit length, Eq. 4 is minus the collision entropies of Z1 and Z2, plus 4 log D.",
        "Section 3.1",
    ),
    holds(
        "sec31/collision-entropy-any-scale",
        "Of any embeddings it is minus them plus 2 log |Z1|²_F |Z2|²_F.",
        "Section 3.1",
    ),
    holds(
        "sec31/coincidence",
        "Of embeddings at unit length the collision entropy is minus the log of their mean squared cosine.",
        "Section 3.1",
    ),
    holds(
        "sec31/collapse-without-entropy",
        "It is 0 where they lie on one line, and never above log min(N, D).",
        "Section 3.1",
    ),
    holds("sec31/self-regulated", "d log f = df / f for f = |ZᵀZ|²_F.", "Section 3.1"),
    holds("sec31/pull-at-any-scale", "So Z · d log f / dZ = 4 at any scale of Z.", "Section 3.1"),
    holds(
        "sec31/equal-weights-depend-on-batch",
        "Of dimensions at unit length the invariance is 2 (D / N) (1 - mean correlation of the views): what "
        "equal weights mean depends on D / N.",
        "our remark on Section 3.1",
    ),
    # Section 3.2, Appendices E.1 and E.2.
    holds(
        "def31/off-diagonal", "L_nc is the sum of the squared inner products of dimensions.", "Definition 3.1"
    ),
    holds("def32/pairs", "L_c is that of embeddings.", "Definition 3.2"),
    holds(
        "sec32/duality",
        "L_nc and the fourth powers of dimensions' norms add up to what L_c and those of embeddings do.",
        "Section 3.2",
    ),
    holds("sec32/shared-eigenvalues", "ZZᵀ and ZᵀZ share their nonzero eigenvalues.", "Section 3.2"),
    holds(
        "prop31/criterion",
        "Of dimensions at unit length FroSSL is log(L_nc(Z1) + D) + log(L_nc(Z2) + D) + MSE.",
        "Proposition 3.1",
    ),
    holds(
        "prop31/gradient", "So its variance term's gradient is that of L_nc over L_nc + D.", "Proposition 3.1"
    ),
    holds(
        "prop31/minimum",
        "Embeddings that minimise FroSSL minimise L_nc of both views: it is 0, or D² / (N - 1) - D if "
        "that is more.",
        "Proposition 3.1, Appendix E.1",
    ),
    holds("prop31/views-agree", "There both views are the same.", "Proposition 3.1, Appendix E.1"),
    *misprint(
        "appE1-argmin",
        "argmin[log f + log g + h] = argmin[f + g + h], of embeddings that one linear net makes of two views "
        "(the gradient of the second at the minimum of the first vanishes).",
        "It is a stationary point of f / f* + g / g* + h, f* and g* being f and g there. Of embeddings that "
        "are free both have one minimum, since all three terms have.",
        "Appendix E.1",
    ),
    *misprint(
        "appE1-constant",
        "Of dimensions of unit variance |Z1ᵀZ1|² + |Z2ᵀZ2|² is L_nc(Z1) + L_nc(Z2) + 2 D.",
        "It is so at unit length; with unit variance the constant is 2 D N².",
        "Appendix E.1",
    ),
    holds(
        "prop32/criterion",
        "Of embeddings at unit length FroSSL is log(L_c(Z1) + N) + log(L_c(Z2) + N) + MSE.",
        "Proposition 3.2, Appendix E.2",
    ),
    holds(
        "prop32/minimum",
        "Such embeddings that minimise FroSSL minimise L_c of both views: it is 0, or N² / D - N if that is "
        "more.",
        "Proposition 3.2, Appendix E.2",
    ),
    *misprint(
        "prop33-doubly-stochastic",
        "Among doubly stochastic matrices that with the least |ZᵀZ|²_F has the least L_nc and the least L_c.",
        "Among matrices of equal row norms and equal column norms it has.",
        "Proposition 3.3",
    ),
    holds(
        "prop33/doubly-stochastic-collapse",
        "No doubly stochastic matrix has a smaller |ZᵀZ|²_F than that whose embeddings are all one.",
        "our remark on Proposition 3.3",
    ),
    holds(
        "prop33/equal-norms",
        "With rows of norm 1 and equal column norms |ZᵀZ|²_F = L_nc + N² / D = L_c + N: FroSSL is both.",
        "Proposition 3.3",
    ),
    # Section 4.3.
    holds("eq7/loss", "Eq. 7, by dimension, is CorInfoMax's loss of centred embeddings over √N.", "Eq. 7"),
    holds("sec43/von-neumann", "At α → 1 the matrix-based entropy is von Neumann's.", "Section 4.3"),
    holds(
        "sec43/determinant-by-cholesky", "log det needs no eigendecomposition.", "our remark on Section 4.3"
    ),
    holds(
        "sec43/determinant-of-samples",
        "If N < D it is log det(ZZᵀ + ε I) + (D - N) log ε, in O(N² D).",
        "our remark on Section 4.3",
    ),
    # Section 5.2.
    holds("eq9/eigenvalues", "Eq. 4 is the logarithms of sums of squared eigenvalues.", "Eq. 9"),
    holds("eq9/orientation", "It does not depend on the eigenvectors.", "Section 3, Eq. 9"),
    holds(
        "sec52/eigenvalues-equal",
        "Of dimensions of variance ρ, D < N, it is smallest where all eigenvalues are ρ.",
        "Section 5.2",
    ),
    *misprint(
        "sec52-eigenvalues",
        "It is so if D ≥ N too (in the paper D = 1024 and N = 256).",
        "Then N - 1 eigenvalues are ρ D / (N - 1), and the others 0.",
        "Section 5.2",
    ),
    holds(
        "sec52/entropy-largest", "Equal eigenvalues have the largest Shannon entropy, log 14.", "Section 5.2"
    ),
    holds(
        "sec52/metrics-best-when-equal",
        "No spectrum has a larger entropy or a condition number under 1.",
        "Section 5.2",
    ),
    # Appendix A and the readings of the loss.
    *misprint(
        "appA-norm",
        "`Z / Z.norm()` gives all dimensions one variance.",
        "`Z / Z.norm(dim=0)` does.",
        "Appendix A",
    ),
    *misprint(
        "appA-std",
        "Of √D Z / |Z|, by dimension, each dimension has standard deviation √D.",
        "Each has norm √D and standard deviation √(D / N).",
        "Appendix A",
    ),
    *misprint(
        "appA-log",
        "The gradient of `log(norm(Z.T @ Z))` is that of Eq. 4.",
        "That of `log(norm(Z.T @ Z)**2)` is.",
        "Appendix A",
    ),
    *misprint(
        "appA-pseudocode",
        "The gradient of the pseudocode is that of Eq. 6 of dimensions at unit length (D taken for d).",
        "With a norm a dimension and the square in the logarithm it is: this is the authors' code.",
        "Appendix A",
    ),
    holds(
        "readings/unit-variance",
        "With dimensions of unit variance, Eq. 6 weighs invariance N times as much as at unit length.",
        "our reading of Section 3.2",
    ),
    holds(
        "readings/pseudocode-by-dimension",
        "The pseudocode with a norm a dimension weighs it twice as much.",
        "our reading of Appendix A",
    ),
]
