"""The encoders against torchvision's own, and against shapes counted by hand."""

from functools import partial

import pytest
import torch
from torchvision import models

from reprise.networks.batch_norm import apart
from reprise.networks.encoders import RESNET10_W16, Conv4, ResNet
from reprise.training import precision as precision_of
from reprise.training.images import CHANNELS_LAST

RESNET50 = ResNet(block="bottleneck", blocks=(3, 4, 6, 3))


def images(size=32, channels=3):
    return torch.rand(2, channels, size, size, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("spec", "theirs"), [(ResNet(), models.resnet18), (RESNET50, models.resnet50)])
def test_with_an_imagenet_stem_it_is_torchvisions_without_the_classifier(spec, theirs):
    ours, reference = spec.build(3), theirs()
    reference.fc = torch.nn.Identity()
    ours.load_state_dict(reference.state_dict())
    torch.testing.assert_close(ours(images(64)), reference(images(64)))
    assert ours(images(64)).shape == (2, spec.dim)


@pytest.mark.parametrize(
    ("block", "theirs"), [("basic", models.resnet.BasicBlock), ("bottleneck", models.resnet.Bottleneck)]
)
@pytest.mark.parametrize("zero", [False, True])
def test_a_seed_draws_the_blocks_that_it_draws_with_torchvision(block, theirs, zero):
    """The stem apart, which is drawn last, for any number of channels."""
    drawn = []
    for build in (
        lambda: ResNet(block=block, blocks=(1, 2, 1, 2), zero_init_residual=zero).build(3),
        lambda: models.ResNet(theirs, [1, 2, 1, 2], zero_init_residual=zero),
    ):
        torch.manual_seed(0)
        drawn.append(build().state_dict())
    names = [name for name in drawn[1] if not name.startswith(("fc.", "conv1."))]
    assert [name for name in drawn[0] if name != "conv1.weight"] == names
    assert all(torch.equal(drawn[0][name], drawn[1][name]) for name in names)


@pytest.mark.parametrize(("stem", "size"), [("imagenet", 8), ("cifar", 32), ("stride2", 16)])
def test_stems(stem, size):
    net = ResNet(width=4, stem=stem).build(1)
    x = net.maxpool(net.relu(net.bn1(net.conv1(images(channels=1)))))
    assert x.shape == (2, 4, size, size)
    assert net(images(channels=1)).shape == (2, 32)


def test_a_narrow_net_has_the_channels_and_blocks_that_were_asked_for():
    net = ResNet(blocks=(1, 1, 1, 2), width=16, stem="stride2").build(3)
    stages = [net.layer1, net.layer2, net.layer3, net.layer4]
    assert [len(stage) for stage in stages] == [1, 1, 1, 2]
    assert [stage[-1].conv2.out_channels for stage in stages] == [16, 32, 64, 128]
    assert net.layer1[0].downsample is None
    assert net(images()).shape == (2, RESNET10_W16.dim) == (2, 128)


def test_wide_bottlenecks():
    net = ResNet(block="bottleneck", blocks=(1, 1, 1, 1), width=8).build(3)
    assert net(images()).shape == (2, 8 * 8 * 4)


def test_the_first_convolution_starts_like_the_others():
    torch.manual_seed(0)
    weight = ResNet(stem="cifar").build(3).conv1.weight.detach()
    assert weight.std() == pytest.approx((2 / (64 * 9)) ** 0.5, rel=0.05)


def test_a_residual_branch_can_start_as_zero():
    blocks = ResNet(width=4, stem="cifar", zero_init_residual=True).build(3).layer1
    x = torch.rand(2, 4, 8, 8)
    torch.testing.assert_close(blocks(x), x)
    assert not torch.allclose(ResNet(width=4, stem="cifar").build(3).layer1(x), x)


def test_the_last_block_can_do_without_a_shortcut():
    spec = ResNet(blocks=(1, 1, 1, 2), width=4, stem="cifar", zero_init_residual=True, last_shortcut="none")
    net = spec.build(3)
    before, last = net.layer4
    x = torch.rand(2, 32, 4, 4, generator=torch.Generator().manual_seed(0))
    branch = last.bn2(last.conv2(last.relu(last.bn1(last.conv1(x)))))
    torch.testing.assert_close(last(x), branch.relu())
    assert last(x).std() > 0.1  # it would be dead if it started as zero, as the other branches do
    assert not before.bn2.weight.any()
    with_one = spec.model_copy(update={"last_shortcut": "identity"}).build(3).layer4[-1]
    torch.testing.assert_close(with_one(x), x)


def test_or_with_a_projection_for_a_shortcut():
    spec = ResNet(blocks=(1, 1, 1, 2), width=4, stem="cifar", last_shortcut="projection")
    last = spec.build(3).layer4[-1].eval()
    with torch.no_grad():
        last.bn2.weight.zero_()
    x = torch.rand(2, 32, 4, 4, generator=torch.Generator().manual_seed(0))
    mixed = torch.einsum("oi,bihw->bohw", last.downsample[0].weight[:, :, 0, 0], x)
    torch.testing.assert_close(last(x), (mixed / (1 + 1e-5) ** 0.5).relu())


def test_a_single_blocks_shortcut_is_a_projection_already():
    plain, projection = (
        ResNet(blocks=(1, 1, 1, 1), width=4, last_shortcut=shortcut).build(3).state_dict().keys()
        for shortcut in ("identity", "projection")
    )
    assert plain == projection
    assert ResNet(blocks=(1, 1, 1, 1), width=4, last_shortcut="none").build(3)(images(64)).shape == (2, 32)


def test_conv4():
    spec = Conv4(widths=(8, 16, 16, 32))
    net = spec.build(3)
    assert net(images()).shape == (2, spec.dim) == (2, 32)
    assert sum(w.numel() for w in net.parameters() if w.ndim == 4) == 9 * (3 * 8 + 8 * 16 + 16 * 16 + 16 * 32)


def learned(recompute, spec, precision):
    """A network's outputs for two views, gradients and buffers, and the bytes that it keeps for the backward
    pass."""
    torch.manual_seed(0)
    net = spec.build(3)
    if spec.width >= CHANNELS_LAST:
        net.to(memory_format=torch.channels_last)
    arithmetic = partial(precision_of.arithmetic, precision=precision)
    for stage in (net.layer1, net.layer2, net.layer3, net.layer4):
        stage.recompute = arithmetic if recompute else None
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        arithmetic("cpu"),
        apart(2),
    ):
        outputs = net(torch.cat([images(32), images(32).flip(-1)])).chunk(2)
    (outputs[0].float() * outputs[1].float()).sum().backward()
    gradients = {name: weight.grad for name, weight in net.named_parameters()}
    return [*outputs, gradients, dict(net.named_buffers())], sum(kept.values())


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "spec",
    [
        ResNet(blocks=(1, 2, 1, 2), width=4, stem="cifar", last_shortcut="none"),
        ResNet(block="bottleneck", blocks=(2, 1, 1, 2), width=4, stem="cifar", last_shortcut="projection"),
        ResNet(blocks=(2, 1, 2, 2), width=16, stem="cifar"),
    ],
)
@pytest.mark.parametrize("multiplies", [True, False])
def test_blocks_that_are_computed_again_keep_less_and_change_no_bit(spec, precision, multiplies, monkeypatch):
    monkeypatch.setattr(precision_of, "multiplies_bfloat16", lambda: multiplies)
    plain, plain_bytes = learned(False, spec, precision)
    again, bytes_kept = learned(True, spec, precision)
    torch.testing.assert_close(again, plain, rtol=0, atol=0)
    assert plain[-1]["layer4.1.bn1.num_batches_tracked"] == 2  # one for each view
    assert bytes_kept < plain_bytes / 2
