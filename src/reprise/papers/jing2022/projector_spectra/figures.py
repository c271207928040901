"""Figures 2, 7b, 9 and 10, Table 1 and the numbers of Section 6.3."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.claims import COLLAPSED
from reprise.evidence.verdicts import other_settings, setting
from reprise.papers.jing2022.image_settings import PARTS
from reprise.papers.jing2022.projector_spectra.params import Params
from reprise.papers.jing2022.spectra import collapsed_values, relative
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import LINES, MARKERS, PERCENT, WIDTH, band, bounds, colors, drawable
from reprise.study.experiment import BASE, Tables, figure, table

NAMES = {
    "nonlinear": "SimCLR, 2-layer nonlinear projector",
    "linear": "SimCLR, 1-layer linear projector",
    "none": "SimCLR, no projector",
    "directclr": "DirectCLR, no projector",
    "start": "before training",
}
PROJECTORS = {"nonlinear": "2-layer nonlinear projector", "none": "no projector"}
"""The networks trained with other losses."""
METHOD = """Natural logarithm of the singular values of the covariance of the test images' unit vectors, in
    evaluation mode, divided by the largest. Values below the grey line count as collapsed; brackets give
    their number, the mean over seeds. Mean and 95 % interval over seeds, cut at 0; other losses named in the
    settings are in red."""


@figure(
    "Figure 2",
    caption=f"The embedding of SimCLR with a 2-layer nonlinear projector. {METHOD}",
)
def fig02(tables: Tables, params: Params) -> Figure:
    fig, axes = plt.subplots(figsize=(WIDTH / 2, 2.7))
    names = {"nonlinear": "SimCLR", "start": "before training"}
    _spectra(axes, tables, params, "embedding", names)
    return fig


@figure(
    "Figure 7b",
    caption=f"The representation of SimCLR with a 2-layer nonlinear projector and without one. {METHOD}",
)
def fig07b(tables: Tables, params: Params) -> Figure:
    fig, axes = plt.subplots(figsize=(WIDTH / 2, 2.7))
    names = {"nonlinear": "with projector", "none": "without projector", "start": "before training"}
    _spectra(axes, tables, params, "representation", names)
    return fig


@figure(
    "Figure 9",
    caption=f"The representations of SimCLR with either projector and without, and of DirectCLR. {METHOD}",
)
def fig09(tables: Tables, params: Params) -> Figure:
    fig, axes = plt.subplots(figsize=(0.75 * WIDTH, 3))
    _spectra(axes, tables, params, "representation", NAMES)
    return fig


@figure(
    "Figure 10",
    caption="""Linear probes of DirectCLR's representation r: of all of it, of the part used by the loss,
    and of the rest, which learns nevertheless; with the last block's identity shortcut, to which the paper
    attributes this, and with a last block without a shortcut. Open: the same before training. Mean and 95 %
    interval over seeds, cut to [0, 100 %].""",
)
def fig10(tables: Tables, params: Params) -> Figure:
    probes = setting(tables, BASE)["probes"]
    fig, axes = plt.subplots(figsize=(WIDTH / 2, 2.7))
    nets = {"directclr": "identity shortcut", "directclr, no shortcut": "no shortcut"}
    styles = zip(nets.items(), colors(3), MARKERS, strict=False)
    for position, ((net, label), color, marker) in enumerate(styles):
        times = (("accuracy", color, "trained"), ("initial", "none", "before"))
        for shift, (column, fill, time) in enumerate(times):
            intervals = [bounds(_select(probes, net, part)[column], PERCENT) for part in PARTS]
            mean, low, high = np.array(intervals).T
            axes.errorbar(
                np.arange(len(PARTS)) + 0.3 * (position - 0.5) + 0.1 * (shift - 0.5),
                mean,
                [mean - low, high - mean],
                ls="",
                marker=marker,
                ms=5,
                color=color,
                mfc=fill,
                capsize=2,
                label=f"{label}, {time}",
            )
    axes.set_xticks(range(len(PARTS)), ["$r$", "$r[:d_0]$", "$r[d_0:]$"])
    axes.set(xlabel="what the probe reads", ylabel="top-1 accuracy of the probe (%)", xlim=(-0.5, 2.5))
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.45 * (high - low))
    axes.legend(loc="upper center", ncols=2, columnspacing=1.0, handletextpad=0.3)
    return fig


@table(
    "Table 1",
    caption="""Top-1 accuracy in % of a linear probe on the representation, as published and as
    found here, with the 95 % interval over seeds; the probe's smallest gain over training, among the seeds
    (below 15 points, a network counts as one that did not learn); and the means in other settings, if there
    are any.""",
)
def table1(tables: Tables, params: Params) -> pd.DataFrame:
    rows = [
        ("SimCLR", "2-layer nonlinear", "nonlinear", "all"),
        ("SimCLR", "1-layer linear", "linear", "all"),
        ("SimCLR", "none", "none", "all"),
        ("DirectCLR", "none", "directclr", "all"),
    ]
    listing = _listing(tables, params, rows)
    for loss in other_losses(tables, params):
        others = [(loss.label, projector, net, "all") for net, projector in PROJECTORS.items()]
        base = {name: rows.assign(setting=BASE) for name, rows in loss.tables.items()}
        listing = pd.concat([listing, _listing(base, params, others)], ignore_index=True)
    return listing


@table(
    "Section 6.3",
    caption="""The same for the projectors of Section 6.3 and for probes of a part of DirectCLR's
    representation; the last two rows are networks whose last block has no shortcut (Figure 10).""",
)
def sec63(tables: Tables, params: Params) -> pd.DataFrame:
    rows = [
        ("SimCLR", "fixed low-rank", "low_rank", "all"),
        ("SimCLR", "trainable diagonal", "diagonal", "all"),
        ("DirectCLR, probe on subvector", "none", "directclr", "subvector"),
        ("DirectCLR, probe on the rest", "none", "directclr", "rest"),
        ("DirectCLR without shortcut", "none", "directclr, no shortcut", "all"),
        ("DirectCLR without shortcut, probe on the rest", "none", "directclr, no shortcut", "rest"),
    ]
    return _listing(tables, params, rows)


def _spectra(axes: Axes, tables: Tables, params: Params, what: str, names: dict[str, str]) -> None:
    spectra = setting(tables, BASE)["spectra"]
    spectra = spectra[spectra["what"] == what]
    for (net, name), color, line in zip(names.items(), colors(len(names) - 1), LINES, strict=False):
        _spectrum(axes, spectra[spectra["net"] == net], name, {"color": color, "ls": line})
    for loss in other_losses(tables, params):
        nets = [net for net in ("nonlinear", "none") if net in names]
        for net, color, line in zip(nets, loss.shades(len(nets)), LINES, strict=False):
            rows = loss.tables["spectra"].query("what == @what and net == @net")
            _spectrum(axes, rows, f"{loss.label}, {PROJECTORS[net]}", {"color": color, "ls": line})
    *_, (net, name) = names.items()
    _spectrum(axes, spectra[spectra["net"] == net], name, {"color": "black", "ls": ":", "lw": 0.9})
    axes.axhline(np.log(COLLAPSED), color="0.6", lw=0.8)
    axes.set(xlabel="index", ylabel=f"{what}: ln(value / largest)")
    axes.legend(loc="upper right")


def _spectrum(axes: Axes, rows: pd.DataFrame, name: str, style: dict[str, Any]) -> None:
    drawable(rows["log_value"], name)
    count = rows.groupby("seed")["log_value"].agg(collapsed_values).mean()
    scaled = rows.assign(relative=relative(rows["log_value"], rows["seed"]))
    band(axes, scaled, "index", "relative", within=(-np.inf, 0.0), label=f"{name} ({count:.0f})", **style)


def _listing(tables: Tables, params: Params, rows: list[tuple[str, str, str, str]]) -> pd.DataFrame:
    printed = pd.read_csv(Path(__file__).parents[1] / "published.csv")
    accuracies = printed[printed["metric"] == "linear probe top-1"]
    published = accuracies.set_index(["loss", "projector"])["value"]
    probes = setting(tables, BASE)["probes"]
    lines = []
    for loss, projector, net, part in rows:
        selected = _select(probes, net, part)
        mean, low, high = bounds(selected["accuracy"])
        # Whether the network learned is judged by its whole representation.
        full = _select(probes, net, "all")
        row = {
            "loss": loss,
            "projector": projector,
            "published": published.get((loss, projector), np.nan),
            "found": mean,
            "low": low,
            "high": high,
            "before training": selected["initial"].mean(),
            "least gain of the net": (full["accuracy"] - full["initial"]).min(),
        }
        for name in other_settings(tables, params):
            others = setting(tables, name)["probes"]
            if net in set(others["net"]):
                alternative = _select(others, net, part)
                row[name] = alternative["accuracy"].mean()
                row[f"{name}, before training"] = alternative["initial"].mean()
        lines.append(row)
    return pd.DataFrame(lines).round(1)


def _select(probes: pd.DataFrame, net: str, part: str) -> pd.DataFrame:
    selected = probes[(probes["net"] == net) & (probes["part"] == part)]
    drawable(selected["accuracy"], f"{net}, {part}")
    return selected
