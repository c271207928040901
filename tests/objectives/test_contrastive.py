"""SimCLR and MoCo against lightly, the losses of Jing 2022's image experiments against loops over Python
floats; the queue."""

import math
from operator import mul

import pytest
import torch
from lightly.loss import NTXentLoss

from reprise.errors import RepriseError
from reprise.objectives import directclr, enqueue, infonce_other_view, moco, nt_xent


def cosine(a, b):
    return sum(map(mul, a, b)) / math.hypot(*a) / math.hypot(*b)


def literal_other_view(z1, z2, temperature):
    """The cross-entropy of each sample's second view among all second views, and the other way round."""
    total = 0.0
    for anchors, others in ((z1.tolist(), z2.tolist()), (z2.tolist(), z1.tolist())):
        for i, anchor in enumerate(anchors):
            weights = [math.exp(cosine(anchor, other) / temperature) for other in others]
            total -= math.log(weights[i] / sum(weights)) / 2 / len(anchors)
    return total


@pytest.mark.parametrize("temperature", [0.1, 0.5])
@pytest.mark.parametrize("shape", [(2, 3), (9, 4), (5, 16)])
def test_nt_xent_is_lightlys(views, shape, temperature):
    z1, z2 = views(*shape)
    expected = NTXentLoss(temperature=temperature)(z1, z2)
    torch.testing.assert_close(nt_xent(z1, z2, temperature=temperature), expected)


@pytest.mark.parametrize("temperature", [0.1, 0.5])
@pytest.mark.parametrize("shape", [(2, 3), (9, 4)])
def test_infonce_other_view_is_its_loop(views, shape, temperature):
    z1, z2 = views(*shape)
    found = infonce_other_view(z1, z2, temperature=temperature).item()
    assert found == pytest.approx(literal_other_view(z1, z2, temperature))


def test_negatives_of_the_own_view_are_in_nt_xent_alone(views):
    """Two samples whose first views agree and whose second views are apart: NT-Xent sees the agreement."""
    z1, z2 = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 1.0], [1.0, -1.0]])
    positive, negative = 1 / math.sqrt(2), [1 / math.sqrt(2)]
    other = math.log(2)
    assert infonce_other_view(z1, z2, temperature=1.0).item() == pytest.approx(other)
    first = math.log(2 * math.exp(positive) + math.exp(1)) - positive
    second = math.log(math.exp(positive) + math.exp(*negative) + 1) - positive
    assert nt_xent(z1, z2, temperature=1.0).item() == pytest.approx((first + second) / 2)


def test_directclr_sees_the_first_dimensions_alone(views):
    r1, r2 = views(8, 6)
    found = directclr(r1, r2, dimensions=2, temperature=0.2)
    assert found.item() == pytest.approx(literal_other_view(r1[:, :2], r2[:, :2], 0.2))
    moved = r1.clone()
    moved[:, 2:] += 3
    assert directclr(moved, r2, dimensions=2, temperature=0.2) == found


@pytest.mark.parametrize("dimensions", [0, 7])
def test_directclr_of_dimensions_that_there_are_not(views, dimensions):
    with pytest.raises(RepriseError, match=rf"{dimensions} dimensions.*\[8, 6\]; choose 1 to 6"):
        directclr(*views(8, 6), dimensions=dimensions)


def test_moco_is_lightlys_with_a_memory_bank(views):
    query, key = views(6, 4, dtype=torch.float32)
    theirs = NTXentLoss(temperature=0.2, memory_bank_size=(10, 4))
    queue = theirs.memory_bank.bank.clone()
    torch.testing.assert_close(moco(query, key, queue), theirs(query, key))


def test_no_gradient_reaches_moco_s_keys(views):
    query, key = (z.requires_grad_() for z in views(6, 4))
    queue = enqueue(torch.zeros(10, 4), key)
    moco(query, key, queue).backward()
    assert query.grad.abs().sum() > 0
    assert key.grad is None
    assert not queue.requires_grad


@pytest.mark.parametrize("size", [(0, 4), (5, 3), (5,)])
def test_a_queue_of_another_shape(views, size):
    with pytest.raises(RepriseError, match=r"moco: a queue of shape \[.*\[6, 4\]; expected \[size, 4\]"):
        moco(*views(6, 4), torch.ones(size))


@pytest.mark.parametrize(("size", "batch"), [(6, 2), (7, 3), (5, 5), (4, 9)])
def test_the_queue_holds_the_latest_keys_oldest_first(size, batch):
    """The queue's size is a multiple of the batch, no multiple, or less than one batch."""
    keys = torch.randn(5 * batch, 3, generator=torch.Generator().manual_seed(0))
    queue = torch.zeros(size, 3)
    for now in keys.split(batch):
        before = queue.clone()
        queue = enqueue(queue, now)
        assert queue.shape == (size, 3)
        assert torch.equal(queue[:-batch], before[batch:])
    latest = [key / key.norm() for key in keys][-size:]
    torch.testing.assert_close(queue, torch.stack(latest))
