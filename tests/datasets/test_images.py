"""Files in the official formats, written here and read by torchvision's loaders; what is said of others."""

import gzip
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import official_formats
import pytest
import torch
from PIL import Image
from skimage import data
from sklearn.datasets import load_digits, load_sample_images
from torchvision.datasets import STL10, ImageFolder
from torchvision.transforms import InterpolationMode, v2

from reprise.datasets import mnist, photographs, shapes
from reprise.datasets.augment import Views
from reprise.datasets.catalogue import DATA_SETS, check, load
from reprise.datasets.data_set import DataSet
from reprise.datasets.folders import Files, Folder
from reprise.datasets.recipes import Normalisation, Recipe, Strengths
from reprise.errors import RepriseError


@pytest.fixture
def written(tmp_path):
    """A root with MNIST's four files, of 50 and 20 images, and the arrays in them."""
    return tmp_path, official_formats.mnist(tmp_path)


def test_mnist_is_what_its_files_hold(written):
    root, arrays = written
    for split, part in (("train", "train"), ("test", "t10k")):
        found, labels = load("mnist", root, split)
        assert (found.dtype, labels.dtype) == (torch.uint8, torch.int64)
        np.testing.assert_array_equal(found[:, 0], arrays[f"{part}-images-idx3-ubyte"])
        np.testing.assert_array_equal(labels, arrays[f"{part}-labels-idx1-ubyte"])


def test_a_root_in_the_home_folder_may_be_written_with_a_tilde(written, monkeypatch):
    monkeypatch.setenv("HOME", str(written[0].parent))
    assert len(load("mnist", f"~/{written[0].name}")[0]) == 50


def test_digits_are_scikit_learns_and_need_no_files(tmp_path):
    theirs = load_digits()
    for split, part in (("train", slice(1437)), ("test", slice(1437, None)), ("train+test", slice(None))):
        found, labels = load("digits", tmp_path / "nothing", split)
        np.testing.assert_array_equal(found[:, 0] / 15, theirs.images[part])
        np.testing.assert_array_equal(labels, theirs.target[part])
        assert (found.max(), found.dtype) == (240, torch.uint8)


def message(root, name="mnist"):
    with pytest.raises(RepriseError) as planned:
        check(name, root)
    with pytest.raises(RepriseError) as loaded:
        load(name, root)
    assert str(planned.value) == str(loaded.value)
    assert len(str(planned.value).splitlines()) == 1
    return str(planned.value)


def test_an_unknown_data_set_is_an_error_that_names_the_known_ones(tmp_path):
    said = message(tmp_path, "mnits")
    assert said == f"unknown data set 'mnits'; allowed: {', '.join(DATA_SETS)}"


def test_a_missing_folder_is_an_error_that_says_what_where_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = message("data")
    for part in (str(tmp_path / "data" / "MNIST" / "raw"), *mnist.FILES, "root", "'strokes'"):
        assert part in said


@pytest.mark.parametrize("name", mnist.FILES)
def test_each_file_that_torchvision_wants_is_missed_by_name(written, name):
    (written[0] / "MNIST" / "raw" / name).unlink()
    said = message(written[0])
    assert [file for file in mnist.FILES if file in said] == [name]


def test_packed_files_are_to_be_unpacked(written):
    """torchvision reads none of them unless it downloads."""
    for name in mnist.FILES:
        file = written[0] / "MNIST" / "raw" / name
        file.with_name(f"{name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert "gunzip" in message(written[0])


@pytest.mark.parametrize("name", mnist.FILES)
@pytest.mark.parametrize("left", [0, 3, 4, 7, -1])
def test_a_truncated_file_is_named(written, name, left):
    file = written[0] / "MNIST" / "raw" / name
    file.write_bytes(file.read_bytes()[:left])
    said = message(written[0])
    assert f"{file}: truncated or damaged: {file.stat().st_size} bytes" in said


def test_bytes_too_many_are_an_error(written):
    file = written[0] / "MNIST" / "raw" / "train-images-idx3-ubyte"
    file.write_bytes(file.read_bytes() + b"\0")
    assert f"{16 + 50 * 28 * 28 + 1} bytes, its header says {16 + 50 * 28 * 28}" in message(written[0])


@pytest.mark.parametrize("start", [b"\x1f\x8b\x08\x00", b"<htm", b"\0\0\x0d\x03", b"\0\0\x08\x01"])
def test_another_kind_of_file_is_named_with_what_it_starts_with(written, start):
    file = written[0] / "MNIST" / "raw" / "train-images-idx3-ubyte"
    file.write_bytes(start + file.read_bytes()[4:])
    said = message(written[0])
    for part in (str(file), start.hex(), "00000803"):
        assert part in said


def test_a_label_that_is_no_digit_is_named(written):
    labels = written[1]["t10k-labels-idx1-ubyte"].copy()
    labels[3] = 200
    file = written[0] / "MNIST" / "raw" / "t10k-labels-idx1-ubyte"
    file.write_bytes(official_formats.idx(labels))
    assert message(written[0]).startswith(f"{file}: label 3 is 200, expected 0 to 9; ")


@pytest.mark.parametrize(("shape", "shown"), [((50, 14, 56), "50 images of 14x56"), ((0, 28, 28), "0 im")])
def test_images_of_another_size_and_none_are_refused(written, shape, shown):
    folder = written[0] / "MNIST" / "raw"
    for kind, sizes in (("images-idx3", shape), ("labels-idx1", shape[:1])):
        (folder / f"train-{kind}-ubyte").write_bytes(official_formats.idx(np.zeros(sizes)))
    said = message(written[0])
    assert said.startswith(f"{folder / 'train-images-idx3-ubyte'}: {shown}")
    assert "expected images of 28x28" in said


def test_what_may_not_be_read_is_named(written, monkeypatch):
    """The error that the system gives to all but root."""

    def refuse(self, *options, **more):
        raise PermissionError(13, "Permission denied", str(self))

    folder = written[0] / "MNIST" / "raw"
    monkeypatch.setattr(Path, "is_file", refuse)
    assert message(written[0]) == (
        f"data set 'mnist': {folder / 'train-images-idx3-ubyte'}: not readable: Permission denied; "
        "copy it again, or give read access there"
    )


@pytest.mark.parametrize("name", ["bomb.png", "bomb.gif", "empty.jpg", "text.jpg", "folder.jpg"])
def test_what_cannot_be_decoded_is_named_also_images_of_too_many_pixels(tmp_path, monkeypatch, name):
    file = tmp_path / name
    if name.startswith("bomb"):
        Image.new("1", (3000, 1000)).save(file)
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1_000_000)
    elif name == "folder.jpg":
        file.mkdir()
    else:
        file.write_text("a text" if name == "text.jpg" else "")
    with pytest.raises(RepriseError) as caught:
        Files([file])[:1]
    assert str(caught.value).startswith(f"{file}: not an image that can be decoded: ")
    assert len(str(caught.value).splitlines()) == 1


def test_images_without_labels_are_an_error(written):
    (written[0] / "MNIST" / "raw" / "train-labels-idx1-ubyte").write_bytes(official_formats.idx(np.zeros(49)))
    assert "50 train images, but 49 labels" in message(written[0])


def test_the_check_needs_no_torch():
    """The plan of a run imports it."""
    code = "import sys, reprise.datasets.catalogue; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# CIFAR-10, CIFAR-100, STL-10 and ImageNet, in their official formats.


@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
def test_cifar_is_what_its_pickles_hold(name, tmp_path, monkeypatch):
    arrays = official_formats.cifar(name, tmp_path, monkeypatch)
    for split, parts in DATA_SETS[name].files.items():
        found, labels = load(name, tmp_path, split)
        assert (found.dtype, labels.dtype, found.is_contiguous()) == (torch.uint8, torch.int64, True)
        np.testing.assert_array_equal(found, np.concatenate([arrays[part][0] for part in parts]))
        assert labels.tolist() == [label for part in parts for label in arrays[part][1]]


def test_stl10s_splits_are_what_its_binaries_hold(tmp_path, monkeypatch):
    arrays = official_formats.stl10(tmp_path, monkeypatch)
    for split, parts in {
        "train": ["train"],
        "test": ["test"],
        "unlabelled": ["unlabeled"],
        "train+unlabelled": ["train", "unlabeled"],
    }.items():
        found, labels = load("stl10", tmp_path, split)
        expected = np.concatenate([arrays[f"{part}_X.bin"] for part in parts]).transpose(0, 1, 3, 2)
        assert (found.dtype, labels.dtype) == (torch.uint8, torch.int64)
        np.testing.assert_array_equal(found, expected)
        theirs = STL10(tmp_path, split.replace("unlabelled", "unlabeled"))
        np.testing.assert_array_equal(found, theirs.data)
        np.testing.assert_array_equal(labels, theirs.labels)
        none = np.zeros(len(arrays["unlabeled_X.bin"]), int)  # file labels count from 1
        np.testing.assert_array_equal(
            labels, np.concatenate([arrays.get(f"{part}_y.bin", none) for part in parts]).astype(int) - 1
        )


def test_imagenet_is_decoded_as_it_is_read(tmp_path, monkeypatch):
    names = official_formats.imagenet(tmp_path, monkeypatch)
    for split, count in (("train", 4), ("test", 2)):
        found, labels = load("imagenet", tmp_path, split)
        assert found.classes == names
        assert labels.tolist() == [label for label in range(3) for _ in range(count)]
        batch = found[torch.tensor([2 * count, 0])]
        assert (batch.shape, batch.dtype, len(found)) == ((2, 3, 224, 224), torch.uint8, 3 * count)
        assert (batch[:, 0] == batch[:, 1]).all()  # the first of each class is grey
    colour = load("imagenet", tmp_path)[0][torch.tensor([3, 7, 11])].float().mean((2, 3))
    torch.testing.assert_close(colour[:, 0], torch.tensor([0.0, 60, 120]), rtol=0, atol=4)


def test_a_folders_fingerprint_is_that_of_its_files_names_and_sizes(tmp_path, monkeypatch):
    official_formats.imagenet(tmp_path / "a", monkeypatch)
    official_formats.imagenet(tmp_path / "elsewhere", monkeypatch)
    a, elsewhere = tmp_path / "a" / "train", tmp_path / "elsewhere" / "train"
    expected = Folder(a).fingerprint()
    assert Folder(elsewhere).fingerprint() == expected
    assert Folder(a, size=64).fingerprint() != expected
    assert Folder(tmp_path / "a" / "val").fingerprint() != expected
    file = next(a.glob("*/*_1.JPEG"))
    renamed = file.rename(file.with_stem("renamed"))
    assert Folder(a).fingerprint() != expected
    renamed.rename(file)
    assert Folder(a).fingerprint() == expected
    file.write_bytes(file.read_bytes() + b"\0")
    assert Folder(a).fingerprint() != expected


def photograph(folder, height, width):
    """A smooth colour image, as a file without loss in ImageFolder's layout."""
    rows, columns = np.mgrid[:height, :width] / 60
    pixels = np.stack([np.sin(rows + 2 * columns), np.cos(3 * rows), np.sin(columns * rows)], -1)
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray((127 + 120 * pixels).astype(np.uint8)).save(folder / f"{height}x{width}.png")


def test_a_folder_is_known_by_what_is_in_it_and_not_by_where_it_lies(tmp_path):
    for root in ("a", "b", "c"):
        photograph(tmp_path / root / "n00000001", 30, 40)
    photograph(tmp_path / "c" / "n00000001", 31, 40)
    one, same, more = (Folder(tmp_path / root).fingerprint() for root in ("a", "b", "c"))
    assert one == same != more
    assert Folder(tmp_path / "a", size=96).fingerprint() != one
    file = tmp_path / "b" / "n00000001" / "30x40.png"
    file.write_bytes(file.read_bytes() + b"0")
    assert Folder(tmp_path / "b").fingerprint() != one


def test_a_folders_images_are_torchvisions_at_evaluation(tmp_path):
    for size in ((300, 400), (500, 260), (256, 256)):
        photograph(tmp_path / "n00000001", *size)
    folder = Folder(tmp_path)
    theirs = ImageFolder(tmp_path, v2.Compose([v2.Resize(256), v2.CenterCrop(224), v2.PILToTensor()]))
    for ours, (image, _) in zip(folder[torch.arange(3)], theirs, strict=True):
        apart = (ours.float() - image.float()).abs()
        assert apart.mean() < 1.5  # of 255: the middle may lie a part of a pixel elsewhere
        assert apart.max() < 12


def test_a_folders_crops_are_torchvisions(tmp_path):
    for size in ((30, 40), (50, 26)):
        photograph(tmp_path / "n00000001", *size)
    folder, boxes = Folder(tmp_path, size=32), torch.tensor([[3, 5, 20, 16], [0, 1, 30, 25]])

    def same_boxes(sizes):
        assert sizes.tolist() == [[50, 26], [30, 40]]
        return boxes[:, None].expand(-1, 2, -1)

    found = folder.crops(torch.tensor([1, 0]), same_boxes, ["bicubic", "bilinear"])
    for at, index in enumerate([1, 0]):
        image = ImageFolder(tmp_path)[index][0]
        for box, kind, ours in zip(boxes.tolist(), ["bicubic", "bilinear"], found[:, at], strict=True):
            theirs = v2.functional.resized_crop(image, *box, [32, 32], InterpolationMode(kind))
            assert torch.equal(ours, v2.functional.pil_to_tensor(theirs))


def test_views_of_images_on_the_disk_crop_the_whole_image(tmp_path):
    """Both ends of a wide image are seen, and flips too; evaluation sees its middle alone."""
    pixels = np.zeros((40, 200, 3), np.uint8)
    pixels[:, :40, 0], pixels[:, -40:, 2] = 255, 255
    (tmp_path / "n00000001").mkdir()
    Image.fromarray(pixels).save(tmp_path / "n00000001" / "wide.png")
    folder, plain = Folder(tmp_path, size=16), Normalisation((0.0,), (1.0,))
    still = Strengths(scale=(0.05, 0.2), jitter=0, grey=0, blur=0)
    views, index = Views(Recipe(still, still), plain), torch.zeros(100, dtype=torch.long)
    draws = views.draw(100, torch.Generator().manual_seed(0))
    found = views.of(folder, index, draws)
    assert (found.shape, found.dtype) == ((2, 100, 3, 16, 16), torch.float32)
    assert ((found[:, :, 0].amax((2, 3)) > 0.9).any(1) & (found[:, :, 2].amax((2, 3)) > 0.9).any(1)).all()
    red = found[:, :, 0]
    assert (red[..., 0].amax(-1) > red[..., -1].amax(-1)).any()
    assert (red[..., 0].amax(-1) < red[..., -1].amax(-1)).any()
    assert folder[index[:1]].max() == 0
    assert torch.equal(found, views.of(folder, index, draws))
    in_memory, first = folder[index[:5]], draws[:, :5]
    assert torch.equal(views.of(in_memory, index[:5], first), views.made(in_memory[index[:5]], first))


def test_a_damaged_image_is_named(tmp_path):
    photograph(tmp_path / "n00000001", 20, 20)
    file = tmp_path / "n00000001" / "20x20.png"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(RepriseError, match=f"{file}: not an image"):
        Folder(tmp_path)[torch.tensor([0])]


FORMATS = {
    "cifar10": ("cifar-10-batches-py", "cifar-10-python.tar.gz"),
    "cifar100": ("cifar-100-python", "cifar-100-python.tar.gz"),
    "stl10": ("stl10_binary", "stl10_binary.tar.gz"),
    "imagenet": ("", "train/n01440764"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_data_set_that_is_not_there_is_an_error_that_says_what_goes_where(name, tmp_path):
    said = message(tmp_path / "none", name)
    for part in (str(tmp_path / "none" / FORMATS[name][0]), FORMATS[name][1], "lacks", "root", "'shapes'"):
        assert part in said


def test_each_missing_file_is_named(tmp_path, monkeypatch):
    official_formats.cifar("cifar10", tmp_path, monkeypatch)
    official_formats.stl10(tmp_path, monkeypatch)
    (tmp_path / "cifar-10-batches-py" / "data_batch_3").unlink()
    (tmp_path / "stl10_binary" / "unlabeled_X.bin").unlink()
    assert "lacks data_batch_3;" in message(tmp_path, "cifar10")
    assert "lacks unlabeled_X.bin;" in message(tmp_path, "stl10")


def test_truncated_files_are_named_before_anything_is_loaded(tmp_path, monkeypatch):
    official_formats.cifar("cifar100", tmp_path, monkeypatch)
    official_formats.stl10(tmp_path, monkeypatch)
    for file, name in (("cifar-100-python/train", "cifar100"), ("stl10_binary/test_X.bin", "stl10")):
        content = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(content[: len(content) // 2])
        assert f"{tmp_path / file}: " in message(tmp_path, name)


def test_the_published_sizes_are_asked_for(tmp_path, monkeypatch):
    """Without the fixture's own counts, a tiny data set is not the published one."""
    with monkeypatch.context() as patch:
        official_formats.cifar("cifar10", tmp_path, patch)
        official_formats.stl10(tmp_path, patch)
        official_formats.imagenet(tmp_path, patch)
    assert "its 10000 images take 30720000" in message(tmp_path, "cifar10")
    assert "expected 138240000" in message(tmp_path, "stl10")
    assert "3 folders; expected one for each of the 1000 classes" in message(tmp_path, "imagenet")


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "stl10"])
def test_a_changed_byte_is_found_before_a_pickle_is_read(name, tmp_path, monkeypatch):
    if name == "stl10":
        official_formats.stl10(tmp_path, monkeypatch)
        file = tmp_path / "stl10_binary" / "train_X.bin"
    else:
        official_formats.cifar(name, tmp_path, monkeypatch)
        file = tmp_path / DATA_SETS[name].folder / next(iter(DATA_SETS[name].files["test"]))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    check(name, tmp_path)
    monkeypatch.setattr("pickle.load", lambda *_, **__: pytest.fail("unpickled"))
    with pytest.raises(RepriseError, match="MD5"):
        load(name, tmp_path)


def test_other_class_names_are_an_error(tmp_path, monkeypatch):
    official_formats.stl10(tmp_path, monkeypatch)
    file = tmp_path / "stl10_binary" / "class_names.txt"
    file.write_text(file.read_text().replace("truck", "lorry"))
    assert "lorry" in message(tmp_path, "stl10")
    official_formats.imagenet(tmp_path, monkeypatch)
    (tmp_path / "val" / "n01440764").rename(tmp_path / "val" / "tench")
    assert "'tench'" in message(tmp_path, "imagenet")
    (tmp_path / "val" / "tench").rename(tmp_path / "val" / "n99999999")
    assert "n01440764" in message(tmp_path, "imagenet")


def test_imagenets_count_is_checked_when_it_is_loaded(tmp_path, monkeypatch):
    official_formats.imagenet(tmp_path, monkeypatch)
    file = next((tmp_path / "train").glob("*/*_0.JPEG"))
    file.unlink()
    with pytest.raises(RepriseError, match=r"11 images of 3 classes.*expected 12 of 3"):
        load("imagenet", tmp_path)
    for rest in file.parent.iterdir():
        rest.unlink()
    with pytest.raises(RepriseError, match=file.parent.name):
        load("imagenet", tmp_path)


def test_labels_out_of_range_are_an_error(tmp_path, monkeypatch):
    official_formats.stl10(tmp_path, monkeypatch)
    monkeypatch.setitem(DATA_SETS, "stl10", replace(DATA_SETS["stl10"], classes=3))
    with pytest.raises(RepriseError, match="expected 6 of 3"):
        load("stl10", tmp_path)


def test_an_unknown_split_is_an_error_that_names_the_known_ones(tmp_path):
    with pytest.raises(RepriseError, match="no split 'val'; allowed: train, test, unlabelled"):
        load("stl10", tmp_path, "val")


STAND_INS = [
    pytest.param(name, marks=[pytest.mark.slow] if data_set.side == 64 else [])
    for name, data_set in DATA_SETS.items()
    if type(data_set).check is DataSet.check
]
OF_CHANNELS = ("photographs", "photographs-many", "photographs-64")
"""Their deviation is the mean of the channels'."""
TWO_DIGITS = ("shapes", "shapes-80")
"""Their mean and deviation, .199 and .1775, are declared as .2 and .18."""


@pytest.mark.parametrize("name", STAND_INS)
def test_stand_ins_need_no_files_and_their_splits_differ(name, tmp_path):
    (train, train_labels), (test, test_labels) = (
        load(name, tmp_path / "none", split) for split in ("train", "test")
    )
    assert train.dtype == test.dtype == torch.uint8
    assert train.shape[1:] == test.shape[1:]
    for labels in (train_labels, test_labels):
        assert sorted(labels.unique().tolist()) == list(range(DATA_SETS[name].classes))
    seen = {image.numpy().tobytes() for image in train}
    assert not any(image.numpy().tobytes() in seen for image in test)
    pixels, normalisation = train / 255, DATA_SETS[name].normalisation
    std = pixels.std((0, 2, 3)).mean() if name in OF_CHANNELS else pixels.std()
    tolerance = 0.005 if name in TWO_DIGITS else 0.001
    assert float(pixels.mean()) == pytest.approx(normalisation.mean[0], abs=tolerance)
    assert float(std) == pytest.approx(normalisation.std[0], abs=tolerance)


def test_photographs_are_crops_of_scikit_learns_two_and_any_prefix_is_the_same():
    theirs = load_sample_images().images
    found, labels = load("photographs", "nothing")
    for image, label in zip(found[:3].permute(0, 2, 3, 1).numpy(), labels, strict=False):
        rows, columns = np.nonzero((theirs[label][:-31, :-31] == image[0, 0]).all(-1))
        assert any(
            np.array_equal(theirs[label][row : row + 32, column : column + 32], image)
            for row, column in zip(rows, columns, strict=True)
        )
    few, _ = photographs.crops(5)
    np.testing.assert_array_equal(few, found[:5])


def test_the_nine_photographs_lie_in_installed_packages_and_need_no_download(monkeypatch):
    """scikit-image's are those in its wheel's own record."""
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("asks the network"))
    found = photographs.many()
    assert len(found) == DATA_SETS["photographs-many"].classes == 9
    theirs = {file.stem for file in files("scikit-image") if file.parts[:2] == ("skimage", "data")}
    names = {"cat": "chelsea", "immunohistochemistry": "ihc"}  # their files
    others = {"china", "flower", "grace_hopper"}
    assert {names.get(name, name) for name in found.keys() - others} <= theirs
    for photograph in found.values():
        assert photograph.dtype == np.uint8
        assert photograph.shape[2] == 3


def test_a_photograph_or_digits_of_other_pixels_are_refused(monkeypatch):
    altered, rows = data.cat().copy(), np.column_stack([load_digits().data, load_digits().target])
    altered[-1, -1, -1] ^= 1
    monkeypatch.setattr(data, "cat", lambda: altered)
    with pytest.raises(RepriseError, match=r"photograph 'cat': not the data .* make environment"):
        load("photographs-64", "nothing", "test")
    load("digits", "nothing", "test")
    rows[-1, -1] += 1
    monkeypatch.setattr(np, "loadtxt", lambda file, delimiter: rows)
    with pytest.raises(RepriseError, match="data set 'digits': not the data"):
        load("digits", "nothing", "test")
    _, flower = load_sample_images().images
    monkeypatch.setattr("sklearn.datasets.load_sample_image", lambda name: flower)
    with pytest.raises(RepriseError, match="photograph 'china'"):
        load("photographs", "nothing", "test")


@pytest.mark.parametrize(("split", "side"), [("train", 32), ("test", 64)])
def test_crops_of_many_photographs_lie_in_their_splits_part_of_the_photograph_of_their_label(split, side):
    found, labels = photographs.crops_of_many(18, split, side)
    theirs = list(photographs.many().values())
    assert list(labels) == [*range(9), *range(9)]
    for image, label in zip(found.transpose(0, 2, 3, 1), labels, strict=True):
        whole = theirs[label]
        limit = round(0.7 * whole.shape[1])
        rows, columns = np.nonzero((whole[: 1 - side, : 1 - side] == image[0, 0]).all(-1))
        places = [
            column
            for row, column in zip(rows, columns, strict=True)
            if np.array_equal(whole[row : row + side, column : column + side], image)
        ]
        assert len(places) == 1
        assert places[0] >= limit if split == "test" else places[0] + side <= limit
    few, _ = photographs.crops_of_many(5, split, side)
    np.testing.assert_array_equal(few, found[:5])


def test_photographs_of_16_pixels_are_the_crops_of_32_at_half_the_resolution():
    (images, labels), (halved, same) = load("photographs-many", ""), load("photographs-16", "")
    means = torch.nn.functional.avg_pool2d(images.double(), 2)
    assert halved.shape == (5000, 3, 16, 16)
    assert (halved - means).abs().max() <= 0.5
    assert torch.equal(same, labels)
    pixels, normalisation = halved.double() / 255, DATA_SETS["photographs-16"].normalisation
    assert pixels.mean() == pytest.approx(normalisation.mean[0], abs=5e-4)
    assert pixels.std() == pytest.approx(normalisation.std[0], abs=5e-4)


def test_shapes_64_are_the_objects_of_shapes_at_twice_the_resolution():
    """Means of 2x2 pixels differ from the smaller image along edges alone."""
    small, large = (shapes.render(100, seed=0, size=size) for size in (32, 64))
    for factor in ("shape", "colour", "texture"):
        np.testing.assert_array_equal(getattr(large, factor), getattr(small, factor))
    halved = large.images.reshape(100, 3, 32, 2, 32, 2).mean((3, 5))
    difference = abs(halved - small.images)
    assert np.median(difference) < 1
    assert difference.mean() < 4
    np.testing.assert_array_equal(
        load("shapes-64", "nothing", "test")[0][:100], shapes.render(100, seed=0, split=1, size=64).images
    )


def test_shapes_80_are_the_same_images_with_the_colour_in_the_class(tmp_path):
    (plain, shape), (coloured, both) = (load(name, tmp_path) for name in ("shapes", "shapes-80"))
    assert torch.equal(plain, coloured)
    assert torch.equal(shape, both // 8)
