"""The grid of panels of Figures 4, 9, 10 and 11."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from reprise.papers.tian2023.sequences import TokenSequences
from reprise.plotting.style import WIDTH


def score_panels(params: TokenSequences, rows: Sequence[tuple[str, str]]) -> tuple[Figure, np.ndarray]:
    """A row of panels for each (score, what it is of), a column for each number of candidates, beta along x;
    one scale for all rows of the same score."""
    shape = (len(rows), len(params.candidates))
    size = (WIDTH, 0.7 + 1.35 * len(rows))
    share = True if len({score for score, _ in rows}) == 1 else "row"
    drawn, panels = plt.subplots(*shape, figsize=size, sharex=True, sharey=share, squeeze=False)
    for row, names in zip(panels, rows, strict=True):
        row[0].set_ylabel(", ".join(filter(None, names)))
    for candidates, panel in zip(params.candidates, panels[0], strict=True):
        panel.set_title(f"P = {candidates}")
    for panel in panels[-1]:
        panel.set_xscale("log")
        panel.set_xticks(params.over_parameterisation, [str(beta) for beta in params.over_parameterisation])
        panel.minorticks_off()
        panel.set_xlabel("beta")
    return drawn, panels


def share_legend(drawn: Figure, panels: np.ndarray, losses: int) -> None:
    """One legend for all panels, under them: a row for each loss, which all have as many lines."""
    found = {
        label: handle
        for panel in panels[:, 0]
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    columns = len(found) // losses
    names = np.array(list(found)).reshape(losses, columns).T.ravel()  # a legend fills column by column
    drawn.legend([found[name] for name in names], names, loc="outside lower center", ncols=columns)
