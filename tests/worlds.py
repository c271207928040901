"""Worlds in which a sentence is true or false by a known amount, and how often the judge says so.

`python tests/worlds.py [NAME ...]` writes the tables of docs/evidence.md, or some of them.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from stating import stated

from reprise.evidence import chance
from reprise.evidence import comparison as m
from reprise.evidence.claim import Claim
from reprise.evidence.estimates import MIN_RANKED
from reprise.evidence.judgement import Judgement, judge
from reprise.evidence.rounds import FIRST, LEVELS, looks

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Function from a generator and a number of seeds to observations with a scale of about 1."""
UNIT = "1"


def column(name: str) -> m.Measure:
    return lambda tables: tables["t"][name]


def sentence(quantifier: str, cells: int, unit: str = UNIT) -> Claim:
    """A sentence about cells, that each has an effect above 0."""
    compared = {f"{cell}": m.above(column(f"{cell}"), 0.0, unit=unit) for cell in range(cells)}
    return stated(compared, quantifier=quantifier)


def tables(samples: np.ndarray) -> dict[str, pd.DataFrame]:
    """Tables of one world.

    Args:
        samples: shape (cell, seed).
    """
    return {"t": pd.DataFrame({str(cell): values for cell, values in enumerate(samples)})}


def normal(generator: np.random.Generator, seeds: int) -> np.ndarray:
    return generator.normal(size=seeds)


def judged(
    claim: Claim, effects: Sequence[float], seeds: int, worlds: int, draw: Draw = normal, seed: int = 0
) -> list[Judgement]:
    """The judgements in worlds whose cells have these true effects, in standard deviations."""
    generator = np.random.default_rng(seed)
    return [
        judge(claim, tables(np.stack([effect + draw(generator, seeds) for effect in effects])))
        for _ in range(worlds)
    ]


def rate(judgements: Sequence[Judgement], verdict: str) -> float:
    return float(np.mean([each.verdict == verdict for each in judgements]))


def heavy(generator: np.random.Generator, seeds: int) -> np.ndarray:
    return generator.standard_t(2, size=seeds)


def ties(generator: np.random.Generator, seeds: int) -> np.ndarray:
    return np.round(generator.normal(size=seeds) * 2) / 2


def skewed(generator: np.random.Generator, seeds: int) -> np.ndarray:
    return generator.exponential(size=seeds)


def at_a_bound(generator: np.random.Generator, seeds: int) -> np.ndarray:
    return np.minimum(generator.normal(size=seeds), 0.3)


def collapsing(generator: np.random.Generator, seeds: int) -> np.ndarray:
    """One run in ten collapses, three standard deviations down."""
    return generator.normal(size=seeds) - 3.0 * (generator.random(seeds) < 0.1)


def lumpy(generator: np.random.Generator, seeds: int) -> np.ndarray:
    """Two basins, which half of the runs reach each."""
    return 1.5 * generator.choice([-1.0, 1.0], size=seeds) + 0.2 * generator.normal(size=seeds)


SHAPES: Mapping[str, Draw] = {
    "normal": normal, "heavy tails (t with 2 degrees)": heavy, "ties (halves)": ties,
    "skewed (exponential)": skewed, "cut at a bound": at_a_bound, "one run in ten collapses": collapsing,
    "two basins": lumpy,
}  # fmt: skip


TRIED = (3, 5, 10, 20)
"""Numbers of seeds."""


@dataclass(frozen=True)
class Rates:
    """Rates at which a world's sentence comes out wrong where it is only just false, or true, and at which an
    effect of 2 is found."""

    false_reproduced: float
    false_contradicted: float
    power: float


def centre(draw: Draw, seeds: int) -> float:
    """The estimand: the mean below eight seeds, from then on the median of averages of two runs."""
    first, second = np.random.default_rng(1).spawn(2)
    pairs = draw(first, 10**6), draw(second, 10**6)
    return float(pairs[0].mean() if seeds < MIN_RANKED else np.median((pairs[0] + pairs[1]) / 2))


def of_shape(draw: Draw, seeds: int, worlds: int) -> Rates:
    claim, at = sentence("universal", 1), centre(draw, seeds)
    barely = judged(claim, [1e-9 - at], seeds, worlds, draw)
    return Rates(
        rate(judged(claim, [-at], seeds, worlds, draw), "reproduced"),
        rate(barely, "contradicted"),
        rate(judged(claim, [2.0 - at], seeds, worlds // 4, draw), "reproduced"),
    )


def rates(worlds: int = 4000) -> list[tuple[str, ...]]:
    """Error rates and power, in %: a row a shape; in a cell, a number for each number of seeds."""
    found = {name: [vars(of_shape(draw, seeds, worlds)) for seeds in TRIED] for name, draw in SHAPES.items()}
    return [
        (name, *(", ".join(f"{100 * each[error]:.1f}" for each in by_seeds) for error in by_seeds[0]))
        for name, by_seeds in found.items()
    ]


# Rounds of seeds.


SEEDS = 5
"""Seeds of a round."""


class Effects(NamedTuple):
    """A sentence about cells, and their true effects, in standard deviations.

    Attributes:
        says: the effects, in words.
    """

    quantifier: str
    says: str
    effects: tuple[float, ...]

    @property
    def is_false(self) -> bool:
        return "false" in self.says


IN_ROUNDS = (
    *(
        Effects("universal", "0 in one cell, 5 in the others: false", (0.0,) + (5.0,) * (cells - 1))
        for cells in (1, 4, 16)
    ),
    Effects("generic", ".6 and -.6: false", (0.6, -0.6) * 2),
    *(
        Effects("universal", f"{effect:g}", (effect,) * cells)
        for cells in (1, 4, 16)
        for effect in (1.0, 2.0)
    ),
)


def in_rounds(about: Effects, worlds: int, seed: int = 0) -> list[tuple[str, int]]:
    """The verdict in each world with these effects, and the number of rounds after which it was reached."""
    generator, cells = np.random.default_rng(seed), len(about.effects)
    claim = sentence(about.quantifier, cells)
    found = []
    for _ in range(worlds):
        values = np.array(about.effects)[:, None] + generator.normal(size=(cells, SEEDS * len(LEVELS)))
        for look in looks(len(LEVELS)):
            verdict = judge(claim, tables(values[:, : SEEDS * look.rounds]), alpha=look.alpha).verdict
            if verdict != "inconclusive":
                break
        found.append((verdict, look.rounds))
    return found


def reproduced_by(verdicts: Sequence[tuple[str, int]]) -> list[float]:
    """The share of worlds in which the sentence is reproduced after one round, after two, ..."""
    holding = np.array([rounds for verdict, rounds in verdicts if verdict == "reproduced"])
    return [float((holding <= number).sum()) / len(verdicts) for number in range(1, len(LEVELS) + 1)]


def row_in_rounds(about: Effects) -> tuple[Any, ...]:
    """A row of the table: of a false sentence from 4,000 worlds, of a true one from 1,000."""
    shares = reproduced_by(in_rounds(about, 4000 if about.is_false else 1000))
    cells = len(about.effects)
    return (about.quantifier, cells, about.says, *(f"{100 * share:.1f}" for share in shares))


# The chance of coming out the same.


class World(NamedTuple):
    """Sentences of one form, whose truth is drawn anew each time.

    Attributes:
        claim: the sentence.
        truth: draws the true effect in each cell.
        seen: from a generator, these effects and a number of seeds to observations, shape (cell, seed).
    """

    claim: Claim
    truth: Callable[[np.random.Generator], np.ndarray]
    seen: Callable[[np.random.Generator, np.ndarray, int], np.ndarray]


def cauchy(generator: np.random.Generator, cells: int = 1) -> np.ndarray:
    """Effects of all sizes, as the prior has them; those in cells differ by half a standard deviation."""
    return 2 * generator.standard_cauchy() + 0.5 * generator.normal(size=cells) * (cells > 1)


@cache
def shape_centre(name: str, is_ranked: bool) -> float:
    return centre(SHAPES[name], MIN_RANKED if is_ranked else MIN_RANKED - 1)


def of_the_shape(name: str, generator: np.random.Generator, effects: np.ndarray, seeds: int) -> np.ndarray:
    drawn = np.stack([SHAPES[name](generator, seeds) for _ in effects])
    return effects[:, None] + drawn - shape_centre(name, seeds >= MIN_RANKED)


def coins(generator: np.random.Generator, shares: np.ndarray, seeds: int) -> np.ndarray:
    return (generator.random((len(shares), seeds)) < shares[:, None]).astype(float)


def counts(generator: np.random.Generator, effects: np.ndarray, seeds: int) -> np.ndarray:
    return np.round(of_the_shape("normal", generator, effects, seeds))


BELL = partial(of_the_shape, "normal")
WORLDS: Mapping[str, World] = {
    **{name: World(sentence("universal", 1), cauchy, partial(of_the_shape, name)) for name in SHAPES},
    "universal, 4 cells": World(sentence("universal", 4), partial(cauchy, cells=4), BELL),
    "universal, 16 cells": World(sentence("universal", 16), partial(cauchy, cells=16), BELL),
    "generic, 4 cells": World(sentence("generic", 4), partial(cauchy, cells=4), BELL),
    "existential, 4 cells": World(sentence("existential", 4), partial(cauchy, cells=4), BELL),
    "within a margin of 1": World(
        stated(m.near(column("0"), 0.0, quantity="score", unit=UNIT, margin=1.0)), cauchy, BELL
    ),
    "count": World(stated(m.at_least(column("0"), 1, unit=UNIT)), cauchy, counts),
    "share of runs": World(
        stated(m.above(column("0"), 0.5, unit=UNIT, bounds=m.SHARE)), lambda draw: draw.random(1), coins
    ),
}
SMALL: Mapping[str, World] = {
    f"normal, all effects small ({size:g})": World(
        sentence("universal", 1), partial(lambda size, draw: size * draw.normal(size=1), size), BELL
    )
    for size in (1.0, 0.5)
}
"""Worlds in which no effect is large, which the prior does not expect."""


class Calibration(NamedTuple):
    """Chances as they were stated, and how often it came out so.

    Attributes:
        same, came_same: of decided verdicts, that they come out the same on fresh seeds.
        more, came_decided: of undecided ones, that as many seeds again decide them.
    """

    same: np.ndarray
    came_same: np.ndarray
    more: np.ndarray
    came_decided: np.ndarray


def calibration(world: World, seeds: int, worlds: int, seed: int = 0) -> Calibration:
    generator = np.random.default_rng(seed)
    decided, undecided = [], []
    for _ in range(worlds):
        effects = world.truth(generator)
        first, second = (world.seen(generator, effects, seeds) for _ in range(2))
        one = judge(world.claim, tables(first), alpha=FIRST.alpha)
        if one.verdict == "inconclusive":
            stated_more = chance.with_more(world.claim, one, seeds, LEVELS[1])
            both = judge(world.claim, tables(np.concatenate([first, second], axis=1)), alpha=LEVELS[1])
            undecided.append((stated_more, both.verdict != "inconclusive"))
        else:
            stated_same = chance.of_verdict(world.claim, one, {}, FIRST.alpha)
            again = judge(world.claim, tables(second), alpha=FIRST.alpha)
            decided.append((stated_same, again.verdict == one.verdict))
    same, more = (np.array(each, dtype=float).reshape(-1, 2) for each in (decided, undecided))
    return Calibration(same[:, 0], same[:, 1], more[:, 0], more[:, 1])


def chances(name: str, seeds: int, worlds: int = 1000) -> list[str]:
    """Chances in %, stated/came on average: of decided sentences, and of undecided ones; a dash where none
    is."""
    found = calibration((WORLDS | SMALL)[name], seeds, worlds)
    pairs = [(found.same, found.came_same), (found.more, found.came_decided)]
    return ["/".join(f"{100 * each.mean():.0f}" for each in pair) if len(pair[0]) else "–" for pair in pairs]


def row_of_chances(name: str) -> tuple[str, ...]:
    """A row of the table; in a cell, a pair for each number of seeds."""
    return (name, *map(", ".join, zip(*(chances(name, seeds) for seeds in TRIED[:3]), strict=True)))


# The tables of docs/evidence.md.


DOCUMENT = Path(__file__).parents[1] / "docs" / "evidence.md"
SPENT = [f"{sum(LEVELS[:number]):.3f}"[1:] for number in range(1, len(LEVELS) + 1)]
WORDS = ("observations", "sentence", "effects", "worlds")
"""Columns of words."""
TABLES: Mapping[str, tuple[Sequence[str], Callable[[], Iterable[tuple[Any, ...]]]]] = {
    "rates": (
        ("observations", "false `reproduced`, %", "false `contradicted`, %", "effect of 2 found, %"),
        rates,
    ),
    "rounds": (
        ("sentence", "cells", "effects", *(f"{n} ({spent})" for n, spent in enumerate(SPENT, start=1))),
        lambda: map(row_in_rounds, IN_ROUNDS),
    ),
    "chance": (
        ("worlds", "comes out the same: stated/came", "decided by as many more: stated/came"),
        lambda: map(row_of_chances, WORLDS | SMALL),
    ),
}
"""Columns of each table and the function that makes its rows, by the name of its marks."""


def line(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def table(name: str) -> str:
    """A table, made anew, in Markdown."""
    columns, rows = TABLES[name]
    ruler = ["---" if each in WORDS else "---:" for each in columns]
    return "\n".join(map(line, (columns, ruler, *rows())))


def write(name: str) -> None:
    """Makes a table anew between its marks in the document."""
    made = table(name)
    marks = rf"(<!-- {name} -->\n).*(<!-- end of {name} -->)"
    text = DOCUMENT.read_text(encoding="utf-8")
    text = re.sub(marks, lambda found: f"{found[1]}{made}\n{found[2]}", text, flags=re.DOTALL)
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        write(name)
