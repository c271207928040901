"""The data of Ren 2023: what its matrices and latents must fulfil."""

import math

import numpy as np
import pytest
import torch

from reprise.numerics.streams import Streams
from reprise.papers.ren2023 import model
from reprise.papers.ren2023.spectra import signal_variances

DIM, SIGNALS = 7, 3


def test_the_spectra():
    np.testing.assert_allclose(signal_variances("linear", 30, 4), [4, 3, 2, 1])
    np.testing.assert_allclose(signal_variances("spiked", 30, 3), [1.5 * math.log(30), 1, 1])
    with pytest.raises(ValueError, match="allowed: linear, spiked"):
        signal_variances("flat", 30, 3)


def test_the_columns_of_a_and_of_the_noise_are_orthogonal_and_as_long_as_they_should_be():
    scale = model.scales(signal_variances("linear", DIM, SIGNALS), 0.5, DIM)
    np.testing.assert_allclose(scale**2, [4, 2.5, 1, 0.25, 0.25, 0.25, 0.25])
    mixing = model.mixing(Streams(range(3), "mixing"), scale)
    torch.testing.assert_close(mixing.mT @ mixing, torch.diag(torch.from_numpy(scale**2)).expand(3, -1, -1))


def test_directions_have_no_preferred_sign_nor_axis():
    directions = model.mixing(Streams(range(4000), "mixing"), np.ones(3))
    error = 4000**-0.5
    assert directions.mean(0).abs().max() < 3.5 * error * 3**-0.5
    torch.testing.assert_close(
        directions.square().mean(0), torch.full((3, 3), 1 / 3).double(), atol=0.02, rtol=0
    )
    assert (torch.linalg.det(directions) > 0).double().mean().sub(0.5).abs() < 2 * error


def test_a_pair_shares_its_signal_and_nothing_else():
    y_a, y_b = model.positive_pairs(Streams(range(2), "pairs"), DIM, SIGNALS, 4000)
    assert y_a.shape == y_b.shape == (2, DIM, 4000)
    assert torch.equal(y_a[:, :SIGNALS], y_b[:, :SIGNALS])
    for y in (y_a, y_b):
        torch.testing.assert_close(y.abs(), torch.full_like(y, DIM**-0.5))
        torch.testing.assert_close(
            DIM * y @ y.mT / 4000, torch.eye(DIM).double().expand(2, -1, -1), atol=0.08, rtol=0
        )
    across = DIM * y_a @ y_b.mT / 4000
    shared = torch.diag(torch.arange(DIM) < SIGNALS).double()
    torch.testing.assert_close(across, shared.expand(2, -1, -1), atol=0.08, rtol=0)


def test_the_hypercube_has_every_corner_once():
    corners = model.hypercube(5)
    assert corners.shape == (5, 32)
    assert len({tuple(corner) for corner in corners.T.tolist()}) == 32
    assert set(corners.unique().tolist()) == {-1.0, 1.0}
