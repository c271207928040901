"""Embeddings and labels from files. Nothing in a file is executed."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray as Array

from reprise.errors import RepriseError

SUFFIXES = (".npy", ".npz", ".safetensors", ".pt", ".pth")


def embeddings(name: str) -> Float[Array, "sample dim"]:
    """The matrix in `FILE` or `FILE:key`. A `.npy` is mapped into memory, not read.

    Raises:
        RepriseError: if the file is missing, of another kind or damaged, holds several arrays and no key
            chooses one, or its array is not a matrix of real numbers.
    """
    values = _array(name)
    if values.ndim != 2:
        hint = {
            1: "a vector has no dimensions to compare",
            3: "store each view in a file or under a key of its own",
            4: "average feature maps over their pixels first",
        }.get(values.ndim, "flatten it first")
        raise RepriseError(
            f"{name}: an array of shape {list(values.shape)}; expected [samples, dimensions]; {hint}"
        )
    if values.dtype.kind not in "fiu":
        raise RepriseError(f"{name}: numbers of type {values.dtype}; expected real numbers, such as float32")
    return values


def labels(name: str, samples: int) -> Int[Array, " sample"]:
    """The classes in `FILE` or `FILE:key`, one for each sample; numbers or names, also one per line of a text
    file.

    Returns:
        Classes counted from 0.

    Raises:
        RepriseError: as `embeddings`; also if there are not as many labels as samples, or only one class.
    """
    file = Path(name)
    if file.suffix in (".txt", ".csv"):
        if not file.is_file():
            raise _missing(file)
        values = np.array(file.read_text(encoding="utf-8", errors="replace").split())
    else:
        values = _array(name)
    if values.shape != (samples,):
        raise RepriseError(
            f"{name}: labels of shape {list(values.shape)} for {samples} samples; expected [{samples}], one "
            "label for each row"
        )
    classes, indices = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise RepriseError(f"{name}: all {samples} labels are {classes[0]}; probes need two classes or more")
    return indices


def state_dict(file: Path) -> dict[str, torch.Tensor]:
    """The weights in a `.safetensors`, `.pt` or `.pth` file; a checkpoint's `state_dict` or `model` if it has
    one.

    Raises:
        RepriseError: if the file is missing, damaged, of another kind, or holds no tensors.
    """
    if file.suffix not in (".safetensors", ".pt", ".pth"):
        raise RepriseError(f"{file}: weights end in .safetensors, .pt or .pth")
    content = _stored(file)
    for key in ("state_dict", "model"):
        content = (
            content[key] if isinstance(content, dict) and isinstance(content.get(key), dict) else content
        )
    tensors = _tensors(content)
    if not tensors:
        raise RepriseError(
            f"{file}: holds no weights; expected a state dict, as torch.save(model.state_dict())"
        )
    return tensors


def _array(name: str) -> Array:
    file, key = _split(name)
    if file.suffix not in SUFFIXES:
        raise RepriseError(
            f"{file}: unknown kind of file '{file.suffix}'; expected {', '.join(SUFFIXES)}, or a model: "
            "path/model.py:build"
        )
    content = _stored(file)
    if not isinstance(content, dict):
        if key:
            raise RepriseError(f"{file}: holds one array and no keys; leave out ':{key}'")
        return _numbers(name, content)
    named = {name: value for name, value in content.items() if isinstance(value, np.ndarray | torch.Tensor)}
    shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in list(named.items())[:8]) or "none"
    if key and key not in named:
        raise RepriseError(f"{file}: has no array '{key}'; it holds: {shapes}")
    if not key and len(named) != 1:
        raise RepriseError(f"{file}: holds {len(named)} arrays: {shapes}; name one, as in {file}:KEY")
    return _numbers(name, named[key or next(iter(named))])


def _numbers(name: str, value: Any) -> Array:
    if isinstance(value, torch.Tensor):
        try:
            value = value.detach().cpu()
            return (value.float() if value.is_floating_point() and value.itemsize < 4 else value).numpy()
        except (RuntimeError, TypeError) as error:  # sparse, on no device, conjugated
            kind = f"{value.dtype}, {value.layout}, on {value.device}"
            raise RepriseError(f"{name}: this tensor ({kind}) is no array: {error}") from None
    if isinstance(value, np.ndarray):
        return value
    raise RepriseError(f"{name}: holds a {type(value).__name__}; expected an array or a tensor")


def _split(name: str) -> tuple[Path, str]:
    """A file and the key after the colon, if there is one."""
    before, _, key = name.rpartition(":")
    return (Path(before), key) if before and Path(before).suffix in SUFFIXES else (Path(name), "")


def _stored(file: Path) -> Any:
    """What a file holds: an array, or arrays by key."""
    if not file.is_file():
        raise _missing(file)
    try:
        if file.suffix == ".npy":
            return np.load(file, mmap_mode="r", allow_pickle=False)
        if file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(file)
        with warnings.catch_warnings(action="ignore"):  # before it refuses, it warns of the pickle's version
            return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # each library has its own for what it cannot read
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        remedy = "save plain arrays or tensors; pickled objects are refused, because reading one executes it"
        raise RepriseError(f"{file}: cannot be read ({reason}); {remedy}") from None


def _tensors(content: Any) -> dict[str, torch.Tensor]:
    if not isinstance(content, dict):
        return {}
    return {key: value for key, value in content.items() if isinstance(value, torch.Tensor)}


def _missing(file: Path) -> RepriseError:
    return RepriseError(f"{file}: no such file in {file.absolute().parent}")
