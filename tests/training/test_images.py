"""The loop: against one written out, and against itself, interrupted anywhere."""

import json

import pytest
import tiny
import torch
from torch.nn.functional import cross_entropy

from reprise import objectives
from reprise.datasets.augment import Views, normalised
from reprise.datasets.recipes import Normalisation
from reprise.errors import RepriseError
from reprise.networks.encoders import ResNet
from reprise.numerics.streams import generator
from reprise.storage import checkpoints
from reprise.training import images
from reprise.training.batches import batch_indices
from reprise.training.images import Data, assemble, train
from reprise.training.optimisers import SGD
from reprise.training.schedules import WarmupCosine


def lines(outcome):
    return [json.loads(line) for line in outcome.log.splitlines()]


def result(outcome):
    return checkpoints.pack(outcome.method.state_dict(), {}), outcome.log


def test_an_epoch_goes_through_all_in_an_order_of_its_own():
    epochs = [
        torch.cat([batch_indices(3, step, 8, 35) for step in range(4 * e, 4 * e + 4)]) for e in range(3)
    ]
    for order in epochs:
        assert len(set(order.tolist())) == 32
    assert not torch.equal(epochs[0], epochs[1])
    assert not torch.equal(batch_indices(4, 0, 8, 35), batch_indices(3, 0, 8, 35))
    assert torch.equal(batch_indices(3, 5, 8, 35), epochs[1][8:16])


def test_it_is_the_loop_written_out(tmp_path):
    """SGD without momentum on SimCLR's loss, and its online probe. Few steps, because last bits differ, and
    differences grow a thousandfold where a ReLU is on in one loop and off in the other."""
    spec = tiny.spec(
        optimiser=SGD(learning_rate=0.1, momentum=0.0),
        steps=4,
        schedule=WarmupCosine(warmup=0.5),
        normalisation=Normalisation((0.1,), (0.5,)),
    )
    data, views = tiny.data(), Views(spec.augmentation, spec.normalisation)
    outcome = train(spec, data, tmp_path)

    method = assemble(spec, 3)
    probe = torch.nn.Linear(32, 4)
    torch.nn.init.zeros_(probe.weight)
    torch.nn.init.zeros_(probe.bias)
    probing = torch.optim.SGD(probe.parameters(), 0.1, momentum=0.9)
    for step, said in enumerate(lines(outcome)):
        index = batch_indices(spec.seed, step, 16, 32)
        pair = views(data.images[index], generator(spec.seed, f"views/{step}"))
        (r1, z1), (r2, z2) = (method.student(view) for view in pair)
        loss = objectives.nt_xent(z1, z2)
        weights = list(method.parameters())
        rate = 0.1 * spec.schedule(step, 4)
        with torch.no_grad():
            for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                weight -= rate * gradient
        probing.zero_grad()
        both = torch.cat([r1, r2]).detach()
        cross_entropy(probe(both), data.labels[index].repeat(2)).backward()
        probing.step()
        assert said["loss"] == pytest.approx(loss.item(), rel=1e-5)
        assert said["learning_rate"] == rate
    for name, tensor in method.state_dict().items():
        torch.testing.assert_close(outcome.method.state_dict()[name], tensor, rtol=1e-4, atol=1e-5, msg=name)
    torch.testing.assert_close(outcome.probe.weight, probe.weight, rtol=1e-4, atol=1e-5)

    method.eval()
    with torch.no_grad():
        right = (
            probe(method.student.encoder(normalised(data.test_images, views.normalisation))).argmax(1)
            == data.test_labels
        )
    assert said["probe_top1"] == right.double().mean().item()


def test_the_online_probe_is_tested_on_plain_test_images_at_the_models_normalisation(tmp_path):
    """Given its own predictions there as labels, it is always right; on other images it isn't."""
    spec, data = tiny.spec(steps=20, normalisation=Normalisation((0.1,), (0.5,))), tiny.data()
    outcome = train(spec, data, tmp_path / "a")
    encoder = outcome.method.student.encoder.eval()

    def predicted(images, normalisation=spec.normalisation):
        with torch.no_grad():
            return outcome.probe(encoder(normalised(images, normalisation))).argmax(1)

    labels = predicted(data.test_images)
    for other in (predicted(data.images), data.labels, predicted(data.test_images, Normalisation())):
        assert not torch.equal(other, labels)
    again = train(spec, data._replace(test_labels=labels), tmp_path / "b")
    assert lines(again)[-1]["probe_top1"] == 1


def test_a_schedule_is_not_that_of_simsiams_predictor(tmp_path):
    """At a rate of zero, the first of a warm-up, the predictor alone moves."""
    spec = tiny.spec("simsiam", hyperparameters={"hidden": 8}, steps=1, schedule=WarmupCosine(warmup=1.0))
    found, start = train(spec, tiny.data(), tmp_path).method, assemble(spec, 3)
    moved = {
        name
        for (name, weight), before in zip(found.named_parameters(), start.parameters(), strict=True)
        if not torch.equal(weight, before)
    }
    assert moved == {name for name, _ in found.named_parameters() if name.startswith("predictor.")}


class Interrupted(Exception):
    pass


def interrupted_at(step, spec, data, folder):
    """A run that ends without warning after `step` steps, all of its checkpoints made."""

    def progress(done):
        if done >= step:
            raise Interrupted

    saved = checkpoints.save

    def save(folder, done, tensors, record):
        saved(folder, done, tensors, record)
        progress(done)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "save", save)
        with pytest.raises(Interrupted):
            train(spec, data, folder, save_every=0)


@pytest.mark.parametrize("objective", ["nt_xent", *tiny.STATEFUL])
def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path, objective, monkeypatch):
    monkeypatch.setattr(images, "BLOCK", 4)
    spec = tiny.spec(objective, hyperparameters=tiny.STATEFUL.get(objective, {}), steps=14)
    data = tiny.data()
    expected = result(train(spec, data, tmp_path / "whole"))
    interrupted_at(4, spec, data, tmp_path / "cut")
    interrupted_at(12, spec, data, tmp_path / "cut")
    steps_made = []
    found = train(spec, data, tmp_path / "cut", progress=steps_made.append)
    assert steps_made == [14]
    assert result(found) == expected


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_so_it_does_with_channels_last_in_memory(tmp_path, precision):
    """A net as wide as those that are so."""
    encoder = ResNet(blocks=(1, 1, 1, 1), width=16, stem="stride2")
    spec = tiny.spec(encoder=encoder, batch=8, precision=precision)
    method = assemble(spec, 3)
    assert images.narrowest(method) == images.CHANNELS_LAST == 16
    expected = result(train(spec, tiny.data(), tmp_path / "whole"))
    interrupted_at(20, spec, tiny.data(), tmp_path / "cut")
    assert result(train(spec, tiny.data(), tmp_path / "cut")) == expected


def test_a_damaged_resume_state_is_passed_over_and_the_end_is_the_same(tmp_path, capsys):
    spec, data = tiny.spec(), tiny.data()
    expected = result(train(spec, data, tmp_path / "whole"))
    interrupted_at(40, spec, data, tmp_path / "cut")
    newest = max(file for file in (tmp_path / "cut").iterdir())
    newest.write_bytes(newest.read_bytes()[:-1])
    steps_made = []
    assert result(train(spec, data, tmp_path / "cut", progress=steps_made.append)) == expected
    assert steps_made == [40, 45]
    assert f"{newest}: truncated or altered" in capsys.readouterr().err


def test_neither_the_callers_random_numbers_nor_its_own_depend_on_the_other(tmp_path):
    spec, data = tiny.spec(steps=3), tiny.data()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = result(train(spec, data, tmp_path / "a"))
    assert torch.equal(torch.rand(3), expected)
    assert result(train(spec, data, tmp_path / "b")) == first
    assert result(train(tiny.spec(steps=3, seed=1), data, tmp_path / "c")) != first


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_divergence_is_a_result(tmp_path, precision):
    encoder = ResNet(blocks=(1, 1, 1, 1), width=16, stem="stride2")
    spec = tiny.spec("vicreg", optimiser=SGD(learning_rate=50.0), encoder=encoder, precision=precision)
    outcome = train(spec, tiny.data(), tmp_path, save_every=0)
    assert 0 < outcome.diverged < 20
    assert [line["step"] for line in lines(outcome)] == list(range(outcome.diverged))
    assert checkpoints.load(tmp_path) is None


def test_a_loss_that_refuses_what_is_not_finite_has_diverged(tmp_path):
    spec = tiny.spec("w_mse", optimiser=SGD(learning_rate=1e30))
    assert train(spec, tiny.data(), tmp_path).diverged in (1, 2)


def test_a_training_whose_embeddings_no_longer_span_their_dimensions_has_diverged():
    """W-MSE cannot whiten the embeddings of a network without weights."""
    method = assemble(tiny.spec("w_mse"), channels=3)
    assert method(torch.rand(2, 16, 3, 8, 8), 0).loss.isfinite()
    for weight in method.parameters():
        weight.data.zero_()
    assert method(torch.rand(2, 16, 3, 8, 8), 0).loss.isnan()


def test_the_log_holds_a_trace_and_the_probe_when_asked_for(tmp_path):
    said = lines(train(tiny.spec(), tiny.data(), tmp_path))
    assert [line["step"] for line in said] == list(range(45))
    assert [line["step"] for line in said if "eigenvalues" in line] == [0, 10, 20, 30, 40]
    assert [line["step"] for line in said if "probe_top1" in line] == [19, 39, 44]
    first = said[0]
    assert len(first["eigenvalues"]) == 8
    assert sum(first["eigenvalues_of_correlation"]) == pytest.approx(8)
    assert -1 <= first["view_correlation"] <= 1
    assert said[-1]["probe_top1"] > 0.5
    assert said[-1]["probe_top5"] == 1


def test_without_steps_it_is_the_initialisation(tmp_path):
    outcome = train(tiny.spec(steps=0), tiny.data(), tmp_path)
    assert outcome.log == b""
    start = assemble(tiny.spec(), 3).state_dict()
    assert all(torch.equal(tensor, start[name]) for name, tensor in outcome.method.state_dict().items())


def test_the_probe_leaves_out_what_has_no_label(tmp_path):
    """One that sees no labels stays zero; with some hidden it is trained on the others."""
    data, spec = tiny.data(), tiny.spec(steps=4)
    hidden = train(spec, data._replace(labels=torch.full_like(data.labels, images.NONE)), tmp_path / "a")
    assert hidden.probe.weight.shape == (4, 32)
    assert not hidden.probe.weight.any()
    labels = data.labels.where(data.labels == 0, images.NONE)
    some = train(spec, data._replace(labels=labels), tmp_path / "b").probe
    assert some.bias[0] > 0
    assert (some.bias[1:] < 0).all()


def test_images_that_are_read_when_they_are_needed(tmp_path):
    class Lazy:
        def __init__(self, images):
            self.images = images

        def __len__(self):
            return len(self.images)

        def __getitem__(self, index):
            return self.images[index]

    data = tiny.data()
    lazy = Data(Lazy(data.images), data.labels, Lazy(data.test_images), data.test_labels)
    spec = tiny.spec(steps=3)
    assert result(train(spec, lazy, tmp_path / "a")) == result(train(spec, data, tmp_path / "b"))


def test_fewer_images_than_a_batch_are_refused(tmp_path):
    with pytest.raises(RepriseError, match="a batch of 64 from 32 images"):
        train(tiny.spec(batch=64), tiny.data(), tmp_path)
