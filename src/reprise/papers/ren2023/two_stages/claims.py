"""What Figure 1, its text, Theorem 4.3 and Lemmas 5.1 and 5.3 say of the simulation."""

from typing import Literal

import numpy as np
import pandas as pd

from reprise.evidence.claims import MARGINS, Claim, Measure, ordering, trend, value
from reprise.evidence.measures import column, each_seed, rows
from reprise.papers.ren2023.two_stages.params import TIME_SCALE
from reprise.study.experiment import Tables

When = Literal["start", "stage 1", "stage 2"]
"""Before the first step, at the end of Stage 1, at the end of Stage 2."""

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
ABOUT_ONE = 1 + MARGINS["singular value"]
"""A condition number under this is about 1."""


def course(tables: Tables, column: str, loss: str, cell: str, table: str = "trajectory") -> pd.DataFrame:
    """A column over time: a row a step, a column a seed; of the limit one column."""
    spectrum, noise = CELLS[cell]
    looks = rows(tables[table], loss=loss, spectrum=spectrum, noise=noise)
    return looks.assign(seed=looks.get("seed", 0)).pivot(index="step", columns="seed", values=column)


def at(
    when: When, column: str, loss: str = "contrastive", cell: str = "linear", table: str = "trajectory"
) -> Measure:
    """A column at the start or at the end of a stage."""

    def measure(tables: Tables) -> pd.Series:
        steps = {"start": 0, "stage 1": boundary(tables), "stage 2": tables["trajectory"]["step"].max()}
        return course(tables, column, loss, cell, table).loc[steps[when]]

    return measure


def boundary(tables: Tables) -> int:
    """The last step of Stage 1."""
    stages = tables["trajectory"]
    return int(stages.loc[stages["stage"] == 1, "step"].max())


def stage1_distance(cell: str) -> Measure:
    """How far Stage 1's condition number is from that of non-contrastive descent at the same time, largest
    over Stage 1, relative to the latter."""

    def measure(tables: Tables) -> pd.Series:
        with_negatives = course(tables, "condition", "contrastive", cell).loc[: boundary(tables)]
        without = course(tables, "condition", "non-contrastive", cell)
        same_time = without.loc[TIME_SCALE * with_negatives.index].set_axis(with_negatives.index)
        return (with_negatives / same_time - 1).abs().max(skipna=False)

    return measure


def limit_distance(stage: int, cell: str = "linear") -> Measure:
    """How far the condition number is from that of infinite width, largest over a stage, relative to it."""

    def measure(tables: Tables) -> pd.Series:
        last = boundary(tables)
        steps = slice(None, last) if stage == 1 else slice(last, None)
        ours = course(tables, "condition", "contrastive", cell).loc[steps]
        limit = course(tables, "condition", "contrastive", cell, "limit").loc[ours.index].iloc[:, 0]
        return ours.div(limit, axis=0).sub(1).abs().max(skipna=False)

    return measure


def rate(cell: str, *, linearity: bool = False) -> Measure:
    """Slope of log(condition number - 1) in Stage 2 against the step, while it is not yet about 1; or the
    share of the variance that the straight line explains."""

    def measure(tables: Tables) -> pd.Series:
        stage2 = course(tables, "condition", "contrastive", cell).loc[boundary(tables) :]
        return pd.Series({seed: _fit(condition, linearity) for seed, condition in stage2.items()})

    return measure


def _fit(condition: pd.Series, linearity: bool) -> float:
    arrived = (condition <= ABOUT_ONE).to_numpy()
    before = condition.iloc[: arrived.argmax()] if arrived.any() else condition
    if len(before) < 3 or not np.isfinite(before).all():
        return float("nan")
    excess = np.log(before - 1)
    line = np.polyfit(before.index, excess, 1)
    if not linearity:
        return float(line[0])
    return float(1 - np.var(excess - np.polyval(line, before.index)) / np.var(excess))


UNIT = "condition number"
RANK = "stable rank"


def _fig1(name: str) -> str:
    return f"ren2023/fig1/{name}"


def _of_cell(cell: str) -> list[Claim]:
    """What Section 5 says of every A, here of one spectrum with or without noise."""
    where = WORDS[cell]
    grows = "contrastive-condition-stage1" + ("" if cell == "linear" else f"-{cell}")
    return [
        ordering(
            _fig1(grows),
            f"At the end of Stage 1 the condition number of K_A is larger than at the start ({where}).",
            source="Section 5.3, Figure 1",
            measure=at("stage 1", "condition", cell=cell),
            above=at("start", "condition", cell=cell),
            unit=UNIT,
        ),
        trend(
            _fig1(f"contrastive-condition-one-{cell}"),
            f"Stage 2 brings the condition number to about 1 ({where}).",
            source="Section 5.4, Lemma 5.3",
            quantity="singular value",
            measure=at("stage 2", "condition", cell=cell),
            published=1.0,
            unit=UNIT,
        ),
        ordering(
            _fig1(f"alignment-stage1-{cell}"),
            f"Stage 1 improves the alignment score ({where}).",
            source="Section 5.3, Figure 1",
            measure=at("stage 1", "alignment", cell=cell),
            above=at("start", "alignment", cell=cell),
            unit="alignment score",
        ),
        value(
            _fig1(f"alignment-stage2-{cell}"),
            f"The alignment score is maintained through Stage 2 ({where}).",
            source="Section 5.4, Figure 1",
            quantity="score",
            measure=at("stage 2", "alignment", cell=cell),
            published=at("stage 1", "alignment", cell=cell),
            unit="alignment score",
        ),
        ordering(
            _fig1(f"stage2-rate-{cell}"),
            f"In Stage 2 log(condition number - 1) falls ({where}; fitted until the condition number is "
            "about 1).",
            source="Section 5.4, Corollary C.20",
            measure=rate(cell),
            below=0.0,
            unit="per step",
        ),
        trend(
            _fig1(f"stage2-straight-{cell}"),
            f"The rate is linear: a straight line explains log(condition number - 1) ({where}).",
            source="Section 5.4, Corollary C.20",
            quantity="score",
            measure=rate(cell, linearity=True),
            published=1.0,
            unit="share of variance",
        ),
        value(
            f"ren2023/sec53/stage1-noncontrastive-{cell}",
            "Stage 1 goes through the condition numbers of non-contrastive descent, in half as many steps "
            f"({where}).",
            source="Section 5.3, Lemma B.9",
            quantity="score",
            measure=stage1_distance(cell),
            published=0.0,
            unit="largest relative difference",
        ),
    ]


def _theorem(cell: str) -> list[Claim]:
    """Theorem 4.3 on one spectrum, with noise."""
    where = WORDS[cell]
    aligned = [
        value(
            f"ren2023/thm43/{name}-aligned-{cell}",
            f"{words} ends aligned: an alignment score near 1 ({where}).",
            source=f"Theorem 4.3 ({part})",
            quantity="score",
            measure=at("stage 2", "alignment", loss, cell),
            published=1.0,
            unit="alignment score",
        )
        for name, words, loss, part in (
            ("noncontrastive", "Non-contrastive descent", "non-contrastive", "a"),
            ("contrastive", "Contrastive descent", "contrastive", "b"),
        )
    ]
    return [
        *aligned,
        value(
            f"ren2023/thm43/contrastive-balanced-{cell}",
            "Contrastive descent ends balanced: the stable rank of the output's exact covariance is r "
            f"({where}).",
            source="Theorem 4.3 (b)",
            quantity="singular value",
            measure=at("stage 2", "exact_stable_rank", cell=cell),
            published=each_seed("first", column("trajectory", "signals")),
            unit=RANK,
        ),
    ]


CLAIMS = [
    *(claim for cell in CELLS for claim in _of_cell(cell)),
    ordering(
        _fig1("contrastive-condition-stage2"),
        "Stage 2 reduces the condition number (linear spectrum).",
        source="Section 5.4, Figure 1",
        measure=at("stage 2", "condition"),
        below=at("stage 1", "condition"),
        unit=UNIT,
    ),
    value(
        _fig1("contrastive-balance-stage2"),
        "At the end of Stage 2 the output on fresh pairs is as balanced as the latent signal on them "
        "(linear spectrum).",
        source="Section 5.4, Figure 1",
        quantity="singular value",
        measure=at("stage 2", "stable_rank"),
        published=at("stage 2", "best_stable_rank"),
        unit=RANK,
    ),
    ordering(
        _fig1("noncontrastive-balance-linear"),
        "Without negative pairs the output ends less balanced than at the start (linear spectrum).",
        source="Section 5.3, Figure 1",
        measure=at("stage 2", "stable_rank", "non-contrastive"),
        below=at("start", "stable_rank", "non-contrastive"),
        unit=RANK,
    ),
    trend(
        _fig1("noncontrastive-balance-spiked"),
        "Without negative pairs the output comes close to rank one (spiked spectrum).",
        source="Section 1, Theorem 4.3 (a)",
        quantity="singular value",
        measure=at("stage 2", "stable_rank", "non-contrastive", "spiked"),
        published=1.0,
        unit=RANK,
    ),
    ordering(
        _fig1("contrastive-more-balanced"),
        "With negative pairs the output ends more balanced than without them (linear spectrum).",
        source="Section 4, Figure 1",
        measure=at("stage 2", "stable_rank"),
        above=at("stage 2", "stable_rank", "non-contrastive"),
        unit=RANK,
    ),
    *(
        ordering(
            _fig1(f"noise-to-signal-stage{stage}"),
            f"At the end of Stage {stage} the noise-to-signal ratio is smaller than at its start (linear "
            "spectrum).",
            source=f"Section 5.{stage + 2}, Figure 1",
            measure=at(f"stage {stage}", "noise_to_signal"),  # type: ignore[arg-type]
            below=at("start" if stage == 1 else "stage 1", "noise_to_signal"),
            unit="noise-to-signal ratio",
        )
        for stage in (1, 2)
    ),
    *(claim for cell in ("linear", "spiked") for claim in _theorem(cell)),
    *(
        value(
            f"ren2023/lemma-5{1 if stage == 1 else 3}/tracks-limit",
            f"The condition number at finite width is close to that of infinite width all through Stage "
            f"{stage} (linear spectrum, m as in Figure 1).",
            source=f"Lemma 5.{1 if stage == 1 else 3}",
            quantity="score",
            measure=limit_distance(stage),
            published=0.0,
            unit="largest relative difference",
        )
        for stage in (1, 2)
    ),
]
