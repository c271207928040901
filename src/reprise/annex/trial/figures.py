"""Figures of the papers that take a loss, at a reduced size, with a user's loss in rows of its own."""

import importlib
import importlib.util
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch
from matplotlib.figure import Figure

from reprise.annex.diagnose.page import svg
from reprise.annex.progress import Report, in_stages, of_tasks, parts
from reprise.annex.trial.given import OBJECTS, Given, Loss, named, relabelled, worded
from reprise.contract.experiment import BASE, Artifact, Context, Make, Plan, Quick, Tables, all_needs
from reprise.contract.settings import Settings, replaced
from reprise.engine import ids, registry
from reprise.engine.loss_trial import OTHER_SHAPE, in_shapes, try_loss
from reprise.engine.registry import Experiment
from reprise.errors import NotInstalledError, RepriseError, naming_extras
from reprise.notices import progress
from reprise.plotting.style import styled

SECONDS = 20.0
"""Seconds that an experiment takes on one core, roughly, with one loss beside the published one."""
SLOWER = (0.1, 0.01)
"""Shares of the paper's learning rate, of which a loss that diverges has the first at which it does not."""


class Drawn(NamedTuple):
    """A figure as the page shows it.

    Attributes:
        title: the paper's key and the figure's number.
        changes: how its settings differ from the published ones.
        picture: SVG; empty if the loss failed or a package is missing.
        failure: why there is no picture, or empty.
        notes: sentences on the losses in it.
    """

    title: str
    caption: str
    changes: str
    picture: str
    failure: str = ""
    notes: Sequence[str] = ()


class Computed(NamedTuple):
    """An experiment with its published loss and others.

    Attributes:
        params: those of the figures; `objective` names the losses that have rows.
        notes: sentences on losses that differ from the published settings, or have no rows.
    """

    tables: Tables
    params: Settings
    notes: Sequence[str]


def quick_experiments() -> list[tuple[Experiment, Quick]]:
    """The experiments that can be run within seconds, each with how."""
    return [(each, each.quick) for each in registry.experiments().values() if each.quick]


def experiments(figures: Sequence[str]) -> Iterator[tuple[Experiment, Quick, list[str]]]:
    """The experiments of figures, or of all that can be drawn within seconds, with how each is run and its
    figures."""
    for experiment, quick in quick_experiments():
        names = [name for name in quick.figures if not figures or f"{experiment.paper}/{name}" in figures]
        further = _shown(experiment, "ALONE").get(names[0], {}) if len(names) == 1 else {}
        if names:
            how = replace(quick, changes={**quick.changes, **further})
            yield experiment, how, [f"{experiment.paper}/{name}" for name in names]


def _shown(experiment: Experiment, name: str) -> Any:
    """Reads what the quick figures do without, from the experiment's optional module `shown`: by `ALONE`,
    further changes for a figure where no other one is drawn; by `UNSHOWN`, how the names of tasks begin that
    no figure reads."""
    module = f"{experiment.module}.shown"
    found = importlib.import_module(module) if importlib.util.find_spec(module) else None
    return getattr(found, name, {})


def found(written: str) -> str:
    """The id of a figure that can be drawn within seconds.

    Args:
        written: the id, in any spelling.

    Raises:
        RepriseError: if there is no such figure, or it takes longer or no loss.
    """
    id = ids.find(written, "figure or table").id
    quick = [each for _, _, figures in experiments([]) for each in figures]
    if id in quick:
        return id
    experiment = registry.experiment(registry.artifact(id).experiment)
    if "objective" in experiment.params.model_fields:
        why = f"needs more than seconds; name the loss in a tier: {experiment.id}: {{objective: LOSS}}"
    else:
        why = "takes no other loss"
    raise RepriseError(f"{id} {why}; drawn within seconds are: {', '.join(quick)}")


def tried(losses: Sequence[Given]) -> list[Given]:
    """Tries losses on random embeddings; returns them, with a note on one that trains nothing there.

    Raises:
        RepriseError: for the first that is none.
    """
    found = []
    for loss in losses:
        if loss.name not in OBJECTS:
            try_loss(loss.name)
        views = torch.randn(2, *OTHER_SHAPE, generator=torch.Generator().manual_seed(0)).requires_grad_()
        (gradient,) = torch.autograd.grad(in_shapes(loss.name)(*views), views)
        still = (
            ""
            if gradient.any()
            else f"{loss.label} has gradient 0 for random embeddings: it may train nothing"
        )
        found.append(loss._replace(note="; ".join(filter(None, [loss.note, still]))))
    return found


def computed(
    experiment: Experiment, quick: Quick, losses: Sequence[Given], root: Path, report: Report
) -> Computed:
    """Runs an experiment with its published loss and others. One that fails has no rows, unless it is the
    first, the user's.

    Args:
        root: a folder for trained networks.

    Raises:
        RepriseError: if the user's loss fails in training, for instance because it diverges.
    """
    names = tuple(loss.name for loss in losses)
    params = replaced(experiment.params(), {**quick.changes, "objective": names})
    results: dict[str, Tables] = {}
    notes: list[str] = []
    for number, loss in enumerate([None, *losses]):
        context = Context(
            root=root, setting=loss.name if loss else BASE, objective=loss.name if loss else None
        )
        share = partial(_share, report, number, 1 + len(losses))
        try:
            results[context.setting], rate = _at_some_rate(experiment, params, context, share)
        except RepriseError as error:
            if loss is None:
                raise
            said = worded(str(error).removeprefix(f"objective '{loss.name}': "), losses)
            if number == 1:
                raise RepriseError(f"objective '{loss.label}': {said}") from None
            notes.append(f"{loss.label} is left out: {said}.")
        else:
            if loss and rate:
                notes.append(f"{loss.label} diverges at the published learning rate; it has {rate:g}.")
    tables = {
        kind: pd.concat(
            [tables[kind].assign(setting=name) for name, tables in results.items() if kind in tables],
            ignore_index=True,
        )
        for kind in results[BASE]
    }
    kept = replaced(params, {"objective": tuple(name for name in names if name in results)})
    return Computed(tables, kept, notes)


def _share(report: Report, number: int, computations: int, share: float) -> None:
    """Reports the share of one of several computations."""
    report((number + share) / computations)


def _at_some_rate(
    experiment: Experiment, params: Settings, context: Context, report: Report
) -> tuple[Tables, float]:
    """The tables with the published loss, or with another one, if need be at a rate of `SLOWER`; and this
    rate, else 0."""
    published = getattr(params, "learning_rate", None) if context.objective else None
    rates = [share * published for share in SLOWER] if published else []
    while True:
        try:
            tables = experiment.compute()(params, _followed(experiment, params, context, report))
        except RepriseError as error:
            if published and not rates and "diverged" in str(error):
                tried = ", ".join(f"{share * published:g}" for share in (1.0, *SLOWER))
                raise RepriseError(
                    f"diverged at each learning rate of {tried}; scale the loss down"
                ) from None
            if not rates or "diverged" not in str(error):
                raise
            params = replaced(params, {"learning_rate": rates.pop(0)})
        else:
            rate = getattr(params, "learning_rate", 0.0)
            return tables, 0.0 if rate == published else rate


def _followed(experiment: Experiment, params: Settings, context: Context, report: Report) -> Context:
    """The context with a report of the computation's progress."""
    plan = experiment.declaration.plan
    if not isinstance(plan, Plan):
        return in_stages(context, report)
    needs = all_needs(plan, {BASE: params})
    unshown = tuple(f"{context.setting}/{task}" for task in _shown(experiment, "UNSHOWN"))
    own = {
        name: each.minutes
        for name, each in needs.items()
        if name.startswith(f"{context.setting}/") and not name.startswith(unshown)
    }
    followed = of_tasks(context, own, report)

    def cached(name: str, make: Make) -> pd.DataFrame:
        return pd.DataFrame() if name.startswith(unshown) else followed.cached(name, make)

    return replace(followed, cached=cached)


def drawn(
    experiment: Experiment,
    quick: Quick,
    figures: Sequence[str],
    losses: Sequence[Given],
    root: Path,
    report: Report = lambda share: None,
) -> dict[str, Drawn]:
    """Figures of an experiment with its published loss and others, by id; without pictures if the user's loss
    fails in training.

    Args:
        figures: their ids.
        losses, root: as in `computed`.
    """
    changes = "; ".join(f"{name} {_text(value)}" for name, value in quick.changes.items())
    try:
        found = computed(experiment, quick, losses, root, report)
    except RepriseError as error:
        return {id: Drawn(_title(id), "", changes, "", str(error)) for id in figures}
    return pictures(figures, found, losses, changes)


def pictures(
    figures: Sequence[str], found: Computed, losses: Sequence[Given], changes: str = ""
) -> dict[str, Drawn]:
    """Figures from an experiment's tables, by id."""
    with styled():
        return {id: _picture(registry.artifact(id), found, losses, changes) for id in figures}


def _picture(artifact: Artifact, found: Computed, losses: Sequence[Given], changes: str) -> Drawn:
    """A figure, or the extra that draws it."""
    picture, failure = "", ""
    try:
        with naming_extras():
            picture = svg(relabelled(artifact.draw(found.tables, found.params), losses))
    except NotInstalledError as error:
        failure = str(error)
    return Drawn(_title(artifact.id), artifact.caption, changes, picture, failure, found.notes)


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Computes on one thread: with several, networks this small wait for each other's, for up to twenty times
    as long where other programs run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@on_one_thread()
def with_loss(written: str, loss: str | Loss, against: str | Sequence[str] = ()) -> Figure:
    """A figure of a paper with a loss in rows of its own, at a reduced size, for a notebook.

    Args:
        written: the figure's id, in any spelling.
        loss: a function or module of two views' embeddings, or as `reprise try` takes it.
        against: names of published losses that get rows, too; one or, with commas, several in a string.

    Raises:
        RepriseError: if there is no such figure or loss, or the loss fails in training.
    """
    id, names = found(written), against.split(",") if isinstance(against, str) else against
    ((experiment, quick, _),) = experiments([id])
    with (
        tempfile.TemporaryDirectory() as files,
        tempfile.TemporaryDirectory() as root,
        named(loss, names, Path(files)) as losses,
        progress(id) as bar,
        styled(),
    ):
        losses = tried(losses)
        made = computed(experiment, quick, losses, Path(root), parts(bar, {"networks": 1.0})[0])
        figure = relabelled(registry.artifact(id).draw(made.tables, made.params), losses)
    for note in [*(each.note for each in losses if each.note), *made.notes]:
        print(note, file=sys.stderr)
    return figure


def _title(id: str) -> str:
    return f"{id.partition('/')[0]}, {registry.artifact(id).number}"


def _text(value: Any) -> str:
    """A setting, in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
    return " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)
