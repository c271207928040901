"""Checkpoints as self-supervised learning code saves them, in miniature: `reprise diagnose` finds the weights
of the encoder, says where, and lists several.

Each class and each `torch.save` has the names of the code that it stands for.
"""

import argparse
import json
import os
from collections import OrderedDict

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from reprise.annex.diagnose.checkpoints import load
from reprise.errors import RepriseError


class Encoder(nn.Module):
    """Stands for a ResNet: its names, with a layer for each block."""

    def __init__(self, num_classes=None):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(nn.Conv2d(4, 4, 3))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4, num_classes) if num_classes else nn.Identity()

    def forward(self, images):
        return self.fc(self.avgpool(self.layer1(self.bn1(self.conv1(images)))).flatten(1))


def mlp(features, *dims):
    layers = [nn.Linear(features, dims[0]), nn.BatchNorm1d(dims[0]), nn.ReLU(), nn.Linear(dims[0], dims[-1])]
    return nn.Sequential(*layers)


def stepped(model, **settings):
    """An optimiser with momentum of all parameters."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    optimizer.param_groups[0].update(settings)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    return optimizer.state_dict()


def module(**children):
    """A module with these children or buffers."""
    made = nn.Module()
    for name, child in children.items():
        made.register_buffer(name, child) if isinstance(child, torch.Tensor) else made.add_module(name, child)
    return made


def exclude_bias_and_norm(parameter):
    """In the optimiser's groups of VICReg's and Barlow Twins' code, so that its name is in their files."""
    return parameter.ndim == 1


def bare(folder):
    """VICReg's and Barlow Twins' released backbones."""
    encoder = Encoder()
    torch.save(encoder.state_dict(), folder / "resnet50.pth")
    return "resnet50.pth", {"": encoder}


def with_classifier(folder):
    encoder = Encoder(10)
    torch.save(encoder.state_dict(), folder / "supervised.pt")
    return "supervised.pt", {"": encoder}


def data_parallel(folder):
    encoder = Encoder()
    torch.save(nn.DataParallel(encoder).state_dict(), folder / "parallel.pt")
    return "parallel.pt", {"module": encoder}


def compiled(folder):
    encoder = Encoder()
    torch.save(torch.compile(encoder).state_dict(), folder / "compiled.pt")
    return "compiled.pt", {"_orig_mod": encoder}


def compiled_in_parts(folder):
    """As long networks are compiled, one repeated block at a time."""
    encoder, parts = Encoder(), Encoder()
    parts.load_state_dict(encoder.state_dict())
    parts.layer1[0] = torch.compile(parts.layer1[0])
    torch.save({"model": parts.state_dict()}, folder / "parts.pt")
    return "parts.pt", {"model": encoder}


def moco(folder, old=False):
    encoders = {}
    for name in ("encoder_q", "encoder_k"):
        encoders[name] = Encoder(8)
        encoders[name].fc = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), encoders[name].fc)
    model = nn.DataParallel(module(**encoders, queue=torch.zeros(8, 16), queue_ptr=torch.zeros(1).long()))
    torch.save(
        {"epoch": 1, "arch": "resnet50", "state_dict": model.state_dict(), "optimizer": stepped(model)},
        folder / "checkpoint_0000.pth.tar",
        _use_new_zipfile_serialization=not old,
    )
    places = {f"state_dict.module.{name}": encoder for name, encoder in encoders.items()}
    return "checkpoint_0000.pth.tar", places


def moco_before_pytorch_1_6(folder):
    return moco(folder, old=True)


def dino(folder, old=False):
    student, teacher = (module(backbone=Encoder(), head=mlp(4, 8)) for _ in range(2))
    parallel = nn.DataParallel(student)
    torch.save(
        {
            "student": parallel.state_dict(),
            "teacher": teacher.state_dict(),
            "optimizer": stepped(parallel),
            "epoch": 1,
            "args": argparse.Namespace(arch="vit_small", lr=0.0005, local_crops_scale=(0.05, 0.4)),
            "dino_loss": {"center": torch.zeros(1, 8)},
        },
        folder / "checkpoint.pth",
        _use_new_zipfile_serialization=not old,
    )
    return "checkpoint.pth", {
        "student.module.backbone": student.backbone,
        "teacher.backbone": teacher.backbone,
    }


def dino_before_pytorch_1_6(folder):
    return dino(folder, old=True)


def vicreg(folder):
    model = nn.DataParallel(module(backbone=Encoder(), projector=mlp(4, 8)))
    optimizer = stepped(
        model, weight_decay_filter=exclude_bias_and_norm, lars_adaptation_filter=exclude_bias_and_norm
    )
    state = {"epoch": 5, "model": model.state_dict(), "optimizer": optimizer}
    torch.save(state, folder / "model.pth")
    return "model.pth", {"model.module.backbone": model.module.backbone}


def barlow_twins(folder):
    model = nn.DataParallel(
        module(backbone=Encoder(), projector=mlp(4, 8), bn=nn.BatchNorm1d(8, affine=False))
    )
    optimizer = stepped(model, weight_decay_filter=exclude_bias_and_norm)
    torch.save(
        {"epoch": 5, "model": model.state_dict(), "optimizer": optimizer}, folder / "checkpoint_barlow.pth"
    )
    return "checkpoint_barlow.pth", {"model.module.backbone": model.module.backbone}


def vissl(folder):
    trunk = module(_feature_blocks=Encoder())
    model = {"trunk": trunk.state_dict(), "heads": module(**{"0": mlp(4, 8)}).state_dict()}
    checkpoint = {
        "phase_idx": 99,
        "iteration": 5,
        "loss": 0.1,
        "classy_state_dict": {"train": True, "base_model": {"model": model}, "optimizer": {"optim": {}}},
        "type": "consolidated",
    }
    torch.save(checkpoint, folder / "model_final_checkpoint_phase99.torch")
    place = "classy_state_dict.base_model.model.trunk._feature_blocks"
    return "model_final_checkpoint_phase99.torch", {place: trunk._feature_blocks}


def timm(folder):
    encoders = [Encoder(10), Encoder(10)]
    names = ["state_dict", "state_dict_ema"]
    state = {
        "epoch": 3,
        "arch": "resnet18",
        "optimizer": stepped(encoders[0]),
        "version": 2,
        "args": argparse.Namespace(model="resnet18", opt="sgd"),
        **{name: encoder.state_dict() for name, encoder in zip(names, encoders, strict=True)},
        "metric": np.float64(71.2),
    }
    torch.save(state, folder / "model_best.pth.tar")
    return "model_best.pth.tar", dict(zip(names, encoders, strict=True))


def open_clip(folder):
    model = module(visual=Encoder(), transformer=mlp(4, 8))
    model.logit_scale = nn.Parameter(torch.ones([]))
    parallel = nn.DataParallel(model)
    state = {"epoch": 2, "name": "run", "state_dict": parallel.state_dict(), "optimizer": stepped(parallel)}
    torch.save(state, folder / "epoch_2.pt")
    return "epoch_2.pt", {"state_dict.module.visual": model.visual}


def lightning(folder, name, model):
    """A checkpoint by Lightning itself."""
    pl = pytest.importorskip("pytorch_lightning")

    class Method(pl.LightningModule):
        def __init__(self, batch_size_per_device, num_classes):
            super().__init__()
            self.save_hyperparameters()
            for key, child in model.named_children():
                self.add_module(key, child)

    method = Method(batch_size_per_device=256, num_classes=10)
    trainer = pl.Trainer(
        accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.strategy.connect(method)
    trainer.save_checkpoint(folder / name)
    return name


def lightly_simclr(folder):
    model = module(backbone=Encoder(), projection_head=mlp(4, 8), online_classifier=nn.Linear(4, 10))
    name = lightning(folder, "epoch=99-step=500400.ckpt", model)
    return name, {"state_dict.backbone": model.backbone}


def lightly_mocov2(folder):
    """Its `backbone` is the momentum encoder."""
    model = module(backbone=Encoder(), projection_head=mlp(4, 8), query_backbone=Encoder())
    name = lightning(folder, "last.ckpt", model)
    return name, {"state_dict.backbone": model.backbone, "state_dict.query_backbone": model.query_backbone}


def lightly_example(folder):
    """`nn.Sequential(*list(resnet.children())[:-1])`, as lightly's examples build encoders."""
    encoder = Encoder(10)
    model = module(backbone=nn.Sequential(*list(encoder.children())[:-1]), projection_head=mlp(4, 8))
    return lightning(folder, "example.ckpt", model), {"state_dict.backbone": encoder}


def solo_learn(folder):
    model = module(
        backbone=Encoder(),
        classifier=nn.Linear(4, 10),
        projector=mlp(4, 8),
        momentum_backbone=Encoder(),
        momentum_projector=mlp(4, 8),
    )
    name = lightning(folder, "byol-imagenet-ep=99.ckpt", model)
    places = ("backbone", "momentum_backbone")
    return name, {f"state_dict.{place}": getattr(model, place) for place in places}


def stable_pretraining(folder):
    """The probes of callbacks are modules as well."""
    model = module(
        callbacks_modules=module(linear_probe=nn.Linear(4, 10)), backbone=Encoder(), projector=mlp(4, 8)
    )
    return lightning(folder, "spt.ckpt", model), {"state_dict.backbone": model.backbone}


def stable_pretraining_byol(folder):
    pair = module(student=Encoder(), base_ema_coefficient=torch.tensor(0.99), teacher=Encoder())
    name = lightning(folder, "spt_byol.ckpt", module(backbone=pair, predictor=mlp(8, 8)))
    return name, {f"state_dict.backbone.{place}": getattr(pair, place) for place in ("student", "teacher")}


def hugging_face(folder):
    model = module(resnet=Encoder(), classifier=nn.Linear(4, 10))
    hub = folder / "model"
    hub.mkdir()
    (hub / "config.json").write_text(json.dumps({"model_type": "resnet"}))
    save_file(model.state_dict(), hub / "model.safetensors", metadata={"format": "pt"})
    return "model", {"resnet": model.resnet}


def hugging_face_in_shards(folder):
    model = module(resnet=Encoder(), classifier=nn.Linear(4, 10))
    hub = folder / "shards"
    hub.mkdir()
    tensors = list(model.state_dict().items())
    shards = {
        "model-00001-of-00002.safetensors": tensors[:4],
        "model-00002-of-00002.safetensors": tensors[4:],
    }
    for name, part in shards.items():
        save_file(dict(part), hub / name, metadata={"format": "pt"})
    weight_map = {key: name for name, part in shards.items() for key, _ in part}
    (hub / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map})
    )
    return "shards", {"resnet": model.resnet}


def list_of_shards(folder):
    name, places = hugging_face_in_shards(folder)
    return f"{name}/model.safetensors.index.json", places


def by_arrays(folder):
    """NumPy's arrays in place of tensors, as conversions from other libraries save them."""
    encoder = Encoder()
    arrays = OrderedDict((f"encoder.{name}", value.numpy()) for name, value in encoder.state_dict().items())
    torch.save(arrays, folder / "arrays.pth")
    return "arrays.pth", {"encoder": encoder}


ONE = [
    (bare, [": 8 tensors; left out: nothing."]),
    (with_classifier, ["left out: fc (2)"]),
    (data_parallel, [", prefix 'module.'"]),
    (compiled, ["tensors; left out: nothing"]),
    (compiled_in_parts, ["entry 'model'; left out: nothing"]),
    (vicreg, ["entry 'model', prefix 'module.backbone.'", "model.module.projector (", "optimizer ("]),
    (vicreg, ["not loaded:", "exclude_bias_and_norm"]),
    (barlow_twins, ["prefix 'module.backbone.'", "model.module.bn (3)"]),
    (vissl, ["entry 'classy_state_dict.base_model.model.trunk', prefix '_feature_blocks.'", ".heads ("]),
    (open_clip, ["prefix 'module.visual.'", "state_dict.module.logit_scale (1)"]),
    (lightly_simclr, ["entry 'state_dict', prefix 'backbone.'", "state_dict.projection_head ("]),
    (lightly_example, ["prefix 'backbone.'", "numbered as in nn.Sequential(*model.children())"]),
    (stable_pretraining, ["prefix 'backbone.'", "state_dict.callbacks_modules (2)"]),
    (hugging_face, ["Weights from model:", "prefix 'resnet.'", "classifier (2)"]),
    (hugging_face_in_shards, ["prefix 'resnet.'", "classifier (2)"]),
    (list_of_shards, ["prefix 'resnet.'", "classifier (2)"]),
    (by_arrays, ["prefix 'encoder.'"]),
]
SEVERAL = [
    moco,
    moco_before_pytorch_1_6,
    dino,
    dino_before_pytorch_1_6,
    timm,
    lightly_mocov2,
    solo_learn,
    stable_pretraining_byol,
]


def same(net, other):
    theirs = other.state_dict()
    return all(torch.equal(value, theirs[key]) for key, value in net.state_dict().items())


@pytest.mark.parametrize(("write", "parts"), ONE, ids=lambda value: getattr(value, "__name__", ""))
def test_the_one_place_that_fits_is_taken_and_named(tmp_path, write, parts):
    name, places = write(tmp_path)
    net = Encoder()
    (encoder,) = places.values()
    assert not same(net, encoder)
    note = load(net, str(tmp_path / name))
    assert same(net, encoder)
    for part in parts:
        assert part in note


@pytest.mark.parametrize("write", SEVERAL, ids=lambda value: value.__name__)
def test_several_places_are_listed_and_one_is_named(tmp_path, write):
    name, places = write(tmp_path)
    file, net = str(tmp_path / name), Encoder()
    with pytest.raises(RepriseError, match="2 weights in it fit the model; name one: --weights") as raised:
        load(net, file)
    for place, encoder in places.items():
        assert f"{file}:{place}" in str(raised.value)
        load(net, f"{file}:{place}")
        assert same(net, encoder)
    with pytest.raises(RepriseError, match="no weights of the model under 'nothing'; these fit"):
        load(net, f"{file}:nothing")


def test_a_part_of_a_prefix_is_enough_where_one_has_it(tmp_path):
    name, places = dino(tmp_path)
    net = Encoder()
    load(net, f"{tmp_path / name}:teacher")
    assert same(net, places["teacher.backbone"])
    with pytest.raises(RepriseError, match="2 weights in it fit"):
        load(net, f"{tmp_path / name}:backbone")


def test_the_prefix_of_a_wrapper_is_its_own(tmp_path):
    """A user's module that returns the representation has the encoder under a name of its own."""
    name, places = vicreg(tmp_path)
    net = module(net=torch.compile(Encoder()))
    load(net, str(tmp_path / name))
    assert same(net.net._orig_mod, *places.values())
    in_parts, (encoder,) = Encoder(), places.values()
    in_parts.layer1[0] = torch.compile(in_parts.layer1[0])
    load(in_parts, str(tmp_path / name))
    assert torch.equal(in_parts.layer1[0].weight, encoder.layer1[0].weight)


def test_a_network_of_transformers_is_read_with_its_renamed_tensors(tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=8
    )
    config.patch_size = 4
    trained = transformers.ViTForImageClassification(config)
    trained.save_pretrained(tmp_path)
    for named in (tmp_path, tmp_path / "model.safetensors"):
        net = module(body=transformers.ViTModel(config, add_pooling_layer=False))
        note = load(net, str(named))
        assert same(net.body, trained.vit)
        assert "read by transformers" in note
    assert "left out: classifier.bias, classifier.weight" in note
    with pytest.raises(RepriseError, match=r"it lacks pooler\.dense\.bias, pooler\.dense\.weight"):
        load(transformers.ViTModel(config), str(tmp_path))
    config.hidden_size = 32
    with pytest.raises(RepriseError, match="does not fit the model"):
        load(transformers.ViTModel(config, add_pooling_layer=False), str(tmp_path))


def test_batches_need_not_be_counted(tmp_path):
    encoder, net = Encoder(), Encoder()
    tensors = {key: value for key, value in encoder.state_dict().items() if "num_batches" not in key}
    torch.save(tensors, tmp_path / "old.pth")
    load(net, str(tmp_path / "old.pth"))
    assert torch.equal(net.conv1.weight, encoder.conv1.weight)


def test_a_dict_that_holds_itself_is_read_once(tmp_path):
    encoder, net = Encoder(), Encoder()
    content = {"model": encoder.state_dict()}
    content["itself"] = content
    torch.save(content, tmp_path / "loop.pt")
    load(net, str(tmp_path / "loop.pt"))
    assert same(net, encoder)


def test_half_precision_is_read(tmp_path):
    encoder, net = Encoder(), Encoder()
    save_file({key: value.bfloat16() for key, value in encoder.state_dict().items()}, tmp_path / "half.bin")
    load(net, str(tmp_path / "half.bin"))
    assert net.conv1.weight.dtype == torch.float32
    torch.testing.assert_close(net.conv1.weight, encoder.conv1.weight, rtol=0.01, atol=0)


def deeper(folder):
    encoder = Encoder()
    encoder.layer1.append(nn.Conv2d(4, 4, 3))
    return encoder.state_dict()


def wider(folder):
    encoder = Encoder()
    encoder.conv1 = nn.Conv2d(3, 4, 5, bias=False)
    return {"state_dict": encoder.state_dict()}


def smaller(folder):
    return {f"module.{key}": value for key, value in Encoder().state_dict().items() if "bn1" not in key}


MISFITS = [
    (deeper, ["it has layer1.1 as well, inside modules that the model has", "larger network"]),
    (wider, ["state_dict.conv1.weight has shape [4, 3, 5, 5]; the model's has [4, 3, 3, 3]"]),
    (smaller, ["it lacks bn1.weight, bn1.bias, bn1.running_mean", "under 'module'", "nn.Identity()"]),
    (lambda folder: {"a": {"b": torch.ones(3)}}, ["it has none of conv1.weight,", "it holds a.b;"]),
    (lambda folder: {"epoch": 3}, ["holds no weights", "torch.save(model.state_dict(), FILE)"]),
    (lambda folder: [1, 2], ["holds no weights"]),
]


@pytest.mark.parametrize(("make", "parts"), MISFITS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_does_not_fit_is_said(tmp_path, make, parts):
    torch.save(make(tmp_path), tmp_path / "weights.pt")
    net = Encoder()
    before = {key: value.clone() for key, value in net.state_dict().items()}
    with pytest.raises(RepriseError) as raised:
        load(net, str(tmp_path / "weights.pt"))
    for part in parts:
        assert part in str(raised.value)
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())


class Settings:
    def __init__(self):
        self.lr = 0.1


class Touching:
    """Creates a file where it is unpickled."""

    def __init__(self, call, *arguments):
        self.made = call, arguments

    def __reduce__(self):
        return self.made


def test_objects_of_other_classes_are_never_made(tmp_path):
    encoder, net = Encoder(), Encoder()
    touched = tmp_path / "touched"
    settings = Settings()
    torch.save(
        {"model": encoder.state_dict(), "settings": settings, "trap": Touching(open, str(touched), "w")},
        tmp_path / "checkpoint.pth",
    )
    note = load(net, str(tmp_path / "checkpoint.pth"))
    assert same(net, encoder)
    assert "Settings" in note
    assert not touched.exists()


def extracted(message, folder):
    """Runs the command that a message ends with, in a folder."""
    code = message[message.index('python -c "') + 11 : message.rindex('"')]
    here = os.getcwd()
    os.chdir(folder)
    try:
        exec(code, {})
    finally:
        os.chdir(here)


def pickled(encoder, file):
    torch.save({"model": encoder}, file)


def traced(encoder, file):
    torch.jit.trace(encoder, torch.zeros(1, 3, 8, 8)).save(file)


@pytest.mark.parametrize(
    ("save", "refusal"),
    [(pickled, "holds an object of .*Encoder at model"), (traced, "is a TorchScript program")],
)
def test_the_command_in_a_refusal_extracts_the_weights(tmp_path, save, refusal):
    encoder, net = Encoder().eval(), Encoder()
    save(encoder, tmp_path / "net.pt")
    with pytest.raises(RepriseError, match=rf"net.pt: {refusal}; ") as raised:
        load(net, str(tmp_path / "net.pt"))
    extracted(str(raised.value), tmp_path)
    load(net, str(tmp_path / "weights.pt"))
    assert same(net, encoder)


def test_a_file_that_would_run_a_command_is_refused_by_name(tmp_path):
    touched = tmp_path / "touched"
    torch.save({"state_dict": {}, "trap": Touching(os.system, f"touch {touched}")}, tmp_path / "trap.pth")
    with pytest.raises(RepriseError, match=r"needs (posix|nt)\.system to be unpickled") as raised:
        load(Encoder(), str(tmp_path / "trap.pth"))
    assert "\x1b" not in str(raised.value)
    assert not touched.exists()


def test_a_folder_without_one_file_of_weights_is_refused(tmp_path):
    with pytest.raises(RepriseError, match="a folder with 0 files of weights; name one"):
        load(Encoder(), str(tmp_path))
    for name in "ab":
        torch.save(Encoder().state_dict(), tmp_path / f"{name}.pth")
    with pytest.raises(RepriseError, match=r"a folder with 2 files of weights: a\.pth, b\.pth; name one"):
        load(Encoder(), str(tmp_path))
    (tmp_path / ".metadata").write_bytes(b"x")
    with pytest.raises(RepriseError, match="dcp_to_torch"):
        load(Encoder(), str(tmp_path))
