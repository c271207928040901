"""Probes against scikit-learn, on blobs."""

import json

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from torch.nn.functional import cross_entropy
from torch.profiler import ProfilerActivity, profile

from reprise.diagnostics.probes import accuracy, linear_probe, nearest_neighbours, representations
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.training.optimisers import SGD, AdamW
from reprise.training.schedules import Milestones


def blobs(samples=300, classes=7, dim=5, spread=1.0):
    rng = np.random.default_rng(0)
    labels = rng.integers(classes, size=2 * samples)
    centres = 1.5 * rng.normal(size=(classes, dim))
    points = torch.from_numpy(centres[labels] + spread * rng.normal(size=(2 * samples, dim))).float()
    labels = torch.from_numpy(labels)
    return points[:samples], labels[:samples], points[samples:], labels[samples:]


@pytest.mark.parametrize("optimiser", [SGD(learning_rate=0.1), AdamW(learning_rate=0.02, weight_decay=0.0)])
def test_a_linear_probe_finds_what_logistic_regression_does(optimiser):
    train, train_labels, test, test_labels = blobs()
    found = linear_probe(
        train,
        train_labels,
        test,
        test_labels,
        schedule=Milestones(),
        optimiser=optimiser.build,
        epochs=40,
        batch=64,
    )
    best = LogisticRegression(C=1e6).fit(train, train_labels).score(test, test_labels)
    assert 0.4 < best < 0.99
    assert found.top1 == pytest.approx(best, abs=0.03)
    assert found.top1 < found.top5 < 1


def test_a_linear_probe_descends_the_mean_cross_entropy_of_each_minibatch():
    """By automatic differentiation; the last minibatch of an epoch is smaller."""
    train, train_labels, *test = blobs(50)
    weights = []

    def optimiser(parameters):
        weights.extend(parameters)
        return torch.optim.SGD(parameters, 0.3, momentum=0.5)

    linear_probe(
        train,
        train_labels,
        *test,
        optimiser=optimiser,
        schedule=Milestones(at=()),
        epochs=3,
        batch=16,
        seed=4,
    )
    expected = torch.nn.Linear(5, 7)
    torch.nn.init.zeros_(expected.weight)
    torch.nn.init.zeros_(expected.bias)
    descent, order = torch.optim.SGD(expected.parameters(), 0.3, momentum=0.5), generator(4, "linear probe")
    for _ in range(3):
        for index in torch.randperm(50, generator=order).split(16):
            descent.zero_grad()
            cross_entropy(expected(train[index]), train_labels[index]).backward()
            descent.step()
    torch.testing.assert_close(weights[0][:, :-1], expected.weight)
    torch.testing.assert_close(weights[0][:, -1], expected.bias)


def test_a_linear_probe_is_the_same_again_whatever_others_draw():
    data = blobs(60)
    first = linear_probe(*data, optimiser=SGD().build, schedule=Milestones(), epochs=2)
    torch.rand(3)
    assert linear_probe(*data, optimiser=SGD().build, schedule=Milestones(), epochs=2) == first


def test_a_linear_probe_that_diverges_says_so():
    train, train_labels, *test = blobs(60)
    with pytest.raises(RepriseError, match="diverged at learning rate 1e\\+38"):
        linear_probe(
            1e20 * train,
            train_labels,
            *test,
            optimiser=SGD(learning_rate=1e38).build,
            schedule=Milestones(),
            epochs=3,
        )


def test_chosen_rows_are_learned_and_tested_as_if_they_were_alone():
    draw = torch.Generator().manual_seed(0)
    features, labels = torch.randn(90, 5, generator=draw), torch.randint(0, 4, (90,), generator=draw)
    order = torch.randperm(90, generator=draw)
    learned, tested = order[:60], order[60:]
    settings = {"optimiser": SGD().build, "schedule": Milestones(), "epochs": 3, "batch": 16}
    alone = linear_probe(features[learned], labels[learned], features[tested], labels[tested], **settings)
    assert (
        linear_probe(features, labels, features, labels, rows=learned, test_rows=tested, **settings) == alone
    )


def most_memory(function, trace):
    """The most bytes of tensors that a call holds at a time, beside those that were there."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        function()
    profiled.export_chrome_trace(str(trace))
    events = json.loads(trace.read_text())["traceEvents"]
    return max(event["args"]["Total Allocated"] for event in events if event["name"] == "[memory]")


def test_a_probe_takes_a_few_minibatches_and_the_order_beside_the_features(tmp_path):
    samples, features, batch = 20_000, 256, 256
    data = torch.randn(samples, features), torch.arange(samples) % 200
    found = most_memory(
        lambda: linear_probe(
            *data, *data, optimiser=SGD().build, schedule=Milestones(), epochs=2, batch=batch
        ),
        tmp_path / "trace",
    )
    assert found < 8 * (4 * batch * features) + 2 * (8 * samples) < 0.2 * data[0].nbytes


def test_reading_representations_takes_them_once(tmp_path):
    images = torch.randn(20_000, 256)
    found = most_memory(lambda: representations(torch.nn.Identity(), lambda x: x, images), tmp_path / "trace")
    assert images.nbytes <= found < 1.2 * images.nbytes


@pytest.mark.parametrize(("k", "classes"), [(1, 7), (5, 2), (9, 2)])
def test_nearest_neighbours_are_scikit_learns(k, classes):
    """With an odd number of neighbours of two classes there are no ties."""
    train, train_labels, test, test_labels = blobs(classes=classes, spread=3.0)
    found = nearest_neighbours(train, train_labels, test, test_labels, k=k)
    judge = KNeighborsClassifier(k, metric="cosine").fit(train, train_labels)
    assert found == pytest.approx(judge.score(test, test_labels), abs=1e-9)
    assert 1 / classes < found < 0.95


def test_of_tied_classes_the_one_with_the_nearest_neighbour_wins():
    angles = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5])
    train, labels = torch.stack([angles.cos(), angles.sin()], 1), torch.tensor([2, 0, 1, 1, 0])
    test = torch.tensor([[1.0, 0.0]])
    expected = {1: 2, 2: 2, 3: 2, 4: 1, 5: 0, 9: 0}  # two of 0 and two of 1 among five: 0 is nearer
    for k, label in expected.items():
        assert nearest_neighbours(train, labels, test, torch.tensor([label]), k=k) == 1


def test_accuracy():
    scores = torch.tensor([[3.0, 2, 1], [1, 2, 3], [1, 3, 2], [3, 1, 2]])
    labels = torch.tensor([0, 1, 2, 1])
    assert [accuracy(scores, labels, k) for k in (1, 2, 3, 5)] == [0.25, 0.75, 1, 1]


def test_representations_are_those_of_evaluation_and_the_encoder_stays_as_it_was():
    encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.BatchNorm1d(4))
    encoder[1].running_mean += 1
    images = torch.arange(2000).reshape(500, 1, 2, 2)
    found = representations(encoder, lambda x: x / 10, images)
    torch.testing.assert_close(found, images.flatten(1) / 10 - 1, rtol=1e-4, atol=1e-4)
    assert encoder.training
    assert encoder[1].num_batches_tracked == 0
    assert not found.requires_grad
