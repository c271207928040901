"""Representations of a user's own model: of two random views of each image of a folder."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from reprise.annex.diagnose.reading import state_dict
from reprise.datasets.augment import Views
from reprise.datasets.folders import Files
from reprise.datasets.imagenet import IMAGENET
from reprise.datasets.recipes import RECIPES
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.storage.user_code import executed, explained

IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".JPEG", ".JPG", ".PNG")
LIBRARIES = ("torchvision", "timm")
CHUNK = 64
"""Images whose views are made and encoded at a time."""
HEADS = ("fc", "classifier", "heads", "head")
"""Names of torchvision's classifiers, which are left out."""


class Represented(NamedTuple):
    """Attributes:
    views: two matrices of shape [image, features].
    labels: the folder of each image, counted from 0; None where all lie in one.
    """

    views: list[Float[np.ndarray, "image features"]]
    labels: Int[np.ndarray, " image"] | None


def is_model(name: str) -> bool:
    """Whether it names a model, `path/model.py:build` or `torchvision:resnet18`, rather than a file."""
    before, _, _ = name.rpartition(":")
    return before.endswith(".py") or before in LIBRARIES or name.endswith(".py")


def model(name: str, weights: Path | None) -> nn.Module:
    """Builds a model, in evaluation mode.

    Args:
        name: `path/model.py:build`, a function without arguments or a module; or `torchvision:NAME` or
            `timm:NAME`, without their classifiers.
        weights: of a state dict, for a library's model with or without its classifier; by default those that
            the function gives, random for the libraries.

    Raises:
        RepriseError: if it cannot be built, is no module, or the weights do not fit.
    """
    source, _, function = name.rpartition(":")
    if source in LIBRARIES:
        net = _from_library(source, function)
    elif not source:
        raise RepriseError(f"{name}: name the function that builds the model, as in {name}:build")
    else:
        net = _from_file(name, Path(source), function)
    if weights:
        _load(net, weights, left_out=HEADS if source in LIBRARIES else ())
    return net.eval()


@torch.no_grad()
def represent(
    net: nn.Module,
    folder: Path,
    *,
    recipe: str = "simclr_imagenet",
    size: int = 224,
    samples: int = 2000,
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> Represented:
    """Representations of two random views of each image, normalised as for ImageNet.

    Args:
        net: maps [image, 3, size, size] to [image, features].
        folder: of images, at any depth; the folders directly in it are their classes.
        recipe: a name in `datasets.recipes.RECIPES`.
        samples: at most as many images, drawn at random with a fixed seed.
        progress: called with (images done, all images, what is done).

    Raises:
        RepriseError: if there is no image or one cannot be decoded, the recipe is unknown, or the network
            returns no matrix.
    """
    if recipe not in RECIPES:
        raise RepriseError(f"unknown recipe '{recipe}'; allowed: {', '.join(RECIPES)}")
    if not folder.is_dir():
        raise RepriseError(f"{folder}: no such folder of images")
    files = sorted(file for file in folder.rglob("*") if file.suffix in IMAGES and file.is_file())
    if not files:
        raise RepriseError(f"{folder}: no image in it; expected files that end in {', '.join(IMAGES[:7])}")
    chosen = np.random.default_rng(0).permutation(len(files))[:samples]
    files = [files[index] for index in sorted(chosen)]
    images, views = Files(files, size), Views(RECIPES[recipe], IMAGENET.normalisation)
    numbers = views.draw(len(files), generator(0, "views of diagnose"))
    parts = []
    for index in torch.arange(len(files)).split(CHUNK):
        both = views.of(images, index, numbers[:, index])
        parts.append(torch.stack([_checked(net, view) for view in both]))
        progress(int(index[-1]) + 1, len(files), "images")
    z = torch.cat(parts, 1)
    classes, labels = np.unique([file.relative_to(folder).parts[0] for file in files], return_inverse=True)
    in_classes = all(len(file.relative_to(folder).parts) > 1 for file in files) and len(classes) > 1
    return Represented([view.numpy() for view in z], labels if in_classes else None)


def _checked(net: nn.Module, images: Tensor) -> Float[Tensor, "image features"]:
    try:
        output = net(images)
    except Exception as error:  # whatever a user's network raises
        raise RepriseError(
            f"the model fails on images of shape {list(images.shape)}: {type(error).__name__}: {_line(error)}"
        ) from None
    if not isinstance(output, Tensor):
        raise RepriseError(
            f"the model returns a {type(output).__name__} for images of shape {list(images.shape)}; expected "
            "one tensor [image, features]: wrap it in a module that returns the representation"
        )
    if output.ndim != 2 or len(output) != len(images):
        hint = "; average it over pixels" if output.ndim == 4 else ""
        raise RepriseError(
            f"the model returns shape {list(output.shape)} for images of shape {list(images.shape)}; "
            f"expected [{len(images)}, features]{hint}"
        )
    return output.float()


def _from_library(library: str, name: str) -> nn.Module:
    try:
        if library == "timm":
            import timm

            return timm.create_model(name, pretrained=False, num_classes=0)
        from torchvision import models

        net = models.get_model(name, weights=None)
    except ImportError:
        raise RepriseError(f"{library}:{name}: {library} is not installed; pip install {library}") from None
    except Exception as error:  # unknown names, of which each library has its own
        raise RepriseError(f"{library}:{name}: {library} builds no such model: {_line(error)}") from None
    for head in HEADS:
        if hasattr(net, head):
            setattr(net, head, nn.Identity())
    return net


def _from_file(name: str, file: Path, function: str) -> nn.Module:
    if not file.is_file():
        raise RepriseError(f"model '{name}': no file {file.absolute()}")
    build = getattr(executed(file), function, None)
    if isinstance(build, nn.Module):
        return build
    if not callable(build):
        raise RepriseError(f"model '{name}': {file} defines no function '{function}'")
    with explained(file):
        net = build()
    if not isinstance(net, nn.Module):
        raise RepriseError(
            f"model '{name}': {function}() returns a {type(net).__name__}; expected a torch.nn.Module"
        )
    return net


def _load(net: nn.Module, weights: Path, left_out: Collection[str]) -> None:
    expected = net.state_dict()
    tensors = {
        key: value
        for key, value in state_dict(weights).items()
        if key in expected or key.partition(".")[0] not in left_out
    }
    missing, unknown = (
        [key for key in expected if key not in tensors],
        [k for k in tensors if k not in expected],
    )
    if missing or unknown:

        def listed(keys: list[str]) -> str:
            return ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")

        problems = [f"lacks {listed(missing)}"] if missing else []
        problems += [f"has {listed(unknown)}, which the model lacks"] if unknown else []
        raise RepriseError(f"{weights}: does not fit the model: {'; '.join(problems)}; rename the keys")
    for key, value in expected.items():
        if tensors[key].shape != value.shape:
            raise RepriseError(
                f"{weights}: does not fit the model: {key} has shape {list(tensors[key].shape)}; the model's "
                f"has {list(value.shape)}"
            )
    net.load_state_dict(tensors)


def _line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else "no message"
