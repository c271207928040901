"""What the text says of Figures 4, 9 and 10."""

import pandas as pd

from reprise.evidence.claims import Claim, Measure, ordering, value
from reprise.evidence.measures import difference, rows
from reprise.study.experiment import Tables

UNIT = "matching score"
BETA = 5
"""The over-parameterisation at which claims read."""
SEVERAL = (3, 5)
"""Numbers of candidates above one."""
FIGURES = {"fig9": "infonce_cosine", "fig10": "quadratic_cosine"}


def score(
    which: str, activation: str, beta: int, candidates: tuple[int, ...], objective: str = "infonce_cosine"
) -> Measure:
    """χ+ or χ- of an activation, mean over the numbers of candidates."""

    def measure(tables: Tables) -> pd.Series:
        runs = rows(
            tables["matching"],
            activation=activation,
            objective=objective,
            beta=beta,
            candidates=candidates,
        )
        # At one candidate there are more seeds; those that diverged must not drop out.
        paired = runs[runs.groupby("seed")["candidates"].transform("size") == len(candidates)]
        wide = paired.pivot(index="seed", columns="candidates", values=f"chi_{which}")
        return wide.mean(axis=1, skipna=False)

    return measure


def gain(activation: str, candidates: tuple[int, ...]) -> Measure:
    """By how much χ+ rises from beta = 1."""
    return difference(*(score("plus", activation, beta, candidates) for beta in (BETA, 1)))


def _relu_against_linear(candidates: int) -> Claim:
    several, linear = candidates > 1, score("plus", "linear", BETA, (candidates,))
    return ordering(
        f"tian2023/fig9/relu-beta5-P{candidates}-chi-plus",
        f"At beta = 5, P = {candidates}, ReLU filters match the candidate tokens "
        f"{'better' if several else 'less'} than linear ones.",
        source="Figures 4 and 9, Section 5.1",
        measure=score("plus", "relu", BETA, (candidates,)),
        unit=UNIT,
        above=linear if several else None,
        below=None if several else linear,
    )


def _linear_without_beta(candidates: int, which: str) -> Claim:
    return value(
        f"tian2023/fig9/linear-beta5-P{candidates}-chi-{which}",
        f"At P = {candidates}, over-parameterisation hardly changes χ{'+' if which == 'plus' else '-'} of "
        "linear filters: beta = 5 gives what beta = 1 gives.",
        source="Figure 9, Section 5.1",
        quantity="score",
        measure=score(which, "linear", BETA, (candidates,)),
        published=score(which, "linear", 1, (candidates,)),
        unit=UNIT,
    )


def _relu_ignores_noise(candidates: int) -> Claim:
    return ordering(
        f"tian2023/fig9/relu-beta5-P{candidates}-chi-minus",
        f"At beta = 5, P = {candidates}, ReLU filters match the other tokens less than linear ones do.",
        source="Figure 9",
        measure=score("minus", "relu", BETA, (candidates,)),
        below=score("minus", "linear", BETA, (candidates,)),
        unit=UNIT,
    )


def _above_linear(figure: str, activation: str) -> Claim:
    return ordering(
        f"tian2023/{figure}/{activation.replace('_', '-')}-above-linear",
        f"At beta = 5, P = 3 and 5, {activation} filters match the candidate tokens better than linear ones.",
        source="Figure 4",
        measure=score("plus", activation, BETA, SEVERAL, FIGURES[figure]),
        above=score("plus", "linear", BETA, SEVERAL, FIGURES[figure]),
        unit=UNIT,
    )


def _gains(figure: str) -> Claim:
    return ordering(
        f"tian2023/{figure}/relu-gains-with-beta",
        "At P = 3 and 5, ReLU filters match better at beta = 5 than at beta = 1.",
        source="Figure 4, Section 5.1",
        measure=score("plus", "relu", BETA, SEVERAL, FIGURES[figure]),
        above=score("plus", "relu", 1, SEVERAL, FIGURES[figure]),
        unit=UNIT,
    )


def _quadratic_below(activation: str) -> Claim:
    return ordering(
        f"tian2023/fig10/{activation}-below-infonce",
        f"At beta = 5, {activation} filters match less well with the quadratic loss than with InfoNCE.",
        source="Figures 4 and 10, Section 5.1",
        measure=score("plus", activation, BETA, SEVERAL, "quadratic_cosine"),
        below=score("plus", activation, BETA, SEVERAL),
        unit=UNIT,
    )


def _lowest_chi_minus(other: str) -> Claim:
    return ordering(
        f"tian2023/fig9/relu-chi-minus-below-{other.replace('_', '-')}",
        f"At beta = 5, P = 1, 3 and 5, ReLU has a lower χ- than {other}.",
        source="Figure 9",
        measure=score("minus", "relu", BETA, (1, *SEVERAL)),
        below=score("minus", other, BETA, (1, *SEVERAL)),
        unit=UNIT,
    )


CLAIMS = [
    *(_relu_against_linear(candidates) for candidates in (1, *SEVERAL)),
    *(_linear_without_beta(candidates, which) for candidates in (1, *SEVERAL) for which in ("plus", "minus")),
    *(_relu_ignores_noise(candidates) for candidates in (1, *SEVERAL)),
    *(_lowest_chi_minus(other) for other in ("linear", "leaky_relu", "quadratic", "sigmoid")),
    *(_above_linear("fig9", activation) for activation in ("leaky_relu", "quadratic")),
    *(_above_linear("fig10", activation) for activation in ("relu", "leaky_relu", "quadratic")),
    *(_gains(figure) for figure in FIGURES),
    *(_quadratic_below(activation) for activation in ("relu", "linear")),
    ordering(
        "tian2023/fig9/relu-gains-at-one-candidate",
        "At P = 1 ReLU needs over-parameterisation: it matches better at beta = 5 than at beta = 1.",
        source="Figures 4 and 9",
        measure=score("plus", "relu", BETA, (1,)),
        above=score("plus", "relu", 1, (1,)),
        unit=UNIT,
    ),
    ordering(
        "tian2023/fig9/linear-gains-less",
        "At P = 3 and 5, over-parameterisation raises χ+ of linear filters less than that of ReLU.",
        source="Figures 4 and 9, Section 5.1",
        measure=gain("linear", SEVERAL),
        below=gain("relu", SEVERAL),
        unit=UNIT,
    ),
    ordering(
        "tian2023/fig5/candidates-not-noise",
        "ReLU filters match the tokens that the generators use better than the others: χ+ above χ-.",
        source="Figure 5, Section 5.1",
        measure=score("plus", "relu", BETA, (3,)),
        above=score("minus", "relu", BETA, (3,)),
        unit=UNIT,
    ),
]
