"""A tried loss in our comparison of objectives: its networks beside the baselines."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import pandas as pd

from reprise.annex.diagnose.trained import LAYERS
from reprise.annex.diagnose.verdict import WORDS, CollapseState, judged
from reprise.annex.ours.objectives_by_diagnostics.experiment import Params, needs, tasks
from reprise.annex.ours.objectives_by_diagnostics.lineup import DIM, FIRST, UNTRAINED
from reprise.annex.ours.objectives_by_diagnostics.ranking import Standing, gain, has_learned, standing
from reprise.annex.progress import Report, of_tasks
from reprise.annex.trial.baselines import DATA_SET, EXPERIMENT, baselines
from reprise.annex.trial.given import Given
from reprise.contract.experiment import Context, Tables
from reprise.contract.settings import replaced
from reprise.engine import registry
from reprise.errors import RepriseError

ARTIFACTS = ("ours/representations", "ours/embeddings", "ours/toy_models")
SECONDS = 120.0
"""Seconds on one core for the networks of a loss."""


@dataclass(frozen=True)
class Standings:
    """A tried loss and the baselines.

    Attributes:
        loss: its name, `mine.py:my_loss`.
        params: those of `EXPERIMENT`, on `DATA_SET` and the toy networks, with the loss as `objective`.
        own: the experiment's tables for the loss alone.
        against: the baselines that are shown; by default those that learned.
    """

    loss: str
    params: Params
    own: Tables
    against: Sequence[str] = ()

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The rows of the loss and of the baselines."""
        return {name: pd.concat([self.own[name], rows]) for name, rows in baselines().items()}

    @property
    def learning_rate(self) -> float:
        """Learning rate of the loss's networks on images, the best in pilots."""
        return float(self._on_images["learning_rate"].iloc[0])

    def gain(self, objective: str) -> float:
        """Gain of an objective on `DATA_SET` (`ranking.gain`)."""
        return gain(self.tables, DATA_SET, objective, FIRST)

    @property
    def has_learned(self) -> bool:
        """Tells if the loss is ranked."""
        return has_learned(self.tables, DATA_SET, self.loss, FIRST)

    @cached_property
    def learned(self) -> list[str]:
        """The baselines that learned."""
        return [name for name in self.params.methods if has_learned(self.tables, DATA_SET, name, FIRST)]

    @property
    def shown(self) -> Params:
        """The settings with the baselines that are shown alone."""
        return self.params.model_copy(update={"methods": tuple(self.against or self.learned)})

    @property
    def verdicts(self) -> dict[str, CollapseState]:
        """Verdict on collapse by layer, the worst of all seeds."""
        dims = dict(zip(LAYERS, (self.params.encoder.dim, self.params.dim), strict=True))
        verdicts: dict[str, list[tuple[int, float, CollapseState]]] = {layer: [] for layer in LAYERS}
        for (layer, _), rows in self._on_images.groupby(["layer", "seed"]):
            values = dict(zip(rows["diagnostic"], rows["estimate"], strict=True))
            if "spread" in values:  # of a network that diverged nothing is known
                limit = min(dims[str(layer)], self.params.test_images - 1)
                state = judged(values["spread"], values["collapsed dimensions"], limit)
                found = WORDS.index(state.word), values["collapsed dimensions"] / limit, state
                verdicts[str(layer)].append(found)
        return {layer: max(each)[-1] for layer, each in verdicts.items()}

    def standing(self, layer: str) -> Standing:
        """The loss among the objectives that learned, on `DATA_SET`."""
        names = [self.loss, *self.params.methods, UNTRAINED]
        column = "share" if layer == "embedding" else "estimate"
        each = standing(self.tables, DATA_SET, layer, names, column=column)
        return Standing(each.values, [name for name in each.learned if name != UNTRAINED])

    @property
    def _on_images(self) -> pd.DataFrame:
        rows = self.own["diagnostics"]
        return rows[rows["task"] == DATA_SET]


def compared(loss: Given, root: Path, report: Report, against: Sequence[str], dim: int = DIM) -> Standings:
    """Trains the loss as the baselines were trained, and measures its networks.

    Args:
        root: a folder for trained networks.
        against: as in `Standings`.
        dim: of the loss's embeddings.

    Raises:
        RepriseError: if every network on images diverges, or the loss fails in training.
    """
    experiment = registry.experiment(EXPERIMENT)
    changes = {"data_sets": (DATA_SET,), "objective": (loss.name,), "dim": dim}
    params = cast(Params, replaced(experiment.params(), changes))
    context = Context(root=root, setting=loss.name, objective=loss.name)
    minutes = {
        f"{loss.name}/{task}": needs(params, task, loss.name).minutes for task in tasks(params, loss.name)
    }
    own = experiment.compute()(params, of_tasks(context, minutes, report))
    own = {name: table.assign(setting=loss.name) for name, table in own.items()}
    comparison = Standings(loss.name, params, own, against)
    if own["probes"]["accuracy"].isna().all():
        raise RepriseError(
            f"objective '{loss.label}': diverged with every seed at learning rate "
            f"{comparison.learning_rate:g}, the best of {', '.join(map(str, params.learning_rates))}; scale "
            "the loss down"
        )
    return comparison
