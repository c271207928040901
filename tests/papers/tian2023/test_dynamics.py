"""The formulas of the theory: what is right holds, misprints and mistakes of ours fail."""

import sys
from dataclasses import replace
from subprocess import run

import numpy as np
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.formula import checks
from reprise.evidence.identities import relative_error, tried
from reprise.evidence.judgement import judge
from reprise.papers.tian2023 import contrastive
from reprise.papers.tian2023.dynamics import (
    batchnorm,
    claims,
    kernels,
    one_layer,
    points,
    roughness,
    two_layers,
)
from reprise.papers.tian2023.dynamics.compute import SIZES, compute
from reprise.papers.tian2023.dynamics.experiment import Params
from reprise.papers.tian2023.dynamics.formulas import FORMULAS

CLAIMS = [
    *claims.THEORY,
    claims.slow_updates,
    claims.batch_norm_alleviates,
    claims.more_uniform,
    claims.gap_more_constant,
]
BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.fixture(scope="module")
def tables(kept):
    return kept("tian2023/dynamics", Params())


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    expected = "contradicted" if BY_ID[id].misprint else "reproduced"
    for margin_scale in (0.5, 1, 2):
        assert judge(BY_ID[id], tables, margin_scale=margin_scale).verdict == expected


def test_claims_do_not_wait_for_torch():
    code = """import sys, reprise.papers.tian2023.dynamics.claims
sys.exit(bool({"torch", "scipy"} & set(sys.modules)))"""
    assert run([sys.executable, "-c", code], check=False).returncode == 0


def test_too_few_points_prove_nothing():
    few = compute(Params(points=2), Context())
    verdicts = {claim.id: judge(claim, few).verdict for claim in CLAIMS if not claim.misprint}
    assert set(verdicts.values()) == {"inconclusive"}


def test_the_table_is_tidy(tables):
    table = tables["identities"]
    assert not table.duplicated(["identity", "form", "seed"]).any()
    assert table.notna().all(axis=None)
    points = table.groupby(["identity", "form"])["seed"].nunique()
    assert set(points) == {Params().points}
    assert set(table["identity"]) == {formula.name for formula in FORMULAS}


def test_sizes_vary(tables):
    sizes = tables["identities"].drop(columns=["form", "seed", "relative_error"]).groupby("identity")
    without = sizes.max().max(axis=1) == 0
    assert list(without.index[without]) == ["cor2/exponentially-small"]
    assert ((sizes.nunique().max(axis=1) > 1) | without).all()


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute(Params(points=1, first_seed=7), Context())
    for name, table in alone.items():
        assert table.to_dict("list") == tables[name].query("seed == 7").to_dict("list")


@pytest.mark.parametrize("layer", ["none", "BatchNorm"])
@pytest.mark.parametrize("point", range(5))
def test_weights_of_unequal_fields_move_as_their_gradients_say(point, layer):
    """By automatic differentiation, over all inputs of the longer and shorter fields."""
    found = batchnorm.slow_fields(np.random.default_rng(point), 4)[layer]
    rng = np.random.default_rng(point)
    model = two_layers.random_modulated(rng, 4)
    lengths = 5.0 ** rng.uniform(-1, 1, len(model.delta))
    values = model.mixture.values * lengths[:, None, None]
    x, probability = replace(model.mixture, values=values).joint
    hidden = model.net.hidden(x)
    std = (probability @ (hidden - probability @ hidden) ** 2).sqrt()
    scale = std if layer == "BatchNorm" else torch.ones_like(std)
    s = points.top_eigenvector(points.variance(probability, hidden / scale))
    (dw,) = points.gradient(
        lambda w: s @ points.variance(probability, model.net.hidden(x, w) / scale) @ s / 2, model.net.w
    )
    speed = points.projected(model.net.w[:, 0], dw[:, 0]).norm(dim=1)
    d = lengths**2 * model.d
    slow, fast = int(d.argmin()), int(d.argmax())
    assert found["speed"] == pytest.approx(float((speed[slow] / speed[fast]).log10()), abs=1e-6)


def test_no_filter_is_silent_where_batch_norm_divides_by_its_deviation():
    """The first batch that this point draws has one, which an attempt to confirm came upon."""
    assert compute(Params(points=1, first_seed=254480124), Context())["identities"].notna().all(axis=None)


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def broken_by(monkeypatch, module, name, other):
    """The identities that a changed function contradicts."""
    monkeypatch.setattr(module, name, other)
    tables = compute(Params(), Context())
    return {
        id.removeprefix("tian2023/")
        for id, claim in BY_ID.items()
        if not claim.misprint and judge(claim, tables).verdict == "contradicted"
    }


def test_a_gradient_through_the_variance_breaks_appendix_d_alone(monkeypatch):
    """Lemma 6 is about mean-backprop BatchNorm and no other."""

    def vanilla(f, f_aug):
        mean, std = batchnorm.statistics(f, f_aug)
        return [(view - mean) / std for view in (f, f_aug)]

    assert broken_by(monkeypatch, batchnorm, "normalised", vanilla) == {"lemma6"}


def test_an_activation_with_an_offset_is_not_homogeneous(monkeypatch):
    """Each formula draws the same points as when all are tried."""
    monkeypatch.setitem(points.HOMOGENEOUS, "relu", lambda x: torch.relu(x + 0.2))
    about_it = {"lemma3", "lemma4", "thm5"}
    tried_alone = checks(formula for formula in FORMULAS if formula.name in about_it)
    params = Params()
    tables = {"identities": tried(tried_alone, range(params.points), params.largest, SIZES, Context())}
    for name in about_it:
        assert judge(BY_ID[f"tian2023/{name}"], tables).verdict != "reproduced"


def test_features_of_a_g_below_its_bound_are_not_nonnegative():
    y = np.array([[0.5], [-0.4]])
    features = kernels.gaussian_features(y, 1.0)
    np.testing.assert_allclose(features @ features.T, np.exp(-((y - y.T) ** 2) / 2), rtol=1e-12)
    assert features.min() < 0


def test_augmentations_within_a_sample_reduce_the_limit():
    """Lemma 2's variance is of the mean over augmentations, not of all views."""
    rng = np.random.default_rng(0)
    g = torch.from_numpy(rng.normal(size=(4, 2, 1)))
    _, _, sample, first, second = kernels.large_batch(rng, 4, 2)
    ones = torch.ones(len(sample), len(sample), dtype=torch.float64)
    views = g[sample, first], g[sample, second]
    assert contrastive.contrastive_covariance(ones, *views) < views[0].var(correction=0)


def test_a_rough_lme_need_not_be_stable():
    """Beyond the condition of Theorem 1 some weights near w* leave it: the condition is not empty."""
    rng = np.random.default_rng(0)
    assert any(one_layer.around_an_lme(rng, 3, 8.0).left() > 1 for _ in range(20))


def test_where_the_printed_bound_of_theorem_2_fails():
    """For the uniform density on a disc, whose roughness has a closed form, at small radii."""
    for radius in (0.05, 3.0):
        flat = roughness.Ball(radius, np.eye(2), np.zeros(2), np.zeros((2, 2)), np.zeros((2, 1)), np.ones(1))
        density = 1 / (np.pi * radius**2)
        activity, entering = 2 * radius / (3 * np.pi), 2 * radius**3 / 3 * density
        assert flat.r == pytest.approx(density)
        assert flat.volume == pytest.approx(np.pi * radius**2)
        assert flat.roughness == pytest.approx(activity * entering)
        assert flat.roughness < radius**2 * flat.volume / np.pi * flat.r
        assert (flat.roughness > radius**3 * flat.volume / np.pi * flat.r) == (radius < 0.1)


def test_volume_in_three_dimensions():
    flat = roughness.Ball(2.0, np.eye(3), np.zeros(3), np.zeros((3, 3)), np.zeros((3, 1)), np.ones(1))
    assert float(flat.mass) == pytest.approx(flat.volume) == pytest.approx(4 / 3 * np.pi * 8)


def test_contrastive_covariance_is_equation_3():
    """In a loop over all pairs."""
    rng = np.random.default_rng(0)
    alpha = torch.from_numpy(rng.uniform(size=(5, 5)))
    a, a_aug, b, b_aug = (torch.from_numpy(rng.normal(size=(5, n))) for n in (2, 2, 3, 3))
    expected = torch.zeros(2, 3, dtype=torch.float64)
    for i in range(5):
        for j in range(5):
            expected += alpha[i, j] * torch.outer(a[i] - a[j], b[i] - b[j])
            expected -= alpha[i, j] * torch.outer(a[i] - a_aug[i], b[i] - b_aug[i])
    found = contrastive.contrastive_covariance(alpha, a, a_aug, b, b_aug)
    torch.testing.assert_close(found, expected / 50)
    own = contrastive.contrastive_covariance(alpha, a, a_aug)
    assert contrastive.energy(alpha, a, a_aug) == pytest.approx(float(own.trace() / 2))


def test_a_mixture_is_a_distribution():
    mixture = points.random_mixture(np.random.default_rng(0), 3, 2, 2)
    x, probability = mixture.joint
    assert float(probability.sum()) == pytest.approx(1)
    means = np.einsum("c,ckn->kn", mixture.classes, mixture.mean_given(mixture.values))
    np.testing.assert_allclose(torch.einsum("s,skd->kd", probability, x), means)


def test_a_linear_network_has_no_specialised_filters_but_a_relu_has():
    """Theorem 4's co-linearity is of linear networks: gates differ between filters."""
    rng = np.random.default_rng(0)
    net = points.random_network(rng, 4, points.HOMOGENEOUS["relu"])
    batch = points.random_batch(rng, *net.w[:, 0].shape)
    s = points.top_eigenvector(batch.covariance(net.hidden))
    assert two_layers.spread(two_layers.ascent(net, batch, s)) > 0.01


@pytest.mark.parametrize("point", range(5))
def test_the_hidden_variance_of_two_classes_is_diagonal_plus_rank_one(point):
    """V[f1] = D + p0 p1 b bᵀ (Eq. 138), and with BatchNorm V[x̃_k^bn] = A_k/σ_k² (Eq. 175)."""
    model = two_layers.random_modulated(np.random.default_rng(point), 5)
    expected = np.diag(model.d) + model.p0p1 * np.outer(model.b, model.b)
    np.testing.assert_allclose(model.hidden_variance, expected, atol=1e-12)
    x, probability = model.mixture.joint
    gated = model.net.gated(x)[:, :, 0]
    for k, expected in enumerate(model.a):
        np.testing.assert_allclose(points.variance(probability, gated[:, k]), expected, atol=1e-12)


def test_infonce_ascends_the_energy_of_its_softmax_weights():
    """Eq. 1 with ε = 0, by the α after Eq. 3."""
    batch = points.random_batch(np.random.default_rng(0), 3)
    temperature, off_diagonal = 0.5, ~torch.eye(len(batch.x), dtype=torch.bool)

    def similar(z):
        return torch.exp(-0.5 * (z[:, None] - z[None]).square().sum(-1) / temperature) * off_diagonal

    def infonce(z, z_aug):
        within = torch.exp(-0.5 * (z - z_aug).square().sum(-1) / temperature)
        return -temperature * torch.log(within / similar(z).sum(1)).sum()

    alpha = similar(batch.x) / similar(batch.x).sum(1, keepdim=True)
    down = torch.stack(points.gradient(infonce, *batch.views))
    up = torch.stack(points.gradient(lambda *views: contrastive.energy(alpha, *views), *batch.views))
    assert relative_error(2 * len(alpha) ** 2 * up.numpy(), -down.numpy()) < 1e-12
