"""The wiring of the comparison's networks: the objective, setting and rate of their row, toy networks against
plain loops, and test samples that no network has seen."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import torch
from reading import where

from reprise import objectives
from reprise.annex.diagnose.trained import LAYERS, of_embeddings, probe_of_images
from reprise.annex.ours.objectives_by_diagnostics import compute as computing
from reprise.annex.ours.objectives_by_diagnostics import toy
from reprise.annex.ours.objectives_by_diagnostics.experiment import Params, ToyRun, tasks, toy_runs
from reprise.annex.ours.objectives_by_diagnostics.images import rendered, views_of
from reprise.annex.ours.objectives_by_diagnostics.lineup import (
    FIRST,
    METHODS,
    OTHER,
    TOYS,
    UNTRAINED,
    method,
)
from reprise.contract.experiment import Context
from reprise.numerics import streams
from reprise.numerics.streams import Streams
from reprise.training.images import Data
from reprise.training.methods import Student
from reprise.training.pilots import PILOT_SEED

SMALL = Params(toy_dim=8, toy_batch=20, toy_steps=6, toy_samples=80, seeds=2)
SEED = 1


# Images.


@pytest.mark.parametrize("name", ["textures", "shapes"])
def test_no_test_image_is_a_training_image(name):
    data = rendered(name, 16, 300, 200)
    assert (len(data.images), len(data.test_images)) == (300, 200)
    seen = {image.numpy().tobytes() for image in data.images}
    assert not seen & {image.numpy().tobytes() for image in data.test_images}
    first, second = views_of(name, 16, 300, 200)
    assert first.shape == second.shape == (200, 3, 16, 16)
    assert ((first - second).abs().mean((1, 2, 3)) > 1e-3).all()


def test_a_probe_of_images_learns_from_training_images_and_labels():
    """Each image is right once over the ways to turn the test labels."""
    classes, draw = torch.arange(90) % 3, torch.Generator().manual_seed(0)
    images = 40 + 2 * torch.randint(0, 100, (180, 1, 4, 4), generator=draw)
    images[torch.arange(180), :, classes.repeat(2)] += 100
    train, test = images.clamp(max=255).to(torch.uint8).split(90)
    student = Student(torch.nn.Flatten(), torch.nn.Identity(), features=16, dim=16)
    normalisation = computing.DATA_SETS["textures"].normalisation
    found = [
        probe_of_images(student, Data(train, classes, test, (classes + shift) % 3), normalisation)
        for shift in range(3)
    ]
    assert sum(found) == pytest.approx(1)
    assert 0.4 < found[0] < 1


@dataclass
class Piloted:
    """Pilots whose best rate depends on the objective and its setting, and what is trained after them."""

    rates: tuple
    trained: list = field(default_factory=list)

    def best(self, name, place):
        return self.rates[(sorted(METHODS).index(name) + (place == OTHER)) % len(self.rates)]

    def cached(self, task, make):
        _, kind, *rest = task.split("/")
        if kind != "pilot":
            return make(lambda share: None)
        name, place, rate = rest
        return pd.DataFrame({"value": [0.9 if float(rate) == self.best(name, place) else 0.1]})


def test_a_network_has_the_rate_of_its_own_pilots_and_the_steps_of_its_kind(monkeypatch, tmp_path):
    params = Params(methods=("simclr", "vicreg", "byol"), images=80, test_images=80, seeds=2)
    piloted = Piloted(params.learning_rates)

    def student(params, context, run, rate, steps, progress):
        piloted.trained.append((run, rate, steps))
        return None, rendered(run.images, params.size, params.images, params.test_images)

    monkeypatch.setattr(computing, "_student", student)
    context = Context(root=tmp_path, cached=piloted.cached)
    for task in tasks(params):
        if not isinstance(task, ToyRun):
            computing.perform(params, task, context, lambda share: None)
    seen = set()
    for run, rate, steps in piloted.trained:
        if run.seed == PILOT_SEED:
            assert (run.images, steps) == (params.data_sets[0], params.pilot_steps)
            seen.add((run.method, run.place, rate))
        else:
            assert run.seed < params.seeds
            assert steps == params.steps
            expected = (
                params.learning_rates[0] if run.method == UNTRAINED else piloted.best(run.method, run.place)
            )
            assert rate == expected, run
    assert len(seen) == 5 * len(params.learning_rates)
    assert len(piloted.trained) == len(seen) + (5 + 1) * 2 * 2


# Toy networks.


@pytest.mark.parametrize(
    "run", toy_runs(Params(toys=("linear",))), ids=lambda run: f"{run.method}, {run.place}"
)
def test_a_toy_descends_on_the_objective_of_its_row_in_its_setting(run):
    if run.method == UNTRAINED:
        return
    z1, z2 = torch.randn(2, 40, 8, generator=torch.Generator().manual_seed(0)).double()
    found = computing._loss(run)(z1, z2)

    def known(place):
        if run.method in TOYS:
            return getattr(toy, run.method.removeprefix("esser-").replace("-", "_"))(z1, z2)
        objective = method(run.method).at(place).model_dump()
        return getattr(objectives, objective.pop("kind"))(z1, z2, **objective)

    torch.testing.assert_close(found, known(run.place))
    if method(run.method).other:
        assert not torch.isclose(found, known(OTHER if run.place == FIRST else FIRST), rtol=1e-3)


def pairs(stream, count):
    """Two views of samples of the toy data, each with noise of its own, and their classes."""
    labels, normal = stream.integers(2, count)[0], stream.normal(3, count, 8)[0].double()
    content = torch.tensor([0.5, 0.5, 1, 1, 1, 1, 0, 0])
    noise = torch.tensor([0.3, 0.3, 0.3, 0.3, 1.5, 1.5, 1, 1])
    means = torch.zeros(count, 8).double()
    means[torch.arange(count), labels] = 2
    return [means + content * normal[0] + noise * normal[at] for at in (1, 2)], labels


def embed(kind, weights, x):
    hidden = x @ weights[0].T
    hidden = hidden.clamp(min=0) if kind == "relu" else hidden
    return hidden, hidden @ weights[1].T


def polar(w):
    return torch.from_numpy(scipy.linalg.polar(w.detach().numpy())[0])


@pytest.mark.parametrize("orthonormal", [False, True])
@pytest.mark.parametrize("kind", ["linear", "relu"])
def test_a_toy_is_a_plain_loop(kind, orthonormal):
    """Fresh pairs at each step; layers at their start and after each step on their constraint, if any."""
    loss = objectives.infonce_distance
    found = toy.descended(SMALL, kind, loss, [0, SEED], 0.2, SMALL.toy_steps, orthonormal)
    start, batches = Streams([SEED], f"{kind} toy: weights"), Streams([SEED], "toy: batches")
    w = [(2 * start.uniform(rows, 8)[0].double() - 1) / 8**0.5 for rows in (8, 4)]
    w = [polar(each) for each in w] if orthonormal else w
    first = w
    for _ in range(SMALL.toy_steps):
        leaves = [each.detach().requires_grad_() for each in w]
        views, _ = pairs(batches, SMALL.toy_batch)
        value = loss(*(embed(kind, leaves, x)[1] for x in views))
        w = [a - 0.2 * g for a, g in zip(leaves, torch.autograd.grad(value, leaves), strict=True)]
        w = [polar(each) if orthonormal else each.detach() for each in w]
    for ours, expected, before in zip(found, w, first, strict=True):
        torch.testing.assert_close(ours[1].double(), expected, rtol=1e-4, atol=1e-5)
        assert (expected - before).norm() > 0.05
    measured = pd.DataFrame(toy.measured(SMALL, kind, found))
    views, labels = pairs(Streams([SEED], "toy: test"), SMALL.toy_samples)
    for at, layer in enumerate(LAYERS):
        outputs = [embed(kind, w, x)[at].float().numpy() for x in views]
        expected = pd.DataFrame(of_embeddings(outputs, labels.numpy())).set_index("diagnostic")
        rows = where(measured, layer=layer, seed=SEED).set_index("diagnostic")
        assert list(rows.index) == list(expected.index)
        for column in ("value", "share"):
            pair = rows[column].to_numpy(dtype=float), expected[column].to_numpy(dtype=float)
            np.testing.assert_allclose(*pair, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize(
    ("stream", "moves", "is_measured"), [("toy: batches", True, False), ("toy: test", False, True)]
)
def test_samples_of_training_and_of_the_test_are_two_streams(stream, moves, is_measured, monkeypatch):
    def results(fixed=None):
        weights = toy.descended(SMALL, "linear", objectives.vicreg, [0, 1], 0.05, 3, False)
        return weights, pd.DataFrame(toy.measured(SMALL, "linear", fixed or weights))

    weights, rows = results()
    key = streams._key
    monkeypatch.setattr(
        streams, "_key", lambda seed, name: key(seed, f"{name}, other" if name == stream else name)
    )
    other_weights, other_rows = results(weights)
    assert all(torch.equal(*both) for both in zip(weights, other_weights, strict=True)) != moves
    assert rows.equals(other_rows) != is_measured


def test_seeds_of_the_toys_follow_the_first():
    """The pilots' seeds stay."""
    run, later = ToyRun("relu", "vicreg", FIRST), SMALL.model_copy(update={"first_seed": 1})
    rows, moved = computing._toy(SMALL, run), computing._toy(later, run)
    assert set(rows["seed"].dropna()) == {0, 1}
    assert set(moved["seed"].dropna()) == {1, 2}
    for query in ("seed == 1", "what == 'pilot'"):
        both = [table.query(query).reset_index(drop=True) for table in (rows, moved)]
        pd.testing.assert_frame_equal(*both, rtol=1e-4)
    first, third = (rows.query("seed == 0")["value"], moved.query("seed == 2")["value"])
    assert np.isclose(first, third).mean() < 0.1  # a diagnostic may be 0 for each


def test_a_toys_row_has_the_rate_that_its_pilots_choose(monkeypatch):
    """The loss, the layers and the number of steps are the row's own, too."""
    seen = []

    def descended(params, kind, loss, seeds, rate, steps, orthonormal):
        seen.append((kind, list(seeds), rate, steps, orthonormal))

    monkeypatch.setattr(toy, "descended", descended)
    best = {"linear": SMALL.toy_rates[1], "relu": SMALL.toy_rates[2]}
    monkeypatch.setattr(toy, "pilot", lambda params, kind, loss, rate, orthonormal: float(rate == best[kind]))
    for kind in best:
        for name, orthonormal in (("vicreg", False), ("esser-contrastive", True), (UNTRAINED, False)):
            seen.clear()
            table = computing._toy(SMALL, ToyRun(kind, name, FIRST))
            untrained = name == UNTRAINED
            rate, steps = (SMALL.toy_rates[0], 0) if untrained else (best[kind], SMALL.toy_steps)
            assert seen == [(kind, [0, 1], rate, steps, orthonormal)]
            assert set(table.query("what == 'diagnostic'")["learning_rate"]) == {rate}
            assert len(table.query("what == 'pilot'")) == (0 if untrained else len(SMALL.toy_rates))
