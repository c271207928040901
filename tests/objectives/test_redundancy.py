"""VICReg and Barlow Twins against lightly and against loops over Python floats."""

import statistics

import pytest
import torch
from lightly.loss import BarlowTwinsLoss, VICRegLoss

from reprise.objectives import (
    AUTHORS_VARIANCE_WEIGHT,
    PAPER_OFF_DIAGONAL_WEIGHT,
    PAPER_VARIANCE_WEIGHT,
    SKEAN_OFF_DIAGONAL_WEIGHT,
    barlow_twins,
    vicreg,
)


def literal_vicreg(z1, z2, invariance, variance, covariance):
    """Eq. 6, its variance terms added, with the mean over dimensions in s."""
    batch, dim = z1.shape
    total = invariance * sum(float(d) ** 2 for d in (z1 - z2).flatten()) / batch / dim
    for columns in (z1.T.tolist(), z2.T.tolist()):
        for i, a in enumerate(columns):
            total += variance * max(0.0, 1 - (statistics.variance(a) + 1e-4) ** 0.5) / dim
            total += covariance * sum(
                statistics.covariance(a, b) ** 2 / dim for j, b in enumerate(columns) if j != i
            )
    return total


def literal_barlow(z1, z2, weight):
    """Eq. 1 with Eq. 2's correlations."""
    rows, columns = z1.T.tolist(), z2.T.tolist()
    total = 0.0
    for i, a in enumerate(rows):
        for j, b in enumerate(columns):
            c = statistics.correlation(a, b)
            total += (1 - c) ** 2 if i == j else weight * c**2
    return total


@pytest.fixture
def narrow(views):
    """Embeddings of deviations on both sides of the hinge at 1."""
    return [0.6 * z for z in views(9, 4)]


@pytest.mark.parametrize("weights", [(25.0, PAPER_VARIANCE_WEIGHT, 1.0), (1.0, 0.0, 0.0), (2.0, 3.0, 5.0)])
def test_vicreg_is_eq_6(narrow, weights):
    names = ("invariance_weight", "variance_weight", "covariance_weight")
    found = vicreg(*narrow, **dict(zip(names, weights, strict=True))).item()
    assert found == pytest.approx(literal_vicreg(*narrow, *weights))


def test_the_authors_average_the_variance_terms_that_the_paper_adds(narrow):
    """lightly follows the authors' code."""
    authors = vicreg(*narrow, variance_weight=AUTHORS_VARIANCE_WEIGHT)
    torch.testing.assert_close(authors, VICRegLoss()(*narrow))
    assert vicreg(*narrow) == vicreg(*narrow, variance_weight=2 * AUTHORS_VARIANCE_WEIGHT)
    assert vicreg(*narrow) - authors > 0.1


@pytest.mark.parametrize("weight", [PAPER_OFF_DIAGONAL_WEIGHT, SKEAN_OFF_DIAGONAL_WEIGHT, 1.0])
@pytest.mark.parametrize("shape", [(9, 4), (3, 8)])
def test_barlow_twins_is_eq_1(views, shape, weight):
    z1, z2 = views(*shape)
    found = barlow_twins(z1, z2, off_diagonal_weight=weight).item()
    assert found == pytest.approx(literal_barlow(z1, z2, weight))


def test_barlow_twins_is_lightlys(views):
    """Large, so that the 1e-5 in BatchNorm, by which lightly normalises, is small beside the variance."""
    z1, z2 = (100 * z for z in views(9, 4))
    torch.testing.assert_close(barlow_twins(z1, z2), BarlowTwinsLoss()(z1, z2), rtol=1e-6, atol=1e-7)


def test_the_weights_are_those_printed(views):
    z1, z2 = views(9, 4)
    assert (PAPER_OFF_DIAGONAL_WEIGHT, SKEAN_OFF_DIAGONAL_WEIGHT) == (0.005, 0.05)
    assert barlow_twins(z1, z2) == barlow_twins(z1, z2, off_diagonal_weight=0.005)
    assert barlow_twins(z1, z2) < barlow_twins(z1, z2, off_diagonal_weight=0.05)


def test_a_dimension_that_does_not_vary_is_uncorrelated(views):
    z1, z2 = (z.index_fill(1, torch.tensor([2]), 3.0).requires_grad_() for z in views(9, 4))
    loss = barlow_twins(z1, z2)
    rest = [0, 1, 3]
    torch.testing.assert_close(loss, 1 + barlow_twins(z1[:, rest], z2[:, rest]))
    assert all(g.isfinite().all() for g in torch.autograd.grad(loss, (z1, z2)))


def test_barlow_twins_scale_multiplies_all(views):
    z1, z2 = views(9, 4)
    torch.testing.assert_close(barlow_twins(z1, z2, scale=0.1), barlow_twins(z1, z2) / 10)
