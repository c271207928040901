"""Figure 3: descent against autograd and scipy, the ODEs against matrices and each other, Euler's limit
against the Jacobian and against runs; what claims read of a limit that still moves."""

import numpy as np
import pytest
import scipy.linalg
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import departures, overridden
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.judgement import judge
from reprise.papers.esser2024.limiting_dynamics import compute as room
from reprise.papers.esser2024.limiting_dynamics import dynamics
from reprise.papers.esser2024.limiting_dynamics.experiment import WIDTHS, Params, alternatives
from reprise.papers.esser2024.limiting_dynamics.ideal import ideal
from reprise.papers.esser2024.two_layers import orthonormal_start

BY_ID = {claim.id: claim for claim in registry.experiment("esser2024/limiting_dynamics").claims}
SHORT = Params(steps=500, record_every=10, seeds=4, first_seed=0)
EACH_ODE = pytest.mark.parametrize("name", dynamics.ODES)


@pytest.fixture(scope="module")
def tables():
    return room.compute(SHORT, Context())


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


def test_solutions_together_are_those_one_by_one():
    q0, values, times = (
        0.4 * rng(8).normal(size=(5, 2, 2)),
        rng(9).normal(size=(5, 2)) - 1,
        np.array([0.5, 2.0]),
    )
    together = dynamics.flow(dynamics.printed, q0, values, times)
    for run in range(5):
        alone = dynamics.flow(dynamics.printed, q0[run], values[run], times)
        np.testing.assert_allclose(together[:, run], alone, atol=1e-8)


def test_a_rotation_of_the_hidden_units_changes_no_output():
    """Few hidden units need be trained for that reason; the reference is descent with all of them."""
    c = random_c(10, 3, 2, 2) / 4
    values, vectors = dynamics.eigenpairs(c)
    weights = starts = orthonormal_start(range(3), 40, 2, 2)
    few = Params(steps=40, record_every=20)
    descent, *_ = room._outputs(c, values, vectors, starts, few)
    for _ in range(40):
        weights = dynamics.gradient_step(weights, c, few.learning_rate)
    np.testing.assert_allclose(descent[-1], vectors.mT @ weights[0].mT @ weights[1], atol=1e-12)


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
    """No eigenvalue is large and positive; a run settles below the limit, and does not above."""
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
        room.compute(Params(reduction="sum", seeds=2), Context())
    assert "lower learning_rate" in str(error.value)
    with pytest.raises(RepriseError, match=r"learning_rate 0\.5"):
        room.compute(Params(learning_rate=0.5, seeds=2), Context())


def test_the_widest_stable_step_runs():
    found = room.compute(Params(learning_rate=0.2, steps=100, seeds=2), Context())
    assert np.isfinite(found["trajectory"]["loss"]).all()


# Tables.


def test_tables_are_tidy(tables):
    keys = {
        "ends": ["z", "width", "method", "seed"],
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
    fewer = room.compute(SHORT.model_copy(update={"seeds": 1, "first_seed": 1}), Context())
    for name in fewer:  # but for solve_ivp, which chooses its steps for all together
        ours, theirs = (t[name].query("seed == 1").reset_index(drop=True) for t in (fewer, tables))
        for column in ours:
            if ours[column].dtype.kind == "f":
                np.testing.assert_allclose(ours[column], theirs[column], rtol=1e-9, atol=1e-8)
            else:
                assert (ours[column] == theirs[column]).all()


def test_ends_are_those_of_the_courses(tables):
    """Seed 2 is computed from its recorded outputs; the last quarter of 51 records begins with the 39th."""
    outputs = tables["outputs"].query("z == 2 and width == 10 and seed == 2")
    wide = outputs.pivot(index=["method", "iteration"], columns=["eigenvector", "unit"], values="output")
    ends = tables["ends"].query("z == 2 and width == 10 and seed == 2").set_index("method")
    trajectory = tables["trajectory"].query("z == 2 and width == 10 and seed == 2")
    losses = trajectory.pivot(index="iteration", columns="method", values="loss")
    for method in ("descent", "printed_euler"):
        q = wide.loc[method].to_numpy().reshape(-1, 2, 2)
        row = ends.loc[method]
        assert row["moved"] == pytest.approx(np.linalg.norm(q[-1] - q[38]), rel=1e-9)
        assert row["miss"] == pytest.approx(np.linalg.norm(q[-1] @ q[-1].T - np.eye(2)), rel=1e-6, abs=1e-12)
        assert row["mean_loss"] == pytest.approx(losses[method].mean(), rel=1e-9)
        assert row["loss_moved"] == pytest.approx(
            abs(losses[method].iloc[-1] - losses[method].iloc[38]), abs=1e-12
        )
    gap = abs(losses["printed_euler"] - losses["printed_flow"]).iloc[-1]
    assert ends.loc["printed_euler", "loss_integration"] == pytest.approx(gap, abs=1e-12)
    assert (ends.loc[["descent", "printed_flow"], "integration"] == 0).all()


def test_other_settings_are_other_data():
    for other in alternatives(Params()).values():
        assert departures(other)
        assert Params.model_validate(other.model_dump()) == other


@pytest.mark.parametrize(
    "changes", [{"widths": [10, 100]}, {"embedding_dims": [1]}, {"steps": 30}, {"widths": [1, 10, 100, 1000]}]
)
def test_what_claims_read_is_asked_for(changes):
    with pytest.raises(RepriseError, match=r"widths|embedding_dims|steps"):
        overridden(Params, changes, "configs/mine.yaml")


# Claims.


def ends(**changes):
    """Tables in which every claim holds; `changes`: column -> value by the ODE (12)."""
    table = ideal(Params())["ends"]
    by_ode = table["method"] == "printed_euler"
    return {
        "ends": table.assign(**{name: table[name].mask(by_ode, value) for name, value in changes.items()})
    }


def test_a_loss_that_rises_decays_no_more_slowly():
    found = judge(BY_ID["esser2024/fig3/slower-decay"], ends(mean_loss=0.3, loss=0.6))
    assert found.verdict == "contradicted"
    assert {name for name, cell in found.cells.items() if cell.verdict == "contradicted"} == {
        f"h = {width}, decays" for width in WIDTHS
    }


def test_a_limit_is_measured_to_what_still_moves():
    claim = BY_ID["esser2024/fig3/same-limit"]
    assert judge(claim, ends(distance=0.004, moved=0.005)).verdict == "reproduced"
    assert judge(claim, ends(distance=0.004, moved=0.02)).verdict == "inconclusive"


@pytest.mark.parametrize("id", BY_ID)
def test_numbers_that_are_none_are_no_evidence(id):
    table = ends()["ends"]
    measured = table.columns.difference(["z", "width", "method", "seed"])
    broken = {"ends": table.assign(**dict.fromkeys(measured, np.nan))}
    assert judge(BY_ID[id], broken).verdict == "inconclusive"
