"""The theory: verdicts of the formulas, and its parts against independent calculations."""

import math

import numpy as np
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.engine import registry
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.identities import tried
from reprise.evidence.judgement import judge
from reprise.objectives import barlow_twins, corinfomax, frossl, frossl_as_given, gram_energy, whiten
from reprise.objectives.embeddings import unit_columns
from reprise.objectives.information import Moments
from reprise.papers.skean2024.theory import cost, duality, entropy, minima, points, readings, table1
from reprise.papers.skean2024.theory.compute import CHECKS, SIZES, compute
from reprise.papers.skean2024.theory.experiment import Params

CLAIMS = registry.experiment("skean2024/theory").claims
BY_ERRORS = [
    claim
    for claim in CLAIMS
    if claim.kind in ("identity", "inequality") or claim.id.startswith("skean2024/table1/")
]
BY_GRADIENTS = [
    "skean2024/sec31/logs-steady-balance",
    "skean2024/readings/pseudocode-ignores-invariance",
    "skean2024/readings/no-logs-ignores-invariance",
]
SMALL = {"largest": 4, "batch": 128, "dim": 256, "seeds": 5, "timed_dims": (8, 16, 32), "repeats": 2}


@pytest.fixture(scope="module")
def tables(kept):
    return kept("skean2024/theory", Params(**SMALL))


def views(seed, samples, dims):
    drawn = points.views(np.random.default_rng(seed), samples, dims)
    return torch.from_numpy(drawn.z1), torch.from_numpy(drawn.z2)


def gradient(function, *inputs):
    """The gradients of a function for several tensors, concatenated to a vector."""
    leaves = [value.detach().requires_grad_() for value in inputs]
    return torch.cat([part.flatten() for part in torch.autograd.grad(function(*leaves), leaves)])


@pytest.mark.parametrize("claim", BY_ERRORS, ids=lambda claim: claim.id)
def test_verdicts(tables, claim):
    for margin_scale in (0.5, 1, 2):
        found = judge(claim, tables, margin_scale=margin_scale)
        assert found.verdict == ("contradicted" if claim.misprint else "reproduced")


@pytest.mark.parametrize("id", BY_GRADIENTS)
def test_claims_on_gradients_hold_at_smaller_sizes(tables, id):
    (claim,) = (claim for claim in CLAIMS if claim.id == id)
    assert judge(claim, tables).verdict == "reproduced"


def test_operations_are_those_of_the_products_and_decompositions():
    counts = cost.operations(Params()).set_index(["term", "samples", "dim"])["operations"]
    n, d = 256, 1024
    assert counts["covariance norm", n, d] == 2 * n * d**2
    assert counts["Gram norm", n, d] == 2 * n**2 * d
    assert counts["log determinant", n, d] == 2 * n * d**2 + 2 * d**3 // 3
    assert counts["log determinant of samples", n, d] == 2 * n**2 * d + 2 * n**3 // 3


def test_the_tables_are_tidy():
    few = Params(**{**SMALL, "seeds": 3}, points=1)
    made = compute(few, Context())
    keys = {
        "identities": ["identity", "form", "seed"],
        "gradients": ["reading", "correlation", "decay", "seed"],
        "operations": ["term", "samples", "dim"],
        "cost_seconds": ["term", "dim", "seed"],
    }
    assert made.keys() == keys.keys()
    for name, key in keys.items():
        assert not made[name].duplicated(key).any()
        assert made[name].notna().all(axis=None)
    assert len(made["gradients"]) == 6 * 4 * 4 * 3
    assert len(made["cost_seconds"]) == 4 * 3 * 2
    assert (made["cost_seconds"]["seconds"] > 0).all()


def test_a_point_does_not_depend_on_the_others(tables):
    alone = tried(CHECKS, [7], 4, SIZES, Context())
    among = tables["identities"].query("seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_gradients_of_a_seed_do_not_depend_on_the_others(tables):
    one = readings.gradients(Params(**{**SMALL, "seeds": 1}), lambda done, total: None)
    assert one.to_dict("list") == tables["gradients"].query("seed == 0").to_dict("list")


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000, seeds=20)) == []
    assert departures(Params(dim=512)) == ["dim: 512 (paper: 1024)"]


@pytest.mark.parametrize(
    "given",
    [{"correlations": (0.0,)}, {"decays": (0.0,)}, {"correlations": (0.5, 1.0)}, {"timed_dims": (8, 4, 16)}],
)
def test_settings_without_which_claims_have_no_numbers_are_refused(given):
    with pytest.raises(ValueError, match=r"must|lie"):
        Params(**given)


# The losses that are trained, against the paper's equations.


def test_barlow_twins_is_eq_3():
    z1, z2 = views(5, 11, 4)
    m = unit_columns(z1).mT @ unit_columns(z2)
    expected = sum((1 - m[i, i]) ** 2 for i in range(4))
    expected += 0.3 * sum(m[i, j] ** 2 for i in range(4) for j in range(4) if i != j)
    assert float(barlow_twins(z1, z2, off_diagonal_weight=0.3)) == pytest.approx(float(expected), rel=1e-12)


def test_frossl_is_eq_6_of_unit_dimensions_and_has_its_gradient():
    z1, z2 = views(6, 9, 5)
    as_given = points.eq_6(z1.numpy(), z2.numpy())
    normalised = points.eq_6(points.unit_columns(z1.numpy()), points.unit_columns(z2.numpy()))
    assert float(frossl_as_given(z1, z2)) == pytest.approx(as_given, rel=1e-12)
    assert float(frossl(z1, z2)) == pytest.approx(normalised, rel=1e-12)
    by_hand = 2 * (z1 - z2) / 9 + 4 * z1 @ z1.mT @ z1 / gram_energy(z1)
    torch.testing.assert_close(gradient(lambda z: frossl_as_given(z, z2), z1), by_hand.flatten())


def test_corinfomax_is_eq_7_per_dimension_of_centred_embeddings_over_sqrt_n():
    z1, z2 = views(7, 12, 3)
    dims = z1.shape[1]
    covariances = [np.cov(z.numpy().T, bias=True) + 1e-6 * np.eye(dims) for z in (z1, z2)]
    determinants = sum(np.linalg.slogdet(covariance)[1] for covariance in covariances)
    expected = (determinants - 2.5 * points.eq_5(z1.numpy(), z2.numpy())) / dims
    loss, _ = corinfomax(z1, z2, Moments.initial(dims), attraction=2.5, forgetting=0.0, epsilon=1e-6)
    assert float(-loss) == pytest.approx(expected, rel=1e-9)


def test_w_mse_whitens():
    z = whiten(views(8, 20, 4)[0]).numpy()
    np.testing.assert_allclose(np.cov(z.T), np.eye(4), atol=1e-12)


# The parts against something else.


def test_the_minimiser_finds_a_known_minimum():
    """The sum of squared inner products of n unit vectors is at least n²/d: here 16/3."""
    start = np.random.default_rng(0).normal(size=(4, 3))
    (end,) = minima.minimised(lambda z: gram_energy(torch.nn.functional.normalize(z, dim=1)), [start])
    assert points.energy(points.unit_rows(end.numpy())) == pytest.approx(16 / 3, rel=1e-12)


def test_the_views_agree_at_the_minimum_of_frossl():
    starts = [points.views(np.random.default_rng(seed), 8, 4) for seed in range(3)]
    z1, z2 = minima.of_frossl(starts)
    np.testing.assert_allclose(z1, z2, atol=1e-9)


def test_descent_among_doubly_stochastic_matrices_ends_where_all_embeddings_are_one():
    """Mixtures of permutations, by their weights' logits."""
    rng = np.random.default_rng(1)
    permutations = [np.eye(4)[rng.permutation(4)] for _ in range(12)]
    every = torch.from_numpy(np.stack([*permutations, *(np.roll(np.eye(4), k, 0) for k in range(4))]))

    def mixture(logits):
        return torch.einsum("p,pij->ij", logits.softmax(0), every)

    (end,) = minima.minimised(lambda logits: gram_energy(mixture(logits)), [rng.normal(size=16)])
    found = mixture(end)
    assert float(gram_energy(found)) == pytest.approx(1, abs=1e-4)  # flat there: it grows as a fourth power
    assert torch.allclose(found, torch.full((4, 4), 0.25, dtype=torch.float64), atol=0.01)


def test_candidates_are_what_they_are_said_to_be():
    found = duality.candidates(np.random.default_rng(2), 4)
    for z in found.stochastic:
        assert z.min() >= 0
        for axis in (0, 1):
            np.testing.assert_allclose(z.sum(axis), 1, atol=1e-9)
    for z in found.equal_norms:
        np.testing.assert_allclose(np.square(z).sum(1), 1, atol=1e-9)
        np.testing.assert_allclose(np.square(z).sum(0), len(z) / z.shape[1], atol=1e-9)


def test_the_entropies_of_known_spectra():
    flat = np.full(8, 1 / 8)
    assert entropy.renyi(flat, 2) == entropy.renyi(flat, 1) == pytest.approx(math.log(8))
    assert entropy.renyi(np.array([1.0, 0.0]), 2) == entropy.renyi(np.array([1.0, 0.0]), 1) == 0
    assert entropy.renyi(np.array([0.5, 0.25, 0.25]), 2) == pytest.approx(-math.log(0.375))


def test_the_first_reading_is_the_loss_that_is_trained():
    z1, z2 = views(2, 9, 5)
    terms = readings.READINGS["unit length"](z1, z2)
    assert float(sum(terms)) == pytest.approx(float(frossl(z1, z2)), rel=1e-12)


def test_the_pseudocode_as_printed_cannot_run():
    """`torch.norm` knows no `ord`, even if names are made one."""
    with pytest.raises(TypeError, match="ord"):
        torch.norm(torch.eye(2), ord="fro")


def test_the_pseudocode_line_by_line():
    """The code is Appendix A's, with its names made one and `ord` made `p`."""
    z_a, z_b = views(3, 7, 4)
    d = z_a.shape[1]
    n_a, n_b = z_a - z_a.mean(0), z_b - z_b.mean(0)
    n_a, n_b = d**0.5 * (n_a / n_a.norm()), d**0.5 * (n_b / n_b.norm())
    invariance = torch.nn.MSELoss()(n_a, n_b)
    variance = torch.log(torch.norm(n_a.T @ n_a, p="fro")) + torch.log(torch.norm(n_b.T @ n_b, p="fro"))
    found = readings.READINGS["pseudocode"](z_a, z_b)
    assert [float(term) for term in found] == pytest.approx([float(invariance), float(variance)], rel=1e-12)


def test_the_pseudocode_with_both_corrections_has_frossls_gradient():
    both = views(4, 9, 5)
    corrected = readings.pseudocode(readings.by_dimension, power=2)
    found, expected = gradient(lambda *z: sum(corrected(*z)), *both), gradient(frossl, *both)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("reading", "weight"), [("unit variance", 9), ("pseudocode by dimension", 2)])
def test_the_weight_of_invariance_relative_to_unit_length(reading, weight):
    """N times with unit variance, twice in the pseudocode with a norm per dimension."""
    both = views(5, 9, 5)
    ratios = [np.divide(*readings._norms(readings.READINGS[name], both)) for name in (reading, "unit length")]
    assert ratios[0] / ratios[1] == pytest.approx(weight, rel=1e-9)


def test_a_map_that_is_no_rotation_leaves_no_loss_as_it_is(monkeypatch):
    def shear(rng, dims):
        return np.eye(dims) + rng.normal(size=(dims, dims))

    monkeypatch.setattr(table1, "rotation", shear)
    for point in range(3):
        errors = table1.rotations(np.random.default_rng(point), 4).errors
        assert all(change["printed"] > IDENTITY_TOLERANCE for change in errors.values())


def test_barlow_twins_with_equal_weights_is_a_frobenius_norm():
    """The loss is |Z1ᵀZ2 / N - I|²_F, so that a rotation leaves it unchanged."""
    z1, z2 = (z - z.mean(0) for z in views(9, 10, 4))
    expected = (z1.mT @ z2 / 10 - torch.eye(4, dtype=z1.dtype)).square().sum()
    found = table1.LOSSES["barlow-twins-unnormalised-equal-weights"](z1, z2)
    assert float(found) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(("samples", "dims"), [(9, 4), (4, 7)])
def test_free_embeddings_minimise_frossl_with_and_without_logarithms_alike(samples, dims):
    """The first step of Appendix E.1: its embeddings are free, so that all three terms are least at once."""
    rng = np.random.default_rng(samples)
    start = [rng.normal(size=(samples, dims)) for _ in range(2)]

    def without_logs(z1, z2):
        z1, z2 = unit_columns(z1), unit_columns(z2)
        return (z1 - z2).square().sum() / samples + gram_energy(z1) + gram_energy(z2)

    def anchored(loss):
        """Fixes the columns' lengths, on which neither loss depends."""
        return lambda z1, z2: loss(z1, z2) + sum((z.square().sum(0) - 1).square().sum() for z in (z1, z2))

    for loss, other in ((frossl, without_logs), (without_logs, frossl)):
        end = minima.minimised(anchored(loss), start)
        assert gradient(anchored(other), *end).abs().max() < 1e-6
