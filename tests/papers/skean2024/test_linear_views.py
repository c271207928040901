"""The losses of the linear regime against autograd, descent in embeddings against descent in layers, and the
theory's numbers against dense linear algebra."""

from itertools import islice

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from reprise.datasets.catalogue import load
from reprise.papers.skean2024.linear_regime import problem
from reprise.papers.skean2024.linear_views import LOSSES, closed_form, descent, sharpness

EACH = pytest.mark.parametrize("loss", LOSSES)


def as_printed(loss, z1, z2):
    """Eq. 8 and Section 5.1's Barlow Twins, word for word."""
    identity = torch.eye(z1.shape[1], dtype=z1.dtype)
    if loss == "barlow":
        return (z1.T @ z2 - identity).square().sum()
    variance = (z1.T @ z1 - identity).square().sum() + (z2.T @ z2 - identity).square().sum()
    return variance + (z1 - z2).square().sum()


def pictures(seed=0, samples=14, inputs=20, noise=0.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, inputs)) * np.geomspace(2, 0.3, inputs)
    x = np.stack([x, x + noise * rng.normal(size=x.shape)])
    return (x - x.mean(1, keepdims=True)) / np.sqrt(samples)


def layers_descended(loss, x, w, learning_rate, steps):
    """Gradient descent of the layers themselves."""
    weights = [torch.tensor(each, requires_grad=True) for each in w]
    views = [torch.from_numpy(each) for each in x]
    for _ in range(steps):
        value = as_printed(loss, *(view @ weight.T for view, weight in zip(views, weights, strict=True)))
        gradients = torch.autograd.grad(value, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients, strict=True):
                weight -= learning_rate * gradient
    return [each.detach().numpy() for each in weights]


@EACH
def test_values_and_gradients_are_those_of_the_printed_loss(loss):
    z = np.random.default_rng(0).normal(size=(3, 2, 7, 4))
    for run in z:
        pair = [torch.tensor(each, requires_grad=True) for each in run]
        value = as_printed(loss, *pair)
        np.testing.assert_allclose(LOSSES[loss].value(run), value.item())
        expected = np.stack([each.numpy() for each in torch.autograd.grad(value, pair)])
        np.testing.assert_allclose(LOSSES[loss].gradient(run), expected)
    np.testing.assert_allclose(LOSSES[loss].gradient(z)[1], LOSSES[loss].gradient(z[1]))
    np.testing.assert_allclose(LOSSES[loss].value(z)[1], LOSSES[loss].value(z[1]))


@EACH
def test_descent_in_embeddings_is_descent_of_the_layers_and_so_it_is_reduced(loss):
    x, w = pictures(), 0.3 * np.random.default_rng(1).normal(size=(2, 3, 20))
    steps, learning_rate = 60, 0.01
    trained = layers_descended(loss, x, w, learning_rate, steps)
    expected = np.stack([view @ each.T for view, each in zip(x, trained, strict=True)])
    start = x @ w.swapaxes(1, 2)
    run = LOSSES[loss], learning_rate
    beside = LOSSES["frossl"], 0.003
    whole, other = next(islice(descent([run, beside], x @ x.swapaxes(1, 2), start), steps, None))
    assert np.abs(other - whole).max() > 0.01
    np.testing.assert_allclose(whole, expected, rtol=1e-9, atol=1e-12)
    at = problem.reduced(x, w)
    (turned,) = next(islice(descent([run], at.kernels, at.start), steps, None))
    for of, to in ((turned, expected), (at.start, start)):
        np.testing.assert_allclose(LOSSES[loss].value(of), LOSSES[loss].value(to), rtol=1e-9)
        np.testing.assert_allclose(
            np.linalg.svd(of, compute_uv=False), np.linalg.svd(to, compute_uv=False), rtol=1e-8
        )


def test_the_combinations_that_are_followed_stand_for_all():
    """Singular values and the loss are compared while the 10th eigenvalue grows; the leading combinations
    alone do not stand for all. Noise leaves the most over."""
    x = problem.centred(problem.VIEWS["noise"](load("photographs", "nowhere")[0][:448], 0))
    w = problem.initial(x.shape[-1], 10, 1e-3, 0)
    kernels, start = x @ x.swapaxes(1, 2), x @ w.swapaxes(1, 2)
    at = problem.reduced(x, w)
    assert at.start.shape[1] < 350
    leading = np.linalg.eigh(kernels.sum(0))[1][:, -100:]
    rate = 0.9 * 2 / at.predicted_sharpness("frossl")

    def after(kernels, start):
        (z,) = next(islice(descent([(LOSSES["frossl"], rate)], kernels, start), int(1 / rate), None))
        return np.linalg.svd(z, compute_uv=False), LOSSES["frossl"].value(z)

    expected = after(kernels, start)
    for found, close in zip(after(at.kernels, at.start), expected, strict=True):
        np.testing.assert_allclose(found, close, rtol=1e-5)
    fewer = after(leading.T @ kernels @ leading, leading.T @ start)
    assert np.abs(fewer[0] / expected[0] - 1).max() > 1e-4


@EACH
def test_the_closed_form_solves_its_equation_and_ends_at_rest(loss):
    variance, cross, start = np.array([2.0, 0.7]), np.array([1.5, 0.5]), np.array([0.1, 0.03])
    time = np.linspace(0, 9, 30)

    def flow(_, s):
        if loss == "barlow":
            return 2 * cross * s - 2 * cross**2 * s**3
        return 2 * (variance + cross) * s - 4 * variance**2 * s**3

    path = solve_ivp(flow, (0, 9), start, t_eval=time, rtol=1e-11, atol=1e-14).y.T
    found = closed_form(loss, variance, cross, start, time)
    np.testing.assert_allclose(found, path**2, rtol=1e-8)
    plateau = (1 + cross / variance) / 2 if loss == "frossl" else variance / cross
    np.testing.assert_allclose((variance * found)[-1], plateau, rtol=1e-3)


def aligned(values=(1.0, 0.8, 0.4), correlations=(0.9, 0.6, 0.5), samples=9):
    """Two views with the same singular values and vectors, whose left singular vectors are correlated."""
    rng = np.random.default_rng(3)
    left, _ = np.linalg.qr(rng.normal(size=(samples, 6)))
    right, _ = np.linalg.qr(rng.normal(size=(5, 3)))
    rho = np.array(correlations)
    other = left[:, :3] * rho + left[:, 3:] * np.sqrt(1 - rho**2)
    return np.stack([side * np.sqrt(values) @ right.T for side in (left[:, :3], other)]), right


@EACH
def test_modes_are_those_of_the_dense_matrices(loss):
    """Modes are compared where the views share eigenvectors, and for Barlow's loss in any case."""
    x, right = aligned()
    w = np.random.default_rng(2).normal(size=(2, 3, 5))
    found = problem.reduced(x, w).modes[loss]
    np.testing.assert_allclose(found.variance, [1.0, 0.8, 0.4])
    np.testing.assert_allclose(found.cross, [0.9, 0.48, 0.2])
    np.testing.assert_allclose(found.start, np.abs(np.diag(np.linalg.qr(w.sum(0) @ right / 2)[1])))
    if loss == "barlow":
        x = pictures(noise=1.0)
        of, cross, _ = np.linalg.svd(x[0].T @ x[1])
        found = problem.reduced(x, np.ones((2, 4, 20))).modes[loss]
        np.testing.assert_allclose(found.cross, cross[:4])
        np.testing.assert_allclose(found.variance, np.square(x[0] @ of[:, :4]).sum(0))


@EACH
def test_starts_are_what_the_linear_growth_starts_from(loss):
    """Late in it, the singular values of [W1 W2] are √2 s(0) exp(2 rate t), s being those of each layer."""
    x, _ = aligned(values=(3.0, 2.0, 1.0), correlations=(0.9, 0.8, 0.7))
    if loss == "barlow":
        x[1] += 0.05 * np.random.default_rng(1).normal(size=x[1].shape)
    w = np.random.default_rng(2).normal(size=(2, 3, 5))
    g1, g2, c = x[0].T @ x[0], x[1].T @ x[1], x[0].T @ x[1]
    zero = np.zeros_like(c)
    h = np.block([[g1, c], [c.T, g2]]) if loss == "frossl" else np.block([[zero, c], [c.T, zero]])
    modes = problem.reduced(x, w).modes[loss]
    rates = modes.cross + (modes.variance if loss == "frossl" else 0)
    t = 10 / (rates[0] - rates[2])
    values = np.linalg.svd(np.concatenate(list(w), 1) @ expm(2 * t * h), compute_uv=False)
    np.testing.assert_allclose(values, np.sqrt(2) * modes.start * np.exp(2 * rates * t), rtol=0.01)


@EACH
def test_the_sharpness_is_the_largest_eigenvalue_of_the_hessian(loss):
    x, right = aligned()
    lam, c = np.array([1.0, 0.8]), np.array([0.9, 0.48])
    s2 = closed_form(loss, lam, c, np.full(2, 0.1), np.array([1e6]))[0]
    w = np.sqrt(s2)[:, None] * right[:, :2].T

    def value(layers):
        return as_printed(loss, *(torch.from_numpy(v) @ layer.T for v, layer in zip(x, layers, strict=True)))

    at = torch.tensor(np.stack([w, w]))
    hessian = torch.autograd.functional.hessian(value, at).reshape(20, 20).numpy()
    largest = np.linalg.eigvalsh(hessian)[-1]
    assert sharpness(loss, 1.0, 0.9) == pytest.approx(11.2 if loss == "frossl" else 3.6)
    assert largest == pytest.approx(sharpness(loss, 1.0, 0.9))
    assert problem.reduced(x, np.ones((2, 2, 5))).predicted_sharpness(loss) == pytest.approx(largest)
    found = problem.measured_sharpness(LOSSES[loss], x @ x.swapaxes(1, 2), x @ w.T)
    assert found == pytest.approx(largest, rel=1e-6)


@EACH
@pytest.mark.parametrize(("share", "stays"), [(0.97, True), (1.03, False)])
def test_beyond_two_by_the_sharpness_descent_leaves_the_minimum_that_it_came_to(loss, share, stays):
    """The views are of any kind; descent may go on to flatter minima."""
    nudge = 1e-4
    for x in (aligned()[0], pictures(noise=0.0), pictures(noise=0.2)):
        at = problem.reduced(x, 0.01 * np.random.default_rng(4).normal(size=(2, 2, x.shape[-1])))
        slow = descent([(LOSSES[loss], 0.5 / at.predicted_sharpness(loss))], at.kernels, at.start)
        (near,) = next(islice(slow, 5000, None))
        found = problem.measured_sharpness(LOSSES[loss], at.kernels, near)
        assert found == pytest.approx(at.predicted_sharpness(loss), rel=0.1)
        nudged = near + nudge * np.random.default_rng(5).normal(size=near.shape)
        path = descent([(LOSSES[loss], share * 2 / found)], at.kernels, nudged)
        farthest = max(np.abs(z - near).max() for z in islice(path, 500))
        assert (farthest < 30 * nudge) == stays
