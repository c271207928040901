"""Objectives by name, and a user's own from a file."""

import inspect
import re

import pytest
import torch

from reprise import objectives
from reprise.errors import RepriseError

MINE = """
import torch

def my_loss(z1, z2):
    negatives = -torch.cdist(z1, z1).square() / 2
    positives = -(z1 - z2).square().sum(1) / 2
    itself = torch.eye(len(z1), dtype=torch.bool)
    return (torch.where(itself, positives[:, None], negatives).logsumexp(1) - positives).mean()

number = 3
"""


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


def pair():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, 4, 12, 3, generator=generator).requires_grad_()


OF_TWO_VIEWS = {
    name
    for name, function in vars(objectives).items()
    if getattr(function, "__module__", "").startswith("reprise.objectives.")
    and inspect.isfunction(function)
    and re.match(r"\(z1: [^:]*, z2: [^:]*(, \*,.*)?\) -> ", str(inspect.signature(function)))
}


@pytest.mark.parametrize("name", sorted(OF_TWO_VIEWS))
def test_a_loss_of_two_views_has_a_name(name):
    """It serves stacks of replicas, and one batch alone."""
    assert objectives.resolve(name) is getattr(objectives, name)
    z1, z2 = pair()
    together = objectives.resolve(name)(z1, z2)
    alone = [objectives.resolve(name)(*both) for both in zip(z1, z2, strict=True)]
    torch.testing.assert_close(together, torch.stack(alone))


@pytest.mark.parametrize("name", [*sorted(set(vars(objectives)) - OF_TWO_VIEWS), "vicregs", "torch", ""])
def test_an_unknown_name_is_told_the_allowed_ones(name):
    with pytest.raises(RepriseError) as caught:
        objectives.resolve(name)
    message = str(caught.value)
    assert f"unknown objective '{name}'" in message
    *allowed, own = message.partition("allowed: ")[2].split(", ")
    assert set(allowed) == OF_TWO_VIEWS
    assert own == "or path/mine.py:my_loss"


def test_a_users_loss_that_writes_the_same_formula_is_the_built_in(mine):
    both = pair()
    losses = [loss(*both) for loss in (objectives.resolve(f"{mine}:my_loss"), objectives.infonce_distance)]
    torch.testing.assert_close(*losses, rtol=1e-5, atol=0)
    assert losses[0].shape == (4,)
    torch.testing.assert_close(
        *(torch.autograd.grad(loss.sum(), both)[0] for loss in losses), rtol=1e-4, atol=1e-6
    )


def test_a_users_loss_may_build_on_a_published_one(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from reprise.objectives import infonce_distance\n"
        "def my_loss(z1, z2):\n    return 3 * infonce_distance(z1, z2) + z1.square().mean()\n"
    )
    z1, z2 = pair()
    mine = objectives.resolve(f"{file}:my_loss")(z1, z2)
    expected = 3 * objectives.infonce_distance(z1, z2) + z1.square().mean((1, 2))
    torch.testing.assert_close(mine, expected)
    for wanted in (z1, z2):
        found, theirs = (
            torch.autograd.grad(loss.sum(), wanted, retain_graph=True)[0] for loss in (mine, expected)
        )
        torch.testing.assert_close(found, theirs)


def test_a_users_loss_serves_one_batch_too(mine):
    """As an image net's training calls it."""
    z1, z2 = pair()
    loss = objectives.resolve(f"{mine}:my_loss")
    alone = [loss(*both) for both in zip(z1, z2, strict=True)]
    assert alone[0].shape == ()
    torch.testing.assert_close(torch.stack(alone), loss(z1, z2))
    (gradient,) = torch.autograd.grad(sum(alone), z1)
    assert gradient.abs().sum() > 0


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RepriseError, match=r"objective '.*none\.py:my_loss': no file .*none\.py"):
        objectives.resolve(f"{tmp_path}/none.py:my_loss")


@pytest.mark.parametrize("function", ["yours", "number"])
def test_a_missing_function_is_named(mine, function):
    with pytest.raises(RepriseError, match=f"mine.py defines no function '{function}'"):
        objectives.resolve(f"{mine}:{function}")
