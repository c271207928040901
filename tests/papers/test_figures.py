"""Properties that all figures have in common; without numbers, drawing one is an error.

Each paper's own tests read its figures back, number by number.
"""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from reading import (
    DECLARED,
    RANGES,
    SERIES,
    draw,
    drawn,
    labels,
    panels_of,
    ranges,
    series,
    share_x,
    share_y,
)
from scipy import stats

from reprise.contract.experiment import BASE, NotInTablesError
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.plotting.data import data_of
from reprise.plotting.style import band, legend_below

FIGURES = [id for id, artifact in registry.artifacts().items() if artifact.kind == "figure"]
EACH = pytest.mark.parametrize("id", FIGURES)


# Properties that all figures have in common.


def test_papers_declare_figures_that_there_are_and_agree_on_ranges():
    named = {id for id, *_ in SERIES}
    named |= {f"{key}/{name}" for key, declared in DECLARED.items() for name in declared.get("across", ())}
    assert named - set(FIGURES) == set(), "tests/*/KEY/figures.toml names figures that there are not"
    for key, declared in DECLARED.items():
        parts = {"across", "ranges", "series"}
        assert declared.keys() <= parts, f"tests/*/{key}/figures.toml: parts are {parts}, not {[*declared]}"
        for column, limits in ranges(key).items():
            assert limits == RANGES[column], (
                f"tests/*/{key}/figures.toml: another range of {column} than elsewhere"
            )


def undeclared(id, error):
    return f"{id}: {error}\nadd the table to `reads` in its decorator"


@pytest.mark.parametrize("id", [id for id in registry.artifacts() if id not in FIGURES])
def test_a_table_is_made_from_what_it_declares_to_read(id, smoke):
    artifact = registry.artifact(id)
    tables, params = smoke[artifact.experiment]
    declared = {name: tables[name] for name in artifact.reads}
    try:
        draw(id, declared, params)
    except NotInTablesError as error:
        pytest.fail(undeclared(id, error))
    for name in declared:
        try:
            draw(id, {other: table for other, table in declared.items() if other != name}, params)
        except (NotInTablesError, KeyError):
            continue
        pytest.fail(f"{id} does not read the table '{name}', which `reads` in its decorator names")


@EACH
def test_every_panel_is_labelled_and_holds_finite_data(id, smoke):
    panels, _, _ = drawn(id, smoke)
    for panel in panels:
        assert any(other.get_xlabel() for other in share_x(panel, panels))
        assert panel.get_title() or any(other.get_ylabel() for other in share_y(panel, panels))
        data = [line.get_xydata() for line in panel.lines if len(line.get_xdata()) > 1]
        maps = [*panel.images, *panel.findobj(QuadMesh)]
        data += [np.asarray(each.get_array()) for each in maps]
        assert data
        for numbers in data:
            assert np.isfinite(np.asarray(numbers, dtype=float)).all()
    assert any(panel.get_ylabel() for panel in panels)


@EACH
def test_what_is_drawn_lies_inside_the_axes(id, smoke):
    """A part of every line is in view, and most of each panel's points are."""
    panels, _, _ = drawn(id, smoke)
    for panel in panels:
        (x0, x1), (y0, y1) = sorted(panel.get_xlim()), sorted(panel.get_ylim())
        inside = [
            ((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)).mean()
            for x, y in series(panel).values()
            if len(x) > 2
        ]
        assert all(share > 0 for share in inside)
        assert not inside or np.mean(inside) > 0.6


def root(panels):
    """The figure, also of panels in a part of it."""
    return panels[0].get_figure(root=True)


@EACH
def test_a_legend_names_each_series_once(id, smoke):
    panels, _, _ = drawn(id, smoke)
    legends = [panel.get_legend() for panel in panels if panel.get_legend()] + root(panels).legends
    assert legends or all(len(labels(panel)) <= 1 for panel in panels)
    for legend in legends:
        names = [text.get_text() for text in legend.get_texts()]
        assert len(names) == len(set(names))


@EACH
def test_its_data_hold_the_points_of_each_series(id, smoke):
    panels, _, _ = drawn(id, smoke)
    rows = data_of(panels[0].figure)
    assert rows
    assert all(row["left"] for row in rows if row["row"])
    found = {(row["x"], row["y"]) for row in rows}
    for panel in panels:
        if not any(
            isinstance(axis.get_major_formatter(), FuncFormatter) for axis in (panel.xaxis, panel.yaxis)
        ):
            for x, y in series(panel).values():
                if len(x) > 2:
                    assert {(f"{a:.6g}", f"{b:.6g}") for a, b in zip(x, y, strict=True)} <= found


def is_grey(line):
    red, green, blue = mpl.colors.to_rgb(line.get_color())
    return red == green == blue


@EACH
def test_a_legend_names_every_marker_and_every_line_that_is_not_solid(id, smoke):
    """A grey line, a reference, by a grey entry."""
    panels, _, _ = drawn(id, smoke)
    legends = [panel.get_legend() for panel in panels if panel.get_legend()] + root(panels).legends
    named = [line for legend in legends for line in legend.findobj(Line2D)]
    styles = {(line.get_linestyle(), grey) for line in named for grey in {False, is_grey(line)}}
    markers = {line.get_marker() for line in named}
    for line in (line for panel in panels for line in panel.lines if len(line.get_xdata())):
        style = line.get_linestyle(), is_grey(line)
        assert style in styles or style[0] in ("-", "None")
        assert line.get_marker() in markers or line.get_marker() == "None"


def shaded(panels, axis=1):
    """The extent of each band and each series' error bars along y, or along x for `axis` 0."""
    return [
        np.concatenate([path.vertices[:, axis] for path in shade.get_paths()])
        for panel in panels
        for shade in panel.collections
        if shade.get_paths()
    ]


def at_the_ends(table, columns, low, high):
    """A table whose columns of these names have the first seed near the low end and the others at the high
    one."""
    if "seed" not in table:
        return table
    first = table["seed"] == table["seed"].min()
    extremes = {
        column: table[column]
        .mask(first, low + 1e-3 * (high - low))
        .mask(~first, high)
        .where(table[column].notna())
        for column in columns
        if column in table
    }
    return table.assign(**extremes)


@EACH
def test_no_band_leaves_the_range_of_its_quantity(id, smoke):
    """One seed near the lower end of the range and the others at its upper end, column by column: the plain
    interval leaves the range."""
    tables, params = smoke[registry.artifact(id).experiment]
    key, reads = id.partition("/")[0], registry.artifact(id).reads
    axis = int(id.partition("/")[2] not in DECLARED.get(key, {}).get("across", ()))
    before = shaded(drawn(id, smoke)[0], axis)
    bounded = {
        column: limits for column, limits in ranges(key).items() if any(column in tables[t] for t in reads)
    }
    for low, high in set(bounded.values()):
        columns = [column for column, limits in bounded.items() if limits == (low, high)]
        top = high if np.isfinite(high) else low + 1000
        damaged = {name: at_the_ends(tables[name], columns, low, top) for name in reads}
        after = shaded(panels_of(draw(id, {**tables, **damaged}, params)), axis)
        for old, new in zip(before, after, strict=True):
            if not np.array_equal(old, new):
                assert low <= new.min()
                assert new.max() <= high


def emptied(table):
    return table.iloc[:0]


def without_numbers(table):
    measured = table.select_dtypes("float").columns.difference(["amplitude", "zeta", "learning_rate"])
    return table.assign(**dict.fromkeys(measured, np.nan))


@EACH
def test_other_tables_other_settings_and_the_users_own_style_change_nothing(id, smoke):
    """A figure is drawn once more from the declared tables and published rows alone, in a strange style."""
    tables, params = smoke[registry.artifact(id).experiment]
    needed = {name: tables[name][tables[name]["setting"] == BASE] for name in registry.artifact(id).reads}
    with mpl.rc_context({"font.size": 30, "axes.prop_cycle": mpl.cycler(color=["red"])}):
        try:
            alone = panels_of(draw(id, needed, params))
        except NotInTablesError as error:
            pytest.fail(undeclared(id, error))
    for ours, theirs in zip(alone, drawn(id, smoke)[0], strict=True):
        assert ours.xaxis.label.get_size() == theirs.xaxis.label.get_size()
        for a, b in zip(ours.lines, theirs.lines, strict=True):
            np.testing.assert_array_equal(a.get_xydata(), b.get_xydata())
            assert str(a.get_color()) == str(b.get_color())


@pytest.mark.parametrize(
    ("id", "table"), [(id, name) for id in FIGURES for name in registry.artifact(id).reads]
)
def test_a_table_without_rows_or_numbers_is_an_error(id, table, smoke):
    tables, params = smoke[registry.artifact(id).experiment]
    for damage in (emptied, without_numbers):
        try:
            draw(id, {**tables, table: damage(tables[table])}, params)
        except (RepriseError, ValueError):
            continue
        said = f"{id} is drawn although its table '{table}' is {damage.__name__.replace('_', ' ')}"
        pytest.fail(f"{said}: use `band` or `drawable` of reprise.plotting.style, or take it out of `reads`")


@pytest.mark.parametrize("damage", ["missing", "no numbers"])
@pytest.mark.parametrize(("id", "table", "rows"), SERIES)
def test_nor_is_one_series_left_out_in_silence(id, table, rows, damage, smoke):
    tables, params = smoke[registry.artifact(id).experiment]
    hit = tables[table].query(rows).index
    assert 0 < len(hit) < len(tables[table])
    rest = tables[table].drop(hit)
    if damage == "no numbers":
        rest = pd.concat([rest, without_numbers(tables[table].loc[hit])])
    with pytest.raises((RepriseError, ValueError)):
        draw(id, {**tables, table: rest}, params)


# The line and band that most figures are made of.


def test_a_band_says_what_is_missing():
    _, axes = plt.subplots()
    for values, log in (([np.nan] * 2, False), ([np.nan] * 2, True), ([0.0, -1.0], True), ([], False)):
        table = pd.DataFrame({"step": range(len(values)), "seed": 0, "norm": np.array(values, dtype=float)})
        with pytest.raises(RepriseError, match=r"nothing to draw: .*norm"):
            band(axes, table, "step", "norm", log=log)
    assert not axes.lines


def test_a_band_ends_where_its_quantity_does():
    _, axes = plt.subplots()
    table = pd.DataFrame({"step": 0, "seed": range(3), "share": [0.0, 1.0, 1.0]})
    band(axes, table, "step", "share")
    band(axes, table, "step", "share", within=(0, 1))
    free, cut = ([path.vertices[:, 1] for path in shade.get_paths()] for shade in axes.collections)
    half = stats.t.ppf(0.975, 2) * np.std([0, 1, 1], ddof=1) / 3**0.5
    assert set(np.round(free, 9).ravel()) == {round(2 / 3 - half, 9), round(2 / 3 + half, 9)}
    assert set(np.ravel(cut)) == {0.0, 1.0}


def test_a_band_of_one_seed_has_no_width():
    _, axes = plt.subplots()
    band(axes, pd.DataFrame({"step": [0, 1], "seed": 0, "norm": [2.0, 3.0]}), "step", "norm", label="x")
    np.testing.assert_array_equal(series(axes)["x"][1], [2, 3])
    assert set(axes.collections[0].get_paths()[0].vertices[:, 1]) == {2.0, 3.0}


@pytest.mark.parametrize(("name", "rows"), [("L = 1", 2), ("a_loss_with_quite_a_long_name", 4)])
def test_a_legend_has_so_many_columns_that_no_name_is_cut(name, rows):
    figure, panel = plt.subplots(figsize=(6, 3), layout="constrained")
    entries = {f"{name}, {number}": panel.plot([0, 1])[0] for number in range(8)}
    legend_below(figure, entries, columns=4)
    figure.canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    heights = {round(text.get_window_extent().y0) for text in legend.get_texts()}
    assert len(heights) == rows
    plt.close(figure)
