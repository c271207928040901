"""Every figure, drawn from smoke tables, shows the numbers of its tables; without numbers it is an error."""

import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reprise import registry
from reprise.config import load_tier
from reprise.errors import RepriseError
from reprise.experiment import BASE, Context, evaluate
from reprise.report.style import band, styled

ROOT = Path(__file__).parents[2]

READS = {
    "jing2022/sec4_threshold": ("singular_values", "strong_block"),
    "jing2022/fig04": ("alignment", "trajectory"),
    "jing2022/fig05": ("singular_values", "theorem3"),
    "jing2022/sec61_projector": ("trajectory",),
    "jing2022/fig06a": ("spectrum",),
    "jing2022/fig06b": ("spectrum",),
}
"""The tables from which each figure is drawn."""

FIGURES = [id for id, artifact in registry.artifacts().items() if artifact.kind == "figure"]
EACH = pytest.mark.parametrize("id", FIGURES)


@pytest.fixture(scope="session")
def smoke():
    """Tables and parameters of every experiment that has a figure, at the smoke tier."""
    tier = load_tier("smoke", ROOT)
    found = {}
    for id in {registry.artifact(id).experiment for id in FIGURES}:
        experiment = registry.experiment(id)
        settings = experiment.settings(tier.params[id])
        found[id] = evaluate(experiment.compute(), settings, Context()), tier.params[id]
    return found


@pytest.fixture(autouse=True)
def no_figure_left_open():
    yield
    plt.close("all")


def draw(id, tables, params):
    with styled(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing, before the error
        return registry.artifact(id).draw(tables, params)


def drawn(id, smoke):
    """The figure's panels, its tables at the published setting, and the parameters."""
    tables, params = smoke[registry.artifact(id).experiment]
    figure = draw(id, tables, params)
    figure.canvas.draw()
    base = {name: table[table["setting"] == BASE] for name, table in tables.items()}
    return panels_of(figure), base, params


def panels_of(figure):
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def series(panel):
    """The lines of several points, without grid and reference lines: label -> (x, y)."""
    return {
        line.get_label(): line.get_xydata().T
        for line in panel.lines
        if len(line.get_xdata()) > 1 and line.get_transform() == panel.transData
    }


def where(table, **values):
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def labels(panel):
    return panel.get_legend_handles_labels()[1]


def assert_mean(panel, label, rows, x, y, *, log=True):
    """The line of that label is the mean over seeds of `y` at every `x`, geometric where the axis is
    logarithmic; the band around it is the 90 % interval of Student's t."""
    transform, back = (np.log, np.exp) if log else (np.asarray, np.asarray)
    wide = rows.pivot(index=x, columns="seed", values=y)
    assert wide.shape == (rows[x].nunique(), 3)
    values = transform(wide.to_numpy(dtype=float))
    mean, half = values.mean(1), stats.t.ppf(0.95, 2) * values.std(1, ddof=1) / 3**0.5
    found_x, found_y = series(panel)[label]
    np.testing.assert_allclose(found_x, wide.index.to_numpy(dtype=float))
    np.testing.assert_allclose(found_y, back(mean), rtol=1e-6, atol=1e-12)
    edges = np.concatenate([path.vertices for shade in panel.collections for path in shade.get_paths()])
    for at, low, high in zip(wide.index, back(mean - half), back(mean + half), strict=True):
        there = edges[np.isclose(edges[:, 0], at), 1]
        for edge in (low, high):
            assert np.isclose(there, edge, rtol=1e-5, atol=1e-9).any(), (label, at)


# Each figure against its tables.


def test_section_4(smoke):
    panels, base, _ = drawn("jing2022/sec4_threshold", smoke)
    end = base["singular_values"].query("step == 40")
    for panel, views, amplitudes in zip(panels, ("one", "both"), ([0.9, 1.1, 1.25], [4.0]), strict=False):
        names = ["1st", "8th", "9th", "16th"]
        for index, name in zip((1, 8, 9, 16), names, strict=True):
            rows = end[(end["views"] == views) & (end["index"] == index)]
            assert sorted(rows["amplitude"].unique()) == amplitudes
            if len(amplitudes) > 1:
                assert_mean(panel, name, rows, "amplitude", "singular_value")
        assert labels(panel)[:4] == names
        (threshold,) = [line for line in panel.lines if list(line.get_xdata()) == [1.0, 1.0]]
        assert threshold.get_linestyle() == ":"
    level = end.query("views == 'one' and index == 1").groupby("amplitude")["singular_value"].mean() / 1000
    np.testing.assert_allclose(series(panels[0])["collapsed below"][1], level, rtol=1e-5)
    strong = base["strong_block"].query("views == 'one'")
    assert labels(panels[2]) == [f"k = {k}" for k in (0.9, 1.1, 1.25)]
    for k in (0.9, 1.1, 1.25):
        assert_mean(panels[2], f"k = {k}", strong[strong["amplitude"] == k], "step", "norm")
    dashed = [line for line in panels[2].lines if line.get_linestyle() == "--"]
    predicted = strong.groupby(["amplitude", "step"])["log10_norm_if_x_fixed"].mean()
    assert len(dashed) == 3
    for line, k in zip(dashed, (0.9, 1.1, 1.25), strict=True):
        np.testing.assert_allclose(np.log10(line.get_ydata()), predicted[k], rtol=1e-6)


def test_figure_4(smoke):
    panels, base, _ = drawn("jing2022/fig04", smoke)
    table = base["alignment"]
    for panel, arm in zip(panels, ("balanced", "public"), strict=False):
        (image,) = panel.images
        shown = np.asarray(image.get_array())
        assert shown.shape == (16, 16)
        for row, column in np.ndindex(16, 16):
            cell = (table["arm"] == arm) & (table["row"] == row + 1) & (table["column"] == column + 1)
            assert shown[row, column] == pytest.approx(table[cell]["magnitude"].mean())
        assert image.get_clim() == (0, 1)
    for panel, column in zip(panels[2:], ("off_diagonal_mass", "imbalance"), strict=True):
        assert labels(panel) == ["balanced", "public"]
        for arm in ("balanced", "public"):
            rows = where(base["trajectory"], arm=arm)
            assert_mean(panel, arm, rows, "step", column, log=False)


def test_figure_5(smoke):
    panels, base, _ = drawn("jing2022/fig05", smoke)
    values = base["singular_values"].query("arm == 'balanced'")
    assert labels(panels[0]) == ["largest", "16th", "Theorem 3"]
    for panel, layer in zip(panels, ("W1", "W2", "embedding"), strict=True):
        solid = [line for line in panel.lines if line.get_linestyle() == "-" and len(line.get_xdata())]
        dashed = [line for line in panel.lines if line.get_linestyle() == "--" and len(line.get_xdata())]
        assert len(solid) == 16
        assert len(dashed) == (0 if layer == "embedding" else 16)
        for index, line in enumerate(solid, 1):
            rows = values[(values["layer"] == layer) & (values["index"] == index)]
            line.set_label(f"value {index}")
            assert_mean(panel, f"value {index}", rows, "step", "singular_value")
        for index, line in enumerate(dashed, 1):
            rows = where(base["theorem3"], index=index)
            ode = rows.pivot(index="step", columns="seed", values=f"{layer.lower()}_ode")
            np.testing.assert_allclose(line.get_xdata(), ode.index)
            np.testing.assert_allclose(line.get_ydata(), stats.gmean(ode, axis=1), rtol=1e-6)


def test_section_6_1(smoke):
    panels, base, params = drawn("jing2022/sec61_projector", smoke)
    lines = {
        "frozen": (0, "off_diagonal_mass"),
        "diagonal": (0, "off_diagonal_mass"),
        "low-rank": (1, "mass_outside_subspace"),
    }
    for arm, (at, column) in lines.items():
        assert_mean(panels[at], arm, where(base["trajectory"], arm=arm), "step", column, log=False)
    assert [labels(panel) for panel in panels] == [
        ["frozen", "diagonal", "random bases"],
        ["low-rank", "random bases"],
    ]
    for panel, level in zip(panels, (1 - 1 / 16, 1 - params.low_rank / 16), strict=True):
        assert any(np.allclose(line.get_ydata(), level) for line in panel.lines)


def relative(rows):
    return rows.assign(y=rows["singular_value"] / rows.groupby(["seed"])["singular_value"].transform("max"))


def counted(rows):
    """Collapsed values by step and seed, in a loop."""
    found = []
    for (step, seed), net in rows.query("step > 0").groupby(["step", "seed"]):
        count = sum(value < 1e-3 * max(net["singular_value"]) for value in net["singular_value"])
        found.append({"step": step, "seed": seed, "collapsed": count})
    return pd.DataFrame(found)


def test_figure_6a(smoke):
    panels, base, _ = drawn("jing2022/fig06a", smoke)
    spectrum = base["spectrum"]
    depths = {"linear": [1, 2, 3, 4], "isotropic": [1, 4], "public init": [1, 2, 4]}
    for panel, (arm, shown) in zip(panels, depths.items(), strict=False):
        names = [f"L = {depth}" for depth in shown]
        assert [label for label in labels(panel) if label != "init"] == names
        for depth, name in zip(shown, names, strict=True):
            rows = where(spectrum, arm=arm, depth=depth, step=20)
            assert_mean(panel, name, relative(rows), "index", "y")
    assert_mean(
        panels[0],
        "init",
        relative(spectrum.query("arm == 'linear' and depth == 1 and step == 0")),
        "index",
        "y",
    )
    for depth in depths["linear"]:
        rows = counted(where(spectrum, arm="linear", depth=depth))
        assert_mean(panels[3], f"L = {depth}", rows, "step", "collapsed", log=False)
    same = [
        {line.get_label(): line.get_color().tolist() for line in p.lines if line.get_label()[0] == "L"}
        for p in panels
    ]
    for panel in same:
        assert all(panel[label] == same[0][label] for label in panel)  # a depth keeps its colour


def test_figure_6b(smoke):
    panels, base, _ = drawn("jing2022/fig06b", smoke)
    spectrum = base["spectrum"]
    assert len(panels) == 3
    for panel, depth in zip(panels, (2, 3), strict=False):
        assert labels(panel) == ["linear", "ReLU", "init"]
        for label, arm, step in (("linear", "linear", 20), ("ReLU", "relu", 20), ("init", "relu", 0)):
            rows = where(spectrum, arm=arm, depth=depth, step=step)
            assert_mean(panel, label, relative(rows), "index", "y")
    expected = [(arm, depth) for depth in (2, 3) for arm in ("linear", "ReLU")]
    assert labels(panels[2]) == [f"{arm}, L = {depth}" for arm, depth in expected]
    for arm, depth in expected:
        rows = counted(spectrum[(spectrum["arm"] == arm.lower()) & (spectrum["depth"] == depth)])
        assert_mean(panels[2], f"{arm}, L = {depth}", rows, "step", "collapsed", log=False)


# What all figures have in common.


def test_every_figure_is_read_back_here():
    tested = {
        name.removeprefix("test_") for name in globals() if name.startswith(("test_figure_", "test_section_"))
    }
    numbers = {registry.artifact(id).number.lower().replace(" ", "_").replace(".", "_") for id in FIGURES}
    assert tested == numbers
    assert set(READS) == set(FIGURES)


def test_tables_among_the_artifacts_have_tests_of_their_own():
    """There is none yet; a table is to be read back like a figure."""
    assert [id for id, artifact in registry.artifacts().items() if artifact.kind == "table"] == []


@EACH
def test_every_panel_is_labelled_and_holds_finite_data(id, smoke):
    panels, _, _ = drawn(id, smoke)
    for panel in panels:
        assert panel.get_xlabel()
        assert panel.get_ylabel() or panel.get_title()
        data = [line.get_xydata() for line in panel.lines if len(line.get_xdata()) > 1]
        data += [np.asarray(image.get_array()) for image in panel.images]
        assert data
        for numbers in data:
            assert np.isfinite(np.asarray(numbers, dtype=float)).all()
    assert any(panel.get_ylabel() for panel in panels)


@EACH
def test_what_is_drawn_lies_inside_the_axes(id, smoke):
    """Of every line a part is in view, and of each panel's points most are."""
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


@EACH
def test_a_legend_names_each_series_once(id, smoke):
    panels, _, _ = drawn(id, smoke)
    legends = [panel.get_legend() for panel in panels if panel.get_legend()]
    assert legends or all(len(labels(panel)) <= 1 for panel in panels)
    for legend in legends:
        names = [text.get_text() for text in legend.get_texts()]
        assert len(names) == len(set(names))


@EACH
def test_other_settings_are_not_drawn(id, smoke):
    tables, params = smoke[registry.artifact(id).experiment]
    alone = {name: table[table["setting"] == BASE] for name, table in tables.items()}
    both = [panels_of(draw(id, given, params)) for given in (tables, alone)]
    for ours, theirs in zip(*both, strict=True):
        assert len(ours.lines) == len(theirs.lines)
        for a, b in zip(ours.lines, theirs.lines, strict=True):
            np.testing.assert_array_equal(a.get_xydata(), b.get_xydata())


@EACH
def test_the_users_own_style_changes_nothing(id, smoke):
    tables, params = smoke[registry.artifact(id).experiment]
    sizes = []
    for own in (8, 30):
        with mpl.rc_context({"font.size": own, "axes.prop_cycle": mpl.cycler(color=["red"])}):
            panel = panels_of(draw(id, tables, params))[0]
            sizes.append((panel.xaxis.label.get_size(), [str(line.get_color()) for line in panel.lines]))
    assert sizes[0] == sizes[1]


def emptied(table):
    return table.iloc[:0]


def without_numbers(table):
    measured = table.select_dtypes("float").columns.difference(["amplitude"])
    return table.assign(**dict.fromkeys(measured, np.nan))


@pytest.mark.parametrize("damage", [emptied, without_numbers])
@pytest.mark.parametrize(("id", "table"), [(id, table) for id, names in READS.items() for table in names])
def test_a_table_without_rows_or_numbers_is_an_error(id, table, damage, smoke):
    tables, params = smoke[registry.artifact(id).experiment]
    with pytest.raises((RepriseError, ValueError)):
        draw(id, {**tables, table: damage(tables[table])}, params)


@pytest.mark.parametrize("id", READS)
def test_a_figure_reads_the_tables_named_and_no_others(id, smoke):
    tables, params = smoke[registry.artifact(id).experiment]
    others = {name: emptied(table) for name, table in tables.items() if name not in READS[id]}
    assert draw(id, {**tables, **others}, params).axes


ARMS = [
    ("jing2022/fig04", "alignment", "arm == 'public'"),
    ("jing2022/fig04", "trajectory", "arm == 'public'"),
    ("jing2022/fig05", "singular_values", "layer == 'W2'"),
    ("jing2022/fig05", "theorem3", "index == 16"),
    ("jing2022/sec61_projector", "trajectory", "arm == 'diagonal'"),
    ("jing2022/sec4_threshold", "singular_values", "views == 'both'"),
    ("jing2022/fig06a", "spectrum", "arm == 'linear'"),
    ("jing2022/fig06b", "spectrum", "arm == 'relu' and depth == 3"),
]


@pytest.mark.parametrize("damage", ["missing", "no numbers"])
@pytest.mark.parametrize(("id", "table", "rows"), ARMS)
def test_nor_is_one_series_left_out_in_silence(id, table, rows, damage, smoke):
    tables, params = smoke[registry.artifact(id).experiment]
    hit = tables[table].query(rows).index
    assert 0 < len(hit) < len(tables[table])
    rest = tables[table].drop(hit)
    if damage == "no numbers":
        rest = pd.concat([rest, without_numbers(tables[table].loc[hit])])
    with pytest.raises((RepriseError, ValueError)):
        draw(id, {**tables, table: rest}, params)


# The line and band that most of them are made of.


def test_a_band_says_what_is_missing():
    _, axes = plt.subplots()
    for values, log in (([np.nan] * 2, False), ([np.nan] * 2, True), ([0.0, -1.0], True), ([], False)):
        table = pd.DataFrame({"step": range(len(values)), "seed": 0, "norm": np.array(values, dtype=float)})
        with pytest.raises(RepriseError, match=r"nothing to draw: .*norm"):
            band(axes, table, "step", "norm", log=log)
    assert not axes.lines


def test_a_band_of_one_seed_has_no_width():
    _, axes = plt.subplots()
    band(axes, pd.DataFrame({"step": [0, 1], "seed": 0, "norm": [2.0, 3.0]}), "step", "norm", label="x")
    np.testing.assert_array_equal(series(axes)["x"][1], [2, 3])
    assert set(axes.collections[0].get_paths()[0].vertices[:, 1]) == {2.0, 3.0}
