"""Figure 2."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.ren2023.zero_shot.experiment import LOSSES, MODALITIES, Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import AT_LEAST_1, PERCENT, SHARE, WIDTH, band, colors, drawable, steps_axis

PANELS = {
    "accuracy": "zero-shot accuracy (%)",
    "alignment": "alignment score",
    "stable_rank": "stable rank of $C$\n‖C‖²$_F$ / ‖C‖²$_2$",
    "intrinsic_dimension": "stable rank of $C^{1/2}$\ntr C / ‖C‖$_2$",
    "effective_condition": "effective\ncondition number",
    "condition": "condition number",
}
WITHIN = {"accuracy": PERCENT, "alignment": SHARE}
"""Possible ranges; all others are at least 1."""
STYLES = dict(zip(MODALITIES, ("-", (0, (1.5, 1))), strict=True))
BASELINES = {"most frequent label": "-", "frozen features": ":", "linear map": "--"}


@figure(
    "Figure 2",
    reads=("course", "baselines"),
    caption="""Heads on frozen encoders of images and of texts, trained on images and their captions with the
    contrastive and the non-contrastive loss, against the step (mean and 95 % interval over seeds, cut to the
    possible range); at step 0 the heads are random. On rendered scenes, a seed has scenes, encoders and heads
    of its own; on MSCOCO, whose images and encoders are the paper's, heads alone. Zero-shot accuracy on test
    images: an image counts as correct if the prompt 'This is a [LABEL_NAME]' with the largest cosine names a
    category that is present in it. Grey lines in its panel (means over seeds): always naming the category
    most frequent in training; the frozen features themselves, if images and texts have equally many; their
    least-squares map from training images to captions. This map sees positive pairs only, and cannot
    collapse, because its targets are frozen: as far as it is as accurate as the contrastive heads, negative
    pairs add no accuracy, but keep two trained heads from collapsing together. The alignment score is
    P(|f_A - f_B| < |f_A - f_B'|), where B is the image's own caption and B' another image's (dash-dotted:
    chance, and the ideal 1). For embeddings of test images (solid) and of their captions (dotted): the
    balance score of Definition 4.2, the stable rank of the covariance C, and ours, that of its root (both
    count directions, from 1 for collapsed embeddings); the effective condition number, which leaves out the
    singular values that should be 0 (those beyond the number of categories); and ours, the condition number
    over all. With negative pairs, too, it may end above that of the random heads. Other losses, if the
    settings name any, have colours of their own. Our copy of the paper has lost the heads' width in
    conversion; we assume 512, CLIP's output dimension.""",
)
def fig02(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, grid = plt.subplots(2, 3, figsize=(WIDTH, 4.2))
    panels = dict(zip(PANELS, grid.flat, strict=True))
    course = base["course"]
    series = [
        (loss, course[course["loss"] == loss], color) for loss, color in zip(LOSSES, colors(3), strict=False)
    ]
    series += [(loss.label, loss.tables["course"], loss.color) for loss in other_losses(tables, params)]
    for name, axes in panels.items():
        log = "condition" in name
        for loss, rows, color in series:
            for modality in MODALITIES if name not in rows else ("",):
                column, label = (f"{name}_{modality}", f"{loss}, {modality}s") if modality else (name, loss)
                style = {"color": color, "ls": STYLES.get(modality, "-"), "label": label}
                style["within"] = WITHIN.get(name, AT_LEAST_1)
                band(axes, rows, "step", column, log=log, **style)
        axes.set_yscale("log" if log else "linear")
        axes.set_ylabel(PANELS[name])
        steps_axis(axes)
    for level in (0.5, 1.0):
        style = {"color": "0.5", "lw": 1, "ls": "-.", "label": "alignment: chance, ideal"}
        panels["alignment"].axhline(level, zorder=0, **style)
    _baselines(panels["accuracy"], base["baselines"])
    legends = [panels[name].get_legend_handles_labels() for name in ("condition", "accuracy", "alignment")]
    losses = [loss for loss, _, _ in series]
    entries = {
        label: handle
        for legend in legends
        for handle, label in zip(*legend, strict=True)
        if label not in losses
    }
    fig.legend(entries.values(), entries, loc="outside lower center", ncols=4, handlelength=3)
    return fig


def _baselines(axes: Axes, table: pd.DataFrame) -> None:
    for name, line in BASELINES.items():
        accuracy = table.loc[table["baseline"] == name, "accuracy"]
        if (
            name == "frozen features" and accuracy.empty
        ):  # only the stand-in has as many for images as for texts
            continue
        level = float(drawable(accuracy, name).mean())
        axes.axhline(level, color="0.5", ls=line, lw=1, label=name, zorder=0)
