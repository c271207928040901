"""Image training: SimCLR's whole step, from bytes to weights, compared with the network alone."""

import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import torch
from PIL.Image import Image
from torch import Tensor
from torch.utils.data import DataLoader
from torchvision.transforms.functional import to_pil_image

from reprise.bench.loops import Loop, product_speed
from reprise.bench.timing import in_turns
from reprise.datasets import shapes
from reprise.datasets.augment import Views
from reprise.datasets.recipes import RECIPES
from reprise.networks.encoders import RESNET10_W16, Conv4, Encoder, ResNet
from reprise.networks.projectors import MLP
from reprise.numerics.streams import generator
from reprise.training.costs import PASSES
from reprise.training.images import Data, assemble, train
from reprise.training.objective import Contrastive
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
SIDE = 32
"""Pixels a side of an image."""
HIDDEN, OUT = 256, 128
"""Dimensions of the projector."""


def measure() -> list[Loop]:
    """A training on images of 32 pixels with two views each, from bytes to weights, with a trace of the
    embeddings' spectrum every 8 steps, per image.

    The floor has the network's operations at the speed of a large product. Anchors are the network alone, on
    ready-made views, and, where lightly is installed, a loop as in its example of SimCLR. The CPU is timed by
    the CPU time of one thread, a GPU by wall time, in bfloat16 and with a larger net too.
    """
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cases = [(name, NETS[name], augmentation) for name, augmentation in CASES]
    if device == "cuda":
        cases += [(name, encoder, "simclr_cifar") for name, encoder in ON_A_GPU.items()]
    data, loops = _data(), []
    for name, encoder, augmentation in cases:
        spec = _spec(encoder, augmentation, device)
        works: dict[str, Callable[[], None]] = {
            "whole": partial(train_steps, spec, data, device),
            "network alone": BareNetwork(spec, data, device).steps,
        }
        if device == "cpu" and augmentation == "simclr_cifar" and find_spec("lightly"):
            works["lightly's example"] = LightlysExample(spec, data).steps
        whole, *others = (
            seconds / STEPS / BATCH for seconds in in_turns([*works.values()], device, rounds=3)
        )
        loops.append(
            Loop(
                f"images: {name}, {augmentation}",
                "image of two views",
                whole,
                _flops(spec, data) / product_speed(spec.precision, device),
                "operations",
                dict(zip([*works][1:], others, strict=True)),
            )
        )
    return loops


def _flops(spec: Spec, data: Data) -> float:
    """Operations that training takes per image of two views."""
    forward = spec.encoder.work(data.channels, SIDE).flops
    return 2 * PASSES * (forward + spec.projector.flops(spec.encoder.dim))


def train_steps(spec: Spec, data: Data, device: str) -> None:
    """Trains as an experiment does, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        train(spec, data, Path(folder), device=device)


class BareNetwork:
    """Method and optimiser of an experiment, always on the same minibatch of ready-made views."""

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


class LightlysExample:
    """Encoder of an experiment in a loop as in lightly's example of SimCLR: pictures, transformed one by one
    by a `DataLoader`, lightly's projection head and its loss."""

    def __init__(self, spec: Spec, data: Data) -> None:
        from lightly.loss import NTXentLoss
        from lightly.models.modules import SimCLRProjectionHead
        from lightly.transforms import SimCLRTransform

        self.backbone = spec.encoder.build(data.channels)
        self.head = SimCLRProjectionHead(spec.encoder.dim, HIDDEN, OUT)
        self.criterion = NTXentLoss()
        weights = [*self.backbone.parameters(), *self.head.parameters()]
        self.optimiser = spec.optimiser.build(weights)
        transform = SimCLRTransform(input_size=SIDE, gaussian_blur=0.0)
        pictures = [to_pil_image(image) for image in data.images[torch.arange(BATCH)]]
        self.loader = DataLoader(pictures, batch_size=BATCH, collate_fn=partial(_views, transform))

    def steps(self) -> None:
        """Runs as many steps as `train_steps`, each an epoch of one batch."""
        for _ in range(STEPS):
            for views in self.loader:
                loss = self.criterion(*(self.head(self.backbone(view)) for view in views))
                loss.backward()
                self.optimiser.step()
                self.optimiser.zero_grad()


def _views(transform: Callable[[Image], list[Tensor]], pictures: list[Image]) -> list[Tensor]:
    """Two batches of views."""
    return [torch.stack(views) for views in zip(*map(transform, pictures), strict=True)]


def _spec(encoder: Encoder, augmentation: str, device: str) -> Spec:
    return Spec(
        objective=Contrastive(kind="nt_xent"),
        augmentation=RECIPES[augmentation],
        normalisation=shapes.SHAPES_10.normalisation,
        encoder=encoder,
        projector=MLP(dims=(HIDDEN, OUT)),
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
