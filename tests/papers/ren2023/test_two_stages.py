"""Figure 1 of Ren 2023: what is computed, and what claims measure at events."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import replaced
from reprise.engine import registry
from reprise.evidence.edits import plus
from reprise.evidence.judgement import judge
from reprise.numerics.streams import Streams
from reprise.papers.ren2023 import learners, model
from reprise.papers.ren2023.spectra import signal_variances
from reprise.papers.ren2023.two_stages import claims, compute
from reprise.papers.ren2023.two_stages.experiment import Params, alternatives
from reprise.papers.ren2023.two_stages.ideal import ideal

TINY = {
    "dim": 6, "signals": 3, "width": 40, "batch_size": 16, "negatives": 15.0, "stage1_steps": 8,
    "stage2_steps": 12, "record_every": 4, "fresh_pairs": 200, "seeds": 2,
}  # fmt: skip


CLAIMS = {
    claim.id.removeprefix("ren2023/"): claim for claim in registry.experiment("ren2023/two_stages").claims
}


@pytest.fixture(scope="module")
def tiny():
    return compute.compute(Params(**TINY), Context())


def test_a_row_for_each_loss_spectrum_noise_seed_and_recorded_step(tiny):
    key = ["loss", "spectrum", "noise", "step"]
    assert (
        len(tiny["trajectory"])
        == 2 * 2 * 2 * 2 * 8
        == len(tiny["trajectory"][[*key, "seed"]].drop_duplicates())
    )
    assert len(tiny["limit"]) == 2 * 2 * 2 * 8 == len(tiny["limit"][key].drop_duplicates())
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
        model.scales(signal_variances(spectrum, 6, 3), params.noise if noise else 0.0, 6)
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
    covariance = (k_a @ k_a.T / k_a.square().sum()).numpy()
    lengths = [np.linalg.norm(k, axis=0) for k in (k_a.numpy(), k_b.numpy())]
    expected = {
        "condition": max(np.linalg.cond(k[:, :3].numpy()) for k in (k_a, k_b)),
        "noise_to_signal": max(each[3:].max() / each[:3].min() for each in lengths),
        "distance": np.linalg.norm(k_a[:, :3] - k_b[:, :3]) / np.linalg.norm(k_a[:, :3]),
        "alignment": np.mean(nearer),
        "stable_rank": np.linalg.norm(covariance) ** 2 / np.linalg.norm(covariance, 2) ** 2,
        "intrinsic_dimension": np.trace(covariance) / np.linalg.norm(covariance, 2),
    }
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_exact_covariance_is_that_of_very_many_pairs():
    k_a, k_b = torch.randn(2, 12, 6, generator=torch.Generator().manual_seed(1)).double()
    fresh = tuple(y[0] for y in model.positive_pairs(Streams([0], "fresh"), 6, 3, 200_000))
    values = np.linalg.svd(np.cov((k_a @ fresh[0]).numpy(), bias=True))[1]
    found = compute.measures(learners.Learner(k_a, k_b), 3, fresh)
    assert float(found["stable_rank"]) == pytest.approx((values**2).sum() / values[0] ** 2, rel=0.02)
    assert float(found["intrinsic_dimension"]) == pytest.approx(values.sum() / values[0], rel=0.02)


def test_early_steps_are_recorded_at_powers_of_two_and_late_ones_in_proportion():
    assert Params().recorded[:9] == [0, 1, 2, 4, 8, 16, 20, 40, 60]
    assert Params(**TINY).recorded == [0, 1, 2, 4, 8, 12, 16, 20]
    assert Params(**TINY | {"stage1_steps": 7, "stage2_steps": 9}).recorded == [0, 1, 2, 4, 7, 11, 15, 16]
    assert Params(stage1_steps=3, stage2_steps=4).recorded == [0, 1, 2, 3, 4, 7]
    late = np.array(Params(width="infinite", stage2_steps=100_000).recorded[-20:-1]) - 300
    np.testing.assert_allclose(late[1:] / late[:-1], 1.05, atol=1e-3)


def test_a_wide_learner_on_large_batches_stays_by_the_limit():
    changes = {
        "width": 100_000, "batch_size": 512, "negatives": 511.0, "stage1_steps": 20, "stage2_steps": 20,
        "step_size": 0.1, "seeds": 1, "stage2_tau2": 3.6,
    }  # fmt: skip
    tables = compute.compute(Params(**{**TINY, **changes}), Context())
    keys = ["loss", "spectrum", "noise", "step"]
    both = tables["trajectory"].merge(tables["limit"], on=keys, suffixes=("", "_limit"), validate="1:1")
    for column in ("condition", "noise_to_signal", "distance", "loss_value", "stable_rank"):
        np.testing.assert_allclose(both[column], both[f"{column}_limit"], rtol=0.05, atol=0.05)


def test_sizes_that_do_not_fit_are_refused():
    for changes, words in (
        ({"signals": 6}, "signals must be fewer"),
        ({"width": 11}, "twice dim"),
    ):
        with pytest.raises(ValueError, match=words):
            Params(**{**TINY, **changes})


def test_alternatives_differ_in_what_is_lost_and_are_valid():
    params = Params()
    for name, other in alternatives(params).items():
        assert Params(**other.model_dump()) == other, name
        assert other != params.model_copy(update={"seeds": 3})


# Claims' measurements at events.


def with_course(**columns):
    """A contrastive trajectory on the noisy linear spectrum: Stage 1 to step 40, Stage 2 to step 140."""
    table = pd.DataFrame({"step": [0, 20, 40, 90, 120, 140], "stage": [1, 1, 1, 2, 2, 2], **columns})
    return {"trajectory": table.assign(loss="contrastive", spectrum="linear", noise=True, seed=0)}


def test_aligned_is_the_first_look_of_stage_1_at_which_the_modalities_agree():
    conditions = [2.0, 3.0, 4.0, 1.5, 1.2, 1.0]
    for distances, expected in (
        ([1.4, 0.09, 0.05, 0.0, 0.0, 0.0], 3.0),
        ([1.4, 0.2, 0.1, 0.0, 0.0, 0.0], 4.0),
        ([1.4, 0.09, 0.2, 0.0, 0.0, 0.0], 3.0),
        ([1.4, 0.9, 0.2, 0.0, 0.0, 0.0], math.nan),
    ):
        tables = with_course(condition=conditions, distance=distances)
        (found,) = claims.at("aligned", "condition", "linear spectrum")(tables)
        assert found == pytest.approx(expected, nan_ok=True)


def test_at_rest_is_the_last_look_if_the_second_half_of_stage_2_moves_by_a_twentieth_at_most():
    for late, expected in (
        ([1.04, 1.02, 1.0], 9.0),
        ([1.0, 1.04, 1.0], 9.0),
        ([1.06, 1.02, 1.0], math.nan),
        ([1.0, 1.06, 1.0], math.nan),
        ([1.4, 1.45, 1.5], math.nan),
    ):
        tables = with_course(condition=[2.0, 3.0, 4.0, *late], stable_rank=[4.0, 3.0, 3.0, 5.0, 8.0, 9.0])
        (found,) = claims.at("rest", "stable_rank", "linear spectrum")(tables)
        assert found == pytest.approx(expected, nan_ok=True)


ALONE = [name for name in alternatives(Params()) if name.startswith("m = ∞") and name.count(",") < 2]


@pytest.mark.parametrize("name", ALONE)
def test_in_the_limit_both_events_occur_with_every_plausible_value(name):
    tables = compute.compute(replaced(alternatives(Params())[name], {"seeds": 1}), Context())
    for cell, when in product(claims.CELLS, ("aligned", "rest")):
        assert claims.at(when, "condition", cell)(tables).notna().all()


def test_a_condition_number_that_still_moves_decides_nothing():
    claim = CLAIMS["fig1/contrastive-condition-one"]
    tables = ideal(Params())
    falling = plus("trajectory", "condition", 9.0, step=lambda steps: steps < Params().steps)(tables)
    assert judge(claim, tables).verdict == "reproduced"
    assert judge(claim, falling).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("rise", "verdict"), [(0.08, "reproduced"), (0.02, "tied"), (-0.02, "tied"), (-0.08, "contradicted")]
)
def test_a_condition_number_that_rises_by_less_than_a_twentieth_is_a_tie(rise, verdict):
    tables = ideal(Params())
    table = tables["trajectory"]
    risen = table["condition"].where(table["step"] > 0, 1).where(table["step"] == 0, 1 + rise)
    found = judge(
        CLAIMS["fig1/contrastive-condition-stage1"], {**tables, "trajectory": table.assign(condition=risen)}
    )
    assert found.verdict == verdict


def test_at_infinite_width_the_trajectory_is_the_limit_and_all_seeds_agree():
    params = Params(**TINY | {"width": "infinite"})
    tables = compute.compute(params, Context())
    table = tables["trajectory"]
    assert tables["limit"].empty
    expected = compute.limit(params)
    for _, of_seed in table.groupby("seed"):
        np.testing.assert_array_equal(of_seed["condition"], expected["condition"])
        np.testing.assert_array_equal(of_seed["stable_rank"], expected["stable_rank"])
    assert set(table.query("step == 0")["alignment"]) == {0.0}
    assert set(table.query("step > 0")["alignment"]) == {1 - 0.5**3}
