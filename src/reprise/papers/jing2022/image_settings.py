"""Shared by the image experiments: the settings of a training, and the networks compared. Imports no
torch."""

from typing import Literal

from reprise.datasets.catalogue import DataSetName
from reprise.datasets.catalogue import check as check_files
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP
from reprise.study.settings import from_code, ours, place, stated, unstated
from reprise.training.image_settings import ImageTraining, Probe, Source
from reprise.training.optimisers import LARS, SGD, OptimiserSpec
from reprise.training.schedules import Schedule, WarmupCosine

Shortcut = Literal["identity", "projection", "none"]

NETS = ("nonlinear", "linear", "none", "directclr", "low_rank", "diagonal")
"""The networks, by what lies between representation and loss: SimCLR's projectors, or DirectCLR's
sub-vector."""
PARTS = ("all", "subvector", "rest")
"""Parts of a representation r: all of it, r[:d0] and r[d0:]."""
OTHER_LABELS = {"shapes": "shapes-80"}
"""Data sets with other labels for the same images."""


class Training(ImageTraining):
    """SimCLR training of an encoder on images, and a linear probe of its representation."""

    data_set: DataSetName = stated("imagenet", "Section 3")
    root: str = place("data/imagenet", "folder that holds train/ and val/", min_length=1)
    encoder: ResNet = stated(
        ResNet(block="bottleneck", blocks=(3, 4, 6, 3), zero_init_residual=True),
        "ResNet50, Section 6.2; residual branches start at zero in the authors' code",
    )
    projector: MLP = stated(
        MLP(dims=(2048, 128), last_norm=True, last_bias=False),
        "two layers to 128 dimensions, Section 3; 2048 hidden units and the last BatchNorm are from the code",
    )
    d0: int = from_code(360, "number of DirectCLR's dimensions, and rank of the fixed projector", ge=1)
    temperature: float = from_code(0.1, "of the loss", gt=0)
    recipe: Literal["directclr", "shapes"] = from_code("directclr", "recipe of the augmentations")
    crop: float = from_code(0.08, "smallest share of an image in a crop", gt=0, le=1)
    jitter: float = from_code(0.4, "of brightness and contrast; saturation in the recipe's proportion", ge=0)
    hue: float = from_code(0.1, "largest shift of hue, as a fraction of the circle", ge=0, le=0.5)
    optimiser: OptimiserSpec = from_code(
        LARS(learning_rate=4.8), "0.3 per 256 images of a batch; weight decay on matrices only"
    )
    schedule: Schedule = from_code(
        WarmupCosine(warmup=0.1, final=1e-3), "10 of 100 epochs of warm-up, then a cosine"
    )
    batch: int = from_code(4096, "total over all GPUs", ge=2)
    epochs: float = stated(100.0, "Section 3", gt=0)
    precision: Literal["float32", "bfloat16"] = unstated("bfloat16", "mixed precision; float32 is slower")
    probe_views: Literal["plain"] = unstated("plain", "the probe's training images are not augmented")
    probe: Probe = from_code(
        Probe(optimiser=SGD(learning_rate=0.1, weight_decay=1e-6), schedule=WarmupCosine()),
        "100 epochs of batches of 256, with a cosine",
    )
    seeds: int = ours(3, "independent weights, orders of the images and augmentations", ge=1)

    @property
    def source(self) -> Source:
        """The source of the images."""
        return Source(name=self.data_set, root=self.root)


def check(params: Training) -> None:
    """Checks that the data set exists.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    check_files(params.data_set, params.root)
