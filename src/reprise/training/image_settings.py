"""Settings shared by every training on images. Imports no torch, so that planning a run stays fast."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from reprise.contract.settings import Seeded, Settings, location
from reprise.datasets.catalogue import load
from reprise.networks.encoders import Encoder
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


class ImageTraining(Seeded):
    """Settings of a training on images. Each paper's subclass gives the fields its own defaults and states
    their origin."""

    device: Literal["cpu", "cuda"] = location("cpu", "where networks are trained and evaluated")
    checkpoint_blocks: bool = location(
        False, "compute residual blocks again in the backward pass: a third more time, far less GPU memory"
    )
    encoder: Encoder
    optimiser: OptimiserSpec
    schedule: Schedule
    batch: int
    precision: Literal["float32", "bfloat16"]
    probe: Probe
    seeds: int

    def spec(self, **changes: Any) -> Spec:
        """The spec of a network: the fields shared with `Spec`, plus `changes`."""
        shared = type(self).model_fields.keys() & Spec.model_fields.keys()
        return Spec(**({name: getattr(self, name) for name in shared} | changes))


class Source(Settings):
    """The training and test images, on this machine.

    Attributes:
        name, root, split: as `datasets.catalogue.load` takes them; the test split is `test`.
        first, first_test: number of images to take from each split; None takes all. A folder on disk is
            always taken whole.
    """

    name: str
    root: str
    split: str = "train"
    first: int | None = None
    first_test: int | None = None

    def load(self) -> "Data":
        """The images and labels. The last few sources are cached in memory; do not modify them.

        Raises:
            RepriseError: if loading fails.
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
