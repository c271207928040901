"""Whether a data set's files are there, whole and of the right kind; without torch, because the plan of a run
asks it before the first job."""

import math
from pathlib import Path

from reprise.errors import RepriseError

IN_PACKAGES = ("digits",)
"""Data sets that a dependency brings along."""

UNSIGNED_BYTES = 0x08
MNIST = {
    "train-images-idx3-ubyte": 3,
    "train-labels-idx1-ubyte": 1,
    "t10k-images-idx3-ubyte": 3,
    "t10k-labels-idx1-ubyte": 1,
}
"""MNIST's files, and the dimensions of the array in each; torchvision's loader wants all four."""


def check(name: str, root: str | Path) -> None:
    """That `load(name, root)` will find what it needs.

    Args:
        root: the folder that holds MNIST/raw/, as torchvision has it.

    Raises:
        RepriseError: for an unknown data set, and for a file that is missing, truncated or of another kind;
            it names the file, what was expected and what to do.
    """
    if name in IN_PACKAGES:
        return
    if name != "mnist":
        raise RepriseError(f"unknown data set '{name}'; allowed: {', '.join((*IN_PACKAGES, 'mnist'))}")
    folder = (Path(root).expanduser() / "MNIST" / "raw").absolute()
    missing = [file for file in MNIST if not (folder / file).is_file()]
    if missing:
        packed = all((folder / f"{file}.gz").is_file() for file in missing)
        todo = "unpack them: gunzip *.gz" if packed else "put MNIST's unpacked IDX files there"
        raise RepriseError(
            f"data set 'mnist': {folder} lacks {', '.join(missing)}; {todo}, or name another root or, as a "
            f"stand-in, the data set 'digits'"
        )
    lengths = {file: _length(folder / file, dimensions) for file, dimensions in MNIST.items()}
    for part in ("train", "t10k"):
        images, labels = (lengths[file] for file in MNIST if file.startswith(part))
        if images != labels:
            raise RepriseError(f"data set 'mnist': {folder}: {images} {part} images, but {labels} labels")


def _length(file: Path, dimensions: int) -> int:
    """How many images or labels an IDX file holds.

    Its header: two zeros, the type of the numbers, how many dimensions, and their sizes, 4 bytes each.
    """
    again = "copy or download it again"
    try:
        with file.open("rb") as opened:
            header = opened.read(4 + 4 * dimensions)
        found = file.stat().st_size
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}") from None
    magic = bytes((0, 0, UNSIGNED_BYTES, dimensions))
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
