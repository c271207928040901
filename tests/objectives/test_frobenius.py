"""FroSSL and its relatives against loops over Python floats, and beside the readings that are not it."""

import math
from operator import mul

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from reprise.objectives import frossl, frossl_as_given, frossl_no_logs, frossl_no_logs_unit_trace, gram_energy

SHAPES = pytest.mark.parametrize("shape", [(9, 4), (4, 9), (5, 5), (2, 3)])


def literal_columns(z):
    """Columns centred and at unit L2 norm."""
    columns = []
    for column in z.T.tolist():
        deviations = [x - sum(column) / len(column) for x in column]
        columns.append([x / math.hypot(*deviations) for x in deviations])
    return columns


def literal_terms(z1, z2):
    """(|Z1 - Z2|²_F / N, |Z1ᵀZ1|²_F, |Z2ᵀZ2|²_F) of normalised columns."""
    a, b = literal_columns(z1), literal_columns(z2)
    invariance = sum(math.dist(p, q) ** 2 for p, q in zip(a, b, strict=True)) / len(z1)
    return invariance, *(sum(sum(map(mul, p, q)) ** 2 for p in c for q in c) for c in (a, b))


@SHAPES
def test_frossl_is_eq_6_of_unit_columns(views, shape):
    z1, z2 = views(*shape)
    invariance, energy1, energy2 = literal_terms(z1, z2)
    assert frossl(z1, z2).item() == pytest.approx(invariance + math.log(energy1) + math.log(energy2))
    weighted = frossl(z1, z2, invariance_weight=0.3).item()
    assert weighted == pytest.approx(0.3 * invariance + math.log(energy1) + math.log(energy2))


@SHAPES
def test_frossl_without_logs_is_the_same_terms(views, shape):
    z1, z2 = views(*shape)
    invariance, energy1, energy2 = literal_terms(z1, z2)
    assert frossl_no_logs(z1, z2).item() == pytest.approx(invariance + energy1 + energy2)
    weighted = frossl_no_logs(z1, z2, variance_weight=0.3).item()
    assert weighted == pytest.approx(invariance + 0.3 * (energy1 + energy2))


@SHAPES
def test_the_unit_trace_is_that_of_the_normalised_covariance(views, shape):
    z1, z2 = views(*shape)
    expected = literal_terms(z1, z2)[0]
    for z in (z1, z2):
        correlation = torch.corrcoef(z.T)
        expected += (correlation / correlation.trace()).square().sum().item()
    assert frossl_no_logs_unit_trace(z1, z2).item() == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(9, 4), (4, 9), (3, 9, 4), (3, 4, 9)])
def test_both_gram_matrices_have_one_frobenius_norm(views, shape):
    """Eq. 2."""
    z = views(*shape)[0]
    for product in (z.mT @ z, z @ z.mT):
        torch.testing.assert_close(gram_energy(z), torch.linalg.matrix_norm(product).square())


@pytest.mark.parametrize("shape", [(6, 50), (50, 6)])
def test_the_smaller_gram_matrix_is_the_one_made(views, shape):
    with FlopCounterMode(display=False) as counted:
        gram_energy(views(*shape)[0])
    assert counted.get_total_flops() == 2 * 6 * 6 * 50


def gradient(loss, z1, z2):
    z1, z2 = (z.clone().requires_grad_() for z in (z1, z2))
    return torch.cat(torch.autograd.grad(loss(z1, z2), (z1, z2)))


def columns_of(length, squared_error, logarithm):
    """A reading of the objective: columns of this length, and its two kinds of terms."""

    def loss(z1, z2):
        z1, z2 = (z - z.mean(0) for z in (z1, z2))
        z1, z2 = (length(z) * z / torch.linalg.vector_norm(z, dim=0) for z in (z1, z2))
        return squared_error(z1 - z2) + logarithm(z1) + logarithm(z2)

    return loss


def log_energy(z):
    return 2 * torch.linalg.matrix_norm(z.T @ z / len(z)).log()


AUTHORS_CODE = columns_of(lambda z: z.shape[1] ** 0.5, lambda d: d.square().mean(), log_energy)
UNIT_VARIANCE = columns_of(lambda z: len(z) ** 0.5, lambda d: d.square().sum() / len(d), log_energy)


def pseudocode(z1, z2):
    """Appendix A: one norm for the matrix, the log of a norm that is not squared."""
    z1, z2 = (z - z.mean(0) for z in (z1, z2))
    z1, z2 = (z.shape[1] ** 0.5 * z / z.norm() for z in (z1, z2))
    frobenius = sum(torch.linalg.matrix_norm(z.T @ z).log() for z in (z1, z2))
    return (z1 - z2).square().mean() + frobenius


def test_frossl_is_the_authors_code_up_to_a_constant(views):
    for seed in range(3):
        z1, z2 = views(9, 4, seed=seed)
        shift = AUTHORS_CODE(z1, z2) - frossl(z1, z2)
        assert shift.item() == pytest.approx(4 * math.log(4 / 9))
        torch.testing.assert_close(gradient(frossl, z1, z2), gradient(AUTHORS_CODE, z1, z2))


@pytest.mark.parametrize("other", [UNIT_VARIANCE, pseudocode])
def test_other_readings_are_other_objectives(views, other):
    ours, theirs = (gradient(loss, *views(9, 4)) for loss in (frossl, other))
    assert torch.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0) < 0.99


def test_the_least_energy_is_that_of_a_flat_spectrum():
    """|ZᵀZ|²_F is the number of dimensions for orthogonal unit columns, and its square for equal ones."""
    flat = torch.tensor([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]).double()
    assert frossl(flat, flat).item() == pytest.approx(2 * math.log(3))
    collapsed = flat[:, :1].expand(4, 3)
    assert frossl(collapsed, collapsed).item() == pytest.approx(2 * math.log(9))
    assert frossl_no_logs(flat, flat).item() == pytest.approx(6)
    assert frossl_no_logs_unit_trace(flat, flat).item() == pytest.approx(2 / 3)
    assert frossl_no_logs_unit_trace(collapsed, collapsed).item() == pytest.approx(2)


def test_without_a_normalisation_smaller_is_better(views):
    z1, z2 = views(9, 4)
    assert frossl_as_given(0.1 * z1, 0.1 * z2) < frossl_as_given(z1, z2) - 5
    torch.testing.assert_close(frossl(0.1 * z1, 0.1 * z2), frossl(z1, z2))
