"""Representations of a user's own model: of two random views of each image of a folder."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from reprise.annex.diagnose import checkpoints, pictures
from reprise.annex.diagnose.contents import words
from reprise.datasets.augment import Views
from reprise.datasets.imagenet import IMAGENET
from reprise.datasets.recipes import RECIPES
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.storage.user_code import executed, explained

LIBRARIES = ("torchvision", "timm")
CHUNK = 64
"""Images whose views are made and encoded at a time."""
HEADS = ("fc", "classifier", "heads", "head")
"""Names of torchvision's classifiers, which are left out."""
NOISE = 0.01
"""Differences between the outputs for an image, over their length, that rounding explains."""
Token = Literal["cls", "mean"]
"""A transformer represents an image by its class token, or by the mean of its patches' tokens."""


class Represented(NamedTuple):
    """Representations of two random views of each image.

    Attributes:
        views: two matrices of shape [image, features].
        labels: the folder of each image, counted from 0; None where folders are no classes.
        places: of each image among `pictures.found(folder).files`.
        about_labels: a sentence on the folders as classes.
        notes: further sentences, about what was left out or changed.
    """

    views: list[Float[np.ndarray, "image features"]]
    labels: Int[np.ndarray, " image"] | None
    places: Int[np.ndarray, " image"]
    about_labels: str
    notes: list[str]


class Tokens(nn.Module):
    """A transformer of timm, of which one token or the mean of several represents an image."""

    def __init__(self, net: nn.Module, token: Token) -> None:
        super().__init__()
        self.net, self.token = net, token

    def forward(self, images: Float[Tensor, "image 3 size size"]) -> Float[Tensor, "image features"]:
        tokens = self.net.forward_features(images)
        patches = tokens[:, self.net.num_prefix_tokens :]  # behind the class token and registers
        pooled = tokens[:, 0] if self.token == "cls" else patches.mean(1)
        return self.net.fc_norm(pooled) if hasattr(self.net, "fc_norm") else pooled


def is_model(name: str) -> bool:
    """Tells if a name stands for a model, `path/model.py:build` or `torchvision:resnet18`, rather than a
    file."""
    before, _, _ = name.rpartition(":")
    return before.endswith(".py") or before in LIBRARIES or name.endswith(".py")


def model(name: str, weights: str | None, token: Token | None = None) -> tuple[nn.Module, str]:
    """Builds a model, in evaluation mode.

    Args:
        name: `path/model.py:build`, a function without arguments or a module; or `torchvision:NAME` or
            `timm:NAME`, without their classifiers.
        weights: `FILE` or `FILE:PREFIX` of weights, as for `checkpoints.load`; by default those that the
            function gives, random for the libraries.
        token: of a transformer of timm; by default what timm takes.

    Returns:
        The model, and a note on its weights.

    Raises:
        RepriseError: if it cannot be built, is no module, has no tokens, or the weights do not fit.
    """
    source, _, function = name.rpartition(":")
    if source in LIBRARIES:
        net = _from_library(source, function)
        note = "Random weights: without --weights, a library's model is untrained."
    elif not source:
        raise RepriseError(f"{name}: name the function that builds the model, as in {name}:build")
    else:
        net = _from_file(name, Path(source), function)
        note = f"Weights as {function} gives them."
    if weights:
        note = checkpoints.load(net, weights)
    if token:
        has_class = getattr(net, "cls_token", None) is not None
        if source != "timm" or not hasattr(net, "num_prefix_tokens") or (token == "cls" and not has_class):
            raise RepriseError(
                f"{name} --tokens {token}: only for transformers of timm that have such tokens; let a model "
                "of your own return the token"
            )
        net = Tokens(net, token)
        note += f" An image is represented by its {'class token' if token == 'cls' else 'mean patch token'}."
    net.eval()
    return net, note


@torch.no_grad()
def represent(
    net: nn.Module,
    folder: Path,
    *,
    recipe: str = "simclr_imagenet",
    size: int = 224,
    samples: int = 2000,
    skip_bad: bool = False,
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> Represented:
    """Representations of two random views of each image, normalised as for ImageNet.

    Args:
        net: maps [image, 3, size, size] to [image, features], or to [image, features, 1, 1]; images have the
            precision of its parameters and are on their device.
        folder: of images, at any depth; the folders directly in it are their classes.
        recipe: a name in `datasets.recipes.RECIPES`.
        samples: at most as many images, drawn at random with a fixed seed.
        skip_bad: whether images that cannot be decoded are left out.
        progress: called with (images done, all images, what is done).

    Raises:
        RepriseError: if there is no image or one cannot be decoded, the recipe is unknown, or the network
            returns no matrix.
    """
    if recipe not in RECIPES:
        raise RepriseError(f"unknown recipe '{recipe}'; allowed: {', '.join(RECIPES)}")
    found = pictures.found(folder)
    chosen = sorted(np.random.default_rng(0).permutation(len(found.files))[:samples].tolist())
    views = Views(RECIPES[recipe], IMAGENET.normalisation)
    numbers = views.draw(len(chosen), generator(0, "views of diagnose"))
    parts: list[Tensor] = []
    kept: list[int] = []
    bad: list[str] = []
    scaled = 0
    for index in torch.arange(len(chosen)).split(CHUNK):
        pixels, rows = [], []
        for row in index.tolist():
            file = found.files[chosen[row]]
            try:
                picture = pictures.picture(file, size)
            except RepriseError:
                if not skip_bad:
                    raise
                bad.append(str(file.relative_to(folder)))
                continue
            pixels.append(picture.pixels)
            rows.append(row)
            scaled += picture.scaled
        if rows:
            both = views.made(torch.stack(pixels), numbers[:, rows])
            made = [_checked(net, view) for view in both]
            if len(dims := {part.shape[-1] for part in (*made, *parts)}) > 1:
                raise RepriseError(
                    f"the model returns {' or '.join(map(str, dims))} features; expected equally many"
                )
            if not parts:
                steady = _is_steady(net, both[0], made[0])
            parts.append(torch.stack(made))
            kept += [chosen[row] for row in rows]
        progress(int(index[-1]) + 1, len(chosen), "images")
    if not parts:
        raise RepriseError(f"{folder}: none of {len(chosen)} images can be decoded; copy them again")
    labels, about_labels = _classes([found.files[place].relative_to(folder) for place in kept])
    counts = found.skipped | {
        f"Images left out that cannot be decoded ({checkpoints.listed(bad)})": len(bad),
        "Images of more than 8 bits, each scaled from its own lowest and highest value": scaled,
    }
    notes = [f"{what}: {count}." for what, count in counts.items() if count]
    if not steady:
        notes.append(
            "What the model returns for an image changes from call to call, or with the images beside it, as "
            "in training mode: all values below depend on that, too."
        )
    matrices = [view.numpy() for view in torch.cat(parts, 1)]
    return Represented(matrices, labels, np.array(kept), about_labels, notes)


def _classes(files: list[Path]) -> tuple[Int[np.ndarray, " image"] | None, str]:
    """The folder of each image, counted from 0, and the folders' names; or None, and why not.

    Args:
        files: relative to the folder of all images.
    """
    names, labels = np.unique([file.parts[0] for file in files], return_inverse=True)
    if not any(len(file.parts) > 1 for file in files):
        return None, ""
    if len(names) == 1:
        return None, f"No probes: all images lie in the folder {names[0]}."
    if any(len(file.parts) == 1 for file in files):
        return None, "No probes: some images lie in no folder, which would be their class."
    if len(names) > len(files) / 2:
        return None, f"No probes: {len(names)} folders of {len(files)} images are no classes."
    return labels, f"Classes, by folder: {checkpoints.listed(names.tolist())}."


def _is_steady(net: nn.Module, images: Tensor, output: Float[Tensor, "image features"]) -> bool:
    """Tells if a network returns for two images alone what it returned for them among others."""
    alone, among = _checked(net, images[:2]), output[:2]
    return bool((alone - among).norm() <= NOISE * among.norm())


def _checked(net: nn.Module, images: Tensor) -> Float[Tensor, "image features"]:
    like = next((each for each in net.parameters() if each.is_floating_point()), images)
    try:
        output = net(images.to(like.device, like.dtype))
    except (Exception, SystemExit) as error:  # whatever a user's network raises
        raise RepriseError(
            f"the model fails on images of shape {list(images.shape)}: {type(error).__name__}: {words(error)}"
        ) from None
    if not isinstance(output, Tensor):
        raise RepriseError(
            f"the model returns a {type(output).__name__} for images of shape {list(images.shape)}; expected "
            "one tensor [image, features]: wrap it in a module that returns the representation"
        )
    if output.ndim == 4 and output.shape[2:] == (1, 1):  # pooled, as by nn.Sequential(*resnet.children())
        output = output.flatten(1)
    if output.ndim != 2 or len(output) != len(images):
        hint = {3: "; return one token, or their mean", 4: "; average it over pixels"}.get(output.ndim, "")
        raise RepriseError(
            f"the model returns shape {list(output.shape)} for images of shape {list(images.shape)}; "
            f"expected [{len(images)}, features]{hint}"
        )
    if output.is_complex():
        raise RepriseError(f"the model returns numbers of type {output.dtype}; expected real numbers")
    if bad := int((~output.isfinite()).any(1).sum()):
        raise RepriseError(
            f"the model returns NaN or infinity for {bad} of {len(images)} images; check its weights"
        )
    return output.float().cpu()


def _from_library(library: str, name: str) -> nn.Module:
    try:
        if library == "timm":
            import timm

            return timm.create_model(name, pretrained=False, num_classes=0)
        from torchvision import models

        net = models.get_model(name, weights=None)
    except ImportError:  # `naming_extras` says how to install it
        raise
    except Exception as error:  # unknown names, of which each library has its own
        raise RepriseError(f"{library}:{name}: {library} builds no such model: {words(error)}") from None
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
    try:
        inspect.signature(build).bind()
    except (TypeError, ValueError) as error:  # arguments are missing, or a built-in function does not say
        raise RepriseError(f"model '{name}': {error}; expected a function without arguments") from None
    with explained(file):
        net = build()
    if not isinstance(net, nn.Module):
        raise RepriseError(
            f"model '{name}': {function}() returns a {type(net).__name__}; expected a torch.nn.Module"
        )
    return net
