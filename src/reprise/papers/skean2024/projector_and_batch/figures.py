"""The figures of Appendix C."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.lineup import METHODS
from reprise.papers.skean2024.projector_and_batch.experiment import Params
from reprise.papers.skean2024.references import CAPTION, reference_lines
from reprise.plotting.style import PERCENT, WIDTH, band, colors, drawable


@figure(
    "Figures of Appendix C",
    reads=("probes",),
    caption=f"""FroSSL's linear probe with other embedding dimensions, and with other batch sizes that see the
    same number of images; our copy of the paper has lost the captions and numbers of these graphs in
    conversion, and we assume the settings. {CAPTION} Mean and 95 %
    interval over seeds, cut to [0, 100 %].""",
)
def appC(tables: Tables, params: Params) -> Figure:
    probes = setting(tables, BASE)["probes"]
    fig, panels = plt.subplots(1, 2, figsize=(WIDTH, 2.4), sharey=True)
    base = {"dim": round(METHODS["frossl"].dim * params.width), "batch": params.batch}
    for axes, name, other, values, label, fixed in (
        (panels[0], "dim", "batch", params.dims, "embedding dimension d", "batch size N"),
        (panels[1], "batch", "dim", params.batches, "batch size N", "dimension d"),
    ):
        rows = probes[probes[other] == base[other]]
        for value in values:
            drawable(rows.loc[rows[name] == value, "top1"], f"{label} {value}")
        band(axes, rows, name, "top1", within=PERCENT, color=colors(2)[0], marker="o", label="FroSSL")
        reference_lines(axes, probes)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(sorted(rows[name].unique()))
        axes.set_xlabel(f"{label} ({fixed} = {base[other]:g})")
    panels[0].set_ylabel("top-1 of a linear probe, %")
    fig.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig
