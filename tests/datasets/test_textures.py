"""Rendered textures: repeatable, and told apart by structure, not by pixels."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from sklearn.neighbors import KNeighborsClassifier

from reprise.datasets.catalogue import DATA_SETS, load
from reprise.datasets.textures import EDGES, PATTERNS, SIZES, render


def grey(images):
    """Grey pixels of each image, with mean 0 and norm 1."""
    flat = images.mean(1).reshape(len(images), -1)
    flat = flat - flat.mean(1, keepdims=True)
    return flat / np.linalg.norm(flat, axis=1, keepdims=True)


def spectra(images):
    """Moduli of the two-dimensional Fourier transforms of grey images, which do not depend on the phase."""
    return abs(np.fft.rfft2(grey(images).reshape(-1, *images.shape[2:]))).reshape(len(images), -1)


@pytest.fixture(scope="module")
def rendered():
    return render(4000, seed=5)


def test_any_prefix_is_the_same_and_seeds_and_splits_are_not():
    whole = render(300, seed=1)
    assert (whole.images.shape, whole.images.dtype) == ((300, 3, 32, 32), np.uint8)
    assert set(whole.kind[:40]) == set(range(40))
    for count in (1, 128, 129):
        np.testing.assert_array_equal(render(count, seed=1).images, whole.images[:count])
    for other in (render(300, seed=2), render(300, seed=1, split=1)):
        assert (other.images != whole.images).any((1, 2, 3)).all()
    assert render(0, seed=0).images.shape == (0, 3, 32, 32)


def test_the_images_are_those_that_results_were_taken_from():
    """A change of these moves every result on the stand-in."""
    images = render(80, seed=0).images
    assert images.mean() == pytest.approx(100.2032, abs=1e-3)


def test_classes_are_balanced_and_independent(rendered):
    assert len(np.unique(rendered.kind)) == len(PATTERNS) * len(SIZES) * len(EDGES)
    assert set(np.bincount(rendered.kind)) == {100}
    for one, other in ((rendered.pattern, rendered.scale), (rendered.pattern, rendered.edge)):
        table = np.histogram2d(one, other, (10, 2))[0]
        assert chi2_contingency(table).statistic < 1e-9


@pytest.mark.parametrize(("name", "side"), [("textures", 32), ("textures-16", 16)])
def test_the_normalisation_is_that_of_the_images(name, side):
    images, _ = load(name, "", "train")
    assert images.shape == (5000, 3, side, side)
    pixels = images.double() / 255
    normalisation = DATA_SETS[name].normalisation
    assert pixels.mean() == pytest.approx(normalisation.mean[0], abs=5e-4)
    assert pixels.std() == pytest.approx(normalisation.std[0], abs=5e-4)


@pytest.mark.parametrize("size", [16, 32])
def test_the_nearest_pixels_tell_little_and_the_nearest_structure_tells_much(size):
    """A spectrum does not depend on where a pattern lies: the neighbour nearest by spectrum shows the same
    pattern twice as often as the one nearest by pixels."""
    train, test = slice(0, 3000), slice(3000, 4000)
    rendered = render(4000, seed=5, size=size)
    labels = rendered.pattern
    by_pixels, by_structure = (
        KNeighborsClassifier(1, algorithm="brute")
        .fit(features[train], labels[train])
        .score(features[test], labels[test])
        for features in (grey(rendered.images), spectra(rendered.images))
    )
    assert by_pixels < 0.4
    assert by_structure > 2 * by_pixels


def test_colours_say_nothing_of_the_pattern(rendered):
    colours = rendered.images.mean((2, 3))
    train, test = slice(0, 3000), slice(3000, 4000)
    labels = rendered.pattern
    score = KNeighborsClassifier(20).fit(colours[train], labels[train]).score(colours[test], labels[test])
    assert score < 0.2


def test_a_larger_image_shows_the_same_pattern(rendered):
    """Means over 2x2 pixels of the image at twice the resolution."""
    large = render(40, seed=5, size=64).images.reshape(40, 3, 32, 2, 32, 2).mean((3, 5))
    assert abs(large - rendered.images[:40]).mean() < 6
