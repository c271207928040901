"""The token-table network and its training, against a plain implementation on whole input vectors."""

import dataclasses

import pytest
import torch
from torch.nn import functional

from reprise.networks.activations import ACTIVATIONS
from reprise.papers.tian2023.descent import descend
from reprise.papers.tian2023.receptive_fields import Net
from reprise.papers.tian2023.sequences import Arm, Cell, TokenSequences
from reprise.papers.tian2023.token_sequences import draw_pool, minibatches
from reprise.papers.tian2023.two_layers import initial, train

PARAMS = TokenSequences(
    steps=100, generators=12, batch_size=32, fields=6, filled=3, tokens=8, candidates=(1, 3, 5), output_dim=7
)
VARIANTS = [
    Arm(mean=mean, variance=variance, zeta=10.0) for mean in (False, True) for variance in (False, True)
]
ACTIVATED = [
    Arm(activation, objective)
    for objective in ("infonce_cosine", "quadratic_cosine")
    for activation in ("linear", "relu", "leaky_relu", "quadratic", "sigmoid")
]


def pool_of(seeds, cell):
    return draw_pool(
        seeds, generators=PARAMS.generators, fields=PARAMS.fields, tokens=PARAMS.tokens,
        candidates=cell.candidates, filled=PARAMS.filled,
    )  # fmt: skip


def plain_loss(z1, z2, objective):
    """Rows normalised; logits/0.1 with the positives on the diagonal (the digest's two losses)."""
    z1, z2 = functional.normalize(z1, dim=-1), functional.normalize(z2, dim=-1)
    logits = z1 @ z1.T
    logits = (logits - torch.diag(logits.diag()) + torch.diag((z1 * z2).sum(-1))) / 0.1
    if objective == "infonce_cosine":
        return functional.cross_entropy(logits, torch.arange(len(z1)))
    return -(1 + 1 / len(z1)) * logits.diag().mean() + logits.mean()


def plain_network(lower, upper, x, cell, arm):
    """x: [sample, field, token] input vectors of one view."""
    hidden = torch.stack([x[:, k] @ lower[k] for k in range(x.shape[1])], 1)
    hidden = ACTIVATIONS[arm.activation](hidden)
    if cell.batch_norm:
        mean, variance = hidden.mean(0), hidden.var(0, correction=0)
        mean = mean if arm.mean else mean.detach()
        variance = variance if arm.variance else variance.detach()
        hidden = (hidden - mean) / (variance + 1e-5).sqrt()
    return hidden.flatten(1) @ upper.flatten(0, 1)


def plain_training(cell, arm, seed):
    """100 steps in float64 with automatic differentiation and torch's optimiser, one replica."""
    blocks = minibatches(pool_of([seed], cell), [seed], PARAMS.batch_size)
    data = (minibatch for block in blocks for minibatch in block)
    start = initial(PARAMS, cell, 1, [seed])
    weights = [weight[0, 0].double().clone().requires_grad_() for weight in start]
    length = torch.tensor([1 / arm.zeta] * 4 + [arm.zeta] * 4)
    optimiser = torch.optim.SGD(weights, 0.02, momentum=0.9, weight_decay=5e-3, foreach=False)
    for _ in range(PARAMS.steps):
        tokens = next(data).row[0].long()
        x = functional.one_hot(tokens, PARAMS.tokens).double() * length
        loss = plain_loss(*(plain_network(*weights, view, cell, arm) for view in x), arm.objective)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return [weight.detach() for weight in weights]


@pytest.mark.parametrize(
    ("cell", "arms"),
    [
        (Cell(2, 3), VARIANTS),
        (Cell(2, 1, batch_norm=False), [Arm(zeta=2.0), Arm(zeta=5.0)]),
        (Cell(2, 3), ACTIVATED),
        (Cell(1, 3, batch_norm=False), [arm for arm in ACTIVATED if arm.activation != "sigmoid"]),
    ],
)
def test_a_hundred_steps_are_those_of_plain_automatic_differentiation(cell, arms):
    seeds = (3, 8)
    start = [weight.double() for weight in initial(PARAMS, cell, len(arms), seeds)]
    data = minibatches(pool_of(seeds, cell), seeds, PARAMS.batch_size)
    *_, (_, found) = descend(
        Net(arms, cell.batch_norm), start, data,
        learning_rate=0.02, momentum=0.9, weight_decay=5e-3, steps=100, checkpoints={100},
    )  # fmt: skip
    for i, arm in enumerate(arms):
        for j, seed in enumerate(seeds):
            expected = plain_training(cell, arm, seed)
            for ours, theirs, before in zip(found, expected, start, strict=True):
                error = (ours[i, j] - theirs).norm() / theirs.norm()
                assert error < 1e-5, (arm, seed, float(error))
                assert (theirs - before[i, j]).norm() > 0.02 * theirs.norm()  # it has moved


def test_a_replica_does_not_depend_on_its_company():
    params = PARAMS.model_copy(update={"steps": 12})
    cell = Cell(2, 3)
    together = train(params, cell, VARIANTS, range(4))
    for arms, seeds in ((VARIANTS[2:3], range(1, 3)), (VARIANTS[1:], range(3, 4))):
        apart = train(params, cell, arms, seeds)
        first = VARIANTS.index(arms[0])
        expected = together.filters[first : first + len(arms), seeds.start : seeds.stop]
        assert torch.equal(apart.filters, expected)


def test_arms_share_pool_data_and_initial_weights():
    same = train(PARAMS, Cell(1, 2), [VARIANTS[0], dataclasses.replace(VARIANTS[0])], range(2))
    assert torch.equal(same.filters[0], same.filters[1])
    first, second = same.filters[0]
    assert not torch.equal(first, second)


@pytest.mark.parametrize("batch_norm", [True, False])
def test_no_arm_depends_on_its_company_at_sizes_that_fill_no_vector(batch_norm):
    params = PARAMS.model_copy(update={"steps": 3, "tokens": 7, "output_dim": 5, "batch_size": 19})
    cell = Cell(1, 3, batch_norm)
    together = train(params, cell, ACTIVATED, range(3))
    for at, arm in enumerate(ACTIVATED):
        alone = train(params, cell, [arm], range(1, 2))
        assert torch.equal(alone.filters[0, 0], together.filters[at, 1]), arm
