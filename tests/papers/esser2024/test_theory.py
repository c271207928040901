"""The formulas of the theory: what is right holds, misprints fail, and independent looks at what the checks
stand on."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy.linalg import expm
from scipy.optimize import minimize

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.identities import orthonormal
from reprise.evidence.judgement import judge
from reprise.papers.esser2024.limiting_dynamics import dynamics
from reprise.papers.esser2024.theory import (
    autodiff,
    constraints,
    output_dynamics,
    outputs,
    points,
    sigmoid,
    trace_loss,
)
from reprise.papers.esser2024.theory.claims import FORMULAS, THEORY
from reprise.papers.esser2024.theory.compute import compute
from reprise.papers.esser2024.theory.experiment import Params

BY_ID = {claim.id: claim for claim in THEORY}
WRONG = {id for id, claim in BY_ID.items() if claim.misprint}


@pytest.fixture(scope="module")
def tables(kept):
    return kept("esser2024/theory", Params())


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    """A misprint is contradicted only where its corrected form holds."""
    expected = "contradicted" if id in WRONG else "reproduced"
    for margin_scale in (0.5, 1, 2):
        assert judge(BY_ID[id], tables, margin_scale=margin_scale).verdict == expected


def test_too_few_points_prove_nothing():
    few = compute(Params(points=2), Context())
    assert {judge(BY_ID[id], few).verdict for id in set(BY_ID) - WRONG} == {"inconclusive"}


def test_the_table_is_tidy(tables):
    table = tables["identities"]
    assert not table.duplicated(["identity", "form", "seed"]).any()
    assert table.notna().all(axis=None)
    assert (table.groupby(["identity", "form"])["seed"].nunique() == Params().points).all()


def test_sizes_vary(tables):
    assert (tables["identities"].groupby("identity")["inputs"].nunique() > 1).all()


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute(Params(points=1, first_seed=7), Context())["identities"]
    among = tables["identities"].query("seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def largest_error(name, number=5):
    """The largest error, over some points, of a formula that should hold."""
    formula = next(each for each in FORMULAS if each.name == name)
    found = [formula.all_errors(formula.tried_at(rng(seed), 5)) for seed in range(number)]
    return max(each.corrected if formula.misprint else each.printed for each in found)


def test_a_loss_without_negatives_breaks_the_contrastive_dynamics(monkeypatch):
    def forgetful(triplets, u):
        return -(u(autodiff.tensor(triplets.x)) * u(autodiff.tensor(triplets.positive))).sum()

    monkeypatch.setattr(autodiff, "contrastive", forgetful)
    broken = {
        name for name in ("eq4/dynamics", "eq5/dynamics", "prop1/identical") if largest_error(name) > 0.1
    }
    assert broken == {"eq5/dynamics", "prop1/identical"}


def test_a_descent_that_stops_early_finds_no_minimum(monkeypatch):
    monkeypatch.setattr(constraints, "STEPS", 2)
    for name in ("prop2", "prop3", "prop3-width", "prop2-eigenvector"):
        assert largest_error(name) > IDENTITY_TOLERANCE


@pytest.mark.parametrize("name", ["thm2-ode", "thm3-positive"])
def test_with_another_corrected_ode_the_corrections_fail(monkeypatch, name):
    monkeypatch.setitem(
        dynamics.ODES, "corrected", lambda q, values: dynamics.printed(q, values) * 0.9 + 0.01
    )
    assert largest_error(name) > IDENTITY_TOLERANCE


# Independent looks at what the checks stand on.


def test_random_points_are_what_they_say():
    values = np.linalg.eigvalsh(points.symmetric(rng(), 2, 3))
    assert (values < 0).sum() == 2
    assert np.abs(values).min() >= 0.5 - 1e-12
    matrix = points.symmetric(rng(1), 2, 2)
    np.testing.assert_allclose(points.triplets_of(rng(2), matrix).matrix, matrix, atol=1e-13)


def test_the_features_are_those_of_the_kernel():
    x, other = (autodiff.tensor(rng(seed).normal(size=(n, 4))) for seed, n in ((0, 3), (1, 2)))
    inner = autodiff.features(x, 0.7) @ autodiff.features(other, 0.7).T
    torch.testing.assert_close(inner, (x @ other.T + 0.7) ** 2)


def test_the_tangent_kernel_by_finite_differences():
    weights = rng().normal(size=(5, 3)), rng(1).normal(size=(5, 2))
    x, other = rng(2).normal(size=(2, 3)), rng(3).normal(size=(4, 3))
    flat = np.concatenate([w.ravel() for w in weights])

    def u(values, inputs):
        w1, w2 = values[:15].reshape(5, 3), values[15:].reshape(5, 2)
        return np.tanh(inputs @ w1.T) @ w2

    def slopes(inputs):
        steps = 1e-6 * np.eye(len(flat))
        return np.stack([(u(flat + s, inputs) - u(flat - s, inputs)) / 2e-6 for s in steps], -1)

    found = autodiff.tangent_kernel(autodiff.tanh_network, weights, x, other)
    expected = np.einsum("nlp,mjp->nlmj", slopes(x), slopes(other))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_velocity_is_a_finite_difference_along_the_flow():
    at, model = points.random_triplets(rng(), 3), autodiff.tanh_network
    weights = rng(1).normal(size=(6, 3)), rng(2).normal(size=(6, 2))
    downhill = autodiff.gradients(autodiff.contrastive, at, model, weights)
    ahead, behind = (
        autodiff.outputs(model, [w - s * 1e-6 * g for w, g in zip(weights, downhill, strict=True)], at.x)
        for s in (1, -1)
    )
    found = autodiff.velocity(autodiff.contrastive, at, model, weights, at.x)
    np.testing.assert_allclose(found, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-6)


def test_a_narrow_nonlinear_network_has_interaction_between_its_outputs():
    """Lemma 1 speaks of linear models, kernels and infinite width only."""
    weights, x = (rng().normal(size=(8, 3)), rng(1).normal(size=(8, 2))), rng(2).normal(size=(5, 3))
    kernel = autodiff.tangent_kernel(autodiff.tanh_network, weights, x, x)
    assert np.linalg.norm(kernel[:, 0, :, 1]) > 0.01 * np.linalg.norm(kernel)


def test_every_output_of_a_linear_model_is_moved_by_the_same_map():
    """exp(-2 C t), on which the check of the collapse stands, against the flow."""
    at, theta = points.triplets_of(rng(), points.symmetric(rng(1), 1, 2)), rng(2).normal(size=(2, 3))
    found = autodiff.follow(at, theta, 0.5)
    np.testing.assert_allclose(found, theta @ expm(-2 * 0.5 * at.matrix), rtol=1e-8)


def test_coupling_is_zero_for_a_sum_over_outputs_alone():
    at = points.Triplets(np.eye(2), np.eye(2), np.eye(2))
    theta = rng().normal(size=(3, 2))
    assert autodiff.coupling(lambda _, u: (u(torch.eye(2).double()) ** 4).sum(), at, theta) == 0
    square = autodiff.coupling(lambda _, u: u(torch.eye(2).double()).sum() ** 2, at, theta)
    assert square == pytest.approx(np.sqrt(2 / 3))


def test_infonce_is_cross_entropy_with_the_positive_first():
    at, theta = points.random_triplets(rng(), 3), autodiff.tensor(rng(1).normal(size=(2, 3)))
    model = partial(autodiff.linear, (theta,))
    logits = autodiff.logits(at, model)
    u, plus, minus = (model(autodiff.tensor(each)) for each in (at.x, at.positive, at.negative))
    assert float(logits[2, 0]) == pytest.approx(float(u[2] @ plus[2]))
    assert float(logits[2, 1 + 4]) == pytest.approx(float(u[2] @ minus[4]))
    target = torch.zeros(len(u), dtype=torch.long)
    expected = torch.nn.functional.cross_entropy(logits, target, reduction="sum")
    torch.testing.assert_close(autodiff.infonce(at, model), expected)


def test_infonce_keeps_a_dimension_that_the_simple_loss_loses():
    """Two orthogonal anchors with x⁺ = x and x⁻ = -x, and InfoNCE with each anchor's own negative."""
    x, shares = np.diag([1.5, 1.0]), []
    for is_infonce in (False, True):
        theta = np.array([[0.3, 0.1], [-0.1, 0.3]])
        for _ in range(4000):
            u = theta @ x
            weight = 1 / (1 + np.exp(2 * (u**2).sum(0))) if is_infonce else np.ones(2)
            theta = theta + 4e-3 * weight * u @ x
        values = np.linalg.svd(theta @ x, compute_uv=False)
        shares.append(values[1] / values[0])
    assert shares[0] < 1e-6
    assert shares[1] > 0.8


def test_the_gradient_of_descend_is_that_of_the_loss(monkeypatch):
    """One step without a constraint, against automatic differentiation."""
    matrix = points.symmetric(rng(), 2, 1)
    w1, w2 = rng(1).normal(size=(4, 3)), rng(2).normal(size=(4, 2))
    at = points.triplets_of(rng(3), matrix)
    gradients = autodiff.gradients(autodiff.contrastive, at, autodiff.linear_network, (w1, w2))
    rate = 0.15 / (np.linalg.norm(matrix, 2) * np.linalg.norm(w1, 2) * np.linalg.norm(w2, 2))
    monkeypatch.setattr(constraints, "STEPS", 1)
    stepped = constraints.descend(matrix, w1, w2, lambda *w: w)
    for before, after, gradient in zip((w1, w2), stepped, gradients, strict=True):
        np.testing.assert_allclose((before - after) / rate, gradient, rtol=1e-10)


def test_the_losses_are_those_of_the_outputs():
    point = trace_loss.linear_network(rng(), 5)
    weights = point.w1, point.w2
    model = partial(autodiff.linear_network, tuple(map(autodiff.tensor, weights)))
    assert point.contrastive == pytest.approx(float(autodiff.contrastive(point.triplets, model)))
    assert point.non_contrastive == pytest.approx(float(autodiff.non_contrastive(point.triplets, model)))


def test_the_counterexample_to_proposition_3():
    """C = diag(-1, 2, 3), z = 2, h = 3: (3) reaches -1, but (4) no less than 1, whatever the start."""
    c = np.diag([-1.0, 2.0, 3.0])
    q = constraints.descend_product(c, rng().normal(size=(3, 2)))
    assert np.trace(q.T @ c @ q) == pytest.approx(-1)
    starts = ((orthonormal(rng(s), 3, 3), orthonormal(rng(100 + s), 3, 2)) for s in range(10))
    ends = [constraints.descend(c, *start, constraints.orthonormal_columns) for start in starts]
    assert min(trace_loss.trace(*end, c) for end in ends) == pytest.approx(1)
    wide = constraints.descend(
        c, orthonormal(rng(), 4, 3), orthonormal(rng(1), 4, 2), constraints.orthonormal_columns
    )
    assert trace_loss.trace(*wide, c) == pytest.approx(-1)


def test_the_constraint_of_4_is_what_makes_singular_values_one():
    """Subspaces of dimension d and z in h dimensions share d + z - h directions."""
    w1, w2 = orthonormal(rng(), 4, 3), orthonormal(rng(1), 4, 2)
    values = np.linalg.svd(w1.T @ w2, compute_uv=False)
    assert values[0] == pytest.approx(1)
    assert values[1] < 0.999


def test_the_scaled_minimum_against_a_general_optimiser():
    """Nelder-Mead, which knows of no constraint and no gradient, on problem (1) with one output."""
    matrix = points.symmetric(rng(5), 1, 1)

    def loss(flat):
        return constraints.scaled(flat[:4].reshape(2, 2), flat[4:].reshape(2, 1), matrix)

    found = minimize(
        loss,
        rng(6).normal(size=6),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9999},
    )
    assert found.fun == pytest.approx(np.linalg.eigvalsh(matrix)[0], rel=1e-5)


def test_frobenius_constraints_collapse_where_orthonormal_ones_do_not():
    """C is the same, with two negative eigenvalues."""
    matrix = points.symmetric(rng(), 2, 2)
    start = rng(1).normal(size=(6, 4)), rng(2).normal(size=(6, 2))
    ranks = [
        np.linalg.matrix_rank(w1.T @ w2, tol=1e-6)
        for w1, w2 in (
            constraints.descend(matrix, *start, constraint)
            for constraint in (constraints.frobenius(1, 1), constraints.orthonormal_columns)
        )
    ]
    assert ranks == [1, 2]


def test_with_two_square_layers_equation_9_has_two_thirds_of_the_velocity():
    """The flow in the Euclidean metric has these velocities for h = d = 2 and z = 1."""
    for seed in range(5):
        point = output_dynamics.random_weights(rng(seed), 2, 1, 2)
        found = dynamics.printed(point.q, point.eigenvalues) / point.descent_velocity
        np.testing.assert_allclose(found, 2 / 3, rtol=1e-6)


def test_the_loss_changes_when_the_first_layer_turns():
    """The loss (8) is a function of W2's column space, but not of W1's, so that the metric matters."""
    point = output_dynamics.random_weights(rng(), 3, 2, 6)
    before = point.loss(point.w1, point.w2)
    assert point.loss(point.w1, point.w2 @ orthonormal(rng(1), 2, 2)) == pytest.approx(before)
    assert abs(point.loss(point.w1 @ orthonormal(rng(1), 3, 3), point.w2) - before) > 0.1 * abs(before)


def test_what_the_proof_leaves_out_is_the_turning_of_the_first_layer():
    """Ẇ1 = -(I - W1 W1ᵀ) G - W1 (W1ᵀ G - Gᵀ W1) / 2 has the velocity of small projected steps; with twice the
    last part, as in the canonical metric, q̇ = -4 (Λ q - q qᵀ Λ q)."""
    point = output_dynamics.random_weights(rng(), 3, 2, 6)
    g = 2 * point.w2 @ point.w2.T @ point.w1 @ point.c
    turning = -point.v.T @ (point.w1 @ (point.w1.T @ g - g.T @ point.w1) / 2).T @ point.w2
    velocity, q = point.proof_velocity, point.q
    np.testing.assert_allclose(velocity + turning, point.descent_velocity, rtol=1e-6, atol=1e-8)
    moved = point.eigenvalues[:, None] * q
    np.testing.assert_allclose(velocity + 2 * turning, -4 * (moved - q @ q.T @ moved), atol=1e-12)


def test_the_means_over_starts_are_those_of_drawn_weights():
    """The sigmoid's offset, over uniformly random orthonormal weights."""
    random, h, z, x = rng(), 4, 2, np.array([0.8, -1.1])
    w1, w2 = (np.linalg.qr(random.normal(size=(20_000, h, n)))[0] for n in (len(x), z))
    w1, w2 = (w * random.choice([-1, 1], (len(w), 1, w.shape[2])) for w in (w1, w2))

    def residual(hidden):
        return 1 / (1 + np.exp(-hidden)) - hidden

    drawn = (np.einsum("shz,sh->sz", w2, residual(w1 @ x)) ** 2).sum(1).mean()
    means = []
    for seed in range(50):
        start = sigmoid.Start(orthonormal(rng(seed), h, 2), orthonormal(rng(100 + seed), h, z), x)
        means.append(start.mean_square(residual(start.signs * (start.w1 @ x))))
    assert np.mean(means) == pytest.approx(drawn, rel=0.02)


def test_expectation_of_the_enumeration_is_that_of_samples():
    states, probability = rng().normal(size=(4, 2)) + 1, np.array([0.1, 0.2, 0.3, 0.4])
    noise = np.sqrt(0.1) * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    exact = trace_loss.States(states, probability, noise, 3).expectation(states)
    draws = rng(1)
    x, x_minus = (states[draws.choice(4, size=(100_000, 3), p=probability)] for _ in range(2))
    step = np.sqrt(0.1) * draws.normal(size=x.shape)
    found = np.einsum("sna,snb->ab", x, x_minus - x - step) / len(x)
    np.testing.assert_allclose(found, exact, atol=0.05)


def test_a_decoupled_sum_has_one_kernel_for_all_outputs():
    """Proposition 1's equation for one output alone is that for all."""
    point = outputs.models(rng(), 5)
    pull = outputs.by_kernel(lambda x, other: x @ other.T, point.probe)
    together, alone = (
        outputs.motion(pull, point.triplets, lambda x, t=theta: x @ t.T, contrastive=True)
        for theta in (point.theta, point.theta[:1])
    )
    np.testing.assert_allclose(together[:, :1], alone)
