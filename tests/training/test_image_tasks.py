"""Observations of a network by tasks: representations in evaluation mode, of images and of random views."""

from itertools import islice

import pytest
import tiny
import torch

from reprise.datasets.augment import Views, normalised
from reprise.datasets.recipes import CROPS_AND_FLIPS
from reprise.numerics.streams import generator
from reprise.training import image_tasks
from reprise.training.image_tasks import features, random_views
from reprise.training.images import assemble

SPEC, IMAGES = tiny.spec(seed=3), tiny.data().images


@pytest.fixture
def student():
    """A network in training mode, with running statistics of other images."""
    student = assemble(SPEC, 3).student.train()
    with torch.no_grad():
        student(0.3 * torch.rand(64, 3, 8, 8))
    return student


def represented(student, pixels):
    with torch.no_grad():
        return student.eval().encoder(pixels)


def test_features_are_those_of_plain_images_by_the_running_statistics(student):
    found = features(student, SPEC, IMAGES)
    torch.testing.assert_close(found, represented(student, normalised(IMAGES, SPEC.normalisation)))


def test_random_views_are_of_crops_and_flips_by_the_running_statistics_in_chunks(student, monkeypatch):
    monkeypatch.setattr(image_tasks, "CHUNK", 20)
    found = list(islice(random_views(student, SPEC, IMAGES), 4))
    views = Views(CROPS_AND_FLIPS, SPEC.normalisation)
    for turn in range(2):
        parts = [
            views(images, generator(3, f"views of the probe {turn} {part}"))
            for part, images in enumerate(IMAGES.split(20))
        ]
        for view, pixels in zip(found[2 * turn :], torch.cat(parts, 1), strict=False):
            torch.testing.assert_close(view, represented(student, pixels))


def test_no_two_turns_have_the_same_views_and_a_seed_has_its_own(student):
    seeds = [
        list(islice(random_views(student, SPEC.model_copy(update={"seed": s}), IMAGES), 4)) for s in (3, 4)
    ]
    every = [view for views in seeds for view in views]
    for place, view in enumerate(every):
        for other in every[:place]:
            assert (view - other).abs().amax(1).gt(1e-3).double().mean() > 0.9
    assert torch.equal(next(random_views(student, SPEC, IMAGES)), seeds[0][0])
