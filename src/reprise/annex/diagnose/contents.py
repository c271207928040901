"""Reads what a file holds, told by its bytes, not by its suffix. Nothing in a file is executed."""

import argparse
import json
import math
import re
import struct
import textwrap
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import torch

from reprise.errors import RepriseError

Use = Literal["weights", "arrays"]
"""Purpose of reading a file, which decides how its tensors can be saved by themselves."""
Kind = Literal["npy", "zip", "safetensors", "torch", "pickle"]

LONGEST = 300
"""Characters of another library's message that are shown."""
START = 512
LARGEST_HEADER = 100_000_000
"""Bytes of a `.safetensors` file's header, at most (its format's limit)."""
OLD_TORCH = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"
"""The first bytes of a file by `torch.save` before PyTorch 1.6."""
NO_DATA = (
    (b"version https://git-lfs", "a Git LFS pointer, not the file that it points to; fetch it: git lfs pull"),
    (b"<!doctype", "a web page, not the file that it links to; download the file itself"),
    (b"<html", "a web page, not the file that it links to; download the file itself"),
    (b"\0\5\x16\7", "what macOS keeps beside a file (AppleDouble); take the file of this name without '._'"),
    (b"\x89hdf", "an HDF5 file; save its array with numpy.save"),
)
"""First bytes, in lower case, of files that stand in place of data, each with a description of the file."""
OBJECTS = "numpy.ndarray of Python objects"
WHOLE, INDEX = ("model.safetensors", "pytorch_model.bin"), ".index.json"
"""Names of weights in a folder of Hugging Face's, and how the name of the list of shards ends."""
EMPTY = "is empty (0 bytes); copy it again"
KINDS = ".npy, .npz, .safetensors or a file by torch.save"


class Unread:
    """Stands for a function, a class or an object that is not loaded, as loading it may execute anything.

    Attributes:
        name: of the function or class, with its module.
    """

    name = ""

    def __new__(cls, *args: object, **kwargs: object) -> "Unread":
        return super().__new__(cls)

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def __setstate__(self, state: object) -> None: ...


def kind(file: Path) -> Kind | None:
    """The kind of a file; None for text and for what is unknown.

    Raises:
        RepriseError: if it is missing, empty, not readable, or only stands in the data's place.
    """
    start = _start(file)
    if reason := no_data(start):
        raise RepriseError(f"{file}: {reason}")
    # First, because the size that it begins with may look like any kind; no other kind has both marks.
    if start[8:9] == b"{" and _header_size(start) <= LARGEST_HEADER:
        return "safetensors"
    if start.startswith(b"\x93NUMPY"):
        return "npy"
    if start.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    if start.startswith(OLD_TORCH):
        return "torch"
    return "pickle" if start[:1] == b"\x80" else None


def no_data(start: bytes) -> str:
    """Says what a file is that stands where data should be: empty, a Git LFS pointer, a web page. The empty
    string for others.

    Args:
        start: its first bytes.
    """
    if not start:
        return EMPTY
    lowered = start.lstrip(b" \r\n\t").lower()
    return next((f"is {what}" for sign, what in NO_DATA if lowered.startswith(sign)), "")


def content(file: Path, use: Use) -> Any:
    """Reads a file or a folder of weights: an array or a tensor, or dicts and lists whose leaves are such. A
    `.npy` is mapped into memory. `Unread` stands for objects that only unpickling can make.

    Raises:
        RepriseError: if there is no such file, or it is damaged or of another kind.
    """
    if file.name.endswith(INDEX):
        file = file.parent
    if file.is_dir():
        return _folder(file, use)
    match kind(file):
        case "npy":
            return _npy(file)
        case "zip":
            return _zip(file, use)
        case "safetensors":
            return _safetensors(file)
        case "torch":
            return _torch(file, use)
        case "pickle":
            opened = f"pickle.load(open({str(file)!r}, 'rb'))"
            raise _unsafe(file, "is a pickle", _saving(opened, use, imports="pickle, "))
    raise RepriseError(f"{file}: of no known kind: it begins with {_start(file)[:12]!r}; expected {KINDS}")


def leaves(
    content: Any, path: tuple[str, ...] = (), around: frozenset[int] = frozenset()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The leaves of nested dicts and lists, each with the keys and indices that lead to it.

    Args:
        around: identities of the dicts and lists around the content, which are not entered again.
    """
    if isinstance(content, list | tuple):
        items: Iterable[tuple[Any, Any]] = enumerate(content)
    elif isinstance(content, Mapping):
        items = content.items()
    else:
        yield path, content
        return
    if id(content) not in around:
        for key, value in items:
            yield from leaves(value, (*path, str(key)), around | {id(content)})


def unread(content: Any) -> dict[str, tuple[str, ...]]:
    """The names of objects that are not loaded, each with the path to the first."""
    found: dict[str, tuple[str, ...]] = {}
    for path, value in leaves(content):
        if isinstance(value, Unread) or (isinstance(value, type) and issubclass(value, Unread)):
            found.setdefault(value.name, path)
    return found


def not_loaded(file: Path, content: Any, use: Use) -> RepriseError | None:
    """The error for a file in which only objects that are not loaded were found; None where all is loaded."""
    found = unread(content)
    if not found:
        return None
    name, path = next(iter(found.items()))
    entry = "".join(f"[{key}]" if key.isdigit() else f"[{key!r}]" for key in path)
    opened = f"{_loading(file)}{entry}{'.state_dict()' if use == 'weights' else ''}"
    if name == OBJECTS:
        opened = f"numpy.stack(numpy.load({str(file)!r}, allow_pickle=True){entry})"
    place = f" at {'.'.join(path)}" if path else ""
    return _unsafe(file, f"holds an object of {name}{place}", _saving(opened, use))


def missing(file: Path) -> RepriseError:
    """The error for a path that is no file."""
    if file.is_dir():
        return RepriseError(f"{file}: a folder; expected a file")
    return RepriseError(f"{file}: no such file in {file.absolute().parent}")


def words(error: BaseException) -> str:
    """Another library's message in one line, without escape codes, and shortened between words."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    return textwrap.shorten(text, LONGEST, placeholder=" ...") or type(error).__name__


def _start(file: Path) -> bytes:
    if not file.is_file():
        raise missing(file)
    try:
        with file.open("rb") as stream:
            return stream.read(START)
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}; give read access to it") from None


def _header_size(start: bytes) -> int:
    return int(struct.unpack("<Q", start[:8])[0])


def _npy(file: Path) -> Any:
    readers: dict[tuple[int, int], Callable] = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        with file.open("rb") as stream:
            version = np.lib.format.read_magic(stream)
            if version not in readers:
                return np.load(file, allow_pickle=False)
            shape, _, dtype = readers[version](stream)
            whole = stream.tell() + math.prod(shape) * dtype.itemsize
        size = file.stat().st_size
        if dtype.hasobject:
            opened = f"numpy.stack(numpy.load({str(file)!r}, allow_pickle=True))"
            raise _unsafe(file, "holds an array of Python objects", _saving(opened, "arrays"))
        if size < whole:
            raise _truncated(file, size, whole)
        return np.load(file, mmap_mode="r" if math.prod(shape) else None, allow_pickle=False)
    except (ValueError, OSError) as error:
        raise _damaged(file, error) from None


def _zip(file: Path, use: Use) -> Any:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        raise RepriseError(
            f"{file}: begins as an archive (.npz, or by torch.save) but has no end: truncated; copy or "
            "download it again"
        ) from None
    if any(name.endswith("constants.pkl") for name in names):
        opened = f"torch.jit.load({str(file)!r}, map_location='cpu').state_dict()"
        raise _unsafe(file, "is a TorchScript program", _saving(opened, use))
    if any(name.endswith("data.pkl") for name in names):
        return _torch(file, use)
    if any(name.endswith(".npy") for name in names):
        return _npz(file)
    raise RepriseError(f"{file}: a zip archive of {len(names)} files, none of them an array; unpack it")


def _npz(file: Path) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    try:
        with np.load(file, allow_pickle=False) as archive:
            for key in archive.files:
                try:
                    arrays[key] = archive[key]
                except ValueError:  # of Python objects
                    arrays[key] = _stand_in(OBJECTS)()
    except Exception as error:  # zlib's and zipfile's
        raise _damaged(file, error) from None
    return arrays


def _safetensors(file: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    size = file.stat().st_size
    length = _header_size(_start(file))
    if size < 8 + length:
        raise _truncated(file, size, 8 + length)
    try:
        with file.open("rb") as stream:
            stream.seek(8)
            header = json.loads(stream.read(length))
        ends = [each["data_offsets"][1] for name, each in header.items() if name != "__metadata__"]
        whole = 8 + length + max(ends, default=0)
        if size < whole:
            raise _truncated(file, size, whole)
        return load_file(file)
    except RepriseError:
        raise
    except Exception as error:  # safetensors has one of its own
        raise _damaged(file, error) from None


def _torch(file: Path, use: Use) -> Any:
    """Reads a file by `torch.load` with weights only. Where one by PyTorch 1.6 or later needs a further class
    or function, `Unread` stands for it, which ignores what it is called with."""
    known = torch.serialization.get_safe_globals()
    allowed = [each for each in _allowed() if each not in known]
    try:
        with warnings.catch_warnings(action="ignore"), torch.serialization.safe_globals(allowed):
            others = []
            if zipfile.is_zipfile(file):
                others = torch.serialization.get_unsafe_globals_in_checkpoint(file)
            with torch.serialization.safe_globals([(_stand_in(name), name) for name in others]):
                return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch's, pickle's, zlib's
        _refuse(file, use, error)


def _refuse(file: Path, use: Use, error: Exception) -> NoReturn:
    found = re.search(r"GLOBAL ([\w.]+)|Can only .* but got <class '([\w.]+)'>", str(error))
    if found is None:
        raise _damaged(file, error) from None
    entry = "['state_dict']" if use == "weights" else ""
    what = f"needs {found[1] or found[2]} to be unpickled"
    raise _unsafe(file, what, _saving(_loading(file) + entry, use)) from None


def _allowed() -> list[Any]:
    """Classes and functions that only hold values: of settings, and of NumPy's arrays, in its present and its
    former module."""
    array, number = np.empty(0), np.float64()
    rebuilding: list[Any] = [array.__reduce__()[0], number.__reduce__()[0]]
    names = [
        (function, f"{module}.multiarray.{function.__name__}")
        for function in rebuilding
        for module in ("numpy.core", "numpy._core")
    ]
    types = [type(np.dtype(code)) for code in "?bhilqBHILQefdSU"]
    return [argparse.Namespace, np.ndarray, np.dtype, *dict.fromkeys(types), *names]


def _stand_in(name: str) -> type[Unread]:
    module, _, last = name.rpartition(".")
    return type(last, (Unread,), {"name": name, "__module__": module})


def _folder(folder: Path, use: Use) -> Any:
    """The weights in a folder that Hugging Face's libraries saved, whole or in shards, or in another with one
    file of weights."""
    if (folder / ".metadata").is_file():
        raise RepriseError(
            f"{folder}: a sharded checkpoint of torch.distributed; join its parts: python -m "
            f"torch.distributed.checkpoint.format_utils dcp_to_torch {folder} weights.pt"
        )
    for index in sorted(folder.glob(f"*{INDEX}")):
        try:
            shards = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (ValueError, KeyError, AttributeError, OSError) as error:
            raise _damaged(index, error) from None
        return {key: value for shard in shards for key, value in content(folder / shard, use).items()}
    for name in WHOLE:
        if (folder / name).is_file():
            return content(folder / name, use)
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    kinds = {file: each for file in files if file.stat().st_size and (each := kind(file)) is not None}
    found = [file for file in kinds if kinds[file] == "safetensors"] or list(kinds)
    if len(found) == 1:
        return content(found[0], use)
    names = ", ".join(file.name for file in found[:8])
    raise RepriseError(
        f"{folder}: a folder with {len(found)} files of weights{': ' * bool(names)}{names}; name one, as in "
        f"{folder / 'FILE'}"
    )


def _loading(file: Path) -> str:
    return f"torch.load({str(file)!r}, map_location='cpu', weights_only=False)"


def _saving(opened: str, use: Use, imports: str = "") -> str:
    """The command that saves tensors by themselves."""
    if use == "weights":
        return f"python -c \"import {imports}torch; torch.save({opened}, 'weights.pt')\""
    also = "torch, " if "torch." in opened else ""
    return f"python -c \"import {imports}{also}numpy; numpy.save('arrays.npy', {opened})\""


def _unsafe(file: Path, what: str, line: str) -> RepriseError:
    return RepriseError(
        f"{file}: {what}; pickled objects are refused, because reading one may execute anything; if you "
        f"trust it, save its tensors alone: {line}"
    )


def _truncated(file: Path, size: int, whole: int) -> RepriseError:
    return RepriseError(
        f"{file}: truncated: {size:,} bytes of {whole:,} by its header; copy or download it again"
    )


def _damaged(file: Path, error: Exception) -> RepriseError:
    return RepriseError(f"{file}: cannot be read ({words(error)}); copy or download it again")
