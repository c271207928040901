"""Figures as SVG that a page can hold: matplotlib's own, made small, and nothing else; and the values that
they show, with their places."""

import base64
import csv
import json
import re
import zlib
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

DIGITS = 2
"""Decimals of a number, in points: rounding moves nothing by a pixel, even at ten times the size."""
SPACE = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
LEFT_OUT = {"metadata", "style"}
FONT = re.compile(r"; font-family: 'DejaVu Sans'[^;]*")
"""Most texts' font, which the page's style names once."""
NUMBER = re.compile(r"(?<![\w#.])-?\d*\.\d+(?:e-?\d+)?")
REFERENCE = re.compile(r"(?<=^#)[\w.-]+$|(?<=^url\(#)[\w.-]+(?=\)$)")
HEAT_MAP = re.compile(rb'<image\b|<g id="QuadMesh_')
"""Elements that only figures whose colours are values hold."""
STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
DRAWN = {"svg", "defs", "style", "g", "path", "use", "clipPath", "rect", "image", "text", "tspan", "pattern"}
"""The elements of a drawing, besides those that describe it in `metadata`."""
DESCRIBED = {
    f"{{http://{name}}}"
    for name in (
        "www.w3.org/1999/02/22-rdf-syntax-ns#",
        "creativecommons.org/ns#",
        "purl.org/dc/elements/1.1/",
    )
}
"""The name spaces of the elements in `metadata`, which no page gets."""
ATTRIBUTES = {"id", "type", "version", "viewBox", "width", "height", "x", "y", "d", "transform", "clip-path",
              "style", "fill", "opacity", "patternUnits", HREF}  # fmt: skip
DEPTH = 30
"""Most elements within each other; matplotlib's are a dozen deep."""
STYLE = "*{stroke-linejoin: round; stroke-linecap: butt}"
"""The one style sheet that matplotlib writes."""
PLAIN = re.compile(r"text/css|(?:url\(#[\w.-]+\)|(?!url)[\w\s#.,;:%()'*-])*", re.IGNORECASE)
"""An attribute's value: no address, and no function `url` but of an element of the same drawing."""
PICTURE = re.compile(r"#[\w.-]+|data:image/png;base64,[\w+/=\s]+")
"""Targets that an element may refer to: another one of the same drawing, or pixels that it holds itself."""
_POINT = r"(?:\s*-?\d{1,9}(?:\.\d+)?){2}"
BOX = re.compile(rf"{_POINT}{_POINT}")
PATH = re.compile(rf"(?:[ML]{_POINT}\s*|Q(?:{_POINT}){{2}}\s*|C(?:{_POINT}){{3}}\s*|z\s*)*")
SHAPES = {"viewBox": BOX, "d": PATH, HREF: PICTURE}
"""Attribute -> pattern of its values; those of the other attributes match `PLAIN`."""


NEAR = 2.0
"""Least distance of two marks of a series that a page tells apart, in points: a pointer hardly does."""


class Foreign(Exception):
    """A file of a figure holds something that its drawing does not write."""


class Vector(NamedTuple):
    """A figure in SVG.

    Attributes:
        box: its `viewBox`.
        content: what its element `svg` holds, compressed by zlib, in base64.
        is_heat_map: whether its colours are values.
    """

    box: str
    content: str
    is_heat_map: bool


def vector(file: Path, name: str) -> Vector:
    """A figure's SVG without background, with rounded numbers, relative coordinates and no more names than it
    needs. The same file and name give the same text.

    Args:
        file: as `plotting.style.save` writes it.
        name: what its ids begin with, so that no two figures of a page share one.

    Raises:
        ElementTree.ParseError: if the file is no whole SVG.
        Foreign: if it holds something that matplotlib does not draw.
    """
    root = parsed(file)
    box = root.attrib["viewBox"]
    return Vector(box, compressed(_content(root, name)), is_heat_map(file))


def standalone(file: Path) -> bytes:
    """A figure's SVG as small as `vector` makes it, as a file of its own: on white, whatever page shows it.

    Raises:
        ElementTree.ParseError, Foreign: as `vector` does.
    """
    root = parsed(file)
    _, _, width, height = root.attrib["viewBox"].split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}pt" '
        f'height="{height}pt" style="font-family:DejaVu Sans,Verdana,sans-serif;stroke-linejoin:round">'
        f'<rect width="100%" height="100%" fill="#fff"/>{_content(root, "a")}</svg>\n'
    ).encode()


def is_heat_map(file: Path) -> bool:
    """Tells if a figure's SVG holds an image or a mesh, whose colours are values: nothing may change them."""
    return bool(HEAT_MAP.search(file.read_bytes()))


def values(file: Path) -> str:
    """The values of a figure and their places, for `report.js`: JSON of its series' names and of a list for
    each mark, compressed as `Vector.content` is. The list holds the mark in words (`0.5, 71.2 [70, 72]`),
    the number of its series, its left and top in points, and its width and height if it has a size. Of a
    series' points in one square of `NEAR` it holds the first, and no cell or bar that is smaller than that.

    Args:
        file: as `plotting.data.save_data` writes it; without the file the text is empty.

    Raises:
        Foreign: if it is no such table.
    """
    if not file.is_file():
        return ""
    names: dict[tuple[str, str], int] = {}
    found: list[list[str | float]] = []
    taken: set[tuple[int, int, int]] = set()
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if not row["left"]:
                    continue
                number = names.setdefault((row["panel"], row["series"]), len(names))
                left, top = float(row["left"]), float(row["top"])
                size = [round(float(row[side]), 1) for side in ("width", "height") if row.get(side)]
                spot = number, round(left / NEAR), round(top / NEAR)
                if max(size) < NEAR if size else spot in taken:
                    continue
                taken.add(spot)
                found.append([_said(row), number, round(left, 1), round(top, 1), *size])
    except (LookupError, ValueError, TypeError, csv.Error) as error:
        raise Foreign(f"damaged, not a figure's data ({error})") from None
    first = len({panel for panel, _ in names}) == 1  # a figure of one panel needs no name of it
    series = [", ".join(filter(None, name[first:])) for name in names]
    return compressed(json.dumps([series, found], ensure_ascii=False, separators=(",", ":")))


def _said(row: dict[str, str]) -> str:
    """A mark in words, with four digits of a number: `x, y`, each with its interval; for a cell `row,
    column` and the text in it, or the number of its colour."""
    short = {name: _four_digits(text) for name, text in row.items()}
    if cell := row.get("text") or short.get("value"):
        return f"{short['row']}, {short['column']}: {cell}"
    said = []
    for axis, low, high in (("x", "x_low", "x_high"), ("y", "low", "high")):
        interval = f"[{short[low]}, {short[high]}]" if short.get(low) else ""
        said.append(" ".join(filter(None, (short.get(axis), interval))))
    return ", ".join(filter(None, said))


def _four_digits(text: str) -> str:
    try:
        return f"{float(text):.4g}"
    except ValueError:
        return text


def compressed(text: str) -> str:
    """A text as the page holds it: compressed by zlib, in base64."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def _content(root: Element, name: str) -> str:
    """The content of an element `svg`, made small in place."""
    _clear(root)
    _rename(root, name)
    for element in root.iter():
        _shorten(element)
    return "".join(ElementTree.tostring(child, encoding="unicode") for child in root)


def parsed(file: Path) -> Element:
    """The element `svg` of a file, which holds only elements, attributes and references that matplotlib
    writes: no script, no event handler, no address.

    Raises:
        ElementTree.ParseError: if the file is no whole SVG.
        Foreign: if it holds something else.
    """
    try:
        root = ElementTree.parse(file, ElementTree.XMLParser(target=_Builder())).getroot()
    except (LookupError, ValueError):  # an encoding that Python does not know, or of several bytes
        raise Foreign("is not in UTF-8") from None
    if root.tag != f"{SPACE}svg":
        raise Foreign(f"is <{_name(root)}>, not an SVG")
    _require_drawn(root)
    _require_flat(root)
    if "viewBox" not in root.attrib:
        raise Foreign("has no viewBox")
    return root


class _Builder(ElementTree.TreeBuilder):
    """Refuses processing instructions, which a parser otherwise drops."""

    def pi(self, target: str, data: str | None = None) -> NoReturn:
        raise Foreign(f"holds <?{target}?>, which matplotlib does not write")


def _require_flat(root: Element) -> None:
    """Refuses an element shown within itself, or one that multiplies others: `use` shows a path, and what a
    pattern or a clip holds refers to nothing."""
    paths = {f"#{path.get('id')}" for path in root.iter(f"{SPACE}path")}
    for use in root.iter(f"{SPACE}use"):
        if use.get(HREF) not in paths:
            raise Foreign("holds a <use> of something else than a path of its own")
    for name in ("pattern", "clipPath"):
        for inner in (inner for outer in root.iter(f"{SPACE}{name}") for inner in list(outer.iter())[1:]):
            if any(key == HREF or "url(" in value.lower() for key, value in inner.items()):
                raise Foreign(f"holds a <{name}> that refers to something")


def _require_drawn(element: Element, depth: int = 0) -> None:
    name = _name(element)
    if depth > DEPTH:
        raise Foreign(f"nests more than {DEPTH} elements, which matplotlib does not do")
    if element.tag == f"{SPACE}metadata":
        for inner in list(element.iter())[1:]:
            if inner.tag.removesuffix(_name(inner)) not in DESCRIBED:
                raise Foreign(f"holds <{_name(inner)}>, which matplotlib does not draw")
        return
    if name not in DRAWN or element.tag != f"{SPACE}{name}":
        raise Foreign(f"holds <{name}>, which matplotlib does not draw")
    if name == "style" and (element.text or "").strip() != STYLE:
        raise Foreign("holds a style sheet that is not matplotlib's")
    for key, value in element.items():
        if key not in ATTRIBUTES or not SHAPES.get(key, PLAIN).fullmatch(value):
            shown = " ".join(value.split())[:40]
            raise Foreign(f'holds <{name} {key.split("}")[-1]}="{shown}">, which matplotlib does not draw')
    for child in element:
        _require_drawn(child, depth + 1)


def _name(element: Element) -> str:
    return element.tag.split("}")[-1]


def _clear(root: Element) -> None:
    """Removes the white background of the figure and of its axes."""
    for group in root.iter(f"{SPACE}g"):
        if group.get("id", "").startswith(("figure_", "axes_")) and len(group):
            first = group[0].find(f"{SPACE}path")
            if first is not None and first.get("style") == "fill: #ffffff":
                group.remove(group[0])


def _rename(root: Element, name: str) -> None:
    """Renames elements that others refer to, with names of the figure's own, and removes all other ids."""
    new: dict[str, str] = {}
    for element in root.iter():
        if HREF in element.attrib:
            element.set("href", element.attrib.pop(HREF))
        for key, value in element.items():
            if found := REFERENCE.search(value):
                to = new.setdefault(found[0], f"{name}.{len(new)}")
                element.set(key, value.replace(found[0], to))
    for element in root.iter():
        if (id := element.attrib.pop("id", None)) in new:
            element.set("id", new[id])


def _shorten(element: Element) -> None:
    """Shortens an element in place, without what it holds."""
    element.tag = element.tag.split("}")[1]
    for child in list(element):
        if child.tag.split("}")[1] in LEFT_OUT:
            element.remove(child)
    if len(element) or not (element.text or "").strip():
        element.text = None
    element.tail = None
    for key, value in element.items():
        if key == "d":
            element.set(key, _path(value))
        elif not value.startswith("data:"):
            element.set(key, NUMBER.sub(lambda found: _rounded(float(found[0])), FONT.sub("", value)))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]


def _path(drawn: str) -> str:
    """A path of matplotlib's (absolute M, L, Q, C and z) with each point relative to the one before. What
    rounding takes from a step is added to the next."""
    pieces, here, start = [], (0.0, 0.0), (0.0, 0.0)
    for command, numbers in STEP.findall(drawn):
        values = [float(number) for number in numbers.split()]
        points = [
            (round(x, DIGITS), round(y, DIGITS)) for x, y in zip(values[::2], values[1::2], strict=True)
        ]
        steps = [_rounded(part - old) for point in points for part, old in zip(point, here, strict=True)]
        pieces.append(command.lower() + " ".join(steps))
        here = points[-1] if points else start
        if command == "M":
            start = here
    return "".join(pieces)


def _rounded(number: float) -> str:
    text = f"{number:.{DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
