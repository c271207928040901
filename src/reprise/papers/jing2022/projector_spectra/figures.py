"""Figures 2, 7b, 9 and 10, Table 1 and the numbers of Section 6.3."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure, table
from reprise.datasets.catalogue import DATA_SETS
from reprise.evidence.comparison import COLLAPSED, LEARNED
from reprise.evidence.learning import PIXELS, gain
from reprise.evidence.measures import rows
from reprise.evidence.verdicts import other_settings, setting
from reprise.papers.jing2022 import published
from reprise.papers.jing2022.image_settings import PARTS
from reprise.papers.jing2022.projector_spectra.experiment import Params
from reprise.papers.jing2022.projector_spectra.networks import elsewhere
from reprise.papers.jing2022.spectra import FLOOR, SMALLEST, collapsed_values, relative
from reprise.plotting.beside_print import BEFORE, HOW, Row, beside
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import (
    LINES,
    MARKERS,
    PERCENT,
    WIDTH,
    band,
    bounds,
    colors,
    drawable,
    legend_entries,
)

NAMES = {
    "nonlinear": "SimCLR, 2-layer nonlinear projector",
    "linear": "SimCLR, 1-layer linear projector",
    "none": "SimCLR, no projector",
    "directclr": "DirectCLR, no projector",
    "start": "before training",
}
SEARCH = Path(__file__).parent / "search.csv"
"""The networks of docs/collapse_search.py: settings by `point`, the first seed of which is the search."""
PRINTED_DIM = 128
"""Dimension of the embedding of the paper's Figure 2."""
AFTER: dict[str, Any] = {"marker": "o", "ms": 5, "ls": "", "color": colors(2)[0], "lw": 1}
BELOW = 0.25
"""Distance of single seeds below their mean, in rows."""
SEEDS: dict[str, Any] = {"marker": "o", "ms": 3, "mfc": "none", "mew": 0.6, "ls": "", "color": "0.55"}
PROJECTORS = {"nonlinear": "2-layer nonlinear projector", "none": "no projector"}
"""The networks trained with other losses, and their labels."""
METHOD = """Natural logarithm of the singular values of the covariance of the test images' unit vectors,
    in evaluation mode, divided by the largest. Values below the grey line count as collapsed; their
    number is the mean over seeds. Mean and 95 % interval over seeds, cut at 0. Further panels:
    other data sets, each with the networks that are trained on it. Other losses, if the settings name
    any, are in red."""

TABLE1 = (
    ("SimCLR", "2-layer nonlinear", "nonlinear", "all"),
    ("SimCLR", "1-layer linear", "linear", "all"),
    ("SimCLR", "none", "none", "all"),
    ("DirectCLR", "none", "directclr", "all"),
)
SECTION63 = (
    ("SimCLR", "fixed low-rank", "low_rank", "all"),
    ("SimCLR", "trainable diagonal", "diagonal", "all"),
    ("DirectCLR, probe on subvector", "none", "directclr", "subvector"),
)
"""The printed accuracies: loss and projector as in published.csv, our network and the part that is probed."""


@figure(
    "Figure 2",
    reads=("spectra",),
    caption=f"The embedding of SimCLR with a 2-layer nonlinear projector. {METHOD}",
)
def fig02(tables: Tables, params: Params) -> Figure:
    names = {"nonlinear": "SimCLR", "start": "before training"}
    fig = _spectra(tables, params, "embedding", names, WIDTH / 2)
    collapsed = published.number("fig2/collapsed-dimensions")
    fig.suptitle(f"printed, on ImageNet: about {collapsed:g} of {PRINTED_DIM} collapsed", fontsize=8)
    return fig


@figure(
    "Figure 7b",
    reads=("spectra",),
    caption=f"The representation of SimCLR with a 2-layer nonlinear projector and without one. {METHOD}",
)
def fig07b(tables: Tables, params: Params) -> Figure:
    names = {"nonlinear": "with projector", "none": "without projector", "start": "before training"}
    return _spectra(tables, params, "representation", names, WIDTH / 2)


@figure(
    "Figure 7b, search",
    reads=("spectra", "probes"),
    caption=f"""The search for a setting in which SimCLR's representation collapses without a projector
    (docs/collapse_search.md): a network each of 169 settings drawn at random; this run's networks without a
    projector beside them. A setting collapses if its network has learned, to the right of the vertical line,
    and in training its smallest singular value comes below the horizontal one, or a value below e^-4 of the
    next larger one. Settings that do are in red, each with five further seeds of its own marker; in none do
    all five learn and collapse. Grey: networks that did not learn: the probe gains less than {LEARNED:g}
    points, or, below zero, is under one of raw pixels by so much. Values are cut at e^{FLOOR:g}, the
    resolution of single precision.""",
)
def sec61_search(tables: Tables, params: Params) -> Figure:
    drawn = pd.read_csv(SEARCH)
    first, further = (networks for _, networks in drawn.groupby(drawn["seed"] > drawn["seed"].min()))
    fig, axes = plt.subplots(figsize=(0.75 * WIDTH, 3.6))

    def put(networks: pd.DataFrame, label: str, **style: Any) -> None:
        smallest = np.exp(networks["smallest_end"].clip(lower=FLOOR))
        axes.plot(networks["gain"], smallest, ls="", label=f"{label} ({len(networks)})", **style)

    plain = {"marker": "o", "ms": 3.5, "mfc": "none"}
    put(first[~first["learned"]], "did not learn", color="0.55", **plain)
    put(first[first["learned"] & ~first["collapses"]], "learned", color="black", **plain)
    for (point, seeds), marker in zip(further.groupby("point"), MARKERS[1:], strict=False):
        own = first[first["point"] == point]
        put(own, f"collapsed, draw {point}", color="red", marker=marker, ms=6)
        put(seeds, f"draw {point}, further seeds", color="red", marker=marker, ms=4, mfc="none")
    put(_without_projector(tables), f"this run, {params.data_set}", color=colors(2)[1], marker="*", ms=8)
    axes.axvline(LEARNED, color="0.55", lw=0.8)
    axes.axhline(SMALLEST, color="0.55", lw=0.8)
    axes.set(
        yscale="log", xlabel="points that the linear probe gains", ylabel="smallest singular value / largest"
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
    return fig


def _without_projector(tables: Tables) -> pd.DataFrame:
    """This run's networks, in the columns of the search."""
    base = setting(tables, BASE)
    spectra = rows(base["spectra"], net="none", what="representation", place=0)
    values = drawable(spectra["log_value"], "none")
    ends = values.groupby(spectra["seed"]).agg(["min", "max"])
    full = _select(base["probes"], "none", "all").set_index("seed")
    gains = gain(full["accuracy"], full["initial"], full)
    return pd.DataFrame({"gain": gains, "smallest_end": ends["min"] - ends["max"]})


@figure(
    "Figure 9",
    reads=("spectra",),
    caption=f"The representations of SimCLR with either projector and without, and of DirectCLR. {METHOD}",
)
def fig09(tables: Tables, params: Params) -> Figure:
    return _spectra(tables, params, "representation", NAMES, 0.75 * WIDTH)


@figure(
    "Figure 10",
    reads=("probes",),
    caption="""Whether the part of DirectCLR's representation r that the loss does not see learns
    nevertheless: linear probes of all of r, of the part used by the loss and of the rest, before training
    (ticks) and after it (dots: mean and 95 % interval over seeds, cut to [0, 100 %]; open: single seeds),
    with the last block's identity shortcut, to which the paper attributes this, and with a last block without
    a shortcut.""",
)
def fig10(tables: Tables, params: Params) -> Figure:
    probes = setting(tables, BASE)["probes"]
    nets = {"directclr": "with the identity shortcut", "directclr, no shortcut": "without a shortcut"}
    d0 = params.d0
    reads = ("all of r", f"what the loss reads,\nr[:{d0}]", f"the rest,\nr[{d0}:]")
    fig, panels = plt.subplots(1, 2, figsize=(WIDTH, 1.9), sharex=True, sharey=True)
    for panel, (net, title) in zip(panels, nets.items(), strict=True):
        for y, part in enumerate(PARTS):
            own = _select(probes, net, part)
            mean, low, high = bounds(own["accuracy"], PERCENT)
            panel.plot([own["initial"].mean(), mean], [y, y], color="0.8", lw=3, zorder=0)
            panel.plot(own["initial"].mean(), y, label="before training", **BEFORE)
            panel.plot(own["accuracy"], [y + BELOW] * len(own), label="a seed", **SEEDS)
            panel.errorbar(mean, y, xerr=[[mean - low], [high - mean]], label="after training", **AFTER)
        panel.axvline(_references(probes, params)["chance"], color="0.55", lw=0.8, ls="--", label="chance")
        panel.set(title=title, xlabel="top-1 of a linear probe, %")
    panels[0].set_yticks(range(len(PARTS)), reads)
    panels[0].set(ylabel="what the probe reads", ylim=(len(PARTS) - 0.5, -0.5))
    entries = legend_entries(panels)
    fig.legend(entries.values(), entries, loc="outside lower center", ncols=len(entries))
    return fig


@table(
    "Table 1",
    reads=("probes",),
    caption="""Top-1 accuracy in % of a linear probe on the representation, as published and as
    found here, with the 95 % interval over seeds; the probe's smallest gain over training, among the seeds
    (below 15 points, or not above raw pixels, a network counts as one that did not learn); and the means in
    other settings, if there are any. Empty where a network was not trained. For comparison: chance, nearest
    neighbours and a linear probe of raw pixels, and the test accuracy of a supervised network of the same
    size, steps and views.""",
)
def table1(tables: Tables, params: Params) -> pd.DataFrame:
    listing = _listing(tables, params, TABLE1)
    references = _references(setting(tables, BASE)["probes"], params)
    compared = [
        {"loss": "for comparison", "projector": name, "found": value} for name, value in references.items()
    ]
    listing = pd.concat([listing, pd.DataFrame(compared).round(1)], ignore_index=True)
    for loss in other_losses(tables, params):
        others = [(loss.label, projector, net, "all") for net, projector in PROJECTORS.items()]
        base = {name: each.assign(setting=BASE) for name, each in loss.tables.items()}
        listing = pd.concat([listing, _listing(base, params, others)], ignore_index=True)
    return listing


@figure(
    "Table 1, beside print",
    reads=("probes",),
    caption=f"""Top-1 accuracy of a linear probe on the representation: Table 1 above the line, the numbers of
    Section 6.3 below, as printed and ours. {HOW} The supervised network has the same size, steps and
    views.""",
)
def table1_beside_print(tables: Tables, params: Params) -> Figure:
    probes = setting(tables, BASE)["probes"]
    listed = [_beside(probes, params, *place) for place in (*TABLE1, *SECTION63)]
    fig, (printed, ours) = plt.subplots(1, 2, figsize=(WIDTH, 3.1), sharey=True, width_ratios=(1, 1.8))
    beside(printed, ours, listed, _references(probes, params))
    for panel, title in ((printed, "printed: ImageNet"), (ours, f"ours: {params.data_set}")):
        panel.axhline(len(TABLE1) - 0.5, color="black", lw=0.6)
        panel.set(title=title, xlabel="top-1 of a linear probe, %")
    printed.set_ylabel("loss, projector")
    entries = legend_entries([printed, ours])
    fig.legend(entries.values(), entries, loc="outside lower center", ncols=4)
    return fig


@table(
    "Section 6.3",
    reads=("probes",),
    caption="""Top-1 accuracy in % of a linear probe on the representation, as published and as found here,
    with the 95 % interval over seeds, for the projectors of Section 6.3 and for probes of a part of
    DirectCLR's representation; the last two rows are networks whose last block has no shortcut. Further
    columns: the probe before training; the smallest gain over it, among the seeds (below 15 points, or not
    above raw pixels, a network counts as one that did not learn); and the means in other settings, if there
    are any. Empty where a network was not trained.""",
)
def sec63(tables: Tables, params: Params) -> pd.DataFrame:
    others = [
        ("DirectCLR, probe on the rest", "none", "directclr", "rest"),
        ("DirectCLR without shortcut", "none", "directclr, no shortcut", "all"),
        ("DirectCLR without shortcut, probe on the rest", "none", "directclr, no shortcut", "rest"),
    ]
    return _listing(tables, params, [*SECTION63, *others])


def _spectra(tables: Tables, params: Params, what: str, names: dict[str, str], width: float) -> Figure:
    """A panel a data set.

    Args:
        width: of the figure if there is one panel, in inches.
    """
    spectra = rows(setting(tables, BASE)["spectra"], what=what, net=list(names))
    sets = list(spectra.groupby("place"))
    shape = (width if len(sets) == 1 else WIDTH, 2.6 + 0.15 * len(names))
    fig, panels = plt.subplots(1, len(sets), sharey=True, figsize=shape, squeeze=False)
    for axes, (place, of_set) in zip(panels[0], sets, strict=True):
        trained = elsewhere(params) if place else params.nets
        _panel(axes, of_set, names, trained)
        axes.set_xlabel("index")
        if len(sets) > 1:
            axes.set_title(of_set["data_set"].iloc[0])
    own = panels[0, 0]
    own.set_ylabel(f"{what}: ln(value / largest)")
    for loss in other_losses(tables, params):
        nets = [net for net in PROJECTORS if net in names]
        for net, color, line in zip(nets, loss.shades(len(nets)), LINES, strict=False):
            of_loss = rows(loss.tables["spectra"], what=what, net=net)
            _spectrum(own, of_loss, f"{loss.label}, {PROJECTORS[net]}", {"color": color, "ls": line})
    for axes in panels[0]:
        _legend(axes)
    return fig


def _legend(axes: Axes) -> None:
    """Draws the legend below the panel, since spectra may pass anywhere in it."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))


def _panel(axes: Axes, spectra: pd.DataFrame, names: dict[str, str], trained: tuple[str, ...]) -> None:
    """The networks that are trained on the data set, each in the same style in every panel."""
    *nets, (start, before) = names.items()
    for (net, name), color, line in zip(nets, colors(len(nets)), LINES, strict=False):
        if net in trained:
            _spectrum(axes, rows(spectra, net=net), name, {"color": color, "ls": line})
    _spectrum(axes, rows(spectra, net=start), before, {"color": "black", "ls": ":", "lw": 0.9})
    axes.axhline(np.log(COLLAPSED), color="0.55", lw=0.8, label="collapsed below")


def _spectrum(axes: Axes, spectra: pd.DataFrame, name: str, style: dict[str, Any]) -> None:
    drawable(spectra["log_value"], name)
    by_seed = spectra.groupby("seed")["log_value"]
    label = f"{name}: {by_seed.agg(collapsed_values).mean():.0f} of {by_seed.size().max()} collapsed"
    scaled = spectra.assign(relative=relative(spectra["log_value"], spectra["seed"]))
    band(axes, scaled, "index", "relative", within=(-np.inf, 0.0), label=label, **style)


def _published() -> pd.Series:
    """The printed accuracies in %, by loss and projector."""
    printed = published.table()
    return printed[printed["metric"] == "linear probe top-1"].set_index(["loss", "projector"])["value"]


def _references(probes: pd.DataFrame, params: Params) -> dict[str, float]:
    """Reference accuracies, in %, by name."""
    own = probes.iloc[0]
    return {
        "chance": 100 / DATA_SETS[params.data_set].classes,
        "raw pixels, nearest neighbours": own[PIXELS[0]],
        "raw pixels, linear probe": own[PIXELS[1]],
        "supervised": own["supervised"],
    }


def _beside(probes: pd.DataFrame, params: Params, loss: str, projector: str, net: str, part: str) -> Row:
    name = f"{loss}, {projector}{' projector' if projector != 'none' else ''}"
    name = name.replace(", none", "" if "probe" in loss else ", no projector")
    printed = _published()[loss, projector]
    if net not in params.nets:
        return Row(name, printed)
    own, full = _select(probes, net, part).set_index("seed"), _select(probes, net, "all")
    return Row(name, printed, own["accuracy"], own["initial"], _least_gain(full))


def _least_gain(full: pd.DataFrame) -> float:
    """Smallest gain of a network's seeds, by probes of its whole representation."""
    return gain(full["accuracy"], full["initial"], full).min(skipna=False)


def _listing(tables: Tables, params: Params, places: Iterable[tuple[str, str, str, str]]) -> pd.DataFrame:
    accuracies = _published()
    probes = setting(tables, BASE)["probes"]
    lines = []
    for loss, projector, net, part in places:
        row = {"loss": loss, "projector": projector, "published": accuracies.get((loss, projector), np.nan)}
        lines.append(row)
        if net not in set(probes["net"]):
            continue
        selected = _select(probes, net, part)
        mean, low, high = bounds(selected["accuracy"])
        # A network's learning is judged by its whole representation.
        full = _select(probes, net, "all")
        row |= {
            "found": mean,
            "low": low,
            "high": high,
            "before training": selected["initial"].mean(),
            "least gain of the net": _least_gain(full),
        }
        for name in other_settings(tables, params):
            others = setting(tables, name)["probes"]
            if net in set(others["net"]):
                alternative = _select(others, net, part)
                row[name] = alternative["accuracy"].mean()
                row[f"{name}, before training"] = alternative["initial"].mean()
    return pd.DataFrame(lines).round(1)


def _select(probes: pd.DataFrame, net: str, part: str) -> pd.DataFrame:
    selected = rows(probes, net=net, part=part)
    drawable(selected["accuracy"], f"{net}, {part}")
    return selected
