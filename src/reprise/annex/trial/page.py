"""The page and the tables of a trial."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from reprise.annex.diagnose.measures import MEASURES
from reprise.annex.diagnose.page import aligned, interval, number, template, version
from reprise.annex.diagnose.trained import LAYERS
from reprise.annex.diagnose.verdict import RULE
from reprise.annex.ours.objectives_by_diagnostics.lineup import UNTRAINED, method
from reprise.annex.ours.objectives_by_diagnostics.ranking import Standing
from reprise.annex.trial.baselines import DATA_SET, provenance
from reprise.annex.trial.comparison import ARTIFACTS, Standings
from reprise.annex.trial.figures import Computed, Drawn, pictures
from reprise.annex.trial.given import Given
from reprise.evidence.comparison import LEARNED
from reprise.storage.disk import write_files

PAGE, TABLE = "trial.html", "trial.csv"
NOTHING = "–"
RANGES = {measure.name: (measure.scale, measure.range) for measure in MEASURES}


class Rank(NamedTuple):
    """Mean and rank of a loss by a diagnostic.

    Attributes:
        mean: over seeds.
        interval: of the mean; empty if it holds the means of all others that learned, or all possible values.
        rank: the ranks that the loss can have; empty if it did not learn, or if these are all.
    """

    mean: float
    interval: str
    rank: str


@dataclass(frozen=True)
class Trial:
    """A loss that was tried.

    Attributes:
        given: the loss, and after it others in figures of papers.
        comparison: with all objectives; None if figures alone were asked for.
        figures: of papers, by id.
    """

    given: Sequence[Given]
    comparison: Standings | None
    figures: dict[str, Drawn]

    @property
    def label(self) -> str:
        return self.given[0].label

    @cached_property
    def ranks(self) -> dict[str, dict[str, Rank]]:
        """Ranks of the loss, by layer and diagnostic."""
        if self.comparison is None:
            return {}
        return {layer: _ranks(self.comparison, layer) for layer in LAYERS}

    @cached_property
    def means(self) -> dict[str, pd.DataFrame]:
        """Means over seeds, by layer: one row per diagnostic, one column per objective, the loss first."""
        if self.comparison is None:
            return {}
        labels = {self.comparison.loss: self.label, UNTRAINED: UNTRAINED}
        return {
            layer: self.comparison.standing(layer).means.T.rename(
                columns=lambda name: labels.get(name) or method(name).name
            )
            for layer in LAYERS
        }

    @cached_property
    def compared(self) -> list[Drawn]:
        """The figures of the comparison, with the loss's row."""
        if self.comparison is None:
            return []
        computed = Computed(self.comparison.tables, self.comparison.shown, ())
        return list(pictures(ARTIFACTS, computed, self.given).values())

    @property
    def notes(self) -> list[str]:
        """Notes on the losses, a sentence each."""
        return [f"{each.note}." for each in self.given if each.note]


def evidence(comparison: Standings) -> str:
    """Says if the loss is ranked, and why."""
    gain = comparison.gain(comparison.loss)
    if math.isnan(gain):
        return "not ranked: a network diverged"
    gains = f"a linear probe gains {gain:.1f} points over the untrained network"
    if comparison.has_learned:
        return f"learned, and ranked: {gains}, of which {LEARNED:g} are needed"
    return f"not ranked: {gains}, less than {LEARNED:g}"


def gains_of_others(comparison: Standings) -> str:
    """The gains of the baselines that are shown, from the largest, in words."""
    gains = {method(name).name: comparison.gain(name) for name in _ranked(comparison)}
    listed = "; ".join(f"{name} {gains[name]:.1f}" for name in sorted(gains, key=lambda each: -gains[each]))
    return f"others gain: {listed or 'none of those chosen learned'}"


def collapse_of_others(comparison: Standings, layer: str) -> str:
    """The mean collapsed dimensions of untrained networks and of the baselines that are shown, in words."""
    means = comparison.standing(layer).means["collapsed dimensions"]
    scale, unit = (100, " %") if layer == LAYERS[1] else (1, "")
    said = [f"{scale * means[UNTRAINED]:.3g}{unit} of untrained networks' {layer}s"]
    if others := _ranked(comparison):
        low, high = scale * means[others].min(), scale * means[others].max()
        said.append(f"{low:.3g} to {high:.3g}{unit} of the baselines'")
    return f"collapsed on average: {', '.join(said)}"


def _ranked(comparison: Standings) -> list[str]:
    return [name for name in comparison.shown.methods if name in comparison.learned]


def setting(comparison: Standings) -> str:
    """Settings of the networks' training, in words."""
    params = comparison.params
    return (
        f"{params.seeds} networks on {DATA_SET}, {params.steps} steps, at learning rate "
        f"{comparison.learning_rate:g}, the best in pilots"
    )


def left_out(comparison: Standings) -> dict[str, float]:
    """The baselines that are not ranked because they did not learn, each with its gain in points."""
    wanted = comparison.against or comparison.params.methods
    names = [name for name in wanted if name not in comparison.learned]
    gains = {method(name).name: comparison.gain(name) for name in names}
    return dict(sorted(gains.items(), key=lambda item: -item[1]))


def dimensions(comparison: Standings, label: str) -> str:
    """Dimensions of the embeddings of the loss and of the baselines that are shown, in words."""
    names = {comparison.params.dim: [label]}
    for each in map(method, comparison.shown.methods):
        names.setdefault(each.dim or comparison.params.encoder.dim, []).append(each.name)
    listed = "; ".join(f"{dim:,} of {', '.join(of)}" for dim, of in names.items())
    return f"Dimensions of embeddings: {listed}"


def budget(comparison: Standings) -> str:
    """Explains why some baselines did not learn."""
    params = comparison.params
    epochs = params.steps * params.batch / params.images
    return (
        f"{params.steps} steps of {params.batch} images are {epochs:.0f} epochs; published trainings have "
        f"100 or more. Each objective has the best of {len(params.learning_rates)} learning rates. A "
        f"network that then gains less than {LEARNED:g} points says little of its objective"
    )


def text(trial: Trial) -> str:
    """The verdicts and the ranks, for a terminal."""
    lines = [*trial.notes]
    if comparison := trial.comparison:
        lines.append(f"{trial.label}: {setting(comparison)}")
        for layer, each in comparison.verdicts.items():
            lines.append(f"{layer}s {each.word}, the worst network: {each.reason}")
            lines.append(f"  {collapse_of_others(comparison, layer)}")
        lines.append(f"{evidence(comparison)}; {gains_of_others(comparison)}")
    for layer, rows in trial.ranks.items():
        said, silent = _said(rows)
        cells = [(f"{layer}s", "mean", "95 % interval", "rank")]
        cells += [
            (name, number(row.mean), row.interval or NOTHING, row.rank or NOTHING) for name, row in said
        ]
        lines += ["", *aligned(cells)]
        lines += [f"not told apart from the others: {', '.join(silent)}"] if silent else []
    figures = [*trial.compared, *trial.figures.values()]
    lines += dict.fromkeys(note for each in figures for note in each.notes)
    lines += [f"{each.title} not drawn: {each.failure}" for each in figures if each.failure]
    return "\n".join(lines)


def save(trial: Trial, folder: Path) -> list[Path]:
    """Writes the page, which opens offline, the figures of papers, and the table of a comparison; returns the
    files.

    Raises:
        RepriseError: if the folder cannot be written.
    """
    comparison = trial.comparison
    page = template("page.html.j2", room=__package__).render(
        trial=trial,
        comparison=comparison,
        tables={layer: _said(rows) for layer, rows in trial.ranks.items()},
        evidence=evidence,
        gains_of_others=gains_of_others,
        collapse_of_others=collapse_of_others,
        setting=setting,
        left_out=left_out,
        budget=budget,
        dimensions=dimensions,
        nothing=NOTHING,
        rule=RULE,
        provenance=provenance(),
        version=version(),
    )
    files: dict[Path, Callable[[Path], object]] = {
        folder / PAGE: partial(Path.write_text, data=page, encoding="utf-8")
    }
    if comparison is not None:
        files[folder / TABLE] = lambda draft: pd.concat(trial.means, names=["layer"]).to_csv(draft)
    for id, each in trial.figures.items():
        if each.picture:
            file = folder / f"{id.replace('/', '-')}.svg"
            files[file] = partial(Path.write_text, data=each.picture, encoding="utf-8")
    write_files(files)
    if comparison is None:
        (folder / TABLE).unlink(missing_ok=True)  # an earlier page's
    return list(files)


def _ranks(comparison: Standings, layer: str) -> dict[str, Rank]:
    standing = comparison.standing(layer)
    return {name: _rank(comparison.loss, standing, name, layer) for name in standing.diagnostics}


def _rank(loss: str, standing: Standing, name: str, layer: str) -> Rank:
    found = standing.interval(loss, name)
    scale, (least, most) = RANGES.get(name, ("plain", (0.0, 1.0)))  # a probe's accuracy is a share
    if layer == LAYERS[1] and scale != "plain":
        least, most = 0.0, 1.0
    low, high = max(found.low, least), min(found.high, most)
    others = standing.means[name].reindex([each for each in standing.learned if each != loss])
    is_wide = (low <= others.min() and others.max() <= high) or (low, high) == (least, most)
    rank, count = "", len(standing.learned)
    if loss in standing.learned:
        first, last = map(int, standing.ranks(name).loc[loss])
        if (first, last) != (1, count):
            rank = f"{first}{f' to {last}' if last > first else ''} of {count}"
    return Rank(found.mean, "" if is_wide or math.isnan(low) else interval(low, high), rank)


def _said(rows: dict[str, Rank]) -> tuple[list[tuple[str, Rank]], list[str]]:
    """The diagnostics that tell a loss from others, and the names of those that do not."""
    told = [(name, row) for name, row in rows.items() if row.interval or row.rank]
    return told, [name for name, row in rows.items() if not (row.interval or row.rank)]
