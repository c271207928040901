"""The rows that random numbers reach: an experiment is computed again with one of its streams replaced."""

import re

import numpy as np
import pandas as pd

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.numerics import streams

KEY = streams._key


def purposes(monkeypatch, id, params):
    """The purposes of all streams that an experiment draws from."""
    found = set()
    monkeypatch.setattr(streams, "_key", lambda seed, purpose: found.add(purpose) or KEY(seed, purpose))
    registry.experiment(id).compute()(params, Context())
    monkeypatch.setattr(streams, "_key", KEY)
    return found


def turned(monkeypatch, id, params, purpose, seeds=None):
    """The tables with other numbers from the streams of a purpose, a regular expression, for these seeds or
    all."""

    def key(seed, name):
        other = re.fullmatch(purpose, name) and (seeds is None or seed in seeds)
        return KEY(seed, f"{name}, other numbers" if other else name)

    monkeypatch.setattr(streams, "_key", key)
    tables = registry.experiment(id).compute()(params, Context())
    monkeypatch.setattr(streams, "_key", KEY)
    return tables


def assert_reaches(before, after, reached):
    """The tables differ in rows of the queries, one of each table, and nowhere else.

    Args:
        reached: table -> query; "" for all rows. Of a table with several queries every one has a row that
            differs.
    """
    assert set(reached) <= set(before)
    for name, table in before.items():
        queries = np.atleast_1d(reached.get(name, [])).tolist()
        changed = differing(table, after[name])
        allowed = pd.Series(False, index=table.index)
        for query in queries:
            rows = table.index if query == "" else table.query(query).index
            assert len(rows), (name, query)
            allowed[rows] = True
            assert changed[rows].any(), f"nothing of '{name}' changes where {query or 'anything'}"
        strays = table[changed & ~allowed]
        assert strays.empty, f"'{name}' changes elsewhere:\n{strays.head()}"


def differing(table, other):
    """The rows in which any column differs; NaN equals NaN."""
    assert len(table) == len(other)
    same = (table == other) | (table.isna() & other.isna())
    return ~same.all(axis=1)
