"""Figure 8's objective and optima against definitions, automatic differentiation and simulation."""

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import integrate

from reprise.contract.experiment import BASE, Context, evaluate
from reprise.contract.settings import assumptions, departures, overridden
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.edits import without
from reprise.evidence.judgement import judge
from reprise.evidence.measures import Setting
from reprise.evidence.verdicts import judge_all
from reprise.papers.tian2023.local_optima import circle
from reprise.papers.tian2023.local_optima.circle import Unit, optima
from reprise.papers.tian2023.local_optima.compute import compute
from reprise.papers.tian2023.local_optima.experiment import Params, alternatives

CLAIMS = registry.experiment("tian2023/local_optima").claims
BY_ID = {claim.id: claim for claim in CLAIMS}
SMALL = {"grid": 2000, "repeats": 3, "rotations": (0.0, 30.0, 180.0)}


def unit(seed=0, samples=7, **changes):
    rng = np.random.default_rng(seed)
    given = {"angles": rng.uniform(-4, 4, samples), "lengths": rng.uniform(0.5, 1.5, samples), "relu": True}
    return Unit(**{**given, **changes})


def equidistant(grid, first):
    return first + 2 * math.pi * np.arange(grid) / grid


def found(unit, grid=2000, first=0.1):
    theta = unit.around(grid, first)
    return optima(unit, theta, unit.energy_and_velocity(theta)[1])


@pytest.fixture(scope="module")
def tables(kept):
    return Setting(kept("tian2023/local_optima", Params(**SMALL)))


def gaussian(tau):
    return partial(circle.gaussian, tau=tau)


VARIANTS = [
    {"relu": False},
    {},
    {"relu": False, "alpha": gaussian(0.2)},
    {"alpha": gaussian(0.2)},
    {"alpha": gaussian(0.05)},
    {"alpha": partial(circle.infonce, tau=0.2)},
]


def importances(unit, f):
    """α_ij by the definition of each."""
    if unit.alpha is circle.uniform:
        return np.ones((len(f), len(f)))
    alpha = np.array([[math.exp(-((a - b) ** 2) / (2 * unit.alpha.keywords["tau"])) for a in f] for b in f])
    if unit.alpha.func is circle.infonce:
        np.fill_diagonal(alpha, 0)
        alpha /= alpha.sum(1, keepdims=True)
    return alpha


@pytest.mark.parametrize("variant", VARIANTS)
def test_energy_is_half_the_double_sum_of_eq_3(variant):
    u = unit(**variant)
    x = u.lengths[:, None] * np.stack([np.cos(u.angles), np.sin(u.angles)], 1)
    for theta in (-2.0, 0.3, 1.9):
        outputs = x @ [math.cos(theta), math.sin(theta)]
        outputs = np.maximum(outputs, 0) if u.relu else outputs
        alpha, total = importances(u, outputs), 0.0
        for i, a in enumerate(outputs):
            for j, b in enumerate(outputs):
                total += alpha[i, j] * (a - b) ** 2
        energy, _ = u.energy_and_velocity(np.array([theta]))
        assert energy[0] == pytest.approx(total / (2 * len(x) ** 2) / 2, rel=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_velocity_is_the_gradient_with_alpha_held_and_eq_7(variant):
    """By automatic differentiation with α detached, and as the tangential part of A(w) w, A by definition."""
    u = unit(**variant)
    x = u.lengths[:, None] * np.stack([np.cos(u.angles), np.sin(u.angles)], 1)
    for at in (-2.0, 0.3, 1.9):
        theta = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        w = torch.stack([theta.cos(), theta.sin()])
        f = torch.from_numpy(x) @ w
        f = f.relu() if u.relu else f
        gaps = f[:, None] - f
        alpha = torch.from_numpy(importances(u, f.detach().numpy()))
        (0.5 * (alpha * gaps.square()).sum() / (2 * len(x) ** 2)).backward()
        w, across = np.array([math.cos(at), math.sin(at)]), np.array([-math.sin(at), math.cos(at)])
        gated = x * ((x @ w > 0) if u.relu else np.ones(len(x)))[:, None]
        pairs = gated[:, None] - gated
        a = np.einsum("ij,ijk,ijl->kl", alpha.numpy(), pairs, pairs) / (2 * len(x) ** 2)
        _, velocity = u.energy_and_velocity(np.array([at]))
        assert velocity[0] == pytest.approx(theta.grad.item(), rel=1e-10)
        assert velocity[0] == pytest.approx(across @ a @ w, rel=1e-10)


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("rotation", [0.2, 1.4, 2.9, math.pi])
def test_outputs_under_rotations_are_averages_over_them(relu, rotation):
    u, theta = unit(relu=relu, rotation=rotation), np.array([-3.0, -0.4, 1.1])
    f, slope = u.outputs(theta)
    still = replace(u, rotation=0.0)
    average, _ = integrate.quad_vec(
        lambda turn: still.outputs(theta + turn)[0], -rotation, rotation, epsabs=1e-10, limit=2000
    )
    np.testing.assert_allclose(f, average / (2 * rotation), atol=1e-7)
    step = 1e-6
    numerical = (u.outputs(theta + step)[0] - u.outputs(theta - step)[0]) / (2 * step)
    np.testing.assert_allclose(slope, numerical, atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rotation", [0.0, 0.3])
def test_under_a_uniform_alpha_the_optima_are_the_maxima_of_the_energy(seed, rotation):
    u = unit(seed, rotation=rotation)
    theta = equidistant(20_000, 0.05)
    energy, _ = u.energy_and_velocity(theta)
    highest = (energy > np.roll(energy, 1)) & (energy >= np.roll(energy, -1))
    at = found(u)
    assert len(at.angle) == highest.sum()
    turns = np.exp(1j * np.sort(at.angle % (2 * math.pi)))
    np.testing.assert_allclose(turns, np.exp(1j * np.sort(theta[highest] % (2 * math.pi))), atol=1e-3)


def test_and_their_depth_is_what_the_energy_loses_to_the_next_minimum():
    u = unit(3)
    theta = equidistant(20_000, 0.05)
    energy, _ = u.energy_and_velocity(theta)
    valleys = np.sort(theta[(energy < np.roll(energy, 1)) & (energy <= np.roll(energy, -1))])
    at = found(u)
    assert len(valleys) == len(at.angle) > 2
    for angle, top, depth in zip(at.angle, at.energy, at.depth, strict=True):
        right = valleys[np.argmin((valleys - angle) % (2 * math.pi))]
        left = valleys[np.argmin((angle - valleys) % (2 * math.pi))]
        losses = top - u.energy_and_velocity(np.array([left, right]))[0]
        assert depth == pytest.approx(min(losses), rel=0.05, abs=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_that_follow_eq_7_end_at_the_optima_and_at_each_of_them(variant):
    """In steps along the sign of the velocity, each half as long as the last that crossed an optimum."""
    u = unit(5, **variant)
    theta, width = equidistant(400, 0.0), np.full(400, 2e-3)
    way = u.direction(u.energy_and_velocity(theta)[1])
    for _ in range(4000):
        theta = theta + width * way
        turned = u.direction(u.energy_and_velocity(theta)[1])
        width, way = np.where(turned != way, width / 2, width), turned
    ends = np.unique(np.round(np.exp(1j * theta), 3))
    expected = np.exp(1j * found(u, 3600).angle)
    assert np.abs(ends[:, None] - expected).min(1).max() < 5e-3
    assert np.abs(ends[:, None] - expected).min(0).max() < 5e-3


@pytest.mark.parametrize("first", [0.0, 0.5, 2.0, 4.4, 6.0])
def test_optima_do_not_depend_on_where_the_grid_starts(first):
    at, ours = (found(unit(2, alpha=gaussian(0.1)), 3600, angle) for angle in (first, 0.123))
    orders = [np.argsort(each.angle % (2 * math.pi)) for each in (at, ours)]
    for name, tolerance in (("angle", 1e-9), ("energy", 1e-9), ("depth", 2e-3)):
        a, b = (getattr(each, name)[order] for each, order in zip((at, ours), orders, strict=True))
        if name == "angle":
            a, b = a % (2 * math.pi), b % (2 * math.pi)
        np.testing.assert_allclose(a, b, atol=tolerance)


def test_a_plateau_is_one_optimum_and_a_constant_none(monkeypatch):
    flat = Unit(np.zeros(2), np.ones(2), True)

    def trapezoid(self, theta):
        around = (theta + math.pi) % (2 * math.pi) - math.pi
        return 0 * theta, np.where(np.abs(around) < 0.5, 0.0, -np.sign(around))

    monkeypatch.setattr(Unit, "energy_and_velocity", trapezoid)
    at = found(flat)
    assert len(at.angle) == 1
    assert abs((at.angle[0] + math.pi) % (2 * math.pi) - math.pi) <= 0.5 + 1e-9
    monkeypatch.setattr(
        Unit, "energy_and_velocity", lambda self, theta: (0 * theta, 1e-17 * np.sin(9 * theta))
    )
    assert len(found(flat).angle) == 0


def test_a_corner_of_the_objective_is_an_optimum_at_which_the_weight_is_not_at_rest():
    """At -90 degrees: the slopes on both sides, by finite differences, have opposite signs and a size."""
    u = Unit(math.pi * np.array(Params().points), np.ones(9), True)
    at = found(u)
    corner = np.argmin(np.abs(np.exp(1j * at.angle) + 1j))
    assert np.exp(1j * at.angle[corner]) == pytest.approx(-1j, abs=1e-9)
    energy, _ = u.energy_and_velocity(-math.pi / 2 + np.array([-2e-6, -1e-6, 1e-6, 2e-6]))
    before, after = (energy[1] - energy[0]) / 1e-6, (energy[3] - energy[2]) / 1e-6
    assert at.speed[corner] == pytest.approx(min(before, -after), rel=1e-3)
    assert min(before, -after) > 0.005
    assert found(replace(u, relu=False)).speed.max() < 1e-11


def test_figure_8_has_the_papers_points_and_nothing_changes_with_a_turn(tables):
    assert np.degrees(np.multiply(Params().points, math.pi)) == pytest.approx(
        [-144, -90, -72, -30, 0, 36, 72, 108, 144]
    )
    by_seed = tables["optima"].query("data == 'E.1'").groupby(["activation", "alpha"])
    for _, rows in by_seed:
        still, *turned = [np.exp(1j * one["angle"].to_numpy()) for _, one in rows.groupby("seed")]
        assert len(turned) == 2
        for one in turned:
            assert len(one) == len(still)
            assert np.abs(one[:, None] - still).min(1).max() < 1e-6


def test_figure_8_s_maxima_are_where_a_point_enters_the_active_half(tables):
    rows = tables["optima"].query(
        "data == 'E.1' and activation == 'relu' and alpha == 'uniform' and seed == 0"
    )
    borders = np.add.outer(np.multiply(Params().points, math.pi), [math.pi / 2, -math.pi / 2]).ravel()
    nearest = np.abs(np.exp(1j * rows["angle"].to_numpy())[:, None] - np.exp(1j * borders)).min(1)
    assert len(rows) == 9
    assert nearest.max() < 1e-9


def test_a_grid_twice_as_fine_finds_as_many(tables):
    finer = compute(Params(**{**SMALL, "grid": 4000}), Context())
    for name, columns in (
        ("optima", ["data", "seed", "activation", "alpha"]),
        ("counts", ["data", "rotation"]),
    ):
        counts = [each[name].groupby(columns).size() for each in (tables, finer)]
        pd.testing.assert_series_equal(*counts)
    pd.testing.assert_series_equal(tables["counts"]["maxima"], finer["counts"]["maxima"])


def test_curves_have_the_largest_value_1(tables):
    highest = tables["curves"].groupby(["activation", "alpha"])["objective"].max()
    assert (highest == 1).all()
    assert len(highest) == 6


CONTRADICTED = {"tian2023/cor2/gaussian-deeper-optima", "tian2023/cor2/infonce-deeper-optima"}


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    assert judge(BY_ID[id], tables).verdict == ("contradicted" if id in CONTRADICTED else "reproduced")


@pytest.mark.parametrize("id", BY_ID)
def test_numbers_that_are_none_are_no_evidence(tables, id):
    measured = {
        "optima": ["angle", "depth"],
        "counts": ["maxima", "energy"],
        "pca": ["angle"],
        "collected": ["patterns"],
        "curves": [],
    }
    broken = {name: table.assign(**dict.fromkeys(measured[name], np.nan)) for name, table in tables.items()}
    found = judge(BY_ID[id], broken)
    assert found.verdict == "inconclusive"
    assert "undefined in" in found.reason


def test_a_data_set_without_optima_counts_as_0(tables):
    none = without("optima", data="random", activation="relu", seed=1)(tables)
    observed = BY_ID["tian2023/sec3/relu-more-optima"].first.measure(none)
    assert observed[1] == 0
    assert observed[0] > 0


def test_no_departure_and_one_assumption():
    assert assumptions(Params()) == ["tau=0.1"]
    assert departures(Params(data_sets=300, grid=4800)) == []
    assert departures(Params(points=(0.0, 0.5)))
    assert set(alternatives(Params())) == {f"tau = {tau:g}" for tau in (0.05, 0.2, 0.5, 1)}


@pytest.mark.parametrize("rotations", [[0.0, 30.0], [0.0, 30.0, 180.0, 200.0]])
def test_rotations_at_which_claims_read_are_asked_for(rotations):
    with pytest.raises(RepriseError, match="rotations"):
        overridden(Params, {"rotations": rotations}, "configs/x.yaml")


def test_other_settings_do_not_decide(tables):
    params = Params(**SMALL)
    settings = {BASE: params, **alternatives(params)}

    def computed(given, context):
        return tables if given is params else compute(given, context)

    both = evaluate(computed, settings, Context())
    rows = judge_all(CLAIMS, [both], params).set_index("claim")
    for id, claim in BY_ID.items():
        assert rows.loc[id, "observed"] == pytest.approx(judge(claim, tables).observed)
        assert len(json.loads(rows.loc[id, "settings"])) == 4


@pytest.mark.parametrize("variant", VARIANTS[:2])
def test_a_start_is_counted_for_the_optimum_that_a_weight_from_there_reaches(variant):
    u = unit(5, **variant)
    at, starts = found(u, 3600), equidistant(97, 0.05)
    theta = starts.copy()
    for _ in range(4000):
        theta = theta + 2e-3 * u.direction(u.energy_and_velocity(theta)[1])
    nearest = np.abs(np.exp(1j * theta)[:, None] - np.exp(1j * at.angle)).argmin(1)
    basins = circle.reached(at.edge, starts)
    pairs = {*zip(nearest.tolist(), basins.tolist(), strict=True)}
    assert len(pairs) == len(at.angle) == len({basin for _, basin in pairs})


def test_units_collect_each_optimum_once_and_more_of_them_in_the_end_all(tables):
    rows = tables["collected"].set_index(["data", "activation", "seed", "units"])["patterns"]
    optima_of = tables["optima"].query("alpha == 'uniform'").groupby(["data", "activation", "seed"]).size()
    assert (rows.xs(1, level="units") == 1).all()
    assert (rows.groupby(["data", "activation", "seed"]).max() <= optima_of).all()
    many = compute(Params(**SMALL | {"data_sets": 3, "units": (1, 2, 4, 8, 16, 2000), "draws": 2}), Context())
    most = many["collected"].query("units == 2000 and activation == 'relu'").set_index(["data", "seed"])
    expected = many["optima"].query("alpha == 'uniform' and activation == 'relu'").groupby(["data", "seed"])
    assert (most["patterns"] == expected.size()).all()


def test_rounding_of_a_constant_is_no_motion():
    u = unit(1, rotation=math.pi)
    _, velocity = u.energy_and_velocity(equidistant(500, 0.2))
    assert np.abs(velocity).max() < circle.FLAT
    assert not u.direction(velocity).any()
