"""The embedding spectrum against numpy's covariance."""

import numpy as np
import torch

from reprise.diagnostics.spectra import embedding_spectrum, normalised_log_spectrum, view_correlation


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


def test_the_normalised_spectrum_sees_directions_alone():
    z = embeddings(40, 6)
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    expected = np.log(np.linalg.svd(np.cov(unit, rowvar=False, bias=True), compute_uv=False))
    found = normalised_log_spectrum(torch.from_numpy(z))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    lengths = torch.linspace(0.1, 9, 40).double()[:, None]
    torch.testing.assert_close(normalised_log_spectrum(lengths * torch.from_numpy(z)), found)


def test_the_correlation_of_views_is_numpys():
    z1, z2 = embeddings(40, 6), embeddings(40, 4, seed=1)
    expected = np.corrcoef(z1, z2, rowvar=False)[:6, 6:]
    np.testing.assert_allclose(
        view_correlation(torch.from_numpy(z1), torch.from_numpy(z2)), expected, atol=1e-12
    )
    constant = torch.ones(40, 2).double()
    assert (view_correlation(constant, torch.from_numpy(z2)) == 0).all()
