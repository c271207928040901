"""What the paper's lemmas and Appendix D say of finite width, and of descent beside gradient flow."""

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim
from reprise.evidence.claims import always, for_all, trend
from reprise.evidence.comparison import Comparison, Measure, below
from reprise.evidence.measures import largest, last, log_log_slope, rows
from reprise.papers.ren2023.finite_width.experiment import Params
from reprise.papers.ren2023.words import STAGE_NAMES

STEPS, BATCHES = (Params.model_fields[name].default for name in ("step_sizes", "batch_sizes"))
KINDS = {
    "signals": ("two signals", "Lemma B.15", "Lemma C.12"),
    "signal_noise": ("a signal and a noise", "Lemma B.16", "Lemma C.13"),
    "noises": ("two noises", "Lemma B.16", "Lemma C.14"),
}
"""Column: of which columns of K_A and K_B, and where Stages 1 and 2 say so."""


def largest_over_time(table: pd.DataFrame, by: str, name: str = "distance") -> pd.DataFrame:
    """The largest number over time: a row a seed, a column a value of `by`."""
    return table.groupby(["seed", by])[name].agg(largest).unstack(by)


def in_stage(table: pd.DataFrame, stage: int, loss: str = "contrastive") -> pd.DataFrame:
    """The looks of a stage, its first included."""
    looks = rows(table, loss=loss) if "loss" in table else table
    boundary = looks.loc[looks["stage"] == 1, "time"].max()
    return looks[looks["time"] <= boundary] if stage == 1 else looks[looks["time"] >= boundary]


def at_end(table: pd.DataFrame, stage: int, loss: str = "contrastive") -> pd.DataFrame:
    """The last look of a stage."""
    return rows(in_stage(table, stage, loss), time=last)


def distance_exponent(stage: int, loss: str) -> Measure:
    """Of m, in the distance from the limit at the end of a stage."""
    return lambda tables: log_log_slope(largest_over_time(at_end(tables["widths"], stage, loss), "width"))


def cosine_exponent(stage: int, name: str) -> Measure:
    """Of m, in the largest cosine over a stage."""
    return lambda tables: log_log_slope(largest_over_time(in_stage(tables["widths"], stage), "width", name))


def growth(name: str) -> Measure:
    """The largest error over Stage 2, in units of that at its start: a number a seed and width, whose starts
    are independent."""

    def measure(tables: Tables) -> pd.Series:
        looks = in_stage(tables["widths"], 2).pivot(index=["seed", "width"], columns="time", values=name)
        grown = looks.max(axis=1, skipna=False) / looks[looks.columns.min()]
        return grown.set_axis([f"{seed} at width {width}" for seed, width in grown.index])

    return measure


def descent_exponent(table: str, by: str) -> Measure:
    """Of the step or batch size, in the largest distance over both stages."""
    return lambda tables: log_log_slope(largest_over_time(tables[table], by))


def at_value(table: str, by: str, value: float) -> Measure:
    """The largest distance over both stages at one step or batch size."""
    return lambda tables: rows(tables[table], **{by: value}).groupby("seed")["distance"].agg(largest)


def _closer(table: str, by: str, words: str, values: Sequence[float]) -> dict[str, Comparison]:
    """Each of the values brings descent closer than the next one."""
    return {
        f"{words} {closer:g} and {farther:g}": below(
            at_value(table, by, closer), at_value(table, by, farther), unit="largest relative distance"
        )
        for closer, farther in pairwise(values)
    }


def _orthogonal(column: str) -> list[Claim]:
    kind, *sources = KINDS[column]
    slug = column.replace("_", "-")
    return [
        claim
        for stage, source in enumerate(sources, 1)
        for claim in (
            trend(
                f"ren2023/{source.lower().replace(' ', '-').replace('.', '')}/{slug}-width",
                f"All through {STAGE_NAMES[stage]} of contrastive training at finite width m the "
                f"columns of {kind} keep as close to orthogonal as they begin: their cosine falls like "
                "m^(-1/2).",
                word="for any" if (column, stage) == ("noises", 2) else "For any",
                source=source,
                quantity="slope",
                measure=cosine_exponent(stage, column),
                published=-0.5,
                unit="power of m",
            ),
            *(
                [
                    always(
                        f"ren2023/lemma-c1/{slug}-doubles",
                        f"In {STAGE_NAMES[2]} of contrastive training the cosine between columns of "
                        f"{kind} at most doubles.",
                        word="at most double",
                        source=f"{source}, proof of Lemma C.1",
                        measure=growth(column),
                        at_most=2.0,
                        unit="times that at the boundary, a run a seed and width",
                    )
                ]
                if stage == 2
                else []
            ),
        )
    ]


CLAIMS = [
    *(
        trend(
            f"ren2023/{slug}/width-exponent",
            f"{what} at finite width m ends closer to that of infinite width the wider it is: their "
            "distance falls like m^(-1/2).",
            word=word,
            source=source,
            quantity="slope",
            measure=distance_exponent(stage, loss),
            published=-0.5,
            unit="power of m",
        )
        for slug, what, source, stage, loss, word in (
            (
                "lemma-51",
                f"{STAGE_NAMES[1]} of contrastive training",
                "Lemma 5.1",
                1,
                "contrastive",
                "closely track",
            ),
            (
                "lemma-53",
                f"{STAGE_NAMES[2]} of contrastive training",
                "Lemma 5.3",
                2,
                "contrastive",
                "closely track",
            ),
            (
                "thm43",
                "Non-contrastive learning",
                "Theorem 4.3 (a)",
                2,
                "non-contrastive",
                "sufficiently large",
            ),
        )
    ),
    *(claim for column in KINDS for claim in _orthogonal(column)),
    for_all(
        "ren2023/appD/smaller-step-closer",
        "Gradient descent on the contrastive loss is closer to gradient flow the smaller its step.",
        _closer("steps", "step_size", "steps", sorted(STEPS)),
        word="always",
        source="Appendix D",
    ),
    trend(
        "ren2023/appD/step-exponent",
        "The distance of gradient descent from gradient flow is proportional to the step, so that it "
        "can be made as small as one likes.",
        word="always",
        source="Appendix D",
        quantity="slope",
        measure=descent_exponent("steps", "step_size"),
        published=1.0,
        unit="power of the step",
    ),
    for_all(
        "ren2023/appD/larger-batch-closer",
        "SGD is closer to descent on the expected loss the larger its batches.",
        _closer("batches", "batch_size", "batches", sorted(BATCHES, reverse=True)),
        word="always",
        source="Appendix D",
    ),
    trend(
        "ren2023/appD/batch-exponent",
        "The distance of SGD from descent on the expected loss falls with the root of the batch size,"
        " so that polynomially many samples suffice.",
        word="always",
        source="Appendix D",
        quantity="slope",
        measure=descent_exponent("batches", "batch_size"),
        published=-0.5,
        unit="power of the batch size",
    ),
]
