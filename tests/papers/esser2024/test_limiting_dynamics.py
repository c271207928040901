"""Figure 3: descent against autograd and scipy, the ODEs against matrices and each other, Euler's limit
against the Jacobian and against runs; every claim against tables made to break it."""

import numpy as np
import pytest
import scipy.linalg
import torch

from reprise.errors import RepriseError
from reprise.evidence.claims import IDENTITY_TOLERANCE
from reprise.evidence.judgement import MIN_POINTS, judge
from reprise.papers.esser2024.limiting_dynamics import compute as room
from reprise.papers.esser2024.limiting_dynamics import dynamics, formulas
from reprise.papers.esser2024.limiting_dynamics.claims import CLAIMS
from reprise.papers.esser2024.limiting_dynamics.params import WIDTHS, Params, alternatives
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.study.experiment import Context
from reprise.study.settings import departures

BY_ID = {claim.id: claim for claim in CLAIMS}
IDENTITIES = sorted(id for id, claim in BY_ID.items() if claim.kind == "identity")
EACH_ODE = pytest.mark.parametrize("name", dynamics.ODES)


@pytest.fixture(scope="module")
def tables():
    return room.compute(Params(steps=500, seeds=4, points=MIN_POINTS), Context())


def rng(seed=0):
    return np.random.default_rng(seed)


def random_c(seed, *shape):
    c = torch.from_numpy(rng(seed).normal(size=shape))
    return c + c.mT


# Descent and the ODEs.


@pytest.mark.parametrize(("width", "inputs", "outputs"), [(5, 3, 2), (3, 3, 1), (7, 2, 3)])
def test_a_step_of_descent_is_that_of_autograd_and_scipy(width, inputs, outputs):
    c = random_c(0, inputs, inputs)
    weights = [w[0].clone().requires_grad_() for w in orthonormal_start([4], width, inputs, outputs)]
    torch.trace(weights[1].mT @ weights[0] @ c @ weights[0].mT @ weights[1]).backward()
    expected = [scipy.linalg.polar((w - 0.05 * w.grad).detach().numpy())[0] for w in weights]
    found = dynamics.gradient_step([w.detach() for w in weights], c, 0.05)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)


@EACH_ODE
def test_an_ode_is_its_formula_in_matrices(name):
    values, q = rng(1).normal(size=4), rng(2).normal(size=(4, 2))
    v = np.linalg.qr(rng(3).normal(size=(4, 4)))[0]
    c, big = v @ np.diag(values) @ v.T, v @ q
    expected = {
        "printed": -2 * (2 * c @ big - c @ big @ big.T @ big - big @ big.T @ c @ big),
        "corrected": -(4 * c @ big - 3 * big @ big.T @ c @ big - c @ big @ big.T @ big),
    }[name]
    np.testing.assert_allclose(v @ dynamics.ODES[name](q, values), expected, atol=1e-12)
    assert dynamics.loss(q, values) == pytest.approx(np.trace(big.T @ c @ big))


@EACH_ODE
def test_eulers_method_converges_to_what_solve_ivp_finds_at_first_order(name):
    values, q0 = np.array([-1.0, -0.3, 0.4]), 0.3 * rng(5).normal(size=(3, 2))
    expected = dynamics.flow(dynamics.ODES[name], q0, values, np.array([1.0]))[-1]
    errors = []
    for steps in (200, 400):
        q = q0
        for _ in range(steps):
            q = dynamics.euler_step(dynamics.ODES[name], q, values, 1 / steps)
        errors.append(np.linalg.norm(q - expected))
    assert errors[1] < 1e-2
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)


def test_small_steps_of_descent_follow_the_corrected_ode_and_not_the_printed_one():
    c = random_c(6, 3, 3) / 4
    values, v = dynamics.eigenpairs(c)
    w1, w2 = (w[0] for w in orthonormal_start([0], 4, 3, 1))
    q0, end = (v.mT @ w1.mT @ w2).numpy(), 0.5
    distances = {name: [] for name in dynamics.ODES}
    for steps in (250, 500):
        weights = (w1, w2)
        for _ in range(steps):
            weights = dynamics.gradient_step(weights, c, end / steps)
        q = (v.mT @ weights[0].mT @ weights[1]).numpy()
        for name, ode in dynamics.ODES.items():
            distances[name].append(np.linalg.norm(dynamics.flow(ode, q0, values.numpy(), [end])[-1] - q))
    assert distances["corrected"][0] / distances["corrected"][1] == pytest.approx(2, rel=0.1)
    assert distances["printed"][1] > 20 * distances["corrected"][1]


def test_no_solution_is_an_error():
    with pytest.raises(RepriseError, match="no solution"):
        dynamics.flow(dynamics.printed, np.array([[1.1]]), np.array([1.0]), np.array([10.0]))


def test_eigenvectors_have_one_sign_each():
    values, vectors = dynamics.eigenpairs(random_c(7, 6, 3, 3))
    torch.testing.assert_close((vectors * values[:, None]) @ vectors.mT, random_c(7, 6, 3, 3))
    assert (values.diff(dim=-1) >= 0).all()
    assert (vectors.amax(-2) >= -vectors.amin(-2)).all()


# Euler's limit.


def at_the_limit(values, outputs):
    """q with the eigenvectors of the most negative eigenvalues, as many as there are outputs."""
    q = np.eye(len(values), outputs)
    return q * ((np.arange(outputs) < (values < 0).sum())[None])


@EACH_ODE
@pytest.mark.parametrize("seed", range(12))
def test_the_largest_step_is_that_of_the_jacobian_at_the_limit(name, seed):
    random = rng(seed)
    dim = int(random.integers(1, 5))
    outputs = int(random.integers(1, dim + 1))
    values = np.sort(random.normal(size=dim) * 2 + random.normal() * 2)
    q = at_the_limit(values, outputs)
    columns = []
    for unit in np.eye(q.size).reshape(q.size, *q.shape):
        forth, back = (dynamics.ODES[name](q + sign * 1e-6 * unit, values) for sign in (1, -1))
        columns.append((forth - back).ravel() / 2e-6)
    rates = np.linalg.eigvals(np.array(columns).T)
    assert np.abs(rates.imag).max() < 1e-6
    assert rates.real.max() < 1e-6
    assert dynamics.largest_step(name, values, outputs) == pytest.approx(-2 / rates.real.min(), rel=1e-5)


@EACH_ODE
def test_it_is_a_quarter_over_the_size_of_the_smallest_eigenvalue(name):
    """Where none is large and positive; a run settles below it, and does not above."""
    values = np.array([-0.8, -0.3])
    limit = dynamics.largest_step(name, values, 1)
    assert limit == pytest.approx(0.25 / 0.8)
    for share, settles in ((0.9, True), (1.1, False)):
        q = np.array([[0.1], [0.2]])
        for _ in range(400):
            q = dynamics.euler_step(dynamics.ODES[name], q, values, share * limit)
        assert (abs(abs(q[0, 0]) - 1) < 1e-6) == settles


def test_an_unstable_step_is_an_error_before_the_first_step(monkeypatch):
    monkeypatch.setattr(room, "gradient_step", lambda *_: pytest.fail("a step was taken"))
    with pytest.raises(
        RepriseError, match=r"learning_rate 0.01 with reduction 'sum' and 200 .*below 0.00\d"
    ) as error:
        room.compute(Params(reduction="sum", seeds=2, points=1), Context())
    assert "lower learning_rate" in str(error.value)
    with pytest.raises(RepriseError, match=r"learning_rate 0\.5"):
        room.compute(Params(learning_rate=0.5, seeds=2, points=1), Context())


def test_the_widest_stable_step_runs():
    found = room.compute(Params(learning_rate=0.2, steps=100, seeds=2, points=1), Context())
    assert np.isfinite(found["trajectory"]["loss"]).all()


# Tables.


def test_tables_are_tidy(tables):
    keys = {
        "identities": ["identity", "form", "seed"],
        "velocities": ["form", "seed"],
        "trajectory": ["z", "width", "method", "iteration", "seed"],
        "outputs": ["z", "width", "method", "iteration", "seed", "eigenvector", "unit"],
    }
    assert set(tables) == set(keys)
    for name, table in tables.items():
        assert not table.duplicated(keys[name]).any()
        assert table.notna().all(axis=None)


def test_losses_and_distances_are_those_of_the_outputs(tables):
    outputs = tables["outputs"].query("z == 2 and width == 100 and seed == 1")
    wide = outputs.pivot(index=["method", "iteration"], columns=["eigenvector", "unit"], values="output")
    rows = (
        tables["trajectory"].query("z == 2 and width == 100 and seed == 1").set_index(["method", "iteration"])
    )
    expected = np.linalg.norm(wide.loc["printed_euler"] - wide.loc["descent"], axis=1)
    np.testing.assert_allclose(rows.loc["printed_euler", "distance"], expected, atol=1e-14)
    assert (rows.loc["descent", "distance"] == 0).all()
    # The loss is linear in the squares on the eigenvectors, with the same two eigenvalues everywhere.
    squares = (wide**2).T.groupby(level="eigenvector").sum().T
    loss = rows["loss"].loc[squares.index]
    values, residual, _, _ = np.linalg.lstsq(squares.to_numpy(), loss.to_numpy(), rcond=None)
    assert residual.max() < 1e-20
    assert values[0] < values[1] < 0


def test_all_start_alike_and_euler_stays_with_solve_ivp(tables):
    trajectory = tables["trajectory"]
    assert trajectory.query("iteration == 0")["distance"].max() < 1e-14
    wide = trajectory.pivot(index=["z", "width", "seed", "iteration"], columns="method", values="loss")
    for ode in dynamics.ODES:
        gap = (wide[f"{ode}_euler"] - wide[f"{ode}_flow"]).abs()
        assert 1e-5 < gap.max() < 5 * 0.01  # the learning rate: Euler's method is of first order


def test_a_seeds_numbers_do_not_depend_on_the_others(tables):
    fewer = room.compute(Params(steps=500, seeds=2, points=2), Context())
    for name in ("trajectory", "outputs", "velocities", "identities"):
        ours, theirs = (t[name].query("seed == 1").reset_index(drop=True) for t in (fewer, tables))
        for column in ours:
            if ours[column].dtype.kind == "f":
                np.testing.assert_allclose(ours[column], theirs[column], rtol=1e-9, atol=1e-12)
            else:
                assert (ours[column] == theirs[column]).all()


def test_other_settings_are_other_data():
    for other in alternatives(Params()).values():
        assert departures(other)
        assert Params.model_validate(other.model_dump()) == other


@pytest.mark.parametrize(
    "changes", [{"widths": [10, 100]}, {"embedding_dims": [1]}, {"steps": 15}, {"widths": [1, 10, 100, 1000]}]
)
def test_what_claims_read_is_asked_for(changes):
    with pytest.raises(RepriseError, match=r"widths|embedding_dims|steps"):
        Params.from_overrides(changes, "configs/mine.yaml")


# Claims.


@pytest.mark.parametrize("id", IDENTITIES)
def test_verdicts_of_identities(tables, id):
    assert judge(BY_ID[id], tables).verdict == ("contradicted" if id.endswith("/printed") else "reproduced")


@pytest.mark.parametrize("id", IDENTITIES)
def test_counter_cases_of_identities(tables, id):
    wrong = id.endswith("/printed")
    table = tables["identities"].assign(relative_error=0.0 if wrong else 2 * IDENTITY_TOLERANCE)
    assert judge(BY_ID[id], {"identities": table}).verdict == ("reproduced" if wrong else "contradicted")


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("thm2-ode", "corrected"),
        ("thm3-limit", "corrected"),
        ("thm3-zero", "corrected"),
        ("thm3-positive", "corrected"),
    ],
)
def test_with_another_corrected_ode_the_corrections_fail(monkeypatch, name, ids):
    monkeypatch.setitem(
        dynamics.ODES, "corrected", lambda q, values: dynamics.printed(q, values) * 0.9 + 0.01
    )
    check = {
        "thm2-ode": formulas.theorem_2,
        "thm3-limit": formulas.theorem_3_negative,
        "thm3-zero": formulas.theorem_3_zero,
        "thm3-positive": formulas.theorem_3_positive,
    }[name]
    assert check(rng(1), 4).errors[name][ids] > IDENTITY_TOLERANCE


def test_at_a_width_of_the_inputs_the_gap_of_the_printed_ode_is_a_third():
    """There |q| = 1, and the two ODEs are -2 and -3 times the same."""
    gaps = [formulas.velocity_gaps(rng(seed)) for seed in range(5)]
    np.testing.assert_allclose([gap["printed"] for gap in gaps], 1 / 3, atol=1e-6)
    assert max(gap["corrected"] for gap in gaps) < 1e-6


def column(name, query, value, by=None):
    def change(tables):
        table = tables[name].copy()
        hit = table.eval(query)
        assert 0 < hit.sum() < len(hit)
        table.loc[hit, by or "gap"] = value(table.loc[hit, by or "gap"])
        return {**tables, name: table}

    return change


def shifted(by):
    return lambda values: values + by


def broken_figure_3(width):
    run = f"width == {width} and method == 'printed_euler' and z == "
    last = " and iteration == iteration.max()"
    descent = f"width == {width} and method == 'descent' and z == 1 and eigenvector == 2{last}"
    changes = {
        "final-loss-gap": column("trajectory", f"{run}1{last}", shifted(0.15), "loss"),
        "slower-decay": column("trajectory", f"{run}1", shifted(-0.1), "loss"),
        "outputs-close": column("trajectory", f"{run}1 and iteration == 100", lambda _: 0.5, "distance"),
        "same-limit": column("trajectory", f"{run}1{last}", lambda _: 0.2, "distance"),
        "same-limit-z2": column("trajectory", f"{run}2{last}", lambda _: 0.4, "distance"),
        "smallest-eigenvector": column("outputs", descent, shifted(0.8), "output"),
    }
    return {f"esser2024/fig3/{name}-h{width}": (change, "contradicted") for name, change in changes.items()}


BREAKING = {
    "esser2024/thm2/paper-ode-velocity-gap-h2": (
        column("velocities", "form == 'printed'", lambda _: 0.0),
        "reproduced",
    ),
    "esser2024/thm2/corrected-ode-gap-h2": (
        column("velocities", "form == 'corrected'", shifted(0.2)),
        "contradicted",
    ),
}
for each in WIDTHS:
    BREAKING |= broken_figure_3(each)


def test_every_claim_has_a_counter_case():
    assert set(BREAKING) | set(IDENTITIES) == set(BY_ID)


@pytest.mark.parametrize("id", BREAKING)
def test_counter_cases(tables, id):
    change, expected = BREAKING[id]
    before, after = judge(BY_ID[id], tables), judge(BY_ID[id], change(tables))
    assert before.verdict != expected or "slower-decay" in id  # which is contradicted at h = 1000
    assert after.verdict == expected
    assert (before.observed, before.reference) != (after.observed, after.reference)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_loss_that_decays_more_slowly_is_seen(tables, width):
    run = f"z == 1 and width == {width} and method == 'printed_euler'"
    change = column("trajectory", run, shifted(0.05), "loss")
    assert judge(BY_ID[f"esser2024/fig3/slower-decay-h{width}"], change(tables)).verdict == "reproduced"


@pytest.mark.parametrize("id", BREAKING)
def test_numbers_that_are_none_are_no_evidence(tables, id):
    measured = {"trajectory": ["loss", "distance"], "outputs": ["output"], "velocities": ["gap"]}
    broken = {
        name: tables[name].assign(**dict.fromkeys(columns, np.nan)) for name, columns in measured.items()
    }
    assert judge(BY_ID[id], broken).verdict == "inconclusive"
