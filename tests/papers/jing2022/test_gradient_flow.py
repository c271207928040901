"""The identities of the theory: what is right holds, misprints fail, and other numbers turn the verdict."""

import numpy as np
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.judgement import judge
from reprise.papers.jing2022 import theory
from reprise.papers.jing2022.errata import ERRATA
from reprise.papers.jing2022.gradient_flow import (
    formulas,
    motion,
    one_layer,
    points,
    singular_values,
    two_layers,
)
from reprise.papers.jing2022.gradient_flow.claims import CLAIMS
from reprise.papers.jing2022.gradient_flow.compute import compute
from reprise.papers.jing2022.gradient_flow.experiment import Params

BY_ID = {claim.id: claim for claim in CLAIMS}
WRONG = {id for id, claim in BY_ID.items() if id.endswith("/printed") or claim.misprint}


@pytest.fixture(scope="module")
def tables():
    return compute(Params(), Context())


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    expected = "contradicted" if id in WRONG else "reproduced"
    for margin_scale in (0.5, 1, 2):
        assert judge(BY_ID[id], tables, margin_scale=margin_scale).verdict == expected


@pytest.mark.parametrize("id", BY_ID)
def test_counter_case(tables, id):
    """The verdict flips with errors on the other side of the tolerance, which are read from the table."""
    wrong = id in WRONG or BY_ID[id].kind == "always"  # rests on errors that are large
    other = {
        "identities": tables["identities"].assign(relative_error=0.0 if wrong else 2 * IDENTITY_TOLERANCE)
    }
    expected = "reproduced" if id in WRONG else "contradicted"
    found = judge(BY_ID[id], other)
    assert found.verdict == expected
    assert found.observed == (0.0 if wrong else 2 * IDENTITY_TOLERANCE)


@pytest.mark.parametrize("id", sorted(id for id in BY_ID if id.endswith("/corrected")))
def test_the_misprint_swapped_for_its_correction(tables, id):
    """Under swapped forms the corrected claim is contradicted and the printed one reproduced."""
    swap = {"printed": "corrected", "corrected": "printed"}
    swapped = {"identities": tables["identities"].assign(form=tables["identities"]["form"].map(swap))}
    assert judge(BY_ID[id], swapped).verdict == "contradicted"
    assert judge(BY_ID[id.replace("corrected", "printed")], swapped).verdict == "reproduced"


@pytest.mark.parametrize("erratum", [e for e in ERRATA if e.shown_by], ids=lambda erratum: erratum.id)
def test_errata(tables, erratum):
    """At the same points the printed form fails and the corrected one holds."""
    as_printed, corrected = (BY_ID[id] for id in erratum.shown_by)
    assert judge(as_printed, tables).verdict == "contradicted"
    assert judge(corrected, tables).verdict == "reproduced"
    assert as_printed.first.measure(tables).index.equals(corrected.first.measure(tables).index)


def test_negatives_of_the_other_branch_break_what_rests_on_eq2(monkeypatch):
    """The formulas are those of Eq. 2's loss and no other's; conservation holds for any loss."""

    def other_branch(z, z_aug):
        return torch.nn.functional.cross_entropy(
            -0.5 * (z[:, None] - z_aug[None]).square().sum(-1), torch.arange(len(z)), reduction="sum"
        )

    monkeypatch.setattr(motion, "infonce", other_branch)
    monkeypatch.setattr(one_layer, "infonce", other_branch)
    tables = compute(Params(), Context())
    broken = {
        id.removeprefix("jing2022/") for id in BY_ID if judge(BY_ID[id], tables).verdict == "contradicted"
    }
    assert broken >= {
        *("lemma1/gradient-flow", "eq2/inner-products", "eq4/embedding-gradients", "eq6/corrected"),
        *("lemma2/difference", "lemma3/first-layer", "lemma3/second-layer", "thm2/norm-rate"),
        *("lemma6/corrected", "lemma7/first-layer", "lemma7/second-layer", "thm3/corrected"),
    }
    assert not broken & {"thm2/conserved", "lemma4/singular-values", "lemma5/corrected", "thm3/squares"}


def test_too_few_points_prove_nothing():
    few = compute(Params(points=2), Context())
    assert {judge(BY_ID[id], few).verdict for id in set(BY_ID) - WRONG} == {"inconclusive"}


def test_the_table_is_tidy(tables):
    table = tables["identities"]
    assert not table.duplicated(["identity", "form", "seed"]).any()
    assert table.notna().all(axis=None)
    assert (table.groupby(["identity", "form"])["seed"].nunique() == Params().points).all()


def test_sizes_vary(tables):
    sizes = tables["identities"].groupby("identity")[["inputs", "outputs"]].nunique()
    assert (sizes > 1).all(axis=None)


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute(Params(points=1, first_point=7), Context())["identities"]
    among = tables["identities"].query("seed == 7")
    assert alone.to_dict("list") == among.to_dict("list")


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def test_velocity_of_singular_factors_of_a_rotation():
    """W = R(t) diag(2, 1) turns U at unit speed and leaves S and V where they are."""
    turning = np.array([[0.0, -1.0], [1.0, 0.0]])
    w = np.diag([2.0, 1.0])
    du, ds, dv = motion.factors_velocity(w, turning @ w)
    u, _, _ = motion.svd(w)
    np.testing.assert_allclose(du, turning @ u, atol=1e-10)
    np.testing.assert_allclose(ds, 0, atol=1e-10)
    np.testing.assert_allclose(dv, 0, atol=1e-10)


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (5, 2), (4, 4)])
def test_lemma_5_holds_for_the_whole_factors_of_any_shape(shape):
    random = np.random.default_rng(0)
    for _ in range(20):
        w, velocity = points.distinct(random, *shape), random.normal(size=shape)
        assert singular_values.lemma5_error(w, velocity, sign=1) < 1e-9
        assert singular_values.lemma5_error(w, velocity, sign=-1) > 0.1


@pytest.mark.parametrize("widths", [(3, 6, 3), (2, 5, 4), (5, 2, 5), (6, 3, 2), (3, 3, 3)])
def test_lemma_6_holds_for_the_whole_factors_of_any_widths(widths):
    """Also with more hidden units than inputs and outputs, where vectors that have no value stand beside."""
    inputs, hidden, outputs = widths
    random = np.random.default_rng(0)
    for _ in range(20):
        layers = points.distinct(random, hidden, inputs), points.distinct(random, outputs, hidden)
        model = points.on_random_data(random, *layers)
        assert two_layers.lemma6_error(model, sign=1) < IDENTITY_TOLERANCE
        assert two_layers.lemma6_error(model, sign=-1) > 0.1


def test_vectors_without_a_value_turn_those_that_have_one_and_not_one_another():
    """W = (1, 0, 0)ᵀ turned towards the third axis."""
    u, s, v = motion.whole_svd(np.array([[1.0], [0.0], [0.0]]))
    velocity = np.array([[0.0], [0.0], [1.0]])
    du = formulas.left_velocity(u, s, v, velocity, formulas.inverse_gaps(s))
    np.testing.assert_allclose(du[:, 0] * u[0, 0], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(u.T @ du + du.T @ u, 0, atol=1e-12)
    assert (u.T @ du)[1:, 1:] == pytest.approx(0)


def test_the_other_experiments_measure_lemma_2s_x():
    model = points.on_random_data(np.random.default_rng(0), np.random.default_rng(1).normal(size=(3, 4)))
    theirs = theory.x_matrix(*(torch.from_numpy(a) for a in (model.x, model.x_aug, model.z, model.z_aug)))
    np.testing.assert_allclose(theirs.numpy() * len(model.x), model.x_matrix, rtol=1e-10)
    assert formulas.softmax(model.z, model.z_aug).sum(1) == pytest.approx(1)
