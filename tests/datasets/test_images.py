"""Real IDX files, written here and read by torchvision's loader; and what is said of those that are not."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from reprise.datasets import files, images
from reprise.errors import RepriseError


def idx(array):
    """An array of bytes in the format of MNIST's files."""
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes((0, 0, 8, array.ndim)) + sizes + array.astype(np.uint8).tobytes()


@pytest.fixture
def written(tmp_path):
    """A root with MNIST's four files, of 50 and 20 images, and the arrays in them."""
    random, arrays = np.random.default_rng(0), {}
    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part, count in (("train", 50), ("t10k", 20)):
        arrays[f"{part}-images-idx3-ubyte"] = random.integers(0, 256, (count, 28, 28))
        arrays[f"{part}-labels-idx1-ubyte"] = random.integers(0, 10, count)
    for name, array in arrays.items():
        (folder / name).write_bytes(idx(array))
    return tmp_path, arrays


def test_mnist_is_what_the_train_files_hold(written):
    root, arrays = written
    found, labels = images.load("mnist", root)
    assert (found.dtype, labels.dtype) == (torch.float32, torch.int64)
    np.testing.assert_allclose(found, arrays["train-images-idx3-ubyte"] / 255, rtol=1e-6)
    np.testing.assert_array_equal(labels, arrays["train-labels-idx1-ubyte"])
    assert found.max() <= 1


def test_a_root_in_the_home_folder_may_be_written_with_a_tilde(written, monkeypatch):
    monkeypatch.setenv("HOME", str(written[0].parent))
    assert len(images.load("mnist", f"~/{written[0].name}")[0]) == 50


def test_digits_are_scikit_learns_and_need_no_files(tmp_path):
    found, labels = images.load("digits", tmp_path / "nothing")
    theirs = load_digits()
    np.testing.assert_array_equal(found * 16, theirs.images)
    np.testing.assert_array_equal(labels, theirs.target)
    assert (found.min(), found.max(), found.dtype) == (0, 1, torch.float32)


def message(root, name="mnist"):
    with pytest.raises(RepriseError) as planned:
        files.check(name, root)
    with pytest.raises(RepriseError) as loaded:
        images.load(name, root)
    assert str(planned.value) == str(loaded.value)
    assert len(str(planned.value).splitlines()) == 1
    return str(planned.value)


def test_an_unknown_data_set_is_an_error_that_names_the_known_ones(tmp_path):
    assert message(tmp_path, "mnits") == "unknown data set 'mnits'; allowed: digits, mnist"


def test_a_missing_folder_is_an_error_that_says_what_where_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = message("data")
    for part in (str(tmp_path / "data" / "MNIST" / "raw"), *files.MNIST, "root", "'digits'"):
        assert part in said


@pytest.mark.parametrize("name", files.MNIST)
def test_each_file_that_torchvision_wants_is_missed_by_name(written, name):
    (written[0] / "MNIST" / "raw" / name).unlink()
    said = message(written[0])
    assert [file for file in files.MNIST if file in said] == [name]


def test_packed_files_are_to_be_unpacked(written):
    """torchvision reads none of them unless it downloads."""
    for name in files.MNIST:
        file = written[0] / "MNIST" / "raw" / name
        file.with_name(f"{name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert "gunzip" in message(written[0])


@pytest.mark.parametrize("name", files.MNIST)
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


def test_images_without_labels_are_an_error(written):
    (written[0] / "MNIST" / "raw" / "train-labels-idx1-ubyte").write_bytes(idx(np.zeros(49)))
    assert "50 train images, but 49 labels" in message(written[0])


def test_the_check_needs_no_torch():
    """The plan of a run imports it."""
    code = "import sys, reprise.datasets.files; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
