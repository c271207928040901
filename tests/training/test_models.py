"""The cache of trained models: its key has all that determines a model and nothing else; nothing is trained
twice."""

import json
import multiprocessing
import os
import shutil
from dataclasses import replace
from importlib import metadata

import pytest
import tiny
import torch
from PIL import Image

from reprise import objectives
from reprise.contract import losses
from reprise.contract.settings import overridden
from reprise.datasets.folders import Folder
from reprise.datasets.recipes import Normalisation
from reprise.engine import seconds
from reprise.errors import RepriseError
from reprise.networks.encoders import Conv4
from reprise.storage import closure, store, versions
from reprise.storage.store import CACHE, MODELS, Entry
from reprise.training import models
from reprise.training.images import BLOCK, assemble
from reprise.training.models import Model, model_key, trained
from reprise.training.optimisers import AdamW
from reprise.training.schedules import Constant
from reprise.training.spec import Spec

FORK = multiprocessing.get_context("fork")
SPEC, DATA = tiny.spec(steps=3), tiny.data()


@pytest.fixture
def never(monkeypatch):
    """From now on nothing may be trained."""

    def forbid():
        def train(*_, **__):
            raise AssertionError("trained again")

        monkeypatch.setattr(models, "train", train)

    return forbid


def test_a_second_figure_that_needs_it_trains_nothing(tmp_path, capsys, never):
    folder = trained(SPEC, DATA, tmp_path)
    key = model_key(SPEC, DATA)
    assert folder == tmp_path / "results" / "cache" / "models" / key
    assert capsys.readouterr().err.startswith(f"MISS {key} nt_xent\n")
    never()
    assert trained(SPEC, DATA, tmp_path) == folder
    assert capsys.readouterr().err == f"HIT {key} nt_xent\n"
    assert sorted(file.name for file in folder.iterdir()) == ["log.jsonl", "model.safetensors", "record.json"]
    assert sorted(file.name for file in folder.parent.iterdir()) == [f".{key}.lock", key]


def test_an_untrained_network_is_kept_as_a_trained_one(tmp_path):
    model = Model(SPEC, trained(SPEC.model_copy(update={"steps": 0}), DATA, tmp_path))
    drawn = assemble(SPEC, DATA.channels).state_dict()
    assert all(torch.equal(tensor, drawn[name]) for name, tensor in model.method.state_dict().items())


def test_it_comes_back_as_it_was(tmp_path):
    spec = tiny.spec("moco", steps=3, hyperparameters=tiny.STATEFUL["moco"], trace_every=2)
    model = Model(spec, trained(spec, DATA, tmp_path))
    expected = models.train(spec, DATA, tmp_path / "again").method.state_dict()
    found = model.method.state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in found.items())
    assert not model.method.training
    assert model.diverged is None
    assert [line["step"] for line in model.log] == [0, 1, 2]
    assert "eigenvalues" in model.log[2]


def test_the_same_training_gives_the_same_bytes(tmp_path):
    one, other = (trained(SPEC, DATA, tmp_path / name) for name in "ab")
    for name in (models.MODEL, models.LOG):
        assert (one / name).read_bytes() == (other / name).read_bytes()


OTHERS = {
    "objective": {"name": "vicreg"},
    "hyperparameters": {"hyperparameters": {"temperature": 0.3}},
    "augmentation": {"augmentation": replace(tiny.RECIPE, second=tiny.RECIPE.first)},
    "normalisation": {"normalisation": Normalisation((0.4,), (0.2,))},
    "encoder": {"encoder": Conv4()},
    "optimiser": {"optimiser": AdamW()},
    "schedule": {"schedule": Constant()},
    "batch": {"batch": 8},
    "steps": {"steps": 4},
    "seed": {"seed": 1},
    "precision": {"precision": "bfloat16"},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS)
def test_another_spec_has_another_key(changes):
    assert model_key(tiny.spec(**({"steps": 3} | changes)), DATA) != model_key(SPEC, DATA)


def test_blocks_that_are_computed_again_have_the_same_key_and_the_same_bytes(tmp_path):
    plain, again = SPEC, tiny.spec(steps=3, checkpoint_blocks=True)
    assert model_key(again, DATA) == model_key(plain, DATA)
    found = [trained(of, DATA, tmp_path / str(place)) for place, of in enumerate((plain, again))]
    for name in ("model.safetensors", "log.jsonl"):
        assert (found[0] / name).read_bytes() == (found[1] / name).read_bytes()


def test_a_spec_goes_through_json_and_refuses_what_is_not_in_it():
    for objective in ("nt_xent", "moco"):
        spec = tiny.spec(objective, hyperparameters=tiny.STATEFUL.get(objective, {"temperature": 0.2}))
        assert Spec.model_validate_json(spec.model_dump_json()) == spec
        assert model_key(Spec.model_validate_json(spec.model_dump_json()), DATA) == model_key(spec, DATA)
    with pytest.raises(RepriseError, match=r"key 'encoder\.resnet\.width' has the value 0"):
        overridden(Spec, {"encoder": {"kind": "resnet", "width": 0}}, "paper.yaml")
    with pytest.raises(RepriseError, match=r"paper\.yaml: unknown key 'stepz'"):
        overridden(Spec, {"stepz": 0}, "paper.yaml")


def test_other_data_have_another_key_and_the_same_ones_read_again_have_not():
    expected = model_key(SPEC, DATA)
    assert model_key(SPEC, tiny.data()) == expected
    images = DATA.images.clone()
    images[0, 0, 0, 0] += 1
    labels = DATA.labels.flip(0)
    assert model_key(SPEC, DATA._replace(images=images)) != expected
    assert model_key(SPEC, DATA._replace(labels=labels)) != expected
    assert model_key(SPEC, DATA._replace(images=DATA.images.float())) != expected


def test_images_on_the_disk_tell_their_own_fingerprint():
    class Lazy:
        def __init__(self, name):
            self.name = name

        def fingerprint(self):
            return self.name

    keys = [model_key(SPEC, DATA._replace(images=Lazy(name))) for name in ("a", "a", "b")]
    assert keys[0] == keys[1] != keys[2]


def test_of_two_that_ask_at_once_one_trains(tmp_path, capfd):
    torch.set_num_threads(1)
    processes = [FORK.Process(target=trained, args=(SPEC, DATA, tmp_path)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    key = model_key(SPEC, DATA)
    said = capfd.readouterr().err.splitlines()
    assert sorted(line for line in said if key in line) == [f"HIT {key} nt_xent", f"MISS {key} nt_xent"]


def test_a_training_that_goes_on_says_from_which_step(tmp_path, capsys):
    spec = tiny.spec(steps=2 * BLOCK)

    def stop_at_the_end(step):
        if step == spec.steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(spec, DATA, tmp_path, save_every=0, progress=stop_at_the_end)
    line = f"MISS {model_key(spec, DATA)} nt_xent"
    assert capsys.readouterr().err == f"{line}\n"
    trained(spec, DATA, tmp_path)
    assert capsys.readouterr().err == f"{line}, from step {BLOCK} of {2 * BLOCK}\n"
    record = Entry(tmp_path / CACHE / MODELS / model_key(spec, DATA)).record
    assert seconds._seconds(record, on_gpu=False) == 2 * record["cpu_seconds"]


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A copy of the package in which a file can be edited, for the hash of the code alone."""
    package = tmp_path / "package" / "reprise"
    shutil.copytree(closure._file("reprise").parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    find = closure._file
    closure.read_again()
    real = find("reprise").parent

    def file(name):
        found = find(name)
        return found and package / found.relative_to(real)

    monkeypatch.setattr(closure, "_file", file)

    def edit(name, old, new):
        path = package / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        closure.read_again()

    yield edit
    closure.read_again()


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("training/images.py", "BLOCK = 20", "BLOCK = 30", {"simclr", "byol"}),
        ("training/optimisers.py", "descent.SGD(", "descent.Adam(", {"simclr", "byol"}),
        ("objectives/contrastive.py", "/ temperature", "* temperature", {"simclr"}),
        ("training/objective.py", "hidden: Count = 4096", "hidden: Count = 2048", {"byol"}),
        ("training/methods.py", "byol(p1, target2) +", "byol(p1, target2) -", {"byol"}),
        ("training/methods.py", "objectives.dino,", "objectives.swav,", set()),
        ("networks/layers.py", "torch.ones(dim)", "torch.zeros(dim)", set()),
        ("networks/layers.py", "nn.MaxPool2d(2)", "nn.AvgPool2d(2)", set()),
        ("datasets/augment.py", "1 - images)", "2 - images)", {"simclr", "byol"}),
        ("training/models.py", "MISS", "MISSED", set()),
        ("training/view_cache.py", "BLOCK = 2**24", "BLOCK = 2**23", set()),
        ("diagnostics/probes.py", "epochs: int = 100", "epochs: int = 10", set()),
        ("training/images.py", '"""The training loop of', '"""The loop of', set()),
    ],
)
def test_an_edit_of_the_code_changes_the_keys_of_what_it_touches(edited, file, old, new, changes):
    specs = {"simclr": SPEC, "byol": tiny.spec("byol")}
    before = {name: model_key(spec, DATA) for name, spec in specs.items()}
    edited(file, old, new)
    after = {name: model_key(spec, DATA) for name, spec in specs.items()}
    assert {name for name in specs if before[name] != after[name]} == changes


def test_of_a_users_loss_the_content_counts_and_not_the_place(tmp_path):
    text = "def my_loss(z1, z2):\n    return (z1 - z2).square().mean()\n"
    keys = []
    for name, content in (("a.py", text), ("b.py", text), ("c.py", text.replace("mean", "sum"))):
        (tmp_path / name).write_text(content)
        keys.append(model_key(tiny.spec(f"{tmp_path / name}:my_loss"), DATA))
    assert keys[0] == keys[1] != keys[2]
    with pytest.raises(RepriseError, match=r"no file .*d\.py"):
        model_key(tiny.spec(f"{tmp_path / 'd.py'}:my_loss"), DATA)


def test_of_a_users_loss_the_files_that_it_was_seen_to_read_count_too(tmp_path):
    """Files count by their content, wherever they lie."""
    keys = []
    for folder, content in (("one", "1"), ("two", "1"), ("three", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "scale.txt").write_text(content)
        file = tmp_path / folder / "mine.py"
        read = "float(open(__file__.replace('mine.py', 'scale.txt')).read())"
        file.write_text(f"def my_loss(z1, z2):\n    return {read} * (z1 - z2).square().mean()\n")
        seen = losses.Seen(frozenset({str(tmp_path / folder / "scale.txt")}), frozenset())
        losses.note(f"{file}:my_loss", seen)
        keys.append(model_key(tiny.spec(f"{file}:my_loss"), DATA))
    assert keys[0] == keys[1] != keys[2]


def test_of_a_users_loss_the_modules_beside_it_count_too(tmp_path):
    """The modules are found where the loss is trained; a loss in another folder has its own."""
    keys, losses = [], []
    for folder, factor in (("one", 1), ("two", 1), ("three", 100)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helper.py").write_text(f"FACTOR = {factor}\n")
        file = tmp_path / folder / "mine.py"
        body = "return helper.FACTOR * (z1 - z2).square().mean()"
        file.write_text(f"import helper\n\n\ndef my_loss(z1, z2):\n    {body}\n")
        keys.append(model_key(tiny.spec(f"{file}:my_loss"), DATA))
        losses.append(objectives.resolve(f"{file}:my_loss")(torch.ones(2, 1), torch.zeros(2, 1)).item())
    assert keys[0] == keys[1] != keys[2]
    assert losses == [1, 1, 100]


def test_of_a_users_loss_what_it_calls_of_ours_counts_too(tmp_path, edited):
    for name in ("vicreg", "nt_xent"):
        (tmp_path / f"{name}.py").write_text(f"from reprise.objectives import {name}\nmy_loss = {name}\n")
    specs = {name: tiny.spec(f"{tmp_path / name}.py:my_loss") for name in ("vicreg", "nt_xent")}
    before = {name: model_key(spec, DATA) for name, spec in specs.items()}
    edited("objectives/contrastive.py", "/ temperature", "* temperature")
    changed = {name for name, spec in specs.items() if model_key(spec, DATA) != before[name]}
    assert changed == {"nt_xent"}


@pytest.mark.parametrize("library", ["torch", "torchvision", "numpy"])
def test_another_version_or_kind_of_device_is_another_model(monkeypatch, library):
    before = model_key(SPEC, DATA)
    assert model_key(SPEC, DATA, "cpu:0") == before
    assert model_key(SPEC, DATA, "cuda:1") == model_key(SPEC, DATA, "cuda") != before
    installed = versions._installed
    monkeypatch.setattr(
        versions, "_installed", lambda name: [(name, "1.0")] if name == library else installed(name)
    )
    assert model_key(SPEC, DATA) != before


def test_a_users_loss_is_trained(tmp_path):
    (tmp_path / "mine.py").write_text("def my_loss(z1, z2):\n    return (z1 - z2).square().mean()\n")
    spec = tiny.spec(f"{tmp_path / 'mine.py'}:my_loss", steps=3)
    shares = []
    assert len(models.model(spec, DATA, tmp_path, shares.append).log) == 3
    assert shares[-1] == 1


@pytest.mark.parametrize("name", ["model.safetensors", "log.jsonl", "record.json"])
def test_a_damaged_model_is_reported_and_trained_again(tmp_path, capsys, name):
    folder = trained(SPEC, DATA, tmp_path)
    good = {file.name: file.read_bytes() for file in folder.iterdir()}
    (folder / name).write_bytes(good[name][:-7])
    with pytest.raises(RepriseError, match="no whole model"):
        Model(SPEC, folder)
    assert trained(SPEC, DATA, tmp_path) == folder
    damage, miss = capsys.readouterr().err.splitlines()[1:]
    assert damage.startswith(f"{folder / name}: ")
    assert damage.endswith("; made again")
    assert miss.startswith("MISS")
    for whole in (models.MODEL, models.LOG):
        assert (folder / whole).read_bytes() == good[whole]


def test_a_record_says_how_a_model_was_made(tmp_path):
    with store.asking("smoke paper/experiment key"):
        entry = store.Entry(trained(SPEC, DATA, tmp_path))
    record = entry.verified()
    assert Spec.model_validate_json(json.dumps(record["spec"])) == SPEC
    assert (record["what"], record["device"]) == ("nt_xent, 3 steps, seed 0", "cpu")
    assert {"Python", "torch", "torchvision", "numpy"} <= record["versions"].keys()
    assert record["versions"]["torch"] == metadata.version("torch")
    assert record["key"] == model_key(SPEC, DATA)
    assert record["made_for"] == "smoke paper/experiment key"
    assert record["seconds"] > 0


def test_a_divergence_is_kept_like_any_result(tmp_path, never):
    spec = tiny.spec("vicreg", optimiser=AdamW(learning_rate=1e30))
    folder = trained(spec, DATA, tmp_path)
    never()
    trained(spec, DATA, tmp_path)
    model = Model(spec, folder)
    assert model.diverged == len(model.log)
    assert json.loads((folder / "record.json").read_text())["diverged"] == model.diverged


def test_too_few_cores_for_a_gpu_are_told_once_a_run(tmp_path, capsys):
    """The cores are those that this process may use; nothing is said for images in memory, nor where the CPU
    trains."""
    (tmp_path / "class").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "class" / "a.png")
    in_files = DATA._replace(images=Folder(tmp_path, 8))
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with store.asking(str(tmp_path)):
            models._say_what_slows(DATA, "cuda")
            models._say_what_slows(in_files, "cpu")
            assert "cores" not in capsys.readouterr().err
            for _ in range(2):
                models._say_what_slows(in_files, "cuda")
    finally:
        os.sched_setaffinity(0, allowed)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("reprise: slower: 1 cores decode images for a GPU that can take those of 8")
