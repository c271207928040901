"""Settings that every training on images has; without torch, for a run's plan."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from reprise.datasets.catalogue import load
from reprise.networks.encoders import ResNet
from reprise.study.settings import Settings, place
from reprise.training.optimisers import SGD, OptimiserSpec
from reprise.training.schedules import Milestones, Schedule
from reprise.training.spec import Spec

if TYPE_CHECKING:
    from reprise.training.images import Data


class Probe(Settings):
    """A linear classifier on frozen representations (`diagnostics.probes.linear_probe`)."""

    optimiser: OptimiserSpec = SGD(learning_rate=0.3)
    schedule: Schedule = Milestones()
    epochs: int = Field(default=100, ge=1)
    batch: int = Field(default=256, ge=1)


class ImageTraining(Settings):
    """What a training on images is given. A paper's own class has these fields with its defaults, and says
    where each comes from."""

    device: Literal["cpu", "cuda"] = place("cpu", "where networks are trained and read")
    encoder: ResNet
    optimiser: OptimiserSpec
    schedule: Schedule
    batch: int
    precision: Literal["float32", "bfloat16"]
    probe: Probe
    seeds: int

    def spec(self, **changes: Any) -> Spec:
        """What determines a network: the fields that a `Spec` has too, and what a run has for itself."""
        shared = type(self).model_fields.keys() & Spec.model_fields.keys()
        return Spec(**({name: getattr(self, name) for name in shared} | changes))


class Source(Settings):
    """Images to train on and to test with, on this machine.

    Attributes:
        name, root, split: as `datasets.catalogue.load` takes them; the test split is `test`.
        first, first_test: how many images of each split are taken; all if None. A folder on the disk stays
            whole.
    """

    name: str
    root: str
    split: str = "train"
    first: int | None = None
    first_test: int | None = None

    def load(self) -> "Data":
        """The images and labels; the last few sources stay in memory, and are not to be changed.

        Raises:
            RepriseError: of the loader.
        """
        return _load(self)


@lru_cache(maxsize=4)
def _load(source: Source) -> "Data":
    from reprise.training.images import Data

    train, test = (
        _split(source.name, source.root, split, first)
        for split, first in ((source.split, source.first), ("test", source.first_test))
    )
    return Data(*train, *test)


@lru_cache(maxsize=4)
def _split(name: str, root: str, split: str, first: int | None) -> Any:
    from torch import Tensor

    images, labels = load(name, root, split)
    if isinstance(images, Tensor):
        images = images[:first]
    return images, labels[: len(images)]
