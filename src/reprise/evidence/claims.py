"""Claims as papers' modules call them: each function makes the comparison and the claim in one call."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from reprise.errors import RepriseError
from reprise.evidence import comparison
from reprise.evidence.claim import Claim, Quantifier, single
from reprise.evidence.comparison import Comparison, Conditions, Course, Measure, Quantity

_CONDITIONS = tuple(Conditions.__annotations__)


def _conditions(rest: dict[str, Any]) -> dict[str, Any]:
    """Takes the attributes of the comparison out of those of a claim."""
    return {name: rest.pop(name) for name in _CONDITIONS if name in rest}


def value(
    id: str,
    statement: str,
    *,
    source: str,
    quantity: Quantity,
    measure: Measure | None,
    published: float | Measure,
    unit: str,
    std: float | None = None,
    n: int | None = None,
    kind: Literal["value", "trend"] = "value",
    **rest: Any,
) -> Claim:
    """`comparison.near`.

    Args:
        rest: attributes of `Comparison` and of `Claim`, here and in the functions below.
    """
    try:
        near = comparison.near(
            measure, published, quantity=quantity, unit=unit, std=std, n=n, kind=kind, **_conditions(rest)
        )
    except RepriseError as error:
        raise RepriseError(f"{id}: {error}") from None
    return single(id, statement, near, source=source, **rest)


def trend(id: str, statement: str, **rest: Any) -> Claim:
    """A slope: compared like a value."""
    return value(id, statement, kind="trend", **rest)


def agreement(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure,
    reference: float | Measure,
    resolution: Measure,
    unit: str,
    **rest: Any,
) -> Claim:
    """`comparison.agrees`."""
    agrees = comparison.agrees(measure, reference, resolution=resolution, unit=unit, **_conditions(rest))
    return single(id, statement, agrees, source=source, **rest)


def limit(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure,
    reaches: float | Measure,
    resolution: Measure,
    course: Course,
    unit: str,
    **rest: Any,
) -> Claim:
    """`comparison.tends_to`."""
    tends_to = comparison.tends_to(
        measure, reaches, resolution=resolution, course=course, unit=unit, **_conditions(rest)
    )
    return single(id, statement, tends_to, source=source, **rest)


def ordering(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure | None,
    unit: str,
    above: float | Measure | None = None,
    below: float | Measure | None = None,
    **rest: Any,
) -> Claim:
    """`comparison.above` or `comparison.below`."""
    compared = _only(measure, unit, _conditions(rest), above=above, below=below)
    return single(id, statement, compared, source=source, **rest)


def count(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure | None,
    unit: str,
    at_least: float | None = None,
    at_most: float | Measure | None = None,
    exactly: float | None = None,
    **rest: Any,
) -> Claim:
    """`comparison.at_least`, `comparison.at_most` or `comparison.exactly`."""
    compared = _only(measure, unit, _conditions(rest), at_least=at_least, at_most=at_most, exactly=exactly)
    return single(id, statement, compared, source=source, **rest)


def always(id: str, statement: str, **rest: Any) -> Claim:
    """`comparison.in_every_run`, of a `count`."""
    return _compared_as(comparison.in_every_run, count(id, statement, **rest))


def given(claim: Claim) -> Claim:
    """`comparison.in_every_case`, of a claim."""
    return _compared_as(comparison.in_every_case, claim)


def identity(id: str, statement: str, *, source: str, measure: Measure) -> Claim:
    """`comparison.identity`."""
    return single(id, statement, comparison.identity(measure), source=source)


def inequality(id: str, statement: str, *, source: str, measure: Measure) -> Claim:
    """`comparison.inequality`."""
    return single(id, statement, comparison.inequality(measure), source=source)


def printed(
    id: str, statement: str, *, source: str, unit: str, measure: Measure, above: float, **rest: Any
) -> Claim:
    """A sentence of the paper about its printed numbers: `measure` reads `published.csv`; nothing is run."""
    compared = replace(comparison.above(measure, above, unit=unit), kind="printed")
    return single(id, statement, compared, source=source, **rest)


def for_all(
    id: str,
    statement: str,
    cells: Mapping[str, Comparison],
    *,
    source: str,
    quantifier: Quantifier = "universal",
    **rest: Any,
) -> Claim:
    """A sentence that holds if it holds in every cell, such as each number of candidates; or that joins
    several sentences, such as "it falls, and more slowly".

    Args:
        cells: what is compared in each cell, by what the report calls the cell: `P = 3, beta = 2`.

    Raises:
        ValueError: if there is no cell.
    """
    return Claim(id, statement, source, dict(cells), quantifier=quantifier, **rest)


def for_some(id: str, statement: str, cells: Mapping[str, Comparison], **rest: Any) -> Claim:
    """A sentence that holds if it holds in one of its cells."""
    return for_all(id, statement, cells, quantifier="existential", **rest)


def _compared_as(change: Any, claim: Claim) -> Claim:
    return replace(claim, cells={name: change(cell) for name, cell in claim.cells.items()})


def _only(
    measure: Measure | None, unit: str, conditions: dict[str, Any], **named: float | Measure | None
) -> Comparison:
    """The comparison of the one name that has a reference."""
    ((name, reference),) = [(name, given) for name, given in named.items() if given is not None]
    return getattr(comparison, name)(measure, reference, unit=unit, **conditions)
