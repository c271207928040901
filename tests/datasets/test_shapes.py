"""Rendered shapes: repeatable, distinct, and nothing but the shape tells the shape."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from reprise.datasets import shapes
from reprise.datasets.shapes import BRIGHT, COLOURS, DARK, SHAPES, TEXTURES, render


def test_any_prefix_is_the_same_and_seeds_and_splits_are_not():
    whole = render(300, seed=1)
    assert (whole.images.shape, whole.images.dtype) == ((300, 3, 32, 32), np.uint8)
    for count in (1, 128, 129):
        np.testing.assert_array_equal(render(count, seed=1).images, whole.images[:count])
    for other in (render(300, seed=2), render(300, seed=1, split=1), render(300, seed=1, style=BRIGHT)):
        assert (other.images == whole.images).mean() < 0.3


@pytest.mark.parametrize(
    ("style", "means"), [(DARK, [54.708, 50.693, 49.13]), (BRIGHT, [136.927, 128.782, 117.222])]
)
def test_the_images_are_those_that_results_were_taken_from(style, means):
    """A change of these moves every result on the stand-in."""
    found = render(80, seed=0, style=style).images
    np.testing.assert_allclose(found.mean((0, 2, 3)), means, atol=1e-3)


def test_eighty_in_a_row_are_the_eighty_classes():
    found = render(240, seed=0)
    assert (len(SHAPES), len(COLOURS)) == (10, 8)
    for start in (0, 80, 160):
        assert sorted(found.shape_and_colour[start : start + 80]) == list(range(80))
    np.testing.assert_array_equal(found.shape, found.shape_and_colour // 8)
    np.testing.assert_array_equal(found.colour, found.shape_and_colour % 8)


def test_texture_is_independent_of_shape_and_colour():
    found = render(8000, seed=0)
    for factor in (found.shape, found.colour):
        table = np.zeros((factor.max() + 1, len(TEXTURES)))
        np.add.at(table, (factor, found.texture), 1)
        expected = 8000 / table.size
        assert ((table - expected) ** 2 / expected).sum() < 2 * table.size


def covered(found):
    """Colours are spread over the images' pixels: their mean and spread by channel."""
    pixels = found.images.reshape(len(found.images), 3, -1) / 255
    return np.concatenate([pixels.mean(-1), pixels.std(-1), pixels.max(-1)], 1)


@pytest.mark.parametrize("style", [DARK, BRIGHT])
def test_colours_do_not_give_away_the_shape(style):
    """Chance is .1; what is above it is the object's area, of which its brightness tells a little."""
    train, test = render(4000, seed=0, style=style), render(1000, seed=0, split=1, style=style)
    hue = covered(train), covered(test)
    for classifier in (LinearDiscriminantAnalysis(), KNeighborsClassifier(20)):
        assert classifier.fit(hue[0], train.shape).score(hue[1], test.shape) < 0.3
    assert KNeighborsClassifier(20).fit(hue[0], train.colour).score(hue[1], test.colour) > 0.6


def test_the_backdrop_is_dark_or_bright():
    def corners(style):
        return render(400, seed=0, style=style).images[:, :, ::31, ::31].max(1).mean() / 255

    assert corners(DARK) < 0.25
    assert corners(BRIGHT) > 0.65


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_of_moderate_area_and_lies_within_its_radius(name):
    axis = (np.arange(400) + 0.5) / 100 - 2
    x, y = (plane.reshape(1, -1) for plane in np.meshgrid(axis, axis))
    inside = SHAPES[name](x, y) < 0
    assert 0.9 < inside.mean() * 16 < 2.7
    assert np.hypot(x, y)[inside].max() < 1.25


def test_distances_have_unit_slope_at_the_outline():
    """So that edges are equally smooth: the outline moves by the distance added to it."""
    axis = (np.arange(800) + 0.5) / 200 - 2
    x, y = (plane.reshape(1, -1) for plane in np.meshgrid(axis, axis))
    for distance in SHAPES.values():
        rows, columns = np.gradient(distance(x, y).reshape(800, 800), axis, axis)
        near = abs(distance(x, y).reshape(800, 800)) < 0.02
        assert np.median(np.hypot(rows, columns)[near]) == pytest.approx(1, abs=0.02)


def test_another_size_shows_the_same_objects():
    small, large = render(40, seed=0), render(40, seed=0, size=96)
    shrunk = large.images.reshape(40, 3, 32, 3, 32, 3).mean((3, 5))
    assert abs(shrunk - small.images).mean() < 4
    assert shapes.render(0, seed=0).images.shape == (0, 3, 32, 32)
