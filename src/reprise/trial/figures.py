"""Figures of the papers that take a loss, at a reduced size, with a user's loss in rows of its own."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from reprise.diagnose.page import svg
from reprise.errors import RepriseError
from reprise.execute import registry
from reprise.plotting.style import styled
from reprise.study.experiment import BASE, Context, evaluate
from reprise.study.settings import replaced


class Reduced(NamedTuple):
    """An experiment, smaller than published.

    Attributes:
        changes: fields of its parameters that differ from the published settings.
        artifacts: the figures to draw.
    """

    experiment: str
    changes: Mapping[str, Any]
    artifacts: tuple[str, ...]


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


EXPERIMENTS = (
    Reduced(
        "jing2022/depth_and_nonlinearity",
        {"steps": 1000, "long_steps": 1000, "samples": 1024, "seeds": 3},
        ("jing2022/fig06a", "jing2022/fig06b"),
    ),
    Reduced(
        "tian2023/matching_scores",
        {
            "over_parameterisation": (1, 5),
            "candidates": (1, 3),
            "activations": ("linear", "relu"),
            "compared_losses": ("infonce_cosine",),
            "steps": 1000,
            "seeds": 3,
            "seeds_compared": 3,
        },
        ("tian2023/fig09",),
    ),
)


def drawn(reduced: Reduced, loss: str) -> list[Drawn]:
    """Runs an experiment with its published loss and another one, and draws its figures, unless the other
    loss fails in training, for instance because it diverges at the paper's learning rate.

    Args:
        loss: as in `objectives.resolve`.
    """
    experiment = registry.experiment(reduced.experiment)
    params = replaced(experiment.params(), {**reduced.changes, "objective": (loss,)})
    changes = ", ".join(f"{name} {_text(value)}" for name, value in reduced.changes.items())
    artifacts = [registry.artifact(name) for name in reduced.artifacts]
    titles = [f"{artifact.id.partition('/')[0]}, {artifact.number}" for artifact in artifacts]
    try:
        tables = evaluate(experiment.compute(), {BASE: params}, Context())
    except RepriseError as error:
        return [Drawn(title, "", changes, "", str(error)) for title in titles]
    with styled():
        return [
            Drawn(title, artifact.caption, changes, svg(artifact.draw(tables, params)))
            for title, artifact in zip(titles, artifacts, strict=True)
        ]


def _text(value: Any) -> str:
    return " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)
