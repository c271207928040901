"""Figures 3 and 4, drawn from smoke tables, show the numbers of their tables."""

import numpy as np
import pytest
from reading import assert_mean, drawn, labels, series, where
from scipy import stats

WIDTHS = (10, 100, 1000)
METHODS = ("descent", "printed_euler", "corrected_euler")


def lines_of(panel):
    """Lines of several points in the order in which they were drawn, without limits and markers."""
    return [
        line
        for line in panel.lines
        if len(line.get_xdata()) > 2 and line.get_linestyle() not in ("None", ":")
    ]


def test_figure_3(smoke):
    panels, base, _ = drawn("esser2024/fig03", smoke)
    assert len(panels) == 6
    for z, (losses, outputs, distances) in zip((1, 2), (panels[:3], panels[3:]), strict=True):
        check_losses(losses, where(base["trajectory"], z=z))
        check_outputs(outputs, where(base["outputs"], z=z, eigenvector=1, unit=1))
        check_distances(distances, where(base["trajectory"], z=z))
        assert losses.get_ylabel() == f"loss, z = {z}"
    limits = [line.get_ydata()[0] for line in panels[1].lines if line.get_linestyle() == ":"]
    assert sorted(limits) == [-1, 1]
    (legend,) = panels[0].figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names[:3] == [f"h = {width}" for width in WIDTHS]
    assert names[3:6] == ["descent (11)", "ODE (12)", "Euclidean ODE"]
    styles = [handle.get_linestyle() for handle in legend.legend_handles[3:6]]
    assert styles == [line.get_linestyle() for line in lines_of(panels[0])[:3]]


def check_losses(panel, table):
    lines, markers = iter(lines_of(panel)), iter([m for m in panel.lines if m.get_linestyle() == "None"])
    for width in WIDTHS:
        for method in METHODS:
            mean = where(table, width=width, method=method).groupby("iteration")["loss"].mean()
            line = next(lines)
            np.testing.assert_allclose(line.get_xdata(), mean.index)
            np.testing.assert_allclose(line.get_ydata(), mean)
        for ode in ("printed", "corrected"):
            mean = where(table, width=width, method=f"{ode}_flow").groupby("iteration")["loss"].mean()
            marker = next(markers)
            assert len(marker.get_xdata()) >= 3
            np.testing.assert_allclose(marker.get_ydata(), mean.loc[marker.get_xdata()])
            assert marker.get_marker() == {"printed": "o", "corrected": "x"}[ode]
    assert next(lines, None) is None
    assert next(markers, None) is None


def check_outputs(panel, table):
    lines = iter(lines_of(panel))
    for width in WIDTHS:
        rows = where(table, width=width)
        ends = where(rows, method="descent", iteration=rows["iteration"].max()).set_index("seed")["output"]
        seeds = [min(ends[so].index) for so in (ends > 0, ends < 0) if so.any()]
        for method in METHODS:
            for seed in seeds:
                expected = where(rows, method=method, seed=seed)
                line = next(lines)
                np.testing.assert_allclose(line.get_xdata(), expected["iteration"])
                np.testing.assert_allclose(line.get_ydata(), expected["output"])
    assert next(lines, None) is None


def check_distances(panel, table):
    """Geometric means over seeds."""
    lines = iter(lines_of(panel))
    for width in WIDTHS:
        for method in METHODS[1:]:
            rows = where(table, width=width, method=method).query("iteration > 0")
            means = np.exp(np.log(rows["distance"]).groupby(rows["iteration"]).mean())
            line = next(lines)
            np.testing.assert_allclose(line.get_xdata(), means.index)
            np.testing.assert_allclose(line.get_ydata(), means, rtol=1e-6)
    assert next(lines, None) is None


def test_figure_4(smoke):
    (left, right, single), base, params = drawn("esser2024/fig04", smoke)
    times = base["step_seconds"]
    steps = {"descent": "descent (11)", "ode": "ODE (12)", "tanh": "descent, tanh net"}
    for method, name in steps.items():
        assert_mean(left, name, where(times, method=method), "width", "seconds")
    fits = [label for label in labels(left) if label.startswith("slope")]
    assert labels(left) == [*steps.values(), *fits]
    (fit,) = fits
    log = np.log(where(times, method="descent").pivot(index="width", columns="seed", values="seconds"))
    per_repeat = [stats.linregress(np.log(log.index), log[seed]).slope for seed in log]
    assert float(fit.split()[1]) == pytest.approx(np.mean(per_repeat), abs=0.0051)
    x, y = series(left)[fit]
    np.testing.assert_allclose(x, params.timed_widths)
    middle = stats.linregress(np.log(log.index), log.mean(axis=1))
    np.testing.assert_allclose(np.log(y), middle.intercept + middle.slope * np.log(x), rtol=1e-9)

    names = {
        "descent": "descent (11)",
        "printed": "ODE (12)",
        "corrected": "Euclidean ODE",
        "start": "random start",
        "limit": "their limit",
        "tanh": "tanh net",
        "relu": "ReLU net",
    }
    assert labels(right) == ["raw pixels", *names.values()]
    for place, (method, name) in enumerate(names.items(), -3):  # side by side
        rows = where(base["accuracy"], method=method)
        assert_mean(right, name, rows.assign(z=rows["z"] * 1.05**place), "z", "accuracy", log=False)
    pixels = base["pixels"]
    np.testing.assert_allclose(series(right)["raw pixels"][1], pixels["accuracy"].mean())
    first, second = pixels[["first", "second"]].iloc[0]
    assert right.get_title() == f"classes {first} and {second}"
    for method in ("descent", "printed", "limit"):
        rows = where(base["accuracy"], method=method, z=2)
        np.testing.assert_allclose(series(single)[names[method]], rows[["separating", "accuracy"]].T)


def test_wide_networks(smoke):
    (left, right), base, _ = drawn("esser2024/sec2_wide", smoke)
    for activation, name in (("relu", "ReLU"), ("tanh", "tanh")):
        for loss in ("contrastive", "non-contrastive"):
            rows = where(base["collapse"], activation=activation, loss=loss)
            assert_mean(left, f"{name}, {loss}", rows, "step", "ratio", within=(0, 1))
    for arm, name in (
        ("supervised", "squared loss"),
        ("unconstrained", "loss (1)"),
        ("constrained", "loss (1), orthonormal weights"),
    ):
        assert_mean(right, name, where(base["distances"], arm=arm), "width", "distance")
