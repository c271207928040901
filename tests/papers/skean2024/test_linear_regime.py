"""Figure 2: what is computed, and how claims read it."""

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import departures
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.edits import times
from reprise.evidence.judgement import judge
from reprise.papers.skean2024.linear_regime import claims, compute, problem
from reprise.papers.skean2024.linear_regime.experiment import READ, SHOWN, VIEWS, Params, alternatives, check
from reprise.papers.skean2024.linear_regime.ideal import ideal
from reprise.papers.skean2024.linear_views import LOSSES

TINY = {
    "data_set": "photographs", "samples": 24, "horizon": 0.02, "records": 6, "seeds": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def tiny():
    return compute.compute(Params(**TINY), Context())


def test_the_tables_are_tidy(tiny):
    runs = len(VIEWS) * len(compute.RUNS) * 2
    assert len(tiny["runs"]) == runs == len(tiny["runs"][["views", "run", "seed"]].drop_duplicates())
    assert len(tiny["modes"]) == runs * SHOWN
    assert len(tiny["spectrum"]) == SHOWN * len(tiny["loss"]) <= 6 * SHOWN * runs
    for table in tiny.values():
        assert np.isfinite(table.select_dtypes("number")).all(axis=None)
    wide = tiny["spectrum"].pivot(
        index=["views", "run", "seed", "step"], columns="index", values="eigenvalue"
    )
    assert (np.diff(wide, axis=1) <= 0).all()


def test_a_seed_has_the_same_numbers_in_any_company(tiny):
    alone = compute.compute(Params(**{**TINY, "seeds": 1}), Context())
    for name, table in tiny.items():
        pd.testing.assert_frame_equal(alone[name], table.query("seed == 0").reset_index(drop=True))


def test_a_run_is_gradient_descent_of_the_layers_from_the_seeds_start(tiny):
    """By autograd, on the pixels themselves."""
    params = Params(**TINY)
    images, _ = compute.load("photographs", "nowhere")
    which = compute.Streams([1], "images").uniform(len(images))[0].argsort(stable=True)[: params.samples]
    for views, run in (("same", "frossl"), ("crops", "barlow-own")):
        x = torch.from_numpy(problem.centred(problem.VIEWS[views](images[which], 1)))
        assert x.mean(1).abs().max() < 1e-12
        w = torch.from_numpy(problem.initial(3072, params.dim, params.init_std, 1)).requires_grad_()
        rows = tiny["loss"].query("views == @views and run == @run and seed == 1").sort_values("step")
        rate = tiny["runs"].query("views == @views and run == @run and seed == 1")["learning_rate"].item()
        np.testing.assert_allclose(rows["time"], rows["step"] * rate)
        identity = torch.eye(params.dim).double()
        for step in range(rows["step"].max() + 1):
            z1, z2 = x @ w.mT
            if run == "frossl":
                variances = sum((z.T @ z - identity).square().sum() for z in (z1, z2))
                loss = variances + (z1 - z2).square().sum()
            else:
                loss = (z1.T @ z2 - identity).square().sum()
            if step in set(rows["step"]):
                np.testing.assert_allclose(rows.query("step == @step")["loss"].item(), loss.item(), rtol=1e-8)
                found = tiny["spectrum"].query(
                    "views == @views and run == @run and seed == 1 and step == @step"
                )
                values = torch.linalg.svdvals(z1.detach()).square()
                np.testing.assert_allclose(found["eigenvalue"], values, rtol=1e-6, atol=1e-15)
            (gradient,) = torch.autograd.grad(loss, w)
            w = (w.detach() - rate * gradient).requires_grad_()


def test_learning_rates_are_the_share_of_the_largest_stable_ones(tiny):
    runs = tiny["runs"].pivot(index=["views", "seed"], columns="run")
    rate, sharpness = runs["learning_rate"], runs["predicted_sharpness"]
    np.testing.assert_allclose(rate["frossl"], 0.9 * 2 / sharpness["frossl"])
    np.testing.assert_allclose(rate["barlow"], rate["frossl"])
    np.testing.assert_allclose(rate["barlow-own"], 0.9 * 2 / sharpness["barlow"])


def test_views_are_more_or_less_alike():
    images = compute.load("photographs", "nowhere")[0][:64]
    correlation = []
    for views in VIEWS:
        x = problem.centred(problem.VIEWS[views](images, 0))
        assert x.shape == (2, 64, 3072)
        np.testing.assert_array_equal(x, problem.centred(problem.VIEWS[views](images, 0)))
        correlation.append((x[0] * x[1]).sum() / np.sqrt(np.square(x).sum((1, 2)).prod()))
    same, noise, crops, strong = correlation
    assert same == pytest.approx(1)
    assert strong < min(noise, crops) < max(noise, crops) < 0.99
    noisy = problem.VIEWS["noise"](images, 0) - images / 255
    assert float(noisy.std()) == pytest.approx(problem.NOISE, rel=0.01)
    assert np.corrcoef(noisy.flatten(1))[0, 1] == pytest.approx(0, abs=0.01)


def test_settings_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="at least dim"):
        Params(dim=2000)
    with pytest.raises(RepriseError, match="views must hold"):
        check(Params(views=("same",)))


def test_alternatives_differ_in_what_is_unstated_and_the_stand_in_is_a_departure(tmp_path):
    for other in alternatives(Params()).values():
        assert Params(**other.model_dump()) == other != Params(seeds=3)
    found = departures(Params(data_set="photographs", samples=512))
    assert found == [
        "data_set: photographs (paper: cifar10)",
        "samples: 512 (paper: 1024)",
    ]
    check(Params(data_set="photographs", root=str(tmp_path)))
    with pytest.raises(Exception, match="cifar-10-batches-py lacks"):
        check(Params(root=str(tmp_path)))


def test_a_crossing_is_interpolated_in_the_logarithm_and_bounded_by_the_end():
    time = np.linspace(0, 4, 9)
    assert claims.crossing(time, 1e-3 * np.exp(2 * time), 0.25) == pytest.approx(np.log(250) / 2)
    assert claims.crossing(time, 1e-3 * np.ones(9), 0.25) == 4
    assert np.isnan(claims.crossing(time, np.r_[np.ones(8), np.nan], 0.25))


QUICKER = registry.experiment("skean2024/linear_regime").claims[0]


@pytest.fixture(scope="module")
def tables():
    return ideal(Params(seeds=8))


def test_claims_read_the_authors_views_or_in_a_setting_without_them_its_own(tables):
    base = judge(QUICKER, tables).observed
    of = {views: {name: table[table["views"] == views] for name, table in tables.items()} for views in VIEWS}
    assert judge(QUICKER, of[READ]).observed == base
    assert judge(QUICKER, of["same"]).observed < base  # whose modes grow faster


def test_what_never_rises_decides_nothing(tables):
    flat = times("spectrum", "eigenvalue", 0.01)(tables)
    assert judge(QUICKER, flat).verdict == "inconclusive"


def test_a_run_that_ends_before_the_other_rises_is_no_evidence_for_it(tables):
    """Barlow's is cut short, before FroSSL's eigenvalue has risen: it may or may not have been quicker."""
    rises = claims.rise(READ, "frossl")(tables)
    rows = tables["spectrum"]
    kept = rows[(rows["run"] != "barlow") | (rows["time"] < 0.9 * rises.min())]
    assert claims.rise_beside("frossl", "barlow")({**tables, "spectrum": kept}).isna().all()
    late = rows[(rows["run"] != "barlow") | (rows["time"] < 1.1 * rises.max())]
    assert claims.rise_beside("frossl", "barlow")({**tables, "spectrum": late}).notna().all()


def test_the_losses_of_the_runs_are_known():
    assert {loss for pair in compute.RUNS.values() for loss in pair} == set(LOSSES)
