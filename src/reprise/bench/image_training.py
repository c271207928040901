"""Image training: SimCLR's whole step, from bytes to weights, compared with the network alone."""

import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from reprise.bench.timing import in_turns
from reprise.datasets import shapes
from reprise.datasets.augment import Views
from reprise.datasets.recipes import RECIPES
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
"""Encoder and augmentation recipe of each case."""
BATCH, IMAGES, STEPS = 256, 1024, 8


def measure() -> pd.DataFrame:
    """Measures throughput on images of 32 pixels, with two views each.

    `images_per_s` is for training from bytes, with a trace of the embeddings' spectrum every 8 steps;
    `bare_images_per_s` for forward pass, loss, backward pass and optimiser alone, on ready-made views;
    `share_outside` is the share of a step spent outside those. The CPU is timed by the CPU time of one
    thread, a GPU by wall time, in bfloat16 and with a larger net too.
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
        whole_seconds, bare_seconds = in_turns([train_whole, train_bare], device, rounds=3)
        rows.append(
            {
                "device": device,
                "net": name,
                "augmentation": augmentation,
                "images_per_s": STEPS * BATCH / whole_seconds,
                "bare_images_per_s": STEPS * BATCH / bare_seconds,
                "whole_over_bare": whole_seconds / bare_seconds,
                "share_outside": 1 - bare_seconds / whole_seconds,
            }
        )
    return pd.DataFrame(rows)


def train_steps(spec: Spec, data: Data, device: str) -> None:
    """Trains as an experiment does, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        train(spec, data, Path(folder), device=device)


class BareNetwork:
    """The same method and optimiser, always on the same minibatch of ready-made views."""

    def __init__(self, spec: Spec, data: Data, device: str) -> None:
        self.method = assemble(spec, data.channels).to(device).to(memory_format=torch.channels_last)
        self.optimiser = spec.optimiser.build(self.method.parameters())
        views = Views(spec.augmentation, spec.normalisation)
        batch_views = views(data.images[torch.arange(BATCH)], generator(0, "bench")).to(device)
        self.views: Tensor = torch.stack(
            [view.contiguous(memory_format=torch.channels_last) for view in batch_views]
        )

    def steps(self) -> None:
        """Runs as many steps as `train_steps`."""
        for step in range(STEPS):
            loss = self.method(self.views, step).loss
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()


def _spec(encoder: Encoder, augmentation: str, device: str) -> Spec:
    return Spec(
        objective="nt_xent",
        augmentation=RECIPES[augmentation],
        normalisation=shapes.SHAPES_10.normalisation,
        encoder=encoder,
        projector=MLP(dims=(256, 128)),
        optimiser=SGD(learning_rate=0.01),
        batch=BATCH,
        steps=STEPS,
        precision="bfloat16" if device == "cuda" else "float32",
        trace_every=STEPS,
    )


def _data() -> Data:
    dataset = shapes.render(IMAGES, seed=0)
    images, labels = torch.from_numpy(dataset.images), torch.from_numpy(dataset.shape)
    return Data(images, labels, images[:BATCH], labels[:BATCH])
