"""Numbers of other libraries' own code on the same embeddings: reptrix 0.1.0 (`alpha.get_alpha`,
`rankme.get_rankme`) and stable-pretraining 0.1.8 (its callbacks' RankMe and `_compute_lidar`)."""

import pytest
import torch

from reprise.diagnostics.discriminant import lidar
from reprise.diagnostics.ranks import alpha_req, rank_of_entropy

SAMPLES, VIEWS, DIM = 400, 5, 128


@pytest.fixture(scope="module")
def z():
    """Samples with decaying variances and noisy views, not centred, [sample, view, dim]."""
    generator = torch.Generator().manual_seed(0)
    scales = torch.arange(1, DIM + 1, dtype=torch.float64) ** -0.6

    def normal(*shape):
        return torch.randn(*shape, DIM, generator=generator, dtype=torch.float64)

    return normal(SAMPLES, 1) * scales + 0.3 * scales.sqrt() * normal(SAMPLES, VIEWS) + 0.1


@pytest.fixture(scope="module")
def eigenvalues(z):
    """Eigenvalues of the covariance over all views, largest first."""
    flat = z.flatten(0, 1)
    return torch.linalg.svdvals(flat - flat.mean(0)).square() / len(flat)


def test_alpha_is_reptrixs(eigenvalues):
    """reptrix starts at the 11th eigenvalue."""
    assert alpha_req(eigenvalues, first=11, last=100).item() == pytest.approx(1.0114300136778396, rel=1e-9)


def test_the_rank_of_entropy_is_reptrixs(eigenvalues):
    """reptrix takes eigenvalues of the covariance for RankMe, where the paper takes singular values."""
    assert rank_of_entropy(eigenvalues).item() == pytest.approx(40.12269157345399, rel=1e-9)


def test_rankme_is_stable_pretrainings(z):
    """stable-pretraining's constant is a hundred times the paper's."""
    singular_values = torch.linalg.svdvals(z.flatten(0, 1))
    assert rank_of_entropy(singular_values, epsilon=1e-5).item() == pytest.approx(100.1328681178582, rel=1e-9)


def test_lidar_is_stable_pretrainings(z):
    """stable-pretraining adds the small constant in the entropy before it divides by the sum: the values
    agree up to that."""
    assert lidar(z).item() == pytest.approx(85.81540413522127, rel=1e-4)
    assert lidar(z[:, :2]).item() != pytest.approx(85.81540413522127, rel=1e-2)
