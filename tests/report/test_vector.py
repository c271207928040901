"""A figure's SVG in the page shows what matplotlib drew, with ids of its own and in visible colours, and what
each mark is."""

import base64
import json
import re
import zlib
from importlib.resources import files
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from reprise.plotting.style import colors, save, styled
from reprise.report.vector import NEAR, Foreign, is_heat_map, parsed, standalone, values, vector


@pytest.fixture
def drawn(tmp_path):
    with styled():
        figure, axes = plt.subplots(figsize=(3, 2))
        axes.plot([1, 2, 4, 3], "o-", label="line")
        axes.fill_between([0, 1, 2], [1, 2, 1], alpha=0.2)
        axes.set(title="<title> & more", yscale="log")
        axes.legend()
    save(figure, tmp_path / "figure.svg", "svg")
    plt.close(figure)
    return tmp_path / "figure.svg"


def content(file, name="one"):
    inner = zlib.decompress(base64.b64decode(vector(file, name).content)).decode()
    return ElementTree.fromstring(f"<svg>{inner}</svg>")


def points(path, relative):
    """The points of a path, absolute."""
    here, start, all_points = np.zeros(2), np.zeros(2), []
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = np.array(re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers), dtype=float).reshape(-1, 2)
        values = values + here if relative else values
        here = values[-1] if len(values) else start
        start = here if command in "Mm" else start
        all_points.extend(values)
    return np.array(all_points)


def test_every_path_stays_where_it_was(drawn):
    before = [each.get("d") for each in ElementTree.parse(drawn).iter("{http://www.w3.org/2000/svg}path")]
    after = [each.get("d") for each in content(drawn).iter("path")]
    backgrounds = 2
    assert len(after) == len(before) - backgrounds
    shown = [points(path, relative=True) for path in after]
    for path in before[backgrounds:]:
        absolute = points(path, relative=False)
        assert any(each.shape == absolute.shape and np.abs(each - absolute).max() < 0.01 for each in shown)


def test_the_last_bits_of_a_layout_change_no_byte(tmp_path):
    files = []
    for shift in (0.0, 1e-15):
        with styled():
            figure = plt.figure(figsize=(3, 2), layout="none")
            axes = figure.add_axes((0.1 + shift, 0.1, 0.8, 0.8))
            axes.plot([1, 2, 4, 3])
        files.append(tmp_path / f"{shift}.svg")
        save(figure, files[-1], "svg")
        plt.close(figure)
    assert "url(#clip0)" in files[0].read_text()
    assert files[0].read_bytes() == files[1].read_bytes()


def test_text_stays_text(drawn):
    assert "<title> & more" in [text.text for text in content(drawn).iter("text")]


def test_two_figures_share_no_id_and_each_refers_to_its_own(drawn):
    owned = []
    for name in ("one", "two"):
        elements = list(content(drawn, name).iter())
        own = [each.get("id") for each in elements if each.get("id")]
        values = [value for each in elements for key, value in each.items() if key in ("href", "clip-path")]
        assert values
        assert {re.sub(r"^url\(|\)$", "", value)[1:] for value in values} == set(own)
        owned += own
    assert len(owned) == len(set(owned))


def test_a_file_of_its_own_shows_the_same_on_white(drawn, tmp_path):
    file = tmp_path / "alone.svg"
    file.write_bytes(standalone(drawn))
    size = {name: parsed(drawn).get(name) for name in ("viewBox", "width", "height")}
    root = ElementTree.parse(file).getroot()
    assert {name: root.get(name) for name in size} == size
    white, *rest = root
    assert white.attrib == {"width": "100%", "height": "100%", "fill": "#fff"}
    space = "{http://www.w3.org/2000/svg}"
    assert [each.tag.removeprefix(space) for part in rest for each in part.iter()] == [
        each.tag for part in content(drawn) for each in part.iter()
    ]
    assert len(file.read_bytes()) < drawn.stat().st_size


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda axes: axes.imshow([[0, 1]]), True),
        (lambda axes: axes.pcolormesh([[0, 1]]), True),
        (lambda axes: axes.bar([0, 1], [1, 2], label="<image"), False),
    ],
)
def test_a_heat_map_is_told_by_what_it_holds(draw, expected, tmp_path):
    figure, axes = plt.subplots()
    draw(axes)
    axes.set_title('<image <g id="QuadMesh_')
    save(figure, tmp_path / "figure.svg", "svg")
    plt.close(figure)
    assert is_heat_map(tmp_path / "figure.svg") == expected
    assert vector(tmp_path / "figure.svg", "one").is_heat_map == expected


def test_the_page_says_what_each_mark_is(tmp_path):
    figure, (left, right) = plt.subplots(1, 2)
    left.errorbar([1, 2], [0.123456, 1234567], yerr=[0.1, 1], xerr=0.5, ls="", label="ours")
    left.axhline(3, label="chance")
    right.set_title("map")
    right.imshow([[0.5, 1.0]])
    right.set_xticks([0, 1], ["a", "b"])
    save(figure, tmp_path / "figure.csv", "csv")
    plt.close(figure)
    names, marks = json.loads(zlib.decompress(base64.b64decode(values(tmp_path / "figure.csv"))))
    said = [f"{names[series]}: {text}" for text, series, *_ in marks]
    assert said == [
        "row 1, column 1, ours: 1 [0.5, 1.5], 0.1235 [0.02346, 0.2235]",
        "row 1, column 1, ours: 2 [1.5, 2.5], 1.235e+06 [1.235e+06, 1.235e+06]",
        "row 1, column 1, chance: 3",
        "map: 0, a: 0.5",
        "map: 0, b: 1",
    ]
    assert [len(place) for _, _, *place in marks] == [2, 2, 4, 4, 4]


def test_of_points_too_close_to_tell_apart_the_page_has_one(tmp_path):
    figure, axes = plt.subplots(figsize=(1, 1))
    axes.plot(np.linspace(0, 1, 10_000))
    axes.plot([0, 0.01], [0.0, 0.0])  # of another series
    save(figure, tmp_path / "figure.csv", "csv")
    plt.close(figure)
    _, marks = json.loads(zlib.decompress(base64.b64decode(values(tmp_path / "figure.csv"))))
    places = np.array([place for _, series, *place in marks if series == 0])
    length = np.ptp(places, axis=0).sum()
    assert length / NEAR / 2 < len(places) < 2 * length / NEAR
    assert {series for _, series, *_ in marks} == {0, 1}


def test_a_figure_without_data_says_nothing(tmp_path):
    assert values(tmp_path / "none.csv") == ""


def around(inner, attributes="", head=""):
    return (
        f'{head}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 1 1" {attributes}>{inner}</svg>'
    )


FOREIGN = {
    "script": around("<script>alert(1)</script>"),
    "script in metadata": around("<metadata><script>alert(1)</script></metadata>"),
    "a page in it": around('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>'),
    "html": around('<g><img xmlns="http://www.w3.org/1999/xhtml" alt="x"/></g>'),
    "onload": around("<g/>", 'onload="alert(1)"'),
    "onclick within": around('<g><path d="M 0 0" onclick="alert(1)"/></g>'),
    "a link": around('<a xlink:href="https://example.org"><path d="M 0 0"/></a>'),
    "use of another file": around('<use xlink:href="https://example.org/x.svg#a"/>'),
    "javascript": around('<use xlink:href="javascript:alert(1)"/>'),
    "an image of elsewhere": around('<image xlink:href="https://example.org/x.png"/>'),
    "an image that is a page": around('<image xlink:href="data:image/svg+xml;base64,AAAA"/>'),
    "href without its name space": around('<use href="https://example.org/x.svg#a"/>'),
    "an address in a style": around('<path style="fill: url(https://example.org/x)"/>'),
    "a file in a style": around('<path style="fill: URL(x.svg)"/>'),
    "an escape in a style": around('<path style="fill: u\\72l(x.svg)"/>'),
    "an address as a clip": around('<g clip-path="url(https://example.org/x#a)"/>'),
    "a style sheet": around("<defs><style>@import 'https://example.org/x.css';</style></defs>"),
    "an animation": around('<path d="M 0 0"><set attributeName="href" to="javascript:alert(1)"/></path>'),
    "an entity": around("<g>&x;</g>", head='<!DOCTYPE svg [<!ENTITY x "<script>1</script>">]>'),
    "no drawing": "<html/>",
    "no viewBox": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "a viewBox of words": around("<g/>").replace("0 0 1 1", "a b c d"),
    "half a point": around('<path d="M 1"/>'),
    "a point at infinity": around('<path d="M 1e999 1"/>'),
    "a long number": around(f'<path d="M {"9" * 400} 1"/>'),
    "another command": around('<path d="M 1 1 H 3"/>'),
    "a path that is shown within itself": around('<g id="a"><use xlink:href="#a"/></g>'),
    "a use of uses": around('<use id="b" xlink:href="#c"/><use xlink:href="#b"/><path id="c" d="M 0 0"/>'),
    "a pattern of patterns": around('<pattern id="a"><rect fill="url(#b)"/></pattern><pattern id="b"/>'),
    "a style sheet before it": around("<g/>", head='<?xml-stylesheet href="https://example.org/x.css"?>'),
    "an instruction within": around("<g><?php x?></g>"),
    "elements in elements": around("<g>" * 2000 + "</g>" * 2000),
    "another encoding": around("<g/>", head='<?xml version="1.0" encoding="nosuch"?>'),
    "an encoding of several bytes": around("<g/>", head='<?xml version="1.0" encoding="shift_jis"?>'),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_matplotlib_does_not_draw_is_refused(tmp_path, what):
    file = tmp_path / "figure.svg"
    file.write_text(FOREIGN[what])
    with pytest.raises(Foreign):
        vector(file, "one")


def test_all_that_matplotlib_draws_is_taken(tmp_path):
    """Hatches, images, rotated text and formulas, dashes, markers, transparency, clipped axes."""
    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=(4, 2))
        left.bar([1, 2], [1, 2], hatch="//", alpha=0.5)
        left.set_ylabel("$\\frac{a_1}{\\sqrt{b}}$ und ü")
        right.imshow(np.arange(6).reshape(2, 3), alpha=0.7)
        right.scatter([0, 1], [0, 1], c=[0.1, 0.2], marker="D")
        right.plot([0, 2], [0, 1], ls=(0, (5, 1)), marker="^", label="x")
        right.annotate("here", (1, 1), (0, 0), arrowprops={"arrowstyle": "->"}, rotation=30)
        figure.colorbar(right.collections[0])
        figure.legend(loc="outside lower center")
    save(figure, tmp_path / "figure.svg", "svg")
    plt.close(figure)
    assert {each.tag for each in content(tmp_path / "figure.svg").iter()} >= {
        "pattern",
        "image",
        "tspan",
        "use",
    }


def luminance(color):
    color = np.asarray(to_rgb(color))
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


def contrast(one, other):
    """WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def in_the_dark(color, inverted):
    """CSS's `invert(inverted) hue-rotate(180deg)`, by the matrix of the Filter Effects Module."""
    color = np.asarray(to_rgb(color))
    color = inverted * (1 - color) + (1 - inverted) * color
    weights = np.array([0.213, 0.715, 0.072])
    return np.clip(2 * weights @ color - color, 0, 1)


@pytest.mark.parametrize("color", [*colors(16), "0.55", "crimson", "black"])
def test_lines_can_be_seen_on_white_and_in_the_dark(color):
    style = (files("reprise.report") / "report.css").read_text(encoding="utf-8")
    inverted = float(re.search(r"invert\((\.\d+)\) hue-rotate\(180deg\)", style)[1])
    paper = re.findall(r"--paper: (#\w{6})", style)[1]
    assert contrast(color, "white") >= 3
    assert contrast(in_the_dark(color, inverted), paper) >= 3


def test_the_measure_of_contrast_knows_its_ends():
    assert contrast("white", "black") == pytest.approx(21)
    assert contrast("lime", "white") < 3
