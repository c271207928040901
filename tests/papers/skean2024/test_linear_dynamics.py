"""Appendix D: descent beside closed forms, and the steps between its equations."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from reprise.contract.experiment import Context
from reprise.contract.settings import assumptions, departures
from reprise.engine import registry
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.identities import orthonormal, relative_error
from reprise.evidence.judgement import judge
from reprise.papers.skean2024.linear_dynamics import compute, formulas, points
from reprise.papers.skean2024.linear_dynamics.experiment import Params
from reprise.papers.skean2024.linear_views import LOSSES

CLAIMS = registry.experiment("skean2024/linear_dynamics").claims
TINY = {"largest": 4, "learning_rate": 2e-4, "records": 40}


@pytest.fixture(scope="module")
def tables(kept):
    return kept("skean2024/linear_dynamics", Params(**TINY))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdicts(tables, claim):
    assert judge(claim, tables).verdict == ("contradicted" if claim.misprint else "reproduced")


def test_a_point_does_not_depend_on_the_others(tables):
    alone = compute.compute(Params(**{**TINY, "points": 1, "first_seed": 7, "seeds": 1}), Context())
    among = tables["identities"].query("seed == 7")
    assert alone["identities"].to_dict("list") == among.to_dict("list")
    both = [of["closed_form"].query("seed == 7").reset_index(drop=True) for of in (alone, tables)]
    assert len(both[0])
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
    at = points.random_point(np.random.default_rng(0), 5)
    path = compute.descent_of_layers(LOSSES[loss], np.stack(at.x), np.stack(at.w), 0.01)
    expected = at.w
    for found in islice(path, 5):
        np.testing.assert_allclose(found, np.stack(expected), rtol=1e-9)
        gradient = at.gradient(loss, expected)
        expected = expected[0] - 0.01 * gradient[0], expected[1] - 0.01 * gradient[1]


@pytest.fixture
def aligned():
    return points.random_aligned(np.random.default_rng(1), 5)


def motion(aligned):
    """dW1/dt of gradient descent, between U and V̂."""
    return -aligned.u.T @ aligned.point.gradient()[0] @ aligned.top.T


def test_aligned_points_are_what_they_say(aligned):
    (g1, g2), c = aligned.point.gamma, aligned.point.cross
    for matrix, values in ((g1, aligned.variances[0]), (g2, aligned.variances[1]), (c, aligned.c)):
        np.testing.assert_allclose(aligned.v.T @ matrix @ aligned.v, np.diag(values), atol=1e-12)
    np.testing.assert_allclose(
        aligned.u.T @ aligned.point.w[0] @ aligned.top.T, np.diag(aligned.s[0]), atol=1e-12
    )


def test_singular_vectors_also_turn_where_the_views_covariance_has_other_eigenvectors(aligned):
    """Γ1 and Γ2 share theirs, and U1 = U2."""
    other = orthonormal(np.random.default_rng(2), *aligned.left[0].shape)
    point = replace(aligned, left=(aligned.left[0], other)).point
    np.testing.assert_allclose(point.gamma[1], aligned.point.gamma[1], atol=1e-12)
    assert formulas.rotation(aligned, point) > 0.01
    assert formulas.rotation(aligned, aligned.point) < IDENTITY_TOLERANCE


def test_the_error_of_equation_12_is_not_only_that_of_equation_24(aligned):
    """With Eq. 24's sign mended it has the term of the other view once too often."""
    point = aligned.point
    for (own, other, cubic), expected in zip(point.products, point.gradient(), strict=True):
        mended = -2 * own - 4 * other + 4 * cubic
        assert relative_error(mended, expected) > 0.01
        np.testing.assert_allclose(mended + 2 * other, expected, atol=1e-12)


def equation_32(s, lam, gamma):
    return 2 * s * (lam - 2 * np.sqrt(lam * gamma) - 2 * s**2 * lam**2)


def test_equation_32_is_equation_12_of_equal_layers_and_views_but_for_one_sign(aligned):
    (s, _), k = aligned.s, len(aligned.u)
    point = replace(aligned, s=(s, s), left=(aligned.left[0], aligned.left[0])).point
    lam, gamma = (values[:k] for values in aligned.variances)
    by_equation_12 = aligned.u.T @ formulas.printed_gradient(point)[0] @ aligned.top.T
    np.testing.assert_allclose(by_equation_12, np.diag(equation_32(s, lam, gamma) - 4 * s * lam), atol=1e-12)


def test_equation_32_corrected(aligned):
    (s1, s2), k = aligned.s, len(aligned.u)
    lam, c = aligned.variances[0][:k], aligned.c[:k]
    expected = 2 * lam * s1 + 2 * c * s2 - 4 * lam**2 * s1**3
    np.testing.assert_allclose(motion(aligned), np.diag(expected), atol=1e-12)
    assert relative_error(equation_32(s1, lam, aligned.variances[1][:k]), expected) > 0.1


def test_equation_18_solves_equation_32_and_vanishes_where_gamma_is_above_a_quarter_of_lambda():
    lam, gamma, start = np.array([1.0, 2.0, 0.4]), np.array([0.5, 2.0, 0.5]), np.array([0.3, 0.1, 0.2])
    time = np.linspace(0, 4, 9)
    path = solve_ivp(
        lambda _, s: equation_32(s, lam, gamma), (0, 4), start, "DOP853", time, rtol=1e-10, atol=1e-13
    )
    np.testing.assert_allclose(formulas.eq18(start, lam, gamma, time), path.y.T, rtol=1e-8, atol=1e-12)
    assert (formulas.eq18(start, lam, gamma, np.array([60.0])) < 1e-9).all()
