"""The identities of the theory: all hold, and other formulas or numbers turn the verdict."""

import numpy as np
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.judgement import judge
from reprise.papers.ren2023.theory import gradients, limit, scores, stages
from reprise.papers.ren2023.theory.claims import CLAIMS
from reprise.papers.ren2023.theory.compute import compute
from reprise.papers.ren2023.theory.experiment import Params
from reprise.papers.ren2023.theory.population import Learners, random_learners, random_limit, signs

BY_ID = {claim.id: claim for claim in CLAIMS}
NEEDED = "ren2023/lemma-44/needs-condition"


@pytest.fixture(scope="module")
def tables():
    return compute(Params(), Context())


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    for margin_scale in (0.5, 1, 2):
        assert judge(BY_ID[id], tables, margin_scale=margin_scale).verdict == "reproduced"


@pytest.mark.parametrize("id", BY_ID)
def test_counter_case(tables, id):
    """The verdict flips with errors on the other side of the tolerance, which are read from the table."""
    error = 0.0 if id == NEEDED else 2 * IDENTITY_TOLERANCE
    found = judge(BY_ID[id], {"identities": tables["identities"].assign(relative_error=error)})
    assert found.verdict == "contradicted"
    assert found.observed == error


def test_too_few_points_prove_nothing():
    few = compute(Params(points=2), Context())
    assert {judge(claim, few).verdict for claim in CLAIMS} == {"inconclusive"}


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
    alone = compute(Params(points=1, first_point=7), Context())["identities"]
    among = tables["identities"].query("seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def broken_by(monkeypatch, owner, name, other, *checks):
    """The identities of some checks that a changed function leaves off by more than the tolerance."""
    monkeypatch.setattr(owner, name, other)
    worst = {}
    for check in checks:
        for point in range(3):
            for identity, forms in check(np.random.default_rng(point), 5).errors.items():
                worst[identity] = max(worst.get(identity, 0.0), *forms.values())
    return {identity for identity, error in worst.items() if error > IDENTITY_TOLERANCE}


def test_an_expectation_over_positive_pairs_alone_is_another_gradient(monkeypatch):
    """Without its negatives, the pull of positive pairs is not the gradient."""

    def pulls_only(learners):
        s_a, s_b = learners.softmax(learners.similarity(learners.a.w, learners.b.w))
        return learners.pairs * (2 - s_a - s_b)

    broken = broken_by(
        monkeypatch,
        gradients,
        "weights_of_pairs",
        pulls_only,
        gradients.lemma_a2,
        gradients.lemma_a3,
        gradients.cor_a4,
    )
    assert broken >= {"lemma-a2/gradient", "lemma-a3/signal", "lemma-a3/noise", "cor-a4/q-matrices"}


def test_without_the_norms_gradient_lemma_a1_fails(monkeypatch):
    frozen = {}

    def constant_norm(self, of, w):
        return frozen.setdefault(id(of), (self.inputs(of) @ w.detach()).square().sum(-1).mean().sqrt())

    assert broken_by(monkeypatch, Learners, "norm", constant_norm, gradients.lemma_a1) >= {
        "lemma-a1/similarity"
    }


def test_a_tanh_too_large_breaks_eq_8_but_not_what_has_no_negatives(monkeypatch):
    tanh = np.tanh
    broken = broken_by(monkeypatch, np, "tanh", lambda x: 1.01 * tanh(x), limit.lemma_a7, limit.lemma_c2)
    assert broken == {
        "lemma-a7/norms", "lemma-a7/inner-products", "lemma-c2/first", "lemma-c2/second",
    }  # fmt: skip


def test_columns_that_are_not_orthogonal_do_not_follow_eq_8():
    rng = np.random.default_rng(0)
    learners = random_learners(rng, 4)
    found = limit.measured(learners, limit.CONTRASTIVE)
    moment = limit.Moment(
        random_limit(rng, 4)[1].limit.of(np.ones(learners.signals)), found.k[None], found.h[None], np.ones(1)
    )
    assert not np.allclose(moment.velocity(learners.tau2).k[0], found.k_rate, rtol=1e-2)


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


def test_a_short_stage_ends_nowhere(monkeypatch):
    """Lemmas 5.1 and 5.3 are about long stages: their checks see short ones."""
    solve = stages.solve

    def short(limit_, steps, given, **rest):
        looks = [float(step) / 1000 for step in steps]
        return solve(limit_, looks, [stages.Stage(stage.steps / 1000, stage.tau2) for stage in given], **rest)

    broken = broken_by(monkeypatch, stages, "solve", short, stages.lemma51, stages.lemma53)
    assert broken >= {"lemma-51/noise", "lemma-51/aligned", "lemma-53/balanced"}
