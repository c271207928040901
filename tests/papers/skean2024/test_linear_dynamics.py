"""Appendix D: formulas at random points, descent beside closed forms, and for each claim a counter-case."""

from itertools import islice

import numpy as np
import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.judgement import judge
from reprise.papers.skean2024.errata import APPENDIX_D
from reprise.papers.skean2024.linear_dynamics import aligned_layers, compute, formulas, gradients, points
from reprise.papers.skean2024.linear_dynamics.claims import CLAIMS
from reprise.papers.skean2024.linear_dynamics.experiment import Params
from reprise.papers.skean2024.linear_views import LOSSES

BY_ID = {claim.id: claim for claim in CLAIMS}
IDENTITIES = [id for id, claim in BY_ID.items() if claim.kind in ("identity", "inequality")]
SIMULATED = [id for id in BY_ID if id not in IDENTITIES]
MISPRINTS = {id for id in BY_ID if id.endswith("/printed")} | {"skean2024/appD/printed-closed-form-error"}
TINY = {"largest": 4, "learning_rate": 2e-4, "records": 40}


@pytest.fixture(scope="module")
def tables():
    return compute.compute(Params(**TINY), Context())


@pytest.mark.parametrize("id", BY_ID)
def test_verdicts(tables, id):
    expected = "contradicted" if id in MISPRINTS else "reproduced"
    assert judge(BY_ID[id], tables).verdict == expected


@pytest.mark.parametrize("id", IDENTITIES)
def test_counter_cases_of_identities(tables, id):
    """Errors on the other side of the tolerance, which are read from the table, turn the verdict."""
    error = 0.0 if id in MISPRINTS else 2 * IDENTITY_TOLERANCE
    found = judge(BY_ID[id], {"identities": tables["identities"].assign(relative_error=error)})
    assert found.verdict == ("reproduced" if id in MISPRINTS else "contradicted")


def broken(tables, name, **changes):
    return {**tables, name: tables[name].assign(**changes)}


COUNTER_CASES = {
    "skean2024/propD1/vectors-kept": lambda t: broken(t, "closed_form", off_diagonal=1.0),
    "skean2024/appD/closed-form-error": lambda t: broken(
        t, "closed_form", closed_form=1.02 * t["closed_form"]["closed_form"]
    ),
    "skean2024/appD/barlow-closed-form-error": lambda t: broken(
        t, "closed_form", closed_form=0.98 * t["closed_form"]["closed_form"]
    ),
    "skean2024/appD/printed-closed-form-error": lambda t: {
        **t,
        "equation_18": t["closed_form"]
        .query("loss == 'frossl' and seed == 0")[["time", "mode", "closed_form"]]
        .rename(columns={"closed_form": "singular_value"}),
    },
    "skean2024/propD2/small-start": lambda t: broken(
        t, "small_starts", aligned=t["small_starts"]["eigenvalue"] + 0.02
    ),
    "skean2024/propD2/smaller-is-closer": lambda t: broken(t, "small_starts", std=-t["small_starts"]["std"]),
}


@pytest.mark.parametrize("id", SIMULATED)
def test_counter_cases_of_simulations(tables, id):
    expected = "reproduced" if id in MISPRINTS else "contradicted"
    assert judge(BY_ID[id], COUNTER_CASES[id](tables)).verdict == expected


def test_every_erratum_that_is_shown_has_its_pair():
    shown = [erratum for erratum in APPENDIX_D if erratum.shown_by]
    assert {id for erratum in shown for id in erratum.shown_by} == {
        id for id in IDENTITIES if id.endswith(("/printed", "/corrected"))
    }


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute.compute(Params(**{**TINY, "points": 1, "first_point": 7, "seeds": 1}), Context())
    among = tables["identities"].query("seed == 7")
    assert alone["identities"].to_dict("list") == among.to_dict("list")
    both = [of["closed_form"].query("seed == 0").reset_index(drop=True) for of in (alone, tables)]
    np.testing.assert_allclose(both[0]["descent"], both[1]["descent"], rtol=1e-12)


def test_no_assumption_and_no_departure():
    assert assumptions(Params()) == []
    assert departures(Params(points=1000, seeds=20)) == []
    assert departures(Params(points=10)) == ["points: 10 (ours: 200)"]


def test_modes_that_do_not_fit_are_refused():
    for changes, words in (
        ({"correlations": (0.9,)}, "must have the same length"),
        ({"correlations": (0.9, 0.8, 0.7, 0.6, 1.2)}, "up to 1"),
        ({"variances": (3.0, 2.0, 1.0, 0.5, 0.0)}, "variances above 0"),
        ({"stds": (0.1, 0.01, 0.001, 0.1)}, "four different"),
    ):
        with pytest.raises(ValueError, match=words):
            Params(**changes)


@pytest.mark.parametrize("loss", LOSSES)
def test_descent_of_layers_is_that_of_autograd(loss):
    rng = np.random.default_rng(0)
    at = points.random_point(rng, 5)
    x, w = np.stack(at.x), np.stack(at.w)
    path = compute.descent_of_layers(LOSSES[loss], x, w, 0.01)
    expected = at.w
    for found in islice(path, 5):
        np.testing.assert_allclose(found, np.stack(expected), rtol=1e-9)
        gradient = at.gradient(loss, expected)
        expected = expected[0] - 0.01 * gradient[0], expected[1] - 0.01 * gradient[1]
    z = [torch.from_numpy(view @ layer.T) for view, layer in zip(x, w, strict=True)]
    np.testing.assert_allclose(points.LOSSES[loss](*z).item(), LOSSES[loss].value(x @ w.swapaxes(1, 2)))


def test_aligned_points_are_what_they_say():
    at = points.random_aligned(np.random.default_rng(1), 5)
    (g1, g2), c = at.point.gamma, at.point.cross
    for matrix, values in ((g1, at.variances[0]), (g2, at.variances[1]), (c, at.c)):
        np.testing.assert_allclose(at.v.T @ matrix @ at.v, np.diag(values), atol=1e-12)
    np.testing.assert_allclose(at.u.T @ at.point.w[0] @ at.top.T, np.diag(at.s[0]), atol=1e-12)
    assert (at.variances[1] > at.variances[0] / 4).all()


def test_a_formula_with_another_coefficient_is_seen(monkeypatch):
    right = formulas.singular_velocity
    monkeypatch.setattr(formulas, "singular_velocity", lambda s1, s2, lam, c: right(s1, s2, lam, 1.001 * c))
    errors = aligned_layers.equation_30(np.random.default_rng(0), 5).errors
    assert min(errors[name]["corrected"] for name in ("eq30", "eq32")) > IDENTITY_TOLERANCE
    monkeypatch.setattr(aligned_layers, "closed_form", lambda *of: 1.001 * np.ones((len(of[-1]), len(of[1]))))
    errors = aligned_layers.solutions(np.random.default_rng(0), 5).errors
    assert errors["eq18"]["corrected"] > IDENTITY_TOLERANCE < errors["barlow/closed-form"]["printed"]


def test_a_gradient_of_another_loss_is_seen(monkeypatch):
    monkeypatch.setitem(
        points.LOSSES, "frossl", lambda z1, z2: points.frossl(z1, z2) + (z1 - z2).square().sum()
    )
    errors = gradients.layers(np.random.default_rng(0), 5).errors
    assert min(errors[name]["corrected"] for name in ("eq12", "eq13")) > IDENTITY_TOLERANCE
