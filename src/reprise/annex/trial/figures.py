"""Figures of the papers that take a loss, at a reduced size, with a user's loss in rows of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reprise.annex.diagnose.page import svg
from reprise.contract.experiment import BASE, Context, Quick, Tables, evaluate
from reprise.contract.settings import Settings, replaced
from reprise.engine import registry
from reprise.engine.registry import Experiment
from reprise.errors import RepriseError
from reprise.plotting.style import styled


class Drawn(NamedTuple):
    """A figure as the page shows it.

    Attributes:
        title: the paper's key and the figure's number.
        changes: how its settings differ from the published ones.
        picture: SVG; empty if the loss failed.
        failure: why there is no picture, or empty.
    """

    title: str
    caption: str
    changes: str
    picture: str
    failure: str = ""


def quick_experiments() -> list[tuple[Experiment, Quick]]:
    """The experiments that can be run within seconds, each with how."""
    return [(each, each.quick) for each in registry.experiments().values() if each.quick]


def drawn(experiment: Experiment, quick: Quick, loss: str, root: Path) -> list[Drawn]:
    """Runs an experiment with its published loss and another one, and draws its figures, unless the other
    loss fails in training, for instance because it diverges at the paper's learning rate.

    Args:
        loss: as in `objectives.resolve`.
        root: a folder for trained networks.
    """
    params = replaced(experiment.params(), {**quick.changes, "objective": (loss,)})
    changes = "; ".join(f"{name} {_text(value)}" for name, value in quick.changes.items())
    artifacts = [f"{experiment.paper}/{name}" for name in quick.figures]
    try:
        tables = evaluate(experiment.compute(), {BASE: params}, Context(root=root))
    except RepriseError as error:
        return [Drawn(_title(name), "", changes, "", str(error)) for name in artifacts]
    return pictures(artifacts, tables, params, changes)


def pictures(artifacts: Sequence[str], tables: Tables, params: Settings, changes: str) -> list[Drawn]:
    """Draws figures from an experiment's tables."""
    with styled():
        return [
            Drawn(_title(name), artifact.caption, changes, svg(artifact.draw(tables, params)))
            for name, artifact in ((name, registry.artifact(name)) for name in artifacts)
        ]


def _title(name: str) -> str:
    return f"{name.partition('/')[0]}, {registry.artifact(name).number}"


def _text(value: Any) -> str:
    """A setting, in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
    return " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)
