"""Figure 1 of Ren 2023: what is computed, and every claim on data made to hold it and to break it."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.evidence.judgement import judge
from reprise.numerics.streams import Streams
from reprise.papers.ren2023 import learners, model
from reprise.papers.ren2023.two_stages import claims, compute
from reprise.papers.ren2023.two_stages.params import Params, alternatives
from reprise.study.experiment import Context

TINY = {
    "dim": 6, "signals": 3, "width": 40, "batch_size": 16, "negatives": 15.0, "stage1_steps": 8,
    "stage2_steps": 12, "record_every": 4, "fresh_pairs": 200, "seeds": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def tiny():
    return compute.compute(Params(**TINY), Context())


def test_a_row_for_each_loss_spectrum_noise_seed_and_recorded_step(tiny):
    key = ["loss", "spectrum", "noise", "step"]
    assert (
        len(tiny["trajectory"])
        == 2 * 2 * 2 * 2 * 6
        == len(tiny["trajectory"][[*key, "seed"]].drop_duplicates())
    )
    assert len(tiny["limit"]) == 2 * 2 * 2 * 6 == len(tiny["limit"][key].drop_duplicates())
    assert set(tiny["trajectory"].query("step <= 8")["stage"]) == {1}
    assert set(tiny["trajectory"].query("step > 8")["stage"]) == {2}
    assert np.isfinite(tiny["trajectory"].select_dtypes("number")).all(axis=None)


def test_a_seed_has_the_same_numbers_in_any_company(tiny):
    alone = compute._trajectory(Params(**TINY), 1, lambda share: None)
    together = tiny["trajectory"].query("seed == 1").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, together)


@pytest.mark.parametrize("loss", compute.LOSSES)
@pytest.mark.parametrize("cell", compute.CELLS)
def test_the_trajectory_is_sgd_from_the_seeds_start_on_the_seeds_minibatches(loss, cell, tiny):
    """Learner by learner, with both stages' τ², and the loss before each recorded step."""
    params = Params(**TINY)
    spectrum, noise = cell
    scale = torch.from_numpy(
        model.scales(model.signal_variances(spectrum, 6, 3), params.noise if noise else 0.0, 6)
    )
    learner = learners.initial(learners.gram_root(Streams([0], "initial weights"), 40, 6)[0], scale)
    data = Streams([0], "minibatches")
    for step in range(params.steps + 1):
        y_a, y_b = (y[0] for y in model.positive_pairs(data, 6, 3, 16))

        def objective(tau2, y_a=y_a, y_b=y_b):
            if loss == "contrastive":
                return learners.contrastive(y_a, y_b, tau2=tau2, negatives=15.0)
            return learners.non_contrastive(y_a, y_b)

        (row,) = tiny["trajectory"].query(
            "loss == @loss and spectrum == @spectrum and noise == @noise and seed == 0 and step == @step"
        ).to_dict("records") or [None]
        if row:
            values = [torch.linalg.svdvals(k[:, :3]) for k in learner.pair]
            np.testing.assert_allclose(row["condition"], max(float(v[0] / v[-1]) for v in values), rtol=1e-9)
            value = objective(params.stage1_tau2 if step <= 8 else params.stage2_tau2)(learner.kernel)[0]
            np.testing.assert_allclose(row["loss_value"], float(value), rtol=1e-9)
        tau2 = params.stage1_tau2 if step < 8 else params.stage2_tau2
        learner, _ = learners.descended(learner, objective(tau2), scale, params.step_size)


def test_what_is_measured_is_what_is_defined():
    generator = torch.Generator().manual_seed(0)
    k_a, k_b = torch.randn(2, 12, 6, generator=generator).double()
    fresh = tuple(y[0] for y in model.positive_pairs(Streams([0], "fresh"), 6, 3, 500))
    found = {k: float(v) for k, v in compute.measures(learners.Learner(k_a, k_b), 3, fresh).items()}
    f_a, f_b = (k @ y / (k.square().sum() / 6).sqrt() for k, y in zip((k_a, k_b), fresh, strict=True))
    nearer = [
        torch.dist(f_a[:, i], f_b[:, i]) < torch.dist(f_a[:, i], f_b[:, (i - 1) % 500]) for i in range(500)
    ]
    covariance = np.cov(f_a.numpy(), bias=True)
    exact = (k_a @ k_a.T / k_a.square().sum()).numpy()
    lengths = [np.linalg.norm(k, axis=0) for k in (k_a.numpy(), k_b.numpy())]
    expected = {
        "condition": max(np.linalg.cond(k[:, :3].numpy()) for k in (k_a, k_b)),
        "noise_to_signal": max(each[3:].max() / each[:3].min() for each in lengths),
        "distance": np.linalg.norm(k_a[:, :3] - k_b[:, :3]) / np.linalg.norm(k_a[:, :3]),
        "alignment": np.mean(nearer),
        "stable_rank": np.linalg.norm(covariance) ** 2 / np.linalg.norm(covariance, 2) ** 2,
        "exact_stable_rank": np.linalg.norm(exact) ** 2 / np.linalg.norm(exact, 2) ** 2,
        "intrinsic_dimension": np.trace(covariance) / np.linalg.norm(covariance, 2),
    }
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_best_stable_rank_is_that_of_the_signal(tiny):
    z = model.positive_pairs(Streams([0], "fresh pairs"), 6, 3, 200)[0][0, :3].numpy()
    values = np.linalg.svd(np.cov(z, bias=True))[1]
    found = tiny["trajectory"].query("seed == 0")["best_stable_rank"]
    np.testing.assert_allclose(found, (values**2).sum() / values[0] ** 2)


def test_a_wide_learner_on_large_batches_stays_by_the_limit():
    changes = {
        "width": 100_000, "batch_size": 512, "negatives": 511.0, "stage1_steps": 20, "stage2_steps": 20,
        "step_size": 0.1, "seeds": 1, "stage2_tau2": 3.6,
    }  # fmt: skip
    tables = compute.compute(Params(**{**TINY, **changes}), Context())
    keys = ["loss", "spectrum", "noise", "step"]
    both = tables["trajectory"].merge(tables["limit"], on=keys, suffixes=("", "_limit"), validate="1:1")
    for column in ("condition", "noise_to_signal", "distance", "loss_value", "exact_stable_rank"):
        limit = both[column.replace("exact_", "") + "_limit"]
        np.testing.assert_allclose(both[column], limit, rtol=0.05, atol=0.05)


def test_sizes_that_do_not_fit_are_refused():
    for changes, words in (
        ({"signals": 6}, "signals must be fewer"),
        ({"width": 11}, "twice dim"),
        ({"record_every": 3}, "must divide"),
        ({"stage1_steps": 16}, "gets as far"),
    ):
        with pytest.raises(ValueError, match=words):
            Params(**{**TINY, **changes})


def test_alternatives_differ_in_what_is_lost_and_are_valid():
    params = Params()
    for name, other in alternatives(params).items():
        assert Params(**other.model_dump()) == other, name
        assert other != params.model_copy(update={"seeds": 3})


# Claims: tables that hold them all, and for each a change by which it is contradicted.

SEEDS = range(4)
STEPS = range(0, 1001, 20)


def held():
    """A condition number that doubles in Stage 1 and then falls to 1 at a linear rate, and the rest to it."""
    rows = []
    for loss in compute.LOSSES:
        for spectrum, noise in compute.CELLS:
            for seed in SEEDS:
                for step in STEPS:
                    off = 1 + 0.002 * math.cos(1 + 2 * seed + step)
                    contrastive = loss == "contrastive"
                    time = min(step, 300) / 300 if contrastive else min(step / 600, 2)
                    excess = 1 + 3 * time
                    if contrastive and step > 300:
                        excess = 4 * math.exp(-(step - 300) / 120)
                    balance = 7.9 if contrastive else 1.0
                    late = step / 1000
                    rows.append(
                        {
                            "loss": loss, "spectrum": spectrum, "noise": noise, "seed": seed, "step": step,
                            "stage": 1 if step <= 300 else 2, "condition": 1 + excess * off,
                            "noise_to_signal": 0.5 * (1 - 0.8 * late) * off, "distance": 0.1,
                            "alignment": (0.5 if step == 0 else 0.998) + 0.001 * off,
                            "stable_rank": (4 + (balance - 4) * late) * off,
                            "exact_stable_rank": (4 + (9.7 - 4) * late) * off, "loss_value": 1.0,
                            "intrinsic_dimension": 5.0, "best_stable_rank": 8.0 * off, "signals": 10,
                        }
                    )  # fmt: skip
    trajectory = pd.DataFrame(rows)
    limit = trajectory.query("seed == 0").drop(columns=["seed", "stage", "alignment", "signals"])
    return {"trajectory": trajectory, "limit": limit}


HELD = held()
CLAIMS = {claim.id.removeprefix("ren2023/"): claim for claim in claims.CLAIMS}
START, BOUNDARY, END = 0, 300, 1000


def changed(column, factor, *, loss="contrastive", steps=None, cell=None):
    """The tables with a column multiplied in some rows."""
    table = HELD["trajectory"].copy()
    hit = table["loss"] == loss
    if steps is not None:
        hit &= table["step"].isin(steps)
    if cell:
        spectrum, noise = claims.CELLS[cell]
        hit &= (table["spectrum"] == spectrum) & (table["noise"] == noise)
    table.loc[hit, column] *= factor(table.loc[hit, "step"]) if callable(factor) else factor
    return {**HELD, "trajectory": table}


def broken():
    for cell in claims.CELLS:
        grows = "fig1/contrastive-condition-stage1" + ("" if cell == "linear" else f"-{cell}")
        yield grows, changed("condition", 3.0, steps=[START], cell=cell)
        yield f"fig1/contrastive-condition-one-{cell}", changed("condition", 1.2, steps=[END], cell=cell)
        yield f"fig1/alignment-stage1-{cell}", changed("alignment", 0.4, steps=[BOUNDARY], cell=cell)
        yield f"fig1/alignment-stage2-{cell}", changed("alignment", 0.8, steps=[END], cell=cell)
        grown = changed(
            "condition", lambda step: np.exp(step / 80), steps=range(BOUNDARY, END + 1), cell=cell
        )
        yield f"fig1/stage2-rate-{cell}", grown
        stalls = changed(
            "condition",
            lambda step: np.where(step > 320, 2.0, 1.0),
            steps=range(BOUNDARY, END + 1),
            cell=cell,
        )
        yield f"fig1/stage2-straight-{cell}", stalls
        slower = changed("condition", 1.15, steps=[240], loss="non-contrastive", cell=cell)
        yield f"sec53/stage1-noncontrastive-{cell}", slower
    yield "fig1/contrastive-condition-stage2", changed("condition", 8.0, steps=[END])
    yield "fig1/contrastive-balance-stage2", changed("stable_rank", 0.85, steps=[END])
    yield (
        "fig1/noncontrastive-balance-linear",
        changed("stable_rank", 4.5, steps=[END], loss="non-contrastive"),
    )
    yield (
        "fig1/noncontrastive-balance-spiked",
        changed("stable_rank", 1.2, steps=[END], loss="non-contrastive"),
    )
    yield "fig1/contrastive-more-balanced", changed("stable_rank", 0.1, steps=[END])
    yield "fig1/noise-to-signal-stage1", changed("noise_to_signal", 1.5, steps=[BOUNDARY])
    yield "fig1/noise-to-signal-stage2", changed("noise_to_signal", 5.0, steps=[END])
    for cell in ("linear", "spiked"):
        for name, loss in (("contrastive", "contrastive"), ("noncontrastive", "non-contrastive")):
            yield f"thm43/{name}-aligned-{cell}", changed("alignment", 0.8, steps=[END], loss=loss, cell=cell)
        yield f"thm43/contrastive-balanced-{cell}", changed("exact_stable_rank", 0.9, steps=[END], cell=cell)
    yield "lemma-51/tracks-limit", changed("condition", 1.15, steps=[200])
    yield "lemma-53/tracks-limit", changed("condition", 1.15, steps=[500])


BROKEN = list(broken())


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_holds_on_tables_made_for_it(id):
    assert judge(CLAIMS[id], HELD).verdict == "reproduced"


@pytest.mark.parametrize(("id", "tables"), BROKEN, ids=[id for id, _ in BROKEN])
def test_and_is_contradicted_where_they_are_made_to_break_it(id, tables):
    assert judge(CLAIMS[id], tables).verdict == "contradicted"


def test_every_claim_has_its_counter_case():
    assert {id for id, _ in BROKEN} == set(CLAIMS)


def test_a_rate_is_fitted_only_until_the_condition_number_is_about_1():
    steps = pd.Index(range(0, 200, 10))
    falling = pd.Series(1 + 3 * np.exp(-steps / 25), steps)
    floor = falling.clip(lower=1.05)
    for condition in (falling, floor):
        assert claims._fit(condition, linearity=False) == pytest.approx(-1 / 25)
        assert claims._fit(condition, linearity=True) == pytest.approx(1)
    assert math.isnan(claims._fit(falling.iloc[-5:], linearity=False))
