"""The heads, three layers on each encoder's features, and their training.

Source: Ren and Li 2023, "On the Importance of Contrastive Loss in Multimodal Learning", Section 6; no public
code was found.
"""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.optim.swa_utils import update_bn

from reprise.networks.projectors import MLP
from reprise.numerics.streams import generator
from reprise.objectives import infonce_dot, resolve
from reprise.papers.ren2023.zero_shot.experiment import LOSSES, Params
from reprise.papers.ren2023.zero_shot.inputs import Inputs
from reprise.training.descent import AdamW

Embeddings = Float[Tensor, "sample dim"]
Loss = Callable[[Embeddings, Embeddings], Float[Tensor, ""]]
Numbers = Int[Tensor, " pair"]

STATISTICS_BATCH = 4096
"""Largest number of pairs per batch when BatchNorm's statistics are computed."""


class Head(nn.Module):
    """Three layers with BatchNorm and ReLU between them, and a normalisation of the outputs.

    `normalisation` is `batch`, a BatchNorm without weights that gives a mean square length of 1 (Ren 2023,
    Eq. 2), or `unit`, which scales every output to length 1.
    """

    def __init__(self, inputs: int, width: int, normalisation: str) -> None:
        super().__init__()
        batch = normalisation == "batch"  # BatchNorm would cancel a bias
        self.layers = MLP(dims=(width, width, width), last_bias=not batch).build(inputs)
        self.last = nn.BatchNorm1d(width, affine=False) if batch else None

    def forward(self, features: Float[Tensor, "sample features"]) -> Embeddings:
        outputs = self.layers(features)
        if self.last is None:
            return normalize(outputs)
        return self.last(outputs) / outputs.shape[1] ** 0.5


class Heads(nn.Module):
    """The head for images and the head for texts."""

    def __init__(self, images: int, texts: int, params: Params) -> None:
        super().__init__()
        self.image = Head(images, params.width, params.normalisation)
        self.text = Head(texts, params.width, params.normalisation)

    def forward(self, pairs: tuple[Tensor, Tensor]) -> tuple[Embeddings, Embeddings]:
        return self.image(pairs[0]), self.text(pairs[1])


def contrastive(f_a: Embeddings, f_b: Embeddings, *, tau2: float) -> Float[Tensor, ""]:
    """Contrastive loss on a batch, with K = batch - 1: -E log S_A - E log S_B (Ren 2023, Eq. 3)."""
    return infonce_dot(f_a, f_b, temperature=1 / tau2) + infonce_dot(f_b, f_a, temperature=1 / tau2)


def non_contrastive(f_a: Embeddings, f_b: Embeddings) -> Float[Tensor, ""]:
    """Non-contrastive loss on a batch: -E<f_A, f_B> over positive pairs (Ren 2023, Eq. 4)."""
    return -(f_a * f_b).sum(-1).mean()


def published_losses(params: Params) -> dict[str, Loss]:
    """The losses of `LOSSES`. Eq. 3's gradient is not rescaled by 1/τ², which makes no difference to Adam."""
    losses: tuple[Loss, Loss] = partial(contrastive, tau2=params.inverse_temperature), non_contrastive
    return dict(zip(LOSSES, losses, strict=True))


def pairs(inputs: Inputs, batch: int, seed: int) -> Iterator[tuple[Numbers, Numbers]]:
    """Yields batches of image indices, in a new random order each pass, with the index of a random caption of
    each.

    The images of a pass that do not fill a batch are skipped.
    """
    random = generator(seed, "pairs")
    while True:
        order = torch.randperm(len(inputs.images), generator=random)
        for image in order[: len(order) // batch * batch].split(batch):
            offset = torch.rand(batch, generator=random) * inputs.captions[image]
            yield image, inputs.first[image] + offset.long()


def trained(
    params: Params, inputs: Inputs, seed: int, looks: Sequence[int], objective: str | None = None
) -> Iterator[tuple[int, dict[str, Heads], dict[str, float]]]:
    """Trains a pair of heads with each loss, from the same initial weights and on the same pairs.

    Args:
        looks: steps to report, ascending from 0; training ends at the last one.
        objective: a loss of `objectives.resolve` to train by instead of the published ones.

    Yields: At each look: the step, the heads in evaluation mode, with BatchNorm statistics of all training
    pairs, and the mean loss since the previous look, NaN at the start.
    """
    device = params.device
    images, texts = inputs.images.to(device), inputs.texts.to(device)
    with torch.random.fork_rng():
        torch.manual_seed(generator(seed, "heads").initial_seed())
        start = Heads(images.shape[1], texts.shape[1], params).to(device)
    functions = {objective: resolve(objective)} if objective else published_losses(params)
    runs = {name: _Run(copy.deepcopy(start), loss, params.learning_rate) for name, loss in functions.items()}
    chunks = torch.arange(len(images)).tensor_split(-(-len(images) // STATISTICS_BATCH))
    batches, steps_done = pairs(inputs, params.batch_size, seed), 0
    for look in looks:
        losses: dict[str, list[Tensor]] = {loss: [] for loss in runs}
        for image, text in islice(batches, look - steps_done):
            batch = images[image.to(device)], texts[text.to(device)]
            for loss, run in runs.items():
                losses[loss].append(run.step(batch))
        for run in runs.values():
            update_bn((((images[chunk], texts[inputs.first[chunk]]),) for chunk in chunks), run.heads)
            run.heads.eval()
        means = {
            loss: float(torch.stack(values).mean()) if values else math.nan for loss, values in losses.items()
        }
        yield look, {loss: run.heads for loss, run in runs.items()}, means
        steps_done = look


class _Run:
    """A pair of heads with its loss and optimiser."""

    def __init__(self, heads: Heads, loss: Loss, learning_rate: float) -> None:
        self.heads, self.loss = heads, loss
        # Without weight decay, AdamW is Adam.
        self.optimiser = AdamW(heads.parameters(), learning_rate, weight_decay=0.0)

    def step(self, batch: tuple[Tensor, Tensor]) -> Float[Tensor, ""]:
        """Takes a step and returns the loss before it."""
        self.heads.train()
        loss = self.loss(*self.heads(batch))
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.detach()
