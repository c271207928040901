"""The identities of the theory: what is right holds, misprints fail, and other numbers turn the verdict."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.optimize import minimize

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.comparison import COLLAPSED as COLLAPSE
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.judgement import judge
from reprise.papers.esser2024.errata import ERRATA
from reprise.papers.esser2024.limiting_dynamics import dynamics
from reprise.papers.esser2024.theory import (
    collapse,
    constraints,
    output_dynamics,
    outputs,
    points,
    trace_loss,
    wide_networks,
)
from reprise.papers.esser2024.theory import compute as room
from reprise.papers.esser2024.theory.claims import CLAIMS
from reprise.papers.esser2024.theory.compute import compute
from reprise.papers.esser2024.theory.experiment import Params

BY_ID = {claim.id: claim for claim in CLAIMS}
COUPLED = "esser2024/remark2/spectral"
COLLAPSED = "esser2024/remark2/infonce-collapse"
IDENTITIES = [id for id in BY_ID if id not in (COUPLED, COLLAPSED)]
OF_ODE_9 = "esser2024/thm2/paper-ode-velocity-gap-h2"
WRONG = {id for id in BY_ID if id.endswith("/printed")} | {COLLAPSED, OF_ODE_9}


READ_IN_CELLS = {
    "thm2/velocity-h2",
    *(f"prop1/{name}-kernel" for name in ("contrastive", "non-contrastive")),
    *(f"thm1/{step}-{name}" for step in ("eq13", "proof") for name in wide_networks.ACTIVATIONS),
}
NOT_TRIED_THEMSELVES = {
    "thm1/eq13",
    "thm1/proof",
    *(f"thm2/{form}-gap-h2" for form in ("paper-ode-velocity", "corrected-ode")),
}


@pytest.fixture(scope="module")
def tables():
    return compute(Params(), Context())


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    expected = "contradicted" if id in WRONG else "reproduced"
    for margin_scale in (0.5, 1, 2):
        assert judge(BY_ID[id], tables, margin_scale=margin_scale).verdict == expected


@pytest.mark.parametrize("id", IDENTITIES)
def test_counter_case(tables, id):
    """The verdict flips with errors on the other side of the tolerance, which are read from the table."""
    error = 0.0 if id in WRONG else 2 * IDENTITY_TOLERANCE
    found = judge(BY_ID[id], {"identities": tables["identities"].assign(relative_error=error)})
    assert found.verdict == ("reproduced" if id in WRONG else "contradicted")
    assert found.observed == error


def test_a_loss_that_decouples_contradicts_the_coupling(tables):
    """Those of the contrastive loss, in place of the spectral one's."""
    table = tables["identities"]
    decoupled = table.query("identity == 'remark2/decoupled'").assign(identity="remark2/spectral")
    assert judge(BY_ID[COUPLED], {"identities": decoupled}).verdict == "contradicted"


def test_outputs_that_do_not_collapse_contradict_what_the_paper_says_of_infonce(tables):
    many = (
        tables["identities"]
        .query("identity == 'remark2/spectral'")
        .assign(identity="remark2/infonce-collapse")
    )
    for share, verdict in ((0.9, "reproduced"), (1.1, "contradicted")):
        table = many.assign(relative_error=share * COLLAPSE)
        assert judge(BY_ID[COLLAPSED], {"identities": table}).verdict == verdict


@pytest.mark.parametrize("id", sorted(id for id in BY_ID if id.endswith("/corrected")))
def test_the_misprint_swapped_for_its_correction(tables, id):
    """Under swapped forms the corrected claim is contradicted and the printed one reproduced."""
    swap = {"printed": "corrected", "corrected": "printed"}
    swapped = {"identities": tables["identities"].assign(form=tables["identities"]["form"].map(swap))}
    assert judge(BY_ID[id], swapped).verdict == "contradicted"
    assert judge(BY_ID[id.replace("corrected", "printed")], swapped).verdict == "reproduced"


def test_every_misprint_is_among_the_errata():
    shown = {id for erratum in ERRATA for id in erratum.shown_by}
    assert {id for id in BY_ID if id.endswith(("/printed", "/corrected"))} <= shown
    assert len({erratum.id for erratum in ERRATA}) == len(ERRATA)


def test_too_few_points_prove_nothing():
    few = compute(Params(points=2), Context())
    for id, claim in BY_ID.items():
        assert judge(claim, few).verdict == ("contradicted" if id in WRONG else "inconclusive")


@pytest.mark.parametrize(
    "id",
    sorted(id for id, claim in BY_ID.items() if "inequality" in {cell.kind for cell in claim.cells.values()}),
)
def test_a_bound_is_shown_by_many_points_and_refuted_by_one(tables, id):
    table = tables["identities"].assign(relative_error=0.0)
    assert judge(BY_ID[id], {"identities": table}).verdict == "reproduced"
    assert judge(BY_ID[id], {"identities": table.query("seed < 100")}).verdict == "inconclusive"
    one = table.assign(relative_error=1e-3 * (table["seed"] == 50))
    assert judge(BY_ID[id], {"identities": one}).verdict == "contradicted"


def test_the_table_is_tidy(tables):
    table = tables["identities"]
    assert not table.duplicated(["identity", "form", "seed"]).any()
    assert table.notna().all(axis=None)
    assert set(table.groupby(["identity", "form"])["seed"].nunique()) == {Params().points}
    names = {
        id.removeprefix("esser2024/").removesuffix("/printed").removesuffix("/corrected") for id in BY_ID
    }
    assert set(table["identity"]) - READ_IN_CELLS == names - NOT_TRIED_THEMSELVES


def test_sizes_vary(tables):
    sizes = tables["identities"].query("~identity.str.contains('conditions|eq13|scaled-sigmoid|velocity-h2')")
    grouped = sizes.drop(columns=["form", "seed", "relative_error"]).groupby("identity")
    assert (grouped.nunique().max(axis=1) > 1).all()


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute(Params(points=1, first_point=7), Context())["identities"]
    among = tables["identities"].query("seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def contradicted_by(monkeypatch, module, name, other, checks):
    """The right statements that a changed function contradicts, among those of a module's checks."""
    monkeypatch.setattr(module, name, other)
    monkeypatch.setattr(room, "CHECKS", checks)
    tables = compute(Params(), Context())
    tried = {f"esser2024/{name}" for name in tables["identities"]["identity"]}
    ids = [id for id in BY_ID if id not in WRONG and id.removesuffix("/corrected") in tried]
    verdicts = {id.removeprefix("esser2024/"): judge(BY_ID[id], tables).verdict for id in ids}
    return {name for name, verdict in verdicts.items() if verdict == "contradicted"}


def test_a_loss_without_negatives_breaks_the_contrastive_dynamics_alone(monkeypatch):
    def forgetful(self, u):
        return -(u(self.x) * u(self.positive)).sum()

    broken = contradicted_by(
        monkeypatch, points.Triplets, "contrastive", forgetful, (outputs.self_supervised,)
    )
    assert broken == {"eq5/dynamics", "prop1/contrastive"}


def test_a_descent_that_stops_early_finds_no_minimum(monkeypatch):
    broken = contradicted_by(monkeypatch, constraints, "STEPS", 2, (constraints.proposition2,))
    assert broken == {"prop2/global", "prop2/rank-one"}


def test_a_relu_is_not_nearly_linear():
    """Theorem 1 asks for φ'(0) = 1: with ReLU the difference is of the size of the output itself."""
    h, d = 2000, 2
    w1, w2 = (torch.from_numpy(points.orthonormal(rng(s), h, n)) for s, n in ((0, d), (1, 1)))
    x = torch.from_numpy(rng(2).normal(size=(50, d)))
    gap = {
        name: (points.two_layers(phi)((w1, w2), x) - points.linear(((w1.T @ w2).T,), x)).norm()
        for name, phi in (("tanh", torch.tanh), ("relu", torch.relu))
    }
    assert gap["relu"] > 100 * gap["tanh"]


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
        "thm2-ode": output_dynamics.theorem_2,
        "thm3-limit": output_dynamics.theorem_3_negative,
        "thm3-zero": output_dynamics.theorem_3_zero,
        "thm3-positive": output_dynamics.theorem_3_positive,
    }[name]
    assert check(rng(1), 4).errors[name][ids] > IDENTITY_TOLERANCE


# Independent looks at what the checks stand on.


def test_random_points_are_what_they_say():
    q = points.orthonormal(rng(), 7, 3)
    np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-14)
    values = np.linalg.eigvalsh(points.symmetric(rng(), 2, 3))
    assert (values < 0).sum() == 2
    assert np.abs(values).min() >= 0.5 - 1e-12
    matrix = points.symmetric(rng(1), 2, 2)
    np.testing.assert_allclose(points.triplets_of(rng(2), matrix).matrix.numpy(), matrix, atol=1e-13)


def test_the_features_are_those_of_the_kernel():
    x, other = points.normal(rng(), 3, 4), points.normal(rng(1), 2, 4)
    inner = points.features(x, 0.7) @ points.features(other, 0.7).T
    torch.testing.assert_close(inner, (x @ other.T + 0.7) ** 2)


def test_the_tangent_kernel_in_a_loop():
    model = points.two_layers(torch.tanh)
    weights = points.normal(rng(), 5, 3), points.normal(rng(1), 5, 2)
    x, other = points.normal(rng(2), 2, 3), points.normal(rng(3), 4, 3)
    found = points.tangent_kernel(model, weights, x, other)
    for n, row in enumerate(x):
        for m, row2 in enumerate(other):
            for a in range(2):
                for b in range(2):
                    one = points.gradient(lambda *w, r=row, a=a: model(w, r[None])[0, a], *weights)
                    two = points.gradient(lambda *w, r=row2, b=b: model(w, r[None])[0, b], *weights)
                    inner = sum((g * h).sum() for g, h in zip(one, two, strict=True))
                    torch.testing.assert_close(found[n, a, m, b], inner)


def test_velocity_is_a_finite_difference_along_the_flow():
    at = points.random_triplets(rng(), 3)
    model = points.two_layers(torch.tanh)
    weights = points.normal(rng(1), 6, 3), points.normal(rng(2), 6, 2)

    def loss(*w):
        return at.contrastive(lambda x: model(w, x))

    downhill = points.gradient(loss, *weights)
    ahead, behind = (
        model(tuple(w - s * 1e-6 * g for w, g in zip(weights, downhill, strict=True)), at.x) for s in (1, -1)
    )
    torch.testing.assert_close(
        points.velocity(model, weights, loss, at.x), (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-6
    )


def test_a_narrow_nonlinear_network_has_interaction_between_its_outputs():
    """Lemma 1 speaks of linear models, kernels and infinite width only."""
    weights = points.normal(rng(), 8, 3), points.normal(rng(1), 8, 2)
    x = points.normal(rng(2), 5, 3)
    kernel = points.tangent_kernel(points.two_layers(torch.tanh), weights, x, x)
    assert float(kernel[:, 0, :, 1].norm() / kernel.norm()) > 0.01


def test_the_infinite_relu_network_against_a_very_wide_one():
    x, other = points.normal(rng(), 1, 2), points.normal(rng(1), 1, 2)
    model, weights = outputs._quadrature_network(x, other, 2)
    exact = points.tangent_kernel(model, weights, x, other)[0, :, 0]
    h = 200_000
    wide = points.two_layers(lambda hidden: torch.relu(hidden) / h**0.5)
    drawn = points.normal(rng(2), h, 2), points.normal(rng(3), h, 2)
    found = points.tangent_kernel(wide, drawn, x, other)[0, :, 0]
    scale = float(x.norm() * other.norm())
    torch.testing.assert_close(found / scale, exact / scale, rtol=0, atol=0.02)


def test_coupling_is_zero_for_a_sum_over_outputs_alone():
    theta = points.normal(rng(), 3, 2)
    assert collapse.coupling(lambda w: (w**4).sum(), theta) == 0
    assert collapse.coupling(lambda w: w.sum() ** 2, theta) == pytest.approx(np.sqrt(2 / 3))


def test_infonce_is_cross_entropy_with_the_positive_first():
    at = points.random_triplets(rng(), 3)
    theta = points.normal(rng(1), 2, 3)
    logits = collapse.logits(theta, at)
    u, plus, minus = (each @ theta.T for each in (at.x, at.positive, at.negative))
    assert float(logits[2, 0]) == pytest.approx(float(u[2] @ plus[2]))
    assert float(logits[2, 1 + 4]) == pytest.approx(float(u[2] @ minus[4]))
    target = torch.zeros(len(u), dtype=torch.long)
    expected = torch.nn.functional.cross_entropy(logits, target, reduction="sum")
    torch.testing.assert_close(collapse.infonce(theta, at), expected)


def test_infonce_rests_where_another_optimiser_does():
    at = points.random_triplets(rng(6), 2)
    theta = 0.5 * points.normal(rng(7), 2, 2)
    found = points.tensor(collapse.minimised(collapse.infonce, theta, at))
    for _ in range(1000):
        theta = theta - 0.005 * points.gradient(lambda w: collapse.infonce(w, at), theta)[0]
    torch.testing.assert_close(theta.T @ theta, found.T @ found, rtol=1e-3, atol=1e-3)


def test_the_gradient_of_descend_is_that_of_the_loss(monkeypatch):
    """One step without a constraint, against automatic differentiation."""
    matrix = points.symmetric(rng(), 2, 1)
    w1, w2 = rng(1).normal(size=(4, 3)), rng(2).normal(size=(4, 2))
    at = points.triplets_of(rng(3), matrix)
    model = points.two_layers(lambda hidden: hidden)
    gradients = points.gradient(
        lambda *w: at.contrastive(lambda x: model(w, x)), points.tensor(w1), points.tensor(w2)
    )
    rate = 0.15 / (np.linalg.norm(matrix, 2) * np.linalg.norm(w1, 2) * np.linalg.norm(w2, 2))
    monkeypatch.setattr(constraints, "STEPS", 1)
    stepped = constraints.descend(matrix, w1, w2, lambda *w: w)
    for before, after, gradient in zip((w1, w2), stepped, gradients, strict=True):
        np.testing.assert_allclose((before - after) / rate, gradient.numpy(), rtol=1e-10)


def test_the_counterexample_to_proposition_3():
    """C = diag(-1, 2, 3), z = 2, h = 3: (3) reaches -1, but (4) no less than 1, whatever the start."""
    c = np.diag([-1.0, 2.0, 3.0])
    q = constraints.descend_product(c, rng().normal(size=(3, 2)))
    assert np.trace(q.T @ c @ q) == pytest.approx(-1)
    starts = ((points.orthonormal(rng(s), 3, 3), points.orthonormal(rng(100 + s), 3, 2)) for s in range(10))
    ends = [constraints.descend(c, *start, constraints.orthonormal_columns) for start in starts]
    assert min(trace_loss.trace(*end, c) for end in ends) == pytest.approx(1)
    wide = points.orthonormal(rng(), 4, 3), points.orthonormal(rng(1), 4, 2)
    assert trace_loss.trace(
        *constraints.descend(c, *wide, constraints.orthonormal_columns), c
    ) == pytest.approx(-1)


def test_the_constraint_of_4_is_what_makes_singular_values_one():
    """Subspaces of dimension d and z in h dimensions share d + z - h directions."""
    w1, w2 = points.orthonormal(rng(), 4, 3), points.orthonormal(rng(1), 4, 2)
    values = np.linalg.svd(w1.T @ w2, compute_uv=False)
    assert values[0] == pytest.approx(1)
    assert values[1] < 0.999


def test_the_scaled_minimum_against_a_general_optimiser():
    """Nelder-Mead, which knows of no constraint and no gradient, on problem (1) with one output."""
    matrix = points.symmetric(rng(5), 1, 1)

    def loss(flat):
        return constraints.scaled(flat[:4].reshape(2, 2), flat[4:].reshape(2, 1), matrix)

    found = minimize(
        loss,
        rng(6).normal(size=6),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9999},
    )
    assert found.fun == pytest.approx(np.linalg.eigvalsh(matrix)[0], rel=1e-5)


def test_frobenius_constraints_collapse_where_orthonormal_ones_do_not():
    """The same C, with two negative eigenvalues."""
    matrix = points.symmetric(rng(), 2, 2)
    start = rng(1).normal(size=(6, 4)), rng(2).normal(size=(6, 2))
    ranks = [
        np.linalg.matrix_rank(w1.T @ w2, tol=1e-6)
        for w1, w2 in (
            constraints.descend(matrix, *start, constraint)
            for constraint in (constraints.frobenius(1, 1), constraints.orthonormal_columns)
        )
    ]
    assert ranks == [1, 2]


def test_curvatures_are_the_largest_second_derivatives():
    x = torch.linspace(-5, 5, 20_001, dtype=torch.float64, requires_grad=True)
    for activation in wide_networks.ACTIVATIONS.values():
        found = wide_networks._second_derivative(activation.phi, x).abs().max()
        assert float(found) == pytest.approx(activation.curvature, rel=1e-6)


def test_the_means_over_starts_are_those_of_drawn_weights():
    """z ‖x‖²/h, ReLU's share of 1/2 and the sigmoid's offset, over Haar weights."""
    random, h, z, x = rng(), 6, 2, np.array([0.8, -1.1])
    w1, w2 = (np.linalg.qr(random.normal(size=(20_000, h, n)))[0] for n in (len(x), z))
    w1, w2 = (w * random.choice([-1, 1], (len(w), 1, w.shape[2])) for w in (w1, w2))
    hidden = w1 @ x

    def mean_square(values):
        return (np.einsum("shz,sh->sz", w2, values) ** 2).sum(1).mean()

    linear = mean_square(hidden)
    sigmoid = 1 / (1 + np.exp(-hidden))
    assert linear == pytest.approx(z / h * x @ x, rel=0.03)
    assert mean_square(np.maximum(hidden, 0) - hidden) / linear == pytest.approx(0.5, rel=0.05)
    offset = mean_square(sigmoid - hidden) - mean_square(sigmoid - 0.5 - hidden)
    assert offset == pytest.approx(z / 4, rel=0.1)


def test_lemma_2_bounds_what_is_drawn():
    """The largest entry of a uniformly random column, against the Beta distribution's tail."""
    h = 200
    largest = [np.abs(points.orthonormal(rng(s), h, 1)).max() for s in range(300)]
    threshold = np.quantile(largest, 0.5)
    tail = h * stats.beta.sf(threshold**2, 0.5, (h - 1) / 2)
    assert (
        0.5 < tail < 1
    )  # a union bound of an event of probability 1/2 that is nearly one of independent ones
    assert max(largest) < np.log(h) / np.sqrt(h)


def test_expectation_of_the_enumeration_is_that_of_samples():
    states, probability = rng().normal(size=(4, 2)) + 1, np.array([0.1, 0.2, 0.3, 0.4])
    noise = np.sqrt(0.1) * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    exact = trace_loss._expectation(states, probability, noise, anchors=3)
    draws = rng(1)
    x, x_minus = (states[draws.choice(4, size=(100_000, 3), p=probability)] for _ in range(2))
    step = np.sqrt(0.1) * draws.normal(size=x.shape)
    found = np.einsum("sna,snb->ab", x, x_minus - x - step) / len(x)
    np.testing.assert_allclose(found, exact, atol=0.05)
