"""Claims of the lemmas and Appendix D about finite width, and about descent beside gradient flow."""

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import Comparison, Measure, at_most, in_every_run, near
from reprise.evidence.edits import times
from reprise.evidence.measures import first, largest, last, log_log_slope, rows
from reprise.papers.ren2023.words import STAGE_NAMES

KINDS = {
    "signals": "two signals",
    "signal_noise": "a signal and a noise",
    "noises": "two noises",
}
"""Cosines by their column, and between which columns of K_A and K_B they are."""
WIDTH = (
    "the paper asks for a sufficiently (polynomially) large m (Theorem 4.3, Lemma B.1); what more it says of "
    "m our copy has lost"
)
POWER = f"the power of m is ours: that of inner products of random columns; {WIDTH}"

CLOSE = {
    "lemma-51": Quotation(
        "the finite-width dynamics closely track the infinite-width one throughout Stage 1",
        at="Lemma 5.1, Section 5.3",
    ),
    "lemma-53": Quotation(
        "the finite-width dynamics still closely track the infinite-width one throughout Stage 2",
        at="Lemma 5.3, Section 5.4",
    ),
    "thm43": Quotation(
        "it suffices to consider the infinite-width case, since, as we have proved earlier, the finite-width "
        "trajectory tracks the infinite-width one",
        at="Theorem 4.3 (a), proof of Lemma B.17, Appendix B.5",
    ),
}
ARMS = {
    "lemma-51": (f"{STAGE_NAMES[1]} of contrastive training", 1, "contrastive", "closely track"),
    "lemma-53": (f"{STAGE_NAMES[2]} of contrastive training", 2, "contrastive", "closely track"),
    "thm43": ("Non-contrastive learning", 2, "non-contrastive", "tracks"),
}
"""By lemma: the run, its stage and loss, and the word that decides."""
STILL_SMALL = Quotation(
    "can be made arbitrarily small at initialization, this implies that we can make sure it is still small "
    "at the end of Stage 1",
    at="Lemma B.15, Appendix B.3",
)
SAME_SPIRIT = Quotation(
    "the orthogonality conditions between the signals and noises and between noises. The proof follows the "
    "same spirit",
    at="Lemma B.16, Appendix B.3",
)
AT_MOST_DOUBLE = Quotation(
    "these errors can at most double within time ... if they are sufficiently small at the beginning of "
    "Stage 2",
    at="Proof of Lemma C.1, Appendix C.6",
)
SMALL_STEP = Quotation(
    "one can always make the GF-to-GD discretization error sufficiently (inverse polynomially) small by "
    "choose a sufficiently (inverse polynomially) small learning rate",
    at="Appendix D",
)
MANY_SAMPLES = Quotation(
    "one can always make the GF-to-GD discretization error sufficiently (inverse polynomially) small by ... "
    "generating sufficiently (polynomially) many samples",
    at="Appendix D",
)


def largest_over_time(table: pd.DataFrame, by: str, name: str = "distance") -> pd.DataFrame:
    """The largest number over time: a row a seed, a column a value of `by`."""
    return table.groupby(["seed", by])[name].agg(largest).unstack(by)


def in_stage(table: pd.DataFrame, stage: int, loss: str = "contrastive") -> pd.DataFrame:
    """The looks of a stage, its first included."""
    looks = rows(table, loss=loss)
    boundary = looks.loc[looks["stage"] == 1, "time"].max()
    return looks[looks["time"] <= boundary] if stage == 1 else looks[looks["time"] >= boundary]


def at_end(table: pd.DataFrame, stage: int, loss: str = "contrastive") -> pd.DataFrame:
    """The last look of a stage."""
    return rows(in_stage(table, stage, loss), time=last)


def distance_exponent(stage: int, loss: str) -> Measure:
    """Exponent of m in the distance from the limit at the end of a stage."""
    return lambda tables: log_log_slope(largest_over_time(at_end(tables["widths"], stage, loss), "width"))


def cosine_exponent(stage: int, name: str) -> Measure:
    """Exponent of m in the largest cosine over a stage."""
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
    """Exponent of the step or batch size in the largest distance over both stages."""
    return lambda tables: log_log_slope(largest_over_time(tables[table], by))


def _power(measure: Measure, power: float, *, of: str) -> Comparison:
    return near(measure, power, quantity="slope", kind="trend", unit=f"power of {of}")


@each(ARMS)
def closer_to_the_limit(lemma: str) -> Claim:
    what, stage, loss, word = ARMS[lemma]

    @claim(
        f"ren2023/{lemma}/width-exponent",
        f"""{what} at finite width m ends closer to that of infinite width the wider it is: their distance
        falls like m^(-1/2).""",
        quotes=CLOSE[lemma],
        word=word,
        reading=POWER,
        broken_by=times("widths", "distance", 99.0, width=last, loss=loss, stage=stage, time=last),
    )
    def cells() -> Comparison:
        return _power(distance_exponent(stage, loss), -0.5, of="m")

    return cells


@claim(
    "ren2023/lemma-b15/signals-width",
    f"""All through {STAGE_NAMES[1]} of contrastive training at finite width m the columns of two signals keep
    as close to orthogonal as they begin: their cosine falls like m^(-1/2).""",
    quotes=STILL_SMALL,
    word="make sure",
    reading=POWER,
    broken_by=times("widths", "signals", 99.0, width=last),
)
def signals_stay_orthogonal() -> Comparison:
    return _power(cosine_exponent(1, "signals"), -0.5, of="m")


@claim(
    "ren2023/lemma-b16/noises-width",
    f"""All through {STAGE_NAMES[1]} of contrastive training at finite width m the columns of noises keep as
    close to orthogonal to those of signals and to each other as they begin: their cosine falls like
    m^(-1/2).""",
    quotes=(SAME_SPIRIT, STILL_SMALL),
    word="make sure",
    reading=POWER,
    broken_by=times("widths", ("signal_noise", "noises"), 99.0, width=last),
)
def noises_stay_orthogonal() -> Cells:
    for column in ("signal_noise", "noises"):
        yield KINDS[column], _power(cosine_exponent(1, column), -0.5, of="m")


@claim(
    "ren2023/lemma-c1/doubles",
    f"""In {STAGE_NAMES[2]} of contrastive training the cosine between columns that are orthogonal at infinite
    width at most doubles.""",
    quotes=AT_MOST_DOUBLE,
    word="at most double",
    reading=WIDTH,
    broken_by=times("widths", tuple(KINDS), 4.0, loss="contrastive", stage=2),
)
def cosines_double_at_most() -> Cells:
    for column, columns in KINDS.items():
        doubles = at_most(growth(column), 2.0, unit="times that at the boundary, a run a seed and width")
        yield columns, in_every_run(doubles)


@claim(
    "ren2023/appD/step-exponent",
    """The distance of gradient descent from gradient flow is proportional to the step, so that it can be made
    as small as one likes.""",
    quotes=SMALL_STEP,
    word="always",
    reading="the power of the step is ours: that of Euler's method",
    broken_by=times("steps", "distance", 99.0, step_size=first),
)
def smaller_steps() -> Comparison:
    return _power(descent_exponent("steps", "step_size"), 1.0, of="the step")


@claim(
    "ren2023/appD/batch-exponent",
    """The distance of SGD from descent on the expected loss falls with the root of the batch size, so that
    polynomially many samples suffice.""",
    quotes=MANY_SAMPLES,
    word="always",
    reading="the power of the batch size is ours: that of a mean over samples",
    broken_by=times("batches", "distance", 99.0, batch_size=last),
)
def larger_batches() -> Comparison:
    return _power(descent_exponent("batches", "batch_size"), -0.5, of="the batch size")
