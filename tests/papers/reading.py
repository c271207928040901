"""How the tests read a figure back, and from which tables each figure is drawn."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.plotting.style import styled

READS = {
    "ren2023/fig01": ("trajectory", "limit"),
    "ren2023/fig02": ("course", "baselines"),
    "ren2023/lemma51_width": ("widths",),
    "ren2023/appD_descent": ("steps", "batches"),
    "esser2024/fig01": ("trajectory", "runs"),
    "esser2024/fig02": ("differences", "bounds"),
    "esser2024/sec2_wide": ("collapse", "distances"),
    "esser2024/fig03": ("trajectory", "outputs"),
    "esser2024/fig04": ("step_seconds", "accuracy", "pixels"),
    "jing2022/sec4_threshold": ("singular_values", "strong_block"),
    "jing2022/fig04": ("alignment", "trajectory"),
    "jing2022/fig05": ("singular_values", "theorem3"),
    "jing2022/sec61_projector": ("trajectory",),
    "jing2022/carried_over": ("trajectory",),
    "jing2022/fig06a": ("spectrum",),
    "jing2022/fig06b": ("spectrum",),
    "jing2022/fig02": ("spectra",),
    "jing2022/fig07b": ("spectra",),
    "jing2022/fig09": ("spectra",),
    "jing2022/fig10": ("probes",),
    "jing2022/table1_beside_print": ("probes",),
    "jing2022/sec61_map": ("spectra", "probes"),
    "jing2022/sec61_map_spectra": ("spectra",),
    "jing2022/stand_in": ("losses", "probes"),
    "tian2023/fig01": ("steps", "ends"),
    "tian2023/fig04": ("matching",),
    "tian2023/fig05": ("filters",),
    "tian2023/fig07": ("flow", "basins", "probabilities"),
    "tian2023/fig08": ("curves", "optima", "counts"),
    "tian2023/fig09": ("matching",),
    "tian2023/fig10": ("matching",),
    "tian2023/table1_differences": ("matching",),
    "tian2023/fig11": ("matching",),
    "tian2023/fig12": ("filters", "statistics"),
    "tian2023/fig13": ("filters", "statistics"),
    "ren2023/thm43_dimension": ("ends", "closed_form"),
    "ren2023/thm43_schedules": ("region",),
    "ren2023/sec5_temperature": ("uniform", "stage1"),
    "skean2024/table2_beside_print": ("probes",),
    "skean2024/table3_beside_print": ("online", "probes"),
    "skean2024/learning_rates": ("pilots", "probes"),
    "skean2024/fig03": ("eigenvalues", "traces"),
    "skean2024/fig03_own_rates": ("eigenvalues", "traces"),
    "skean2024/fig04": ("online", "probes"),
    "skean2024/appC": ("probes",),
    "skean2024/appA_readings": ("gradients",),
    "skean2024/sec43_cost": ("operations", "cost_seconds"),
    "skean2024/sec31_tradeoff": ("probes", "pilots"),
    "skean2024/fig02": ("spectrum", "loss", "modes"),
    "skean2024/appD_closed_form": ("closed_form", "equation_18", "small_starts"),
    "ours/representations": ("diagnostics", "probes"),
    "ours/embeddings": ("diagnostics", "probes"),
    "ours/other_settings": ("diagnostics", "probes"),
    "ours/toy_models": ("diagnostics",),
}
"""The tables from which each figure is drawn."""

ARMS = [
    ("ren2023/fig01", "trajectory", "loss == 'contrastive' and not noise"),
    ("ren2023/fig01", "limit", "spectrum == 'spiked' and noise"),
    ("ren2023/fig02", "course", "loss == 'non-contrastive'"),
    ("ren2023/fig02", "baselines", "baseline == 'most frequent label'"),
    ("ren2023/lemma51_width", "widths", "loss == 'non-contrastive'"),
    ("ren2023/lemma51_width", "widths", "width == 200"),
    ("ren2023/appD_descent", "steps", "step_size == 0.4"),
    ("ren2023/appD_descent", "batches", "batch_size == 32"),
    ("esser2024/fig01", "trajectory", "problem == 'orthogonal' and output_dim == 1 and start == 1"),
    ("esser2024/fig01", "trajectory", "problem == 'one_layer' and output_dim == 2"),
    ("esser2024/fig01", "runs", "problem == 'frobenius'"),
    ("esser2024/fig01", "runs", "problem == 'unconstrained' and output_dim == 1"),
    ("esser2024/fig02", "differences", "activation == 'relu' and reduction == 'mean'"),
    ("esser2024/fig02", "differences", "activation == 'centred_sigmoid' and reduction == 'sum'"),
    ("esser2024/fig02", "differences", "width == 40"),
    ("esser2024/fig02", "bounds", "activation == 'tanh'"),
    ("esser2024/sec2_wide", "collapse", "activation == 'tanh' and loss == 'contrastive'"),
    ("esser2024/sec2_wide", "distances", "arm == 'constrained'"),
    ("esser2024/fig03", "trajectory", "method == 'printed_euler' and width == 10"),
    ("esser2024/fig03", "trajectory", "method == 'corrected_flow' and z == 2"),
    ("esser2024/fig03", "outputs", "method == 'corrected_euler' and z == 1"),
    ("esser2024/fig04", "step_seconds", "method == 'ode'"),
    ("esser2024/fig04", "accuracy", "method == 'corrected'"),
    ("esser2024/fig04", "accuracy", "method == 'limit' and z == 2"),
    ("jing2022/fig04", "alignment", "arm == 'independent'"),
    ("jing2022/fig04", "trajectory", "arm == 'independent'"),
    ("jing2022/fig05", "singular_values", "layer == 'W2'"),
    ("jing2022/fig05", "theorem3", "index == 16"),
    ("jing2022/sec61_projector", "trajectory", "arm == 'diagonal'"),
    ("jing2022/carried_over", "trajectory", "arm == 'relu'"),
    ("jing2022/carried_over", "trajectory", "arm == 'low-rank'"),
    ("jing2022/carried_over", "trajectory", "arm == 'non-contrastive'"),
    ("jing2022/sec4_threshold", "singular_values", "views == 'both'"),
    ("jing2022/fig06a", "spectrum", "arm == 'linear'"),
    ("jing2022/fig06b", "spectrum", "arm == 'relu' and depth == 3"),
    ("jing2022/fig02", "spectra", "net == 'start'"),
    ("jing2022/fig07b", "spectra", "net == 'none'"),
    ("jing2022/fig09", "spectra", "net == 'directclr'"),
    ("jing2022/fig10", "probes", "net == 'directclr, no shortcut' and part == 'rest'"),
    ("jing2022/table1_beside_print", "probes", "net == 'directclr' and part == 'subvector'"),
    ("jing2022/sec61_map", "spectra", "factor == 'last shortcut' and net == 'nonlinear'"),
    ("jing2022/sec61_map", "probes", "factor == 'temperature' and not base"),
    ("jing2022/sec61_map_spectra", "spectra", "factor == 'last shortcut' and value_of_factor == 'none'"),
    ("jing2022/stand_in", "losses", "arm == 'any hue'"),
    ("jing2022/stand_in", "probes", "arm == 'short cut'"),
    ("tian2023/fig01", "steps", "model == 'smoothed'"),
    ("tian2023/fig01", "steps", "model == 'discrete' and gram_distance == 0.1"),
    ("tian2023/fig01", "ends", "model == 'discrete'"),
    ("tian2023/fig04", "matching", "objective == 'quadratic_cosine' and activation == 'sigmoid'"),
    ("tian2023/fig04", "matching", "activation == 'relu' and candidates == 3"),
    ("tian2023/fig05", "filters", "activation == 'linear'"),
    ("tian2023/fig05", "filters", "activation == 'relu' and field == 5"),
    ("tian2023/fig09", "matching", "objective == 'infonce_cosine' and activation == 'leaky_relu'"),
    ("tian2023/fig10", "matching", "objective == 'quadratic_cosine' and activation == 'linear'"),
    ("tian2023/table1_differences", "matching", "run == 'table' and beta == 5 and candidates == 3"),
    ("tian2023/fig11", "matching", "zeta == 5 and not batch_norm"),
    ("tian2023/fig11", "matching", "zeta == 10 and mean_gradient and not variance_gradient and batch_norm"),
    ("tian2023/fig07", "flow", "start > 0.9"),
    ("tian2023/fig07", "basins", "dim == 2"),
    ("tian2023/fig07", "probabilities", "dim == 8"),
    ("tian2023/fig08", "curves", "alpha == 'gaussian' and activation == 'relu'"),
    ("tian2023/fig08", "optima", "alpha == 'uniform' and activation == 'linear'"),
    ("tian2023/fig08", "counts", "data == 'E.1'"),
    ("tian2023/fig12", "filters", "arm == 'plain' and field == 'lower left'"),
    ("tian2023/fig12", "statistics", "arm == 'linear'"),
    ("tian2023/fig13", "filters", "arm == 'cropped' and field == 'upper right'"),
    ("tian2023/fig13", "statistics", "arm == 'plain'"),
    ("ren2023/thm43_dimension", "ends", "moment == 'without negatives'"),
    ("ren2023/thm43_dimension", "ends", "moment == 'stage 1'"),
    ("ren2023/sec5_temperature", "uniform", "negatives == 31"),
    ("ren2023/sec5_temperature", "uniform", "tau2 == 2"),
    ("skean2024/table2_beside_print", "probes", "method == 'frossl' and data_set == 'shapes'"),
    ("skean2024/table3_beside_print", "online", "method == 'simclr' and epoch == 30"),
    ("skean2024/fig03", "eigenvalues", "method == 'vicreg'"),
    ("skean2024/fig03_own_rates", "eigenvalues", "method == 'simclr'"),
    ("skean2024/fig04", "online", "method == 'frossl'"),
    ("skean2024/fig04", "probes", "method == 'barlow-twins'"),
    ("skean2024/appC", "probes", "dim == 32"),
    ("skean2024/appC", "probes", "batch == 8"),
    ("skean2024/appA_readings", "gradients", "reading == 'pseudocode'"),
    ("skean2024/appA_readings", "gradients", "reading == 'no logarithms' and decay == 1"),
    ("skean2024/sec43_cost", "operations", "term == 'log determinant'"),
    ("skean2024/sec43_cost", "cost_seconds", "term == 'Gram norm'"),
    ("skean2024/sec31_tradeoff", "probes", "weight == 4"),
    ("skean2024/appD_closed_form", "closed_form", "loss == 'barlow'"),
    ("skean2024/appD_closed_form", "closed_form", "loss == 'frossl' and mode == 4 and seed == 0"),
    ("skean2024/fig02", "spectrum", "run == 'barlow-own' and views == 'crops'"),
    ("skean2024/fig02", "spectrum", "run == 'frossl' and views == 'same' and index == 7"),
    ("skean2024/fig02", "loss", "run == 'barlow' and views == 'strong'"),
    ("skean2024/fig02", "modes", "run == 'frossl' and views == 'strong'"),
]
"""(figure, table, rows): a series without which it is not drawn."""


PERCENT, SHARE, COSINE, AT_LEAST_1 = (0, 100), (0, 1), (-1, 1), (1, np.inf)
RANGES = {
    **dict.fromkeys(("accuracy", "initial", "top1", "top5"), PERCENT),
    **dict.fromkeys(("chi_plus", "chi_minus", "chi", "chi_rotated"), COSINE),
    **dict.fromkeys(("absolute_chi_plus", "absolute_chi_minus"), SHARE),
    **dict.fromkeys(("off_diagonal_mass", "mass_outside_subspace", "high_frequency_share"), SHARE),
    **dict.fromkeys(("reached", "first_critical", "simulated", "alignment"), SHARE),
    **dict.fromkeys(("signals", "signal_noise", "noises"), SHARE),  # |cosines|
    **dict.fromkeys(("stable_rank", "intrinsic_dimension", "condition", "effective_condition"), AT_LEAST_1),
    **{
        f"{name}_{modality}": AT_LEAST_1
        for name in ("stable_rank", "intrinsic_dimension", "condition", "effective_condition")
        for modality in ("image", "text")
    },
    **dict.fromkeys(("imbalance", "maxima", "rise"), (0, np.inf)),
    "collapsed": (0, 16),
}
"""The possible values of the columns that have bounds, by what they measure."""


def draw(id, tables, params):
    with styled(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing, before the error
        return registry.artifact(id).draw(tables, params)


@cache
def drawn(id, smoke):
    """The figure's panels, its tables at the published setting, and the parameters; not to be changed."""
    tables, params = smoke[registry.artifact(id).experiment]
    figure = draw(id, tables, params)
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


def assert_mean(panel, label, rows, x, y, *, log=True, axis=None, within=None):
    """The line of that label is the mean over seeds of `y` at every `x`, geometric for `log`; the
    axis is logarithmic, too, or has the scale `axis`; the band around the line is the 95 % interval of
    Student's t, of the seeds that have a number, cut to what is possible."""
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
