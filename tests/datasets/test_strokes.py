"""Rendered digits: repeatable, of MNIST's size and layout, varied, and legible."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

from reprise.datasets.catalogue import load
from reprise.datasets.strokes import DIGITS, _pieces, render


def test_any_prefix_is_the_same_and_seeds_and_splits_are_not():
    whole, digits = render(300, seed=1)
    assert (whole.shape, whole.dtype) == ((300, 1, 28, 28), np.uint8)
    np.testing.assert_array_equal(digits, np.arange(300) % 10)
    for count in (1, 128, 129):
        np.testing.assert_array_equal(render(count, seed=1)[0], whole[:count])
    for other, _ in (render(300, seed=2), render(300, seed=1, split=1)):
        assert (other != whole).any((1, 2, 3)).all()
    assert render(0, seed=0)[0].shape == (0, 1, 28, 28)


def test_the_images_are_those_that_results_were_taken_from():
    """A change of these moves every result on the stand-in."""
    assert render(80, seed=0)[0].mean() == pytest.approx(31.2585, abs=1e-3)


def test_digits_are_centred_by_their_mass_and_lie_within_the_image():
    images = render(500, seed=0)[0][:, 0] / 255
    mass, offsets = images.sum((1, 2)), np.arange(28) - 13.5
    for axis in (1, 2):
        assert abs(images.sum(3 - axis) @ offsets / mass).max() < 1.5
    border = images.sum() - images[:, 1:-1, 1:-1].sum()
    assert border < 0.01 * images.sum()


def test_thickness_height_and_slant_vary():
    images = render(1000, seed=0)[0][1::10, 0] > 127  # ones
    rows = images.any(2)
    height = 28 - rows.argmax(1) - rows[:, ::-1].argmax(1)
    thickness = images.sum((1, 2)) / height
    columns = np.arange(28)
    upper, lower = (
        (part * columns).sum((1, 2)) / part.sum((1, 2)) for part in (images[:, 7:11], images[:, 17:21])
    )
    for measure, pixels in ((height, 5), (thickness, 1), (upper - lower, 3)):
        assert np.ptp(measure) >= pixels


def test_a_linear_classifier_reads_the_held_out_digits():
    train, test = (load("strokes", "", split) for split in ("train", "test"))
    (x, y), (held_x, held_y) = (
        (images[:1000].flatten(1).numpy(), labels[:1000]) for images, labels in (train, test)
    )
    assert RidgeClassifier(alpha=1e6).fit(x, y).score(held_x, held_y) > 0.95


@pytest.mark.parametrize("curves", DIGITS)
def test_curves_pass_through_their_points(curves):
    for curve in curves:
        pieces = _pieces(curve)
        np.testing.assert_array_equal(pieces[1:, 0], pieces[:-1, 1])
        ends = np.concatenate([pieces[:, 0], pieces[-1:, 1]])
        np.testing.assert_allclose(ends[::4], curve, atol=1e-12)
