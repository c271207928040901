"""Changes to an experiment's tables that refute a claim: its `broken_by`.

    times("trajectory", "norm_w1", 0.5, step=last)

halves W1's norm at the last step, and leaves the rest as it is. Rows are selected as measures select them
(`measures.rows`).
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from reprise.contract.experiment import NamedTables, Tables
from reprise.evidence.claim import Change
from reprise.evidence.measures import rows


def put(table: str, columns: str | Sequence[str], value: Any, /, **where: Any) -> Change:
    """Sets columns to a value."""
    return _edited(table, columns, where, lambda chosen: pd.DataFrame(value, chosen.index, chosen.columns))


def plus(table: str, columns: str | Sequence[str], amount: float, /, **where: Any) -> Change:
    """Adds an amount to columns."""
    return _edited(table, columns, where, lambda chosen: chosen + amount)


def times(table: str, columns: str | Sequence[str], factor: float, /, **where: Any) -> Change:
    """Multiplies columns by a factor."""
    return _edited(table, columns, where, lambda chosen: chosen * factor)


def swapped(table: str, column: str, one: Any, other: Any, /, **where: Any) -> Change:
    """Exchanges two labels of a column, so that the rows of each become those of the other.

    Raises:
        ValueError: when the change is made, if a label is not in the selected rows.
    """

    def change(chosen: pd.DataFrame) -> pd.DataFrame:
        if missing := [label for label in (one, other) if not (chosen[column] == label).any()]:
            raise ValueError(f"swapped: '{table}' has no {column} = {missing[0]!r} in these rows")
        return chosen.replace({column: {one: other, other: one}})

    return _edited(table, column, where, change)


def without(table: str, /, **where: Any) -> Change:
    """Leaves rows out.

    Raises:
        ValueError: when the change is made, if it selects no row.
    """

    def changed(tables: Tables) -> Tables:
        left_out = rows(tables[table], **where).index
        if left_out.empty:
            raise ValueError(f"the change selects no row of '{table}': {where}")
        return NamedTables({**tables, table: tables[table].drop(left_out)})

    return changed


def together(*changes: Change) -> Change:
    """Makes several changes, one after another."""

    def changed(tables: Tables) -> Tables:
        for change in changes:
            tables = change(tables)
        return tables

    return changed


def _edited(table: str, columns: str | Sequence[str], where: dict[str, Any], change: Any) -> Change:
    """A change of some columns in the rows that `where` selects.

    Raises:
        ValueError: when the change is made, if it selects no row.
    """
    names = [columns] if isinstance(columns, str) else list(columns)

    def edited(tables: Tables) -> Tables:
        chosen = rows(tables[table], **where)[names]
        if chosen.empty:
            raise ValueError(f"the change selects no row of '{table}': {where}")
        changed = tables[table].copy()
        untouched = ~changed.index.isin(chosen.index)
        for name, values in change(chosen).items():
            changed[name] = changed[name].where(untouched, values)
        return NamedTables({**tables, table: changed})

    return edited
