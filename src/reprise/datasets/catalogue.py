"""Whether a data set's files are there, whole and of the right kind; without torch, because the plan of a run
asks it before the first job.

Only sizes, headers and names are looked at here. What costs reading all bytes, MD5 sums and counts of files,
is checked when the data set is loaded.
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
"""The parts of each data set. ImageNet's `test` is its validation set, the labelled one."""
CLASSES = {**dict.fromkeys(SPLITS, 10), "photographs": 2, "shapes-80": 80, "cifar100": 100, "imagenet": 1000}

UNSIGNED_BYTES = 0x08
MNIST = {
    "train-images-idx3-ubyte": 3,
    "train-labels-idx1-ubyte": 1,
    "t10k-images-idx3-ubyte": 3,
    "t10k-labels-idx1-ubyte": 1,
}
"""MNIST's files, and the dimensions of the array in each; torchvision's loader wants all four."""


@dataclass(frozen=True)
class Cifar:
    """A folder of pickles, 3x32x32 bytes an image and the labels in each.

    Attributes:
        images: how many are in each file of the splits.
        names: the file with the names of the classes.
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
"""Images in each of STL-10's files, NAME_X.bin; torchvision's loader wants all of them."""
STL10_BYTES = 3 * 96 * 96
STL10_CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")

IMAGENET = {"train": 1_281_167, "val": 50_000}
"""Images in each of ImageNet's folders (ILSVRC 2012)."""


def check(name: str, root: str | Path, split: str = "train") -> None:
    """That `images.load(name, root, split)` will find what it needs.

    Args:
        root: the folder that holds MNIST/raw/, cifar-10-batches-py/, cifar-100-python/ or stl10_binary/, as
            torchvision has them, or ImageNet's train/ and val/.

    Raises:
        RepriseError: for an unknown data set or split, and for a file that is missing, truncated or of
            another kind; it names the file, what was expected and what to do.
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
    packed = all((folder / f"{file}.gz").is_file() for file in missing)
    todo = "unpack them: gunzip *.gz" if packed else "put MNIST's unpacked IDX files there"
    _complain_of("mnist", folder, missing, todo, stand_in="digits")
    lengths = {file: _length(folder / file, dimensions) for file, dimensions in MNIST.items()}
    for part in ("train", "t10k"):
        images, labels = (lengths[file] for file in MNIST if file.startswith(part))
        if images != labels:
            raise RepriseError(f"data set 'mnist': {folder}: {images} {part} images, but {labels} labels")


def _check_cifar(name: str, root: Path) -> None:
    of = CIFAR[name]
    folder, images = root / of.folder, {**of.images["train"], **of.images["test"]}
    missing = [file for file in (*images, of.names) if not (folder / file).is_file()]
    _complain_of(name, folder, missing, f"unpack {of.archive} in {root}", stand_in="shapes")
    for file, count in images.items():
        found, least = _size(folder / file), count * CIFAR_BYTES
        if found < least:
            raise RepriseError(
                f"{folder / file}: truncated: {found} bytes; its {count} images take {least}; unpack "
                f"{of.archive} again"
            )


def _check_stl10(folder: Path) -> None:
    todo = f"unpack stl10_binary.tar.gz in {folder.parent}"
    sizes = {f"{part}_X.bin": count * STL10_BYTES for part, count in STL10.items()}
    sizes |= {f"{part}_y.bin": STL10[part] for part in ("train", "test")}
    missing = [file for file in (*sizes, "class_names.txt") if not (folder / file).is_file()]
    _complain_of("stl10", folder, missing, todo, stand_in="shapes")
    for file, expected in sizes.items():
        if (found := _size(folder / file)) != expected:
            raise RepriseError(f"{folder / file}: {found} bytes, expected {expected}; {todo} again")
    names = tuple((folder / "class_names.txt").read_text(errors="replace").split())
    if names != STL10_CLASSES:
        raise RepriseError(
            f"{folder / 'class_names.txt'}: names {', '.join(names) or 'nothing'}; expected "
            f"{', '.join(STL10_CLASSES)}; {todo} again"
        )


def _check_imagenet(root: Path) -> None:
    missing = [f"{part}/" for part in IMAGENET if not (root / part).is_dir()]
    todo = "put ILSVRC 2012's images there, in a folder for each class: train/n01440764/*.JPEG"
    _complain_of("imagenet", root, missing, todo, stand_in="shapes")
    classes = {}
    for part in IMAGENET:
        found = {entry.name for entry in (root / part).iterdir() if entry.is_dir()}
        strange = sorted(name for name in found if not re.fullmatch(r"n\d{8}", name))
        if strange or len(found) != CLASSES["imagenet"]:
            what = f", '{strange[0]}' among them" if strange else ""
            raise RepriseError(
                f"data set 'imagenet': {root / part} holds {len(found)} folders{what}; expected one for each "
                f"of the {CLASSES['imagenet']} classes, named like n01440764, with that class's images in it"
            )
        classes[part] = found
    if odd := sorted(classes["train"] ^ classes["val"]):
        raise RepriseError(
            f"data set 'imagenet': {root}: class '{odd[0]}' is in train/ or val/ only; both have the same "
            f"classes; put the missing folders there"
        )


def _complain_of(name: str, folder: Path, missing: list[str], todo: str, stand_in: str) -> None:
    if missing:
        raise RepriseError(
            f"data set '{name}': {folder} lacks {', '.join(missing)}; {todo}, or name another root or, as a "
            f"stand-in, the data set '{stand_in}'"
        )


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}") from None


def _length(file: Path, dimensions: int) -> int:
    """How many images or labels an IDX file holds.

    Its header: two zeros, the type of the numbers, how many dimensions, and their sizes, 4 bytes each.
    """
    again = "copy or download it again"
    try:
        with file.open("rb") as opened:
            header = opened.read(4 + 4 * dimensions)
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}") from None
    found, magic = _size(file), bytes((0, 0, UNSIGNED_BYTES, dimensions))
    if header[:4] != magic[: len(header)]:
        raise RepriseError(
            f"{file}: starts with {header[:4].hex()}, an IDX file of bytes in {dimensions} dimensions with "
            f"{magic.hex()}; {again}"
        )
    sizes = [int.from_bytes(header[at : at + 4], "big") for at in range(4, len(header), 4)]
    expected = len(header) + math.prod(sizes)
    if len(header) < 4 + 4 * dimensions or found != expected:
        whole = f", its header says {expected}" if len(header) == 4 + 4 * dimensions else ""
        raise RepriseError(f"{file}: truncated or damaged: {found} bytes{whole}; {again}")
    return sizes[0]
