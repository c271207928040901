"""Grids of networks on images. An experiment declares its networks (`Net`) and the labels that they are
probed for; this module makes tasks of them and says what each needs, and `training.grid_tasks` performs them.
Imports no torch, because a run's plan calls this."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from reprise.contract.experiment import Resources
from reprise.contract.settings import replaced
from reprise.training import costs
from reprise.training.image_settings import ImageTraining, Source
from reprise.training.spec import Spec

Scalar = str | int | float | bool


class Part(NamedTuple):
    """Some dimensions of a representation, from the first to before the last."""

    name: str
    first: int | None = None
    last: int | None = None


WHOLE = Part("all")


@dataclass(frozen=True)
class Net:
    """The task of a network.

    Attributes:
        name: of the task.
        columns: names and values that all of its rows have.
        spec: without steps, of a network before training. With pilots, its learning rate is that of the best.
        source: the images that it learns from.
        probed: the images and labels of its final linear probes; those of a pilot choose.
        parts: of the representation, each probed by itself.
        views: augmented views of each image that every probe learns from; 0: the images.
        pilots: those that choose its learning rate.
    """

    name: str
    columns: tuple[tuple[str, Scalar], ...]
    spec: Spec
    source: Source
    probed: tuple[Source, ...] = ()
    parts: tuple[Part, ...] = (WHOLE,)
    views: int = 0
    pilots: tuple["Pilot", ...] = ()

    def __str__(self) -> str:
        return self.name

    def at_rate(self, rate: float) -> "Net":
        """The network at a learning rate, its own column."""
        columns = dict(self.columns) | {"learning_rate": rate}
        spec = replaced(self.spec, {"optimiser.learning_rate": rate})
        return replace(self, columns=tuple(columns.items()), spec=spec, pilots=())

    def before_training(self, method: str, columns: dict[str, Scalar]) -> "Net":
        """The network at initialisation, with other columns."""
        return replace(
            self,
            name=f"{self.name}, {method}",
            columns=tuple((dict(self.columns) | columns).items()),
            spec=replaced(self.spec, {"steps": 0}),
            pilots=(),
        )


class Pilot(Net):
    """The task of a pilot, of which only the accuracy on held-out images is observed."""

    @classmethod
    def of(cls, net: Net) -> "Pilot":
        """The network as a pilot."""
        return cls(f"pilot of {net.name}", net.columns, net.spec, net.source, net.probed)


@dataclass(frozen=True)
class Pixels:
    """The task of what raw pixels tell about the labels of a data set."""

    labels: Source

    def __str__(self) -> str:
        return f"pixels/{self.labels.name}"


@dataclass(frozen=True)
class Supervised:
    """The task of a supervised network with the encoder, the images and the steps of a spec."""

    spec: Spec
    labels: Source

    def __str__(self) -> str:
        return f"supervised/{self.labels.name}"


Task = Net | Pixels | Supervised


def tasks(nets: Iterable[Net], references: Iterable[Pixels | Supervised] = ()) -> list[Task]:
    """The tasks of networks: their pilots, what they are compared with, and themselves, each once."""
    every = list(nets)
    return list(dict.fromkeys([*(pilot for net in every for pilot in net.pilots), *references, *every]))


def needs(params: ImageTraining, task: Task) -> Resources:
    """The resources of a task."""
    match task:
        case Pixels(labels):
            return costs.pixel_resources(labels, params.probe, device=params.device)
        case Supervised(spec, labels):
            return costs.resources(spec, labels, params.probe, device=params.device, probes=0)
        case Net():
            return costs.resources(
                task.spec, task.source, params.probe,
                device=params.device, probes=len(task.probed) * len(task.parts), probe_views=task.views,
            )  # fmt: skip
