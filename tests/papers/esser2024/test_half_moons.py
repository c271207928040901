"""Half moons with their positives and negatives."""

import numpy as np
import torch
from scipy import stats

from reprise.papers.esser2024.half_moons import HalfMoons, draw

SETTINGS = {"samples": 400, "noise": 0.1, "positive_variance": 0.1}
PARTS = tuple(HalfMoons.__dataclass_fields__)


def distance_to_moons(points):
    """From the two half circles of scikit-learn's documentation."""
    angle = np.linspace(0, np.pi, 2000)
    upper = np.stack([np.cos(angle), np.sin(angle)], 1)
    lower = np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], 1)
    curve = np.concatenate([upper, lower])
    return np.linalg.norm(points[:, None] - curve, axis=-1).min(1)


def test_a_seed_does_not_depend_on_the_others():
    many, one = draw([3, 7, 11], **SETTINGS), draw([7], **SETTINGS)
    for part in PARTS:
        assert torch.equal(getattr(many, part)[1], getattr(one, part)[0])
        if part != "moon":  # a point's moon is a whole number
            assert getattr(many, part).dtype == torch.float64
            assert getattr(many, part).shape == (3, 400, 2)
        assert len(getattr(many, part).flatten(1).unique(dim=0)) == 3


def test_without_noise_points_lie_on_the_moons_half_on_each():
    data = draw(range(3), samples=401, noise=0.0, positive_variance=0.1)
    for part in (data.anchor, data.negative):
        assert all(distance_to_moons(points).max() < 1e-3 for points in part.numpy())
        upper = torch.isclose(part.norm(dim=-1), torch.ones(()).double(), atol=1e-9)
        assert (upper.sum(-1) - 200).abs().max() <= 1


def test_noise_is_of_that_standard_deviation():
    clean, noisy = (draw(range(3), samples=2000, noise=noise, positive_variance=0) for noise in (0, 0.2))
    added = (noisy.anchor - clean.anchor).std((1, 2))
    np.testing.assert_allclose(added, 0.2, rtol=0.06)


def test_positives_differ_by_normal_noise_of_that_variance():
    data = draw(range(5), samples=2000, noise=0.1, positive_variance=0.1)
    offset = (data.positive - data.anchor).numpy()
    for of_seed in offset:
        assert stats.kstest(of_seed.ravel() / 0.1**0.5, "norm").pvalue > 1e-4
        assert abs(np.corrcoef(of_seed.T)[0, 1]) < 0.1
    assert torch.equal(
        draw([0], samples=9, noise=0.1, positive_variance=0.0).positive,
        draw([0], samples=9, noise=0.1, positive_variance=0.0).anchor,
    )


def test_negatives_are_another_sample_without_relation_to_the_anchors():
    data = draw(range(10), **SETTINGS)
    anchor, negative = data.anchor.numpy(), data.negative.numpy()
    assert not np.isclose(anchor, negative).any()
    found = [np.corrcoef(a.T, b.T)[:2, 2:] for a, b in zip(anchor, negative, strict=True)]
    assert np.abs(np.mean(found, 0)).max() < 4 / (10 * 400) ** 0.5
    for a, b in zip(anchor, negative, strict=True):
        assert stats.ks_2samp(a[:, 0], b[:, 0]).pvalue > 1e-3
