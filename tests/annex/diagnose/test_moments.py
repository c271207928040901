"""The sums of one pass against NumPy and scikit-learn on the whole arrays."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from reprise.annex.diagnose import moments
from reprise.annex.diagnose.moments import GROUPS, leave_one_out, sums, whole
from reprise.diagnostics import discriminant, hypersphere, spectra
from reprise.errors import RepriseError

NAMES = ["a.npy", "b.npy"]


def pair(samples=300, dim=6, mean=4.0):
    rng = np.random.default_rng(0)
    first = rng.normal(size=(samples, dim)) * np.geomspace(2, 0.1, dim) + mean
    return [first, first + 0.3 * rng.normal(size=(samples, dim)) - 1]


@pytest.fixture(params=[7, 10**6], ids=["small blocks", "one block"])
def sample(request, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", request.param * 6)
    return whole(sums(pair(), NAMES))


def test_the_spectrum_is_scikit_learns(sample):
    for ours, view in zip(sample.singular_values, pair(), strict=True):
        theirs = PCA(svd_solver="full").fit(view).singular_values_ / np.sqrt(len(view))
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_the_uncentred_spectrum_is_numpys(sample):
    for ours, view in zip(sample.uncentred_singular_values, pair(), strict=True):
        theirs = np.linalg.svd(view, compute_uv=False) / np.sqrt(len(view))
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_what_two_views_have_in_common(sample):
    z1, z2 = map(torch.from_numpy, pair())
    torch.testing.assert_close(sample.correlation, spectra.view_correlation(z1, z2))
    lidar = moments.discriminant_eigenvalues  # of the same matrices, formed from the views themselves
    means = (z1 + z2) / 2
    within = (z1 - z2).mT @ (z1 - z2) / 2 / len(z1)
    torch.testing.assert_close(sample.discriminant, lidar(means.mT.cov(), within))
    assert sample.distance2 == pytest.approx(hypersphere.view_alignment(z1, z2).item())
    torch.testing.assert_close(
        discriminant.lidar(torch.stack([z1, z2], 1)), discriminant.rank_of_entropy(sample.discriminant)
    )


def test_without_a_group_it_is_the_sample_of_the_other_rows():
    views = pair()
    group = np.random.default_rng(0).permutation(len(views[0])) % GROUPS
    for index, part in enumerate(leave_one_out(sums(views, NAMES))):
        rest = views[0][group != index]
        np.testing.assert_allclose(part.covariance[0], np.cov(rest, rowvar=False, bias=True), atol=1e-12)
        np.testing.assert_allclose(part.mean[0], rest.mean(0))
        assert part.count == len(rest)


def test_a_small_spread_beside_a_large_mean_keeps_its_digits():
    rng = np.random.default_rng(0)
    z = 1e4 + 1e-3 * rng.normal(size=(200, 3)) * [1, 0.1, 0.01]
    theirs = np.linalg.svd(z - z.mean(0), compute_uv=False) / np.sqrt(200)
    np.testing.assert_allclose(whole(sums([z], NAMES[:1])).singular_values[0], theirs, rtol=1e-4)


def test_dimensions_that_too_few_samples_leave_empty_do_not_count():
    z = np.random.default_rng(0).normal(size=(50, 80))
    sample = whole(sums([z], NAMES[:1]))
    assert sample.limit == sample.singular_values.shape[1] == 49
    assert (sample.singular_values > 0.01).all()


def test_pairs_are_those_of_the_first_rows_of_each_group():
    z = np.random.default_rng(0).normal(size=(400, 3)) + 1
    group = np.random.default_rng(0).permutation(400) % GROUPS
    each = [hypersphere.mean_potential(torch.from_numpy(z[group == index])) for index in range(GROUPS)]
    assert whole(sums([z], NAMES[:1])).potential.item() == pytest.approx(torch.stack(each).mean().item())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_named(bad, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", 60)
    views = pair()
    views[1][[23, 25], 2] = bad
    with pytest.raises(RepriseError, match=r"b.npy: NaN or infinity in rows 23, 25 "):
        sums(views, NAMES)


@pytest.mark.parametrize(
    ("views", "parts"),
    [
        ([np.zeros((50, 3)), np.zeros((50, 4))], ["b.npy", r"\[50, 4\]", r"\[50, 3\]"]),
        ([np.zeros((49, 3)), np.zeros((50, 3))], ["b.npy", r"\[50, 3\]", r"\[49, 3\]"]),
        ([np.zeros((39, 3))], ["39 samples", "40"]),
        ([np.zeros((50, 1))], ["1 dimensions"]),
    ],
)
def test_shapes_that_do_not_fit(views, parts):
    with pytest.raises(RepriseError) as error:
        sums(views, NAMES[: len(views)])
    for part in parts:
        assert part.replace("\\", "") in str(error.value)
