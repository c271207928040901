"""The frozen encoders: ResNet101 and RoBERTa from files, or two that we train to say which objects a scene
holds, from its image and from a caption.

These two see other scenes than the heads do, as ImageNet and RoBERTa's corpus are other data than MSCOCO.
Each is an encoder of one modality: nothing tells it what the other one makes of a scene.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from reprise.datasets.augment import normalised
from reprise.datasets.folders import Files
from reprise.datasets.recipes import NORMALISATIONS, Normalisation
from reprise.networks.encoders import RESNET10_W16
from reprise.papers.ren2023.zero_shot import pretrained, pretrained_files
from reprise.papers.ren2023.zero_shot.data import captioned, data_key
from reprise.papers.ren2023.zero_shot.params import Params
from reprise.papers.ren2023.zero_shot.presence import train_on_presence
from reprise.papers.ren2023.zero_shot.words import Vocabulary, WordGRU
from reprise.storage.features import code_of, kept_tensors
from reprise.storage.store import key_of

DIM = RESNET10_W16.dim
"""Features of either of our encoders: as many of texts as of images, so that they can be compared."""
SEED = 0
"""Of their weights and batches: the heads' seeds share them, as they share ResNet101."""
BATCH, LEARNING_RATE = 128, 3e-3

Told = Callable[[float], None]


class Encoder(NamedTuple):
    """Attributes:
    key: of all that determines it.
    load: reads it, or trains it; from some images or texts to their features.
    """

    key: str
    load: Callable[[], Callable[[Any], Float[Tensor, "item features"]]]


def image_encoder(params: Params, root: Path, told: Told = lambda share: None) -> Encoder:
    """Of images as bytes [image, 3, size, size]."""

    def using(load: Callable[[], nn.Module], normalisation: Normalisation) -> Callable[[], Callable]:
        def ready() -> Callable[[UInt8[Tensor, "image 3 size size"]], Tensor]:
            encoder = load().to(params.device)
            return lambda images: encoder(normalised(images.to(params.device), normalisation))

        return ready

    if params.encoders == "pretrained":
        file = Path(params.resnet101).expanduser()
        load = partial(pretrained.resnet101, file)
        return Encoder(pretrained_files.digest(file), using(load, NORMALISATIONS["imagenet"]))
    key = _key(params, "_trained_on_images")
    load = partial(_trained_on_images, params, root, key, told)
    return Encoder(key, using(load, NORMALISATIONS["shapes"]))


def text_encoder(params: Params, root: Path, told: Told = lambda share: None) -> Encoder:
    """Of texts."""
    if params.encoders == "pretrained":
        folder = Path(params.roberta).expanduser()
        key = key_of(pretrained_files.digest(folder), params.pooling)
        return Encoder(key, lambda: pretrained.Roberta(folder, params.pooling).to(params.device))
    key = _key(params, "_trained_on_captions")
    return Encoder(key, lambda: _trained_on_captions(params, root, key, told).to(params.device))


def _key(params: Params, made_by: str) -> str:
    return key_of(data_key(params), params.encoder_steps, params.device, code_of((__name__, made_by)))


def _trained_on_images(params: Params, root: Path, key: str, told: Told) -> nn.Module:
    """ResNet10 of width 16."""
    normalisation = NORMALISATIONS["shapes"]

    def make() -> nn.Module:
        return RESNET10_W16.build(3).to(memory_format=torch.channels_last)  # a third less time on a CPU

    def train() -> dict[str, Tensor]:
        data = captioned(params, root, "pretrain")
        images = Files(data.files, params.image_size)[torch.arange(len(data.files))]
        present = torch.from_numpy(data.present)
        encoder = _train(params, make, lambda index: normalised(images[index], normalisation), present, told)
        return encoder.state_dict()

    return _loaded(make(), kept_tensors(root, "encoders", key, "ResNet10 of scenes", train).tensors)


class _Texts(nn.Module):
    """A GRU with its vocabulary: texts to features."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary, self.gru = vocabulary, WordGRU(len(vocabulary), DIM)

    def forward(self, texts: Sequence[str]) -> Float[Tensor, "text features"]:
        return self.gru(self.vocabulary(texts).to(self.gru.embedding.weight.device))


def _trained_on_captions(params: Params, root: Path, key: str, told: Told) -> nn.Module:
    """A GRU over the words of those captions."""
    data = captioned(params, root, "pretrain")
    make = partial(_Texts, Vocabulary(data.captions))

    def train() -> dict[str, Tensor]:
        present = torch.from_numpy(data.present[data.owner])
        return _train(
            params, make, lambda index: [data.captions[row] for row in index.tolist()], present, told
        ).state_dict()

    return _loaded(make(), kept_tensors(root, "encoders", key, "GRU of captions", train).tensors)


def _train(
    params: Params, make: Callable[[], nn.Module], inputs: Callable, present: Tensor, told: Told
) -> nn.Module:
    return train_on_presence(
        make, DIM, inputs, present,
        steps=params.encoder_steps, batch=BATCH, learning_rate=LEARNING_RATE, seed=SEED, progress=told,
    )  # fmt: skip


def _loaded(encoder: nn.Module, state: dict[str, Tensor]) -> nn.Module:
    encoder.load_state_dict(state)
    return encoder.eval().requires_grad_(False)
