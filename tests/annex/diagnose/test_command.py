"""`reprise diagnose` from files and models to the page, the table and the verdict; a mistake is one line."""

import os
import pickle
import re
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torchvision.models import resnet18

from reprise.annex.diagnose.page import number
from reprise.annex.diagnose.reference import reference
from reprise.annex.diagnose.trained import LAYERS
from reprise.cli import main

MODEL = """
import torch
from torch import nn
from beside import SCALE

class Net(nn.Module):
    def __init__(self, dims):
        super().__init__()
        torch.manual_seed(0)
        self.pool, self.layer = nn.AdaptiveAvgPool2d(8), nn.Linear(192, dims)

    def forward(self, images):
        return self.layer(self.pool(images).flatten(1)) * SCALE

class Narrow(nn.Module):
    def __init__(self, used):
        super().__init__()
        self.net, self.scale = Net(20), torch.ones(20)
        self.scale[used:] = 1e-7

    def forward(self, images):
        return self.net(images) * self.scale

def healthy():
    return Net(20)

def half():
    return Narrow(10)

def fallen():
    return Narrow(1)

def constant():
    net = Net(20)
    nn.init.zeros_(net.layer.weight)
    return net

def half_precision():
    return healthy().bfloat16()

def pooled():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1))

def noisy():
    class Noisy(Net):
        def forward(self, images):
            return nn.functional.dropout(super().forward(images))
    return Noisy(20)

def training():
    class Training(Net):
        def __init__(self):
            super().__init__(20)
            self.norm = nn.BatchNorm1d(20)
        def train(self, mode=True):
            return super().train(True)
        def forward(self, images):
            return self.norm(super().forward(images))
    return Training()

def needing(dims):
    return Net(dims)

def exits():
    class Exits(Net):
        def forward(self, images):
            raise SystemExit("enough")
    return Exits(4)

def infinite():
    class Infinite(Net):
        def forward(self, images):
            return super().forward(images) / 0
    return Infinite(4)

def imaginary():
    class Imaginary(Net):
        def forward(self, images):
            return super().forward(images) * 1j
    return Imaginary(4)

def uneven():
    class Uneven(Net):
        dims = 4
        def forward(self, images):
            self.dims -= 1
            return super().forward(images)[:, :self.dims]
    return Uneven(4)

def pair():
    class Pair(Net):
        def forward(self, images):
            return super().forward(images), images
    return Pair(4)

def maps():
    return nn.Conv2d(3, 4, 3)

def tokens():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(2))

def small():
    return nn.Linear(4, 2)

def broken():
    return undefined_name

number = 3
builtin = dict
"""


@pytest.fixture(scope="module")
def z():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(120, 8)).astype(np.float32)
    return first, first + 0.1 * rng.normal(size=(120, 8)).astype(np.float32)


@pytest.fixture
def here(tmp_path, monkeypatch, z):
    """An empty folder but for `a.npy` and `b.npy`, in which commands run."""
    monkeypatch.chdir(tmp_path)
    for name, view in zip("ab", z, strict=True):
        np.save(f"{name}.npy", view)
    return tmp_path


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with a model's file, a module beside it, and images of two classes."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "model.py").write_text(MODEL)
    (folder / "beside.py").write_text("SCALE = 2.0\n")
    rng = np.random.default_rng(0)
    for index in range(60):
        pixels = rng.integers(0, 255, (12, 14, 3)) * (0.4 if index % 2 else 1.0)
        file = folder / "images" / f"class{index % 2}" / f"{index}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.astype(np.uint8)).save(file)
    return folder


def table():
    rows = pd.read_csv("diagnosis/diagnosis.csv")
    return rows.set_index(rows["diagnostic"] + ", view " + rows["view"].astype(str))


def test_two_views_with_labels(here, capsys, z):
    np.save("classes.npy", (z[0][:, 0] > 0).astype(int))
    assert main(["diagnose", "a.npy", "b.npy", "--labels", "classes.npy"]) == 0
    printed = capsys.readouterr().out
    assert "healthy: 0 of 8 dimensions collapsed" in printed
    rows = table()
    p = np.linalg.svd(z[0] - z[0].mean(0), compute_uv=False)
    p = p / p.sum()
    assert rows.loc["effective rank, view 1", "value"] == pytest.approx(
        np.exp(-(p * np.log(p)).sum()), rel=1e-5
    )
    correlation = np.diagonal(np.corrcoef(*z, rowvar=False)[:8, 8:]).mean()
    assert rows.loc["cross-view correlation, view both", "value"] == pytest.approx(correlation, rel=1e-5)
    assert rows.loc["linear probe, view 1", "value"] > 0.8 > rows.loc["most frequent class, view 1", "value"]
    assert (rows["low"].dropna() <= rows["value"][rows["low"].notna()] + 1e-9).all()
    page = (here / "diagnosis" / "diagnosis.html").read_text()
    assert not re.search(r'(src|href)="(?!data:|#)', page), "the page opens without a network"
    assert page.count("<tr>") == len(rows) + 1
    for name in rows["diagnostic"]:
        assert f">{name}</th>" in page
        assert name in printed
    assert "<svg" in page


def test_one_view_has_no_row_of_two(here):
    assert main(["diagnose", "a.npy", "--to", "elsewhere/deep"]) == 0
    rows = pd.read_csv("elsewhere/deep/diagnosis.csv")["diagnostic"]
    assert "RankMe" in set(rows)
    assert not {"LiDAR", "alignment", "linear probe"} & set(rows)


def test_the_reference_is_that_of_the_layer_on_the_scale_of_the_dimensions(here):
    shown = {}
    for layer in LAYERS:
        assert main(["diagnose", "a.npy", "--layer", layer]) == 0
        shown[layer] = table().loc["RankMe, view 1"]
        shares = reference().set_index(["layer", "diagnostic", "state"])["share"]
        trained = shares.loc[(layer, "RankMe", "trained")]
        assert shown[layer]["trained, lowest"] == pytest.approx(8 * trained.min(), rel=1e-3)
        assert shown[layer]["trained, highest"] == pytest.approx(8 * trained.max(), rel=1e-3)
    balance = table().loc["balance, view 1"]
    assert balance["untrained, lowest"] == 1  # an eighth of 128 dimensions' would be less than any rank
    assert shown["embedding"]["trained, lowest"] != shown["representation"]["trained, lowest"]


def test_every_kind_of_file_gives_the_same_table(here, z):
    tensors = {"one": torch.from_numpy(z[0]), "two": torch.from_numpy(z[1])}
    np.savez("x.npz", **{key: value.numpy() for key, value in tensors.items()})
    save_file(tensors, "x.safetensors")
    torch.save(tensors, "x.pt")
    torch.save(tensors["one"].double(), "alone.pt")
    main(["diagnose", "a.npy", "b.npy"])
    expected = table()
    for name in ("x.npz", "x.safetensors", "x.pt"):
        assert main(["diagnose", f"{name}:one", f"{name}:two"]) == 0
        pd.testing.assert_frame_equal(table(), expected)
    assert main(["diagnose", "alone.pt"]) == 0
    assert table().loc["RankMe, view 1", "value"] == pytest.approx(expected.loc["RankMe, view 1", "value"])


@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        ("healthy", "healthy"),
        ("half", "partly collapsed"),
        ("fallen", "collapsed"),
        ("constant", "collapsed"),
    ],
)
def test_networks_are_told_apart(here, project, capsys, build, verdict):
    arguments = ["--images", str(project / "images"), "--size", "16", "--recipe", "shapes"]
    assert main(["diagnose", f"{project}/model.py:{build}", *arguments]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{verdict}: ")
    assert "linear probe, view 1" in table().index  # the folders are the classes


@pytest.mark.parametrize("build", ["half_precision", "pooled"])
def test_outputs_of_any_precision_and_pooled_maps_are_taken(here, project, build):
    arguments = ["--images", str(project / "images"), "--size", "16", "--samples", "48"]
    assert main(["diagnose", f"{project}/model.py:{build}", *arguments]) == 0


@pytest.mark.parametrize(("build", "is_noted"), [("healthy", False), ("noisy", True), ("training", True)])
def test_outputs_that_change_from_call_to_call_are_noted(here, project, capsys, build, is_noted):
    arguments = ["--images", str(project / "images"), "--size", "16", "--samples", "48"]
    assert main(["diagnose", f"{project}/model.py:{build}", *arguments]) == 0
    assert ("changes from call to call" in capsys.readouterr().out) == is_noted


def test_a_name_that_is_no_text_is_shown_escaped(here):
    name = os.fsdecode(b"\xff.npy")
    shutil.copy("a.npy", name)
    assert main(["diagnose", name]) == 0
    assert "\\udcff.npy" in (here / "diagnosis" / "diagnosis.html").read_text()


def test_one_view_given_twice_is_noted(here, capsys):
    note = "Both views are equal"
    for files, is_noted in ((["a.npy", "a.npy"], True), (["a.npy", "b.npy"], False), (["a.npy"], False)):
        assert main(["diagnose", *files]) == 0
        assert (note in capsys.readouterr().out) == is_noted


def test_weights_are_loaded(here, project):
    scale = {"layer.weight": torch.randn(20, 192), "layer.bias": torch.zeros(20)}
    torch.save({"state_dict": scale, "epoch": 3}, "weights.pt")
    arguments = ["--images", str(project / "images"), "--size", "16"]
    values = []
    for weights in ([], ["--weights", "weights.pt"]):
        assert main(["diagnose", f"{project}/model.py:healthy", *arguments, *weights]) == 0
        values.append(table().loc["largest singular value, view 1", "value"])
    assert values[1] > 5 * values[0]


def test_a_model_of_torchvision(here, project):
    arguments = ["--images", str(project / "images"), "--size", "32", "--samples", "48"]
    assert main(["diagnose", "torchvision:resnet18", *arguments]) == 0
    page = (here / "diagnosis" / "diagnosis.html").read_text()
    assert "48 samples, 512 dimensions" in " ".join(page.split())


def test_weights_of_a_library_may_have_its_classifier(here, project):
    torch.save(resnet18(num_classes=10).state_dict(), "weights.pt")
    arguments = ["--images", str(project / "images"), "--size", "32", "--samples", "48"]
    assert main(["diagnose", "torchvision:resnet18", *arguments, "--weights", "weights.pt"]) == 0


def stopped(capsys, *arguments):
    """The message of a command that fails, after which nothing is written."""
    assert main(["diagnose", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


FILES = [
    (["absent.npy"], ["absent.npy: no such file"]),
    (["."], [".: a folder; expected a file", "a model is path/model.py:build"]),
    (["torchvison:resnet18"], ["torchvison:resnet18: no such file", "a model is path/model.py:build"]),
    (["a.csv"], ["a.csv: of no known kind: it begins with b'1,2", ".safetensors"]),
    (["pickled.npy"], ["pickled.npy: holds an array of Python objects", "pickled objects are refused"]),
    (["pickled.npz"], ["pickled.npz: holds an object of numpy.ndarray of Python objects at z", "refused"]),
    (["pickled.pt"], ["pickled.pt: holds an object of builtins.print at z", "pickled objects are refused"]),
    (["plain_pickle.pt"], ["plain_pickle.pt: is a pickle", "pickled objects are refused"]),
    (["damaged.safetensors"], ["damaged.safetensors: of no known kind: it begins with b'nothing'"]),
    (["empty.npy"], ["empty.npy: is empty"]),
    (["lfs.npy"], ["lfs.npy: is a Git LFS pointer", "git lfs pull"]),
    (["page.pt"], ["page.pt: is a web page"]),
    (["resource.npy"], ["resource.npy: is what macOS keeps beside a file (AppleDouble)"]),
    (["cut.npy"], ["cut.npy: truncated: 500 bytes of 3,968 by its header"]),
    (["header.npy"], ["header.npy: cannot be read (", "copy or download it again"]),
    (["cut.npz"], ["cut.npz: begins as an archive", "truncated"]),
    (["cut.safetensors"], ["cut.safetensors: truncated: 500 bytes of "]),
    (["cut.pt"], ["cut.pt: begins as an archive", "truncated"]),
    (["old_cut.pt"], ["old_cut.pt: cannot be read (", "copy or download it again"]),
    (["bfloat16.npy"], ["bfloat16.npy: numbers of 2 bytes", "bfloat16", "array.astype('float32')"]),
    (["vector.npy"], ["shape [120]", "[samples, dimensions]"]),
    (["maps.npy"], ["shape [50, 4, 3, 3]", "average feature maps"]),
    (["words.npy"], ["expected real numbers"]),
    (["nan.npy"], ["NaN or infinity in row 7 "]),
    (["sparse.pt"], ["sparse.pt: this tensor (torch.float32, torch.sparse_coo, on cpu) is no array"]),
    (["huge.npy"], ["up to 1e+200", "scale"]),
    (["a.npy", "wide.npy"], ["wide.npy: shape [120, 9], but a.npy has [120, 8]"]),
    (["few.npy"], ["10 samples", "40"]),
    (["both.npz"], ["holds 2 arrays: one [120, 8], two [120, 8]", "both.npz:KEY"]),
    (["state.npz"], ["holds 2 arrays: fc.weight", "reprise diagnose MODEL --weights", "state.npz"]),
    (["both.npz:three"], ["no array 'three'", "one [120, 8]"]),
    (["a.npy:one"], ["no keys"]),
    (["a.npy", "b.npy", "a.npy"], ["3 files"]),
    (["a.npy", "--labels", "vector.npy:x"], ["no keys"]),
    (["a.npy", "--labels", "few.npy"], ["labels of shape [10, 8] for 120 samples"]),
    (["a.npy", "--labels", "short.npy"], ["labels of shape [7] for 120 samples"]),
    (["a.npy", "--labels", "same.npy"], ["all 120 labels are 1"]),
    (["a.npy", "--images", "."], ["--images: only for a model"]),
    (["a.npy", "--skip-bad"], ["--skip-bad: only for a model"]),
    (["a.npy", "--samples", "50"], ["--samples: only for a model"]),
    (["torchvison:resnet18", "--images", "."], ["torchvison:resnet18: no such file"]),
    (["broad.npy"], ["9000 dimensions; expected 2 to 8192; pool feature maps"]),
]


@pytest.mark.parametrize(("arguments", "parts"), FILES, ids=lambda value: " ".join(value))
def test_files_that_cannot_be_used(here, capsys, z, arguments, parts):
    np.save("pickled.npy", np.array([{}]), allow_pickle=True)
    torch.save({"z": print}, "pickled.pt")
    torch.save(torch.eye(50).to_sparse(), "sparse.pt")
    (here / "plain_pickle.pt").write_bytes(pickle.dumps(z[0]))
    (here / "damaged.safetensors").write_bytes(b"nothing")
    (here / "a.csv").write_text("1,2\n")
    np.savez("pickled.npz", z=np.array([{}]))
    torch.save(torch.from_numpy(z[0]), "old.pt", _use_new_zipfile_serialization=False)
    torch.save(torch.from_numpy(z[0]), "whole.pt")
    np.savez("whole.npz", z=z[0])
    save_file({"z": torch.from_numpy(z[0])}, "whole.safetensors")
    np.save("bfloat16.npy", z[0].astype(np.float16).view("V2"))
    cuts = {"cut.npy": "a.npy", "cut.npz": "whole.npz", "cut.safetensors": "whole.safetensors"}
    cuts |= {"cut.pt": "whole.pt", "old_cut.pt": "old.pt"}
    for cut, whole in cuts.items():
        (here / cut).write_bytes((here / whole).read_bytes()[:500])
    (here / "header.npy").write_bytes((here / "a.npy").read_bytes()[:50])
    (here / "empty.npy").touch()
    (here / "lfs.npy").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 5\n")
    (here / "page.pt").write_text("<!DOCTYPE html><html>Sign in</html>")
    (here / "resource.npy").write_bytes(b"\0\5\x16\7\0\2\0\0Mac OS X        ")
    bad = z[0].copy()
    bad[7, 1] = np.nan
    arrays = {
        "vector": z[0][:, 0],
        "maps": np.zeros((50, 4, 3, 3)),
        "words": np.full((50, 4), "a"),
        "huge": np.full((50, 4), 1e200),
        "nan": bad,
        "wide": np.zeros((120, 9)),
        "broad": np.zeros((40, 9000), np.float16),
        "few": z[0][:10],
        "short": np.arange(7),
        "same": np.ones(120, int),
    }
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
    np.savez("both.npz", one=z[0], two=z[1])
    np.savez("state.npz", **{"fc.weight": z[0], "fc.bias": z[1]})
    line = stopped(capsys, *arguments)
    for part in parts:
        assert part in line
    assert not (here / "diagnosis").exists()


MODELS = [
    ("model.py", [], ["model.py:build"]),
    ("nothing.py:build", [], ["no file"]),
    ("model.py:absent", [], ["defines no function 'absent'"]),
    ("model.py:number", [], ["defines no function 'number'"]),
    ("model.py:broken", [], ["model.py:106: NameError", "undefined_name"]),
    ("raises.py:build", [], ["raises.py:2: ZeroDivisionError"]),
    ("syntax.py:build", [], ["syntax.py:1: SyntaxError"]),
    ("model.py:needing", [], ["missing a required argument: 'dims'", "a function without arguments"]),
    ("model.py:builtin", [], ["no signature found", "expected a function without arguments"]),
    ("model.py:exits", [], ["the model fails on images of shape [60, 3, 16, 16]: SystemExit: enough"]),
    ("model.py:infinite", [], ["NaN or infinity for 60 of 60 images"]),
    ("model.py:imaginary", [], ["torch.complex64; expected real numbers"]),
    ("model.py:uneven", [], ["features; expected equally many"]),
    ("model.py:pair", [], ["returns a tuple", "one tensor [image, features]"]),
    ("model.py:maps", [], ["returns shape [60, 4, 14, 14]", "average it over pixels"]),
    ("model.py:tokens", [], ["returns shape [60, 4, 196]", "return one token, or their mean"]),
    ("model.py:small", [], ["the model fails on images of shape [60, 3, 16, 16]"]),
    ("torchvision:resnet19", [], ["builds no such model"]),
    ("model.py:healthy", ["--weights", "absent.pt"], ["absent.pt: no such file"]),
    ("model.py:healthy", ["--weights", "empty.safetensors"], ["holds no weights"]),
    (
        "model.py:healthy",
        ["--weights", "other.pt"],
        ["it has none of layer.weight, layer.bias", "it holds fc.0 and 4 more"],
    ),
    ("model.py:healthy", ["--weights", "narrow.pt"], ["layer.weight has shape [3, 192]", "[20, 192]"]),
    ("model.py:healthy", ["--weights", "a.npy"], ["holds no weights"]),
    ("model.py:healthy", ["--tokens", "cls"], ["only for transformers of timm"]),
    ("timm:no_such_model", [], ["timm:no_such_model: timm "]),
    ("model.py:healthy", ["--images", "absent"], ["absent: no such folder"]),
    ("model.py:healthy", ["--images", "empty"], ["no image in it"]),
    ("model.py:healthy", ["--images", "broken"], ["bad.png: not an image", "--skip-bad"]),
    ("model.py:healthy", ["--images", "broken", "--skip-bad"], ["none of 1 images can be decoded"]),
]


@pytest.mark.parametrize(("name", "options", "parts"), MODELS, ids=lambda value: "".join(value))
def test_models_that_cannot_be_used(here, project, capsys, name, options, parts):
    (project / "raises.py").write_text("\n1 / 0\n")
    (project / "syntax.py").write_text("def (\n")
    save_file({}, "empty.safetensors")
    torch.save({f"fc.{index}": torch.zeros(1) for index in range(5)}, "other.pt")
    torch.save({"layer.weight": torch.zeros(3, 192), "layer.bias": torch.zeros(3)}, "narrow.pt")
    (here / "empty").mkdir()
    (here / "broken").mkdir()
    (here / "broken" / "bad.png").write_bytes(b"no image")
    file = name if name.startswith(("torchvision", "timm")) else f"{project}/{name}"
    line = stopped(capsys, file, "--images", str(project / "images"), "--size", "16", *options)
    for part in parts:
        assert part in line
    assert not (here / "diagnosis").exists()


def test_a_model_needs_images_and_stands_alone(here, project, capsys):
    assert "add --images FOLDER" in stopped(capsys, f"{project}/model.py:healthy")
    assert "one file too many" in stopped(capsys, f"{project}/model.py:healthy", "a.npy")


def test_modules_beside_a_model_are_unloaded(here, project):
    import sys

    arguments = ["--images", str(project / "images"), "--size", "16", "--samples", "40"]
    assert main(["diagnose", f"{project}/model.py:healthy", *arguments]) == 0
    assert "beside" not in sys.modules
    assert str(project) not in sys.path


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.01234, "0.012"),
        (12.345, "12.3"),
        (1234.5, "1,234"),
        (3e-7, "3e-07"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_are_short(value, shown):
    assert number(value) == shown
