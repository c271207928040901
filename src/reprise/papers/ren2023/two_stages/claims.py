"""What Figure 1, its text, Theorem 4.3 and Lemmas 5.1 and 5.3 say of the simulation."""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours
from reprise.evidence.claims import for_all, for_some
from reprise.evidence.comparison import MARGINS, SHARE, Comparison, Measure, above, agrees, below, near
from reprise.evidence.measures import Wide, applied, column, each_seed, interned, once, rows, selected
from reprise.papers.ren2023.two_stages.experiment import TIME_SCALE
from reprise.papers.ren2023.words import STAGE_NAMES

When = Literal["start", "aligned", "stage 1", "stage 2"]
"""Before the first step; at the first measurement at which the modalities are aligned; at the end of Stage 1;
at the end of Stage 2."""

CELLS = {
    "linear": ("linear", True),
    "linear-noiseless": ("linear", False),
    "spiked": ("spiked", True),
    "spiked-noiseless": ("spiked", False),
}
WORDS = {
    "linear": "linear spectrum",
    "linear-noiseless": "linear spectrum, no noise",
    "spiked": "spiked spectrum",
    "spiked-noiseless": "spiked spectrum, no noise",
}
NOISY = ("linear", "spiked")
ABOUT_ONE = 1 + MARGINS["singular value"]
"""A condition number under this is about 1."""
POWER = 2
"""Of the law that a linear rate is compared with."""


@interned
def course(name: str, loss: str, cell: str, table: str = "trajectory") -> Wide:
    """A column over time: a row a step, a column a seed; of the limit one column."""
    spectrum, noise = CELLS[cell]
    looks_of = selected(table, loss=loss, spectrum=spectrum, noise=noise)

    def over_time(tables: Tables) -> pd.DataFrame:
        looks = looks_of(tables)
        return looks.assign(seed=looks.get("seed", 0)).pivot(index="step", columns="seed", values=name)

    return over_time


@interned
def at(when: When, name: str, loss: str = "contrastive", cell: str = "linear") -> Measure:
    """A column at the start, once the modalities are aligned, or at the end of a stage."""
    spectrum, noise = CELLS[cell]

    def measure(tables: Tables) -> pd.Series:
        if when == "aligned":
            return _when_aligned(name, loss, cell)(tables)
        steps = {"start": 0, "stage 1": boundary(tables), "stage 2": tables["trajectory"]["step"].max()}
        looks = column("trajectory", name, loss=loss, spectrum=spectrum, noise=noise, step=steps[when])
        return looks(tables)

    return measure


def _when_aligned(name: str, loss: str, cell: str) -> Measure:
    """A column at the first measurement of Stage 1 at which K_A and K_B agree; NaN for a seed in which they
    never do."""

    def measure(tables: Tables) -> pd.Series:
        distance = course("distance", loss, cell)(tables).loc[: boundary(tables)]
        agree = distance <= MARGINS["score"]
        values = course(name, loss, cell)(tables)
        steps = agree.idxmax().where(agree.any())
        return pd.Series(
            {seed: values[seed].get(step, math.nan) for seed, step in steps.items()}, dtype=float
        )

    return measure


@once
def boundary(tables: Tables) -> int:
    """The last step of Stage 1."""
    return int(rows(tables["trajectory"], stage=1)["step"].max())


def stage1_distance(cell: str) -> Measure:
    """How far Stage 1's condition number is from that of non-contrastive descent at the same time, largest
    over Stage 1, relative to the latter."""

    def measure(tables: Tables) -> pd.Series:
        with_negatives = course("condition", "contrastive", cell)(tables).loc[: boundary(tables)]
        without = course("condition", "non-contrastive", cell)(tables)
        steps = with_negatives.index[(TIME_SCALE * with_negatives.index).isin(without.index)]
        same_time = without.loc[TIME_SCALE * steps].set_axis(steps)
        return (with_negatives.loc[steps] / same_time - 1).abs().max(skipna=False)

    return measure


def limit_distance(stage: int, cell: str = "linear") -> Measure:
    """How far the condition number is from that of infinite width, largest over a stage, relative to it."""

    def measure(tables: Tables) -> pd.Series:
        last = boundary(tables)
        steps = slice(None, last) if stage == 1 else slice(last, None)
        ours = course("condition", "contrastive", cell)(tables).loc[steps]
        if tables["limit"].empty:  # where there is nothing but the limit
            return pd.Series(dtype=float)
        limit = course("condition", "contrastive", cell, "limit")(tables).loc[ours.index].iloc[:, 0]
        return ours.div(limit, axis=0).sub(1).abs().max(skipna=False)

    return measure


def in_stage2(cell: str, fit: Callable[[pd.Series], float]) -> Measure:
    """What a fit says of log(condition number - 1) against the steps of Stage 2, until the condition number
    is about 1; NaN where that is within three measurements."""

    def measure(tables: Tables) -> pd.Series:
        stage2 = course("condition", "contrastive", cell)(tables).loc[boundary(tables) :]
        stage2.index -= stage2.index[0]
        return pd.Series({seed: _fitted(condition, fit) for seed, condition in stage2.items()})

    return measure


def _fitted(condition: pd.Series, fit: Callable[[pd.Series], float]) -> float:
    arrived = (condition <= ABOUT_ONE).to_numpy()
    before = condition.iloc[: arrived.argmax()] if arrived.any() else condition
    return fit(np.log(before - 1)) if len(before) > 3 and np.isfinite(before).all() else math.nan


def rate(log: pd.Series) -> float:
    """The slope, per step."""
    return float(np.polyfit(log.index, log, 1)[0])


def against_power(log: pd.Series) -> float:
    """How much worse an exponential than the law c (t + t_0)^-2 fits condition number - 1.

    It is the log of the ratio of what they leave of the logarithm's variance, with two parameters each.
    """
    return float(np.log(_left_by_exponential(log) / _left_by_power(log)))


def _left_by_exponential(log: pd.Series) -> float:
    steps = log.index.to_numpy(dtype=float)
    return float(np.var(log - np.polyval(np.polyfit(steps, log, 1), steps)))


def _left_by_power(log: pd.Series) -> float:
    steps = log.index.to_numpy(dtype=float)
    offsets = np.geomspace(1e-3, 1e3, 601) * steps[-1]
    return float(np.var(log.to_numpy() + POWER * np.log(steps + offsets[:, None]), axis=1).min())


UNIT = "condition number"
RANK = "stable rank"
FIXED_LENGTH = (
    "ours: at a step that was fixed at Figure 1's settings, where the theorem lets the length of Stage 2 "
    "depend on the settings; with more steps the condition number goes on towards 1, and the stable rank "
    "towards r"
)


def _fig1(name: str) -> str:
    return f"ren2023/fig1/{name}"


def in_cells(compared: Callable[[str], Comparison], cells: Iterable[str] = CELLS) -> dict[str, Comparison]:
    """What is compared in each cell, by the cell's words."""
    return {WORDS[cell]: compared(cell) for cell in cells}


def _score(cell: str, when: When, loss: str = "contrastive") -> Comparison:
    """The alignment score is as high as Definition 4.1 allows."""
    score = at(when, "alignment", loss, cell)
    return agrees(score, CEILING, resolution=SAMPLING, unit="alignment score", bounds=SHARE)


def _balanced(cell: str) -> Comparison:
    """The output is as balanced as r signals can be."""
    rank = at("stage 2", "stable_rank", cell=cell)
    return near(rank, SIGNALS, quantity="singular value", unit=RANK)


def _less_noise(cell: str, start: When, end: When) -> Comparison:
    after, before = (at(when, "noise_to_signal", cell=cell) for when in (end, start))
    return below(after, before, unit="noise-to-signal ratio")


def _no_difference(difference: Measure) -> Comparison:
    return near(difference, 0.0, quantity="score", unit="largest relative difference", bounds=(0.0, math.inf))


def _is_one(measure: Measure, unit: str) -> Comparison:
    """A number that is at least 1 is about 1."""
    return near(measure, 1.0, quantity="singular value", unit=unit, bounds=(1.0, math.inf))


SIGNALS = each_seed("first", column("trajectory", "signals"))
SHARED = applied(lambda signals: 0.5 ** (signals + 1), SIGNALS)
"""Half the share of negatives that have the anchor's z. Of aligned learners these leave the score open: it is
1 - 2^-r where they are as far off as the positive, as in the limit, and higher where noise decides."""
CEILING = applied(lambda shared: 1 - shared, SHARED)
SAMPLING = applied(
    lambda shared, pairs: shared + 2 * np.sqrt(shared / pairs),
    SHARED,
    each_seed("first", column("trajectory", "fresh_pairs")),
)
"""What these negatives leave open, and two standard errors of a score on fresh pairs."""

STAGES: tuple[tuple[int, When, When], ...] = ((1, "start", "stage 1"), (2, "stage 1", "stage 2"))
"""Each with its start and its end."""

CLAIMS = [
    for_all(
        _fig1("contrastive-condition-stage1"),
        "In contrastive training, Stage 1 (small temperature τ²) aligns the modalities at the cost of the "
        "condition number of K_A, which is larger once they are aligned than at the start.",
        in_cells(
            lambda cell: above(
                at("aligned", "condition", cell=cell), at("start", "condition", cell=cell), unit=UNIT
            )
        ),
        quantifier="generic",
        word="at the cost of increasing",
        source="Abstract, Section 5.3, Figure 1",
        reading="aligned: |K_A - K_B| is at most a tenth of |K_A|",
    ),
    ours(
        for_all(
            _fig1("contrastive-condition-one"),
            "In contrastive training, Stage 2 (large temperature τ²) brings the condition number of the "
            "representation to about 1.",
            in_cells(lambda cell: _is_one(at("stage 2", "condition", cell=cell), UNIT)),
            word="to about 1",
            source="Section 5.4, Lemma 5.3",
            reading="about 1: within a tenth",
        ),
        FIXED_LENGTH,
    ),
    for_all(
        _fig1("alignment-stage1"),
        "In contrastive training, Stage 1 (small temperature τ²) improves the alignment score of the "
        "modalities.",
        in_cells(
            lambda cell: above(
                at("stage 1", "alignment", cell=cell),
                at("start", "alignment", cell=cell),
                unit="alignment score",
                bounds=SHARE,
            )
        ),
        quantifier="generic",
        word="will drive the model to align",
        source="Section 5.3, Figure 1",
    ),
    for_all(
        _fig1("alignment-stage2"),
        "In contrastive training, the alignment score of the modalities is maintained through Stage 2"
        " (large temperature τ²).",
        in_cells(
            lambda cell: near(
                at("stage 2", "alignment", cell=cell),
                at("stage 1", "alignment", cell=cell),
                quantity="score",
                unit="alignment score",
                bounds=SHARE,
            )
        ),
        quantifier="similar",
        word="Maintaining",
        source="Section 5.4, Figure 1",
    ),
    ours(
        for_all(
            _fig1("stage2-rate"),
            "In contrastive training, in Stage 2 (large temperature τ²), the condition number converges "
            "at a linear rate: until it is about 1, log(condition number - 1) falls, and a straight line "
            "fits it better than the law (t + t_0)^-2.",
            {
                f"{WORDS[cell]}: {what}": below(in_stage2(cell, fit), 0.0, unit=unit)
                for cell in CELLS
                for what, fit, unit in (
                    ("falls", rate, "per step"),
                    ("exponentially", against_power, "log ratio of the variances left"),
                )
            },
            word="converges at a linear rate",
            source="Section 5.4, Corollary C.20",
            reading="condition number - 1, until it is 0.1",
        ),
        FIXED_LENGTH,
    ),
    ours(
        for_all(
            "ren2023/sec53/stage1-noncontrastive",
            "In contrastive training, Stage 1 (small temperature τ²) goes through the condition numbers "
            "of non-contrastive descent, in half as many steps.",
            in_cells(lambda cell: _no_difference(stage1_distance(cell))),
            quantifier="similar",
            word="goes through the condition numbers",
            source="Section 5.3, Lemma B.9",
        ),
        "ours: the paper says so of small τ², of which our copy has lost the value, approximately and for "
        "wide learners; a tenth is ours",
    ),
    for_all(
        _fig1("contrastive-condition-stage2"),
        "In contrastive training, Stage 2 (large temperature τ²) reduces the condition number of the "
        "representation.",
        in_cells(
            lambda cell: below(
                at("stage 2", "condition", cell=cell), at("stage 1", "condition", cell=cell), unit=UNIT
            )
        ),
        quantifier="generic",
        word="will reduce",
        source="Section 5.4, Figure 1",
    ),
    ours(
        for_all(
            _fig1("contrastive-balance-stage2"),
            "In contrastive training, at the end of Stage 2 (large temperature τ²) the output is "
            "balanced: the stable rank of its covariance is about r.",
            in_cells(_balanced),
            word="is about r",
            source="Section 5.4, Figure 1",
            looked="the exact covariance took the place of one estimated from 2,000 pairs after a look at "
            "both",
            reading="about r: within a tenth; of the output's exact covariance",
        ),
        FIXED_LENGTH,
    ),
    for_all(
        _fig1("noncontrastive-balance"),
        "Without negative pairs the output ends less balanced than at the start.",
        in_cells(
            lambda cell: below(
                at("stage 2", "stable_rank", "non-contrastive", cell),
                at("start", "stable_rank", "non-contrastive", cell),
                unit=RANK,
            )
        ),
        quantifier="existential",
        word="can be",
        source="Section 5.3, Figure 1",
    ),
    for_some(
        _fig1("noncontrastive-rank-one"),
        "Without negative pairs the output comes close to rank one, for some A.",
        in_cells(lambda cell: _is_one(at("stage 2", "stable_rank", "non-contrastive", cell), RANK)),
        word="There exists",
        source="Section 1, Theorem 4.3 (a)",
        reading="close to 1: within a tenth; stable rank |C|_F² / |C|_2²",
    ),
    for_all(
        _fig1("contrastive-more-balanced"),
        "With negative pairs the output ends more balanced than without them.",
        in_cells(
            lambda cell: above(
                at("stage 2", "stable_rank", cell=cell),
                at("stage 2", "stable_rank", "non-contrastive", cell),
                unit=RANK,
            )
        ),
        quantifier="generic",
        word="are more balanced",
        source="Section 4, Figure 1",
    ),
    *(
        for_all(
            _fig1(f"noise-to-signal-stage{stage}"),
            f"In contrastive training, at the end of {STAGE_NAMES[stage]} the noise-to-signal "
            "ratio is smaller than at its start.",
            in_cells(partial(_less_noise, start=start, end=end), NOISY),
            word="for any",
            source=f"Section 5.{stage + 2}, Figure 1",
        )
        for stage, start, end in STAGES
    ),
    for_all(
        "ren2023/thm43/noncontrastive-aligned",
        "Non-contrastive descent ends aligned: the alignment score is as high as its definition allows.",
        in_cells(lambda cell: _score(cell, "stage 2", "non-contrastive"), NOISY),
        looked="what negatives with the same z leave open was worked out after a look at the scores",
        quantifier="existential",
        word="There exists",
        source="Theorem 4.3 (a)",
    ),
    for_all(
        "ren2023/thm43/contrastive",
        "Some τ² and lengths of the two stages let contrastive descent end aligned and balanced on every A: "
        "its alignment score as high as the definition allows, and the stable rank of the output's exact "
        "covariance r.",
        {
            f"{WORDS[cell]}: {what}": compared
            for cell in NOISY
            for what, compared in (("aligned", _score(cell, "stage 2")), ("balanced", _balanced(cell)))
        },
        word="for any valid",
        source="Theorem 4.3 (b)",
        exists=True,
    ),
    *(
        ours(
            for_all(
                f"ren2023/{slug}/tracks-limit",
                "The condition number of descent with Figure 1's settings is close to that of infinite width "
                f"all through {STAGE_NAMES[stage]}.",
                {WORDS[cell]: _no_difference(limit_distance(stage, cell)) for cell in CELLS},
                quantifier="similar",
                word="is close to",
                source=lemma,
            )
        )
        for stage, slug, lemma in ((1, "lemma-51", "Lemma 5.1"), (2, "lemma-53", "Lemma 5.3"))
    ),
]
