"""LiDAR against SciPy's generalised eigenvalues and scikit-learn's discriminant analysis."""

import numpy as np
import pytest
import torch
from scipy.linalg import eigh
from scipy.stats import entropy
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from reprise.diagnostics.discriminant import discriminant_eigenvalues, lidar
from reprise.diagnostics.ranks import rank_of_entropy


def views(samples=60, number=4, dim=6, noise=0.5):
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(samples, 1, dim)) * np.geomspace(3, 0.1, dim)
    return signal + noise * rng.normal(size=(samples, number, dim))


@pytest.mark.parametrize("number", [2, 4])
def test_it_is_the_rank_of_the_generalised_eigenproblem(number):
    z = views(number=number)
    between = np.cov(z.mean(1), rowvar=False)
    within = np.mean([np.cov(sample, rowvar=False) for sample in z], axis=0) + 1e-4 * np.eye(6)
    values = eigh(between, within, eigvals_only=True)
    p = values / values.sum() + 1e-7
    assert lidar(torch.from_numpy(z)).item() == pytest.approx(np.exp(-(p * np.log(p)).sum()))


def test_its_eigenvalues_are_in_the_ratios_of_scikit_learns():
    z = views()
    classes = np.repeat(np.arange(len(z)), z.shape[1])
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(z.reshape(-1, 6), classes)
    ours = lidar(torch.from_numpy(z), delta=0.0).item()
    assert ours == pytest.approx(np.exp(entropy(theirs.explained_variance_ratio_)), rel=1e-4)


def test_noise_of_views_hides_what_variance_shows():
    """A direction in which views differ more than samples counts less, though its variance is the largest."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(200, 1, 6))
    noise = rng.normal(size=(200, 4, 6))
    quiet, noisy = samples + 0.1 * noise, samples + noise * [0.1, 20, 20, 20, 20, 20]
    covariance = np.linalg.eigvalsh(np.cov(noisy.reshape(-1, 6), rowvar=False))
    assert rank_of_entropy(torch.from_numpy(covariance)).item() > 4.5
    assert lidar(torch.from_numpy(noisy)).item() < 1.2
    assert lidar(torch.from_numpy(quiet)).item() > 5


def test_equal_views_are_no_division_by_zero():
    values = discriminant_eigenvalues(torch.eye(3), torch.zeros(3, 3))
    np.testing.assert_allclose(values, [1e4] * 3)
