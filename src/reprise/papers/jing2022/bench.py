"""Section 5 of Jing et al. 2022: two linear layers of 16x16."""

from functools import partial

import torch
from torch import Tensor, nn

from reprise.bench.loops import Loop, product_speed
from reprise.bench.timing import seconds
from reprise.networks.dense import Weights, product, random_orthogonal
from reprise.numerics.streams import Streams
from reprise.objectives import infonce_distance
from reprise.training.replicas import sgd

DIM, BATCH, LAYERS = 16, 128, 2
REPLICAS = (1, 10, 100)
STEPS = 200


def measure() -> list[Loop]:
    """A replica's step in the engine, by the number of replicas, beside a plain loop. The floor has its
    operations at the speed of a large product."""
    torch.set_num_threads(1)
    plain = seconds(_plain_loop) / STEPS
    floor = flops() / product_speed("float32")
    return [
        Loop(
            f"jing2022: two linear layers, {replicas} replica{'s' * (replicas > 1)}",
            "step of a replica",
            seconds(partial(_engine, replicas)) / STEPS / replicas,
            floor,
            "operations",
            {"plain loop": plain},
        )
        for replicas in REPLICAS
    ]


def flops() -> int:
    """Operations of one replica-step: two products over all pairs, one exponential (counted as one) and three
    sums per pair, and the layers' forward and backward products for both views."""
    pairs = BATCH**2 * (2 * 2 * DIM + 4)
    layers = 2 * BATCH * DIM**2 * 2 * 2
    return pairs + layers


def _engine(replicas: int) -> None:
    seeds = range(replicas)
    streams = Streams(seeds, "bench")
    weights = [0.2 * random_orthogonal(streams, DIM) for _ in range(LAYERS)]
    batches = streams.batches(3, BATCH, DIM)

    def loss(layers: Weights) -> Tensor:
        x, noise1, noise2 = next(batches).unbind(1)
        return infonce_distance(*((x + 0.3 * noise) @ product(layers).mT for noise in (noise1, noise2)))

    for _ in sgd(weights, loss, learning_rate=0.02, steps=STEPS, checkpoints={STEPS}):
        pass


def _plain_loop() -> None:
    """The obvious implementation: a module, automatic differentiation, torch.optim, one replica."""
    torch.manual_seed(0)
    net = nn.Sequential(*(nn.Linear(DIM, DIM, bias=False) for _ in range(LAYERS)))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.02)
    for _ in range(STEPS):
        x = torch.randn(BATCH, DIM)
        z1, z2 = (net(x + 0.3 * torch.randn(BATCH, DIM)) for _ in range(2))
        loss = plain_infonce(z1, z2)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def plain_infonce(z1: Tensor, z2: Tensor) -> Tensor:
    """Jing 2022, Eq. 2, for one replica, differentiated automatically."""
    negatives = -0.5 * (z1[:, None] - z1[None, :]).square().sum(-1)
    positives = -0.5 * (z1 - z2).square().sum(-1)
    diagonal = torch.eye(len(z1), dtype=torch.bool)
    logits = torch.where(diagonal, positives[:, None].expand_as(negatives), negatives)
    return (logits.logsumexp(-1) - positives).mean()
