"""Costs of training a network: operations as PyTorch counts them, and limits."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from reprise.datasets.recipes import SHAPES
from reprise.networks.encoders import RESNET10_W16, Conv4, ResNet
from reprise.networks.projectors import MLP, Diagonal, Identity, Linear, LowRank
from reprise.training import costs
from reprise.training.image_settings import Probe, Source
from reprise.training.objective import Contrastive
from reprise.training.optimisers import SGD
from reprise.training.spec import Spec

ENCODERS = [
    (ResNet(), 3, 32),
    (ResNet(stem="cifar"), 3, 32),
    (ResNet(block="bottleneck", blocks=(3, 4, 6, 3)), 3, 224),
    (RESNET10_W16, 3, 33),
    (ResNet(blocks=(1, 1, 1, 2), width=16, last_shortcut="projection"), 1, 96),
    (ResNet(blocks=(1, 1, 1, 1), width=8, last_shortcut="none"), 1, 96),
    (Conv4(), 3, 37),
]
PROJECTORS = [
    MLP(dims=(12, 7, 3)), Linear(out=5), LowRank(rank=4), Identity()
]  # fmt: skip


def counted(network, inputs):
    """The operations of a forward pass, by PyTorch."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network.eval()(inputs)
    return counter.get_total_flops()


@pytest.mark.parametrize(("spec", "channels", "side"), ENCODERS)
def test_the_operations_of_an_encoder_are_those_that_pytorch_counts(spec, channels, side):
    network = spec.build(channels)
    work = spec.work(channels, side)
    assert work.flops == counted(network, torch.zeros(1, channels, side, side))
    assert work.weights == sum(weight.numel() for weight in network.parameters() if weight.ndim == 4)


@pytest.mark.parametrize("spec", PROJECTORS, ids=lambda spec: spec.kind)
def test_the_operations_of_a_projector_are_those_that_pytorch_counts(spec):
    assert spec.flops(9) == counted(spec.build(9), torch.zeros(1, 9))


def test_a_diagonal_projector_multiplies_each_number_once():
    assert Diagonal().flops(9) == 9


def spec(**changes):
    settings = {
        "objective": Contrastive(kind="nt_xent"), "augmentation": SHAPES, "encoder": RESNET10_W16,
        "projector": Identity(),
        "optimiser": SGD(learning_rate=0.1), "batch": 64, "steps": 1000,
    }  # fmt: skip
    return Spec(**(settings | changes))


SHAPES_SOURCE = Source(name="shapes", root="")
IMAGENET = Source(name="imagenet", root="")
NO_PROBES = {"probe": Probe(), "probes": 0}


def test_time_follows_steps_and_batch():
    short, long, wide = (
        costs.resources(each, SHAPES_SOURCE, **NO_PROBES)
        for each in (spec(steps=10**5), spec(steps=10**6), spec(steps=10**5, batch=640))
    )
    assert long.minutes == pytest.approx(10 * short.minutes, rel=0.01)
    assert wide.minutes == pytest.approx(10 * short.minutes, rel=0.01)


def test_a_batch_beyond_one_gpus_memory_takes_several():
    resnet50 = ResNet(block="bottleneck", blocks=(3, 4, 6, 3))
    small, large = (
        costs.resources(each, IMAGENET, **NO_PROBES, device="cuda")
        for each in (spec(encoder=resnet50, batch=batch, precision="bfloat16") for batch in (256, 4096))
    )
    assert (small.gpus, large.gpus) == (1, costs.GPUS)


def test_a_gpu_does_not_outrun_the_cores_that_decode_its_images():
    tiny = ResNet(blocks=(1, 1, 1, 1), width=4)
    needs = costs.resources(spec(encoder=tiny, steps=10**4), IMAGENET, **NO_PROBES, device="cuda")
    assert needs.minutes == pytest.approx(64 * 10**4 / (170 * 8) / 60)


def test_images_that_stay_on_disk_take_no_memory():
    """Only the images' features do: 512 numbers of 4 bytes, twice."""
    resnet18 = ResNet()
    needs = costs.resources(spec(encoder=resnet18), IMAGENET, **NO_PROBES, device="cuda")
    features = 2 * 4 * 512 * (1_281_167 + 50_000) / 1e6
    assert needs.memory_mb == pytest.approx(costs.PROCESS_MB + features, abs=100)


def test_a_network_before_training_takes_no_disk():
    assert costs.resources(spec(steps=0), SHAPES_SOURCE, **NO_PROBES).disk_mb == 0
    assert costs.resources(spec(), SHAPES_SOURCE, **NO_PROBES).disk_mb > 0
