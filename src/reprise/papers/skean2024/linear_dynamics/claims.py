"""Appendices D, E.3 and E.4: formulas at random points, and solutions beside gradient descent."""

from functools import partial

import numpy as np
import pandas as pd

from reprise.evidence import identities
from reprise.evidence.claims import Measure, for_all, inequality, limit, ordering, ours
from reprise.evidence.measures import applied, first, largest, rows
from reprise.study.experiment import Tables

holds = partial(identities.holds, "skean2024")
remark = partial(identities.remark, "skean2024")
misprint = partial(identities.misprint, "skean2024")
falsehood = partial(identities.falsehood, "skean2024")

LINE_2 = "= -2 (W Γ + 2 W' X'ᵀX + 2 W Γ Wᵀ W Γ)"
"""W' and X' are the other view's."""
EXACT = {"reaches": 0.0, "unit": "largest relative error over modes and times"}


def worst(differences: pd.Series, *by: pd.Series) -> pd.Series:
    """The largest of a seed, over modes and times."""
    return differences.abs().groupby(list(by)).agg(largest)


def closed_form_error(loss: str, against: str = "closed_form") -> Measure:
    """The largest relative error of the closed form's singular values against descent, or of descent's in
    coarser steps."""

    def measure(tables: Tables) -> pd.Series:
        paths = rows(tables["closed_form"], loss=loss)
        return worst(paths[against] / paths["descent"] - 1, paths["seed"])

    return measure


def descent_error(loss: str) -> Measure:
    """How precise descent is, as an approximation of gradient flow: its error is of first order, and so as
    large as what twice the step changes; twice that leaves room for higher orders."""
    return applied(lambda change: 2 * change, closed_form_error(loss, "coarse"))


def equation_18_error(tables: Tables) -> pd.Series:
    """The same of Eq. 18 as printed."""
    paths = rows(tables["closed_form"], loss="frossl").merge(tables["equation_18"], on=["time", "mode"])
    return worst(paths["singular_value"] / paths["descent"] - 1, paths["seed"])


def largest_turn(tables: Tables) -> pd.Series:
    """Of W1 from its singular vectors: its largest entry beside the diagonal, by the largest on it."""
    by_time = rows(tables["closed_form"], loss="frossl").groupby(["seed", "time"])
    return (by_time["off_diagonal"].max() / by_time["descent"].max()).groupby("seed").max()


def rounding(tables: Tables) -> pd.Series:
    """Of double precision, over 100,000 steps at most."""
    return 0.0 * largest_turn(tables) + 1e5 * np.finfo(float).eps


def distances(tables: Tables) -> pd.Series:
    """The largest difference of the eigenvalues, over all and over time, from those of aligned layers, by
    standard deviation and seed: of gradient flow, by extrapolation from two sizes of steps."""
    paths = tables["small_starts"]
    flow = 2 * paths["eigenvalue"] - paths["coarse"]
    return worst(flow - paths["aligned"], paths["std"], paths["seed"])


def distance_to_aligned(place: int) -> Measure:
    """Of one standard deviation, by its place from the smallest on."""

    def measure(tables: Tables) -> pd.Series:
        by_std = distances(tables)
        return by_std.xs(by_std.index.levels[0][place])  # type: ignore[attr-defined]

    return measure


def flow_error(tables: Tables) -> pd.Series:
    """How precise that is, of the smallest standard deviation: not worse than without extrapolation."""
    paths = rows(tables["small_starts"], std=first)
    return worst(paths["eigenvalue"] - paths["coarse"], paths["seed"])


CLAIMS = [
    # Appendices D.1 and E.3: the gradient.
    holds("eq11/loss", "Eq. 10 in the layers is Eq. 11.", "Appendix D.1, Eq. 11"),
    holds("eq21/traces", "Its last term is the sum of traces of Eq. 21.", "Appendix E.3, Eqs. 19 to 21"),
    holds("eq22/invariance", "The last term's gradient on W1 is 2 W1 Γ1 - 2 W2 X2ᵀX1.", "Eq. 22"),
    holds("eq23/invariance", "The last term's gradient on W2 is 2 W2 Γ2 - 2 W1 X1ᵀX2.", "Eq. 23"),
    holds("eq25/other-layer", "A view's variance term has no gradient on the other layer.", "Eqs. 25 and 26"),
    *misprint(
        "eq24",
        "The first term's gradient on W1 is -4 (W1 Γ1 W1ᵀ - I) W1 Γ1.",
        "The first term's gradient on W1 is 4 (W1 Γ1 W1ᵀ - I) W1 Γ1.",
        "Eq. 24",
    ),
    *misprint(
        "eq27",
        "The second term's gradient on W2 is -4 (W2 Γ1 W2ᵀ - I) W2 Γ2.",
        "The second term's gradient on W2 is 4 (W2 Γ2 W2ᵀ - I) W2 Γ2.",
        "Eq. 27",
    ),
    *(
        claim
        for name, view in (("eq28", 1), ("eq29", 2))
        for claim in misprint(
            name,
            f"The first line of the gradient on W{view} {LINE_2}, its second.",
            "The first line = 6 W Γ - 2 W' X'ᵀX - 4 W Γ Wᵀ W Γ.",
            f"Eq. {name[2:]}",
        )
    ),
    *(
        claim
        for name, view in (("eq12", 1), ("eq13", 2))
        for claim in falsehood(
            name,
            f"The gradient on W{view} {LINE_2}.",
            f"The gradient on W{view} = -2 W Γ - 2 W' X'ᵀX + 4 W Γ Wᵀ W Γ.",
            f"Eq. {name[2:]}",
        )
    ),
    *misprint(
        "eq12-descent",
        "Descent moves the layers by dW/dt = ∇L: a short step of it does not raise the loss.",
        "Descent moves the layers by dW/dt = -∇L.",
        "Eqs. 12 and 13",
        make=inequality,
    ),
    # Appendices D.2 and E.4: aligned layers.
    *misprint(
        "eq30-sign",
        "Eq. 12 as printed, of aligned layers, has the first term +2 U S1 D1 V̂.",
        "It has -2 U S1 D1 V̂.",
        "Eq. 30",
    ),
    *falsehood(
        "eq30",
        "Aligned layers move by U (2 S1 D1 - 4 S1 sqrt(D1 D2) - 4 S1³ D1²) V̂.",
        "Aligned layers move by U (2 S1 D1 + 2 S2 C - 4 S1³ D1²) V̂, C = diag(ρ sqrt(λ γ)), ρ the correlation "
        "of the views' left singular vectors.",
        "Eq. 30",
    ),
    holds("eq31/from-eq30", "Eq. 31 is Eq. 30.", "Eq. 31"),
    holds("eq32/from-eq31", "Eq. 32 is what Eq. 31 has on its diagonal.", "Eq. 32"),
    *falsehood(
        "eq32",
        "Singular values of aligned layers move by s1' = 2 s1 (λ - 2 sqrt(λγ) - 2 s1² λ²).",
        "They move by s1' = 2 λ s1 + 2 c s2 - 4 λ² s1³, c = ρ sqrt(λγ).",
        "Eq. 32",
    ),
    remark("eq32/collapses", "Eq. 32 takes every singular value to 0 where γ > λ / 4.", "Eqs. 18 and 32"),
    holds("eq33/general", "Eq. 33 solves Eq. 32, with the constant that s1(0) gives.", "Eq. 33"),
    holds("eq18/solves-eq32", "Eq. 18 solves Eq. 32.", "Proposition D.1, Eq. 18"),
    *falsehood(
        "eq18",
        "From aligned layers the singular values evolve by Eq. 18 (tried at λ = γ, s1 = s2).",
        "s² = (λ + c) / (2 λ² + ((λ + c) / s(0)² - 2 λ²) exp(-4 (λ + c) t)).",
        "Proposition D.1, Eq. 18",
    ),
    *falsehood(
        "eq18-limit",
        "In the end s is that of Eq. 18: 0.",
        "In the end λ s² = (1 + ρ) / 2.",
        "Section 5.1 (the optimal representation); Proposition D.1",
    ),
    *falsehood(
        "propD1-left-vectors",
        "Aligned layers with any U1 and U2 keep their singular vectors.",
        "They do with U1 = U2 (else each turns towards the other).",
        "Proposition D.1",
    ),
    *falsehood(
        "propD1-eigenvectors",
        "Aligned layers keep their singular vectors where the views' covariances share eigenvectors.",
        "They do where X1ᵀX2 is diagonal in these as well.",
        "Appendix D.2, Proposition D.1",
    ),
    ours(
        limit(
            "skean2024/propD1/vectors-kept",
            "In gradient descent from aligned layers (U1 = U2) the singular vectors stay.",
            source="Proposition D.1, corrected",
            measure=largest_turn,
            reaches=0.0,
            resolution=rounding,
            unit="largest off-diagonal entry of UᵀW1V, by the largest singular value",
        ),
    ),
    ours(
        limit(
            "skean2024/appD/closed-form-error",
            "The corrected closed form gives the singular values in gradient descent from aligned layers.",
            source="Proposition D.1, corrected",
            measure=closed_form_error("frossl"),
            resolution=descent_error("frossl"),
            **EXACT,  # type: ignore[arg-type]
        ),
    ),
    limit(
        "skean2024/appD/printed-closed-form-error",
        "Eq. 18 gives the singular values in gradient descent from aligned layers.",
        source="Proposition D.1, Eq. 18",
        measure=equation_18_error,
        resolution=descent_error("frossl"),
        **EXACT,  # type: ignore[arg-type]
    ),
    ours(
        limit(
            "skean2024/appD/barlow-closed-form-error",
            "Barlow Twins' closed form gives them under its loss.",
            source="Section 5.1, after Simon 2023",
            measure=closed_form_error("barlow"),
            resolution=descent_error("barlow"),
            **EXACT,  # type: ignore[arg-type]
        )
    ),
    remark(
        "barlow/closed-form",
        "Under Barlow Twins' variant s² = 1 / (c + (1 / s(0)² - c) exp(-4 c t)).",
        "Section 5.1, after Simon 2023",
    ),
    # Proposition D.2.
    limit(
        "skean2024/propD2/small-start",
        "From the smallest random layers the eigenvalues move as from the aligned layers of Proposition D.1, "
        "corrected.",
        source="Proposition D.2",
        measure=distance_to_aligned(0),
        reaches=0.0,
        resolution=flow_error,
        unit="largest difference of eigenvalues",
        looked="the size of the steps: twice as long, they told the limit too coarsely",
    ),
    for_all(
        "skean2024/propD2/smaller-is-closer",
        "They do so the more closely the smaller the layers are at first.",
        {
            name: ordering(
                "",
                "",
                source="Proposition D.2",
                measure=distance_to_aligned(place),
                below=distance_to_aligned(place + 1),
                unit="largest difference of eigenvalues",
            )
            for place, name in enumerate(
                ("smallest below the next", "third below the second", "second below the largest")
            )
        },
    ),
    # Why Figure 2 comes out as it does.
    remark(
        "growth-ratio",
        "Near zero a mode's singular values grow 1 + 1/ρ times as fast under Eq. 10 as under Barlow Twins' "
        "variant.",
        "Section 5.1, Figure 2; Appendix D, corrected",
    ),
    remark(
        "sharpness/frossl",
        "At the optimum of Eq. 10 (λ = γ) the Hessian's largest eigenvalue is 4 λ1 + 8 c1.",
        "Section 5.1, Figure 2; Appendix D, corrected",
    ),
    remark(
        "sharpness/barlow",
        "At that of Barlow Twins' variant it is 4 c1.",
        "Section 5.1, Figure 2; Appendix D, corrected",
    ),
]
