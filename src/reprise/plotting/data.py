"""The data of a figure: a row for each mark that it shows, read off what matplotlib draws.

A mark is a point of a line or a cloud, a bar, a cell of a heat map, an interval that belongs to no point, or
a named line or strip across its panel.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite, isnan, nan
from operator import itemgetter
from pathlib import Path
from typing import Any
from unicodedata import numeric

import numpy as np
from matplotlib import category, cbook, ticker
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, FillBetweenPolyCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import Transform

COLUMNS = ("panel", "series", "x", "y", "low", "high", "x_low", "x_high", "row", "column", "value", "text")
"""Columns of the table. `low` and `high` bound an interval of y, `x_low` and `x_high` one of x. The last four
are a cell's: its row and column, the number of its colour, and the text in it."""
PLACE = ("left", "top", "width", "height")
"""Columns of a mark's place: its middle from the top left corner of the drawing, and its size, in points;
empty for a mark beyond its panel's edge."""
EMPTY = dict.fromkeys(COLUMNS + PLACE, "")
ALWAYS = {"panel", "series", "left", "top"}
"""The columns that a table has even if they are empty."""
NOTHING = ("None", "none", "", " ", None)
"""Matplotlib's names of a line style or a marker that draws nothing."""
COLORBAR = "<colorbar>"
"""The label of a colour bar's axes."""


def save_data(figure: Figure, file: Path) -> None:
    """Writes the table of a figure's marks as CSV, with six digits of a number, and only those of `COLUMNS`
    and `PLACE` that it uses.

    Args:
        figure: with its panels in their final places.
    """
    rows = data_of(figure)
    used = [name for name in COLUMNS + PLACE if name in ALWAYS or any(row[name] for row in rows)]
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([used, *map(itemgetter(*used), rows)])


def data_of(figure: Figure) -> list[dict[str, str]]:
    """The rows of a figure's table, with all columns.

    A panel is named by its title, or else by its row and column; a series by its label, or that of the one
    entry of a legend that looks the same, or else, among several of a panel, by its number. Where an axis has
    words for ticks, or numbers for other ones, these stand for the values.
    """
    panels = [each for each in figure.axes if each.get_visible() and each.get_label() != COLORBAR]
    names, labels = _panel_names(panels), _labels_of_looks(figure)
    rows = []
    for axes, name in zip(panels, names, strict=True):
        axes.get_xlim()  # which autoscales, if nothing has yet
        locate: Any = axes.get_axes_locator()
        axes.apply_aspect(locate(axes, None) if locate else None)
        rows += [{**row, "panel": name} for row in _Panel(axes, labels).rows()]
    return rows


def _panel_names(panels: Sequence[Any]) -> list[str]:
    titles = [
        _plain(" ".join(filter(None, map(axes.get_title, ("left", "center", "right"))))) for axes in panels
    ]
    names = []
    for axes, title in zip(panels, titles, strict=True):
        spec = axes.get_subplotspec()
        if spec and len(panels) > 1 and (not title or titles.count(title) > 1):
            place = f"row {spec.rowspan.start + 1}, column {spec.colspan.start + 1}"
            title = f"{title}, {place}" if title else place
        names.append(title)
    return names


def _plain(text: str) -> str:
    """A text in one line, without the commands of its formulas."""
    return " ".join(re.sub(r"\$[^$]*\$", lambda formula: cbook.strip_math(formula[0]), text).split())


def _color(color: Any) -> str:
    """A colour without its transparency, by which a line and its band are one."""
    return "" if to_rgba(color)[3] == 0 else to_hex(color)


def _looks(artist: Any) -> Iterator[tuple[str, ...]]:
    """The looks of an artist: a line's colour, style and marker, and the colour of a filled shape."""
    if isinstance(artist, Line2D):
        line, marker = artist.get_linestyle(), artist.get_marker()
        yield _color(artist.get_color()), str(line), str(marker)
        if marker not in NOTHING:
            yield (_color(artist.get_markerfacecolor()),)
    elif isinstance(artist, Patch):
        yield (_color(artist.get_facecolor()),)
    elif isinstance(artist, Collection) and len(artist.get_facecolor()) == 1:
        yield (_color(artist.get_facecolor()[0]),)
    elif isinstance(artist, ErrorbarContainer | BarContainer):
        yield from _looks(next(iter(artist), None))


def _labels_of_looks(figure: Any) -> dict[tuple[str, ...], str]:
    """The label of each look in a figure's artists and legends; looks with two labels are left out."""
    labelled = [pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    for legend in [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]:
        labelled += zip(legend.legend_handles, (text.get_text() for text in legend.get_texts()), strict=True)
    found = defaultdict(set)
    for artist, label in labelled:
        for look in _looks(artist):
            found[look].add(label)
    return {look: min(labels) for look, labels in found.items() if len(labels) == 1 and look != ("",)}


def _namer(axis: Axis) -> Callable[[float], str]:
    """Returns the function by which an axis writes a value: as the word of the tick there, or as the number
    that a tick there would have, and else as it is."""
    locator, formatter = axis.get_major_locator(), axis.get_major_formatter()
    worded = ticker.FixedFormatter | ticker.FuncFormatter | category.StrCategoryFormatter
    if not isinstance(locator, ticker.FixedLocator | category.StrCategoryLocator) or not isinstance(
        formatter, worded
    ):
        return _number
    places = np.asarray(locator(), dtype=float)
    labels = [_plain(label) for label in formatter.format_ticks(places)]
    if not any(labels):
        return _number
    numbers = np.array([_value(label) for label in labels])
    shift = np.round(2 * np.median(numbers - places)) / 2
    if np.allclose(numbers, places + shift, rtol=0.02, atol=1e-12):  # its labels are numbers, rounded
        return lambda value: _number(value + shift)
    gaps = np.diff(np.sort(places))
    reach = 0.5 if np.allclose(gaps, 1) else 1e-6 * np.ptp(places)  # beside a category, or at another tick

    def name(value: float) -> str:
        nearest = 0 if isnan(value) else int(np.abs(places - value).argmin())
        return labels[nearest] if abs(places[nearest] - value) <= reach else _number(value)

    return name


def _value(label: str) -> float:
    """The number that a label is, or NaN: `0.5`, `−2`, `10^-3`, `½`."""
    text = label.replace("\N{MINUS SIGN}", "-")
    try:
        return float(f"1e{text[3:]}" if text.startswith("10^") else text)
    except ValueError:
        return numeric(text, nan) if len(text) == 1 else nan


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.6g}"


@dataclass
class _Mark:
    """A mark, with numbers as the axes have them.

    Attributes:
        box: x and y of two opposite corners in pixels of the figure.
    """

    artist: Any
    series: str
    color: str
    box: Any
    x: float = nan
    y: float = nan
    low: float = nan
    high: float = nan
    x_low: float = nan
    x_high: float = nan
    value: float = nan
    text: str = ""
    is_cell: bool = False


BOUNDS = {"x": ("x_low", "x_high"), "y": ("low", "high")}


@dataclass
class _Panel:
    """The contents of one panel.

    Attributes:
        labels: by look (`_labels_of_looks`).
        at: the marks at a value of x or of y, by the axis and the value.
    """

    axes: Axes
    labels: dict[tuple[str, ...], str]
    marks: list[_Mark] = field(default_factory=list)
    at: dict[tuple[str, str], list[_Mark]] = field(default_factory=lambda: defaultdict(list))

    def rows(self) -> Iterator[dict[str, str]]:
        errorbars = [each for each in self.axes.containers if isinstance(each, ErrorbarContainer)]
        parts = {part for _, *more in errorbars for group in more for part in group}
        names = {each[0]: _own(each.get_label()) for each in errorbars}
        for image in self.axes.images:
            self._cells(image, *_pixels(image))
        for container in self.axes.containers:
            if isinstance(container, BarContainer):
                self._bars(container)
        lines = [
            line
            for line in self.axes.lines
            if line not in parts and line.get_visible() and (line in names or _is_drawn(line))
        ]
        crossing = [line for line in lines if not self._line(line, names.get(line, ""))]
        for collection in self.axes.collections:
            if isinstance(collection, QuadMesh):
                self._mesh(collection)
            elif isinstance(collection, PathCollection):
                self._cloud(collection)
        for container in errorbars:
            self._errors(container)
        for line in crossing:
            self._crossing(line)
        for collection in self.axes.collections:
            if isinstance(collection, FillBetweenPolyCollection):
                self._band(collection)
        for patch in self.axes.patches:
            if isinstance(patch, Rectangle) and _own(patch.get_label()):
                self._strip(patch)
        return self._written()

    def _series(self, artist: Any) -> str:
        """An artist's own label, or the label of an artist that looks the same."""
        found = (self.labels[look] for look in _looks(artist) if look in self.labels)
        return _own(artist.get_label()) or next(found, "")

    def _add(self, mark: _Mark) -> None:
        self.marks.append(mark)
        for axis in BOUNDS:
            self.at[axis, _key(getattr(mark, axis))].append(mark)

    def _box(self, *corners: tuple[float, float]) -> list[float]:
        """The box with these two corners in the data's coordinates."""
        return self.axes.transData.transform(corners).ravel().tolist()

    def _is_data(self, artist: Line2D | Rectangle) -> Sequence[bool]:
        """Tells if an artist's x, and if its y, is in the data's coordinates."""
        transform = artist.get_transform()
        contains = getattr(transform, "contains_branch_separately", None)
        if contains is None:  # so spelt before Matplotlib 3.11
            contains = transform.contains_branch_seperately
        return contains(self.axes.transData)

    # Marks.

    def _line(self, line: Line2D, name: str) -> bool:
        """Adds a line's points, or it as a whole if it crosses the panel and has a name. Does nothing and
        returns False for a nameless straight line along an axis, which may be an interval."""
        points, color = np.asarray(line.get_xydata(), dtype=float), _color(line.get_color())
        if not len(points):
            return True
        series = name or self._series(line)
        is_data = self._is_data(line)
        if not all(is_data):
            if series and any(is_data):
                x, y = (points[0, axis] if is_data[axis] else nan for axis in (0, 1))
                ends = line.get_transform().transform(points[[0, -1]]).ravel()
                self._add(_Mark(line, series, color, ends, x, y))
            return True
        if not series and line.get_marker() in NOTHING and (np.ptp(points, axis=0) == 0).sum() == 1:
            return False
        for (x, y), box in zip(points.tolist(), _boxes(line.get_transform(), points), strict=True):
            if isfinite(x) and isfinite(y):
                self._add(_Mark(line, series, color, box, x, y))
        return True

    def _bars(self, container: BarContainer) -> None:
        own = _own(container.get_label())
        for bar in container.patches:
            left, low, width, height = bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()
            if not isfinite(width) or not isfinite(height):
                continue
            middle = left + width / 2, low + height / 2
            x, y = (width, middle[1]) if container.orientation == "horizontal" else (middle[0], height)
            box = self._box((left, low), (left + width, low + height))
            self._add(_Mark(container, own or self._series(bar), _color(bar.get_facecolor()), box, x, y))

    def _cloud(self, cloud: PathCollection) -> None:
        """Adds the points of a scatter plot."""
        if not cloud.get_offset_transform().contains_branch(self.axes.transData):
            return
        points: np.ndarray = np.ma.filled(np.ma.asarray(cloud.get_offsets(), dtype=float), nan)
        colors, own = [_color(each) for each in cloud.get_facecolor()] or [""], _own(cloud.get_label())
        boxes = _boxes(cloud.get_offset_transform(), points)
        for index, ((x, y), box) in enumerate(zip(points.tolist(), boxes, strict=True)):
            if isfinite(x) and isfinite(y):
                color = colors[index % len(colors)]
                self._add(_Mark(cloud, own or self.labels.get((color,), ""), color, box, x, y))

    def _mesh(self, mesh: QuadMesh) -> None:
        values, corners = mesh.get_array(), np.asarray(mesh.get_coordinates(), dtype=float)
        if values is not None and values.size == (len(corners) - 1) * (corners.shape[1] - 1):
            edges = corners[:, 0, 1], corners[0, :, 0]  # of a mesh whose rows and columns are straight
            self._cells(mesh, np.reshape(values, (len(corners) - 1, -1)), *edges)

    def _cells(self, artist: Any, values: Any, rows: np.ndarray, columns: np.ndarray) -> None:
        """Adds the cells of a heat map.

        Args:
            values: [rows, columns], masked or NaN where a cell is empty.
            rows, columns: the edges between them, one more than there are.
        """
        if np.ndim(values) != 2:  # a picture's pixels have no values
            return
        texts = [each for each in self.axes.texts if each.get_transform() == self.axes.transData]
        written = {tuple(map(_key, each.get_position())): each.get_text() for each in texts}
        across = self.axes.transData.transform([(column, rows[0]) for column in columns])[:, 0]
        down = self.axes.transData.transform([(columns[0], row) for row in rows])[:, 1]
        xs, ys = ((edges[1:] + edges[:-1]).astype(float) / 2 for edges in (columns, rows))
        numbers: np.ndarray = np.ma.filled(np.ma.asarray(values, dtype=float), nan)
        for (row, column), value in np.ndenumerate(numbers):
            x, y = float(xs[column]), float(ys[row])
            text = _plain(written[_key(x), _key(y)]) if (_key(x), _key(y)) in written else ""
            if text or isfinite(value):
                box = across[column], down[row], across[column + 1], down[row + 1]
                self._add(_Mark(artist, "", "", box, x, y, value=float(value), text=text, is_cell=True))

    # Intervals.

    def _free(self, along: str, at: float) -> list[_Mark]:
        """The marks at a value of the other axis that have no interval along this one."""
        other = "x" if along == "y" else "y"
        return [mark for mark in self.at[other, _key(at)] if isnan(getattr(mark, BOUNDS[along][0]))]

    def _interval(
        self,
        artist: Any,
        transform: Transform,
        series: str,
        color: str,
        along: str,
        at: float,
        ends: list[float],
        of: list[_Mark],
    ) -> None:
        """Gives an interval to the first of some marks, or adds it as a mark of its own.

        Args:
            transform: from the interval's coordinates to pixels.
            along: its axis; on the other one it lies at `at`.
            ends: from low to high.
        """
        if not of:
            points = [(at, end) if along == "y" else (end, at) for end in ends]
            place: dict[str, Any] = {"x" if along == "y" else "y": at}
            box = transform.transform(points).ravel().tolist()
            of = [_Mark(artist, series, color, box, **place)]
            self._add(of[0])
        for name, end in zip(BOUNDS[along], ends, strict=True):
            setattr(of[0], name, end)

    def _crossing(self, line: Line2D) -> None:
        """Adds a straight line along an axis: an interval if it crosses a mark, and else its points."""
        points = np.asarray(line.get_xydata(), dtype=float)
        along = "y" if np.ptp(points[:, 0]) == 0 else "x"
        at, ends = _straight(points, along)
        color = _color(line.get_color())
        crossed = [each for each in self._free(along, at) if ends[0] < getattr(each, along) < ends[1]]
        if crossed:
            self._interval(line, line.get_transform(), "", color, along, at, ends, crossed)
            return
        for (x, y), box in zip(points.tolist(), _boxes(line.get_transform(), points), strict=True):
            self._add(_Mark(line, "", color, box, x, y))

    def _errors(self, container: ErrorbarContainer) -> None:
        """Adds error bars to the points that they were drawn with, or else to the marks that they cross."""
        line, _, bars = container
        series = _own(container.get_label()) or (self._series(line) if line else "")
        directions = [
            axis for axis, has in zip("xy", (container.has_xerr, container.has_yerr), strict=True) if has
        ]
        for along, collection in zip(directions, bars, strict=True):
            color, transform = _color(collection.get_edgecolor()[0]), collection.get_transform()
            for segment in collection.get_segments():
                if np.shape(segment) == (2, 2) and np.isfinite(segment).all():
                    at, ends = _straight(segment, along)
                    of = [
                        each
                        for each in self._free(along, at)
                        if (each.artist is line if line else ends[0] <= getattr(each, along) <= ends[1])
                    ]
                    self._interval(container, transform, series, color, along, at, ends, of)

    def _band(self, band: Any) -> None:
        """Adds the ends of a band to the line of its colour."""
        color, along = _color(band.get_facecolor()[0]), "y" if band.t_direction == "x" else "x"
        series, transform = self._series(band), band.get_transform()
        for path in band.get_paths():
            found: dict[float, list[float]] = defaultdict(list)
            for point in path.vertices.tolist():
                found[point[along == "x"]].append(point[along == "y"])
            for at, values in found.items():
                of = [each for each in self._free(along, at) if each.color == color]
                self._interval(band, transform, series, color, along, at, [min(values), max(values)], of)

    def _strip(self, patch: Rectangle) -> None:
        """Adds what `axvspan` and `axhspan` draw."""
        is_data = self._is_data(patch)
        if is_data[0] != is_data[1]:
            along = "x" if is_data[0] else "y"
            start, size = (
                (patch.get_x(), patch.get_width()) if is_data[0] else (patch.get_y(), patch.get_height())
            )
            values: dict[str, Any] = dict(zip(BOUNDS[along], sorted((start, start + size)), strict=True))
            box = patch.get_window_extent().extents
            self._add(_Mark(patch, _own(patch.get_label()), _color(patch.get_facecolor()), box, **values))

    # The table.

    def _written(self) -> Iterator[dict[str, str]]:
        nameless = dict.fromkeys(
            id(mark.artist) for mark in self.marks if not mark.series and not mark.is_cell
        )
        numbers = {id: f"series {number}" for number, id in enumerate(nameless, 1) if len(nameless) > 1}
        names, plain = {"x": _namer(self.axes.xaxis), "y": _namer(self.axes.yaxis)}, cache(_plain)
        for mark, place in zip(self.marks, self._places(), strict=True):
            row = {**EMPTY, **place, "series": plain(mark.series) or numbers.get(id(mark.artist), "")}
            if mark.is_cell:
                row |= {"row": names["y"](mark.y), "column": names["x"](mark.x), "text": mark.text}
                row["value"] = _number(mark.value)
            else:
                for axis, bounds in BOUNDS.items():
                    for column in (axis, *bounds):
                        if not isnan(value := getattr(mark, column)):
                            row[column] = names[axis](value)
            yield row

    def _places(self) -> Iterator[dict[str, str]]:
        """The `PLACE` of each mark, or of what a clip leaves of it, in points; empty beyond its panel."""
        figure: Any = self.axes.get_figure(root=True)
        start, end = self.axes.bbox.get_points()
        boxes = np.sort(np.array([mark.box for mark in self.marks]).reshape(-1, 2, 2), axis=1)
        cut = np.clip(boxes, start, end)
        outside = (np.abs(boxes - cut).min(axis=1) > 0.5).any(axis=1)
        # Containers are clipped.
        clipped = np.array([getattr(mark.artist, "get_clip_on", lambda: True)() for mark in self.marks], bool)
        low, high = np.where(clipped[:, None, None], cut, boxes).swapaxes(0, 1)
        top = figure.bbox.height - (low + high)[:, 1:] / 2
        numbers = np.hstack([(low + high)[:, :1] / 2, top, high - low]) * 72 / figure.dpi
        shown = np.isfinite(boxes).all(axis=(1, 2)) & ~(outside & clipped)
        # Rounded twice: the last bits of a layout, which differ from one run to the next, decide no digit.
        for is_shown, row in zip(shown, numbers.round(6).tolist(), strict=True):
            texts = [f"{number:.2f}" for number in row]
            texts = texts if any(row[2:]) else [*texts[:2], "", ""]
            yield dict(zip(PLACE, texts if is_shown else [""] * len(PLACE), strict=True))


def _boxes(transform: Transform, points: np.ndarray) -> list[list[float]]:
    """Points, [n, 2], as boxes of no size in pixels. An artist that is drawn beside its values has a
    transform of its own."""
    return np.tile(transform.transform(points), 2).tolist()


def _straight(points: np.ndarray, along: str) -> tuple[float, list[float]]:
    """The position of a line along an axis on the other axis, and its ends from low to high."""
    axis = "xy".index(along)
    return float(points[0, 1 - axis]), [float(points[:, axis].min()), float(points[:, axis].max())]


def _key(value: float) -> str:
    """A value without its last bits, by which what lies at one place is found."""
    return f"{value + 0.0:.9g}"


def _is_drawn(line: Line2D) -> bool:
    return line.get_linestyle() not in NOTHING or line.get_marker() not in NOTHING


def _own(label: Any) -> str:
    """A label that was given, not one of matplotlib's own."""
    return "" if not label or str(label).startswith("_") else str(label)


def _pixels(image: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """An image's values, and the edges of its rows and columns."""
    values, (left, right, bottom, top) = image.get_array(), image.get_extent()
    height, width = np.shape(values)[:2]
    first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
    return values, np.linspace(first, last, height + 1), np.linspace(left, right, width + 1)
