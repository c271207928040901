"""The formulas hold at random points, and the computations behind them agree with plain loops."""

import numpy as np
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.papers.ren2023.infinite_width import Moment
from reprise.papers.ren2023.theory import limit, scores, stages
from reprise.papers.ren2023.theory.compute import compute
from reprise.papers.ren2023.theory.experiment import Params
from reprise.papers.ren2023.theory.population import random_learners, random_limit, signs

BY_ID = {claim.id: claim for claim in registry.experiment("ren2023/theory").claims}


@pytest.fixture(scope="module")
def tables(kept):
    return kept("ren2023/theory", Params())


def test_every_formula_holds(tables):
    assert {judge(claim, tables).verdict for claim in BY_ID.values()} == {"reproduced"}


def test_too_few_points_prove_nothing():
    few = compute(Params(points=2), Context())
    assert {judge(claim, few).verdict for claim in BY_ID.values()} == {"inconclusive"}


def test_one_point_refutes_a_bound(tables):
    table = tables["identities"].copy()
    hit = (table["identity"] == "lemma-45/bound") & (table["seed"] == 3)
    table.loc[hit, "relative_error"] = 1e-3
    assert judge(BY_ID["ren2023/lemma-45/bound"], {"identities": table}).verdict == "contradicted"
    fewer = tables["identities"].query("seed < 100")
    assert judge(BY_ID["ren2023/lemma-45/bound"], {"identities": fewer}).verdict == "inconclusive"


def test_the_table_is_tidy(tables):
    table = tables["identities"]
    assert not table.duplicated(["identity", "form", "seed"]).any()
    assert table.notna().all(axis=None)
    assert set(table.groupby(["identity", "form"])["seed"].nunique()) == {Params().points}
    assert {f"ren2023/{name}" for name in table["identity"]} == set(BY_ID)


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute(Params(points=1, first_seed=7), Context())["identities"]
    among = tables["identities"].query("seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def test_columns_that_are_not_orthogonal_do_not_follow_eq_8():
    rng = np.random.default_rng(0)
    learners = random_learners(rng, 4)
    found = limit.measured(learners, limit.CONTRASTIVE)
    moment = Moment(
        random_limit(rng, 4)[1].limit.of(np.ones(learners.signals)), found.k[None], found.h[None], np.ones(1)
    )
    assert not np.allclose(moment.velocity(learners.tau2).k[0], found.k_rate, rtol=1e-2)


# Steps that the lemmas rest on.


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_are_orthogonal_and_of_equal_norms_stay_so_without_noise(seed):
    """Section 5.2, after Eq. 7."""
    learners, _ = random_limit(np.random.default_rng(seed), 5, noiseless=True)
    found = limit.measured(learners, limit.CONTRASTIVE)
    shared = np.tile(np.eye(learners.signals, dtype=bool), (2, 2))
    np.testing.assert_allclose(found.rate[~shared], 0, atol=1e-12)
    np.testing.assert_allclose(found.diagonal(found.rate, 1, 1), found.k_rate, rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_every_cosine_of_a_signals_columns_grows_at_any_temperature(seed):
    """Section 5.4: alignment is maintained."""
    learners, _ = random_limit(np.random.default_rng(seed), 5)
    for setting in (limit.CONTRASTIVE, limit.NONCONTRASTIVE):
        found = limit.measured(learners, setting)
        assert (found.h_rate * found.k > found.h * found.k_rate).all()


@pytest.mark.parametrize("seed", range(5))
def test_without_negatives_the_norm_of_the_weights_is_conserved(seed):
    """The bound of Lemma 5.1 rests on it: Σ k_p / σ_p² + (d - r) v / σ_ξ² = d."""
    setting = stages.random_setting(np.random.default_rng(seed), 5)
    moment, limits = setting.stage1(), setting.limit
    weights = (moment.k / limits.sigma2).sum(-1) + limits.noises * moment.v / limits.noise2
    np.testing.assert_allclose(weights[:, 1], setting.dim, rtol=1e-7)
    assert (moment.k[:, 1] >= limits.sigma2[1] / 2).all()


def test_learners_that_stress_one_coordinate_are_aligned_but_not_balanced():
    """The example of Section 4."""
    k = np.eye(5, 4)
    for maps, rank in ((k, 4), (k * [1, 1e-4, 2e-4, 3e-4], 1)):
        learners = scores.of_maps(np.random.default_rng(0), 4, maps, maps)
        f_a, f_b = scores.outputs(learners)
        assert scores.alignment(f_a, f_b, learners.pairs) == pytest.approx(1 - 0.5**4)
        assert scores.stable_ranks(scores.covariance(f_a)) == pytest.approx((rank, rank), abs=1e-6)


# The population against a plain loop.


def test_losses_are_those_of_a_loop_over_states():
    learners = random_learners(np.random.default_rng(3), 4)
    latents = (signs(learners.dim) / learners.dim**0.5).numpy()
    r, tau2, k = learners.signals, learners.tau2, learners.negatives
    f = []
    for of in (learners.a, learners.b):
        raw = latents @ of.mixing.numpy().T @ of.w.numpy()
        f.append(raw / np.sqrt((raw**2).sum(1).mean()))
    terms, inner = [], []
    for y_a, f_a in zip(latents, f[0], strict=True):
        for y_b, f_b in zip(latents, f[1], strict=True):
            if (y_a[:r] == y_b[:r]).all():
                positive = np.exp(tau2 * f_a @ f_b)
                s_a = positive / (positive + k * np.exp(tau2 * f[1] @ f_a).mean())
                s_b = positive / (positive + k * np.exp(tau2 * f[0] @ f_b).mean())
                terms.append(-np.log(s_a) - np.log(s_b))
                inner.append(f_a @ f_b)
    weights = (learners.a.w, learners.b.w)
    assert float(learners.contrastive(*weights)) == pytest.approx(np.mean(terms) / tau2, rel=1e-12)
    assert float(learners.noncontrastive(*weights)) == pytest.approx(-np.mean(inner), rel=1e-12)


def test_the_alignment_score_is_that_of_a_loop():
    rng = np.random.default_rng(1)
    learners = random_learners(rng, 4)
    f_a, f_b = scores.outputs(learners)
    wins = []
    for a, b in zip(*np.nonzero(learners.pairs.numpy()), strict=True):
        near = np.linalg.norm(f_a[a] - f_b[b])
        wins += [near < np.linalg.norm(f_a[a] - other) * (1 - 1e-12) for other in f_b]
    assert scores.alignment(f_a, f_b, learners.pairs) == pytest.approx(np.mean(wins), rel=1e-12)
    others = scores.of_another_signal(learners)
    assert torch.allclose(others.sum(1), torch.ones(len(others), dtype=torch.float64))
    assert (others[learners.pairs > 0] == 0).all()


def test_stable_ranks_of_known_spectra():
    assert scores.stable_ranks(np.diag([2.0, 1.0, 0.0])) == (1.25, 1.5)
    assert scores.stable_ranks(np.eye(4)) == (4.0, 4.0)
