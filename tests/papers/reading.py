"""Helpers that read a figure back, and the papers' declarations of their figures."""

import tomllib
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.container import ErrorbarContainer
from scipy import stats

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.plotting.style import styled

TESTS = Path(__file__).parents[1]
DECLARED = {
    file.parent.name: tomllib.loads(file.read_text()) for file in sorted(TESTS.glob("*/*/figures.toml"))
}
"""Declarations of a paper's figures that no registry knows, by paper; no part is needed. `across`: figures
whose intervals lie along x. `ranges`: the possible values of columns. `series`: for a figure, tables and rows
without which it is not drawn."""
SERIES = [
    (f"{key}/{name}", table, rows)
    for key, declared in DECLARED.items()
    for name, each in declared.get("series", {}).items()
    for table, rows in each
]


def ranges(key):
    """The possible values of a paper's columns that have bounds, by what they measure."""
    return {column: tuple(limits) for column, limits in DECLARED.get(key, {}).get("ranges", {}).items()}


RANGES = {column: limits for key in DECLARED for column, limits in ranges(key).items()}
"""The ranges of all papers, which agree."""


def draw(id, tables, params):
    with styled(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing, before the error
        return registry.artifact(id).draw(tables, params)


@cache
def drawn(id, smoke):
    """The figure's panels, its tables at the published setting, and the parameters; not to be changed."""
    tables, params = smoke[registry.artifact(id).experiment]
    figure = draw(id, tables, params)
    figure.set_layout_engine("none")  # which would draw it several times; nobody asks where panels lie
    figure.draw_without_rendering()
    base = {name: table[table["setting"] == BASE] for name, table in tables.items()}
    return panels_of(figure), base, params


def panels_of(figure):
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def share_x(panel, panels):
    """The panels that have the x axis of this one, itself among them."""
    return [other for other in panels if other is panel or panel.get_shared_x_axes().joined(panel, other)]


def share_y(panel, panels):
    """The panels that have the y axis of this one, itself among them."""
    return [other for other in panels if other is panel or panel.get_shared_y_axes().joined(panel, other)]


def series(panel):
    """The lines of several points, without grid and reference lines: label -> (x, y). A series with error
    bars has its label on their container."""
    lines = {line.get_label(): line for line in panel.lines if line.get_transform() == panel.transData} | {
        bars.get_label(): bars[0] for bars in panel.containers if isinstance(bars, ErrorbarContainer)
    }
    return {label: line.get_xydata().T for label, line in lines.items() if len(line.get_xdata()) > 1}


def where(table, **values):
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def labels(panel):
    return panel.get_legend_handles_labels()[1]


def assert_mean(panel, label, rows, x, y, *, log=True, axis=None, within=None):
    """The line of that label is the mean over seeds of `y` at every `x`, geometric for `log`; the
    axis is logarithmic, too, or has the scale `axis`; the band around the line, or the bars on it, are the
    95 % interval of Student's t, of the seeds that have a number, cut to what is possible."""
    assert panel.get_yscale() == (axis or ("log" if log else "linear"))
    transform, back = (np.log, np.exp) if log else (np.asarray, np.asarray)
    wide = rows.pivot(index=x, columns="seed", values=y)
    assert wide.shape == (rows[x].nunique(), 3)
    wide = wide.dropna(how="all").astype(float)
    values = wide.apply(transform)
    mean, spread, n = values.mean(axis=1), values.std(axis=1), values.count(axis=1)
    half = (stats.t.ppf(0.975, n - 1) * spread / n**0.5).fillna(0)  # one seed has no interval
    found_x, found_y = series(panel)[label]
    np.testing.assert_allclose(found_x, wide.index.to_numpy(dtype=float))
    np.testing.assert_allclose(found_y, back(mean), rtol=1e-6, atol=1e-12)
    edges = np.concatenate([path.vertices for shade in panel.collections for path in shade.get_paths()])
    within = within or RANGES.get(y, (-np.inf, np.inf))
    low_edge, high_edge = (np.clip(back(edge), *within) for edge in (mean - half, mean + half))
    for at, low, high in zip(wide.index, low_edge, high_edge, strict=True):
        there = edges[np.isclose(edges[:, 0], at), 1]
        for edge in (low, high):
            assert np.isclose(there, edge, rtol=1e-5, atol=1e-9).any(), (label, at)
