"""Power iteration in the latent summation model against definitions and quadrature, and Theorem 3's condition
against sampled points."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures, overridden
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.formula import checks
from reprise.evidence.identities import tried
from reprise.evidence.judgement import judge
from reprise.papers.tian2023.power_iteration import compute as room
from reprise.papers.tian2023.power_iteration import formulas, irregularity
from reprise.papers.tian2023.power_iteration.compute import compute
from reprise.papers.tian2023.power_iteration.experiment import Params, alternatives
from reprise.papers.tian2023.power_iteration.formulas import FORMULAS
from reprise.papers.tian2023.power_iteration.summation import a_matrix, patterns, power_step, states

BY_ID = {claim.id: claim for claim in registry.experiment("tian2023/power_iteration").claims}
SMALL = {
    "patterns": 4,
    "gram_distances": (0.0, 0.05, 0.1),
    "iterations": 60,
}
WRONG = {"tian2023/lemma7-parseval"}


@pytest.fixture(scope="module")
def tables(kept):
    return kept("tian2023/power_iteration", Params(**SMALL))


def rng(seed=0):
    return np.random.default_rng(seed)


def unit_vector(random, dim):
    w = random.normal(size=dim)
    return w / np.linalg.norm(w)


# The latent summation model.


def test_states_are_independent_standardised_bernoulli_variables():
    q = np.array([0.1, 0.3, 0.7])
    y, likelihood = states(q)
    assert y.shape == (8, 3)
    assert likelihood.sum() == pytest.approx(1)
    np.testing.assert_allclose(likelihood @ y, 0, atol=1e-15)
    np.testing.assert_allclose((y.T * likelihood) @ y, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(((y > 0).T * likelihood).sum(1), q)


@pytest.mark.parametrize("m", [2, 5, 8])
def test_patterns_are_unit_vectors_as_far_from_orthogonal_as_asked(m):
    distances = (0.0, 0.05, 0.9)
    for u, distance in zip(patterns(rng(m), m, distances), distances, strict=True):
        gram = u.T @ u
        np.testing.assert_allclose(np.diag(gram), 1, atol=1e-12)
        assert np.linalg.norm(gram - np.eye(m), 2) == pytest.approx(distance, abs=1e-12)


def test_a_is_the_variance_of_the_gated_input():
    """In a loop over the states."""
    q, u, w = np.array([0.2, 0.3, 0.4]), rng().normal(size=(3, 3)), unit_vector(rng(1), 3)
    first, second = np.zeros(3), np.zeros((3, 3))
    for on in itertools.product([0, 1], repeat=3):
        y = [math.sqrt((1 - p) / p) if o else -math.sqrt(p / (1 - p)) for o, p in zip(on, q, strict=True)]
        x = u @ y
        if w @ x > 0:
            likelihood = math.prod(p if o else 1 - p for o, p in zip(on, q, strict=True))
            first += likelihood * x
            second += likelihood * np.outer(x, x)
    y, likelihood = states(q)
    (found,) = a_matrix(w[None], (y @ u.T)[None], likelihood, 0.0)
    np.testing.assert_allclose(found, second - np.outer(first, first), atol=1e-14)


@pytest.mark.parametrize("noise_std", [0.1, 0.3, 2.0])
def test_with_noise_its_closed_form_is_the_integral_over_the_noise(noise_std):
    """The noise along w by quadrature, that across it by its moments 0 and 1."""
    q, u, w = np.array([0.2, 0.4]), rng(3).normal(size=(2, 2)), unit_vector(rng(4), 2)
    y, likelihood = states(q)
    across = np.array([-w[1], w[0]])

    def moments(mean, along):
        x = mean + noise_std * along * w
        density = math.exp(-(along**2) / 2) / math.sqrt(2 * math.pi)
        second = np.outer(x, x) + noise_std**2 * np.outer(across, across)
        return density * np.concatenate([x, second.ravel()])

    total = np.zeros(6)
    for mean, share in zip(y @ u.T, likelihood, strict=True):
        enters = -(w @ mean) / noise_std
        integral, _ = integrate.quad_vec(
            lambda t, mean=mean: moments(mean, t), max(enters, -12), max(enters, 12)
        )
        total += share * integral
    expected = total[2:].reshape(2, 2) - np.outer(total[:2], total[:2])
    (found,) = a_matrix(w[None], (y @ u.T)[None], likelihood, noise_std)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_little_noise_changes_little():
    y, likelihood = states(np.full(3, 0.2))
    u, w = patterns(rng(), 3, (0.1,))[0], unit_vector(rng(2), 3)
    sharp, soft = (a_matrix(w[None], (y @ u.T)[None], likelihood, noise) for noise in (0.0, 1e-5))
    np.testing.assert_allclose(soft, sharp, atol=1e-8)


@pytest.mark.parametrize("q", [0.1, 0.38, 0.5])
def test_a_at_a_pattern_is_eq_9(q):
    u = np.linalg.qr(rng(5).normal(size=(4, 4)))[0]
    y, likelihood = states(np.array([q, 0.3, 0.6, 0.2]))
    (found,) = a_matrix(u[:, 0][None], (y @ u.T)[None], likelihood, 0.0)
    own = np.outer(u[:, 0], u[:, 0])
    np.testing.assert_allclose(found, (1 - q) ** 2 * own + q * (np.eye(4) - own), atol=1e-14)


def test_runs_do_not_depend_on_each_other():
    y, likelihood = states(np.full(3, 0.2))
    w = np.stack([unit_vector(rng(seed), 3) for seed in range(5)])
    means = np.stack([y @ u.T for u in patterns(rng(9), 3, (0.0, 0.1, 0.2, 0.3, 0.4))])
    together = power_step(a_matrix(w, means, likelihood, 0.3), w)
    for run in range(5):
        alone = power_step(
            a_matrix(w[run : run + 1], means[run : run + 1], likelihood, 0.3), w[run : run + 1]
        )
        np.testing.assert_allclose(together[run], alone[0], rtol=1e-13)


@pytest.mark.parametrize(("angle", "period"), [(0.0, 1), (2 * np.pi / 2, 2), (2 * np.pi / 5, 5), (1.0, 0)])
def test_a_cycle_has_the_length_of_its_period(monkeypatch, angle, period):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    monkeypatch.setattr(room, "a_matrix", lambda w, *_: np.broadcast_to(turn, (len(w), 2, 2)))
    y, likelihood = states(np.full(2, 0.2))
    u = patterns(rng(), 2, (0.0,))[:, None]
    found = room._iterate(u, y, likelihood, 0.0, 50, Context())
    assert (found["period"] == period).all()
    np.testing.assert_allclose(found["steps"], 2 * abs(np.sin(angle / 2)), atol=1e-12)
    assert found["steps"].shape == (1, 1, 2, 50)


def test_a_run_is_said_to_end_at_the_pattern_that_is_nearest(monkeypatch):
    """All runs sent to u_2: of the three, one started there."""
    y, likelihood = states(np.full(3, 0.2))
    u = patterns(rng(), 3, (0.1,))[:, None]
    own = np.outer(u[0, 0, :, 1], u[0, 0, :, 1])
    monkeypatch.setattr(room, "a_matrix", lambda w, *_: np.broadcast_to(own, (len(w), 3, 3)))
    found = room._iterate(u, y, likelihood, 0.0, 5, Context())
    # Up to its sign, by which the iteration reaches u_2 or its opposite.
    assert found["nearest"][0, 0, 1] == 1
    assert found["distance"][0, 0, 1] == pytest.approx(0, abs=1e-12)
    assert found["nearest"][0, 0, [0, 2]].sum() <= 1


def test_orthogonal_patterns_are_fixed_points_and_a_start_elsewhere_is_not(tables):
    first = tables["steps"].query("gram_distance == 0 and iteration == 0")["step"]
    assert first.max() < 1e-13
    assert tables["steps"].query("gram_distance == 0.1 and iteration == 0")["step"].min() > 1e-4


def test_discrete_patterns_far_from_orthogonal_end_in_cycles_and_smooth_ones_do_not():
    params = Params(**{**SMALL, "gram_distances": (0.0, 0.05, 0.1, 0.4), "points": 1})
    ends = compute(params, Context())["ends"].query("gram_distance == 0.4")
    shares = ends.assign(cycle=ends["period"] > 1).groupby("model")["cycle"].mean()
    assert shares["discrete"] > 0.2
    assert shares["smoothed"] == 0


# Theorem 3's condition.


def certified(seed, largest=5):
    random = rng(seed)
    dim = int(random.integers(2, largest + 1))
    return formulas._certified(random, [1, *random.uniform(0.1, 0.4, dim - 1)])


@pytest.mark.parametrize("seed", range(10))
def test_no_point_of_the_ball_is_more_irregular_than_its_certificate_says(seed):
    family, w0, proven = certified(seed)
    assert proven.omega <= proven.gamma < 1
    random = rng(seed + 100)
    worst = 0.0
    for _ in range(300):
        angle = 2 * math.asin(proven.radius / 2) * random.uniform() ** 0.3
        across = random.normal(size=len(w0))
        across -= (across @ w0) * w0
        w = math.cos(angle) * w0 + math.sin(angle) * across / np.linalg.norm(across)
        values, _ = irregularity.eigenpairs(family(w))
        c = irregularity.first_eigenvector(family(w), w0) @ w
        omega = irregularity.omega(
            c, values[1] / values[0], values[0] - values[1], proven.lipschitz, proven.kappa
        )
        worst = max(worst, omega)
        assert values[-1] > 0
    assert 0.05 * proven.omega < worst <= proven.omega


@pytest.mark.parametrize("seed", range(5))
def test_the_lipschitz_constant_bounds_what_is_seen(seed):
    family, w0, _ = certified(seed)
    random = rng(seed)
    points = [(unit_vector(random, len(w0)), unit_vector(random, len(w0))) for _ in range(200)]
    seen = max(np.linalg.norm(family(v) - family(w), 2) / np.linalg.norm(v - w) for v, w in points)
    assert 0.2 * family.lipschitz < seen <= family.lipschitz


def test_kappa_is_not_far_from_what_is_needed():
    """In two dimensions, where ϕ1 turns by ½ atan(2e/g) under a change of e across it."""
    for gap, size in ((1.0, 0.1), (0.4, 0.05), (2.0, 0.6)):
        turned = 0.5 * math.atan(2 * size / gap)
        rest = np.hypot(math.cos(turned) - 1, math.sin(turned) - size / gap)
        assert 0.02 < rest / (irregularity.kappa_bound(gap, size) * size**2) <= 1


def test_no_certificate_where_a_changes_too_fast_or_the_start_is_too_far():
    a0 = np.diag([1.0, 0.2, 0.1])
    near, far = np.array([math.cos(0.1), math.sin(0.1), 0]), np.array([math.cos(1.2), math.sin(1.2), 0])
    assert irregularity.certificate(a0, near, 0.01) is not None
    assert irregularity.certificate(a0, near, 3.0) is None
    assert irregularity.certificate(a0, far, 0.01) is None


def test_at_an_eigenvector_of_a_constant_matrix_the_irregularity_is_the_squared_ratio():
    found = irregularity.certificate(np.diag([1.0, 0.5]), np.array([1.0, 0.0]), 0.0)
    assert found.omega == pytest.approx(0.25)
    assert found.gamma == pytest.approx(0.25)
    assert found.radius == 0


def test_the_measured_irregularity_is_that_of_the_model(tables):
    """L is at least any other difference quotient's order near u_1 with noise; without, it has no bound."""
    table = tables["irregularity"]
    smoothed, discrete = (table[table["model"] == model] for model in ("smoothed", "discrete"))
    assert smoothed["lipschitz"].between(0.1, 10).all()
    assert (discrete["lipschitz"] > 50).all()
    assert (smoothed["covered"] == 0).all()
    assert (discrete.query("gram_distance == 0")["covered"] == 1).all()  # there B_γ is a point
    assert (table.query("covered == 0")["radius"] == 0).all()


def test_a_jump_is_seen_the_larger_the_closer(monkeypatch):
    y, likelihood = states(np.full(3, 0.2))
    u = patterns(rng(1), 3, (0.1,))[0]
    seen = []
    for near in (1e-4, 1e-6):
        monkeypatch.setattr(room, "NEAR", near)
        seen.append([room._irregularity_at(u[:, 0], y @ u.T, likelihood, s)["lipschitz"] for s in (0.0, 0.3)])
    (coarse, smooth), (fine, still) = seen
    assert fine == pytest.approx(100 * coarse, rel=0.05)
    assert still == pytest.approx(smooth, rel=1e-3)


# Formulas and claims.


@pytest.mark.parametrize("id", sorted(BY_ID))
def test_verdicts(tables, id):
    assert judge(BY_ID[id], tables).verdict == ("contradicted" if id in WRONG else "reproduced")


def times(factor):
    return lambda original: lambda *given: factor * original(*given)


@pytest.mark.parametrize(
    ("name", "broken", "id"),
    [
        ("mu", times(0.5), "lemma7"),
        ("nu", times(0.02), "lemma10"),
        ("kappa_bound", times(0.02), "lemma9"),
        ("ball_radius", times(0.1), "thm3"),
    ],
)
def test_a_smaller_bound_is_exceeded(monkeypatch, name, broken, id):
    """So the bounds are no wider than they need to be to hold."""
    monkeypatch.setattr(irregularity, name, broken(getattr(irregularity, name)))
    (tried_alone,) = (each for each in FORMULAS if each.name == id)
    tables = {
        "identities": tried(checks([tried_alone]), range(20), Params().largest, ("dimension",), Context())
    }
    assert judge(BY_ID[f"tian2023/{id}"], tables).verdict == "contradicted"


def test_the_two_forms_of_the_ball_are_the_same():
    """By its edge (Theorem 3), and by the distance from w(0) (Eq. 103)."""
    for gamma in (0.01, 0.3, 0.7):
        # Close enough for the ball not to be the whole sphere.
        c0 = 1 - 0.5 * 2 * (1 - math.sqrt(gamma)) ** 2 / (1 + gamma)
        edge = irregularity.ball_threshold(gamma, c0)
        distance = math.hypot(1 - edge, math.sqrt(1 - edge**2))
        assert irregularity.ball_radius(gamma, c0) == pytest.approx(distance)


def test_a_start_without_the_condition_need_not_converge_to_the_first_eigenvector():
    """A(w) with its first eigenvector always across w: c stays 0, whatever the start."""

    def across(w):
        other = np.array([-w[1], w[0]])
        return np.outer(other, other) + 0.3 * np.outer(w, w) + 0.5 * (np.outer(w, other) + np.outer(other, w))

    w0 = np.array([1.0, 0.0])
    assert irregularity.certificate(across(w0), w0, 2.0) is None
    steps = formulas._iterate(across, w0)
    assert steps[-1].length > 0.1


@pytest.mark.parametrize("id", BY_ID)
def test_numbers_that_are_none_are_no_evidence(tables, id):
    measured = {
        "steps": ["step"],
        "ends": ["period", "distance", "nearest"],
        "irregularity": ["covered", "radius"],
        "thresholds": ["threshold"],
        "identities": ["relative_error"],
    }
    broken = {name: table.assign(**dict.fromkeys(measured[name], np.nan)) for name, table in tables.items()}
    none_is_covered = id == "tian2023/thm3/covered-runs-converge"
    assert judge(BY_ID[id], broken).verdict == ("not run" if none_is_covered else "inconclusive")


def test_few_runs_are_not_enough(tables):
    claim = BY_ID["tian2023/fig1/close-to-its-pattern-discrete"]
    assert judge(claim, tables).verdict == "reproduced"
    few = {**tables, "ends": tables["ends"].query("seed < 20")}
    assert judge(claim, few).verdict == "inconclusive"


def test_a_point_does_not_depend_on_the_others(tables):
    fewer = compute(Params(**{**SMALL, "points": 2, "seeds": 2}), Context())
    for name, keys in (("thresholds", ["seed"]), ("identities", ["identity", "form", "seed"])):
        both = [t[name].query("seed == 1").set_index(keys).sort_index() for t in (fewer, tables)]
        assert both[0].equals(both[1])


def test_nor_does_a_seed(tables):
    fewer = compute(Params(**{**SMALL, "points": 1, "seeds": 2}), Context())
    for name, keys in (
        ("steps", ["model", "gram_distance", "iteration"]),
        ("irregularity", ["model", "gram_distance"]),
    ):
        ours, theirs = (
            t[name].query("seed == 1").set_index(keys).drop(columns="seed") for t in (fewer, tables)
        )
        np.testing.assert_allclose(ours.to_numpy(), theirs.to_numpy(), rtol=1e-9, atol=1e-14)


def test_tables_are_tidy(tables):
    keys = {
        "steps": ["model", "gram_distance", "seed", "iteration"],
        "ends": ["model", "gram_distance", "seed", "start"],
        "irregularity": ["model", "gram_distance", "seed"],
        "thresholds": ["seed"],
        "identities": ["identity", "form", "seed"],
    }
    for name, table in tables.items():
        assert not table.duplicated(keys[name]).any()
        assert table.notna().all(axis=None)


def test_what_is_assumed_and_departs():
    assert [each.split("=")[0] for each in assumptions(Params())] == [
        "patterns", "probability", "gram_distances", "noise_std", "iterations",
    ]  # fmt: skip
    assert departures(Params(seeds=300, points=300)) == []
    assert "q = 0.1" in alternatives(Params())


@pytest.mark.parametrize("distances", [[0.0, 0.2], [0.0, 0.05, 0.1, 1.0]])
def test_distances_at_which_claims_read_are_asked_for(distances):
    with pytest.raises(RepriseError, match="gram_distances"):
        overridden(Params, {"gram_distances": distances}, "configs/x.yaml")
