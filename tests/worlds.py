"""Worlds in which a sentence is true or false by a known amount, and how often the judge says so.

`python tests/worlds.py` prints the tables of docs/evidence.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from stating import stated

from reprise.evidence import comparison as m
from reprise.evidence.claim import Claim
from reprise.evidence.estimates import MIN_RANKED
from reprise.evidence.judgement import Judgement, judge

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""From a generator and a number of seeds to observations with a scale of about 1."""
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


@dataclass(frozen=True)
class Rates:
    """How often a world's sentence comes out wrong where it is only just false, or true, and how often an
    effect of 2 is found."""

    false_reproduced: float
    false_contradicted: float
    power: float


def centre(draw: Draw, seeds: int) -> float:
    """What is estimated: the mean below eight seeds, from then on the median of averages of two runs."""
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


def rows(worlds: int = 4000) -> list[tuple[Any, ...]]:
    """The table of docs/evidence.md: a row a shape and number of seeds."""
    return [
        (name, seeds, *(f"{100 * number:.1f}" for number in vars(of_shape(draw, seeds, worlds)).values()))
        for name, draw in SHAPES.items()
        for seeds in (3, 5, 10, 20)
    ]


if __name__ == "__main__":
    print("| observations | seeds | false `reproduced`, % | false `contradicted`, % | effect of 2 found, % |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for row in rows():
        print("| " + " | ".join(map(str, row)) + " |")
