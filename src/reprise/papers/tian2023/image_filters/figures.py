"""Figures 12 and 13."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure

from reprise.evidence.verdicts import setting
from reprise.papers.tian2023.image_filters.params import FIELDS, Params
from reprise.plotting.beside import beside
from reprise.plotting.style import LINES, MARKERS, WIDTH, band, colors, drawable
from reprise.study.experiment import BASE, Tables, figure

GREYS = "gray"


@figure(
    "Figure 12",
    caption="""Filters learned without augmentation: a panel per receptive field (a quadrant of the image),
    a tile per learned filter, the one of the largest norm first; seed 0. A filter is learned when what
    gradients added to it is longer than what weight decay left of its random start, and when it has not died
    (norm under a thousandth of the field's largest). One grey scale for all, of the weights divided by the
    largest of their filter: mid-grey is 0, and the tiles of the others. Right: effective rank of a field's
    learned filters at unit length against the steps, beside that of a linear net trained alike (control);
    mean over the fields; mean and 90 % interval over the seeds in which every field has learned filters;
    before there are any, no line. Another loss, where the settings name one: its filters below, and lines of
    its colour.""",
)
def fig12(tables: Tables, params: Params) -> Figure:
    lines = {"ReLU": "plain", "linear": "linear"}
    return _filters_and_statistic(tables, params, "plain", "effective_rank", "effective rank", lines)


@figure(
    "Figure 13",
    caption="""Filters learned with random resized crops, drawn as in Figure 12 and from the same initial
    weights; seed 0. Right: share of a filter's power above half the Nyquist frequency (radial, its mean
    included) against the steps, with and without augmentation; mean over the learned filters of a field and
    over the fields; mean and 90 % interval over the seeds in which every field has learned filters; before
    there are any, no line. Another loss, where the settings name one: its filters below, and lines of its
    colour.""",
)
def fig13(tables: Tables, params: Params) -> Figure:
    lines = {"with crops": "cropped", "without": "plain"}
    return _filters_and_statistic(
        tables, params, "cropped", "high_frequency_share", "high-frequency share of power", lines
    )


def _filters_and_statistic(
    tables: Tables, params: Params, arm: str, column: str, label: str, lines: dict[str, str]
) -> Figure:
    shown = [("", setting(tables, BASE), colors(2))]
    shown += [(loss.label, loss.tables, loss.shades(2)) for loss in beside(tables, params)]
    drawn = plt.figure(figsize=(WIDTH, 3.1 * len(shown)))
    parts = drawn.subfigures(len(shown), 2, width_ratios=(2.3, 1), squeeze=False)
    for (loss, of_loss, _), part in zip(shown, parts[:, 0], strict=True):
        filters = of_loss["filters"]
        _tiles(part, filters[(filters["arm"] == arm) & (filters["seed"] == 0)], f", {loss}" if loss else "")
    axes = parts[0, 1].subplots()
    for loss, of_loss, tints in shown:
        statistics = of_loss["statistics"]
        for (name, of_line), color, marker, line in zip(lines.items(), tints, MARKERS, LINES, strict=False):
            rows = statistics[statistics["arm"] == of_line]
            # A field without a number is no number of the seed.
            fields = rows.groupby(["step", "seed"])[column].agg(lambda values: values.mean(skipna=False))
            style = {"color": color, "marker": marker, "ls": line}
            style["label"] = f"{loss}, {name}" if loss else name
            if loss and fields.isna().all():  # with another loss, it may be that nothing is learned
                axes.plot([], [], **style)
                continue
            drawable(fields, f"{column} of the arm '{of_line}'")
            band(axes, fields.reset_index(), "step", column, **style)
    axes.set(xlabel="step", ylabel=label, ylim=(0, 1.1 * axes.dataLim.ymax))
    axes.set_xlim(left=0)
    axes.legend(loc="lower left")
    return drawn


def _tiles(part: SubFigure, filters: pd.DataFrame, loss: str) -> None:
    """A panel for each field, and the scale of their greys."""
    panels = part.subplots(2, 2)
    for axes, field in zip(panels.flat, FIELDS, strict=True):
        _mosaic(axes, filters[filters["field"] == field], f"{field}{loss}", field)
    scale = ScalarMappable(Normalize(-1, 1), GREYS)
    part.colorbar(scale, ax=panels, label="weight / largest of its filter", ticks=(-1, 0, 1), aspect=40)


def _mosaic(axes: Axes, rows: pd.DataFrame, title: str, field: str) -> None:
    """The learned filters of a field side by side, largest norm first, about twice as many in a row as in a
    column."""
    weights = drawable(
        rows.pivot(index="unit", columns=["row", "column"], values="weight").sort_index(axis=1),
        f"the filters of the field '{field}'",
    ).to_numpy()
    size = math.isqrt(weights.shape[1])
    learned = weights[rows.groupby("unit")["learned"].all().to_numpy()]
    tiles = learned[np.argsort(-np.linalg.norm(learned, axis=1), kind="stable")]
    across = math.ceil(math.sqrt(2 * len(weights)))
    down = math.ceil(len(weights) / across)
    room = np.zeros((down * across, size * size))
    room[: len(tiles)] = tiles / np.abs(tiles).max(axis=1, keepdims=True)
    mosaic = room.reshape(down, across, size, size).swapaxes(1, 2).reshape(down * size, across * size)
    axes.imshow(mosaic, cmap=GREYS, vmin=-1, vmax=1)
    for edge in range(1, across):
        axes.axvline(edge * size - 0.5, color="white", lw=2)
    for edge in range(1, down):
        axes.axhline(edge * size - 0.5, color="white", lw=2)
    axes.set(title=title, xlabel=f"{len(tiles)} of {len(weights)} filters learned", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
