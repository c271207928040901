"""Rounds of seeds, and the looks at which claims are judged on them.

A round is a batch of seeds of an experiment, computed apart: the first has the seeds of the tier, each
further one as many again. Look k judges a claim on the seeds of rounds 1 to k together, and the first look
that decides gives the verdict. Each look has a level of its own, and together they spend `ALPHA`
(Bonferroni), so that over all looks a false verdict is as rare as in one test at that level.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from reprise.contract.experiment import NamedTables, Tables
from reprise.errors import RepriseError

LEVELS = (0.019, 0.002, 0.002, 0.002)
"""The one-sided level of each look. A later look has more seeds and needs less; the first keeps what 200 runs
without a failure need to show that at most 2 % fail, .98^200 = .0176."""
SEED = "seed"
"""The column of a table that says to which seed a row belongs."""
KEYS = ["setting", SEED]


class Look(NamedTuple):
    """A time at which a claim is judged.

    Attributes:
        rounds: how many rounds it joins.
        alpha: its one-sided level.
    """

    rounds: int
    alpha: float

    @property
    def level(self) -> float:
        """The level of the interval that holds all values which no test of this look rejects."""
        return 1 - 2 * self.alpha


FIRST = Look(1, LEVELS[0])


def looks(rounds: int, alpha: float | None = None) -> list[Look]:
    """The looks at so many rounds: one after each, or with `alpha` one alone, at all of them joined.

    Raises:
        RepriseError: if there are more rounds than levels.
    """
    if alpha is not None:
        return [Look(rounds, alpha)]
    if rounds > len(LEVELS):
        raise RepriseError(
            f"{rounds} rounds of seeds: claims are judged on {len(LEVELS)} at most, because each look spends "
            f"a part of the error rate; leave out the last {rounds - len(LEVELS)}"
        )
    return [Look(number, level) for number, level in enumerate(LEVELS[:rounds], start=1)]


def join(rounds: Sequence[Tables]) -> Tables:
    """The tables of several rounds as those of one run. A later round adds the seeds that no earlier one has
    in the same table and setting; rows of no seed are the first round's.

    Args:
        rounds: one at least, with the same tables.

    Raises:
        RepriseError: if a round lacks a table or a column, or has another one.
    """
    if len(rounds) == 1:
        return rounds[0]
    for number, tables in enumerate(rounds[1:], start=2):
        _require_same(f"round {number}", "tables", tables, rounds[0])
    return NamedTables({name: _joined(name, [tables[name] for tables in rounds]) for name in rounds[0]})


def _joined(name: str, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One table of several rounds."""
    joined = parts[0]
    for number, part in enumerate(parts[1:], start=2):
        _require_same(f"the table '{name}' of round {number}", "columns", part, joined)
        if SEED in part:
            keys = [key for key in KEYS if key in part]
            known = pd.MultiIndex.from_frame(joined[keys].drop_duplicates())
            is_new = part[SEED].notna() & ~pd.MultiIndex.from_frame(part[keys]).isin(known)
            joined = pd.concat([joined, part[is_new]], ignore_index=True)
    return joined


def _require_same(what: str, parts: str, found: Iterable[Any], first: Iterable[Any]) -> None:
    """Raises RepriseError unless a round has the same tables or columns as the first."""
    if set(found) != set(first):
        raise RepriseError(
            f"{what} has the {parts} {', '.join(map(str, found))}, and that of round 1 "
            f"{', '.join(map(str, first))}: they are of different versions of the experiment; run them again"
        )


def rounds_of(rounds: Sequence[Tables]) -> dict[Hashable, int]:
    """The round that each seed belongs to, the first one that has it."""
    found: dict[Hashable, int] = {}
    for number, tables in enumerate(rounds, start=1):
        for table in tables.values():
            for seed in table[SEED].dropna().unique() if SEED in table else ():
                found.setdefault(seed, number)
    return found
