"""The losses of Tian 2023 against torch's own cross-entropy and automatic differentiation."""

import math

import pytest
import torch
from torch.nn import functional

from reprise import objectives
from reprise.objectives import infonce_cosine, quadratic_cosine


def views(*shape, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    sizes = torch.tensor([0.1, 1.0, 30.0]).to(dtype)[:, None, None]
    return [
        (sizes * torch.randn(3, *shape, generator=generator, dtype=dtype)).requires_grad_() for _ in range(2)
    ]


def similarities(z1, z2):
    """Cosines: of the first view's pairs off the diagonal, of the two views on it."""
    u1, u2 = functional.normalize(z1, dim=-1), functional.normalize(z2, dim=-1)
    itself = torch.eye(z1.shape[-2], dtype=torch.bool)
    return torch.where(itself, u1 @ u2.mT, u1 @ u1.mT)


def plain_infonce(z1, z2, temperature):
    logits = similarities(z1, z2) / temperature
    target = torch.arange(z1.shape[-2])
    return torch.stack([functional.cross_entropy(of_one, target) for of_one in logits])


def plain_quadratic(z1, z2, temperature):
    logits = similarities(z1, z2) / temperature
    positive = logits.diagonal(dim1=-2, dim2=-1).mean(-1)
    return logits.mean((-2, -1)) - (1 + 1 / z1.shape[-2]) * positive


@pytest.mark.parametrize(
    ("ours", "plain"),
    [
        (infonce_cosine, plain_infonce),
        (quadratic_cosine, plain_quadratic),
    ],
)
@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("shape", [(2, 3), (7, 4), (40, 5)])
def test_losses_and_gradients_are_those_of_automatic_differentiation(ours, plain, temperature, shape):
    z1, z2 = views(*shape)
    found, expected = ours(z1, z2, temperature=temperature), plain(z1, z2, temperature)
    torch.testing.assert_close(found, expected)
    outer = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    for one, other in zip(
        torch.autograd.grad(found, (z1, z2), outer),
        torch.autograd.grad(expected, (z1, z2), outer),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-12)
        assert other.abs().max() > 1e-4


def lines(name, batch):
    """Two views close to a line: all embeddings alike, or the first against all others and its own
    positive."""
    generator = torch.Generator().manual_seed(0)
    signs = torch.ones(batch, 1, dtype=torch.float64)
    if name == "opposite":
        signs[0] = -1
    noise = 0.01 * torch.randn(2, batch, 4, generator=generator, dtype=torch.float64)
    z1, z2 = signs * torch.ones(4, dtype=torch.float64) + noise
    return z1, -z2 if name == "opposite" else z2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("temperature", [0.001, 0.0015, 0.005, 0.011, 0.0142, 0.0152, 0.02])
@pytest.mark.parametrize("batch", [2, 40])
@pytest.mark.parametrize("name", ["spread", "alike", "opposite"])
def test_low_temperatures_neither_overflow_nor_lose_digits(name, batch, temperature, dtype):
    """The reference is cross-entropy in float64; the temperature enlarges the rounding of a cosine."""
    drawn = [z[1] for z in views(batch, 4)] if name == "spread" else lines(name, batch)
    z1, z2 = (z.detach().to(dtype).requires_grad_() for z in drawn)
    exact = [z.detach().double().requires_grad_() for z in (z1, z2)]
    found = infonce_cosine(z1, z2, temperature=temperature)
    expected = functional.cross_entropy(similarities(*exact) / temperature, torch.arange(batch))
    digits = 4 * torch.finfo(dtype).eps / temperature
    torch.testing.assert_close(found.double(), expected, rtol=digits, atol=digits)
    largest = 1 / (batch * temperature)  # of a sample's gradient on a vector of unit length
    for one, other in zip(
        torch.autograd.grad(found, (z1, z2)), torch.autograd.grad(expected, exact), strict=True
    ):
        torch.testing.assert_close(one.double(), other, rtol=digits, atol=digits * largest)


def test_the_length_of_an_embedding_does_not_count():
    z1, z2 = views(6, 4)
    for loss in (infonce_cosine, quadratic_cosine):
        torch.testing.assert_close(loss(z1, z2), loss(5 * z1, 0.2 * z2))


def test_identical_orthogonal_and_opposite_embeddings():
    """The loss is log N for N equal embeddings, and log(1 + (N - 1) exp(-1/τ)) for N orthogonal ones."""
    same = torch.ones(1, 5, 3, dtype=torch.float64)
    assert infonce_cosine(same, same).item() == pytest.approx(math.log(5))
    assert quadratic_cosine(same, same).item() == pytest.approx((1 - 6 / 5) / 0.1)
    apart = torch.eye(5, dtype=torch.float64)[None]
    assert infonce_cosine(apart, apart, temperature=0.5).item() == pytest.approx(
        math.log(1 + 4 * math.exp(-2))
    )
    assert infonce_cosine(apart, -apart, temperature=0.5).item() == pytest.approx(
        math.log(1 + 4 * math.exp(2))
    )


def test_a_zero_embedding_gives_finite_numbers():
    z1, z2 = views(6, 4, dtype=torch.float32)
    with torch.no_grad():
        z1[:, 0] = 0
    loss = infonce_cosine(z1, z2)
    gradients = torch.autograd.grad(loss.sum(), (z1, z2))
    assert loss.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_a_users_loss_may_build_on_it(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from reprise.objectives import infonce_cosine\n"
        "def mine(z1, z2):\n    return 2 * infonce_cosine(z1, z2)\n"
    )
    z1, z2 = views(8, 4)
    torch.testing.assert_close(objectives.resolve(f"{file}:mine")(z1, z2), 2 * infonce_cosine(z1, z2))
