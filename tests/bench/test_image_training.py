"""The bench of image training: both sides train the same network, and it reports what it says."""

import pytest
import torch

from reprise.bench import image_training as bench
from reprise.bench import loops, timing
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


def test_a_loop_is_a_net_and_an_augmentation_beside_its_anchors_and_the_floor(monkeypatch):
    taken = iter([[2.4, 1.2, 7.2], [3.6, 1.2]])
    monkeypatch.setattr(bench, "product_speed", lambda precision, device: 1e9)
    monkeypatch.setattr(bench, "in_turns", lambda works, *_, **__: [work() for work in works] and next(taken))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    small, blurred = bench.measure()
    assert (small.name, blurred.name) == ("images: narrow, simclr_cifar", "images: narrow, directclr")
    assert (small.seconds, blurred.seconds) == pytest.approx((0.1, 0.15))  # of 3 steps of 8 images
    assert small.anchors == pytest.approx({"network alone": 0.05, "lightly's example": 0.3})
    assert blurred.anchors == pytest.approx({"network alone": 0.05})
    # Two views take thrice the encoder's operations and those of a projector 128-256-128.
    assert small.floor == pytest.approx(6 * (RESNET10_W16.work(3, 32).flops + 2 * 2 * 128 * 256) / 1e9)


def test_lightlys_example_trains_on_as_many_views_of_as_many_images(monkeypatch):
    example = bench.LightlysExample(bench._spec(bench.NETS["narrow"], "simclr_cifar", "cpu"), bench._data())
    criterion, sizes = example.criterion, []
    monkeypatch.setattr(example, "criterion", lambda *z: sizes.append([len(x) for x in z]) or criterion(*z))
    before = [weight.clone() for weight in example.backbone.parameters()]
    example.steps()
    assert sizes == [[8, 8]] * 3
    assert all((a != b).any() for a, b in zip(before, example.backbone.parameters(), strict=True))


def test_a_row_is_a_loop_and_an_anchor_with_their_ratios():
    loop = loops.Loop("loop", "step", 2e-3, 1e-3, "operations", {"a": 4e-3, "b": 6e-3})
    table = loops.table([loop]).set_index("anchor")
    assert table["us"].tolist() == pytest.approx([2000, 2000])
    assert table["over_floor"].tolist() == pytest.approx([2, 2])
    assert table["anchor_over_loop"].tolist() == pytest.approx([2, 3])


@pytest.mark.parametrize(
    ("taken", "speed"), [([0.5, 1e9], 2 * 2 * 3 * 5 / 0.5), ([1e9, 0.5], 2 * 9 * 4 * 16 * 3 / 0.5)]
)
def test_the_speed_is_that_of_the_faster_and_counts_a_product_and_its_sum(monkeypatch, taken, speed):
    monkeypatch.setattr(loops, "PRODUCT", (2, 3, 5))
    monkeypatch.setattr(loops, "CONVOLUTION", (3, 2, 4))
    durations = iter(taken)  # of the product, then of the convolution
    monkeypatch.setattr(loops, "seconds", lambda work, device: (work(), next(durations))[1])
    assert loops.product_speed.__wrapped__("float32") == pytest.approx(speed)


def test_works_take_turns_after_one_that_warms_each_up(monkeypatch):
    made, now = [], iter(range(100))
    monkeypatch.setattr(timing.time, "process_time", lambda: next(now) ** 2)
    found = timing.in_turns([lambda: made.append("a"), lambda: made.append("b")], rounds=3)
    assert "".join(made) == "ab" + 3 * "ab"
    assert found == [9, 13]  # of 1, 9, 17 and of 5, 13, 21
