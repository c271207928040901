"""The data of a figure: the numbers that matplotlib and seaborn were given, where they draw them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.transforms import Affine2D

from reprise.plotting.data import data_of
from reprise.plotting.style import DPI, save, styled

X, Y, LOW, HIGH = [1.0, 2.0, 4.0], [0.5, 3.25, 2.0], [0.25, 3.0, 1.0], [0.75, 3.5, 4.0]


@pytest.fixture
def saved(tmp_path):
    """A function that saves a figure and reads its data back, as text."""

    def read(figure):
        save(figure, tmp_path / "figure.csv", "csv")
        plt.close(figure)
        return pd.read_csv(tmp_path / "figure.csv", dtype=str, keep_default_na=False)

    return read


def panel(**options):
    with styled():
        return plt.subplots(figsize=(4, 3), **options)


def numbers(table, *columns):
    return table[list(columns)].astype(float).to_numpy()


def columns(*lists):
    return np.transpose(lists)


def test_a_line_with_its_band_has_a_row_a_point(saved):
    figure, axes = panel()
    (line,) = axes.plot(X, Y, label="ours", color="C3")
    axes.fill_between(X, LOW, HIGH, color=line.get_color(), alpha=0.2)
    table = saved(figure)
    assert list(table) == ["panel", "series", "x", "y", "low", "high", "left", "top"]
    assert set(table["series"]) == {"ours"}
    assert numbers(table, "x", "y", "low", "high") == pytest.approx(columns(X, Y, LOW, HIGH))


def test_a_band_of_another_colour_stands_alone(saved):
    figure, axes = panel()
    axes.plot(X, Y, color="C0", label="ours")
    axes.fill_between(X, LOW, HIGH, color="C1")
    table = saved(figure)
    assert len(table) == 6
    assert set(table["low"][table["y"] != ""]) == {""}
    assert numbers(table[table["y"] == ""], "x", "low", "high") == pytest.approx(columns(X, LOW, HIGH))


@pytest.mark.parametrize("fmt", ["o", "none"])
def test_error_bars_along_both_axes(saved, fmt):
    figure, axes = panel()
    errors = np.subtract(Y, LOW), np.subtract(HIGH, Y)
    axes.errorbar(X, Y, yerr=errors, xerr=[0.1, 0.0, 0.3], fmt=fmt, capsize=2, label="measured")
    table = saved(figure)
    assert set(table["series"]) == {"measured"}
    if fmt == "o":
        names = ("x", "y", "low", "high", "x_low", "x_high")
        expected = columns(X, Y, LOW, HIGH, [0.9, 2.0, 3.7], [1.1, 2.0, 4.3])
        assert numbers(table, *names) == pytest.approx(expected)
    else:
        upright, level = table[table["low"] != ""], table[table["low"] == ""]
        assert numbers(upright, "x", "low", "high") == pytest.approx(columns(X, LOW, HIGH))
        assert numbers(level, "y", "x_low", "x_high") == pytest.approx(
            columns(Y, [0.9, 2.0, 3.7], [1.1, 2.0, 4.3])
        )


def test_a_point_that_is_missing_has_no_row(saved):
    figure, axes = panel()
    axes.plot(X, [1.0, np.nan, np.inf])
    axes.errorbar(X, [1.0, np.nan, 3.0], 0.5)
    assert len(saved(figure)) == 3


def test_a_cloud_has_a_row_a_point_with_the_label_of_its_colour(saved):
    figure, axes = panel()
    table = pd.DataFrame({"x": X, "y": Y, "kind": ["a", "b", "a"]})
    sns.scatterplot(table, x="x", y="y", hue="kind", ax=axes)
    found = saved(figure)
    assert numbers(found, "x", "y") == pytest.approx(columns(X, Y))
    assert list(found["series"]) == ["a", "b", "a"]


def test_lines_of_seaborn_have_their_intervals(saved):
    table = pd.DataFrame({"x": [1, 1, 1, 2, 2, 2], "y": [1.0, 2.0, 4.0, 3.0, 5.0, 8.0]})
    figure, axes = panel()
    sns.lineplot(table, x="x", y="y", errorbar="sd", ax=axes, label="mean")
    of = table.groupby("x")["y"]
    expected = columns([1, 2], of.mean(), of.mean() - of.std(), of.mean() + of.std())
    assert numbers(saved(figure), "x", "y", "low", "high") == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("plot", [sns.barplot, sns.pointplot])
def test_categories_and_intervals_of_seaborn(saved, plot):
    table = pd.DataFrame({"loss": [*"aaabbb"] * 2, "set": [*"uv"] * 6, "top1": np.arange(12.0) ** 2})
    figure, axes = panel()
    plot(table, x="loss", y="top1", hue="set", errorbar="sd", ax=axes, **DODGED.get(plot, {}))
    found = saved(figure)
    of = table.groupby(["set", "loss"])["top1"]
    assert list(zip(found["series"], found["x"], strict=True)) == list(of.groups)
    expected = columns(of.mean(), of.mean() - of.std(), of.mean() + of.std())
    assert numbers(found, "y", "low", "high") == pytest.approx(expected, rel=1e-5)


DODGED = {sns.pointplot: {"dodge": 0.2}}


def test_bars_have_the_categories_of_their_axis(saved):
    figure, (upright, level) = panel(ncols=2)
    upright.bar(["none", "some", "all"], Y, yerr=[0.1, 0.2, 0.3], label="ours")
    level.barh([0, 1, 2], Y)
    level.set_yticks([0, 1, 2], ["64", "128", "256"])
    found = saved(figure)
    first, second = found[found["panel"] == "row 1, column 1"], found[found["panel"] == "row 1, column 2"]
    assert list(first["x"]) == ["none", "some", "all"]
    assert list(second["y"]) == ["64", "128", "256"]
    assert numbers(first, "y", "low", "high") == pytest.approx(
        columns(Y, np.subtract(Y, [0.1, 0.2, 0.3]), np.add(Y, [0.1, 0.2, 0.3]))
    )
    assert numbers(second, "x") == pytest.approx(columns(Y))


CELLS = pd.DataFrame([[0.0, 1.5, np.nan], [2.0, -3.25, 4.0]], index=["p", "q"], columns=["u", "v", "w"])
NAMED = [("p", "u", 0.0), ("p", "v", 1.5), ("q", "u", 2.0), ("q", "v", -3.25), ("q", "w", 4.0)]


def cells_of(table):
    return list(zip(table["row"], table["column"], table["value"].astype(float), strict=True))


def test_a_heat_map_of_seaborn_has_a_row_a_cell(saved):
    figure, axes = panel()
    sns.heatmap(CELLS, ax=axes)
    assert cells_of(saved(figure)) == NAMED


def test_what_is_written_in_a_cell_stands_beside_its_value(saved):
    """Also in a cell without a colour."""
    figure, axes = panel()
    sns.heatmap(CELLS, ax=axes, annot=np.array([["none", "1.5 ✓", "x"], ["2", "-3\nof 4", "4"]]), fmt="")
    axes.text(2.5, 0.5, "diverged")
    found = saved(figure)
    assert list(found["text"]) == ["none", "1.5 ✓", "diverged", "2", "-3 of 4", "4"]
    assert list(found["value"]) == ["0", "1.5", "", "2", "-3.25", "4"]


@pytest.mark.parametrize("origin", ["upper", "lower"])
def test_an_image_has_a_row_a_cell_where_it_shows_it(saved, origin):
    figure, axes = panel()
    image = axes.imshow(CELLS, origin=origin, aspect="auto")
    figure.colorbar(image)
    axes.set_xticks(range(3), CELLS.columns)
    axes.set_yticks(range(2), CELLS.index)
    found = saved(figure)
    assert cells_of(found) == NAMED
    tops = found.groupby("row")["top"].first().astype(float)
    assert (tops["p"] < tops["q"]) == (origin == "upper")


def test_cells_between_ticks_count_as_the_ticks_do(saved):
    """The axis counts from 1, and has a tick at every third cell alone."""
    figure, axes = panel()
    axes.imshow(np.arange(7.0)[None])
    axes.set_xticks([0, 3, 6], ["1", "4", "7"])
    assert list(saved(figure)["column"]) == [str(number) for number in range(1, 8)]


@pytest.mark.parametrize(
    ("ticks", "labels"),
    [([1, 10, 100], ["1", "10", "$10^2$"]), ([0.25, 1, 1 / 3], ["¼", "1", "0.33"]), ([2, 30], None)],
)
def test_ticks_that_say_their_value_rename_nothing(saved, ticks, labels):
    figure, axes = panel()
    axes.set_xscale("log")
    axes.plot([0.3, 7.0, 70.0], Y)
    axes.set_xticks(ticks, labels)
    assert list(saved(figure)["x"]) == ["0.3", "7", "70"]


def test_a_word_for_one_value_names_no_other(saved):
    figure, axes = panel()
    axes.plot([0.0, 1.0, 5.0, 9.0, 10.0], np.arange(5.0))
    axes.set_xticks([0, 10], ["start", "end"])
    assert list(saved(figure)["x"]) == ["start", "1", "5", "9", "end"]


def test_panels_are_named_by_their_titles_or_places():
    figure, axes = panel(nrows=2, ncols=2)
    for each, title in zip(axes.flat, ["one", "$τ^2 = 3$", "same", "same"], strict=True):
        each.plot(X, Y)
        each.set_title(title)
    names = list(dict.fromkeys(row["panel"] for row in data_of(figure)))
    assert names == ["one", "τ^2 = 3", "same, row 2, column 1", "same, row 2, column 2"]
    plt.close(figure)


def test_series_without_a_label_have_that_of_their_look_or_a_number():
    figure, (left, right) = panel(ncols=2)
    left.plot(X, Y, "r--", label="ours")
    for axes in (left, right):
        axes.plot(X, Y, "k-")
        axes.plot(X, Y, "k:")
    right.plot(X, Y, "r--")
    right.axhline(1.0, color="b")
    left.axvline(2.0, color="r", ls="--")
    found = [(row["panel"][-1], row["series"], row["x"], row["y"]) for row in data_of(figure)]
    assert list(dict.fromkeys(name for _, name, *_ in found)) == ["ours", "series 1", "series 2"]
    assert found.count(("1", "ours", "2", "")) == 1  # across the panel; the other one has no name
    assert len(found) == 6 * 3 + 1
    plt.close(figure)


def test_connections_between_points_are_no_intervals(saved):
    figure, axes = panel()
    axes.plot([1.0, 5.0], [0, 0], "ko")
    axes.plot([1.0, 5.0], [0, 0], "-", color="0.5")
    found = saved(figure)
    assert "x_low" not in found
    assert len(found) == 4


def test_a_strip_is_an_interval(saved):
    figure, axes = panel()
    axes.plot(X, Y)
    axes.axvspan(2, 3, label="shown")
    (found,) = saved(figure).query("series == 'shown'").to_dict("records")
    assert (found["x_low"], found["x_high"], found["y"]) == ("2", "3", "")


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
def test_marks_are_where_the_picture_has_them(scale, tmp_path):
    """A point drawn as one coloured square is where the pixels of the PNG have that colour."""
    figure, axes = panel(layout="constrained")
    axes.set(xscale=scale, yscale=scale, title="a title\nin two lines", xlabel="x", xlim=(0.5, 9))
    axes.plot(X, Y, ls="", marker="s", ms=2, mew=0, color="#ff00ff", antialiased=False)
    save(figure, tmp_path / "figure.png", "png")
    places = np.array([[float(row["left"]), float(row["top"])] for row in data_of(figure)])
    pixels = (plt.imread(tmp_path / "figure.png")[:, :, :3] == [1, 0, 1]).all(axis=2)
    for left, top in places * DPI / 72:
        around = pixels[round(top) - 5 : round(top) + 6, round(left) - 5 : round(left) + 6]
        middle = np.argwhere(around).mean(axis=0)
        assert middle == pytest.approx([5, 5], abs=1)
    plt.close(figure)


@pytest.mark.parametrize("fmt", ["o", "none"])
def test_what_is_drawn_beside_its_values_keeps_them_and_is_placed_where_it_is_seen(saved, fmt):
    errors, places = np.subtract(Y, LOW), []
    for factor in (1, 1.5):
        figure, axes = panel()
        axes.set(xscale="log", xlim=(0.5, 9), ylim=(0, 4))
        beside = Affine2D().scale(factor, 1) + axes.transData
        axes.errorbar(X, Y, errors, fmt=fmt, label="ours", transform=beside)
        if fmt == "o":
            axes.scatter(X, LOW, offset_transform=beside, label="also")
        table = saved(figure)
        assert set(numbers(table, "x").ravel()) == set(X)
        places.append(numbers(table, "left", "top"))
    shift = np.log(1.5) / np.log(9 / 0.5) * axes.get_window_extent().width * 72 / figure.dpi
    assert places[1] - places[0] == pytest.approx(np.tile([shift, 0], (len(places[0]), 1)), abs=0.02)


def test_what_a_panel_cuts_off_has_no_place(saved):
    figure, axes = panel()
    axes.plot(X, Y)
    axes.set_xlim(0, 3)
    found = saved(figure)
    assert list(found["x"]) == ["1", "2", "4"]
    assert [bool(left) for left in found["left"]] == [True, True, False]


def test_bars_and_cells_have_their_size():
    figure, axes = panel()
    axes.bar([0, 1], [1, 2], width=0.5)
    axes.set(xlim=(-1, 3), ylim=(0, 4))
    box = axes.get_window_extent()
    first, second = data_of(figure)
    points = 72 / figure.dpi
    for row, height in ((first, 1), (second, 2)):
        assert float(row["width"]) == pytest.approx(box.width * points / 8, abs=0.01)
        assert float(row["height"]) == pytest.approx(box.height * points * height / 4, abs=0.01)
    plt.close(figure)


def test_the_same_figure_gives_the_same_bytes_whatever_was_saved_before(tmp_path):
    contents = []
    for kinds in (["csv"], ["pdf", "svg", "png", "csv"]):
        figure, axes = panel(layout="constrained")
        axes.plot(X, Y, label="ours")
        image = axes.imshow(CELLS)
        figure.colorbar(image)
        for kind in kinds:
            save(figure, tmp_path / f"figure.{kind}", kind)
        plt.close(figure)
        contents.append((tmp_path / "figure.csv").read_bytes())
    assert contents[0] == contents[1]
