"""The region of schedules: against one solution at a time, and under power laws."""

import numpy as np
import pytest

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Stage, solve
from reprise.papers.ren2023.schedules.compute import CASES, compute
from reprise.papers.ren2023.schedules.experiment import Params
from reprise.papers.ren2023.spectra import signal_variances

CLAIMS = registry.experiment("ren2023/schedules").claims
BY_ID = {claim.id.removeprefix("ren2023/"): claim for claim in CLAIMS}
PARAMS = Params(
    dim=12, signals=6, negatives=63.0,
    stage1_tau2=(1.0, 0.01), stage1_steps=(150,), stage2_tau2=(48.0, 3.0), stage2_steps=(350, 5000),
    decay_steps=50_000,
)  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    return compute(PARAMS, Context())


def test_a_row_a_schedule_and_case(tables):
    region = tables["region"]
    assert len(region) == 2 * 2 * 2 * len(CASES)
    assert region["schedule"].nunique() == 8
    assert not region.duplicated(["schedule", "spectrum", "noise"]).any()


@pytest.mark.parametrize("tau2", [(0.01, 48.0), (1.0, 3.0)])
def test_a_schedule_alone(tables, tau2):
    limit = InfiniteWidth.of(signal_variances("halves", 12, 6), noise2=0.25, noises=6.0, negatives=63.0)
    stages = [Stage(150, tau2[0]), Stage(5000, tau2[1])]
    moment = solve(limit, [500, 5150], stages, step_size=PARAMS.step_size).moment
    rows = (
        tables["region"]
        .query("spectrum == 'halves' and noise")
        .query(f"stage1_tau2 == {tau2[0]} and stage2_tau2 == {tau2[1]}")
    )
    assert rows["condition"].to_list() == pytest.approx(moment.condition[:, 0].tolist(), rel=1e-5)
    assert rows["balance"].to_list() == pytest.approx((moment.stable_rank[:, 0] / 6).tolist(), rel=1e-5)


def test_it_exists_where_one_schedule_does(tables):
    claim, region = BY_ID["thm43/schedule"], tables["region"]
    good = region["schedule"] == "τ² = 0.01 for 150, then 3 for 5000"
    one = {**tables, "region": region.assign(balance=np.where(good, 0.95, 0.5))}
    assert judge(claim, tables).verdict == judge(claim, one).verdict == "reproduced"


def test_a_power_law_contradicts_the_linear_rate(tables):
    claim, decay = BY_ID["sec54/linear-rate"], tables["decay"]
    assert judge(claim, tables).verdict == "reproduced"
    for power in (1, 2, 5):
        law = decay.assign(steps=10 ** (decay["decade"] / power))
        only = decay["steps"].where(decay["spectrum"] != "spiked", law["steps"])
        assert judge(claim, {**tables, "decay": law}).verdict == "contradicted"
        assert judge(claim, {**tables, "decay": decay.assign(steps=only)}).verdict == "contradicted"


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="must be"):
        Params(signals=30)
