"""Appendix D: its formulas at random points, and its solutions beside gradient descent."""

from collections.abc import Callable

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import CORRECTED, Cells, Quotation, claim
from reprise.evidence.comparison import Comparison, Measure, agrees, below
from reprise.evidence.edits import plus, times
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import AS_PRINTED, claims
from reprise.evidence.measures import applied, first, largest, rows
from reprise.papers.skean2024.linear_dynamics.formulas import FORMULAS

EVOLVE = Quotation("and the singular values evolve according to", at="Proposition D.1, Appendix D.2")
CLOSED_FORM = Quotation(
    "we show the optimal representation and a closed-form solution for the linear layer at each training "
    "step",
    at="Section 5.1",
)
SMALL_START = Quotation(
    "then they have the same training dynamics of aligned initialization as described in Proposition D.1",
    at="Proposition D.2, Appendix D.2",
)
UNIT = "relative error, the largest over modes and times"

THEORY = claims("skean2024", *FORMULAS)


def worst(differences: pd.Series, *by: pd.Series) -> pd.Series:
    """The largest absolute difference of a seed, over modes and times."""
    return differences.abs().groupby(list(by)).agg(largest)


def closed_form_error(loss: str, against: str = "closed_form") -> Measure:
    """The largest relative error of the closed form's singular values against descent, or of descent's in
    coarser steps."""

    def measure(tables: Tables) -> pd.Series:
        paths = rows(tables["closed_form"], loss=loss)
        return worst(paths[against] / paths["descent"] - 1, paths["seed"])

    return measure


def descent_error(loss: str) -> Measure:
    """Error of descent as an approximation of gradient flow: it is of first order, and so as large as the
    change by twice the step; twice this change leaves room for higher orders."""
    return applied(lambda change: 2 * change, closed_form_error(loss, "coarse"))


def equation_18_error(tables: Tables) -> pd.Series:
    """The largest relative error of Eq. 18 as printed, against descent."""
    paths = rows(tables["closed_form"], loss="frossl").merge(tables["equation_18"], on=["time", "mode"])
    return worst(paths["singular_value"] / paths["descent"] - 1, paths["seed"])


def distances(tables: Tables) -> pd.Series:
    """The largest difference of the eigenvalues, over all and over time, from those of aligned layers, by
    standard deviation and seed: of gradient flow, by extrapolation from two sizes of steps."""
    paths = tables["small_starts"]
    flow = 2 * paths["eigenvalue"] - paths["coarse"]
    return worst(flow - paths["aligned"], paths["std"], paths["seed"])


def distance_to_aligned(place: int) -> Measure:
    """The `distances` at one standard deviation, by its place from the smallest on."""

    def measure(tables: Tables) -> pd.Series:
        by_std = distances(tables)
        return by_std.xs(by_std.index.levels[0][place])  # type: ignore[attr-defined]

    return measure


def flow_error(tables: Tables) -> pd.Series:
    """Error of the `distances` at the smallest standard deviation: at most that without extrapolation."""
    paths = rows(tables["small_starts"], std=first)
    return worst(paths["eigenvalue"] - paths["coarse"], paths["seed"])


def nth(place: int) -> Callable[[pd.Series], pd.Series]:
    """Selects the rows with one of a column's values, by its place from the smallest on."""
    return lambda values: values == sorted(set(values))[place]


@claim(
    "skean2024/appD/printed-closed-form-error",
    """In gradient descent from aligned linear layers, the singular values follow the printed closed form
    (Eq. 18).""",
    quotes=(EVOLVE, CLOSED_FORM),
    word="evolve according to",
    reading="along a mode the views have the variances λ and γ and the correlation ρ; descent from aligned "
    "layers with λ = γ, S1 = S2 and U1 = U2",
    erratum="substantive",
    misprint=Misprint(
        "substantive",
        printed=Text(
            "s1(t)² = (2 sqrt(λγ) - λ) / ((2 λ² - (λ - 2 sqrt(λγ)) / s1(0)²) exp(8 t sqrt(λγ) - 4 λ t) "
            "- 2 λ²)",
            r"s_1(t)^2=\frac{2\sqrt{\lambda\gamma}-\lambda}{\left(2\lambda^2-\frac{\lambda-2\sqrt{\lambda"
            r"\gamma}}{s_1(0)^2}\right)e^{8t\sqrt{\lambda\gamma}-4\lambda t}-2\lambda^2}",
        ),
        corrected=Text(
            "for views with the variances λ = γ and the correlation ρ along a mode, s1 = s2 = s and c = ρ λ, "
            "s² = (λ + c) / (2 λ² + ((λ + c) / s(0)² - 2 λ²) exp(-4 (λ + c) t))",
            r"s(t)^2=\frac{\lambda+c}{2\lambda^2+\left(\frac{\lambda+c}{s(0)^2}-2\lambda^2\right)e^{-4("
            r"\lambda+c)t}}\quad\text{if }\lambda=\gamma,\ s_1=s_2=s,\ c=\rho\lambda",
        ),
        note="as printed every singular value vanishes where γ > λ / 4, while λ s² comes to (1 + ρ) / 2; "
        "Eq. 18 solves Eq. 32, which has Eq. 12's error, turns the sign of Eq. 12's first term, and takes s1 "
        "for s2 and 1 for ρ; corrected, Eq. 32 is s1' = 2 λ s1 + 2 c s2 - 4 λ² s1³ with c = ρ sqrt(λγ)",
    ),
    broken_by=(
        times("equation_18", "singular_value", 0.5),
        times("closed_form", "closed_form", 0.5, loss="frossl"),
    ),
)
def closed_form() -> Cells:
    resolution = descent_error("frossl")
    yield AS_PRINTED, agrees(equation_18_error, 0.0, resolution=resolution, unit=UNIT)
    yield CORRECTED, agrees(closed_form_error("frossl"), 0.0, resolution=resolution, unit=UNIT)


@claim(
    "skean2024/appD/barlow-closed-form-error",
    """Under Barlow Twins' loss the singular values in gradient descent from aligned layers are s² = 1 / (c +
    (1 / s(0)² - c) exp(-4 c t)), c being the views' covariance along a mode.""",
    at="Section 5.1, after Simon 2023",
    form="ours",
    reading="ours: the paper compares the losses in Figure 2 without a solution for Barlow Twins",
    word="are",
    broken_by=times("closed_form", "closed_form", 0.5, loss="barlow"),
)
def barlow_closed_form() -> Comparison:
    return agrees(closed_form_error("barlow"), 0.0, resolution=descent_error("barlow"), unit=UNIT)


@claim(
    "skean2024/propD2/small-start",
    """From the smallest random layers the eigenvalues move as from the aligned layers of Proposition D.1,
    corrected.""",
    quotes=SMALL_START,
    word="the same training dynamics",
    looked="the size of the steps: twice as long, they told the limit too coarsely",
    broken_by=plus("small_starts", "aligned", 0.1, std=first),
)
def small_start() -> Comparison:
    return agrees(
        distance_to_aligned(0), 0.0, resolution=flow_error, unit="largest difference of eigenvalues"
    )


@claim(
    "skean2024/propD2/smaller-is-closer",
    """The eigenvalues from small random layers move the more closely as from the aligned layers of
    Proposition D.1, corrected, the smaller the layers are at first.""",
    quotes=SMALL_START,
    word="the same training dynamics",
    broken_by=tuple(plus("small_starts", "aligned", 1.0, std=nth(place)) for place in range(3)),
)
def smaller_is_closer() -> Cells:
    names = ("smallest below the next", "third below the second", "second below the largest")
    for place, name in enumerate(names):
        smaller, larger = distance_to_aligned(place), distance_to_aligned(place + 1)
        yield name, below(smaller, larger, unit="largest difference of eigenvalues")
