"""Table 1 with the effect of a rotation on each loss; the readings of the loss; the cost of its terms."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure, table
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.theory.experiment import CORRELATION, DECAY, Params
from reprise.plotting.style import LINES, MARKERS, WIDTH, band, colors, drawable

MSE = "MSE"
METHODS = {
    "barlow-twins": (
        "Barlow Twins",
        "cross-correlation off-diagonals",
        "cross-correlation diagonals",
    ),
    "vicreg": ("VICReg", "hinge on auto-covariance diagonal; covariance off-diagonals per view", MSE),
    "w-mse": ("W-MSE", "implicit through whitening", MSE),
    "corinfomax": ("CorInfoMax", "log-determinant entropy of covariance per view", MSE),
    "frossl": ("FroSSL", "log of normalized covariance Frobenius norm per view", MSE),
    "frossl-eq6": ("FroSSL, Eq. 6 without normalisation", "log of covariance Frobenius norm per view", MSE),
}
READINGS = {
    "unit variance": "Eq. 6, unit variance",
    "pseudocode by dimension": "App. A, norm per dimension",
    "unit length": "Eq. 6, unit length (authors' code)",
    "not centred": "the same, not centred",
    "pseudocode": "App. A as printed",
    "no logarithms": "Eq. 6, unit length, no logs",
}
TERMS = {
    "log determinant": r"$\log\det(Z^TZ + \epsilon I)$",
    "covariance norm": r"$\log\|Z^TZ\|_F^2$",
    "log determinant of samples": r"$\log\det$ by $ZZ^T$",
    "Gram norm": r"$\log\|ZZ^T\|_F^2$",
}


@table(
    "Table 1",
    reads=("identities",),
    caption="""How dimension-contrastive methods avoid collapse and become invariant, according to the paper,
    and a test of the rotation invariance it claims: the relative change of the loss when one random rotation
    is applied to both views' embeddings (median over random embeddings).""",
)
def table1(tables: Tables, params: Params) -> pd.DataFrame:
    rows = setting(tables, BASE)["identities"]
    lines = []
    for name, (method, variance, invariance) in METHODS.items():
        change = drawable(
            rows[rows["identity"] == f"table1/rotation-{name}"]["relative_error"], f"the change of {method}"
        ).median()
        invariant = bool(change <= IDENTITY_TOLERANCE)
        lines.append(
            {
                "method": method,
                "variance": variance,
                "invariance": invariance,
                "change under rotation": "0" if invariant else f"{change:.2g}",
                "rotation-invariant": "yes" if invariant else "no",
            }
        )
    return pd.DataFrame(lines)


@figure(
    "Appendix A",
    reads=("gradients",),
    caption="""Possible readings of the loss: norm of the invariance term's gradient for both views'
    embeddings, divided by that of the variance term, at the paper's N and d; mean and 95 % interval over
    random embeddings of two views with the same covariance, whose k-th principal component has standard
    deviation k^-decay. Left: against the decay, from spread out to nearly collapsed. Right: against the
    views' correlation. On the dotted line both terms pull equally.""",
)
def appA_readings(tables: Tables, params: Params) -> Figure:
    rows = setting(tables, BASE)["gradients"]
    rows = rows.assign(ratio=rows["invariance"] / rows["variance"], apart=1 - rows["correlation"])
    fig, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.3), sharey=True)
    for (reading, label), color, marker, line in zip(
        READINGS.items(), colors(len(READINGS)), MARKERS, LINES, strict=True
    ):
        style = {"color": color, "marker": marker, "ls": line, "label": label}
        ratios = rows[rows["reading"] == reading]
        band(left, ratios[ratios["correlation"] == CORRELATION], "decay", "ratio", log=True, **style)
        band(right, ratios[ratios["decay"] == DECAY], "apart", "ratio", log=True, **style)
    for panel in (left, right):
        panel.axhline(1, color="0.5", lw=0.8, ls=":", label="equal pull")
    left.set(
        yscale="log",
        xlabel="decay of the spectrum",
        ylabel="|∇ invariance| / |∇ variance|",
        title=f"correlation {CORRELATION:g}",
    )
    right.set(xscale="log", xlabel="1 - correlation of the views", title=f"decay {DECAY:g}")
    fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


@figure(
    "Section 4.3",
    reads=("operations", "cost_seconds"),
    caption="""Cost of one view's variance term, without its gradient, against the embedding's dimension, at
    the paper's batch. Left: floating-point operations, counted (matrix products, and 2/3 n³ for the LU
    decomposition of an n x n matrix). Right: CPU time; geometric mean and 95 % interval over repeats, each a
    median after a warm-up; times depend on the machine. Dotted line: dimension equal to the batch size.""",
)
def sec43_cost(tables: Tables, params: Params) -> Figure:
    here = setting(tables, BASE)
    counts, times = here["operations"], here["cost_seconds"]
    counts = counts[counts["samples"] == params.batch]
    fig, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8))
    for (term, label), color, marker, line in zip(
        TERMS.items(), colors(len(TERMS)), MARKERS, LINES, strict=False
    ):
        style = {"color": color, "marker": marker, "ls": line, "label": label}
        counted = drawable(
            counts[counts["term"] == term].set_index("dim")["operations"], f"{term}, operations"
        )
        left.plot(counted.index, counted, **style)
        band(right, times[times["term"] == term], "dim", "seconds", log=True, **style)
    dims = np.unique(times["dim"])
    for panel, label in ((left, "floating-point operations"), (right, "CPU seconds")):
        panel.axvline(params.batch, color="0.5", lw=0.8, ls=":", label="d = batch size")
        panel.set(xscale="log", yscale="log", xlabel="dimension d", ylabel=label)
        panel.set_xticks(dims, [str(dim) for dim in dims])
        panel.minorticks_off()
    fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return fig
