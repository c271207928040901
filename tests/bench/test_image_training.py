"""The bench of image training: both sides train the same network, and it reports what it says."""

import pytest
import torch

from reprise.bench import image_training as bench
from reprise.bench import timing
from reprise.networks.encoders import RESNET10_W16
from reprise.objectives import nt_xent
from reprise.training import images
from reprise.training.images import assemble


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """The bench measures on one thread."""
    monkeypatch.setattr(bench, "NETS", {"narrow": RESNET10_W16})  # as narrow as channels last allow
    monkeypatch.setattr(bench, "ON_A_GPU", {})
    monkeypatch.setattr(bench, "CASES", (("narrow", "simclr_cifar"), ("narrow", "directclr")))
    monkeypatch.setattr(bench, "BATCH", 8)
    monkeypatch.setattr(bench, "IMAGES", 16)
    monkeypatch.setattr(bench, "STEPS", 3)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_the_bare_network_makes_simclrs_steps():
    """Its weights after one are those of automatic differentiation and SGD with momentum, written out."""
    spec, data = bench._spec(bench.NETS["narrow"], "simclr_cifar", "cpu"), bench._data()
    bare, method = bench.BareNetwork(spec, data, "cpu"), assemble(spec, 3)
    loss = nt_xent(*(method.student(view)[1] for view in bare.views))
    weights = list(method.parameters())
    gradients = torch.autograd.grad(loss, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "STEPS", 1)
        bare.steps()
    for ours, weight, gradient in zip(bare.method.parameters(), weights, gradients, strict=True):
        torch.testing.assert_close(
            ours, weight - spec.optimiser.learning_rate * gradient, rtol=1e-4, atol=1e-6
        )


def test_the_whole_step_is_that_of_an_experiment(monkeypatch):
    """As many steps of as many images, with a trace."""
    said = []
    monkeypatch.setattr(images._Run, "write", lambda self, records: said.extend(records))
    spec = bench._spec(bench.NETS["narrow"], "directclr", "cpu")
    bench.train_steps(spec, bench._data(), "cpu")
    assert [record["step"] for record in said] == [0, 1, 2]
    assert "eigenvalues" in said[0]
    assert spec.batch == 8


def test_a_row_is_a_net_and_an_augmentation_with_both_speeds(monkeypatch):
    taken = iter([[2.0, 1.5], [3.0, 1.5]])
    monkeypatch.setattr(bench, "in_turns", lambda works, *_, **__: [work() for work in works] and next(taken))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = bench.measure()
    assert found["augmentation"].tolist() == ["simclr_cifar", "directclr"]
    assert found["device"].tolist() == ["cpu", "cpu"]
    assert found["images_per_s"].tolist() == pytest.approx([12, 8])
    assert found["bare_images_per_s"].tolist() == pytest.approx([16, 16])
    assert found["whole_over_bare"].tolist() == pytest.approx([4 / 3, 2])
    assert found["share_outside"].tolist() == pytest.approx([1 / 4, 1 / 2])


def test_works_take_turns_after_one_that_warms_each_up(monkeypatch):
    made, now = [], iter(range(100))
    monkeypatch.setattr(timing.time, "process_time", lambda: next(now) ** 2)
    found = timing.in_turns([lambda: made.append("a"), lambda: made.append("b")], rounds=3)
    assert "".join(made) == "ab" + 3 * "ab"
    assert found == [9, 13]  # of 1, 9, 17 and of 5, 13, 21
