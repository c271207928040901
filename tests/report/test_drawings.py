"""Drawings of claims: everything lies where its numbers are."""

import re

import pytest

from reprise.report import drawings
from reprise.report.schema import Claim, Published, Reading

BLANK = {
    name: "" if field.annotation is str else [] if "list" in str(field.annotation) else None
    for name, field in Claim.model_fields.items()
}


def claim(**changes):
    return Claim.model_construct(
        **{
            **BLANK, "id": "new2030/table1/a", "kind": "value", "verdict": "reproduced", "relation": "near",
            "observed": 0.6, "reference": 0.5, "margin": 0.1, "low": 0.45, "high": 0.75, "own_low": 0.5,
            "own_high": 0.7, "values": [0.5, 0.7], "unit": "share", "is_one_scale": True, **changes,
        }
    )  # fmt: skip


def positions(line):
    return [float(number) for number in re.findall(r"--[abc]:([-\d.]+)", line.style)]


def test_a_line_is_drawn_to_the_scale_of_the_band():
    """The band is 0.2 wide and begins 0.1 left of no difference; the interval reaches as far to the right."""
    drawn = drawings.drawing(claim(low=0.5, high=0.7))
    (line,) = drawn.lines
    low, high, centre = positions(line)
    unit = (drawn.high - drawn.low) / 0.2
    assert drawn.zero == pytest.approx(drawn.low + 0.1 * unit, abs=0.2)
    assert low == pytest.approx(drawn.zero, abs=0.2)
    assert centre == pytest.approx(drawn.zero + 0.1 * unit, abs=0.2)
    assert high == pytest.approx(drawn.zero + 0.2 * unit, abs=0.2)
    dots = [float(number) for number in re.findall(r"M([\d.]+) 5h0", line.dots)]
    assert dots == pytest.approx([low, high], abs=0.1)


def test_a_published_number_and_the_difference_have_lines_of_their_own():
    published = Published(value=0.5, std=0.1, n=5, low=0.4, high=0.6)
    drawn = drawings.drawing(claim(published=published))
    assert [line.name for line in drawn.lines] == ["ours", "published", "difference, both spreads"]
    widths = [high - low for low, high, _ in map(positions, drawn.lines)]
    assert widths[2] == pytest.approx(1.5 * widths[0], rel=0.05)
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    assert drawn.lines[2].text == "0.10 [−0.05, 0.25]"


@pytest.mark.parametrize(("relation", "ends"), [("above", "right"), ("at most", "left")])
def test_what_lies_on_one_side_of_the_reference_is_allowed_to_the_edge(relation, ends):
    drawn = drawings.drawing(claim(relation=relation, margin=0.0))
    assert (drawn.low, drawn.high) == ((drawn.zero, 100.0) if ends == "right" else (0.0, drawn.zero))


def test_cells_are_drawn_together_only_if_they_compare_alike():
    cells = [
        Reading(
            name=str(n),
            verdict="reproduced",
            observed=n,
            low=n,
            high=n,
            reference=0,
            seeds=5,
            p_reproduced=0.01,
            p_contradicted=1.0,
            p_tied=1.0,
        )
        for n in range(80)
    ]
    drawn = drawings.drawing(claim(cells=cells))
    assert (len(drawn.lines), drawn.more) == (drawings.MOST_LINES, 80 - drawings.MOST_LINES)
    assert drawings.drawing(claim(cells=cells, is_one_scale=False)) is None
    assert drawings.drawing(claim(kind="identity")) is None


def test_equal_numbers_lie_on_the_diagonal_of_the_panel():
    points = [
        claim(id=f"new2030/table1/{i}", observed=number, own_low=number - 0.1, own_high=number + 0.1,
              published=Published(value=number, std=None, n=None, low=None, high=None))
        for i, number in enumerate((0.2, 0.9))
    ]  # fmt: skip
    svg = drawings.panel("new2030: share", points)
    places = [tuple(map(float, pair)) for pair in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)]
    assert len(places) == 2
    (x0, y0), (x1, y1) = places
    assert x1 > x0
    assert x1 - x0 == pytest.approx(y0 - y1, abs=0.2)
    assert x0 - drawings.EDGE == pytest.approx(drawings.SIZE - drawings.EDGE - y0, abs=0.2)
    assert svg.count('href="#new2030/table1/') == 2


@pytest.mark.parametrize(("least", "most"), [(0.0, 1.0), (-0.2, 1.1), (48.0, 97.0), (0.001, 0.0042)])
def test_ticks_are_few_and_round(least, most):
    ticks = drawings._ticks(least, most)
    assert 2 <= len(ticks) <= 6
    assert least <= ticks[0] < ticks[-1] <= most
    assert all(float(f"{tick:.2g}") == pytest.approx(tick) for tick in ticks)


def setting(name, observed, verdict="reproduced"):
    ends = {"low": observed - 1, "high": observed + 1}
    return Reading.model_construct(name=name, verdict=verdict, observed=observed, reference=0.0, **ends)


def test_settings_are_sorted_by_the_difference_with_the_published_one_among_them():
    settings = [setting("wide", 3.0), setting("narrow", -2.0, "contradicted"), setting("middle", 0.2)]
    curve = drawings.specification_curve(claim(settings=settings, here="inconclusive"))
    assert [span.name for span in curve] == ["narrow", drawings.OURS, "middle", "wide"]
    assert [span.centre for span in curve] == pytest.approx([-2.0, 0.1, 0.2, 3.0])
    assert [span.verdict for span in curve] == ["contradicted", "inconclusive", "reproduced", "reproduced"]
    lines = drawings.drawing(claim(settings=settings, low=0.5, high=0.7)).lines
    assert [line.name for line in lines] == ["narrow", drawings.OURS, "middle", "wide"]


def test_what_leaves_nothing_open_or_compares_otherwise_in_each_cell_has_no_curve():
    cells = [setting("a", 1.0)]
    assert drawings.specification_curve(claim()) == []
    assert drawings.specification_curve(claim(settings=cells, cells=cells, is_one_scale=False)) == []
