"""Figures 4, 5, 9 and 10."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reprise.evidence.verdicts import setting
from reprise.papers.tian2023.matching_scores.params import Params
from reprise.papers.tian2023.panels import score_panels, share_legend
from reprise.plotting.style import LINES, MARKERS, WIDTH, band, colors, drawable
from reprise.study.experiment import BASE, Tables, figure

NAMES = {
    "linear": "linear",
    "relu": "ReLU",
    "leaky_relu": "LeakyReLU(0.05)",
    "quadratic": "quadratic",
    "sigmoid": "sigmoid",
}
SCORES = {"chi_plus": "χ+", "chi_minus": "χ-"}
LOSSES = {"infonce_cosine": "InfoNCE", "quadratic_cosine": "quadratic loss"}
AXES = "against over-parameterisation beta (P candidate tokens per field); mean and 90 % interval over seeds."


@figure("Figure 4", caption=f"Matching score χ+ with InfoNCE (above) and the quadratic loss (below) {AXES}")
def fig04(tables: Tables, params: Params) -> Figure:
    return _grid(tables, params, [(loss, "chi_plus") for loss in params.objectives])


@figure(
    "Figure 9", caption=f"InfoNCE: matching score χ+ (above) and irrelevant-matching score χ- (below) {AXES}"
)
def fig09(tables: Tables, params: Params) -> Figure:
    return _grid(tables, params, [(params.objectives[0], score) for score in SCORES])


@figure(
    "Figure 10",
    caption=f"Quadratic loss: matching score χ+ (above) and irrelevant-matching score χ- (below) {AXES}",
)
def fig10(tables: Tables, params: Params) -> Figure:
    return _grid(tables, params, [(params.objectives[-1], score) for score in SCORES])


def _grid(tables: Tables, params: Params, rows: Sequence[tuple[str, str]]) -> Figure:
    matching = setting(tables, BASE)["matching"]
    losses = {loss for loss, _ in rows}
    names = [(SCORES[score], LOSSES.get(loss, loss) if len(losses) > 1 else "") for loss, score in rows]
    fig, panels = score_panels(params, names)
    tints = colors(len(params.activations))
    for (loss, score), row in zip(rows, panels, strict=True):
        for candidates, panel in zip(params.candidates, row, strict=True):
            selection = matching[(matching["objective"] == loss) & (matching["candidates"] == candidates)]
            for activation, color, line, marker in zip(
                params.activations, tints, LINES, MARKERS, strict=False
            ):
                part = selection[selection["activation"] == activation]
                style = {"color": color, "ls": line, "marker": marker, "label": NAMES[activation]}
                band(panel, part, "beta", score, **style)
    share_legend(fig, panels)
    return fig


@figure(
    "Figure 5",
    caption="""Filters of the first seed at P = 3, beta = 5 after training with InfoNCE: in each receptive
    field those of ReLU (left) and of the linear activation (right), one row per filter and one column per
    token, as shares of the field's largest weight. Triangles mark the candidate tokens that the generators
    use. The paper's caption has 8 tokens, its text 20.""",
)
def fig05(tables: Tables, params: Params) -> Figure:
    filters = setting(tables, BASE)["filters"]
    columns = 5
    rows = -(-params.fields // columns)
    size = (WIDTH, 1.7 * rows + 0.6)
    fig, panels = plt.subplots(rows, 2 * columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for unused_panel in panels.flat[2 * params.fields :]:
        unused_panel.remove()
    for field in range(params.fields):
        row, column = divmod(field, columns)
        for side, activation in enumerate(("relu", "linear")):
            panel = panels[row, 2 * column + side]
            part = filters[(filters["field"] == field) & (filters["activation"] == activation)]
            weights = drawable(part.pivot(index="unit", columns="token", values="weight"), "the filters")
            image = panel.imshow(
                weights / weights.abs().max().max(), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto"
            )
            tokens = part.loc[part["relevant"], "token"].unique()
            panel.plot(tokens, [-1.3] * len(tokens), "v", color="black", ms=2.5, clip_on=False)
            panel.set(xticks=[], yticks=[])
            panel.set_title(f"R{field}, {NAMES[activation]}", fontsize=6, pad=7)
    for panel in panels[:, 0]:
        panel.set_ylabel("filter")
    for panel in panels[-1]:
        panel.set_xlabel("token")
    fig.colorbar(
        image,
        ax=fig.axes,
        location="bottom",
        shrink=0.4,
        aspect=40,
        ticks=[-1, -0.5, 0, 0.5, 1],
        label="weight / largest of the field",
    )
    return fig
