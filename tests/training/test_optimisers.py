"""LARS against a literal loop over numbers; the others are torch's."""

import math

import pytest
import torch

from reprise.training.optimisers import LARS, SGD, AdamW

RATES = (0.0, 0.3, 0.05)
"""Of a schedule: the first of a warm-up, and one above and one below the local rates."""
SHAPES = {"matrix": (3, 4), "kernel": (2, 3, 2, 2), "bias": (5,), "scale": (1,), "zero": (2, 2)}


def gradients(steps=3):
    random = torch.Generator().manual_seed(1)
    return [
        {k: torch.randn(shape, generator=random).double() for k, shape in SHAPES.items()}
        for _ in range(steps)
    ]


def start():
    random = torch.Generator().manual_seed(0)
    weights = {k: torch.randn(shape, generator=random).double() for k, shape in SHAPES.items()}
    return weights | {"zero": torch.zeros(2, 2).double()}


def literal_lars(rates, momentum, decay, trust, clip):
    found = {}
    for name, weight in start().items():
        w, velocity = weight.flatten().tolist(), [0.0] * weight.numel()
        for gradient, lr in zip(gradients(), rates, strict=True):
            update = gradient[name].flatten().tolist()
            if weight.ndim > 1:
                update = [g + decay * x for g, x in zip(update, w, strict=True)]
                length = math.sqrt(sum(x * x for x in w))
                other = math.sqrt(sum(x * x for x in update))
                if length > 0 and other > 0:
                    rate = trust * length / other
                    if clip:
                        rate = min(rate, lr) / lr if lr else 1.0
                    update = [rate * g for g in update]
            velocity = [momentum * v + g for v, g in zip(velocity, update, strict=True)]
            w = [x - lr * v for x, v in zip(w, velocity, strict=True)]
        found[name] = torch.tensor(w, dtype=torch.float64).reshape(weight.shape)
    return found


def run(spec):
    weights = {name: weight.requires_grad_() for name, weight in start().items()}
    optimiser = spec.build(weights.values())
    for gradient, rate in zip(gradients(), RATES, strict=True):
        optimiser.param_groups[0]["lr"] = rate
        for name, weight in weights.items():
            weight.grad = gradient[name]
        optimiser.step()
    return {name: weight.detach() for name, weight in weights.items()}


@pytest.mark.parametrize("clip", [False, True])
def test_lars_is_the_literal_loop(clip):
    found = run(LARS(momentum=0.8, weight_decay=0.1, trust=0.1, clip=clip))
    expected = literal_lars(RATES, 0.8, 0.1, 0.1, clip)
    for name in SHAPES:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-9, atol=1e-12)


def test_a_clipped_rate_is_that_of_the_schedule_or_that_of_lars_whichever_is_smaller():
    """Of a first step, |Δw| / |g| at either side of the schedule's rate of .01."""
    for length, rate in ((1.0, 0.01), (0.1, 0.002)):
        weight = torch.nn.Parameter(torch.full((2, 2), length / 2))
        weight.grad = torch.full((2, 2), 0.5)
        LARS(learning_rate=0.01, weight_decay=0.0, trust=0.02, clip=True).build([weight]).step()
        torch.testing.assert_close(weight, torch.full((2, 2), length / 2 - rate * 0.5))


def torchs_sgd(weights):
    return torch.optim.SGD(weights, 0.2, 0.5, weight_decay=0.1)


def torchs_adamw(weights):
    return torch.optim.AdamW(weights, 0.2, weight_decay=0.1)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SGD(learning_rate=0.2, momentum=0.5, weight_decay=0.1), torchs_sgd),
        (AdamW(learning_rate=0.2, weight_decay=0.1), torchs_adamw),
    ],
)
def test_sgd_and_adamw_are_torchs(ours, theirs):
    class Theirs:
        build = staticmethod(theirs)

    expected = run(Theirs)
    assert all(torch.equal(weight, expected[name]) for name, weight in run(ours).items())


def test_a_parameter_without_a_gradient_stays():
    weight = torch.nn.Parameter(torch.ones(2, 2))
    LARS().build([weight]).step()
    assert torch.equal(weight, torch.ones(2, 2))
