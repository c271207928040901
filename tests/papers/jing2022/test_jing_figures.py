"""Every figure of Jing et al., drawn from smoke tables, shows the numbers of its tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from reading import assert_mean, draw, drawn, labels, panels_of, series, where
from scipy import stats

from reprise.engine import registry


def test_section_4(smoke):
    panels, base, _ = drawn("jing2022/sec4_threshold", smoke)
    end = base["singular_values"].query("step == 40")
    for panel, views, amplitudes in zip(
        panels, ("one", "both"), ([0.25, 0.9, 1.1, 1.25, 4.0], [4.0]), strict=False
    ):
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
    shown = (0.25, 0.9, 1.1, 1.25)
    assert labels(panels[2]) == [*(f"k = {k}" for k in shown), "Theorem 1"]
    for k in shown:
        assert_mean(panels[2], f"k = {k}", strong[strong["amplitude"] == k], "step", "norm")
    dashed = [line for line in panels[2].lines if line.get_linestyle() == "--" and len(line.get_xdata())]
    predicted = strong.groupby(["amplitude", "step"])["log10_norm_if_x_fixed"].mean()
    assert len(dashed) == 4
    for line, k in zip(dashed, shown, strict=True):
        np.testing.assert_allclose(np.log10(line.get_ydata()), predicted[k], rtol=1e-6)


def test_figure_4(smoke):
    panels, base, _ = drawn("jing2022/fig04", smoke)
    table = base["alignment"]
    arms = ("independent", "balanced", "degenerate")
    for panel, arm in zip(panels, arms, strict=False):
        (image,) = panel.images
        shown = np.asarray(image.get_array())
        assert shown.shape == (16, 16)
        for row, column in np.ndindex(16, 16):
            cell = (table["arm"] == arm) & (table["row"] == row + 1) & (table["column"] == column + 1)
            assert shown[row, column] == pytest.approx(table[cell]["magnitude"].mean())
        assert image.get_clim() == (0, 1)
    for panel, column in zip(panels[3:], ("off_diagonal_mass", "imbalance"), strict=True):
        assert labels(panel) == list(arms)
        for arm in arms:
            rows = where(base["trajectory"], arm=arm)
            assert_mean(panel, arm, rows, "step", column, log=False)


def test_figure_5(smoke):
    panels, base, _ = drawn("jing2022/fig05", smoke)
    assert labels(panels[0]) == ["largest", "16th"]
    assert labels(panels[3]) == ["largest", "16th", "Theorem 3"]
    places = product(("independent", "balanced"), ("W1", "W2", "embedding"))
    for panel, (arm, layer) in zip(panels, places, strict=True):
        values = base["singular_values"].query("arm == @arm")
        solid = [line for line in panel.lines if line.get_linestyle() == "-" and len(line.get_xdata())]
        dashed = [line for line in panel.lines if line.get_linestyle() == "--" and len(line.get_xdata())]
        assert len(solid) == 16
        assert len(dashed) == (16 if arm == "balanced" and layer != "embedding" else 0)
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
        "free": (0, "off_diagonal_mass"),
        "low-rank": (1, "mass_outside_subspace"),
    }
    for arm, (at, column) in lines.items():
        assert_mean(panels[at], arm, where(base["trajectory"], arm=arm), "step", column, log=False)
    assert [labels(panel) for panel in panels] == [
        ["frozen", "diagonal", "free", "random bases"],
        ["low-rank", "random bases"],
    ]
    for panel, level in zip(panels, (1 - 1 / 16, 1 - params.low_rank / 16), strict=True):
        assert any(np.allclose(line.get_ydata(), level) for line in panel.lines)


def test_statements_of_other_papers(smoke):
    panels, base, params = drawn("jing2022/carried_over", smoke)
    lines = [
        (0, "none", "standing", "none"), (0, "low rank", "standing", "low-rank"),
        (0, "decaying", "standing", "decaying"),
        (1, "with negatives", "stable_rank", "none"), (1, "without", "stable_rank", "non-contrastive"),
        (2, "linear", "chi", "none"), (2, "linear, rotated", "chi_rotated", "none"),
        (2, "ReLU", "chi", "relu"), (2, "ReLU, rotated", "chi_rotated", "relu"),
    ]  # fmt: skip
    for at, label, column, arm in lines:
        assert_mean(panels[at], label, where(base["trajectory"], arm=arm), "step", column, log=False)
    for at, panel in enumerate(panels):
        balanced = ["balanced"] if at == 1 else []
        assert labels(panel) == [label for place, label, *_ in lines if place == at] + balanced
    assert any(np.allclose(line.get_ydata(), params.dim) for line in panels[1].lines)


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
    depths = {"linear": [1, 2, 3, 4], "isotropic": [1, 4], "degenerate": [1, 4]}
    for panel, (arm, shown) in zip(panels, depths.items(), strict=False):
        names = [f"L = {depth}" for depth in shown]
        assert [label for label in labels(panel) if label.startswith("L")] == names
        absent = ", ".join(f"{depth}" for depth in depths["linear"] if depth not in shown)
        assert panel.get_xlabel() == (f"index\n(not run: L = {absent})" if absent else "index")
        for depth, name in zip(shown, names, strict=True):
            rows = where(spectrum, arm=arm, depth=depth, step=20)
            assert_mean(panel, name, relative(rows), "index", "y", within=(0, 1))
    start = relative(spectrum.query("arm == 'linear' and depth == 1 and step == 0"))
    assert_mean(panels[0], "at the start", start, "index", "y", within=(0, 1))
    for depth in depths["linear"]:
        rows = counted(where(spectrum, arm="linear", depth=depth))
        assert_mean(panels[3], f"L = {depth}", rows, "step", "collapsed", log=False, within=(0, 16))
    same = [
        {line.get_label(): line.get_color().tolist() for line in p.lines if line.get_label()[0] == "L"}
        for p in panels
    ]
    for panel in same:
        assert all(panel[label] == same[0][label] for label in panel)  # a depth keeps its colour


@pytest.mark.parametrize("id", ["sec4_threshold", "fig06a", "fig06b", "stand_in"])
def test_a_shared_legend_covers_no_panel(id, smoke):
    tables, params = smoke[registry.artifact(f"jing2022/{id}").experiment]
    figure = draw(f"jing2022/{id}", tables, params)
    figure.canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert not any(box.overlaps(panel.get_tightbbox()) for panel in panels_of(figure))


def test_figure_6b(smoke):
    panels, base, _ = drawn("jing2022/fig06b", smoke)
    spectrum = base["spectrum"]
    assert len(panels) == 3
    for panel, depth in zip(panels, (2, 3), strict=False):
        names = [f"linear, L = {depth}", f"ReLU, L = {depth}", "at the start"]
        assert labels(panel) == [*names[:2], "collapsed below", names[2]]
        for label, arm, step in zip(names, ("linear", "relu", "relu"), (20, 20, 0), strict=True):
            rows = where(spectrum, arm=arm, depth=depth, step=step)
            assert_mean(panel, label, relative(rows), "index", "y", within=(0, 1))
    expected = [(arm, depth) for depth in (2, 3) for arm in ("linear", "ReLU")]
    assert labels(panels[2]) == [*(f"{arm}, L = {depth}" for arm, depth in expected), "step of the claims"]
    for arm, depth in expected:
        rows = counted(spectrum[(spectrum["arm"] == arm.lower()) & (spectrum["depth"] == depth)])
        name = f"{arm}, L = {depth}"
        assert_mean(panels[2], name, rows, "step", "collapsed", log=False, within=(0, 16))
    styles = {
        line.get_label(): (
            tuple(line.get_color()),
            line.get_linestyle(),
            line.get_marker(),
            line.get_fillstyle(),
        )
        for panel in panels[:2]
        for line in panel.lines
        if "L =" in line.get_label()
    }
    for line in panels[2].lines[:4]:  # a network looks alike in all panels
        style = tuple(line.get_color()), line.get_linestyle(), line.get_marker(), line.get_fillstyle()
        assert style == styles[line.get_label()]
