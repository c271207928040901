"""A tried loss in our comparison of objectives: its networks beside the baselines."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import pandas as pd

from reprise.annex.diagnose.trained import LAYERS
from reprise.annex.diagnose.verdict import WORDS, CollapseState, judged
from reprise.annex.ours.objectives_by_diagnostics.experiment import Params, tasks
from reprise.annex.ours.objectives_by_diagnostics.lineup import DIM, FIRST, UNTRAINED
from reprise.annex.ours.objectives_by_diagnostics.ranking import Standing, gain, has_learned, standing
from reprise.annex.trial.baselines import DATA_SET, EXPERIMENT, baselines
from reprise.contract.experiment import Context, Make, Tables
from reprise.contract.settings import replaced
from reprise.engine import registry
from reprise.errors import RepriseError

ARTIFACTS = ("ours/representations", "ours/embeddings", "ours/toy_models")


@dataclass(frozen=True)
class Standings:
    """A tried loss and the baselines.

    Attributes:
        loss: its name, `mine.py:my_loss`.
        params: those of `EXPERIMENT`, on `DATA_SET` and the toy networks, with the loss as `objective`.
        own: the experiment's tables for the loss alone.
    """

    loss: str
    params: Params
    own: Tables

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The rows of the loss and of the baselines."""
        return {name: pd.concat([self.own[name], rows]) for name, rows in baselines().items()}

    @property
    def learning_rate(self) -> float:
        """The best in pilots."""
        return float(self._on_images["learning_rate"].iloc[0])

    @property
    def gain(self) -> float:
        """As `ranking.gain`, on `DATA_SET`."""
        return gain(self.tables, DATA_SET, self.loss, FIRST)

    @property
    def has_learned(self) -> bool:
        """Whether it is ranked."""
        return has_learned(self.tables, DATA_SET, self.loss, FIRST)

    @property
    def verdicts(self) -> dict[str, CollapseState]:
        """Whether the networks collapsed, by layer: of all seeds the worst."""
        dims = dict(zip(LAYERS, (self.params.encoder.dim, DIM), strict=True))
        verdicts: dict[str, list[CollapseState]] = {layer: [] for layer in LAYERS}
        for (layer, _), rows in self._on_images.groupby(["layer", "seed"]):
            values = dict(zip(rows["diagnostic"], rows["estimate"], strict=True))
            if "spread" in values:  # of a network that diverged nothing is known
                limit = min(dims[str(layer)], self.params.test_images - 1)
                verdicts[str(layer)].append(judged(values["spread"], values["collapsed dimensions"], limit))
        return {layer: max(each, key=lambda one: WORDS.index(one.word)) for layer, each in verdicts.items()}

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


def compared(loss: str, context: Context) -> Standings:
    """Trains the loss as the baselines were trained, and measures its networks.

    Args:
        loss: as in `objectives.resolve`.

    Raises:
        RepriseError: if every network on images diverges, or the loss fails in training.
    """
    experiment = registry.experiment(EXPERIMENT)
    changes = {"data_sets": (DATA_SET,), "objective": (loss,)}
    params = cast(Params, replaced(experiment.params(), changes))
    names = [f"{context.setting}/{task}" for task in tasks(params, context.objective)]
    own = experiment.compute()(params, replace(context, cached=_counted(names, context.progress)))
    comparison = Standings(loss, params, {name: table.assign(setting=loss) for name, table in own.items()})
    if own["probes"]["accuracy"].isna().all():
        raise RepriseError(
            f"objective '{loss}': diverged with every seed at learning rate {comparison.learning_rate:g}, "
            f"the best of {', '.join(map(str, params.learning_rates))}; scale the loss down"
        )
    return comparison


def _counted(
    names: Collection[str], progress: Callable[[int, int, str], None]
) -> Callable[[str, Make], pd.DataFrame]:
    """Computes tasks, and tells how many of these are done; others that they ask for are parts of them."""
    done: set[str] = set()

    def cached(name: str, make: Make) -> pd.DataFrame:
        table = make(lambda share: None)
        if name in names:
            done.add(name)
            progress(len(done), len(names), name)
        return table

    return cached
