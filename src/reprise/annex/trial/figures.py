"""Figures of the papers that take a loss, at a reduced size, with a user's loss in rows of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reprise.annex.diagnose.page import svg
from reprise.contract.experiment import BASE, Context, Tables, evaluate
from reprise.contract.settings import Settings, replaced
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.plotting.style import styled


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
        "jing2022/projector_spectra",
        {
            "encoder": {"blocks": (1, 1, 1, 1), "width": 16, "stem": "stride2"},
            "batch": 64,
            "data_set": "textures",
            "seeds": 1,
            "epochs": 3.0,
            "nets": ("nonlinear", "none"),
            "projector": {"dims": (512, 128)},
            "recipe": "shapes",
            "crop": 0.4,
            "jitter": 0.6,
            "hue": 0.5,
            "optimiser": {"kind": "adamw", "learning_rate": 0.01, "weight_decay": 1e-6},
            "probe_views": 0,
            "d0": 22,
        },
        ("jing2022/fig02", "jing2022/fig07b"),
    ),
    Reduced(
        "skean2024/eigenvalue_saturation",
        {
            "encoder": {"kind": "conv4", "widths": (16, 16, 32, 64)},
            "batch": 128,
            "data_set": "textures-16",
            "seeds": 1,
            "steps": 500,
            "methods": ("vicreg", "frossl"),
            "learning_rates": (0.1,),
            "pilot_steps": 1,
            "projector_hidden": 1024,
            "augmentation": "shared",
            "optimiser": {"kind": "sgd", "momentum": 0.0, "weight_decay": 1e-6},
            "full_width_batch": 512,
            "probe": {"epochs": 1},
            "precision": "float32",
        },
        ("skean2024/fig03",),
    ),
    Reduced(
        "tian2023/matching_scores",
        {
            "over_parameterisation": (1, 5),
            "candidates": (3,),
            "activations": ("linear", "relu"),
            "compared_losses": ("infonce_cosine",),
            "steps": 1000,
            "seeds": 3,
            "seeds_compared": 3,
        },
        ("tian2023/fig09",),
    ),
)


def drawn(reduced: Reduced, loss: str, root: Path) -> list[Drawn]:
    """Runs an experiment with its published loss and another one, and draws its figures, unless the other
    loss fails in training, for instance because it diverges at the paper's learning rate.

    Args:
        loss: as in `objectives.resolve`.
        root: a folder for trained networks.
    """
    experiment = registry.experiment(reduced.experiment)
    params = replaced(experiment.params(), {**reduced.changes, "objective": (loss,)})
    changes = "; ".join(f"{name} {_text(value)}" for name, value in reduced.changes.items())
    try:
        tables = evaluate(experiment.compute(), {BASE: params}, Context(root=root))
    except RepriseError as error:
        return [Drawn(_title(name), "", changes, "", str(error)) for name in reduced.artifacts]
    return pictures(reduced.artifacts, tables, params, changes)


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
