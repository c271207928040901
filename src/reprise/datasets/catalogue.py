"""Checks that a data set's files are present, complete and of the right kind.

A run's plan makes these checks before its first job, so this module does not import torch, and looks at
sizes, headers and names only. MD5 sums and file counts, which take longer, are checked when the data set is
loaded.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from reprise.errors import RepriseError

STAND_INS = ("digits", "photographs", "shapes", "shapes-80", "shapes-bright")
"""Data sets that need no files."""
SPLITS = {
    **dict.fromkeys((*STAND_INS, "mnist", "cifar10", "cifar100", "imagenet"), ("train", "test")),
    "digits": ("train", "test", "train+test"),
    "stl10": ("train", "test", "unlabelled", "train+unlabelled"),
}
"""Splits of each data set. ImageNet's `test` is its validation set, which has labels."""
CLASSES = {**dict.fromkeys(SPLITS, 10), "photographs": 2, "shapes-80": 80, "cifar100": 100, "imagenet": 1000}

UNSIGNED_BYTES = 0x08
MNIST = {
    "train-images-idx3-ubyte": 3,
    "train-labels-idx1-ubyte": 1,
    "t10k-images-idx3-ubyte": 3,
    "t10k-labels-idx1-ubyte": 1,
}
"""MNIST's files and the number of dimensions of each array; torchvision's loader needs all four files."""


@dataclass(frozen=True)
class Cifar:
    """A folder of pickles, each with images of 3x32x32 bytes and their labels.

    Attributes:
        images: number of images in each file, by split.
        names: file with the class names.
    """

    folder: str
    archive: str
    images: dict[str, dict[str, int]]
    names: str


CIFAR = {
    "cifar10": Cifar(
        "cifar-10-batches-py",
        "cifar-10-python.tar.gz",
        {
            "train": {f"data_batch_{number}": 10_000 for number in range(1, 6)},
            "test": {"test_batch": 10_000},
        },
        "batches.meta",
    ),
    "cifar100": Cifar(
        "cifar-100-python",
        "cifar-100-python.tar.gz",
        {"train": {"train": 50_000}, "test": {"test": 10_000}},
        "meta",
    ),
}
CIFAR_BYTES = 3 * 32 * 32

STL10 = {"train": 5_000, "test": 8_000, "unlabeled": 100_000}
"""Number of images in each of STL-10's files, NAME_X.bin; torchvision's loader needs all of them."""
STL10_BYTES = 3 * 96 * 96
STL10_CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")

IMAGENET = {"train": 1_281_167, "val": 50_000}
"""Number of images in each of ImageNet's folders (ILSVRC 2012)."""


def check(name: str, root: str | Path, split: str = "train") -> None:
    """Checks that `images.load(name, root, split)` will find the files it needs.

    Args:
        root: folder that holds MNIST/raw/, cifar-10-batches-py/, cifar-100-python/ or stl10_binary/ in
            torchvision's layout, or ImageNet's train/ and val/.

    Raises:
        RepriseError: if the data set or split is unknown, or a file is missing, truncated or of another kind;
            it names the file, what was expected and what to do.
    """
    if name not in SPLITS:
        raise RepriseError(f"unknown data set '{name}'; allowed: {', '.join(SPLITS)}")
    if split not in SPLITS[name]:
        raise RepriseError(f"data set '{name}' has no split '{split}'; allowed: {', '.join(SPLITS[name])}")
    root = Path(root).expanduser().absolute()
    if name == "mnist":
        _check_mnist(root / "MNIST" / "raw")
    elif name in CIFAR:
        _check_cifar(name, root)
    elif name == "stl10":
        _check_stl10(root / "stl10_binary")
    elif name == "imagenet":
        _check_imagenet(root)


def _check_mnist(folder: Path) -> None:
    missing = [file for file in MNIST if not (folder / file).is_file()]
    all_packed = all((folder / f"{file}.gz").is_file() for file in missing)
    remedy = "unpack them: gunzip *.gz" if all_packed else "put MNIST's unpacked IDX files there"
    _require("mnist", folder, missing, remedy, stand_in="digits")
    lengths = {file: _length(folder / file, dimensions) for file, dimensions in MNIST.items()}
    for part in ("train", "t10k"):
        images, labels = (lengths[file] for file in MNIST if file.startswith(part))
        if images != labels:
            raise RepriseError(f"data set 'mnist': {folder}: {images} {part} images, but {labels} labels")


def _check_cifar(name: str, root: Path) -> None:
    layout = CIFAR[name]
    folder, images = root / layout.folder, {**layout.images["train"], **layout.images["test"]}
    missing = [file for file in (*images, layout.names) if not (folder / file).is_file()]
    _require(name, folder, missing, f"unpack {layout.archive} in {root}", stand_in="shapes")
    for file, count in images.items():
        size, minimum = _size(folder / file), count * CIFAR_BYTES
        if size < minimum:
            raise RepriseError(
                f"{folder / file}: truncated: {size} bytes; its {count} images take {minimum}; unpack "
                f"{layout.archive} again"
            )


def _check_stl10(folder: Path) -> None:
    remedy = f"unpack stl10_binary.tar.gz in {folder.parent}"
    sizes = {f"{part}_X.bin": count * STL10_BYTES for part, count in STL10.items()}
    sizes |= {f"{part}_y.bin": STL10[part] for part in ("train", "test")}
    missing = [file for file in (*sizes, "class_names.txt") if not (folder / file).is_file()]
    _require("stl10", folder, missing, remedy, stand_in="shapes")
    for file, expected in sizes.items():
        if (size := _size(folder / file)) != expected:
            raise RepriseError(f"{folder / file}: {size} bytes, expected {expected}; {remedy} again")
    names = tuple((folder / "class_names.txt").read_text(errors="replace").split())
    if names != STL10_CLASSES:
        raise RepriseError(
            f"{folder / 'class_names.txt'}: names {', '.join(names) or 'nothing'}; expected "
            f"{', '.join(STL10_CLASSES)}; {remedy} again"
        )


def _check_imagenet(root: Path) -> None:
    missing = [f"{part}/" for part in IMAGENET if not (root / part).is_dir()]
    remedy = "put ILSVRC 2012's images there, in a folder for each class: train/n01440764/*.JPEG"
    _require("imagenet", root, missing, remedy, stand_in="shapes")
    classes = {}
    for part in IMAGENET:
        names = {entry.name for entry in (root / part).iterdir() if entry.is_dir()}
        strangers = sorted(name for name in names if not re.fullmatch(r"n\d{8}", name))
        if strangers or len(names) != CLASSES["imagenet"]:
            example = f", '{strangers[0]}' among them" if strangers else ""
            raise RepriseError(
                f"data set 'imagenet': {root / part} holds {len(names)} folders{example}; expected one for "
                f"each of the {CLASSES['imagenet']} classes, named like n01440764, with the class's images"
            )
        classes[part] = names
    if unpaired := sorted(classes["train"] ^ classes["val"]):
        raise RepriseError(
            f"data set 'imagenet': {root}: class '{unpaired[0]}' is in only one of train/ and val/, "
            f"which should have the same classes; add the missing folders"
        )


def _require(name: str, folder: Path, missing: list[str], remedy: str, stand_in: str) -> None:
    if missing:
        raise RepriseError(
            f"data set '{name}': {folder} lacks {', '.join(missing)}; {remedy}, or name another root or, as "
            f"a stand-in, the data set '{stand_in}'"
        )


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}") from None


def _length(file: Path, dimensions: int) -> int:
    """Number of images or labels in an IDX file.

    The header holds two zeros, the type of the numbers, the number of dimensions, and their sizes, 4 bytes
    each.
    """
    remedy = "copy or download it again"
    try:
        with file.open("rb") as stream:
            header = stream.read(4 + 4 * dimensions)
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}") from None
    size, magic = _size(file), bytes((0, 0, UNSIGNED_BYTES, dimensions))
    if header[:4] != magic[: len(header)]:
        raise RepriseError(
            f"{file}: starts with {header[:4].hex()}, but an IDX file of bytes in {dimensions} dimensions "
            f"starts with {magic.hex()}; {remedy}"
        )
    sizes = [int.from_bytes(header[start : start + 4], "big") for start in range(4, len(header), 4)]
    expected = len(header) + math.prod(sizes)
    if len(header) < 4 + 4 * dimensions or size != expected:
        promise = f", its header says {expected}" if len(header) == 4 + 4 * dimensions else ""
        raise RepriseError(f"{file}: truncated or damaged: {size} bytes{promise}; {remedy}")
    return sizes[0]
