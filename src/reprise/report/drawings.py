"""Small drawings in SVG: a claim's observations against what it allows, and printed numbers against ours."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from reprise.evidence.judgement import VERDICTS, Verdict
from reprise.report.numbers import interval, number
from reprise.report.schema import Claim, Paper, Reading

DRAWN = ("value", "ordering", "trend", "limit", "count", "always", "given")
"""The types of statement whose observations have a place on a line; the others are about rounding errors."""
SIZE, EDGE = 440, 46
"""Side of a panel, and the room for its axes' labels, in pixels."""
TICKS = 4
MOST_LINES = 60
"""Most lines of one claim's drawing."""
OURS = "main setting"


@dataclass(frozen=True)
class Line:
    """One line of a claim's drawing.

    Attributes:
        style: where its interval begins and ends and its mean lies, in percent of the width, as CSS.
        dots: an SVG with a dot for each seed; empty if they are not known.
    """

    name: str
    verdict: Verdict | None
    text: str
    style: str
    dots: str


@dataclass(frozen=True)
class Drawing:
    """A claim's lines on one axis, the difference from the reference.

    Attributes:
        low, high: of the band that the claim allows, in percent of the width.
        zero: the place of no difference, likewise.
        axis: the ends of the axis and its unit, in words.
        more: how many lines are left out.
    """

    lines: list[Line]
    low: float
    high: float
    zero: float
    axis: str
    more: int


@dataclass(frozen=True)
class Span:
    """The numbers of a line, as differences from its reference."""

    name: str
    verdict: Verdict | None
    text: str
    centre: float
    low: float | None
    high: float | None
    dots: Sequence[float] = ()


def drawing(claim: Claim) -> Drawing | None:
    """A claim's seeds, intervals, cells and other settings; None if nothing was observed that has a place on
    a line."""
    spans = list(_spans(claim)) if claim.kind in DRAWN else []
    if not spans:
        return None
    low, high = allowed(claim)
    ends = [
        end for each in spans for end in (each.centre, each.low, each.high, *each.dots) if end is not None
    ]
    ends += [end for end in (low, high, 0.0) if math.isfinite(end)]
    least, most = min(ends), max(ends)
    room = 0.04 * (most - least) or 1.0
    least, most = least - room, most + room

    def place(value: float) -> float:
        return round(100 * (min(max(value, least), most) - least) / (most - least), 1)

    lines = [_line(each, place) for each in spans[:MOST_LINES]]
    axis = f"{number(float(f'{least:.2g}'))} to {number(float(f'{most:.2g}'))} {claim.unit}".strip()
    return Drawing(lines, place(low), place(high), place(0.0), axis, len(spans) - len(lines))


def _spans(claim: Claim) -> Iterator[Span]:
    reference, ours = claim.reference, _ours(claim)
    if ours is not None and reference is not None and not claim.cells:
        if not claim.settings:
            yield ours
        if claim.published is not None:
            shown = claim.published
            yield Span("published", None, interval(shown.value, shown.low, shown.high),
                        shown.value - reference, _less(shown.low, reference),
                        _less(shown.high, reference))  # fmt: skip
        if claim.low is not None and claim.high is not None and claim.low != claim.own_low:
            both = [_less(end, reference) for end in (claim.observed, claim.low, claim.high)]
            yield Span("difference, both spreads", None, interval(*both), both[0] or 0.0, both[1], both[2])
    if claim.is_one_scale:
        yield from _of_readings(claim.cells)
    yield from specification_curve(claim)


def specification_curve(claim: Claim) -> list[Span]:
    """A claim in each setting of what its paper leaves open, the published one included, sorted by the
    difference (Simonsohn, Simmons and Nelson 2020); empty if nothing is left open, or if cells differ in what
    they compare."""
    ours = _ours(claim)
    if (
        not claim.settings
        or ours is None
        or claim.kind not in DRAWN
        or not (claim.is_one_scale or not claim.cells)
    ):
        return []
    return sorted([ours, *_of_readings(claim.settings)], key=lambda span: span.centre)


def _ours(claim: Claim) -> Span | None:
    """Makes the line of the main setting; None where nothing was observed."""
    if claim.observed is None or claim.reference is None:
        return None
    text = interval(claim.observed, claim.own_low, claim.own_high)
    centre, low, high = (
        _less(end, claim.reference) for end in (claim.observed, claim.own_low, claim.own_high)
    )
    dots = [] if claim.cells else [value - claim.reference for value in claim.values]
    return Span(OURS if claim.settings else "ours", claim.here, text, centre or 0.0, low, high, dots)


def _of_readings(readings: Iterable[Reading]) -> Iterator[Span]:
    for each in readings:
        if each.observed is not None and each.reference is not None:
            yield Span(each.name, each.verdict, interval(each.observed, each.low, each.high),
                        each.observed - each.reference, _less(each.low, each.reference),
                        _less(each.high, each.reference))  # fmt: skip


def _less(value: float | None, reference: float) -> float | None:
    return None if value is None else value - reference


def allowed(claim: Claim) -> tuple[float, float]:
    """The differences that the claim allows."""
    margin = claim.margin or 0.0
    if claim.relation == "near":
        return -margin, margin
    return (0.0, math.inf) if claim.relation in ("above", "at least") else (-math.inf, 0.0)


def _line(span: Span, place: Callable[[float], float]) -> Line:
    centre = place(span.centre)
    ends = (centre if end is None else place(end) for end in (span.low, span.high))
    style = ";".join(f"--{name}:{value:g}" for name, value in zip("abc", (*ends, centre), strict=True))
    dots = "".join(f"M{place(dot):g} 5h0" for dot in span.dots)
    picture = f'<svg viewBox="0 0 100 10" preserveAspectRatio="none"><path d="{dots}"/></svg>' if dots else ""
    return Line(span.name, span.verdict, span.text, style, picture)


# Printed numbers against ours.


def comparisons(papers: Iterable[Paper]) -> list[tuple[str, list[Claim]]]:
    """The claims that compare a printed number with one measured as published, by paper and unit."""
    groups: dict[tuple[str, str], list[Claim]] = {}
    for paper in papers:
        compared = {number.claim for number in paper.numbers if number.difference is not None}
        for claim in paper.claims:
            if claim.id in compared:
                groups.setdefault((paper.key, claim.unit), []).append(claim)
    return [(f"{key}: {unit}", claims) for (key, unit), claims in groups.items()]


def panel(title: str, claims: Sequence[Claim]) -> str:
    """Published numbers from left to right, ours from bottom to top, each with its interval and a link to its
    claim; the band is what still counts as equal."""
    points = [(claim, claim.published) for claim in claims if claim.published is not None]
    ends = [
        end
        for claim, shown in points
        for end in (claim.observed, claim.own_low, claim.own_high, shown.value, shown.low, shown.high)
        if end is not None
    ]
    least, most = min(ends), max(ends)
    room = 0.05 * (most - least) or 1.0
    least, most = least - room, most + room
    side = SIZE - EDGE - 10

    def x(value: float) -> float:
        return round(EDGE + side * (min(max(value, least), most) - least) / (most - least), 1)

    def y(value: float) -> float:
        return round(10 + side - side * (min(max(value, least), most) - least) / (most - least), 1)

    marks = [_band(max(claim.margin or 0.0 for claim in claims), least, most, x, y)]
    for tick in _ticks(least, most):
        marks.append(f'<path class="grid" d="M{x(tick):g} 10V{10 + side}M{EDGE} {y(tick):g}H{EDGE + side}"/>')
        text = number(tick)
        marks.append(f'<text x="{x(tick):g}" y="{side + 26}" text-anchor="middle">{text}</text>')
        marks.append(f'<text x="{EDGE - 6}" y="{y(tick) + 4:g}" text-anchor="end">{text}</text>')
    for claim, shown in points:
        here = claim.observed or 0.0
        bars = ""
        if claim.own_low is not None and claim.own_high is not None:
            bars += f"M{x(shown.value):g} {y(claim.own_low):g}V{y(claim.own_high):g}"
        if shown.low is not None and shown.high is not None:
            bars += f"M{x(shown.low):g} {y(here):g}H{x(shown.high):g}"
        name = escape(
            f"{claim.id}: published {number(shown.value)}, ours {number(here)}, {claim.verdict}", quote=True
        )
        marks.append(
            f'<a href="#{escape(claim.id, quote=True)}" class="v{VERDICTS.index(claim.verdict)}" '
            f'aria-label="{name}"><path class="i" d="{bars}"/>'
            f"{_mark(claim.verdict, x(shown.value), y(here))}</a>"
        )
    middle = EDGE + side / 2
    marks.append(f'<text x="{middle:g}" y="{SIZE - 2}" text-anchor="middle">published</text>')
    marks.append(
        f'<text transform="translate(12 {10 + side / 2:g}) rotate(-90)" text-anchor="middle">ours</text>'
    )
    name = escape(f"{title}: {len(points)} published numbers against ours", quote=True)
    return (
        f'<svg class="panel" role="group" aria-label="{name}" viewBox="0 0 {SIZE} {SIZE}" '
        f'width="{SIZE}" height="{SIZE}">{"".join(marks)}</svg>'
    )


def _band(
    margin: float, least: float, most: float, x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    corners = [
        (least, least - margin), (least, least + margin), (most - margin, most), (most, most),
        (most, most - margin), (least + margin, least),
    ]  # fmt: skip
    path = "L".join(f"{x(a):g} {y(b):g}" for a, b in corners)
    equal = f"M{x(least):g} {y(least):g}L{x(most):g} {y(most):g}"
    return f'<path class="band" d="M{path}Z"/><path class="zero" d="{equal}"/>'


def _ticks(least: float, most: float) -> list[float]:
    """A few round numbers within a range."""
    rough = (most - least) / TICKS
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first = math.ceil(least / step)
    return [round(index * step, 12) for index in range(first, math.floor(most / step) + 1)]


def _mark(verdict: Verdict, x: float, y: float) -> str:
    """A shape for each verdict, so that colour is not all that tells them apart."""
    shapes = {
        "reproduced": f'<circle cx="{x:g}" cy="{y:g}" r="4"/>',
        "contradicted": f'<path class="x" d="M{x - 4:g} {y - 4:g}l8 8m0-8l-8 8"/>',
        "tied": f'<path class="x" d="M{x - 4:g} {y - 2:g}h8m-8 4h8"/>',
        "depends": f'<path d="M{x:g} {y - 5:g}l5 5l-5 5l-5-5Z"/>',
        "inconclusive": f'<circle class="o" cx="{x:g}" cy="{y:g}" r="4"/>',
    }
    return shapes.get(verdict, "")
