"""Appendices D, E.3 and E.4: formulas at random points, and solutions beside gradient descent."""

from functools import partial

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence import identities
from reprise.evidence.claim import ours
from reprise.evidence.claims import agreement, for_all
from reprise.evidence.comparison import Measure, below, inequality
from reprise.evidence.measures import applied, first, largest, rows

holds = partial(identities.holds, "skean2024")
remark = partial(identities.remark, "skean2024")
misprint = partial(identities.misprint, "skean2024")
falsehood = partial(identities.falsehood, "skean2024")

LINE_2 = "= -2 (W Γ + 2 W' X'ᵀX + 2 W Γ Wᵀ W Γ)"
"""W' and X' are the other view's."""
EXACT = {"reference": 0.0, "unit": "largest relative error over modes and times"}


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
    holds(
        "eq11/loss",
        "FroSSL's variant for linear layers (Eq. 10), written in two linear layers, is Eq. 11.",
        "Appendix D.1, Eq. 11",
    ),
    holds(
        "eq21/traces",
        "The invariance term of FroSSL on two linear layers is the sum of traces of Eq. 21.",
        "Appendix E.3, Eqs. 19 to 21",
    ),
    holds(
        "eq22/invariance",
        "The gradient of the invariance term on the first linear layer is 2 W1 Γ1 - 2 W2 X2ᵀX1.",
        "Eq. 22",
    ),
    holds(
        "eq23/invariance",
        "The gradient of the invariance term on the second linear layer is 2 W2 Γ2 - 2 W1 X1ᵀX2.",
        "Eq. 23",
    ),
    holds(
        "eq25/other-layer",
        "A view's variance term has no gradient on the layer of the other view.",
        "Eqs. 25 and 26",
    ),
    *misprint(
        "eq24",
        "The gradient of the first view's variance term on its linear layer W1 is -4 (W1 Γ1 W1ᵀ - I) W1 Γ1.",
        "The gradient of the first view's variance term on its linear layer W1 is 4 (W1 Γ1 W1ᵀ - I) W1 Γ1.",
        "Eq. 24",
    ),
    *misprint(
        "eq27",
        "The gradient of the second view's variance term on its linear layer W2 is -4 (W2 Γ1 W2ᵀ - I) W2 Γ2.",
        "The gradient of the second view's variance term on its linear layer W2 is 4 (W2 Γ2 W2ᵀ - I) W2 Γ2.",
        "Eq. 27",
    ),
    *(
        claim
        for name, view in (("eq28", 1), ("eq29", 2))
        for claim in misprint(
            name,
            f"The first line of {name.replace('eq', 'Eq. ')}, the gradient on W{view}, {LINE_2}, its second.",
            f"The first line of {name.replace('eq', 'Eq. ')}, the gradient on W{view}, = 6 W Γ - 2 W' X'ᵀX - "
            "4 W Γ Wᵀ W Γ.",
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
        "Gradient descent moves the layers by dW/dt = ∇L: a short step of it does not raise the loss.",
        "Gradient descent moves the layers by dW/dt = -∇L: a short step of it does not raise the loss.",
        "Eqs. 12 and 13",
        make=inequality,
    ),
    # Appendices D.2 and E.4: aligned layers.
    *misprint(
        "eq30-sign",
        "Eq. 12 as printed, for aligned layers, has the first term +2 U S1 D1 V̂.",
        "Eq. 12 as printed, for aligned layers, has the first term -2 U S1 D1 V̂.",
        "Eq. 30",
    ),
    *falsehood(
        "eq30",
        "Aligned linear layers move by U (2 S1 D1 - 4 S1 sqrt(D1 D2) - 4 S1³ D1²) V̂.",
        "Aligned linear layers move by U (2 S1 D1 + 2 S2 C - 4 S1³ D1²) V̂, C = diag(ρ sqrt(λ γ)), ρ "
        "the correlation of the views' left singular vectors.",
        "Eq. 30",
    ),
    holds(
        "eq31/from-eq30",
        "Eq. 31, the motion of aligned layers in their singular basis, is Eq. 30, their motion as printed.",
        "Eq. 31",
    ),
    holds(
        "eq32/from-eq31",
        "Eq. 32, the motion of singular values, is what Eq. 31 has on its diagonal.",
        "Eq. 32",
    ),
    *falsehood(
        "eq32",
        "The singular values of aligned layers move by s1' = 2 s1 (λ - 2 sqrt(λγ) - 2 s1² λ²).",
        "The singular values of aligned layers move by s1' = 2 λ s1 + 2 c s2 - 4 λ² s1³, c = ρ sqrt(λγ).",
        "Eq. 32",
    ),
    remark(
        "eq32/collapses",
        "The printed motion of the singular values (Eq. 32) takes every one of them to 0 where γ > λ / 4.",
        "Eqs. 18 and 32",
    ),
    holds(
        "eq33/general",
        "Eq. 33 solves the printed motion of the singular values (Eq. 32), with the constant that "
        "s1(0) gives.",
        "Eq. 33",
    ),
    holds(
        "eq18/solves-eq32",
        "The closed form of Proposition D.1 (Eq. 18) solves the printed motion of the singular values"
        " (Eq. 32).",
        "Proposition D.1, Eq. 18",
    ),
    *falsehood(
        "eq18",
        "From aligned layers the singular values evolve by the printed closed form, Eq. 18 (tried at "
        "λ = γ, s1 = s2).",
        "From aligned layers with λ = γ and s1 = s2 = s the singular values evolve by s² = (λ + c) / "
        "(2 λ² + ((λ + c) / s(0)² - 2 λ²) exp(-4 (λ + c) t)).",
        "Proposition D.1, Eq. 18",
    ),
    *falsehood(
        "eq18-limit",
        "From aligned layers the singular values end where the printed closed form (Eq. 18) does: at 0.",
        "From aligned layers with λ = γ the singular values s end at λ s² = (1 + ρ) / 2, ρ the "
        "correlation of the views.",
        "Section 5.1 (the optimal representation); Proposition D.1",
    ),
    *falsehood(
        "propD1-left-vectors",
        "Aligned layers with any left singular vectors U1 and U2 keep their singular vectors.",
        "Aligned layers keep their singular vectors where these agree, U1 = U2 (else each layer turns"
        " towards the other).",
        "Proposition D.1",
    ),
    *falsehood(
        "propD1-eigenvectors",
        "Aligned layers keep their singular vectors where the views' covariances share eigenvectors.",
        "Aligned layers keep their singular vectors where the views' covariances share eigenvectors "
        "in which X1ᵀX2 is diagonal as well.",
        "Appendix D.2, Proposition D.1",
    ),
    ours(
        agreement(
            "skean2024/propD1/vectors-kept",
            "In gradient descent from aligned layers (U1 = U2) the singular vectors stay.",
            source="Proposition D.1, corrected",
            measure=largest_turn,
            reference=0.0,
            resolution=rounding,
            unit="largest off-diagonal entry of UᵀW1V, by the largest singular value",
            word="the singular vectors stay",
        ),
    ),
    ours(
        agreement(
            "skean2024/appD/closed-form-error",
            "The corrected closed form of Proposition D.1 gives the singular values in gradient descent "
            "from aligned layers.",
            source="Proposition D.1, corrected",
            measure=closed_form_error("frossl"),
            resolution=descent_error("frossl"),
            word="gives the singular values",
            **EXACT,  # type: ignore[arg-type]
        ),
    ),
    agreement(
        "skean2024/appD/printed-closed-form-error",
        "The printed closed form (Eq. 18) gives the singular values in gradient descent from aligned layers.",
        source="Proposition D.1, Eq. 18",
        measure=equation_18_error,
        resolution=descent_error("frossl"),
        word="evolve according to",
        **EXACT,  # type: ignore[arg-type]
    ),
    ours(
        agreement(
            "skean2024/appD/barlow-closed-form-error",
            "Under Barlow Twins' loss its closed form gives the singular values in gradient descent from "
            "aligned layers.",
            source="Section 5.1, after Simon 2023",
            measure=closed_form_error("barlow"),
            resolution=descent_error("barlow"),
            word="gives the singular values",
            **EXACT,  # type: ignore[arg-type]
        )
    ),
    remark(
        "barlow/closed-form",
        "Under Barlow Twins' variant the singular values s of aligned layers evolve by s² = 1 / (c + "
        "(1 / s(0)² - c) exp(-4 c t)).",
        "Section 5.1, after Simon 2023",
    ),
    # Proposition D.2.
    agreement(
        "skean2024/propD2/small-start",
        "From the smallest random layers the eigenvalues move as from the aligned layers of Proposition D.1, "
        "corrected.",
        source="Proposition D.2",
        measure=distance_to_aligned(0),
        reference=0.0,
        resolution=flow_error,
        unit="largest difference of eigenvalues",
        word="for sufficiently small",
        looked="the size of the steps: twice as long, they told the limit too coarsely",
    ),
    for_all(
        "skean2024/propD2/smaller-is-closer",
        "The eigenvalues from small random layers move the more closely as from the aligned layers of"
        " Proposition D.1, corrected, the smaller the layers are at first.",
        {
            name: below(
                distance_to_aligned(place),
                distance_to_aligned(place + 1),
                unit="largest difference of eigenvalues",
            )
            for place, name in enumerate(
                ("smallest below the next", "third below the second", "second below the largest")
            )
        },
        source="Proposition D.2",
        word="for sufficiently small",
    ),
    # Why Figure 2 comes out as it does.
    remark(
        "growth-ratio",
        "Near zero a mode's singular values grow 1 + 1/ρ times as fast under FroSSL without "
        "logarithms (Eq. 10) as under Barlow Twins' variant.",
        "Section 5.1, Figure 2; Appendix D, corrected",
    ),
    remark(
        "sharpness/frossl",
        "At the optimum of FroSSL's variant for linear layers (Eq. 10, λ = γ) the Hessian's largest "
        "eigenvalue is 4 λ1 + 8 c1.",
        "Section 5.1, Figure 2; Appendix D, corrected",
    ),
    remark(
        "sharpness/barlow",
        "At the optimum of Barlow Twins' variant the Hessian's largest eigenvalue is 4 c1.",
        "Section 5.1, Figure 2; Appendix D, corrected",
    ),
]
