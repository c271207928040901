"""LARS against a literal loop over numbers; the others against torch's."""

import math
from functools import partial

import pytest
import torch
from lightly.utils.lars import LARS as LightlyLARS

from reprise.networks.encoders import RESNET10_W16
from reprise.training.optimisers import LARS, SGD, AdamW

RATES = (0.0, 0.3, 0.05)
"""Rates of a schedule: the first of a warm-up, and one above and one below the local rates."""
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


def length_of(numbers):
    return math.sqrt(sum(x * x for x in numbers))


def vicregs(gradient, w, lr, decay, trust):
    """LARS's update in the official code of VICReg and Barlow Twins."""
    update = [g + decay * x for g, x in zip(gradient, w, strict=True)]
    if length_of(w) == 0 or length_of(update) == 0:
        return update
    return [trust * length_of(w) / length_of(update) * u for u in update]


def solo_learns(gradient, w, lr, decay, trust):
    """LARS's update in solo-learn's code, with `clip_lr`."""
    if length_of(w) == 0 or length_of(gradient) == 0:
        return gradient
    rate = trust * length_of(w) / (length_of(gradient) + decay * length_of(w))
    share = min(rate, lr) / lr if lr else 1.0
    return [share * (g + decay * x) for g, x in zip(gradient, w, strict=True)]


def literal_lars(update_of, rates, momentum, decay, trust):
    found = {}
    for name, weight in start().items():
        w, velocity = weight.flatten().tolist(), [0.0] * weight.numel()
        for gradient, lr in zip(gradients(), rates, strict=True):
            update = gradient[name].flatten().tolist()
            if weight.ndim > 1:
                update = update_of(update, w, lr, decay, trust)
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


@pytest.mark.parametrize(("clip", "update_of"), [(False, vicregs), (True, solo_learns)])
def test_lars_is_the_literal_loop(clip, update_of):
    found = run(LARS(momentum=0.8, weight_decay=0.1, trust=0.1, clip=clip))
    expected = literal_lars(update_of, RATES, 0.8, 0.1, 0.1)
    for name in SHAPES:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-9, atol=1e-12)


def step_of(optimiser, size):
    """Movement of a weight of length 1 in one step along a gradient of that size, in float64."""
    weight = torch.nn.Parameter(torch.full((2, 2), 0.5, dtype=torch.float64))
    weight.grad = size * torch.tensor([[0.5, -0.5], [0.1, 0.7]], dtype=torch.float64)
    optimiser([weight]).step()
    return weight.detach() - 0.5


@pytest.mark.parametrize(("size", "is_clipped"), [(1e-3, True), (1e-2, True), (1.0, False), (100.0, False)])
def test_a_clipped_step_is_the_shorter_of_lightlys_lars_and_torchs_sgd(size, is_clipped):
    """Lightly's LARS divides by the same norms as solo-learn's and does not clip; its learning rate, a factor
    on the local rate, is 1 here."""
    found = step_of(LARS(learning_rate=0.3, weight_decay=0.01, trust=0.02, clip=True).build, size)
    adapted = step_of(lambda w: LightlyLARS(w, lr=1, weight_decay=0.01, trust_coefficient=0.02), size)
    plain = step_of(lambda w: torch.optim.SGD(w, 0.3, weight_decay=0.01), size)
    assert (plain.norm() < 0.8 * adapted.norm()) == is_clipped
    assert (adapted.norm() < 0.8 * plain.norm()) != is_clipped
    torch.testing.assert_close(found, plain if is_clipped else adapted, rtol=1e-5, atol=0)


def test_a_clipped_rate_is_that_of_the_schedule_or_that_of_lars_whichever_is_smaller():
    """The rate is |Δw| / |g| of a first step, on either side of the schedule's .01."""
    for length, rate in ((1.0, 0.01), (0.1, 0.002)):
        weight = torch.nn.Parameter(torch.full((2, 2), length / 2))
        weight.grad = torch.full((2, 2), 0.5)
        LARS(learning_rate=0.01, weight_decay=0.0, trust=0.02, clip=True).build([weight]).step()
        torch.testing.assert_close(weight, torch.full((2, 2), length / 2 - rate * 0.5))


def torchs_sgd(weights):
    return torch.optim.SGD(weights, 0.2, 0.5, weight_decay=0.1)


def torchs_adamw(weights):
    return torch.optim.AdamW(weights, 0.2, weight_decay=0.1, fused=True)


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


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SGD(weight_decay=1e-4), partial(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=1e-4)),
        (SGD(momentum=0.0), partial(torch.optim.SGD, lr=0.1)),
        (AdamW(learning_rate=5e-3), partial(torch.optim.AdamW, lr=5e-3, fused=True)),
        (AdamW(learning_rate=5e-3, weight_decay=0.0), partial(torch.optim.Adam, lr=5e-3, fused=True)),
    ],
)
def test_of_a_network_in_float32_too_to_the_bit(ours, theirs):
    """Weights are in channels-last layout, with a group whose rate no schedule moves."""
    learned = []
    for build in (ours.build, theirs):
        torch.manual_seed(0)
        net = RESNET10_W16.build(3).to(memory_format=torch.channels_last)
        *early, late = net.parameters()
        optimiser = build([{"params": early}, {"params": [late]}])
        for step in range(5):
            optimiser.param_groups[0]["lr"] = 0.01 * step
            optimiser.zero_grad()
            net(torch.rand(8, 3, 16, 16)).square().mean().backward()
            optimiser.step()
        learned.append(net.state_dict())
    assert all(torch.equal(weight, learned[1][name]) for name, weight in learned[0].items())


@pytest.mark.parametrize("spec", [SGD(), AdamW(), LARS()])
def test_a_restored_optimiser_goes_on_to_the_same_bits(spec):
    first, second = ({name: weight.requires_grad_() for name, weight in start().items()} for _ in range(2))
    before, after = spec.build(first.values()), spec.build(second.values())

    def step(optimiser, weights, gradient):
        for name, weight in weights.items():
            weight.grad = gradient[name]
        optimiser.step()

    *earlier, last = gradients()
    for gradient in earlier:
        step(before, first, gradient)
    for name, weight in second.items():
        weight.data.copy_(first[name].data)
    after.restore(before.tensors())
    step(before, first, last)
    step(after, second, last)
    assert all(torch.equal(weight, second[name]) for name, weight in first.items())


def test_a_parameter_without_a_gradient_stays():
    weight = torch.nn.Parameter(torch.ones(2, 2))
    LARS().build([weight]).step()
    assert torch.equal(weight, torch.ones(2, 2))
