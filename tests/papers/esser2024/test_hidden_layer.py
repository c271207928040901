"""The fast hidden layer, against plain torch and automatic differentiation."""

import pytest
import torch

from reprise.numerics.streams import Streams
from reprise.papers.esser2024.hidden_layer import IN_PLACE, outputs

PLAIN = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "centred_sigmoid": lambda x: torch.sigmoid(x) - 0.5,
    "scaled_sigmoid": lambda x: 4 * torch.sigmoid(x) - 2,
}
EACH = pytest.mark.parametrize("activation", PLAIN)


def drawn(replicas, width, inputs, outputs_, samples, dtype=torch.float64):
    streams = Streams(range(replicas), "hidden layer")
    shapes = [(width, inputs), (width, outputs_), (samples, inputs)]
    return [streams.normal(*shape).to(dtype) for shape in shapes]


def test_every_activation_is_tried():
    assert set(PLAIN) == set(IN_PLACE)


@EACH
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (3, 7, 2, 1, 5), (2, 40, 3, 4, 9), (2, 5, 4, 2, 30)])
def test_outputs_and_gradients_are_those_of_plain_torch(activation, sizes):
    w1, w2, x = drawn(*sizes)
    w1, w2 = w1.requires_grad_(), w2.requires_grad_()
    ours, plain = outputs(w1, w2, x, activation), PLAIN[activation](x @ w1.mT) @ w2
    torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-12)
    weight = torch.randn(plain.shape, generator=torch.Generator().manual_seed(0)).double()
    found = torch.autograd.grad((weight * ours.square()).sum(), (w1, w2))
    expected = torch.autograd.grad((weight * plain.square()).sum(), (w1, w2))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


@EACH
def test_a_replica_does_not_depend_on_the_others(activation):
    w1, w2, x = drawn(5, 33, 2, 1, 17)

    def results(part):
        weights = [w[part].clone().requires_grad_() for w in (w1, w2)]
        u = outputs(*weights, x[part], activation)
        return [u, *torch.autograd.grad(u.sin().sum(), weights)]

    for at in range(5):
        for alone, together in zip(results(slice(at, at + 1)), results(slice(None)), strict=True):
            assert torch.equal(alone[0], together[at])


@EACH
def test_its_arguments_stay_as_they_are(activation):
    arguments = drawn(2, 5, 2, 1, 4, torch.float32)
    before = [argument.clone() for argument in arguments]
    u = outputs(*(argument.requires_grad_() for argument in arguments[:2]), arguments[2], activation)
    kept = u.detach().clone()
    u.sum().backward()
    assert u.dtype == torch.float32
    assert torch.equal(u, kept)
    for argument, old in zip(arguments, before, strict=True):
        assert torch.equal(argument, old)
