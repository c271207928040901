"""The functions of the room take arrays as well as tensors."""

import numpy as np
import pytest
import torch

from reprise import diagnostics


@pytest.mark.parametrize("name", ["embedding_spectrum", "covariance_eigenvalues", "uniformity"])
def test_arrays_give_arrays_and_tensors_tensors(name):
    function = getattr(diagnostics, name)
    z = np.random.default_rng(0).normal(size=(30, 4))
    of_array, of_tensor = function(z), function(torch.from_numpy(z))
    assert isinstance(of_array, np.ndarray)
    assert isinstance(of_tensor, torch.Tensor)
    np.testing.assert_array_equal(of_array, of_tensor)


def test_named_arguments_and_plain_numbers_too():
    z, y = np.eye(3), np.arange(3)
    assert diagnostics.nearest_neighbours(z, y, z, y, k=1) == 1.0
    assert diagnostics.collapsed_dimensions(singular_values=np.array([1.0, 0.0])) == 1
