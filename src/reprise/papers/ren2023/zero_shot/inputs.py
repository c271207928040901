"""The heads' training and test data: features of frozen encoders, computed once and kept."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from reprise.datasets.folders import Files
from reprise.datasets.reading import chunks
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot.coco import Captioned
from reprise.papers.ren2023.zero_shot.data import captioned, data_key
from reprise.papers.ren2023.zero_shot.encoders import Encoder, Progress, image_encoder, text_encoder
from reprise.papers.ren2023.zero_shot.experiment import SPLITS, Params
from reprise.papers.ren2023.zero_shot.features import code_of, features
from reprise.storage.records import key_of

CHUNK = 256
"""Images or texts encoded at once."""


class Inputs(NamedTuple):
    """Features and labels for training and testing the heads.

    Attributes:
        images: features of each training image.
        texts: features of each training caption, grouped by image.
        first, captions: index of each image's first caption, and its number of captions.
        present: categories present in each training image.
        test_images, test_present: features and categories of each test image that shows an object.
        test_texts: features of these images' first captions.
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


def read(params: Params, root: Path, seed: int) -> Inputs:
    """Reads a seed's inputs, computing the features that are not yet kept under `root`.

    Raises:
        RepriseError: if the splits' categories differ, or if no test image shows an object.
    """
    train, val = (captioned(params, root, split, seed) for split in SPLITS)
    first, has_object = torch.from_numpy(train.first), torch.from_numpy(val.present).any(1)
    if train.categories != val.categories or not has_object.any():
        raise RepriseError(
            f"data set '{params.data_set}': {len(train.categories)} categories to train on, "
            f"{len(val.categories)} in {int(has_object.sum())} images to test with; expected the same "
            "categories, and test images; unpack the annotations again"
        )
    return Inputs(
        images=image_features(params, root, seed, train, "training images"),
        texts=text_features(params, root, seed, train.captions, "training captions"),
        first=first,
        captions=torch.diff(first, append=torch.tensor([len(train.captions)])),
        present=torch.from_numpy(train.present),
        test_images=image_features(params, root, seed, val, "test images")[has_object],
        test_texts=text_features(params, root, seed, first_captions(val), "test captions")[has_object],
        test_present=torch.from_numpy(val.present)[has_object],
        prompts=text_features(params, root, seed, prompts(params, val), "prompts"),
    )


def first_captions(data: Captioned) -> list[str]:
    """The first caption of each image."""
    return [data.captions[number] for number in data.first]


def prompts(params: Params, data: Captioned) -> list[str]:
    """A prompt for each category."""
    return [params.prompt.format(name) for name in data.categories]


def image_features(
    params: Params, root: Path, seed: int, data: Captioned, what: str, progress: Progress = lambda share: None
) -> Float[Tensor, "image features"]:
    """Features of the images of a split of a seed's data.

    An image is identified by its file's name and size, so that kept features are found without reading it.

    Args:
        what: description of the images, for messages.
    """
    files = Files(data.files, params.image_size)
    training, encoding = portions(progress, 2)
    encoder = image_encoder(params, root, seed, training)
    names = [f"{file.name} {file.stat().st_size}" for file in data.files]
    code = code_of((__name__, "image_features"))
    key = key_of(encoder.key, data_key(params, seed), params.image_size, params.device, code)
    encode = _encode(encoder, lambda rows: chunks(files, CHUNK, rows), len(files), encoding)
    return features(root, key, names, encode, what)


def text_features(
    params: Params,
    root: Path,
    seed: int,
    texts: Sequence[str],
    what: str,
    progress: Progress = lambda share: None,
) -> Float[Tensor, "text features"]:
    """Features of texts by a seed's encoder; `what` describes the texts in messages."""
    training, encoding = portions(progress, 2)
    encoder = text_encoder(params, root, seed, training)
    key = key_of(encoder.key, params.device, code_of((__name__, "text_features")))

    def parts(rows: range) -> Iterable[Sequence[str]]:
        return (texts[start : min(start + CHUNK, rows.stop)] for start in rows[::CHUNK])

    return features(root, key, texts, _encode(encoder, parts, len(texts), encoding), what)


def portions(progress: Progress, count: int) -> list[Progress]:
    """Functions that report the share done of each of `count` equal portions of some work."""

    def portion(earlier: int) -> Progress:
        return lambda share: progress((earlier + share) / count)

    return [portion(earlier) for earlier in range(count)]


def _encode(
    encoder: Encoder, parts: Callable[[range], Iterable[Any]], items: int, progress: Progress
) -> Callable[[range], Tensor]:
    """A function from indices of items to their features, which loads the encoder when first called.

    Args:
        parts: the items with these indices, as many at a time as are encoded at once.
        items: number of all items, of which progress is reported.
    """
    loaded: list[Callable[[Any], Tensor]] = []

    def encode(rows: range) -> Tensor:
        if not loaded:
            loaded.append(encoder.load())
        encoded: list[Tensor] = []
        done = rows.start
        with torch.no_grad():
            for part in parts(rows):
                encoded.append(loaded[0](part).cpu())
                done += len(part)
                progress(done / items)
        return torch.cat(encoded)

    return encode
