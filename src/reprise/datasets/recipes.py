"""Each paper's augmentation recipe by name. Does not import torch, because a run's plan reads it."""

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Strengths:
    """Augmentation parameters of one view, for the equivalents of torchvision's RandomResizedCrop,
    RandomHorizontalFlip, ColorJitter (applied with a probability), RandomGrayscale, GaussianBlur and
    RandomSolarize.

    Attributes:
        scale: lowest and highest share of the image's area in a crop.
        ratio: lowest and highest width/height of a crop.
        interpolation: filter that resizes the crop.
        flip, jitter, grey, blur, solarise: probabilities.
        brightness, contrast, saturation: s, for factors uniform in [max(0, 1 - s), 1 + s].
        hue: s, for shifts uniform in [-s, s], as fractions of the circle.
        sigma: lowest and highest standard deviation of the blur, in pixels.
    """

    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    interpolation: Literal["bilinear", "bicubic"] = "bicubic"
    flip: float = 0.5
    jitter: float = 0.8
    brightness: float = 0.4
    contrast: float = 0.4
    saturation: float = 0.4
    hue: float = 0.1
    grey: float = 0.2
    blur: float = 0.5
    sigma: tuple[float, float] = (0.1, 2.0)
    solarise: float = 0.0


@dataclass(frozen=True)
class Recipe:
    """Augmentation parameters of the first and the second view."""

    first: Strengths
    second: Strengths


def _symmetric(strengths: Strengths) -> Recipe:
    return Recipe(strengths, strengths)


_DIRECTCLR = Strengths(saturation=0.2)

SIMCLR_CIFAR = _symmetric(Strengths(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1, blur=0.0))
"""Chen 2020, Appendix B.9: jitter of strength 0.5, no blur."""
SIMCLR_IMAGENET = _symmetric(Strengths(brightness=0.8, contrast=0.8, saturation=0.8, hue=0.2))
"""Chen 2020, Appendix A: jitter of strength 1. Also skean2024's recipe for ImageNet, whose Appendix B uses
"the same augmentation set as Chen et al."."""
SKEAN_CIFAR = SIMCLR_CIFAR
"""skean2024's code for FroSSL on CIFAR-10 and CIFAR-100; its baselines use another recipe."""
SKEAN_CIFAR_BASELINES = SIMCLR_IMAGENET
"""skean2024's code for SimCLR on CIFAR, from solo-learn: twice the jitter, and blur. One of the authors'
commits disables the crop; here it is enabled."""
SKEAN_STL10 = _symmetric(Strengths())
"""skean2024's code for FroSSL on STL-10: `SKEAN_CIFAR` with blur."""
SKEAN_STL10_BASELINES = _symmetric(Strengths(brightness=0.8, contrast=0.8, saturation=0.8, hue=0.2, blur=0.0))
"""skean2024's code for SimCLR, BYOL, VICReg, Barlow Twins and W-MSE on STL-10: twice the jitter, no blur."""
DIRECTCLR = Recipe(replace(_DIRECTCLR, blur=1.0), replace(_DIRECTCLR, blur=0.1, solarise=0.2))
"""jing2022's code: BYOL's two views, which are augmented differently."""
SHAPES = _symmetric(
    Strengths(scale=(0.4, 1.0), brightness=0.6, contrast=0.6, saturation=0.6, hue=0.5, blur=0.0)
)
"""Recipe for the stand-in `shapes`: hues are fully random, so that colour identifies no positive pairs."""
COLOUR_SHORT_CUT = _symmetric(
    Strengths(scale=(0.4, 1.0), brightness=0.2, contrast=0.2, saturation=0.2, hue=0.02, grey=0.0, blur=0.0)
)
"""The negative control, for `shapes` or `shapes-bright`: colours survive, and identify positive pairs."""

CROPS_AND_FLIPS = _symmetric(Strengths(interpolation="bilinear", jitter=0.0, grey=0.0, blur=0.0))
"""torchvision's RandomResizedCrop and RandomHorizontalFlip, with which public linear probes on ImageNet are
trained."""

RECIPES = {
    "simclr_cifar": SIMCLR_CIFAR,
    "simclr_imagenet": SIMCLR_IMAGENET,
    "skean_cifar": SKEAN_CIFAR,
    "skean_cifar_baselines": SKEAN_CIFAR_BASELINES,
    "skean_stl10": SKEAN_STL10,
    "skean_stl10_baselines": SKEAN_STL10_BASELINES,
    "directclr": DIRECTCLR,
    "shapes": SHAPES,
    "colour_short_cut": COLOUR_SHORT_CUT,
}


@dataclass(frozen=True)
class Normalisation:
    """Mean and standard deviation of each channel, or of all channels, for images in [0, 1]."""

    mean: tuple[float, ...] = (0.5,)
    std: tuple[float, ...] = (0.25,)
