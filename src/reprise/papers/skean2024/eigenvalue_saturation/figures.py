"""Figure 3 at the shared learning rate and at each method's own, and its metrics."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure, table
from reprise.evidence.measures import rows
from reprise.evidence.verdicts import other_settings, setting
from reprise.papers.skean2024.eigenvalue_saturation.claims import OWN, SHARED
from reprise.papers.skean2024.eigenvalue_saturation.experiment import Params
from reprise.papers.skean2024.eigenvalue_saturation.measures import SCALES, summary
from reprise.papers.skean2024.learned import gains
from reprise.papers.skean2024.lineup import TOP, method
from reprise.plotting.other_losses import other_losses, with_other_losses
from reprise.plotting.style import WIDTH, colors, drawable, legend_entries

RATES = {"shared-rate": SHARED, "own-rate": OWN}
SCALE_NAMES = {"raw": "unscaled", "normalised": "unit variance"}
SATURATION: dict[str, Any] = {"color": "black", "ls": ":"}
HOW = """The 14 largest eigenvalues of view 1's embedding covariance, of one batch at a time, geometric mean
    over seeds. Top: unscaled embeddings; bottom: every dimension at unit variance (the paper does not say
    which it shows). ◇ on a dotted line: the step at which the 14th eigenvalue saturates, mean over the seeds
    in which it does so, and below the panel its number and theirs. It saturates where it enters, and then
    stays in, the band of 20 % around its mean over the last tenth of the steps, provided that this happens
    before that tenth. κ: λ1/λ14 over the last tenth; H: Shannon entropy of all eigenvalues in nats; c: mean
    correlation of the dimensions between the views; all over the seeds that did not diverge."""


@figure(
    "Figure 3",
    reads=("eigenvalues", "traces"),
    caption=f"{HOW} All methods use the paper's shared learning rate, 0.1.",
)
def fig03(tables: Tables, params: Params) -> Figure:
    return _spectra(tables, params, "shared-rate")


@figure(
    "Figure 3, own learning rates",
    reads=("eigenvalues", "traces"),
    caption=f"""{HOW} Each method uses its own learning rate: of a grid that all methods share, the one whose
    pilots, runs of other seeds, have the best linear probes on a held-out fifth of the training images.""",
)
def fig03_own_rates(tables: Tables, params: Params) -> Figure:
    return _spectra(tables, params, "own-rate")


def _spectra(tables: Tables, params: Params, rate: str) -> Figure:
    base = with_other_losses(tables, params)
    drawable(base["eigenvalues"]["raw"], "the eigenvalues")
    own_rate = RATES[rate]
    eigenvalues = rows(base["eigenvalues"], own_rate=own_rate)
    metrics = rows(summary(base["eigenvalues"], base["traces"]), own_rate=own_rate)
    drawable(metrics["view_correlation"], "the correlation of the views")
    methods = tuple(dict.fromkeys((*params.methods, *params.objective)))
    fig, panels = plt.subplots(
        len(SCALES), len(methods), figsize=(WIDTH, 4.4), sharex=True, sharey="row", squeeze=False
    )
    for column, key in enumerate(methods):
        curves, measured = rows(eigenvalues, method=key), rows(metrics, method=key)
        for row, scale in enumerate(SCALES):
            drawable(curves[scale], f"the eigenvalues of {key}")
            _panel(panels[row, column], curves, measured, scale, _tints(tables, params, key))
        name = method(key).name.replace(", ", ",\n")
        panels[0, column].set_title(f"{name}\nlr {curves['learning_rate'].iloc[0]:g}", fontsize=7)
    for row, scale in enumerate(SCALES):
        panels[row, 0].set_ylabel(f"eigenvalue, {SCALE_NAMES[scale]}")
    fig.supxlabel("step", fontsize=8)
    entries = legend_entries(panels.flat)
    fig.legend(entries.values(), entries, loc="outside upper center", ncols=len(entries))
    return fig


def _tints(tables: Tables, params: Params, key: str) -> np.ndarray:
    """The colours of a method's eigenvalues; other losses have their own."""
    if key in params.objective:
        return other_losses(tables, params)[params.objective.index(key)].shades(TOP)
    return colors(TOP)


def _panel(axes: Axes, curves: pd.DataFrame, metrics: pd.DataFrame, scale: str, tints: np.ndarray) -> None:
    logs = np.log(curves[scale].where(curves[scale] > 0))
    means = np.exp(logs.groupby([curves["index"], curves["step"]]).mean().unstack("index"))
    for index, color in zip(range(1, TOP + 1), tints, strict=True):
        style: dict[str, Any] = {"lw": 1.4, "label": f"$λ_{{{index}}}$"} if index in (1, TOP) else {"lw": 0.6}
        axes.plot(means.index, means[index], color=color, **style)
    axes.set_yscale("log")
    steps = metrics[f"saturation_{scale}"].replace(np.inf, np.nan).dropna()
    step = steps.mean()
    if len(steps):
        axes.axvline(step, **SATURATION, lw=0.9)
        # On the curve, at the traced step nearest to the mean.
        height = means[TOP].iloc[np.abs(means.index - step).argmin()]
        axes.plot(
            step, height, **SATURATION, marker="D", ms=4, mfc="white", zorder=3,
            label=f"$λ_{{{TOP}}}$ saturates",
        )  # fmt: skip
    complete = metrics.dropna(subset=["view_correlation"])
    lines = (
        [f"{len(metrics) - len(complete)} of {len(metrics)} diverged"] if len(complete) < len(metrics) else []
    )
    if complete.empty:
        words = f"all {len(metrics)} seeds\ndiverged"
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", fontsize=7)
    else:
        lines += [
            f"◇ {step:.0f} ({len(steps)} of {len(metrics)})" if len(steps) else "◇ never",
            f"κ = {np.exp(np.log(complete[f'condition_{scale}']).mean()):.3g}",
            f"H = {complete[f'entropy_{scale}'].mean():.2f}",
            f"c = {complete['view_correlation'].mean():.2f}",
        ]
    axes.set_xlabel("\n".join(lines), fontsize=6.5)


@table(
    "Figure 3, metrics",
    reads=("eigenvalues", "traces", "probes"),
    caption="""Metrics of the embedding covariance of view 1, mean over the seeds: condition number λ1/λ14
    (geometric), Shannon entropy of all eigenvalues in nats, and the step at which the 14th eigenvalue
    saturates (enters, and then stays in, the band of 20 % around its mean over the last tenth of the steps,
    before that tenth; - if it does not in some seed), for unscaled embeddings and for columns of unit
    variance; the mean correlation of the dimensions between the views, without which a flat spectrum says
    little; the top-1 accuracy of a linear probe, and its gain over random initialisation in percentage
    points, in which a network whose probe is not above raw pixels counts by its distance from them.""",
)
def fig03_metrics(tables: Tables, params: Params) -> pd.DataFrame:
    lines = []
    for images in (BASE, *other_settings(tables, params)):
        found = setting(tables, images) if images != BASE else with_other_losses(tables, params)
        metrics = summary(found["eigenvalues"], found["traces"])
        probes = found["probes"].assign(gain=gains(found["probes"]))
        for rate, own_rate in RATES.items():
            for key in dict.fromkeys((*params.methods, *params.objective)):
                where = {"own_rate": own_rate, "method": key}
                measured, end = rows(metrics, **where), rows(probes, **where)
                if len(measured):
                    lines.append(_line(measured, end, rate.replace("-", " "), key))
    return pd.DataFrame(lines)


def _line(measured: pd.DataFrame, end: pd.DataFrame, rate: str, key: str) -> dict[str, object]:
    row: dict[str, object] = {
        "data set": measured["data_set"].iloc[0],
        "rate": rate,
        "method": method(key).name,
        "learning rate": f"{measured['learning_rate'].iloc[0]:g}",
    }
    for scale in SCALES:
        row[f"condition, {scale}"] = _format_mean(np.log(measured[f"condition_{scale}"]), "{:.3g}", np.exp)
        row[f"entropy, {scale}"] = _format_mean(measured[f"entropy_{scale}"], "{:.2f}")
        row[f"saturation, {scale}"] = _format_mean(measured[f"saturation_{scale}"], "{:.0f}")
    row["correlation of views"] = _format_mean(measured["view_correlation"], "{:.2f}")
    row["linear probe, %"] = _format_mean(end["top1"], "{:.1f}")
    row["gain"] = _format_mean(end["gain"], "{:+.1f}")
    return row


def _format_mean(values: pd.Series, form: str, back: np.ufunc | None = None) -> str:
    if not np.isfinite(values).all():
        return "-"
    return form.format(back(values.mean()) if back else values.mean())
