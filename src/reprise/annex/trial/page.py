"""The page and the table of a trial."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from reprise.annex.diagnose.page import aligned, number, template, version
from reprise.annex.diagnose.trained import LAYERS
from reprise.annex.diagnose.verdict import RULE
from reprise.annex.ours.objectives_by_diagnostics.lineup import UNTRAINED, method
from reprise.annex.trial.baselines import DATA_SET, provenance
from reprise.annex.trial.comparison import ARTIFACTS, Standings
from reprise.annex.trial.figures import Drawn, pictures
from reprise.evidence.comparison import LEARNED
from reprise.storage.store import write_files

PAGE, TABLE = "trial.html", "trial.csv"
NOT_RANKED = "–"


@dataclass(frozen=True)
class Trial:
    """A loss that was tried.

    Attributes:
        figures: of the papers; may be empty.
    """

    comparison: Standings
    figures: Sequence[Drawn] = ()

    @cached_property
    def ranks(self) -> dict[str, pd.DataFrame]:
        """For each layer, one row per diagnostic: `mean` over seeds, the ends of its interval `low` and
        `high`, and `rank`, the ranks that it can have among the objectives that learned."""
        return {layer: _ranks(self.comparison, layer) for layer in LAYERS}

    @cached_property
    def means(self) -> dict[str, pd.DataFrame]:
        """For each layer, one row per diagnostic and one column per objective, the loss first: means over
        seeds."""
        return {layer: self.comparison.standing(layer).means.T.rename(columns=_label) for layer in LAYERS}

    @property
    def evidence(self) -> str:
        """Whether the loss is ranked, and why."""
        comparison = self.comparison
        if math.isnan(comparison.gain):
            return "not ranked: a network diverged"
        gains = f"a linear probe gains {comparison.gain:.1f} points over the untrained network"
        if comparison.has_learned:
            return f"learned, and ranked: {gains}, of which {LEARNED:g} are needed"
        return f"not ranked: {gains}, less than {LEARNED:g}"

    @property
    def setting(self) -> str:
        """How the networks were trained, in a sentence."""
        params = self.comparison.params
        return (
            f"{params.seeds} networks on {DATA_SET}, {params.steps} steps, at learning rate "
            f"{self.comparison.learning_rate:g}, the best in pilots"
        )


def text(trial: Trial) -> str:
    """The verdicts and the ranks, for a terminal."""
    verdicts = trial.comparison.verdicts.items()
    lines = [f"{trial.comparison.loss}: {trial.setting}"]
    lines += [f"{layer}s {each.word}, the worst network: {each.reason}" for layer, each in verdicts]
    lines.append(trial.evidence)
    for layer, table in trial.ranks.items():
        cells = [(f"{layer}s", "mean", "95 % interval", "rank")]
        cells += [(str(row.Index), *_cells(row)) for row in table.itertuples()]
        lines += ["", *aligned(cells)]
    failures = [f"{each.title} not drawn: {each.failure}" for each in trial.figures if each.failure]
    return "\n".join([*lines, "", *failures])


def save(trial: Trial, folder: Path) -> list[Path]:
    """Writes the page, which opens offline, and the table; returns both files.

    Raises:
        RepriseError: if the folder cannot be written.
    """
    comparison = trial.comparison
    page = template("page.html.j2", room=__package__).render(
        trial=trial,
        tables={
            layer: {str(row.Index): _cells(row) for row in table.itertuples()}
            for layer, table in trial.ranks.items()
        },
        compared=pictures(ARTIFACTS, comparison.tables, comparison.params, ""),
        rule=RULE,
        provenance=provenance(),
        version=version(),
    )
    files = {
        folder / PAGE: lambda draft: draft.write_text(page, encoding="utf-8"),
        folder / TABLE: lambda draft: pd.concat(trial.means, names=["layer"]).to_csv(draft),
    }
    write_files(files)
    return list(files)


def _ranks(comparison: Standings, layer: str) -> pd.DataFrame:
    standing = comparison.standing(layer)
    rows = {}
    for name in standing.diagnostics:
        interval = standing.interval(comparison.loss, name)
        row: dict[str, object] = {"mean": interval.mean, "low": interval.low, "high": interval.high}
        rank = NOT_RANKED
        if comparison.loss in standing.learned:
            low, high = map(int, standing.ranks(name).loc[comparison.loss])
            rank = f"{low}{f' to {high}' if high > low else ''} of {len(standing.learned)}"
        rows[name] = row | {"rank": rank}
    return pd.DataFrame.from_dict(rows, orient="index")


def _cells(row: tuple) -> tuple[str, str, str]:
    _, mean, low, high, rank = row
    return number(mean), f"{number(low)} to {number(high)}", rank


def _label(name: str) -> str:
    return name if name == UNTRAINED else method(name).name
