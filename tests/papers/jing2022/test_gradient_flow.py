"""The formulas of the theory hold, and so do the steps of the proofs."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.judgement import judge
from reprise.papers.jing2022 import theory
from reprise.papers.jing2022.gradient_flow import formulas, motion, points, singular_values, two_layers
from reprise.papers.jing2022.gradient_flow.claims import THEORY
from reprise.papers.jing2022.gradient_flow.compute import compute
from reprise.papers.jing2022.gradient_flow.experiment import Params

BY_ID = {claim.id: claim for claim in THEORY}


@pytest.fixture(scope="module")
def tables(kept):
    return kept("jing2022/gradient_flow", Params())


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    for margin_scale in (0.5, 1, 2):
        assert judge(BY_ID[id], tables, margin_scale=margin_scale).verdict == "reproduced"


def test_negatives_of_the_other_branch_break_what_rests_on_eq2(monkeypatch):
    """The formulas are those of Eq. 2's loss and no other's."""

    def other_branch(z, z_aug):
        return torch.nn.functional.cross_entropy(
            -0.5 * (z[:, None] - z_aug[None]).square().sum(-1), torch.arange(len(z)), reduction="sum"
        )

    monkeypatch.setattr(motion, "infonce", other_branch)
    table = compute(Params(), Context())["identities"]
    largest = table.groupby("identity")["relative_error"].max()
    broken = set(largest.index[largest > IDENTITY_TOLERANCE])
    assert broken == {
        *("eq2/inner-products", "lemma1/gradient-flow", "eq4/embedding-gradients", "eq6"),
        *("lemma2", "lemma2/amplitude", "lemma3", "lemma6", "lemma7", "thm3", "thm3-closed-form"),
    }


def test_too_few_points_prove_nothing():
    few = compute(Params(points=2), Context())
    assert {judge(BY_ID[id], few).verdict for id in BY_ID} == {"inconclusive"}


def test_the_table_is_tidy(tables):
    table = tables["identities"]
    assert not table.duplicated(["identity", "form", "seed"]).any()
    assert table.notna().all(axis=None)
    assert (table.groupby(["identity", "form"])["seed"].nunique() == Params().points).all()


def test_sizes_vary(tables):
    sizes = tables["identities"].groupby("identity")[["inputs", "outputs"]].nunique()
    assert (sizes > 1).all(axis=None)


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute(Params(points=1, first_seed=7), Context())["identities"]
    among = tables["identities"].query("seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def test_velocity_of_singular_factors_of_a_rotation():
    """W = R(t) diag(2, 1) turns U at unit speed and leaves S and V where they are."""
    turning = np.array([[0.0, -1.0], [1.0, 0.0]])
    w = np.diag([2.0, 1.0])
    du, ds, dv = motion.factors_velocity(w, turning @ w)
    u, _, _ = motion.svd(w)
    np.testing.assert_allclose(du, turning @ u, atol=1e-10)
    np.testing.assert_allclose(ds, 0, atol=1e-10)
    np.testing.assert_allclose(dv, 0, atol=1e-10)


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (5, 2), (4, 4)])
def test_lemma_5_holds_for_the_whole_factors_of_any_shape(shape):
    random = np.random.default_rng(0)
    for _ in range(20):
        w, velocity = points.distinct(random, *shape), random.normal(size=shape)
        assert singular_values.lemma5_error(w, velocity) < 1e-9
        assert singular_values.lemma5_error(w, velocity, sign=-1) > 0.1


@pytest.mark.parametrize("widths", [(3, 6, 3), (2, 5, 4), (5, 2, 5), (6, 3, 2), (3, 3, 3)])
def test_lemma_6_holds_for_the_whole_factors_of_any_widths(widths):
    """Also with more hidden units than inputs and outputs, where vectors that have no value stand beside."""
    inputs, hidden, outputs = widths
    random = np.random.default_rng(0)
    for _ in range(20):
        layers = points.distinct(random, hidden, inputs), points.distinct(random, outputs, hidden)
        model = points.on_random_data(random, *layers)
        assert two_layers.lemma6_error(model) < IDENTITY_TOLERANCE
        assert two_layers.lemma6_error(model, sign=-1) > 0.1


def test_vectors_without_a_value_turn_those_that_have_one_and_not_one_another():
    """W = (1, 0, 0)ᵀ turned towards the third axis."""
    u, s, v = motion.whole_svd(np.array([[1.0], [0.0], [0.0]]))
    velocity = np.array([[0.0], [0.0], [1.0]])
    du = formulas.left_velocity(u, s, v, velocity, formulas.inverse_gaps(s))
    np.testing.assert_allclose(du[:, 0] * u[0, 0], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(u.T @ du + du.T @ u, 0, atol=1e-12)
    assert (u.T @ du)[1:, 1:] == pytest.approx(0)


def models(random, make=two_layers.two_layers, count=20):
    return [make(random, 6) for _ in range(count)]


def small_augmentation(random, largest):
    """Two layers whose X is positive definite."""
    return points.augmented_at_threshold(two_layers.two_layers(random, largest), random.uniform(0.2, 0.9))


def test_theorem_2_the_imbalance_is_conserved():
    for model in models(np.random.default_rng(0)):
        (w1, w2), (velocity1, velocity2) = model.layers, model.velocities
        first, second = velocity1 @ w1.T, w2.T @ velocity2
        np.testing.assert_allclose(first + first.T, second + second.T, rtol=0, atol=1e-10)


def test_theorem_2_norms_grow_while_x_is_positive_definite():
    for model in models(np.random.default_rng(0), small_augmentation):
        (w1, w2), (velocity1, velocity2) = model.layers, model.velocities
        rate = 2 * np.trace(w2 @ w1 @ model.x_matrix @ w1.T @ w2.T)
        assert rate > 0
        assert [2 * np.sum(velocity1 * w1), 2 * np.sum(velocity2 * w2)] == pytest.approx([rate, rate])


@pytest.mark.parametrize("augmentation", [1.0, 2.5])
def test_theorem_2_has_a_counterexample(augmentation):
    """Inputs on a square: W1 = diag(a, b) and W2 = diag(b, a) stay so, and the layers stay misaligned."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])

    def model(flat):
        return points.Linear(tuple(flat.reshape(2, 2, 2)), x, augmentation * x)

    def flow(t, flat):
        return np.stack(model(flat).velocities).ravel()

    start = np.stack([np.diag([1, 0.5]), np.diag([0.5, 1])]).ravel()
    path = solve_ivp(flow, (0, 6), start, rtol=1e-10, atol=1e-12)
    for flat in path.y.T:
        moved = model(flat)
        w1, w2 = moved.layers
        (u1, _, _), (_, _, v2t) = moved.factors
        assert np.linalg.eigvalsh(moved.x_matrix)[0] > 0
        np.testing.assert_allclose(np.abs(v2t @ u1), [[0, 1], [1, 0]], atol=1e-8)
        np.testing.assert_allclose(w1 @ w1.T - w2.T @ w2, np.diag([0.75, -0.75]), atol=1e-8)
    if augmentation > 1:
        squares = np.square(np.diag(w1))
        assert squares == pytest.approx(np.sqrt(0.375**2 + np.log(3.5)) + np.array([0.375, -0.375]), rel=1e-3)


def test_theorem_3_the_difference_of_squares_is_conserved():
    for point in models(np.random.default_rng(0), two_layers.aligned):
        (_, s1, _), (_, s2, _) = point.factors
        (_, first, _), (_, second, _) = point.factor_velocities
        np.testing.assert_allclose(s1 * first, s2 * second, rtol=1e-6, atol=1e-9)


def test_theorem_3_balanced_layers_stay_aligned_and_others_do_not():
    for point in models(np.random.default_rng(0), two_layers.aligned):
        w1, _ = point.layers
        (_, s1, _), (u2, _, v2t) = point.factors
        balanced = points.Linear((w1, (u2 * s1) @ v2t), point.x, point.x_aug)
        scale = np.linalg.norm(balanced.factor_velocities[0][0])
        assert np.linalg.norm(two_layers.alignment_velocity(balanced)) < 1e-8 * scale
        assert np.linalg.norm(two_layers.alignment_velocity(point)) > 1e-4 * scale


def test_the_other_experiments_measure_lemma_2s_x():
    model = points.on_random_data(np.random.default_rng(0), np.random.default_rng(1).normal(size=(3, 4)))
    theirs = theory.x_matrix(*(torch.from_numpy(a) for a in (model.x, model.x_aug, model.z, model.z_aug)))
    np.testing.assert_allclose(theirs.numpy() * len(model.x), model.x_matrix, rtol=1e-10)
    assert formulas.softmax(model.z, model.z_aug).sum(1) == pytest.approx(1)
