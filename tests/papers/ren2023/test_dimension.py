"""Growth of the condition number with d: against the closed form, and within what the solver leaves open."""

import numpy as np
import pytest
from pydantic import ValidationError

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.papers.ren2023.dimension.compute import compute, final_condition, until_aligned, variances
from reprise.papers.ren2023.dimension.experiment import Params, alternatives
from reprise.papers.ren2023.infinite_width import InfiniteWidth

BY_ID = {claim.id: claim for claim in registry.experiment("ren2023/dimension").claims}
DIMS = (10, 20, 40, 80)


@pytest.fixture(scope="module")
def tables():
    return compute(Params(dims=DIMS), Context())


def test_without_negatives_the_end_is_the_closed_form(tables):
    ends = tables["ends"].query("moment == 'without negatives'")
    assert np.allclose(ends["condition"], tables["closed_form"]["condition"], rtol=1e-6)


def test_the_closed_form_by_hand():
    """One signal alone has a condition number of 1; with σ² = 2 and 1, e^2H + e^H = 4."""
    assert final_condition(np.array([3.0])) == pytest.approx(1)
    e = (np.sqrt(17) - 1) / 2
    assert final_condition(np.array([2.0, 1.0])) == pytest.approx(np.sqrt(2 * e))


def test_the_power_tends_to_half_of_ln_2_where_the_spike_is_weak():
    """k_1 / k_r = ln d · e^((ln d - 1) H), and H to ln 2 as d grows."""
    dims = np.array([1e4, 1e5, 1e6])
    logs = np.log([final_condition(variances(int(dim), 1.0)) for dim in dims])
    logarithmic = np.log(np.log(dims)) / 2
    slopes = np.diff(logs - logarithmic) / np.diff(np.log(dims))
    assert 0 < slopes[1] - np.log(2) / 2 < slopes[0] - np.log(2) / 2 < 0.03


def test_the_spectrum():
    assert np.allclose(variances(30, 1.5), [1.5 * np.log(30), *[1] * 14])
    assert variances(10, 0.1)[0] == 1  # never the weakest signal


def test_stage_1_ends_as_soon_as_all_signals_are_aligned():
    limit = InfiniteWidth.of(np.array([2.0, 1.0]))
    at, time = until_aligned(limit, 0.1, 4.0, 0.05)
    before, earlier = until_aligned(limit, 0.1, 4.0, 0.06)
    assert (1 - at.h / at.k).max() <= 0.05
    assert 0.05 < (1 - before.h / before.k).max() <= 0.06
    assert earlier < time


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    assert judge(BY_ID[id], tables).verdict == "reproduced"


def changed(tables, moment, **columns):
    """The tables with columns of one moment made anew from its rows."""
    ends = tables["ends"].copy()
    rows = ends["moment"] == moment
    for column, make in columns.items():
        ends.loc[rows, column] = make(ends[rows])
    return {**tables, "ends": ends}


@pytest.mark.parametrize(
    ("name", "moment", "column", "value"),
    [
        ("spike-aligned", "without negatives", "distance", 1.0),
        ("contrast-aligns-spike", "stage 2", "distance", 0.5),
        ("contrast-balances-spike", "stage 2", "stable_rank", 20.0),
    ],
)
def test_one_dimension_is_enough(tables, name, moment, column, value):
    """Nothing is random, so that a mean over dimensions would hide the one that fails."""
    broken = changed(tables, moment, **{column: lambda rows: rows[column].mask(rows["dim"] == 80, value)})
    judged = judge(BY_ID[f"ren2023/thm43/{name}"], broken)
    assert (judged.verdict, judged.code) == ("inconclusive", "not found")


def test_a_limit_is_within_what_the_solver_leaves_open(tables):
    claim = BY_ID["ren2023/thm43/contrast-balances-spike"]
    near = changed(tables, "stage 2", stable_rank=lambda rows: rows["signals"] * (1 - 1e-4))
    assert judge(claim, tables).observation.margin == pytest.approx(4e-6)
    assert judge(claim, near).code == "not found"


def test_settings():
    for dims in ((10, 21, 40, 80), (10, 40, 20, 80), (2, 10, 20, 40)):
        with pytest.raises(ValidationError):
            Params(dims=dims)
    for other in alternatives(Params(dims=DIMS)).values():
        assert other != Params(dims=DIMS)
        assert other.dims == DIMS  # the first four
