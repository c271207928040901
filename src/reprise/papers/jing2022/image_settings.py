"""What the image experiments share, without torch: the settings of a training, and the nets that are
compared."""

from typing import Annotated, Literal

from pydantic import Field

from reprise.datasets import catalogue
from reprise.study.settings import Settings, from_code, ours, place, stated, unstated

Count = Annotated[int, Field(ge=1)]
Shortcut = Literal["identity", "projection", "none"]
Optimiser = Literal["lars", "adamw", "sgd"]

NETS = ("nonlinear", "linear", "none", "directclr", "low_rank", "diagonal")
"""What lies between the representation and the loss: SimCLR's projectors, or DirectCLR's sub-vector."""
PARTS = ("all", "subvector", "rest")
"""Of a representation r: all of it, r[:d0] and r[d0:]."""
OTHER_LABELS = {"shapes": "shapes-80"}
"""Another set of labels for the same images."""


class Training(Settings):
    """SimCLR of an encoder on images, and a linear probe of what it has learned."""

    data_set: Literal["imagenet", "cifar10", "cifar100", "shapes", "digits"] = stated("imagenet", "Section 3")
    root: str = place("data/imagenet", "folder that holds train/ and val/", min_length=1)
    device: Literal["cpu", "cuda"] = place("cpu", "where nets are trained and read")
    block: Literal["basic", "bottleneck"] = stated("bottleneck", "ResNet50, Section 6.2")
    blocks: tuple[Count, Count, Count, Count] = stated((3, 4, 6, 3), "ResNet50, Section 6.2")
    width: int = stated(64, "ResNet50, Section 6.2", ge=1)
    stem: Literal["imagenet", "cifar", "stride2"] = stated("imagenet", "ResNet50, Section 6.2")
    zero_init_residual: bool = from_code(True, "the text says nothing of initialisation")
    last_shortcut: Shortcut = stated("identity", "ResNet50, Figure 10")
    head_layers: int = stated(2, "of the nonlinear projector, Section 3", ge=2)
    head_hidden: int = from_code(2048, "its hidden units", ge=1)
    head_norm: bool = from_code(True, "BatchNorm at its end")
    embedding: int = stated(128, "of the trainable projectors but the diagonal one, Section 3", ge=2)
    d0: int = from_code(360, "DirectCLR's dimensions, the rank of the fixed projector", ge=1)
    temperature: float = from_code(0.1, "of the loss", gt=0)
    recipe: Literal["directclr", "shapes"] = from_code("directclr", "the kinds of augmentation")
    crop: float = from_code(0.08, "smallest share of an image in a crop", gt=0, le=1)
    jitter: float = from_code(0.4, "of brightness and contrast; saturation in the recipe's proportion", ge=0)
    hue: float = from_code(0.1, "largest shift of hue, of the circle", ge=0, le=0.5)
    optimiser: Optimiser = from_code("lars", "with momentum 0.9 and trust 0.001")
    learning_rate: float = from_code(4.8, "0.3 for 256 images of a batch", gt=0)
    weight_decay: float = from_code(1e-6, "of LARS, none on vectors", ge=0)
    warmup: float = from_code(0.1, "share of the training: 10 of 100 epochs", ge=0, lt=1)
    final_rate: float = from_code(1e-3, "share of the learning rate at the end of the cosine", ge=0, le=1)
    batch: int = from_code(4096, "of all GPUs together", ge=2)
    epochs: float = stated(100.0, "Section 3", gt=0)
    precision: Literal["float32", "bfloat16"] = unstated("bfloat16", "mixed precision; float32 is slower")
    probe_views: Literal["plain"] = unstated(
        "plain", "of the images that a probe learns from: no augmentation"
    )
    probe_learning_rate: float = from_code(0.1, "SGD with momentum 0.9, weight decay 1e-6, cosine", gt=0)
    probe_epochs: int = from_code(100, "of the linear probe", ge=1)
    probe_batch: int = from_code(256, "of the linear probe", ge=1)
    seeds: int = ours(3, "independent weights, orders of the images and augmentations", ge=1)


def check(params: Training) -> None:
    """That the data set is there.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    catalogue.check(params.data_set, params.root)
