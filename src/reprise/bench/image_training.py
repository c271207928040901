"""Training on images: SimCLR's whole step, from bytes to weights, beside that of the bare network."""

import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from reprise.bench.timing import in_turns
from reprise.datasets import shapes
from reprise.datasets.augment import Views
from reprise.datasets.recipes import NORMALISATIONS, RECIPES
from reprise.networks.encoders import RESNET10_W16, Conv4, Encoder, ResNet
from reprise.networks.projectors import MLP
from reprise.numerics.streams import generator
from reprise.training.images import Data, assemble, train
from reprise.training.optimisers import SGD
from reprise.training.spec import Spec

NETS: dict[str, Encoder] = {
    "Conv4": Conv4(),
    "ResNet10-w16": RESNET10_W16,
    "ResNet18-w16": ResNet(width=16, stem="stride2"),
}
ON_A_GPU: dict[str, Encoder] = {"ResNet18": ResNet(stem="cifar")}
CASES = (
    ("Conv4", "simclr_cifar"),
    ("ResNet10-w16", "simclr_cifar"),
    ("ResNet18-w16", "simclr_cifar"),
    ("ResNet10-w16", "directclr"),  # with blur
)
"""Encoder and recipe of augmentation."""
BATCH, IMAGES, STEPS = 256, 1024, 8


def measure() -> pd.DataFrame:
    """Images of 32 pixels a second, each with two views: of the training, from bytes on, with a trace of the
    embeddings' spectrum every 8 steps; of forward pass, loss, backward pass and optimiser alone, on views
    that are there; and the share of the step that is spent outside these.

    On the CPU, CPU time of one thread. On a GPU, wall time, of a larger net too, in bfloat16.
    """
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cases = [(name, NETS[name], augmentation) for name, augmentation in CASES]
    if device == "cuda":
        cases += [(name, encoder, "simclr_cifar") for name, encoder in ON_A_GPU.items()]
    data, rows = _data(), []
    for name, encoder, augmentation in cases:
        spec = _spec(encoder, augmentation, device)
        train_whole, train_bare = (
            partial(train_steps, spec, data, device),
            BareNetwork(spec, data, device).steps,
        )
        whole, bare = in_turns([train_whole, train_bare], device, rounds=3)
        rows.append(
            {
                "device": device,
                "net": name,
                "augmentation": augmentation,
                "images_per_s": STEPS * BATCH / whole,
                "bare_images_per_s": STEPS * BATCH / bare,
                "whole_over_bare": whole / bare,
                "share_outside": 1 - bare / whole,
            }
        )
    return pd.DataFrame(rows)


def train_steps(spec: Spec, data: Data, device: str) -> None:
    """What an experiment runs."""
    with tempfile.TemporaryDirectory() as folder:
        train(spec, data, Path(folder), device=device)


class BareNetwork:
    """The same method and optimiser on the views of one minibatch."""

    def __init__(self, spec: Spec, data: Data, device: str) -> None:
        self.method = assemble(spec, data.channels).to(device).to(memory_format=torch.channels_last)
        self.optimiser = spec.optimiser.build(self.method.parameters())
        views = Views(spec.augmentation, spec.normalisation)
        made = views(data.images[torch.arange(BATCH)], generator(0, "bench")).to(device)
        self.views: Tensor = torch.stack(
            [view.contiguous(memory_format=torch.channels_last) for view in made]
        )

    def steps(self) -> None:
        """As many as a training's."""
        for step in range(STEPS):
            loss = self.method(self.views, step).loss
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()


def _spec(encoder: Encoder, augmentation: str, device: str) -> Spec:
    return Spec(
        objective="nt_xent",
        augmentation=RECIPES[augmentation],
        normalisation=NORMALISATIONS["shapes"],
        encoder=encoder,
        projector=MLP(dims=(256, 128)),
        optimiser=SGD(learning_rate=0.01),
        batch=BATCH,
        steps=STEPS,
        precision="bfloat16" if device == "cuda" else "float32",
        trace_every=STEPS,
    )


def _data() -> Data:
    drawn = shapes.render(IMAGES, seed=0)
    images, labels = torch.from_numpy(drawn.images), torch.from_numpy(drawn.shape)
    return Data(images, labels, images[:BATCH], labels[:BATCH])
