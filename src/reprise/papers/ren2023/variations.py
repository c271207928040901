"""Other plausible values of settings that the paper leaves open: each alone, and every two together."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, TypeVar

from reprise.contract.settings import Settings, replaced

S = TypeVar("S", bound=Settings)
Values = Mapping[str, tuple[str, float, float]]
"""The symbol of each field, a smaller value and a larger one."""


def variations(params: S, values: Values, *, where: str = "", **common: Any) -> dict[str, S]:
    """Settings by name: each field at its smaller and at its larger value, and every two fields together.

    In pairs, smaller and larger values alternate.

    Args:
        where: what the names begin with.
        common: fields that all of them change.
    """
    grid: dict[str, dict[str, object]] = {}
    for field, (symbol, *both) in values.items():
        grid |= {f"{where}{symbol} = {value:g}": {field: value} for value in both}
    for number, (first, second) in enumerate(combinations(values, 2)):
        levels = {first: values[first][1 + number % 2], second: values[second][1 + number // 2 % 2]}
        name = ", ".join(f"{values[field][0]} = {value:g}" for field, value in levels.items())
        grid[where + name] = dict(levels)
    return {name: replaced(params, {**common, **changes}) for name, changes in grid.items()}
