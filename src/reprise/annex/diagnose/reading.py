"""Embeddings and labels from files. Nothing in a file is executed."""

import csv
import io
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray as Array

from reprise.annex.diagnose.checkpoints import listed, split
from reprise.annex.diagnose.contents import content, kind, leaves, missing, not_loaded, words
from reprise.errors import RepriseError

TABLES = (".csv", ".tsv")
"""Endings of text with columns; in other text, a line is a label."""
NONE = -1
"""The class of a sample without a label."""


def embeddings(name: str) -> Float[Array, "sample dim"]:
    """The matrix in `FILE` or `FILE:key`. A `.npy` is mapped into memory, not read.

    Raises:
        RepriseError: if the file is missing, of another kind or damaged, holds several arrays and no key
            chooses one, or its array is not a matrix of real numbers.
    """
    if not split(name)[0].is_file():
        hint = "a model is path/model.py:build, torchvision:NAME or timm:NAME"
        raise RepriseError(f"{missing(split(name)[0])}; {hint}")
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
    """The classes in `FILE` or `FILE:key`, one for each sample: numbers or names in an array; in text, one a
    line; in `.csv` and `.tsv`, the column `key`.

    Returns:
        Classes counted from 0; `NONE` where the label is -1, NaN or empty.

    Raises:
        RepriseError: as `embeddings`; also if there are not as many labels as samples, only one class, more
            classes than half the labels, or several columns and no key chooses one.
    """
    file, key = split(name)
    if file.is_file() and kind(file) is None:
        values = _text(file, key, samples)
    else:
        values = _array(name)
    if values.shape != (samples,):
        raise RepriseError(
            f"{name}: labels of shape {list(values.shape)} for {samples} samples; expected [{samples}], one "
            "label for each row"
        )
    if values.dtype.kind not in "biufUS":
        raise RepriseError(f"{name}: labels of type {values.dtype}; expected numbers or names")
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "backslashreplace")
    is_label = np.array([not _is_none(value) for value in values])
    classes, indices = np.unique(values[is_label], return_inverse=True)
    count = int(is_label.sum())
    if len(classes) < 2:
        found = f"all {count} labels are {classes[0]}" if count else "no sample has a label"
        raise RepriseError(f"{name}: {found}; probes need two classes or more")
    if len(classes) > count / 2:
        raise RepriseError(
            f"{name}: {len(classes)} classes among {count} labels, as {listed([*map(str, classes)])}; probes "
            "need at least two samples of a class on average; is it an index, or a quantity?"
        )
    every = np.full(samples, NONE)
    every[is_label] = indices
    return every


def _is_none(value: Any) -> bool:
    text = str(value).strip()
    try:
        return not text or float(text) == NONE or math.isnan(float(text))
    except ValueError:  # a name
        return False


def _text(file: Path, column: str | None, samples: int) -> Array:
    text = file.read_bytes().decode("utf-8-sig", errors="backslashreplace")
    if "\0" in text:
        raise RepriseError(
            f"{file}: no text in UTF-8, as it has zero bytes; save labels as .csv in UTF-8, or as .npy"
        )
    if file.suffix.lower() in TABLES:
        return np.array(_column(file, text, column, samples))
    if column is not None:
        raise RepriseError(f"{file}: only {' and '.join(TABLES)} have columns; leave out ':{column}'")
    lines = [line.strip() for line in io.StringIO(text, newline=None)]
    while len(lines) > samples and not lines[-1]:
        lines.pop()
    if len(lines) != samples or _looks_like_a_header([[line] for line in lines], None):
        header = " with the header" * (len(lines) == samples)
        raise RepriseError(
            f"{file}: {len(lines)} lines{header} for {samples} samples; expected one label a line and no "
            "header, in the samples' order, with an empty line for no label"
        )
    return np.array(lines)


def _column(file: Path, text: str, column: str | None, samples: int) -> list[str]:
    """A column of a table, which has a line for each sample, and may have a header."""
    first = text.partition("\n")[0]
    try:
        cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count)))
    except csv.Error as error:
        raise RepriseError(f"{file}: no table: {error}; close its quotation marks") from None
    rows = [[cell.strip() for cell in row] or [""] for row in cells] or [[""]]
    while len(rows) > samples and not any(rows[-1]):
        rows.pop()
    width = len(rows[0])
    if uneven := [number for number, row in enumerate(rows, 1) if len(row) != width]:
        raise RepriseError(f"{file}: line {uneven[0]} has {len(rows[uneven[0] - 1])} cells, line 1 {width}")
    has_header = len(rows) == samples + 1
    columns = [list(values) for values in zip(*rows[has_header:], strict=True)]
    names = rows[0] if has_header else [str(number) for number in range(1, width + 1)]
    count = len(rows) - (has_header or _looks_like_a_header(rows, column))
    if count != samples:
        raise RepriseError(
            f"{file}: {count} labels for {samples} samples; expected a line for each sample, in their order"
        )
    marked = [
        f"{name or 'without a name'}{' (an index)' if _is_index(values) else ''}"
        for name, values in zip(names, columns, strict=True)
    ]
    if column is None and width > 1:
        raise RepriseError(f"{file}: {width} columns: {listed(marked)}; name one, as in {file}:{names[-1]}")
    if column is not None and column not in names:
        raise RepriseError(f"{file}: no column '{column}'; it has {listed(marked)}")
    if column is not None and names.count(column) > 1:
        raise RepriseError(f"{file}: {names.count(column)} columns are named '{column}'; rename all but one")
    chosen = names.index(column) if column is not None else 0
    if _is_index(columns[chosen]):
        raise RepriseError(f"{file}: column '{names[chosen]}' counts the samples, and is no label")
    if has_header and (_is_number(names[chosen]) or names[chosen] in columns[chosen]):
        raise RepriseError(f"{file}: {len(rows)} labels for {samples} samples; the first is no header")
    return columns[chosen]


def _looks_like_a_header(rows: list[list[str]], column: str | None) -> bool:
    """Tells if the first of as many lines as samples names the columns, so that one sample has no line."""
    columns = list(zip(*rows, strict=True))
    above_numbers = any(
        first and not _is_number(first) and any(rest) and all(map(_is_number, filter(None, rest)))
        for first, *rest in columns
    )
    return above_numbers or (column in rows[0] and not _is_number(str(column)))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_index(cells: list[str]) -> bool:
    return any(cells == [str(number + start) for number in range(len(cells))] for start in (0, 1))


def _array(name: str) -> Array:
    file, key = split(name)
    if not file.is_file():
        raise missing(file)
    found = content(file, "arrays")
    named = {
        ".".join(path): value for path, value in leaves(found) if isinstance(value, np.ndarray | torch.Tensor)
    }
    if not named:
        raise not_loaded(file, found, "arrays") or RepriseError(f"{file}: holds no array and no tensor")
    shapes = listed([f"{name} {list(value.shape)}" for name, value in named.items()])
    if "" in named and key:
        raise RepriseError(f"{file}: holds one array and no keys; leave out ':{key}'")
    if key and key not in named:
        raise RepriseError(f"{file}: has no array '{key}'; it holds: {shapes}")
    if not key and len(named) != 1:
        raise RepriseError(f"{file}: holds {len(named)} arrays: {shapes}; {_remedy(file, named)}")
    return _numbers(name, named[key or next(iter(named))])


def _remedy(file: Path, names: Iterable[str]) -> str:
    """The remedy for a file with several arrays: of the weights of a network, or else of embeddings."""
    if any(name.endswith(".weight") for name in names):
        return f"of a network's weights, name the network too: reprise diagnose MODEL --weights {file}"
    return f"name one, as in {file}:KEY, or join them"


def _numbers(name: str, value: Array | torch.Tensor) -> Array:
    if isinstance(value, torch.Tensor):
        try:
            value = value.detach().cpu()
            return (value.float() if value.is_floating_point() and value.itemsize < 4 else value).numpy()
        except (RuntimeError, TypeError) as error:  # sparse, on no device, conjugated
            what = f"{value.dtype}, {value.layout}, on {value.device}"
            raise RepriseError(f"{name}: this tensor ({what}) is no array: {words(error)}") from None
    if value.dtype.kind == "V" and value.dtype.names is None:
        raise RepriseError(
            f"{name}: numbers of {value.itemsize} bytes whose type NumPy does not know, as of bfloat16; save "
            "them as float32: numpy.save(FILE, array.astype('float32'))"
        )
    return value
