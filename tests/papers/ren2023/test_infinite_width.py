"""Eq. 8 against automatic differentiation of the losses, and its solutions against what is known of them."""

import numpy as np
import pytest
from scipy.optimize import brentq

from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment, Stage, solve
from reprise.papers.ren2023.theory.population import Learners, Modality, random_limit, random_mixing, tensor

LINEAR = np.linspace(4, 1, 10)
BOTH = np.array([True, False])


def of_learners(learners: Learners) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """k, h and v by autograd: their rates for the contrastive loss (row 0) and the other (row 1)."""
    k_a, k_b = (of.maps.numpy() for of in (learners.a, learners.b))
    k, h, v = [], [], []
    r = learners.signals
    for loss in (learners.contrastive, learners.noncontrastive):
        of_a, of_b = (velocity.numpy() for velocity in learners.velocities(loss))
        k.append(2 * (k_a * of_a).sum(0)[:r])
        h.append((k_a * of_b + k_b * of_a).sum(0)[:r])
        v.append(2 * (k_a * of_a).sum(0)[r:])
    return np.array(k), np.array(h), np.array(v)


@pytest.mark.parametrize("seed", range(5))
def test_the_velocity_is_autograds_where_columns_are_orthogonal(seed):
    learners, moment = random_limit(np.random.default_rng(seed), 5)
    k, h, v = of_learners(learners)
    velocity = moment.velocity(learners.tau2)
    assert np.allclose(velocity.k, k, rtol=1e-10, atol=1e-13)
    assert np.allclose(velocity.h, h, rtol=1e-10, atol=1e-13)
    assert np.allclose(velocity.v[:, None], v, rtol=1e-10, atol=1e-13)
    weights = (learners.a.w, learners.b.w)
    assert moment.loss(learners.tau2)[0] == pytest.approx(
        float(learners.contrastive(*weights)) * learners.tau2
    )
    assert moment.loss(learners.tau2)[1] == pytest.approx(float(learners.noncontrastive(*weights)))


def test_random_weights_of_large_width_start_with_the_velocity_of_the_limit():
    rng = np.random.default_rng(0)
    scales, width = np.array([1.5, 1.2, 1.0, 0.5, 0.5]), 100_000
    first, second = (
        Modality(random_mixing(rng, scales), tensor(rng.normal(size=(5, width)) / np.sqrt(width)))
        for _ in "ab"
    )
    k, h, v = of_learners(Learners(first, second, 3, 20.0, 1.5))
    limit = InfiniteWidth.of(scales[:3] ** 2, noise2=0.25, noises=2, negatives=20.0, contrastive=BOTH)
    velocity = limit.start().velocity(1.5)
    # An inner product of two random columns is of the order of 1 / sqrt(width).
    assert np.abs(velocity.k - k).max() < 0.02 > np.abs(velocity.v[:, None] - v).max()
    assert np.allclose(velocity.h, h, rtol=0.02)


def test_the_solution_moves_with_the_velocity():
    limit = InfiniteWidth.of(LINEAR, noise2=0.25, noises=20, contrastive=BOTH)
    path = solve(limit, [99.9, 100.0, 100.1], [Stage(200, 2.0)], step_size=0.2)
    velocity = path.moment.velocity(2.0)
    for name in ("k", "h", "v"):
        found = (getattr(path.moment, name)[2] - getattr(path.moment, name)[0]) / 0.04
        assert np.allclose(found, getattr(velocity, name)[1], rtol=1e-5, atol=1e-6)


def test_the_norm_of_the_weights_is_conserved():
    limit = InfiniteWidth.of(LINEAR, noise2=0.25, noises=20, contrastive=BOTH)
    at = solve(limit, np.arange(0, 1001, 50), [Stage(300, 0.1), Stage(700, 12.0)], step_size=0.2).moment
    weights = (at.k / LINEAR).sum(-1) + 20 * at.v / 0.25  # d at the start
    assert np.allclose(weights, 30, rtol=1e-7)


def test_without_contrast_the_limit_solves_one_equation():
    """k_p = σ_p² (exp(σ_p² H) + exp(-σ_p² G)) / 2; at the end G is infinite, and Σ exp(σ_p² H) = 2 r."""
    limit = InfiniteWidth.of(LINEAR, contrastive=False)
    at = solve(limit, [1e5], [Stage(1e5, 1.0)]).moment
    final = brentq(lambda h: np.exp(LINEAR * h).sum() - 20, 0, 1, xtol=1e-14)
    assert np.allclose(at.k[0, 0], LINEAR * np.exp(LINEAR * final) / 2, rtol=1e-6)
    assert at.rho[0, 0] == pytest.approx(1)


def test_equal_spectra_stay_balanced_and_contrast_balances_others():
    equal = solve(InfiniteWidth.of(np.full(6, 2.0), contrastive=BOTH), [500], [Stage(500, 4.0)]).moment
    assert np.allclose(equal.condition, 1)
    assert np.allclose(equal.stable_rank, 6)
    assert np.allclose(equal.intrinsic_dimension, 6)
    contrast = solve(InfiniteWidth.of(LINEAR), [3000], [Stage(60, 0.1), Stage(2940, 12.0)]).moment
    assert contrast.condition[0, 0] == pytest.approx(1, abs=1e-6)
    assert contrast.distance[0, 0] < 1e-6


def test_settings_of_a_batch_do_not_depend_on_each_other():
    negatives = np.array([1.0, 255.0, 255.0])
    tau2 = np.array([0.1, 3.0, 100.0])
    together = solve(InfiniteWidth.of(LINEAR, negatives=negatives), [50], [Stage(50, tau2)]).moment
    for row in range(3):
        alone = solve(InfiniteWidth.of(LINEAR, negatives=negatives[row]), [50], [Stage(50, tau2[row])]).moment
        assert np.allclose(together.k[:, row], alone.k[:, 0], rtol=1e-7)


def test_stages_and_starts_join():
    limit = InfiniteWidth.of(LINEAR, noise2=0.25, noises=20)
    stages = [Stage(30, 0.1), Stage(20, 12.0)]
    path = solve(limit, [0, 10, 30, 40, 50], stages, step_size=0.2)
    assert path.tau2[:, 0].tolist() == [0.1, 0.1, 0.1, 12, 12]
    assert np.allclose(path.moment.k[0], limit.start().k, rtol=1e-14)
    middle = Moment(limit, path.moment.k[2], path.moment.h[2], path.moment.v[2])
    rest = solve(limit, [10, 20], stages[1:], step_size=0.2, start=middle)
    assert np.allclose(rest.moment.k, path.moment.k[3:], rtol=1e-7)
    with pytest.raises(ValueError, match="is beyond the last stage"):
        solve(limit, [51], stages)
