"""Figure 2: what is computed, and every claim on data made to hold it and to break it."""

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import departures
from reprise.errors import RepriseError
from reprise.evidence.judgement import judge
from reprise.papers.skean2024.linear_regime import claims, compute, problem
from reprise.papers.skean2024.linear_regime.experiment import READ, SHOWN, VIEWS, Params, alternatives, check
from reprise.papers.skean2024.linear_views import LOSSES, closed_form

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


# Claims: tables that hold them all, and for each a change by which it is contradicted.

VARIANCE = 8 * 0.45 ** np.arange(SHOWN)
RHO = {"same": 1.0, "noise": 0.9, "crops": 0.8, "strong": 0.7}
SEEDS, TIMES = range(8), 12_000 * np.linspace(0, 1, 1001) ** 2


def held():
    """The closed form itself, with modes far apart; Barlow's own learning rate is a fifth larger."""
    spectrum, loss, modes, runs = [], [], [], []
    for views, rho in RHO.items():
        for run in compute.RUNS:
            name = run.removesuffix("-own")
            rate = 1.2 if run == "barlow-own" else 1.0
            for seed in SEEDS:
                variance = VARIANCE * (1 + 0.01 * seed)
                start = np.full(SHOWN, 1e-3)
                s2 = closed_form(name, variance, rho * variance, start, rate * TIMES)
                value = -np.sort(-variance * s2, axis=1)
                key = {"views": views, "run": run, "seed": seed}
                at = {"step": np.arange(len(TIMES)), "time": rate * TIMES}
                loss.append(pd.DataFrame({**key, **at, "loss": np.square(1 - value / value[-1]).sum(1)}))
                spectrum += [
                    pd.DataFrame({**key, **at, "index": index, "eigenvalue": value[:, index - 1]})
                    for index in range(1, SHOWN + 1)
                ]
                of = {
                    "index": range(1, SHOWN + 1),
                    "variance": variance,
                    "cross": rho * variance,
                    "start": start,
                }
                modes.append(pd.DataFrame({**key, **of}))
                runs.append({**key, "sharpness": 5.0, "predicted_sharpness": 5.1})
    return {
        "spectrum": pd.concat(spectrum, ignore_index=True),
        "loss": pd.concat(loss, ignore_index=True),
        "modes": pd.concat(modes, ignore_index=True),
        "runs": pd.DataFrame(runs),
    }


@pytest.fixture(scope="module")
def tables():
    return held()


def swapped(tables, name, other):
    """What was under one loss is under the other."""
    names = {"frossl": other, other: "frossl"}
    return {**tables, name: tables[name].assign(run=tables[name]["run"].replace(names))}


def changed(tables, name, **changes):
    return {**tables, name: tables[name].assign(**changes)}


BROKEN = {
    "quicker-own-rate": lambda t: swapped(t, "spectrum", "barlow-own"),
    "quicker": lambda t: swapped(t, "spectrum", "barlow"),
    "loss-quicker": lambda t: swapped(t, "loss", "barlow"),
    "closed-form": lambda t: changed(t, "modes", start=1e-5),
    "sharpness": lambda t: changed(t, "runs", sharpness=6.0),
    "rise-ratio": lambda t: changed(t, "modes", cross=t["modes"]["cross"] * 2),
    "stepwise": lambda t: changed(t, "spectrum", eigenvalue=t["spectrum"].groupby(
        ["views", "run", "seed", "step"])["eigenvalue"].transform("max")),
}  # fmt: skip


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_claims_hold_where_they_should_and_have_a_counter_case(claim, tables):
    found = judge(claim, tables)
    assert found.verdict == "reproduced"
    name = claim.id.rpartition("/")[2]
    (way,) = [way for kind, way in BROKEN.items() if name.startswith(kind) and (
        kind != "quicker" or not name.startswith("quicker-own"))]  # fmt: skip
    assert judge(claim, way(tables)).verdict == "contradicted"


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_without_numbers_there_is_no_verdict(claim, tables):
    lost = {
        name: table.assign(**{c: np.nan for c in table.select_dtypes("float").columns if c != "time"})
        for name, table in tables.items()
    }
    assert judge(claim, lost).verdict == "inconclusive"


def test_claims_read_the_authors_views_or_in_a_setting_without_them_its_own(tables):
    quicker = claims.CLAIMS[0]
    base = judge(quicker, tables).observed
    of = {views: {name: table[table["views"] == views] for name, table in tables.items()} for views in VIEWS}
    assert judge(quicker, of[READ]).observed == base
    assert judge(quicker, of["same"]).observed < base  # whose modes grow faster


def test_what_never_rises_or_rests_decides_nothing(tables):
    flat = changed(tables, "spectrum", eigenvalue=0.01 * tables["spectrum"]["eigenvalue"])
    falling = changed(tables, "loss", loss=1e5 - tables["loss"]["time"])
    by_id = {claim.id.rpartition("/")[2]: claim for claim in claims.CLAIMS}
    for name, broken in (
        ("quicker", flat),
        ("quicker-own-rate", flat),
        ("loss-quicker", falling),
    ):
        assert judge(by_id[name], broken).verdict == "inconclusive"


def test_a_run_that_ends_before_the_other_rises_is_no_evidence_for_it(tables):
    """Barlow's is cut short, before FroSSL's eigenvalue has risen: it may or may not have been quicker."""
    rises = claims.rise(READ, "frossl")(tables).min()
    rows = tables["spectrum"]
    kept = rows[(rows["run"] != "barlow") | (rows["time"] < 0.9 * rises)]
    short = {**tables, "spectrum": kept}
    assert claims.rise_beside("frossl", "barlow", "time")(short).isna().all()
    late = {**tables, "spectrum": rows[(rows["run"] != "barlow") | (rows["time"] < 1.1 * rises)]}
    assert claims.rise_beside("frossl", "barlow", "time")(late).notna().all()


def test_the_losses_of_the_runs_are_known():
    assert {loss for pair in compute.RUNS.values() for loss in pair} == set(LOSSES)
