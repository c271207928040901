"""Finite-width learners of Ren 2023 against autograd, against training all of W, and against brute force."""

import math

import pytest
import torch

from reprise.numerics.streams import Streams
from reprise.papers.ren2023 import learners, model
from reprise.papers.ren2023.learners import Learner
from reprise.papers.ren2023.spectra import signal_variances

DIM, SIGNALS, SAMPLES, NEGATIVES = 6, 3, 9, 5.0
SCALE = torch.from_numpy(model.scales(signal_variances("linear", DIM, SIGNALS), 0.5, DIM))


def some_learner(width, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return Learner(*(torch.randn(4, width, DIM, generator=generator).double() for _ in range(2)))


def pairs(samples=SAMPLES, seed=0):
    y_a, y_b = model.positive_pairs(Streams([seed], "pairs"), DIM, SIGNALS, samples)
    return y_a[0], y_b[0]


def outputs(k, y):
    """f of Eq. 2, with the exact expectation in N."""
    return k @ y / (k.square().sum((-2, -1), keepdim=True) / DIM).sqrt()


def slow_contrastive(f_a, f_b, tau2):
    """Eq. 3, pair by pair."""
    total = 0.0
    samples = f_a.shape[-1]
    for i in range(samples):
        others = [j for j in range(samples) if j != i]
        positive = torch.exp(tau2 * f_a[:, i] @ f_b[:, i])
        for negative in (
            sum(torch.exp(tau2 * f_a[:, i] @ f_b[:, j]) for j in others),
            sum(torch.exp(tau2 * f_a[:, j] @ f_b[:, i]) for j in others),
        ):
            total -= torch.log(positive / (positive + NEGATIVES * negative / len(others))) / samples
    return total


def slow_population(f_a, f_b, tau2):
    """Eq. 3 over all latents, one positive pair at a time; sample i has the latents of corner i."""
    signal = model.hypercube(DIM)[:SIGNALS].T.tolist()
    same = [(i, j) for i in range(2**DIM) for j in range(2**DIM) if signal[i] == signal[j]]
    likeness = torch.exp(tau2 * f_a.T @ f_b)
    by_row, by_column = likeness.mean(1), likeness.mean(0)
    total = 0.0
    for i, j in same:
        for negative in (by_row[i], by_column[j]):
            total -= torch.log(likeness[i, j] / (likeness[i, j] + NEGATIVES * negative)) / len(same)
    return total


ALL = model.hypercube(DIM) / math.sqrt(DIM)
LOSSES = {
    "contrastive": (
        lambda: learners.contrastive(*pairs(), tau2=1.7, negatives=NEGATIVES),
        lambda f_a, f_b: slow_contrastive(f_a, f_b, 1.7), pairs(), 1.7,
    ),
    "non-contrastive": (
        lambda: learners.non_contrastive(*pairs()),
        lambda f_a, f_b: -(f_a * f_b).sum(0).mean(), pairs(), 1.0,
    ),
    "population": (
        lambda: learners.population(DIM, SIGNALS, tau2=1.7, negatives=NEGATIVES),
        lambda f_a, f_b: slow_population(f_a, f_b, 1.7), (ALL, ALL), 1.7,
    ),
}  # fmt: skip
"""Objective, its slow twin, on which latents, and by what the gradient is divided."""


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_gradients_are_those_of_autograd_on_the_definitions(name):
    made, slow, (y_a, y_b), tau2 = LOSSES[name]
    learner = some_learner(10)
    loss, by_kernel = made()(learner.kernel)
    found = learners.gradient(learner, by_kernel)
    for replica in range(2):
        k_a, k_b = (k[replica].clone().requires_grad_() for k in learner.pair)
        expected = slow(outputs(k_a, y_a), outputs(k_b, y_b))
        torch.testing.assert_close(loss[replica], expected.detach(), rtol=1e-12, atol=0)
        for ours, theirs in zip(found.pair, torch.autograd.grad(expected / tau2, [k_a, k_b]), strict=True):
            assert (ours[replica] - theirs).norm() <= 1e-12 * theirs.norm()


def test_the_exact_non_contrastive_loss_is_that_on_all_positive_pairs():
    signal = model.hypercube(DIM)[:SIGNALS]
    i, j = (signal.T[:, None] == signal.T[None]).all(-1).nonzero().T
    kernel = some_learner(10).kernel
    found = learners.exact_non_contrastive(DIM, SIGNALS)(kernel)
    for ours, theirs in zip(found, learners.non_contrastive(ALL[:, i], ALL[:, j])(kernel), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_normalisation_is_the_exact_expectation():
    learner = some_learner(10)
    for k, norm in zip(learner.pair, learner.norms, strict=True):
        torch.testing.assert_close((k @ ALL).square().sum(1).mean(1), norm[:, 0, 0] ** 2)


def test_no_gradient_along_the_learner_itself():
    """The loss does not depend on the length of K_A."""
    learner = some_learner(10)
    _, by_kernel = learners.contrastive(*pairs(), tau2=3.0, negatives=NEGATIVES)(learner.kernel)
    for k, gradient in zip(learner.pair, learners.gradient(learner, by_kernel).pair, strict=True):
        assert (k * gradient).sum((-2, -1)).abs().max() < 1e-13


@pytest.mark.parametrize("contrastive", [True, False])
@pytest.mark.parametrize("width", [40, 1000])
def test_the_reduction_is_plain_sgd_on_all_of_w(width, contrastive):
    """Thirty steps of W_A, W_B (d x m) on x = [A, A_ξ] y by autograd, and of the reduced learner by hand."""
    a, b = model.mixing(Streams([0, 1], "mixing"), SCALE.numpy())
    weights = list(
        torch.randn(2, DIM, width, generator=torch.Generator().manual_seed(1)).double() / width**0.5
    )
    whole = Learner(*(w.mT @ mix for w, mix in zip(weights, (a, b), strict=True)))
    small = learners.reduced(whole)
    for step in range(30):
        tau2 = 0.5 if step < 15 else 8.0
        y_a, y_b = pairs(seed=step)
        for w in weights:
            w.requires_grad_()
        f_a, f_b = (
            w.mT @ mix @ y / ((w.mT @ mix).square().sum() / DIM).sqrt()
            for w, mix, y in zip(weights, (a, b), (y_a, y_b), strict=True)
        )
        if contrastive:
            loss = slow_contrastive(f_a, f_b, tau2) / tau2
            objective = learners.contrastive(y_a, y_b, tau2=tau2, negatives=NEGATIVES)
        else:
            loss = -(f_a * f_b).sum(0).mean()
            objective = learners.non_contrastive(y_a, y_b)
        gradients = torch.autograd.grad(loss, weights)
        weights = [(w - 0.3 * g).detach() for w, g in zip(weights, gradients, strict=True)]
        small = learners.descended(small, objective, SCALE, 0.3)[0]
    whole = torch.cat([w.mT @ mix for w, mix in zip(weights, (a, b), strict=True)], -1)
    ours = torch.cat(small.pair, -1)
    assert ours.shape == (2 * DIM, 2 * DIM)
    torch.testing.assert_close(ours.mT @ ours, whole.mT @ whole, rtol=1e-10, atol=1e-12)


def test_the_root_has_the_gram_matrix_of_that_many_weights():
    root = learners.gram_root(Streams([3], "W"), 50, DIM)
    z = Streams([3], "W").normal(50, 2 * DIM).double()
    torch.testing.assert_close(root.mT @ root, z.mT @ z / 50)
    learner = learners.initial(root, SCALE)
    w_a, w_b = (z / 50**0.5)[0].chunk(2, -1)
    for k, w in zip(learner.pair, (w_a, w_b), strict=True):
        torch.testing.assert_close(k[0].mT @ k[0], (w * SCALE).T @ (w * SCALE))
    with pytest.raises(ValueError, match="width 11 is less than 12"):
        learners.gram_root(Streams([3], "W"), 11, DIM)


def test_a_replica_does_not_see_which_others_share_its_stack():
    learner = some_learner(10)
    objective = learners.contrastive(*pairs(), tau2=3.0, negatives=NEGATIVES)
    together = learners.descended(learner, objective, SCALE, 0.1)[0]
    for replica in range(4):
        alone = Learner(*(k[replica : replica + 1] for k in learner.pair))
        for ours, theirs in zip(
            learners.descended(alone, objective, SCALE, 0.1)[0].pair, together.pair, strict=True
        ):
            torch.testing.assert_close(ours[0], theirs[replica], rtol=1e-13, atol=1e-14)


def test_the_flow_is_of_fourth_order():
    """Halving the step of Runge-Kutta divides its error by 16."""
    learner = Learner(*(k[:1] for k in some_learner(10).pair))
    objective = learners.population(DIM, SIGNALS, tau2=4.0, negatives=NEGATIVES)

    def end(steps):
        at = learner
        for _ in range(steps):
            at = learners.flowed(at, objective, SCALE, 4.0 / steps)
        return at.k_a

    exact = end(128)
    ratio = (end(8) - exact).norm() / (end(16) - exact).norm()
    assert 11 < ratio < 24
