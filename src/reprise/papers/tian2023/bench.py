"""Benchmark of Section 5: two layers on ten receptive fields, with ten seeds and four variants of
BatchNorm."""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize, one_hot

from reprise.bench.loops import Loop, product_speed
from reprise.bench.timing import seconds
from reprise.papers.tian2023.descent import descend
from reprise.papers.tian2023.receptive_fields import BATCH_NORM_EPS, Net
from reprise.papers.tian2023.sequences import Arm
from reprise.papers.tian2023.token_sequences import Pool, draw_pool, minibatches

UNITS = (5, 25, 100)
"""Filters per field, M."""
SEEDS, ARMS = 10, 4
FIELDS, TOKENS, OUTPUTS, BATCH, CANDIDATES = 10, 20, 50, 128, 5
STEPS, PLAIN_STEPS = (
    200,
    10,
)  # few enough to time, enough to hide the set-up cost, about one step; a run has 5000
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.02, 0.9, 5e-3


def measure() -> list[Loop]:
    """A replica's minibatch in the engine, by units, beside a plain implementation. The floor is the engine's
    matrix products at the speed of a large one; the weights, momenta and gradients of a replica, 0.2 MB at 25
    units, stay in the second-level cache."""
    torch.set_num_threads(1)
    return [
        Loop(
            f"tian2023: receptive fields, {units} units",
            "minibatch of a replica",
            seconds(partial(engine_steps, units)) / STEPS / SEEDS / ARMS,
            flops(units) / product_speed("float32"),
            "products",
            {"plain loop": seconds(partial(plain_steps, units)) / PLAIN_STEPS},
        )
        for units in UNITS
    ]


def flops(units: int) -> int:
    """Floating-point operations in the matrix products of a replica's minibatch.

    They are the top layer on the table of both views, once forward and twice backward, and all pairs of the
    first view, forward and backward.
    """
    table = 3 * 2 * FIELDS * 2 * TOKENS * units * OUTPUTS
    pairs = 2 * 2 * BATCH**2 * OUTPUTS
    return table + pairs


def engine_steps(units: int) -> None:
    """Trains every seed and variant at once for `STEPS` minibatches."""
    seeds = range(SEEDS)
    net = Net([Arm(mean=mean, variance=variance) for mean in (False, True) for variance in (False, True)])
    sizes = [(FIELDS, TOKENS, units), (FIELDS, units, OUTPUTS)]
    for _ in descend(
        net,
        [torch.randn(len(net.arms), SEEDS, *size) / 4 for size in sizes],
        minibatches(_pool(seeds), seeds, BATCH),
        learning_rate=LEARNING_RATE,
        momentum=MOMENTUM,
        weight_decay=WEIGHT_DECAY,
        steps=STEPS,
        checkpoints={STEPS},
    ):
        pass


class PlainNetwork(nn.Module):
    """A straightforward implementation: one linear layer per field, BatchNorm and a linear layer, on
    one-hots."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.lower = nn.ModuleList(nn.Linear(TOKENS, units, bias=False) for _ in range(FIELDS))
        self.norm = nn.BatchNorm1d(FIELDS * units, eps=BATCH_NORM_EPS, affine=False)
        self.upper = nn.Linear(FIELDS * units, OUTPUTS, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Maps inputs [sample, field, token] to outputs [sample, out]."""
        hidden = torch.cat([layer(x[:, field]) for field, layer in enumerate(self.lower)], 1)
        return self.upper(self.norm(hidden.relu()))


def plain_loss(z1: Tensor, z2: Tensor) -> Tensor:
    """Cross-entropy on the similarities of the author's code, by automatic differentiation."""
    z1, z2 = normalize(z1, dim=-1), normalize(z2, dim=-1)
    diagonal = torch.eye(len(z1), dtype=torch.bool, device=z1.device)
    logits = torch.where(diagonal, z1 @ z2.mT, z1 @ z1.mT) / 0.1
    return cross_entropy(logits, torch.arange(len(z1), device=z1.device))


def plain_steps(units: int) -> None:
    """Trains one replica for `PLAIN_STEPS` minibatches, with modules, autograd and torch.optim."""
    torch.manual_seed(0)
    net = PlainNetwork(units)
    optimiser = torch.optim.SGD(
        net.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY
    )
    data = (minibatch for block in minibatches(_pool(range(1)), range(1), BATCH) for minibatch in block)
    for _ in range(PLAIN_STEPS):
        views = one_hot(next(data).row[0].long(), TOKENS).float()
        loss = plain_loss(*(net(view) for view in views))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def _pool(seeds: range) -> Pool:
    return draw_pool(
        seeds, generators=40, fields=FIELDS, tokens=TOKENS, candidates=CANDIDATES, filled=FIELDS // 2
    )
