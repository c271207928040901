"""CorInfoMax against its definition over Python floats, over several steps; its state."""

import math

import pytest
import torch

from reprise.errors import RepriseError
from reprise.objectives import Moments, corinfomax


class Literal:
    """The two running moments of one view, entry by entry."""

    def __init__(self, dim):
        self.mean = [0.0] * dim
        self.covariance = [[float(i == j) for j in range(dim)] for i in range(dim)]

    def update(self, z, forgetting):
        n, dim = len(z), len(z[0])
        for i in range(dim):
            self.mean[i] = forgetting * self.mean[i] + (1 - forgetting) * sum(row[i] for row in z) / n
        for i in range(dim):
            for j in range(dim):
                new = sum((row[i] - self.mean[i]) * (row[j] - self.mean[j]) for row in z) / n
                self.covariance[i][j] = forgetting * self.covariance[i][j] + (1 - forgetting) * new

    def log_determinant(self, epsilon):
        """By elimination."""
        a = [[x + epsilon * (i == j) for j, x in enumerate(row)] for i, row in enumerate(self.covariance)]
        total = 0.0
        for k in range(len(a)):
            total += math.log(a[k][k])
            for i in range(k + 1, len(a)):
                factor = a[i][k] / a[k][k]
                a[i] = [x - factor * y for x, y in zip(a[i], a[k], strict=True)]
        return total


@pytest.mark.parametrize(("forgetting", "epsilon"), [(0.01, 1e-6), (0.6, 0.1)])
def test_corinfomax_is_its_definition_over_four_steps(views, forgetting, epsilon):
    state, literal = Moments.initial(3), [Literal(3), Literal(3)]
    for step in range(4):
        z1, z2 = views(7, 3, seed=step)
        loss, state = corinfomax(z1, z2, state, attraction=20.0, forgetting=forgetting, epsilon=epsilon)
        spread = 0.0
        for moments, z in zip(literal, (z1, z2), strict=True):
            moments.update(z.tolist(), forgetting)
            spread += moments.log_determinant(epsilon) / 3
        squares = [float(d) ** 2 for d in (z1 - z2).flatten()]
        assert loss.item() == pytest.approx(20 * sum(squares) / 21 - spread)
    for name in Moments._fields:
        expected = torch.tensor([getattr(moments, name) for moments in literal], dtype=torch.float64)
        torch.testing.assert_close(getattr(state, name), expected)


def test_the_state_is_returned_new_in_float64_and_without_gradient(views):
    z1, z2 = (z.requires_grad_() for z in views(7, 3, dtype=torch.float32))
    before = Moments.initial(3)
    loss, after = corinfomax(z1, z2, before)
    assert torch.equal(before.mean, Moments.initial(3).mean)
    assert torch.equal(before.covariance, Moments.initial(3).covariance)
    assert not torch.equal(after.covariance, before.covariance)
    assert all(part.dtype == torch.float64 and not part.requires_grad for part in after)
    loss.backward()
    assert z1.grad.dtype == torch.float32


def test_what_happened_before_counts(views):
    z1, z2 = views(7, 3)
    first, state = corinfomax(z1, z2, Moments.initial(3), forgetting=0.5)
    second, _ = corinfomax(z1, z2, state, forgetting=0.5)
    assert (first - second).abs() > 1e-3


def test_the_paper_s_equation_7_is_its_limit_without_memory(views):
    """Skean 2024, Eq. 7, of centred embeddings, per dimension."""
    z1, z2 = views(40, 3)
    z1, z2 = z1 - z1.mean(0), z2 - z2.mean(0)
    loss, _ = corinfomax(z1, z2, Moments.initial(3), attraction=0.0, forgetting=0.0, epsilon=1e-3)
    identity = 1e-3 * torch.eye(3, dtype=torch.float64)
    expected = -sum(torch.logdet(z.T @ z / 40 + identity) for z in (z1, z2)) / 3
    torch.testing.assert_close(loss, expected)


def test_a_state_of_another_dimension(views):
    with pytest.raises(RepriseError, match=r"a state of 4 dimensions .*start from Moments.initial\(3\)"):
        corinfomax(*views(7, 3), Moments.initial(4))
