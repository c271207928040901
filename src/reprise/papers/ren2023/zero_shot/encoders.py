"""The frozen encoders: ResNet101 and RoBERTa from files, or two that we train to recognise a scene's shapes
and its colours, one from its image and one from a caption.

Each seed has two of ours. They are trained on other scenes than the heads, and on other labels than those
that zero-shot classification asks for, just as ImageNet and RoBERTa's corpus differ from MSCOCO. Each is
trained on its own modality only.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, UInt8
from numpy import ndarray as Array
from torch import Tensor, nn

from reprise.datasets.augment import normalised
from reprise.datasets.folders import Files
from reprise.datasets.imagenet import IMAGENET
from reprise.datasets.reading import chunks
from reprise.datasets.recipes import Normalisation
from reprise.datasets.shapes import SHAPES_10
from reprise.networks.encoders import RESNET10_W16
from reprise.papers.ren2023.zero_shot import pretrained, pretrained_files
from reprise.papers.ren2023.zero_shot.data import captioned, data_key
from reprise.papers.ren2023.zero_shot.experiment import Params
from reprise.papers.ren2023.zero_shot.features import cached_tensors, code_of
from reprise.papers.ren2023.zero_shot.presence import train_on_presence
from reprise.papers.ren2023.zero_shot.scenes import attributes
from reprise.papers.ren2023.zero_shot.words import Vocabulary, WordGRU
from reprise.storage.records import key_of

DIM = RESNET10_W16.dim
"""Number of features of both of our encoders, equal so that images and texts can be compared."""
SHORTER = 4
"""Factor by which the encoder of captions trains for fewer steps than that of images: captions name what an
image shows, and on held-out captions of a seed that no run has, nothing was left to learn after a quarter."""

Progress = Callable[[float], None]


class Encoder(NamedTuple):
    """An encoder that is loaded on demand.

    Attributes:
        key: key of everything that determines the encoder.
        load: reads or trains the encoder, which maps images or texts to features.
    """

    key: str
    load: Callable[[], Callable[[Any], Float[Tensor, "item features"]]]


def image_encoder(params: Params, root: Path, seed: int, progress: Progress = lambda share: None) -> Encoder:
    """A seed's encoder of images, given as bytes [image, 3, size, size]; ResNet101 is the same for each."""

    def using(load: Callable[[], nn.Module], normalisation: Normalisation) -> Callable[[], Callable]:
        def ready() -> Callable[[UInt8[Tensor, "image 3 size size"]], Tensor]:
            encoder = load().to(params.device)
            return lambda images: encoder(normalised(images.to(params.device), normalisation))

        return ready

    if params.encoders == "pretrained":
        file = Path(params.resnet101).expanduser()
        load = partial(pretrained.resnet101, file)
        return Encoder(pretrained_files.digest(file), using(load, IMAGENET.normalisation))
    key = _key(params, seed, "_trained_on_images")
    load = partial(_trained_on_images, params, root, seed, key, progress)
    return Encoder(key, using(load, SHAPES_10.normalisation))


def text_encoder(params: Params, root: Path, seed: int, progress: Progress = lambda share: None) -> Encoder:
    """A seed's encoder of texts; RoBERTa is the same for each."""
    if params.encoders == "pretrained":
        folder = Path(params.roberta).expanduser()
        key = key_of(pretrained_files.digest(*pretrained_files.roberta_files(folder)), params.pooling)
        return Encoder(key, lambda: pretrained.Roberta(folder, params.pooling).to(params.device))
    key = _key(params, seed, "_trained_on_captions")
    return Encoder(key, lambda: _trained_on_captions(params, root, seed, key, progress).to(params.device))


def require_weights(params: Params) -> None:
    """Loads the pretrained encoders, so that other weights stop a run before it encodes for hours; once a
    process, as all settings have the same.

    Raises:
        RepriseError: naming the file or folder, what is wrong with it, and what to do.
    """
    if params.encoders == "pretrained":
        places = (Path(place).expanduser().absolute() for place in (params.resnet101, params.roberta))
        _loaded_once(*places, params.pooling)


@cache
def _loaded_once(resnet101: Path, roberta: Path, pooling: pretrained.Pooling) -> None:
    pretrained.resnet101(resnet101)
    pretrained.Roberta(roberta, pooling)


def _key(params: Params, seed: int, function: str) -> str:
    training = seed, params.encoder_steps, params.encoder_learning_rate, params.encoder_batch
    settings = *training, params.encoder_precision, params.device
    return key_of(data_key(params, seed), *settings, code_of((__name__, function)))


def _trained_on_images(params: Params, root: Path, seed: int, key: str, progress: Progress) -> nn.Module:
    """A ResNet10 of width 16."""
    normalisation = SHAPES_10.normalisation

    def make() -> nn.Module:
        return RESNET10_W16.build(3).to(memory_format=torch.channels_last)  # one third faster on a CPU

    def train() -> dict[str, Tensor]:
        data = captioned(params, root, "pretrain", seed)
        images = torch.cat(list(chunks(Files(data.files, params.image_size), params.encoder_batch)))
        encoder = _train(
            params,
            seed,
            make,
            lambda index: normalised(images[index], normalisation),
            data.present,
            progress,
            precision=getattr(torch, params.encoder_precision),
        )
        return encoder.state_dict()

    return _load_state(make(), cached_tensors(root, "encoders", key, "ResNet10 of scenes", train).tensors)


class _Texts(nn.Module):
    """A GRU with its vocabulary, which maps texts to features."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary, self.gru = vocabulary, WordGRU(len(vocabulary), DIM)

    def forward(self, texts: Sequence[str]) -> Float[Tensor, "text features"]:
        return self.gru(self.vocabulary(texts).to(self.gru.embedding.weight.device))


def _trained_on_captions(params: Params, root: Path, seed: int, key: str, progress: Progress) -> nn.Module:
    """A GRU over the words of the pretraining captions."""
    data = captioned(params, root, "pretrain", seed)
    make = partial(_Texts, Vocabulary(data.captions))

    def train() -> dict[str, Tensor]:
        present = data.present[data.owner]
        return _train(
            params,
            seed,
            make,
            lambda index: [data.captions[row] for row in index.tolist()],
            present,
            progress,
            shorter=SHORTER,
        ).state_dict()

    return _load_state(make(), cached_tensors(root, "encoders", key, "GRU of captions", train).tensors)


def _train(
    params: Params,
    seed: int,
    make: Callable[[], nn.Module],
    inputs: Callable,
    present: Bool[Array, "item category"],
    progress: Progress,
    *,
    shorter: int = 1,
    precision: torch.dtype = torch.float32,
) -> nn.Module:
    return train_on_presence(
        make, DIM, inputs, torch.from_numpy(attributes(present)),
        steps=-(-params.encoder_steps // shorter), batch=params.encoder_batch,
        learning_rate=params.encoder_learning_rate, seed=seed, progress=progress, precision=precision,
    )  # fmt: skip


def _load_state(encoder: nn.Module, state: dict[str, Tensor]) -> nn.Module:
    encoder.load_state_dict(state)
    return encoder.eval().requires_grad_(False)
