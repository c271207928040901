"""One temperature, and Stage 1 beside the other loss: against slow solutions."""

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.integrate import solve_ivp

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.papers.ren2023.temperature.claims import both_stages, power, stages
from reprise.papers.ren2023.temperature.compute import compute, looks, variances
from reprise.papers.ren2023.temperature.experiment import Params, alternatives

BY_ID = {claim.id: claim for claim in registry.experiment("ren2023/temperature").claims}
SMALL = Params(
    negatives=(31.0, 255.0),
    tau2=(0.5, 2.0, 96.0),
    looks=40,
    stage1_tau2=(0.001, 0.003, 0.01, 0.1),
    seeds=12,
)


@pytest.fixture(scope="module")
def tables():
    return compute(SMALL, Context())


def slow(sigma2, params, tau2, negatives, end):
    """k and h at the end by Eq. 8 as the digest of the paper writes it, coordinate by coordinate."""
    r, noises = params.signals, params.dim - params.signals

    def flow(t, state):
        k, h, v = state[:r], state[r : 2 * r], state[-1]
        f = k.sum() + noises * v
        rho = h.sum() / f
        if negatives is None:
            t_p, c = np.zeros(r), 2 / f
        else:
            t_p = np.tanh(tau2 * h / f)
            odds = negatives * np.prod(np.cosh(tau2 * h / f)) / np.exp(tau2 * rho)
            c = 4 * odds / (1 + odds) / f
        mean = (h * t_p).sum() / f
        dk = c * sigma2 * (h * (1 - t_p) - k * (rho - mean))
        dh = c * sigma2 * (k * (1 - t_p) - h * (rho - mean))
        return np.concatenate([dk, dh, [-c * params.noise**2 * v * (rho - mean)]])

    start = np.concatenate([sigma2, np.zeros(r), [params.noise**2]])
    state = solve_ivp(flow, (0, end), start, rtol=1e-10, atol=1e-12).y[:, -1]
    return state[:r], state[r : 2 * r]


def test_uniform_is_eq_8(tables):
    step = looks(SMALL)[25]
    for tau2 in SMALL.tau2:
        k, _ = slow(variances(SMALL, 2), SMALL, tau2, 31.0, step * SMALL.step_size)
        (row,) = (
            tables["uniform"]
            .query("seed == 2 and tau2 == @tau2 and negatives == 31 and step == @step")
            .itertuples()
        )
        assert row.condition == pytest.approx(np.sqrt(k.max() / k.min()), rel=1e-5)


def test_stage_1_is_set_beside_the_other_loss_at_the_same_progress(tables):
    apart = []
    for step in (20, 60, 120, 300):
        first = np.concatenate(slow(variances(SMALL, 1), SMALL, 0.1, 255.0, 0.2 * step))
        scaled = 0.2 * step * 2 * 255 / 256
        second = np.concatenate(slow(variances(SMALL, 1), SMALL, 0.0, None, scaled))
        apart.append(np.linalg.norm(first - second) / np.linalg.norm(second))
    (row,) = tables["stage1"].query("seed == 1 and tau2 == 0.1").itertuples()
    assert row.distance == pytest.approx(max(apart), rel=1e-6)  # they drift apart to the end
    assert row.distance_unscaled > 3 * row.distance


def test_spectra_have_the_ends_and_differ():
    spectra = np.array([variances(SMALL, seed) for seed in range(4)])
    assert (spectra[:, 0] == 4).all()
    assert (spectra[:, -1] == 1).all()
    assert (np.diff(spectra, axis=1) <= 0).all()
    assert len(np.unique(spectra[:, 4])) == 4


def test_verdicts(tables):
    assert judge(BY_ID["ren2023/sec5/uniform-temperature"], tables).verdict == "reproduced"
    assert judge(BY_ID["ren2023/lemma-b9/power"], tables).verdict == "reproduced"


def test_the_stages_that_are_counted(tables):
    found = stages(tables["uniform"]).loc[255.0]
    assert (found.loc[2.0, "largest"] > 1.1 * found.loc[2.0, "first"]).all()
    assert (found.loc[96.0, "largest"] < 1.1 * found.loc[96.0, "first"]).all()  # no first stage
    assert [both_stages(tau2)(tables).mean() for tau2 in (0.5, 2.0, 96.0)] == [1, 1, 0]


def test_without_a_rise_or_a_fall_there_are_no_stages(tables):
    table = tables["uniform"]
    first = table[table["step"] == 0]["condition"].mean()
    no_rise = {**tables, "uniform": table.assign(condition=table["condition"].clip(upper=first))}
    no_fall = {**tables, "uniform": table.assign(condition=table["condition"].clip(lower=1.5))}
    for broken in (no_rise, no_fall):
        assert [both_stages(tau2)(broken).max() for tau2 in SMALL.tau2] == [0, 0, 0]


def test_another_power_and_an_unscaled_time_are_contradicted(tables):
    table = tables["stage1"]
    squared = {**tables, "stage1": table.assign(distance=table["distance"] ** 2)}
    unscaled = {**tables, "stage1": table.assign(distance=table["distance_unscaled"])}
    assert np.allclose(power(squared), 2 * power(tables))
    assert judge(BY_ID["ren2023/lemma-b9/power"], squared).verdict == "contradicted"
    assert judge(BY_ID["ren2023/lemma-b9/power"], unscaled).verdict == "contradicted"


def test_settings():
    for wrong in (
        {"signals": 30},
        {"negatives": (0.0,)},
        {"stage1_tau2": (0.001, 0.1)},
        {"tau2": (0.0, 1.0, 2.0)},
    ):
        with pytest.raises(ValidationError):
            Params(**wrong)
    for other in alternatives(Params()).values():
        assert other.every_negatives == [other.claimed_negatives]
