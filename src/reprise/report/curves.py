"""The specification curve of a claim, or its cells, as a small SVG: an interval for each, in the order of
what was observed, and a line where the statement's reference lies."""

from collections.abc import Sequence
from dataclasses import dataclass

HEIGHT, STEP, EDGE = 72, 14, 8
"""Pixels: of the picture, of one interval, of the border."""


@dataclass(frozen=True)
class Reading:
    """A claim in one setting or cell; `observed`, `low` and `high` are relative to its reference."""

    name: str
    verdict: str
    observed: float | None
    low: float | None
    high: float | None


def curve(readings: Sequence[Reading]) -> str:
    """An SVG of the readings that observed something; empty for fewer than two."""
    observed = [each for each in readings if each.observed is not None]
    drawn = sorted(observed, key=lambda each: each.observed or 0.0)
    if len(drawn) < 2:
        return ""
    ends = [end for each in drawn for end in (each.low, each.high, each.observed) if end is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)

    def y(value: float) -> str:
        share = (value - low) / (high - low) if high > low else 0.5
        return f"{HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE):.1f}"

    width = STEP * len(drawn) + 2 * EDGE
    lines = [f'<line class="reference" x1="0" x2="{width}" y1="{y(0)}" y2="{y(0)}"/>']
    for index, each in enumerate(drawn):
        x = EDGE + STEP * (index + 0.5)
        interval = ""
        if each.low is not None and each.high is not None:
            interval = f'<line x1="{x}" x2="{x}" y1="{y(each.low)}" y2="{y(each.high)}"/>'
        dot = f'<circle cx="{x}" cy="{y(each.observed or 0.0)}" r="3"/>'
        lines.append(f'<g class="{each.verdict.replace(" ", "-")}">{interval}{dot}</g>')
    label = f"{len(drawn)} intervals in the order of what was observed; the line is the reference"
    return (
        f'<svg class="curve" role="img" aria-label="{label}" width="{width}" height="{HEIGHT}" '
        f'viewBox="0 0 {width} {HEIGHT}">{"".join(lines)}</svg>'
    )
