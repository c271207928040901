"""A figure's SVG in the page shows what matplotlib drew, with ids of its own, in colours that can be seen."""

import base64
import re
import zlib
from importlib.resources import files
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from reprise.plotting.style import colors, save, styled
from reprise.report.vector import Foreign, vector


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
