"""Benchmark of Section 5: two layers on ten receptive fields, with ten seeds and four variants of
BatchNorm."""

from functools import partial

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize, one_hot

from reprise.bench.timing import seconds
from reprise.papers.tian2023.descent import descend
from reprise.papers.tian2023.receptive_fields import BATCH_NORM_EPS, Net
from reprise.papers.tian2023.sequences import Arm
from reprise.papers.tian2023.token_sequences import Pool, draw_pool, minibatches

TITLE = "receptive fields (tian2023)"
UNITS = (5, 25, 100)
"""Filters per field, M."""
SEEDS, ARMS = 10, 4
FIELDS, TOKENS, OUTPUTS, BATCH, CANDIDATES = 10, 20, 50, 128, 5
STEPS, PLAIN_STEPS = (
    200,
    10,
)  # few enough to time, enough to hide the set-up cost, about one step; a run has 5000
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.02, 0.9, 5e-3
REFERENCE_PRODUCT = (2048, 2048, 2048)
"""Sizes n, k and m of the matrix product that measures the machine's speed."""


def measure() -> pd.DataFrame:
    """Milliseconds per replica and minibatch of the engine and of a plain implementation, and a lower bound.

    Times are CPU times of one thread. The lower bound is the time of the engine's
    matrix products at the speed of a large one (`products_ms`), and the weights, momenta and gradients that a
    step reads and writes (`megabytes`).
    """
    torch.set_num_threads(1)
    speed = _flops_per_second()
    rows = []
    for units in UNITS:
        engine = seconds(partial(engine_steps, units)) / STEPS / SEEDS / ARMS
        plain = seconds(partial(plain_steps, units)) / PLAIN_STEPS
        rows.append(
            {
                "units": units,
                "engine_ms": engine * 1e3,
                "plain_ms": plain * 1e3,
                "plain_over_engine": plain / engine,
                "products_ms": flops(units) / speed * 1e3,
                "gflop": flops(units) / 1e9,
                "megabytes": bytes_moved(units) / 1e6,
            }
        )
    return pd.DataFrame(rows)


def flops(units: int) -> int:
    """Floating-point operations in the matrix products of a replica's minibatch.

    They are the top layer on the table of both views, once forward and twice backward, and all pairs of the
    first view, forward and backward.
    """
    table = 3 * 2 * FIELDS * 2 * TOKENS * units * OUTPUTS
    pairs = 2 * 2 * BATCH**2 * OUTPUTS
    return table + pairs


def bytes_moved(units: int) -> int:
    """Bytes of float32 weights and momenta read and written, and of gradients written and read."""
    weights = FIELDS * units * (TOKENS + OUTPUTS)
    return 4 * 6 * weights


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


def _flops_per_second() -> float:
    n, k, m = REFERENCE_PRODUCT
    a, b = torch.randn(n, k), torch.randn(k, m)
    return 2 * n * k * m / seconds(lambda: torch.mm(a, b))
