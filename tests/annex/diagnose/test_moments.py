"""Moments gathered in one pass, against NumPy and scikit-learn on the whole arrays; the jackknife, against
the plain one, which computes everything without each group."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from reprise.annex.diagnose import moments
from reprise.annex.diagnose.covariances import Covariances
from reprise.annex.diagnose.grams import Grams
from reprise.annex.diagnose.measures import MEASURES, interval, observe
from reprise.annex.diagnose.moments import gather
from reprise.annex.diagnose.samples import GROUPS
from reprise.annex.diagnose.tridiagonal import mirror, reduced, reflect
from reprise.diagnostics import balance, discriminant, hypersphere, ranks, spectra
from reprise.errors import RepriseError
from reprise.evidence.comparison import COLLAPSED

NAMES = ["a.npy", "b.npy"]
SHAPES = {"more samples": (300, 6), "as many": (60, 60), "fewer samples": (50, 80)}


def pair(samples=300, dim=6, mean=4.0):
    rng = np.random.default_rng(0)
    first = rng.normal(size=(samples, dim)) * np.geomspace(2, 0.1, dim) + mean
    return [first, first + 0.3 * rng.normal(size=(samples, dim)) - 1]


@pytest.fixture(params=SHAPES)
def views(request):
    return pair(*SHAPES[request.param])


@pytest.fixture(params=[7, 10**6], ids=["small blocks", "one block"])
def sample(request, monkeypatch, views):
    monkeypatch.setattr(moments, "BLOCK", request.param * views[0].shape[1])
    return gather(views, NAMES).whole


def plain(views):
    """The diagnostics of the arrays themselves, by name and view, but for those of pairs, which are averaged
    over groups."""
    found = {}
    for number, z in enumerate(views, 1):
        samples, dim = z.shape
        centred, rank = z - z.mean(0), min(dim, samples - 1)
        sigma = torch.from_numpy(np.linalg.svd(centred, compute_uv=False)[:rank] / np.sqrt(samples))
        whole = torch.from_numpy(np.linalg.svd(z, compute_uv=False))
        found |= {
            (name, str(number)): float(value)
            for name, value in {
                "spread": np.sqrt(np.square(centred).sum() / np.square(z).sum()),
                "largest singular value": sigma[0],
                "collapsed dimensions": ranks.collapsed_dimensions(sigma, threshold=COLLAPSED),
                "effective rank": ranks.effective_rank(sigma),
                "RankMe": ranks.rank_of_entropy(whole),
                "stable rank": balance.intrinsic_dimension(sigma.square()),
                "balance": balance.stable_rank(sigma.square()),
                "condition number": sigma[0] / sigma[-1],
                "entropy": ranks.spectral_entropy(sigma.square()),
                "alpha-ReQ": ranks.alpha_req(sigma.square()),
            }.items()
        }
    if len(views) == 2:
        z1, z2 = map(torch.from_numpy, views)
        c = spectra.view_correlation(z1, z2)
        others = c[~torch.eye(len(c), dtype=torch.bool)]
        found |= {
            (name, "both"): float(value)
            for name, value in {
                "alignment": hypersphere.view_alignment(z1, z2),
                "cross-view correlation": c.diagonal().mean(),
                "redundancy": others.square().mean().sqrt(),
                "LiDAR": discriminant.lidar(torch.stack([z1, z2], 1)),
            }.items()
        }
    return found


@pytest.mark.parametrize("count", [1, 2])
def test_values_and_intervals_are_those_of_the_plain_jackknife(views, count):
    views = views[:count]
    group = np.random.default_rng(0).permutation(len(views[0])) % GROUPS
    whole = plain(views)
    parts = [plain([view[group != index] for view in views]) for index in range(GROUPS)]
    observed = {(each.measure.name, each.view): each for each in observe(gather(views, NAMES[:count]))}
    pairs = {name for name, _ in observed.keys() - whole.keys()}
    assert pairs <= {"uniformity", "alignment score, 1 to 2", "alignment score, 2 to 1"}
    measures = {measure.name: measure for measure in MEASURES}
    for key, value in whole.items():
        found = observed[key]
        assert found.value == pytest.approx(value, rel=1e-10, nan_ok=True), key
        low, high = interval(value, np.array([part[key] for part in parts]), measures[key[0]])
        assert [found.low, found.high] == pytest.approx([low, high], rel=1e-10, nan_ok=True), key


@pytest.mark.parametrize("made", [Covariances, Grams])
def test_both_ways_are_taken(views, made):
    samples, dim = views[0].shape
    assert isinstance(gather(views, NAMES), made) == ((samples < dim) == (made is Grams))


def test_the_spectrum_is_scikit_learns(sample, views):
    for ours, view in zip(sample.singular_values, views, strict=True):
        theirs = PCA(svd_solver="full").fit(view).singular_values_ / np.sqrt(len(view))
        np.testing.assert_allclose(ours, theirs[: sample.limit], rtol=1e-10)


def test_the_uncentred_spectrum_is_numpys(sample, views):
    for ours, view in zip(sample.uncentred_singular_values, views, strict=True):
        theirs = np.linalg.svd(view, compute_uv=False) / np.sqrt(len(view))
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_what_two_views_have_in_common(sample, views):
    z1, z2 = map(torch.from_numpy, views)
    np.testing.assert_allclose(sample.correlation.same, spectra.view_correlation(z1, z2).diagonal())
    means = (z1 + z2) / 2
    within = (z1 - z2).mT @ (z1 - z2) / 2 / len(z1)
    theirs = discriminant.discriminant_eigenvalues(means.mT.cov(), within)
    torch.testing.assert_close(sample.discriminant, theirs, rtol=1e-9, atol=1e-9 * theirs[0].item())


def test_one_reduction_gives_the_spectra_of_neighbours():
    rng = np.random.default_rng(0)
    square, direction = rng.normal(size=(30, 30)), rng.normal(size=30)
    matrix = square @ square.T
    turned, v = matrix.copy(), mirror(direction)
    reflect(turned, v)
    h = np.eye(30) - 2 * np.outer(v, v)
    np.testing.assert_allclose(turned, h @ matrix @ h, atol=1e-12)
    np.testing.assert_allclose((h @ direction)[1:], 0, atol=1e-14)
    inner = np.linalg.eigvalsh(turned[1:, 1:])[::-1]
    form = reduced(turned)
    np.testing.assert_allclose(form.eigenvalues(), np.linalg.eigvalsh(matrix)[::-1], rtol=1e-10)
    more = np.linalg.eigvalsh(matrix + np.outer(direction, direction))[::-1]
    np.testing.assert_allclose(form.raised(direction @ direction).eigenvalues(), more, rtol=1e-10)
    np.testing.assert_allclose(form.without_first().eigenvalues(), inner, rtol=1e-10)


@pytest.mark.parametrize("shape", [(200, 3), (50, 80)])
def test_a_small_spread_beside_a_large_mean_keeps_its_digits(shape):
    rng = np.random.default_rng(0)
    z = 1e4 + 1e-3 * rng.normal(size=shape) * np.geomspace(1, 0.01, shape[1])
    sample = gather([z], NAMES[:1]).whole
    theirs = np.linalg.svd(z - z.mean(0), compute_uv=False) / np.sqrt(len(z))
    np.testing.assert_allclose(sample.singular_values[0], theirs[: sample.limit], rtol=1e-4)


@pytest.mark.parametrize("shape", [(200, 3), (50, 80)])
@pytest.mark.parametrize("value", [0.0, 2.0, 0.1])
def test_constant_embeddings_have_no_spread_and_no_correlation(shape, value):
    """A mean of 0.1s is rounded, and rounding has no rank."""
    observed = {each.measure.name: each.value for each in observe(gather([np.full(shape, value)] * 2, NAMES))}
    assert observed["spread"] == 0
    assert observed["cross-view correlation"] == 0
    assert observed["largest singular value"] == 0
    assert np.isnan(observed["effective rank"])


def test_dimensions_that_too_few_samples_leave_empty_do_not_count():
    z = np.random.default_rng(0).normal(size=(50, 80))
    sample = gather([z], NAMES[:1]).whole
    assert sample.limit == sample.singular_values.shape[1] == 49
    assert (sample.singular_values > 0.01).all()


def test_pairs_are_those_of_the_first_rows_of_each_group():
    z = np.random.default_rng(0).normal(size=(400, 3)) + 1
    group = np.random.default_rng(0).permutation(400) % GROUPS
    each = [hypersphere.mean_potential(torch.from_numpy(z[group == index])) for index in range(GROUPS)]
    assert gather([z], NAMES[:1]).whole.potential.item() == pytest.approx(torch.stack(each).mean().item())


def test_progress_reaches_the_end():
    shares = []
    observe(gather(pair(), NAMES, shares.append), shares.append)
    assert shares == sorted(shares[:1]) + [done / 11 for done in range(1, 11)] + [1.0]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_named(bad, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", 60)
    views = pair()
    views[1][[23, 25], 2] = bad
    with pytest.raises(RepriseError, match=r"b.npy: NaN or infinity in rows 23, 25 "):
        gather(views, NAMES)


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
        gather(views, NAMES[: len(views)])
    for part in parts:
        assert part.replace("\\", "") in str(error.value)
