"""One picture of the printed numbers: how those that were measured as published agree with ours, and how
many of each table were measured at all. Numbers measured smaller or on other images share no axis with
print."""

import io
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.plotting.style import WIDTH, styled
from reprise.report.published import by_artifact
from reprise.report.schema import Paper, PrintedNumber

COLORS = {
    "as published, print inside": "#0072b2",
    "as published, print outside": "#d55e00",
    "reduced: not compared": "#b9b9b9",
    "not run, or without an interval": "#ececec",
}
"""Colour of a printed number, by how it was measured here."""
ROW = 0.24
"""Height of a table's bar, in inches."""


def drawn(papers: Sequence[Paper]) -> bytes:
    """The picture as PNG."""
    with styled():
        made, content = figure(papers), io.BytesIO()
        made.savefig(content, format="png")
        plt.close(made)
    return content.getvalue()


def figure(papers: Sequence[Paper]) -> Figure:
    """Draws on the left the numbers measured as published, printed against ours, a panel a paper and unit;
    on the right, of each table, how many were measured and agree."""
    points: dict[tuple[str, str], list[PrintedNumber]] = {}
    for paper in papers:
        for number in paper.numbers:
            if number.difference is not None:
                points.setdefault((paper.key, number.unit), []).append(number)
    bars = {
        f"{paper.key}, {artifact}": numbers
        for paper in papers
        for artifact, numbers in by_artifact(paper).items()
    }
    height = max(2.6 if points else 0.0, 1.0 + ROW * len(bars))
    size = (WIDTH * max(1.0, (len(points) + 1) / 2), height)
    made, axes = plt.subplots(1, len(points) + 1, figsize=size, squeeze=False)
    for panel, ((key, unit), numbers) in zip(axes[0], points.items(), strict=False):
        _scatter(panel, f"{key}: {unit}", numbers)
    _bars(axes[0, -1], bars)
    made.legend(*axes[0, -1].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return made


def _scatter(axes: Axes, title: str, numbers: Sequence[PrintedNumber]) -> None:
    inside, outside, *_ = COLORS.values()
    for number in numbers:
        assert number.observed is not None  # a number with a difference has one
        color = outside if number.inside is False else inside
        if number.low is not None and number.high is not None:
            axes.plot([number.value] * 2, [number.low, number.high], color=color, lw=0.7, alpha=0.6)
        marker = "x" if number.inside is False else "o"
        axes.plot(number.value, number.observed, marker=marker, color=color, ls="", ms=4)
    axes.axline((0, 0), slope=1, color="0.5", lw=0.7, ls="--", zorder=0)
    axes.set(xlabel="printed", ylabel="ours, with its interval", title=title)
    axes.set_aspect("equal", adjustable="box")


def _bars(axes: Axes, tables: Mapping[str, Sequence[PrintedNumber]]) -> None:
    ends = np.zeros(len(tables))
    for (label, color), sort in zip(COLORS.items(), (_is_in, _is_out, _is_reduced, _is_left), strict=True):
        counts = np.array([sum(map(sort, numbers)) for numbers in tables.values()])
        axes.barh(range(len(tables)), counts, left=ends, color=color, edgecolor="0.4", lw=0.4, label=label)
        for y, (count, end) in enumerate(zip(counts, ends, strict=True)):
            if count > 0.05 * max(map(len, tables.values())):
                axes.text(end + count / 2, y, str(count), ha="center", va="center", fontsize=6)
        ends += counts
    axes.set_yticks(range(len(tables)), list(tables))
    axes.invert_yaxis()
    axes.set(xlabel="printed numbers")


def _is_in(number: PrintedNumber) -> bool:
    return number.inside is True


def _is_out(number: PrintedNumber) -> bool:
    return number.inside is False


def _is_reduced(number: PrintedNumber) -> bool:
    return number.setting == "reduced"


def _is_left(number: PrintedNumber) -> bool:
    return not (_is_in(number) or _is_out(number) or _is_reduced(number))
