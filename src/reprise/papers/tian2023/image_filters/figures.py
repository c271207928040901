"""Figures 12 and 13."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.tian2023.image_filters.experiment import FIELDS, UNTRAINED, Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import LINES, MARKERS, SHARE, WIDTH, Range, band, colors, drawable

SHOWN, ACROSS = 8, 4
"""Filters that a field shows, at most, and how many of them stand side by side."""
TILES = """A panel per receptive field, which is a quadrant of the image; a tile per filter, of the learned
    ones those with the largest norms. Weights are divided by their filter's largest: grey is 0, white 1,
    black -1."""
OTHERS = """Other losses, if the settings name any, have their filters below and lines in colours of their
    own."""


@figure(
    "Figure 12",
    reads=("filters", "statistics"),
    caption=f"""Filters learned without augmentation (first seed), and two controls: those of a linear net
    that is trained in the same way, and untrained ones. {TILES} A filter counts as learned if the part that
    gradients added is longer than the part of its random start that weight decay left, and if it is not dead
    (norm below a thousandth of the field's largest). Top right: effective rank of a field's learned filters,
    scaled to unit length, against the steps. Lines average over the fields and show mean and 95 % interval
    over the seeds in which every field has learned filters; they start when there are some; bands are cut to
    the possible range. {OTHERS}""",
)
def fig12(tables: Tables, params: Params) -> Figure:
    filters = setting(tables, BASE)["filters"]
    most = min(params.filters, filters["row"].nunique() * filters["column"].nunique())
    lines = {"ReLU": "plain", "linear": "linear"}
    controls = {"linear": "linear", "untrained": UNTRAINED}
    return _filters_and_statistic(
        tables, params, "plain", controls, "effective_rank", "effective rank", lines, (1, most)
    )


@figure(
    "Figure 13",
    reads=("filters", "statistics"),
    caption=f"""Filters learned with random resized crops as the augmentation (first seed), from the initial
    weights of the nets without. {TILES} Right: share of a filter's power above half the Nyquist frequency
    (radial, mean included) against the steps, with and without augmentation, and in the linear net without.
    Lines average over the learned filters of a field and over the fields, and show mean and 95 % interval
    over the seeds in which every field has learned filters; they start when there are some; bands are cut to
    [0, 1]. {OTHERS}""",
)
def fig13(tables: Tables, params: Params) -> Figure:
    lines = {"with crops": "cropped", "without": "plain", "linear, without": "linear"}
    return _filters_and_statistic(
        tables, params, "cropped", {}, "high_frequency_share", "high-frequency share of power", lines, SHARE
    )


def _filters_and_statistic(
    tables: Tables,
    params: Params,
    arm: str,
    controls: dict[str, str],
    column: str,
    label: str,
    lines: dict[str, str],
    within: Range,
) -> Figure:
    """Draws blocks of tiles two in a row, with the statistic beside the first."""
    base, others = setting(tables, BASE), other_losses(tables, params)
    first = next(name for name, line_arm in lines.items() if line_arm == arm)
    blocks = [(first, base, arm), *((name, base, control) for name, control in controls.items())]
    blocks += [(loss.label, loss.tables, arm) for loss in others]
    height = 1 + len(blocks) // 2
    fig = plt.figure(figsize=(WIDTH, 2.6 * height))
    parts = fig.subfigures(height, 2, squeeze=False).flatten()
    axes = parts[1].subplots()
    for (name, rows, shown), part in zip(blocks, [parts[0], *parts[2:]], strict=False):
        filters = rows["filters"]
        _tiles(part, filters[filters["arm"] == shown])
        part.suptitle(name, fontsize=9)
    series = [("", base, colors(len(lines)))]
    series += [(loss.label, loss.tables, loss.shades(len(lines))) for loss in others]
    for loss, rows, tints in series:
        for (name, arm_shown), color, marker, line in zip(lines.items(), tints, MARKERS, LINES, strict=False):
            statistics = rows["statistics"][rows["statistics"]["arm"] == arm_shown]
            # A seed counts only if all of its fields have a value.
            fields = statistics.groupby(["step", "seed"])[column].agg(
                lambda values: values.mean(skipna=False)
            )
            style = {"color": color, "marker": marker, "ls": line}
            style["label"] = f"{loss}, {name}" if loss else name
            if loss and fields.isna().all():  # another loss may leave every filter unlearned
                axes.plot([], [], **style)
                continue
            drawable(fields, f"{column} of the arm '{arm_shown}'")
            band(axes, fields.reset_index(), "step", column, within=within, **style)
    axes.set(xlabel="step", ylabel=label, ylim=(0, 1.1 * axes.dataLim.ymax))
    axes.set_xlim(left=0)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return fig


def _tiles(part: SubFigure, filters: pd.DataFrame) -> None:
    """Draws a panel per field."""
    for axes, field in zip(part.subplots(2, 2).flat, FIELDS, strict=True):
        _mosaic(axes, filters[filters["field"] == field], field)
        axes.set_title(field)


def _mosaic(axes: Axes, rows: pd.DataFrame, field: str) -> None:
    """Draws a field's learned filters side by side, largest norm first, and says how many there are."""
    weights = drawable(
        rows.pivot(index="unit", columns=["row", "column"], values="weight").sort_index(axis=1),
        f"the filters of the field '{field}'",
    ).to_numpy()
    size = math.isqrt(weights.shape[1])
    learned = weights[rows.groupby("unit")["learned"].all().to_numpy()]
    tiles = learned[np.argsort(-np.linalg.norm(learned, axis=1), kind="stable")][:SHOWN]
    step = size + 1  # a tile and a gap
    mosaic = np.ma.masked_all((SHOWN // ACROSS * step - 1, ACROSS * step - 1))
    mosaic.data[:] = 0.0
    for at, tile in enumerate(tiles / np.abs(tiles).max(axis=1, keepdims=True)):
        y, x = (step * place for place in divmod(at, ACROSS))
        mosaic[y : y + size, x : x + size] = tile.reshape(size, size)
    axes.imshow(mosaic, cmap="gray", vmin=-1, vmax=1)
    untrained = (rows["arm"] == UNTRAINED).all()
    count = f"{len(weights)} random filters" if untrained else f"{len(learned)} of {len(weights)} learned"
    axes.set(xlabel=count, xticks=[], yticks=[], xlim=(-step / 4, mosaic.shape[1] - 1 + step / 4))
    axes.spines[:].set_visible(False)
