"""Benchmark of Figure 2: one tanh hidden layer whose weights are projected after each step."""

from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from reprise.bench.loops import Loop
from reprise.bench.timing import seconds
from reprise.networks.dense import Weights
from reprise.numerics.streams import Streams
from reprise.papers.esser2024.half_moons import draw
from reprise.papers.esser2024.hidden_layer import outputs
from reprise.papers.esser2024.projection import polar
from reprise.training.replicas import sgd

WIDTHS = (10, 100, 2000)
REPLICAS, SAMPLES = 10, 50
STEPS, PLAIN_STEPS = 40, 5
LEARNING_RATE = 0.01


def measure() -> list[Loop]:
    """A replica's epoch in the engine, by width, beside a plain loop over replicas. The floor is the tanh of
    the hidden layer alone, on numbers in the cache."""
    torch.set_num_threads(1)
    tanh_seconds = _tanh_seconds()
    return [
        Loop(
            f"esser2024: projected hidden layer, width {width}",
            "epoch of a replica",
            seconds(partial(_engine, width)) / STEPS / REPLICAS,
            3 * SAMPLES * width * tanh_seconds,
            "tanh",
            {"plain loop": seconds(partial(_plain, width)) / PLAIN_STEPS / REPLICAS},
        )
        for width in WIDTHS
    ]


def contrastive(u: Float[Tensor, "*replica sample z"]) -> Float[Tensor, "*replica"]:
    """The mean form of Eq. 1, for the concatenated outputs of anchors, positives and negatives."""
    anchor, positive, negative = u.split(SAMPLES, -2)
    return (anchor * (negative - positive)).sum(-1).mean(-1)


def engine_steps(width: int) -> list[Tensor]:
    """Trains all replicas at once for `STEPS` epochs and returns their weights."""
    x, start = _data(), _start(width)
    descent = sgd(
        start, partial(_loss, x), learning_rate=LEARNING_RATE, steps=STEPS, checkpoints={STEPS}, project=polar
    )
    ((_, weights),) = descent
    return list(weights)


def plain_steps(width: int) -> list[Tensor]:
    """Trains one replica after the other for `PLAIN_STEPS` epochs, with modules, autograd and torch.optim."""
    final_weights = []
    for x, *start in zip(_data(), *_start(width), strict=True):
        layers = [nn.Linear(2, width, bias=False), nn.Linear(width, 1, bias=False)]
        net = nn.Sequential(layers[0], nn.Tanh(), layers[1]).double()
        with torch.no_grad():
            layers[0].weight.copy_(start[0])
            layers[1].weight.copy_(start[1].T)
        optimiser = torch.optim.SGD(net.parameters(), lr=LEARNING_RATE)
        for _ in range(PLAIN_STEPS):
            loss = contrastive(net(x))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                for layer in layers:
                    u, _, vt = torch.linalg.svd(layer.weight, full_matrices=False)
                    layer.weight.copy_(u @ vt)
        final_weights.append([layers[0].weight.detach(), layers[1].weight.detach().T])
    return [torch.stack(layer) for layer in zip(*final_weights, strict=True)]


def _engine(width: int) -> None:
    engine_steps(width)


def _plain(width: int) -> None:
    plain_steps(width)


def _loss(x: Tensor, weights: Weights) -> Tensor:
    return contrastive(outputs(weights[0], weights[1], x, "tanh"))


def _data() -> Float[Tensor, "replica 3*sample 2"]:
    data = draw(range(REPLICAS), samples=SAMPLES, noise=0.1, positive_variance=0.1)
    return torch.cat([data.anchor, data.positive, data.negative], 1)


def _start(width: int) -> list[Tensor]:
    streams = Streams(range(REPLICAS), "bench")
    return [polar(streams.normal(width, columns).double()) for columns in (2, 1)]


def _tanh_seconds() -> float:
    numbers = np.linspace(-0.1, 0.1, 30_000)
    output = np.empty_like(numbers)
    repeats = 100

    def work() -> None:
        for _ in range(repeats):
            np.tanh(numbers, out=output)

    return seconds(work) / repeats / len(numbers)
