"""The embedding spectrum against numpy's covariance."""

import numpy as np
import torch

from reprise.diagnostics.spectra import embedding_spectrum


def embeddings(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * np.geomspace(3, 0.1, shape[-1]) + 5


def test_it_is_the_singular_values_of_the_covariance_over_samples():
    z = embeddings(3, 40, 6)
    found = embedding_spectrum(torch.from_numpy(z))
    for ours, replica in zip(found.numpy(), z, strict=True):
        covariance = np.cov(replica, rowvar=False, bias=True)
        np.testing.assert_allclose(ours, np.linalg.svd(covariance, compute_uv=False), rtol=1e-10)
        assert (np.diff(ours) <= 0).all()


def test_it_sees_neither_a_shift_nor_a_rotation_and_grows_with_the_square_of_the_scale():
    z = torch.from_numpy(embeddings(40, 6))
    turn = torch.linalg.qr(torch.from_numpy(np.random.default_rng(1).normal(size=(6, 6)))).Q
    expected = embedding_spectrum(z)
    torch.testing.assert_close(embedding_spectrum((z - 11) @ turn), expected, rtol=1e-9, atol=0)
    torch.testing.assert_close(embedding_spectrum(3 * z), 9 * expected)


def test_small_values_keep_their_digits():
    """A covariance in float64 loses what is under 1e-16 of its largest value."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(64, 4))
    basis = np.linalg.qr(samples - samples.mean(0))[0]
    values = np.array([1, 1e-4, 1e-8, 1e-11])
    found = embedding_spectrum(torch.from_numpy(8 * basis * values))
    np.testing.assert_allclose(found, values**2, rtol=1e-3)


def test_it_is_taken_in_float64():
    z = torch.from_numpy(embeddings(40, 6)).float()
    assert embedding_spectrum(z).dtype == torch.float64
    torch.testing.assert_close(embedding_spectrum(z), embedding_spectrum(z.double()), rtol=0, atol=0)


def test_embeddings_in_a_plane_have_two_values():
    z = embeddings(50, 2) @ np.random.default_rng(2).normal(size=(2, 5))
    found = embedding_spectrum(torch.from_numpy(z)).numpy()
    assert (found[:2] > 1e-3).all()
    assert (found[2:] < 1e-25).all()
