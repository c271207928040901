"""Tiny data sets in the official formats, for the real loaders: the published counts, sizes and MD5 sums that
they are held against are replaced by the tiny files' own."""

import hashlib
import pickle
from dataclasses import replace

import numpy as np
from PIL import Image
from torchvision import datasets

from reprise.datasets import imagenet as imagenet_module
from reprise.datasets import mnist as mnist_module
from reprise.datasets import stl10 as stl10_module
from reprise.datasets.catalogue import DATA_SETS
from reprise.datasets.cifar import IMAGE_BYTES

CIFAR_LABELS = {"cifar10": "labels", "cifar100": "fine_labels"}
NAMES = {"cifar10": "label_names", "cifar100": "fine_label_names"}


def mnist(root, train=50, test=20, seed=0, patch=None):
    """The four files; returns the array in each. With `patch`, a run takes them for the published ones."""
    random, arrays = np.random.default_rng(seed), {}
    folder = root / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part, count in (("train", train), ("t10k", test)):
        arrays[f"{part}-images-idx3-ubyte"] = random.integers(0, 256, (count, 28, 28))
        arrays[f"{part}-labels-idx1-ubyte"] = random.integers(0, 10, count)
    for name, array in arrays.items():
        (folder / name).write_bytes(idx(array))
    if patch:
        sums = {name: hashlib.md5((folder / name).read_bytes()).hexdigest() for name in arrays}
        patch.setattr(mnist_module, "MD5", sums)
    return arrays


def idx(array):
    """An array of bytes in the format of MNIST's files."""
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes((0, 0, 8, array.ndim)) + sizes + array.astype(np.uint8).tobytes()


def cifar(name, root, patch, count=40, seed=0):
    """Every file with `count` images; returns the pixels and labels of each."""
    random, of = np.random.default_rng(seed), DATA_SETS[name]
    folder = root / of.folder
    folder.mkdir(parents=True)
    arrays, sums = {}, {}
    for file in (*of.files["train"], *of.files["test"]):
        pixels = random.integers(0, 256, (count, IMAGE_BYTES), dtype=np.uint8)
        labels = random.integers(0, of.classes, count).tolist()
        arrays[file] = pixels.reshape(-1, 3, 32, 32), labels
        sums[file] = _dump(folder / file, {"data": pixels, CIFAR_LABELS[name]: labels})
    sums[of.names] = _dump(folder / of.names, {NAMES[name]: [f"class {i}" for i in range(of.classes)]})
    files = {split: dict.fromkeys(of.files[split], count) for split in of.files}
    patch.setitem(DATA_SETS, name, replace(of, files=files))
    loader = {"cifar10": datasets.CIFAR10, "cifar100": datasets.CIFAR100}[name]
    for split in ("train", "test"):
        patch.setattr(loader, f"{split}_list", [[file, sums[file]] for file in files[split]])
    patch.setattr(loader, "meta", {**loader.meta, "md5": sums[of.names]})
    return arrays


def _dump(file, content):
    file.write_bytes(pickle.dumps(content, protocol=2))
    return hashlib.md5(file.read_bytes()).hexdigest()


def stl10(root, patch, train=6, test=4, unlabelled=5, seed=0):
    """Files with these many images; returns the arrays as they are in the files, columns before rows."""
    random, counts = np.random.default_rng(seed), {"train": train, "test": test, "unlabeled": unlabelled}
    folder = root / "stl10_binary"
    folder.mkdir(parents=True)
    arrays = {}
    for part, count in counts.items():
        arrays[f"{part}_X.bin"] = random.integers(0, 256, (count, 3, 96, 96), dtype=np.uint8)
        if part != "unlabeled":
            arrays[f"{part}_y.bin"] = random.integers(1, 11, count, dtype=np.uint8)
    for file, array in arrays.items():
        (folder / file).write_bytes(array.tobytes())
    (folder / "class_names.txt").write_text("".join(f"{name}\n" for name in stl10_module.CLASS_NAMES))
    sums = {file: hashlib.md5(array.tobytes()).hexdigest() for file, array in arrays.items()}
    patch.setattr(stl10_module, "COUNTS", counts)
    for split in ("train", "test"):
        named = [[file, sums[file]] for file, _ in getattr(datasets.STL10, f"{split}_list")]
        patch.setattr(datasets.STL10, f"{split}_list", named)
    return arrays


def imagenet(root, patch, classes=3, train=4, val=2, seed=0):
    """JPEG files of several sizes, one of them grey and one in CMYK, each class with its own colour."""
    random = np.random.default_rng(seed)
    names = [f"n{1440764 + i:08d}" for i in range(classes)]
    for part, count in (("train", train), ("val", val)):
        for label, name in enumerate(names):
            folder = root / part / name
            folder.mkdir(parents=True)
            for i in range(count):
                height, width = random.integers(40, 90, 2)
                image = Image.new("RGB", (width, height), (60 * label, 250 - 60 * label, 128))
                image.convert({0: "L", 1: "CMYK"}.get(i, "RGB")).save(folder / f"{name}_{i}.JPEG")
    patch.setattr(imagenet_module, "COUNTS", {"train": classes * train, "val": classes * val})
    counts = {"train": classes * train, "test": classes * val}
    patch.setitem(DATA_SETS, "imagenet", replace(imagenet_module.IMAGENET, classes=classes, counts=counts))
    return names
