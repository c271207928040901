"""What the heads are trained on and tested with: features of frozen encoders, computed once and kept."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from reprise.datasets.folders import Files
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot.coco import Captioned
from reprise.papers.ren2023.zero_shot.data import captioned, data_key
from reprise.papers.ren2023.zero_shot.encoders import Encoder, Told, image_encoder, text_encoder
from reprise.papers.ren2023.zero_shot.params import Params
from reprise.storage.features import code_of, features
from reprise.storage.store import key_of

CHUNK = 256
"""Images or texts that are encoded at a time."""


class Inputs(NamedTuple):
    """Attributes:
    images: features of each training image.
    texts: of each caption, image by image.
    first, captions: the number of each image's first caption, and how many it has.
    present: of each training image.
    test_images, test_texts, test_present: of images with an object at least, and of their first captions.
    prompts: features of each category's prompt.
    """

    images: Float[Tensor, "image features"]
    texts: Float[Tensor, "caption features"]
    first: Int[Tensor, " image"]
    captions: Int[Tensor, " image"]
    present: Bool[Tensor, "image category"]
    test_images: Float[Tensor, "test features"]
    test_texts: Float[Tensor, "test features"]
    test_present: Bool[Tensor, "test category"]
    prompts: Float[Tensor, "category features"]


def read(params: Params, root: Path) -> Inputs:
    """All of it; features that the disk under `root` does not hold are computed.

    Raises:
        RepriseError: when the splits have other categories, or no test image shows an object.
    """
    train, val = captioned(params, root, "train"), captioned(params, root, "val")
    first, shown = torch.from_numpy(train.first), torch.from_numpy(val.present).any(1)
    if train.categories != val.categories or not shown.any():
        raise RepriseError(
            f"data set '{params.data_set}': {len(train.categories)} categories to train on, "
            f"{len(val.categories)} in {int(shown.sum())} images to test with; expected the same ones, "
            "and images; unpack the annotations again"
        )
    return Inputs(
        images=image_features(params, root, train, "training images"),
        texts=text_features(params, root, train.captions, "training captions"),
        first=first,
        captions=torch.diff(first, append=torch.tensor([len(train.captions)])),
        present=torch.from_numpy(train.present),
        test_images=image_features(params, root, val, "test images")[shown],
        test_texts=text_features(params, root, first_captions(val), "test captions")[shown],
        test_present=torch.from_numpy(val.present)[shown],
        prompts=text_features(params, root, prompts(params, val), "prompts"),
    )


def first_captions(data: Captioned) -> list[str]:
    """One of each image."""
    return [data.captions[number] for number in data.first]


def prompts(params: Params, data: Captioned) -> list[str]:
    """One of each category."""
    return [params.prompt.format(name) for name in data.categories]


def image_features(
    params: Params, root: Path, data: Captioned, what: str, told: Told = lambda share: None
) -> Float[Tensor, "image features"]:
    """Of a split's images; an image is known by its file's name and size, and not read to look for it.

    Args:
        what: the images are, for a message.
    """
    files = Files(data.files, params.image_size)
    encoder = image_encoder(params, root, told)
    names = [f"{file.name} {file.stat().st_size}" for file in data.files]
    code = code_of((__name__, "image_features"))
    key = key_of(encoder.key, data_key(params), params.image_size, params.device, code)
    return features(root, key, names, _encode(encoder, lambda rows: files[torch.tensor(rows)]), what)


def text_features(
    params: Params, root: Path, texts: Sequence[str], what: str, told: Told = lambda share: None
) -> Float[Tensor, "text features"]:
    """Of texts; `what` they are, for a message."""
    encoder = text_encoder(params, root, told)
    key = key_of(encoder.key, params.device, code_of((__name__, "text_features")))
    take = _encode(encoder, lambda rows: texts[rows.start : rows.stop])
    return features(root, key, texts, take, what)


def _encode(encoder: Encoder, items: Callable[[range], Any]) -> Callable[[range], Tensor]:
    """From numbers of items to their features; the encoder is loaded at the first call."""
    ready: list[Callable[[Any], Tensor]] = []

    def encode(rows: range) -> Tensor:
        if not ready:
            ready.append(encoder.load())
        chunks = [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]
        with torch.no_grad():
            return torch.cat([ready[0](items(chunk)).cpu() for chunk in chunks])

    return encode
