"""InfoNCE in its two forms: values and gradients against slow literal forms, underflow, replicas."""

import math
from functools import partial
from itertools import product

import pytest
import torch
from torch.nn.functional import cross_entropy

from reprise.objectives import infonce, infonce_distance, infonce_dot
from reprise.papers.jing2022.bench import plain_infonce

LOSSES = pytest.mark.parametrize("loss", [infonce_distance, infonce_dot], ids=lambda loss: loss.__name__)


def views(*shape, seed=0, scale=1.0, shift=0.5, dtype=torch.float64):
    """Two views of the same samples: z2 is z1 with noise."""
    generator = torch.Generator().manual_seed(seed)
    z1, noise = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(2))
    return (scale * z1).to(dtype), (scale * (z1 + shift * noise)).to(dtype)


def gradients(loss, z1, z2):
    z1, z2 = (z.clone().requires_grad_() for z in (z1, z2))
    return torch.autograd.grad(loss(z1, z2).sum(), (z1, z2))


def eq2(z1, z2):
    """Eq. 2 with sums over Python floats, divided by the batch size."""
    z1, z2, total = z1.tolist(), z2.tolist(), 0.0
    for i, anchor in enumerate(z1):
        positive = math.exp(-0.5 * math.dist(anchor, z2[i]) ** 2)
        negatives = sum(
            math.exp(-0.5 * math.dist(anchor, other) ** 2) for j, other in enumerate(z1) if j != i
        )
        total -= math.log(positive / (negatives + positive))
    return total / len(z1)


@pytest.mark.parametrize(("batch", "dim"), [(2, 1), (2, 5), (3, 2), (17, 4)])
def test_infonce_distance_is_eq_2(batch, dim):
    z1, z2 = views(batch, dim)
    assert infonce_distance(z1, z2).item() == pytest.approx(eq2(z1, z2), rel=1e-13)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 2.0])
def test_infonce_dot_is_the_cross_entropy_of_dot_products(temperature):
    z1, z2 = views(9, 4)
    expected = cross_entropy(z1 @ z2.T / temperature, torch.arange(9))
    torch.testing.assert_close(infonce_dot(z1, z2, temperature=temperature), expected, rtol=1e-13, atol=0)


def test_infonce_dot_has_the_temperature_of_the_authors_code():
    z1, z2 = views(9, 4)
    assert infonce_dot(z1, z2) == infonce_dot(z1, z2, temperature=0.1) != infonce_dot(z1, z2, temperature=0.2)


@pytest.mark.parametrize(("batch", "dim"), [(2, 1), (2, 16), (3, 2), (64, 16), (128, 7), (700, 3)])
def test_gradients_are_those_of_automatic_differentiation(batch, dim):
    z1, z2 = views(batch, dim)
    for found, expected in zip(
        gradients(infonce_distance, z1, z2), gradients(plain_infonce, z1, z2), strict=True
    ):
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("replicas", [1, 2, 5, 9, 13])
def test_replicas_in_several_chunks_are_those_one_by_one(monkeypatch, replicas):
    """Four replicas fit into the cache; counts lie under and over its edge, the last chunk is not full."""
    monkeypatch.setattr(infonce, "CACHED", 4 * 8**2)
    z1, z2 = views(replicas, 8, 3)
    expected = torch.stack([plain_infonce(a, b) for a, b in zip(z1, z2, strict=True)])
    torch.testing.assert_close(infonce_distance(z1, z2), expected, rtol=1e-12, atol=0)
    each = [gradients(plain_infonce, a, b) for a, b in zip(z1, z2, strict=True)]
    for found, alone in zip(gradients(infonce_distance, z1, z2), zip(*each, strict=True), strict=True):
        torch.testing.assert_close(found, torch.stack(alone), rtol=1e-10, atol=1e-13)


def test_the_cache_is_smaller_than_what_a_figure_needs():
    """Ten seeds of five arms and 128 samples use the chunks of the former test."""
    assert infonce.CACHED < 50 * 128**2


def test_each_replicas_gradient_is_weighted_by_what_is_done_with_its_loss():
    z1, z2 = views(3, 6, 2)
    weights = torch.tensor([2.0, 0.0, -0.5], dtype=torch.float64)
    plain = gradients(infonce_distance, z1, z2)
    weighted = gradients(lambda a, b: weights * infonce_distance(a, b), z1, z2)
    for found, expected in zip(weighted, plain, strict=True):
        torch.testing.assert_close(found, weights[:, None, None] * expected)


def test_a_second_derivative_is_refused_rather_than_wrong():
    z1, z2 = (z.requires_grad_() for z in views(5, 2))
    (first,) = torch.autograd.grad(infonce_distance(z1, z2).square(), z1, create_graph=True)
    with pytest.raises(RuntimeError, match=r"once_differentiable|not have been used in the graph"):
        torch.autograd.grad(first.square().sum(), z1)


@LOSSES
@pytest.mark.parametrize("leading", [(), (1,), (3,), (2, 3)])
def test_leading_axes_are_replicas(loss, leading):
    z1, z2 = views(*leading, 6, 2)
    found = loss(z1, z2)
    assert found.shape == leading
    for at in product(*map(range, leading)):
        torch.testing.assert_close(found[at], loss(z1[at], z2[at]), rtol=1e-13, atol=0)


def test_only_dot_products_with_the_other_branch_do_not_see_its_shift():
    (z1, z2), shift = views(7, 3), torch.tensor([0.3, -1.2, 0.5], dtype=torch.float64)
    torch.testing.assert_close(infonce_dot(z1, z2 + shift), infonce_dot(z1, z2), rtol=1e-12, atol=0)
    for loss, moved in ((infonce_dot, (z1 + shift, z2)), (infonce_distance, (z1, z2 + shift))):
        assert (loss(*moved) - loss(z1, z2)).abs() > 1e-3


def test_negatives_are_of_the_same_branch():
    """Moving another sample's second view moves no loss or gradient of this one: as Eq. 2 has it."""
    z1, z2 = views(5, 3)
    moved = z2.clone()
    moved[1:] += 3
    ours = gradients(infonce_distance, z1, z2)[1][0]
    torch.testing.assert_close(gradients(infonce_distance, z1, moved)[1][0], ours, rtol=1e-13, atol=0)
    assert (gradients(infonce_dot, z1, moved)[1][0] - gradients(infonce_dot, z1, z2)[1][0]).abs().max() > 1e-3


def test_equal_embeddings_lose_the_logarithm_of_the_batch():
    z = torch.ones(3, 8, 4)
    for loss in (infonce_distance, infonce_dot):
        torch.testing.assert_close(loss(z, z), torch.full((3,), math.log(8)))


FAR = {
    "negatives far": {"scale": 40, "shift": 0.001},
    "positives far": {"scale": 0.3, "shift": 90},
    "all far": {"scale": 40, "shift": 1},
    "on the edge": {"scale": 3.2, "shift": 2.5},
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("flush", [False, True], ids=["", "denormal numbers flushed"])
@pytest.mark.parametrize("name", FAR)
def test_embeddings_so_far_apart_that_similarities_underflow(name, dtype, flush):
    """Values and gradients are those of the loss in logarithms, for a replica beside one that is near too."""
    far, near = views(12, 16, dtype=dtype, **FAR[name]), views(12, 16, dtype=dtype, seed=1)
    z1, z2 = (torch.stack(pair) for pair in zip(near, far, strict=True))
    before = torch.finfo(dtype).tiny / 2 == 0
    torch.set_flush_denormal(flush)
    try:
        value, found = infonce_distance(z1, z2), gradients(infonce_distance, z1, z2)
    finally:
        torch.set_flush_denormal(before)
    expected = torch.stack([plain_infonce(*pair) for pair in zip(z1.double(), z2.double(), strict=True)])
    # In float32, distances are differences of squares of about 16 scale².
    tolerance = {torch.float32: 2e-3, torch.float64: 1e-10}[dtype]
    torch.testing.assert_close(value.double(), expected, rtol=tolerance, atol=tolerance)
    each = [gradients(plain_infonce, *pair) for pair in zip(z1.double(), z2.double(), strict=True)]
    for ours, theirs in zip(found, zip(*each, strict=True), strict=True):
        wrong = (ours.double() - torch.stack(theirs)).abs().amax((1, 2))
        assert (wrong <= tolerance * torch.stack(theirs).abs().amax((1, 2)) + torch.finfo(dtype).eps).all()


def test_a_far_replica_changes_no_bit_of_a_near_one():
    near, far = views(12, 16, dtype=torch.float32), views(12, 16, dtype=torch.float32, scale=60)
    together = gradients(infonce_distance, *(torch.stack(pair) for pair in zip(near, far, strict=True)))
    alone = gradients(infonce_distance, *(torch.stack(pair) for pair in zip(near, near, strict=True)))
    assert all(torch.equal(a[0], b[0]) for a, b in zip(together, alone, strict=True))


PLACES = {
    "near": lambda at, sample: 0.0,
    "far": lambda at, sample: 100.0,
    "in two groups": lambda at, sample: 100.0 * (-1) ** sample,
    "here and there": lambda at, sample: [0.0, 100.0, 100.0 * (-1) ** sample][at % 3],
}
"""Shifts by replica and sample: nothing has to be done about them, a mean to be subtracted, float64."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("batch", [3, 33, 128, 190])
def test_no_bit_depends_on_the_place_in_the_stack(batch, threads, place):
    """Batches whose pairs fill whole vectors of the processor and others, in stacks of several chunks."""
    z1, z2 = views(19, batch, 4, dtype=torch.float32)
    shift = torch.tensor([[PLACES[place](at, sample) for sample in range(batch)] for at in range(19)])
    z1, z2 = z1 + shift[:, :, None], z2 + shift[:, :, None]
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        alone = [gradients(infonce_distance, z1[at : at + 1], z2[at : at + 1]) for at in range(19)]
        torch.set_num_threads(threads)
        together = gradients(infonce_distance, z1, z2)
    finally:
        torch.set_num_threads(before)
    for found, each in zip(together, zip(*alone, strict=True), strict=True):
        assert torch.equal(found, torch.cat(each))


def exact(loss, z1, z2):
    return [found.double() for found in (loss(z1, z2), *gradients(loss, z1, z2))]


def error(found, expected):
    """The largest error of the loss and of both gradients, each relative to its largest entry."""
    pairs = zip(found, expected, strict=True)
    return max(((ours - theirs).abs().max() / theirs.abs().max()).item() for ours, theirs in pairs)


@LOSSES
@pytest.mark.parametrize(("batch", "dim"), [(12, 1), (12, 4), (64, 128)])
@pytest.mark.parametrize("far", [3, 10, 30, 100, 1e3, -3e3, 1e4])
def test_a_mean_far_from_zero_costs_no_digits(loss, far, batch, dim):
    """The reference is automatic differentiation in float64, on the same numbers."""
    for seed in range(5):
        spread = min(1, 2 / dim**0.5)
        z1, z2 = views(batch, dim, scale=spread, seed=seed)
        if loss is infonce_distance:  # dot products see the first view's mean
            z1 = z1 + far / dim**0.5
        z1, z2 = z1.float(), (z2 + far / dim**0.5).float()
        ours, plain = {
            infonce_distance: (infonce_distance, plain_infonce),
            infonce_dot: (partial(infonce_dot, temperature=1.0), plain_dot),
        }[loss]
        assert error(exact(ours, z1, z2), exact(plain, z1.double(), z2.double())) < 1e-4


def plain_dot(z1, z2):
    return cross_entropy(z1 @ z2.T, torch.arange(len(z1)))


APART = {
    "two groups": lambda z: z + torch.where(torch.arange(len(z)) % 2 == 0, 1e3, -1e3)[:, None],
    "one outlier": lambda z: z + torch.where(torch.arange(len(z)) == 3, 1e6, 0.0)[:, None],
    "a group and an outlier": lambda z: z + torch.where(torch.arange(len(z)) == 3, 1e6, -1e3)[:, None],
}


@pytest.mark.parametrize("name", APART)
def test_nor_does_a_mean_far_from_the_embeddings(name):
    """Groups and outliers stay far from zero when a mean is subtracted."""
    z1, z2 = (APART[name](z).float() for z in views(16, 4))
    found, expected = exact(infonce_distance, z1, z2), exact(plain_infonce, z1.double(), z2.double())
    assert error(found, expected) < 1e-4


def test_far_replicas_and_some_that_are_no_numbers_change_no_bit_of_another():
    """The replica's first embedding, 14 from zero, is nearest to all others, so that much rests on it."""
    z1 = torch.randn(4, 40, 40, generator=torch.Generator().manual_seed(0))
    z1[0] = 4 * torch.eye(40)
    z1[0, 0] = 0
    z1[0] += 14 / 40**0.5
    z2 = z1 + 3
    alone = gradients(infonce_distance, z1[:1], z2[:1])
    shift = torch.tensor([0, 1e3, math.nan, math.inf])[:, None, None]
    together = gradients(infonce_distance, z1 + shift, z2 + shift)
    assert all(torch.equal(found[:1], each) for found, each in zip(together, alone, strict=True))
    assert all(found[1].isfinite().all() and found[2:].isnan().any() for found in together)


def test_embeddings_that_are_not_numbers_give_a_loss_that_is_none():
    z1, z2 = views(2, 6, 2)
    z1[1, 3, 0] = math.nan
    value = infonce_distance(z1, z2)
    assert value[0].isfinite()
    assert value[1].isnan()


@LOSSES
def test_nothing_given_is_changed(loss):
    z1, z2 = views(3, 6, 2)
    kept = z1.clone(), z2.clone()
    gradients(loss, z1, z2)
    assert torch.equal(z1, kept[0])
    assert torch.equal(z2, kept[1])
