"""Alignment and uniformity against SciPy's distances."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist

from reprise.diagnostics.hypersphere import uniformity, view_alignment


def unit(z):
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def test_uniformity_is_over_all_pairs():
    z = np.random.default_rng(0).normal(size=(40, 5)) + 1
    expected = np.log(np.exp(-2 * pdist(unit(z), "sqeuclidean")).mean())
    assert uniformity(torch.from_numpy(z)).item() == pytest.approx(expected)
    stack = torch.from_numpy(np.stack([z, 2 * z]))
    np.testing.assert_allclose(uniformity(stack), [expected] * 2)


def test_a_point_and_two_poles_are_the_ends():
    assert uniformity(torch.ones(5, 3).double()).item() == pytest.approx(0)
    assert uniformity(torch.tensor([[1.0], [-1.0]])).item() == pytest.approx(-8)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_alignment_is_the_distance_of_pairs(power):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30, 4))
    expected = (np.linalg.norm(unit(a) - unit(b), axis=1) ** power).mean()
    assert view_alignment(*map(torch.from_numpy, (a, b)), power=power).item() == pytest.approx(expected)
