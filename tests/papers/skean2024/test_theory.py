"""The theory: what holds holds, misprints fail, and other formulas or numbers turn the verdict."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.identities import tried
from reprise.evidence.judgement import judge
from reprise.objectives import frossl, frossl_as_given, gram_energy
from reprise.papers.skean2024.errata import ERRATA
from reprise.papers.skean2024.theory import cost, duality, entropy, losses, points, readings, table1
from reprise.papers.skean2024.theory.claims import CLAIMS
from reprise.papers.skean2024.theory.compute import CHECKS, SIZES, compute
from reprise.papers.skean2024.theory.experiment import Params

BY_ID = {claim.id: claim for claim in CLAIMS}
IDENTITIES = [claim for claim in CLAIMS if claim.kind in ("identity", "inequality")]
CHANGED = [claim for claim in CLAIMS if claim.id.startswith("skean2024/table1/") and claim.kind == "always"]
BY_ERRORS = [*IDENTITIES, *CHANGED]
REFUTED_BY_OTHER_GRADIENTS = [
    "skean2024/sec31/logs-steady-balance",
    "skean2024/readings/pseudocode-ignores-invariance",
    "skean2024/readings/no-logs-ignores-invariance",
]
REFUTED_BY_OTHER_TIMES = [
    "skean2024/sec43-time/frobenius-faster",
    "skean2024/sec43-time/determinant-grows-faster",
    "skean2024/sec3-time/smaller-matrix",
]
REFUTED_BY_OTHER_COUNTS = ["skean2024/sec3/covariance-operations", "skean2024/sec3/gram-operations"]
SMALL = {"batch": 128, "dim": 256, "seeds": 5}


@pytest.fixture(scope="module")
def tables():
    return {"identities": tried(CHECKS, range(Params().points), 4, SIZES, Context())}


@pytest.fixture(scope="module")
def gradients():
    return {"gradients": readings.gradients(Params(**SMALL), lambda done, total: None)}


def wrong(claim):
    return claim.id.endswith("/printed")


def test_each_claim_is_of_one_table():
    assert len(BY_ERRORS) + len(REFUTED_BY_OTHER_GRADIENTS) + len(REFUTED_BY_OTHER_TIMES) + len(
        REFUTED_BY_OTHER_COUNTS
    ) == len(CLAIMS)


@pytest.mark.parametrize("claim", BY_ERRORS, ids=lambda claim: claim.id)
def test_verdicts(tables, claim):
    for margin_scale in (0.5, 1, 2):
        found = judge(claim, tables, margin_scale=margin_scale)
        assert found.verdict == ("contradicted" if wrong(claim) else "reproduced")


@pytest.mark.parametrize("claim", BY_ERRORS, ids=lambda claim: claim.id)
def test_counter_case(tables, claim):
    """The verdict flips with errors on the other side of the tolerance, which are read from the table."""
    error = 0.0 if wrong(claim) or claim in CHANGED else 2 * IDENTITY_TOLERANCE
    other = {"identities": tables["identities"].assign(relative_error=error)}
    found = judge(claim, other)
    assert found.verdict == ("reproduced" if wrong(claim) else "contradicted")
    assert found.observed == error


OWN_ERRATA = [erratum for erratum in ERRATA if set(erratum.shown_by) & set(BY_ID)]


@pytest.mark.parametrize("erratum", OWN_ERRATA, ids=lambda erratum: erratum.id)
def test_the_printed_form_fails_where_the_corrected_one_holds(tables, erratum):
    printed, corrected = (BY_ID[id] for id in erratum.shown_by)
    swap = {"printed": "corrected", "corrected": "printed"}
    swapped = {"identities": tables["identities"].assign(form=tables["identities"]["form"].map(swap.get))}
    assert judge(printed, tables).verdict == judge(corrected, swapped).verdict == "contradicted"
    assert judge(corrected, tables).verdict == judge(printed, swapped).verdict == "reproduced"


@pytest.mark.parametrize("id", REFUTED_BY_OTHER_GRADIENTS)
def test_claims_on_gradients(gradients, id):
    """At smaller sizes, too; swapped with readings that weigh invariance, none."""
    found = judge(BY_ID[id], gradients)
    assert found.verdict == "reproduced"
    table = gradients["gradients"]
    pairs = [("unit length", "no logarithms"), ("pseudocode", "unit variance")]
    swap = {**dict(pairs), **{other: one for one, other in pairs}}
    other = table.assign(reading=table["reading"].map(lambda name: swap.get(name, f"not {name}")))
    flipped = judge(BY_ID[id], {"gradients": other})
    assert flipped.verdict == "contradicted"


def times(powers):
    """Seconds that are exact powers of the dimension."""
    rows = [
        {"term": term, "dim": dim, "seed": seed, "seconds": factor * dim**power * (1 + 0.01 * seed)}
        for term, (factor, power) in powers.items()
        for dim in (256, 512, 1024, 2048)
        for seed in range(3)
    ]
    return {"cost_seconds": pd.DataFrame(rows)}


@pytest.mark.parametrize("id", REFUTED_BY_OTHER_TIMES)
def test_claims_on_times_read_powers(id):
    as_said = {"covariance norm": (1, 2), "Gram norm": (100, 1), "log determinant": (2, 3)}
    other = {"covariance norm": (1, 2.3), "Gram norm": (10, 2.5), "log determinant": (0.1, 2)}
    assert judge(BY_ID[id], times(as_said)).verdict == "reproduced"
    assert judge(BY_ID[id], times(other)).verdict == "contradicted"


@pytest.mark.parametrize("id", REFUTED_BY_OTHER_COUNTS)
def test_claims_on_operations_read_counts(id):
    """Of the terms as they are; with the two swapped, and with the determinants in their place, they fail."""
    counts = cost.operations(Params())
    swap = {"covariance norm": "Gram norm", "Gram norm": "covariance norm"}
    longer = {"log determinant": "covariance norm", "log determinant of samples": "Gram norm"}
    assert judge(BY_ID[id], {"operations": counts}).verdict == "reproduced"
    for other in (swap, longer):
        renamed = counts[counts["term"].isin(other)].replace({"term": other})
        assert judge(BY_ID[id], {"operations": renamed}).verdict == "contradicted"


def test_operations_are_those_of_the_products_and_decompositions():
    counts = cost.operations(Params()).set_index(["term", "samples", "dim"])["operations"]
    n, d = 256, 1024
    assert counts["covariance norm", n, d] == 2 * n * d**2
    assert counts["Gram norm", n, d] == 2 * n**2 * d
    assert counts["log determinant", n, d] == 2 * n * d**2 + 2 * d**3 // 3
    assert counts["log determinant of samples", n, d] == 2 * n**2 * d + 2 * n**3 // 3


def test_the_tables_are_tidy():
    few = Params(**{**SMALL, "seeds": 3}, points=1, timed_dims=(8, 16, 32), repeats=2)
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


def test_gradients_of_a_seed_do_not_depend_on_the_others(gradients):
    one = readings.gradients(Params(**{**SMALL, "seeds": 1}), lambda done, total: None)
    assert one.to_dict("list") == gradients["gradients"].query("seed == 0").to_dict("list")


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


# The parts against something else.


def test_the_minimiser_finds_a_known_minimum():
    """Of unit vectors the sum of squared inner products is at least n²/d: here 16/3."""
    rng = np.random.default_rng(0)
    start = points.tensor(rng.normal(size=(4, 3)))
    (end,) = points.minimised(lambda z: gram_energy(torch.nn.functional.normalize(z, dim=1)), [start])
    assert points.norm2(torch.nn.functional.normalize(end, dim=1)) == pytest.approx(16 / 3, rel=1e-12)


def test_descent_among_doubly_stochastic_matrices_ends_where_all_embeddings_are_one():
    """Mixtures of permutations, by their weights' logits."""
    rng = np.random.default_rng(1)
    permutations = torch.stack([points.tensor(np.eye(4)[rng.permutation(4)]) for _ in range(12)])
    cycles = torch.stack([points.tensor(np.roll(np.eye(4), k, 0)) for k in range(4)])
    every = torch.cat([permutations, cycles])

    def mixture(logits):
        return torch.einsum("p,pij->ij", logits.softmax(0), every)

    (end,) = points.minimised(
        lambda logits: gram_energy(mixture(logits)), [points.tensor(rng.normal(size=16))]
    )
    assert points.norm2(mixture(end)) == pytest.approx(1, abs=1e-4)  # flat there: it grows as a fourth power
    assert torch.allclose(mixture(end), torch.full((4, 4), 0.25, dtype=torch.float64), atol=0.01)


def test_the_entropies_of_known_spectra():
    flat = np.full(8, 1 / 8)
    assert entropy.renyi(flat, 2) == entropy.renyi(flat, 1) == pytest.approx(math.log(8))
    assert entropy.renyi(np.array([1.0, 0.0]), 2) == entropy.renyi(np.array([1.0, 0.0]), 1) == 0
    assert entropy.renyi(np.array([0.5, 0.25, 0.25]), 2) == pytest.approx(-math.log(0.375))


def test_the_first_reading_is_the_loss_that_is_trained():
    z1, z2 = points.embeddings(np.random.default_rng(2), 9, 5)
    terms = readings.READINGS["unit length"](z1, z2)
    assert float(sum(terms)) == pytest.approx(float(frossl(z1, z2)), rel=1e-12)


def test_the_pseudocode_as_printed_cannot_run():
    """Its names aside: `torch.norm` knows no `ord`."""
    with pytest.raises(TypeError, match="ord"):
        torch.norm(torch.eye(2), ord="fro")


def test_the_pseudocode_line_by_line():
    """As Appendix A prints it, with its names made one and `ord` made `p`."""
    z_a, z_b = points.embeddings(np.random.default_rng(3), 7, 4)
    variance, invariance = 0.0, 0.0
    d = z_a.shape[1]
    n_a, n_b = z_a - z_a.mean(0), z_b - z_b.mean(0)
    n_a, n_b = d**0.5 * (n_a / n_a.norm()), d**0.5 * (n_b / n_b.norm())
    invariance = torch.nn.MSELoss()(n_a, n_b)
    variance = torch.log(torch.norm(n_a.T @ n_a, p="fro")) + torch.log(torch.norm(n_b.T @ n_b, p="fro"))
    found = readings.READINGS["pseudocode"](z_a, z_b)
    assert [float(term) for term in found] == pytest.approx([float(invariance), float(variance)], rel=1e-12)


def test_the_two_determinants_are_one():
    z = points.tensor(np.random.default_rng(4).normal(size=(3, 6)))
    expected = np.linalg.slogdet(z.numpy().T @ z.numpy() + 0.3 * np.eye(6))[1]
    assert float(cost.determinant(z, 0.3)) == pytest.approx(expected, rel=1e-12)
    assert float(cost.determinant_of_samples(z, 0.3)) == pytest.approx(expected, rel=1e-12)


def broken_by(monkeypatch, owner, name, other, *checks):
    """The identities that a changed function leaves off by more than the tolerance, in their best form."""
    monkeypatch.setattr(owner, name, other)
    worst = {}
    for check in checks:
        for point in range(3):
            for identity, forms in check(np.random.default_rng(point), 4).errors.items():
                right = forms.get("corrected", forms["printed"])
                worst[identity] = max(worst.get(identity, 0.0), right)
    return {identity for identity, error in worst.items() if error > IDENTITY_TOLERANCE}


def test_a_norm_that_is_not_squared_breaks_the_loss(monkeypatch):
    def unsquared(z):
        return gram_energy(z).sqrt()

    assert broken_by(monkeypatch, losses, "gram_energy", unsquared, losses.norms) == {"eq9/eigenvalues"}
    broken = broken_by(monkeypatch, entropy, "gram_energy", unsquared, entropy.collision_entropy)
    assert broken == {"sec31/collision-entropy", "sec31/collision-entropy-any-scale"}


def test_dimensions_that_are_not_centred_miss_the_minimum(monkeypatch):
    """N - 1 in the bound comes from centring."""
    broken = broken_by(monkeypatch, duality, "unit_columns", readings.uncentred, duality.proposition31)
    assert "prop31/criterion" in broken


def test_weights_of_another_size_break_frossls_gradient(monkeypatch):
    def twice(z1, z2):
        return frossl_as_given(z1, z2) + (z1 - z2).square().sum() / len(z1)

    broken = broken_by(monkeypatch, losses, "frossl_as_given", twice, losses.losses)
    assert broken == {"eq6/loss", "eq6/gradient"}


def test_a_map_that_is_no_rotation_leaves_no_loss_as_it_is(monkeypatch):
    def shear(rng, dims):
        return points.tensor(np.eye(dims) + rng.normal(size=(dims, dims)))

    broken = broken_by(monkeypatch, table1, "rotation", shear, table1.rotations)
    whitened = {"table1/rotation-w-mse-zca"}  # whitening takes any shear of one view out, up to a rotation
    assert {f"table1/rotation-{name}" for name in table1.LOSSES} - whitened <= broken


@pytest.mark.parametrize(("samples", "dims"), [(9, 4), (4, 7)])
def test_free_embeddings_minimise_frossl_with_and_without_logarithms_alike(samples, dims):
    """The first step of Appendix E.1: its embeddings are free, so that all three terms are least at once."""
    rng = np.random.default_rng(samples)
    start = [torch.from_numpy(rng.normal(size=(samples, dims))) for _ in range(2)]

    def without_logs(z1, z2):
        z1, z2 = duality.unit_columns(z1), duality.unit_columns(z2)
        return (z1 - z2).square().sum() / samples + gram_energy(z1) + gram_energy(z2)

    def anchored(loss):
        """Fixes the columns' lengths, on which neither loss depends."""
        return lambda z1, z2: loss(z1, z2) + sum((z.square().sum(0) - 1).square().sum() for z in (z1, z2))

    for loss, other in ((frossl, without_logs), (without_logs, frossl)):
        end = points.minimised(anchored(loss), start)
        assert np.abs(points.gradient(anchored(other), *end)).max() < 1e-6
