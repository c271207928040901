"""The grid of panels in Figures 4, 9, 10 and 11."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.figure import Figure, SubFigure

from reprise.papers.tian2023.sequences import TokenSequences
from reprise.plotting.style import legend_entries

ROW = 1.35
"""Height of a row of panels, in inches."""


def score_panels(
    part: Figure | SubFigure, params: TokenSequences, rows: Sequence[tuple[str, str]]
) -> np.ndarray:
    """Makes the panels of a part of a figure: one row per (score, loss or variant), one column per number of
    candidates, beta along x.

    If all rows show the same score, they share one scale.
    """
    share: Literal[True, "row"] = True if len({score for score, _ in rows}) == 1 else "row"
    panels = part.subplots(len(rows), len(params.candidates), sharex=True, sharey=share, squeeze=False)
    for row, names in zip(panels, rows, strict=True):
        row[0].set_ylabel(",\n".join(filter(None, names)))
    for candidates, panel in zip(params.candidates, panels[0], strict=True):
        panel.set_title(f"P = {candidates}")
    for panel in panels[-1]:
        panel.set_xscale("log")
        panel.set_xticks(params.over_parameterisation, [str(beta) for beta in params.over_parameterisation])
        panel.minorticks_off()
        panel.set_xlabel("beta")
    return panels


def share_legend(fig: Figure, panels: np.ndarray, losses: int) -> None:
    """Draws one legend for all panels, below them: a row per loss, all of which have the same number of
    lines; what else is named, such as printed scores, comes in a last column."""
    handles = legend_entries(panels[:, 0])
    columns, others = divmod(len(handles), losses)
    order, rest = np.split(np.array(list(handles)), [columns * losses])
    names = [*order.reshape(losses, columns).T.ravel(), *rest]  # a legend fills column by column
    fig.legend(
        [handles[name] for name in names], names, loc="outside lower center", ncols=columns + bool(others)
    )
