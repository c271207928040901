"""The value of every published loss, by a formula that is written otherwise or by another library.

Of all that the losses are held to, a reference here alone tells a flipped sign or another factor.
"""

import math
import statistics

import pytest
import torch
from lightly.loss import NTXentLoss
from lightly.loss.wmse_loss import WMSELoss
from torch.nn.functional import cosine_similarity, cross_entropy

from reprise import objectives
from reprise.contract import losses

REFERENCES = {}
"""Loss -> a function of the same two views, in float64, with the same value."""


def value_of(loss):
    """Marks a function as a published loss's reference: it shares no code with the loss."""

    def mark(reference):
        REFERENCES[loss] = reference
        return reference

    return mark


@value_of("nt_xent")
def nt_xent(z1, z2):
    return NTXentLoss(temperature=0.1)(z1, z2)


@value_of("w_mse")
def w_mse(z1, z2):
    return WMSELoss(embedding_dim=z1.shape[1], w_size=len(z1), num_samples=2)(torch.cat([z1, z2]))


@value_of("infonce_other_view")
def infonce_other_view(z1, z2):
    logits, itself = cosine_similarity(z1[:, None], z2[None], dim=2) / 0.1, torch.arange(len(z1))
    return (cross_entropy(logits, itself) + cross_entropy(logits.T, itself)) / 2


def tians_similarities(z1, z2):
    """Cosines of the first view's pairs, and on the diagonal of the two views."""
    within = cosine_similarity(z1[:, None], z1[None], dim=2)
    return within.fill_diagonal_(0) + cosine_similarity(z1, z2, dim=1).diag()


@value_of("infonce_cosine")
def infonce_cosine(z1, z2):
    return cross_entropy(tians_similarities(z1, z2) / 0.1, torch.arange(len(z1)))


@value_of("quadratic_cosine")
def quadratic_cosine(z1, z2):
    similarities = tians_similarities(z1, z2) / 0.1
    return similarities.mean() - (1 + 1 / len(z1)) * similarities.diagonal().mean()


@value_of("infonce_distance")
def infonce_distance(z1, z2):
    """Jing 2022, Eq. 2, over Python floats."""
    z1, z2 = z1.tolist(), z2.tolist()
    terms = []
    for i, anchor in enumerate(z1):
        others = [*z1[:i], z2[i], *z1[i + 1 :]]
        weights = [math.exp(-0.5 * math.dist(anchor, other) ** 2) for other in others]
        terms.append(-math.log(weights[i] / sum(weights)))
    return statistics.fmean(terms)


@value_of("infonce_dot")
def infonce_dot(z1, z2):
    return cross_entropy(z1 @ z2.T / 0.1, torch.arange(len(z1)))


@value_of("barlow_twins")
def barlow_twins(z1, z2):
    """Zbontar et al. 2021, Eq. 1 with λ = 0.005."""
    rows, columns = z1.T.tolist(), z2.T.tolist()
    correlations = [[statistics.correlation(a, b) for b in columns] for a in rows]
    return sum(
        (1 - c) ** 2 if i == j else 0.005 * c**2
        for i, row in enumerate(correlations)
        for j, c in enumerate(row)
    )


@value_of("vicreg")
def vicreg(z1, z2):
    """Bardes et al. 2022, Eq. 6, with 25, 25 and 1; s is a mean over dimensions."""
    total = 25 * statistics.fmean(float(d) ** 2 for d in (z1 - z2).flatten())
    for z in (z1, z2):
        covariance = torch.cov(z.T)
        hinges = [max(0.0, 1 - math.sqrt(variance + 1e-4)) for variance in covariance.diagonal().tolist()]
        total += 25 * statistics.fmean(hinges)
        total += (covariance.square().sum() - covariance.diagonal().square().sum()) / z.shape[1]
    return total


def unit_columns(z):
    """Columns centred and divided by their Euclidean norm."""
    return torch.stack([(column - column.mean()) / (column - column.mean()).norm() for column in z.T], dim=1)


def squared_error(z1, z2):
    return sum(math.dist(a, b) ** 2 for a, b in zip(z1.tolist(), z2.tolist(), strict=True)) / len(z1)


def energies(z1, z2):
    """|ZᵀZ|²_F of both views, as the sum of their fourth powers of singular values."""
    return [torch.linalg.svdvals(z).pow(4).sum() for z in (z1, z2)]


@value_of("frossl")
def frossl(z1, z2):
    """Skean 2024, Eq. 6, of normalised columns."""
    return frossl_as_given(unit_columns(z1), unit_columns(z2))


@value_of("frossl_as_given")
def frossl_as_given(z1, z2):
    return squared_error(z1, z2) + sum(energy.log() for energy in energies(z1, z2))


@value_of("frossl_no_logs")
def frossl_no_logs(z1, z2):
    z1, z2 = unit_columns(z1), unit_columns(z2)
    return squared_error(z1, z2) + sum(energies(z1, z2))


@value_of("frossl_no_logs_unit_trace")
def frossl_no_logs_unit_trace(z1, z2):
    """Both matrices at trace 1, which of unit columns is divided by the number of dimensions."""
    z1, z2 = unit_columns(z1), unit_columns(z2)
    return squared_error(z1, z2) + sum(energies(z1, z2)) / z1.shape[1] ** 2


@pytest.mark.parametrize("name", losses.names())
def test_a_published_loss_has_the_value_of_its_reference(views, name):
    if name not in REFERENCES:
        pytest.fail(
            f"{name} has no reference: add a function marked @value_of('{name}') to "
            "tests/objectives/test_values.py that computes its value by a formula or another library"
        )
    for seed, shape in enumerate([(9, 4), (6, 3), (14, 7)]):
        z1, z2 = (0.6 * z for z in views(*shape, seed=seed))  # deviations on both sides of VICReg's hinge
        both = objectives.resolve(name)(z1, z2), REFERENCES[name](z1, z2)
        found, expected = (torch.as_tensor(value).item() for value in both)
        assert found == pytest.approx(expected, rel=1e-5), f"{name}: {found}; its reference: {expected}"


def test_a_reference_is_of_a_loss_that_there_is():
    assert REFERENCES.keys() - set(losses.names()) == set()
