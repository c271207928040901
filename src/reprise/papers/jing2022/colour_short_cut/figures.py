"""What the stand-in teaches a net; the paper has no such figure."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.colour_short_cut.params import ARMS, Params
from reprise.plotting.style import LINES, MARKERS, WIDTH, band, colors
from reprise.study.experiment import BASE, Tables, figure

LABELS = {"any hue": "dark backdrops, any hue", "short cut": "bright backdrops, hues kept"}


@figure(
    "Stand-in",
    caption="""SimCLR on the rendered shapes that stand in for ImageNet, and on the negative control: bright
    backdrops whose hues hardly change from view to view. Left: the loss, a point a twentieth of the training.
    Right: accuracy of a linear probe for the shape, at random initialisation and after training; dotted:
    chance. In the control colour tells which views belong together: the loss falls lower, and the shape is
    not learned. Mean and 90 % interval over seeds.""",
)
def stand_in(tables: Tables, params: Params) -> Figure:
    shown = setting(tables, BASE)
    drawn, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.5))
    for arm, color, marker, line in zip(ARMS, colors(len(ARMS)), MARKERS, LINES, strict=False):
        style = {"color": color, "marker": marker, "ls": line, "label": LABELS[arm]}
        for panel, name, column in ((left, "losses", "loss"), (right, "probes", "accuracy")):
            band(panel, shown[name][shown[name]["arm"] == arm], "step", column, **style)
    right.axhline(10, color="0.6", lw=0.8, ls=":")
    right.set_xticks([0, params.steps])
    right.set(ylim=(0, 100), xlabel="step", ylabel="linear probe for shape, %")
    right.set_xlim(-0.15 * params.steps, 1.15 * params.steps)
    left.set(xlabel="step", ylabel=f"loss ({params.objective.replace('_', '-')})")
    left.legend()
    return drawn
