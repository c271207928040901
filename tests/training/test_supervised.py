"""The supervised reference: against cross-entropy written out, and on classes that can be learned."""

import math

import pytest
import tiny
import torch
from torch.nn.functional import log_softmax

from reprise.datasets.augment import Views, normalised
from reprise.errors import RepriseError
from reprise.training import supervised as module
from reprise.training.image_settings import Source
from reprise.training.images import assemble
from reprise.training.models import Model, trained
from reprise.training.optimisers import SGD
from reprise.training.supervised import supervised, supervised_accuracy

SOURCE = Source(name="shapes", root=".")


@pytest.fixture
def data(monkeypatch):
    """Small images in place of the source's."""
    found = tiny.data(samples=128)
    monkeypatch.setattr(Source, "load", lambda self: found)
    return found


def test_its_loss_is_the_cross_entropy_of_both_views(data):
    method = assemble(supervised(tiny.spec(), data.classes), 3)
    views = Views(tiny.RECIPE)(data.images[:16], torch.Generator().manual_seed(1))
    labels = data.labels[:16]
    method.before_forward(labels)
    assert method(views, 0).loss.item() == pytest.approx(
        math.log(data.classes)
    )  # the classifier starts at zero
    torch.nn.init.normal_(method.student.projector.weight)
    loss, _, scores = method(views, 0)
    of_classes = log_softmax(scores, -1)[:, torch.arange(16), labels]
    torch.testing.assert_close(loss, -of_classes.mean())


def test_it_has_the_encoder_and_the_views_of_the_network_beside_it():
    beside = tiny.spec("byol", hyperparameters={"hidden": 8}, seed=3)
    spec = supervised(beside, 4)
    kept = ("augmentation", "normalisation", "encoder", "batch", "steps", "seed", "precision")
    assert [getattr(spec, name) for name in kept] == [getattr(beside, name) for name in kept]
    starts = [assemble(of, 3).student.encoder.state_dict() for of in (spec, beside)]
    assert all(torch.equal(tensor, starts[1][name]) for name, tensor in starts[0].items())


def test_classes_that_can_be_learned_are_and_the_accuracy_is_that_of_the_cached_network(data, tmp_path):
    found = supervised_accuracy(tiny.spec(steps=200), SOURCE, tmp_path)
    spec = supervised(tiny.spec(steps=200), data.classes)
    student = Model(spec, trained(spec, data, tmp_path)).method.student
    with torch.no_grad():
        _, scores = student(normalised(data.test_images, spec.normalisation))
    assert found == (scores.argmax(1) == data.test_labels).double().mean()
    assert found > 0.9


def test_at_shuffled_labels_it_is_at_chance(data, tmp_path, monkeypatch):
    order = torch.randperm(64, generator=torch.Generator().manual_seed(0))
    shuffled = data._replace(labels=data.labels[order])
    monkeypatch.setattr(Source, "load", lambda self: shuffled)
    assert supervised_accuracy(tiny.spec(steps=200), SOURCE, tmp_path) < 0.6


def test_a_second_table_trains_nothing(data, tmp_path, capsys):
    first = supervised_accuracy(tiny.spec(steps=3), SOURCE, tmp_path)
    # What differs between the networks beside it does not matter to it.
    other = tiny.spec("vicreg", steps=3, optimiser=SGD(learning_rate=0.3), trace_every=1)
    assert supervised_accuracy(other, SOURCE, tmp_path) == first
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["MISS", "HIT"]


def test_a_training_that_diverges_gives_no_number(data, tmp_path, monkeypatch):
    hot = SGD(learning_rate=1e30)
    monkeypatch.setattr(module, "SGD", lambda **_: hot)
    assert math.isnan(supervised_accuracy(tiny.spec(steps=20), SOURCE, tmp_path))


def test_it_refuses_images_without_a_class_and_another_projector(data, tmp_path, monkeypatch):
    unlabelled = data._replace(labels=torch.full_like(data.labels, -1))
    monkeypatch.setattr(Source, "load", lambda self: unlabelled)
    with pytest.raises(RepriseError, match="shapes, train: images without a class"):
        supervised_accuracy(tiny.spec(), SOURCE, tmp_path)
    with pytest.raises(RepriseError, match="choose 'linear'"):
        assemble(tiny.spec("supervised"), 3)
