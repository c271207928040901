"""The files that an experiment reads from the user's disk: data sets and weights.

CIFAR and STL-10 are refused unless they are the published bytes, when they are loaded; MNIST, here. The
others may change, so they are in the key of a result.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from reprise.contract.settings import Settings
from reprise.datasets import mnist
from reprise.engine import memo

FIELDS = ("data_set", "data_sets", "further_sets", "other_images")
"""The settings that name data sets, which lie in `root`."""


def data_sets(params: Settings) -> tuple[str, ...]:
    """The data sets that an experiment with a `root` reads, each once, stand-ins among them."""
    if not hasattr(params, "root"):
        return ()
    return _each_once(getattr(params, field, ()) for field in FIELDS)


def published_data_sets(kind: type[Settings]) -> tuple[str, ...]:
    """The data sets of an experiment with its published settings, none of which is checked."""
    fields = kind.model_fields
    return _each_once(fields[name].default for name in FIELDS if {"root", name} <= fields.keys())


def _each_once(values: Iterable[str | Iterable[str]]) -> tuple[str, ...]:
    names = (name for value in values for name in ((value,) if isinstance(value, str) else value))
    return tuple(dict.fromkeys(names))


def require_published(params: Settings) -> None:
    """Checks that the files of MNIST, if the parameters name it, are the published ones.

    Raises:
        RepriseError: naming the file that is not.
    """
    if "mnist" in data_sets(params):
        mnist.require_published(Path(params.root).expanduser().absolute())  # type: ignore[attr-defined]


def changeable(params: Settings) -> list[Path]:
    """The folders of the data sets that the loaders take as they are: those of ImageNet's images."""
    if "imagenet" not in data_sets(params):
        return []
    return [Path(params.root).expanduser() / part for part in ("train", "val")]  # type: ignore[attr-defined]


def digest(place: Path) -> str:
    """SHA-256 of a file; of a folder, of the names and sizes of the files in it and in its folders, because
    the contents of a million images would take hours.

    Kept until the file's size or date changes, or the date of one of the folders, which changes when a file
    in it is added, removed or renamed.
    """
    states = [place.stat()] if place.is_file() else [folder.stat() for folder in _folders(place)]
    state = " ".join(f"{each.st_size} {each.st_mtime_ns}" for each in states)
    name = hashlib.sha256(f"{place.absolute()} {state}".encode(errors="surrogateescape")).hexdigest()
    return memo.of_package().value(name, partial(_digest, place))


def _folders(place: Path) -> Iterator[Path]:
    """A folder and the folders in it."""
    yield place
    yield from sorted(Path(entry.path) for entry in os.scandir(place) if entry.is_dir())


def _digest(place: Path) -> str:
    if place.is_file():
        with place.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    listing = hashlib.sha256()
    for folder in _folders(place):
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.is_file():
                line = f"{Path(entry.path).relative_to(place)} {entry.stat().st_size}\n"
                listing.update(os.fsencode(line))
    return listing.hexdigest()
