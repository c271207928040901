"""MSCOCO-2014: images with captions and with the categories of their objects, read through pycocotools.

Does not import torch, because a run's plan calls `missing` before the first job. Irregular data are handled
so:

| irregularity | handling |
|---|---|
| a missing folder, or an annotation file that is missing or not in MSCOCO's JSON format | error |
| an entry that lacks what is read of it, or has another type there; an id that stands twice | error |
| an image's `file_name` with a folder in it, such as `../`, which would be read elsewhere | error |
| an image that is listed but missing, or cannot be decoded | error, when read |
| a caption or an object of an image that is not listed; an image without captions | skipped and counted |
| an object of a category that is not listed | error |
| an image without objects | counted; it has captions for training but no label for testing |

What is not read of an entry, such as `bbox`, may be anything. Links are followed, so that images may lie on
another disk.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray as Array

from reprise.contract.settings import quoted, shortened
from reprise.datasets.files import files_named
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import extras

Fields = Mapping[str, type]
"""Fields that are read of an entry of an annotation file, each with its type."""
IMAGE: Fields = {"id": int, "file_name": str}
KINDS: Mapping[str, Mapping[str, Fields]] = {
    "captions": {"images": IMAGE, "annotations": {"id": int, "image_id": int, "caption": str}},
    "instances": {
        "images": IMAGE,
        "annotations": {"id": int, "image_id": int, "category_id": int},
        "categories": {"id": int, "name": str},
    },
}
"""The fields of the lists in each kind of annotation file."""
TYPES = {int: "a whole number", str: "a text"}


class Captioned(NamedTuple):
    """A split of captioned images.

    Attributes:
        files: JPEG images.
        captions: captions of all images, grouped by image.
        owner: index of each caption's image, ascending; every image has at least one caption.
        present: whether an image shows an object of a category.
        categories: category names.
        counts: numbers of `images`, of `captions` and of irregularities, by name.
    """

    files: tuple[Path, ...]
    captions: tuple[str, ...]
    owner: Int[Array, " caption"]
    present: Bool[Array, "image category"]
    categories: tuple[str, ...]
    counts: dict[str, int]

    @property
    def first(self) -> Int[Array, " image"]:
        """Index of each image's first caption."""
        return np.searchsorted(self.owner, np.arange(len(self.files)))


def missing(root: Path, splits: Iterable[str]) -> list[str]:
    """Describes each file or package that `load` needs and cannot find."""
    problems = extras.missing("pycocotools")
    with files_named("coco"):
        for split in splits:
            if not (root / f"{split}2014").is_dir():
                problems.append(f"{root / f'{split}2014'}/: the images of {split}2014.zip")
            for file in (root / "annotations" / f"{kind}_{split}2014.json" for kind in KINDS):
                if not file.is_file():
                    problems.append(f"{file}: of annotations_trainval2014.zip")
    return problems


def load(root: Path, split: str) -> Captioned:
    """The images, captions and objects of a split.

    Args:
        root: folder that holds train2014/, val2014/ and annotations/, as unpacked from MSCOCO's archives.
        split: `train` or `val`.

    Raises:
        RepriseError: if anything is missing or damaged; it names it, what was expected and what to do.
    """
    with files_named("coco"):
        return _load(root, split)


def _load(root: Path, split: str) -> Captioned:
    if problems := missing(root, [split]):
        raise RepriseError("data set 'coco' lacks " + "; ".join(problems))
    captions, instances = (
        _annotations(root / "annotations" / f"{kind}_{split}2014.json", lists)
        for kind, lists in KINDS.items()
    )
    listing, objects = captions.imgs, instances.dataset["annotations"]
    texts = {id: [entry["caption"] for entry in captions.imgToAnns.get(id, ())] for id in sorted(listing)}
    ids = [id for id, image_texts in texts.items() if image_texts]
    if not ids:
        raise RepriseError(f"{root / 'annotations'}: no caption of {split}2014 has an image; unpack it again")
    files = tuple(root / f"{split}2014" / listing[id]["file_name"] for id in ids)
    _require_images(root / f"{split}2014", [file.name for file in files])

    column = {id: number for number, id in enumerate(sorted(instances.cats))}
    row = {id: number for number, id in enumerate(ids)}
    present = np.zeros((len(ids), len(column)), dtype=bool)
    for entry in objects:
        if entry["category_id"] not in column:
            raise RepriseError(
                f"{root / 'annotations' / f'instances_{split}2014.json'}: object {entry['id']} is of "
                f"category {entry['category_id']}, which is not listed; unpack it again"
            )
        if entry["image_id"] in row:
            present[row[entry["image_id"]], column[entry["category_id"]]] = True
    return Captioned(
        files,
        tuple(" ".join(caption.split()) for id in ids for caption in texts[id]),
        np.repeat(np.arange(len(ids)), [len(texts[id]) for id in ids]),
        present,
        tuple(instances.cats[id]["name"] for id in sorted(instances.cats)),
        {
            "images": len(ids),
            "captions": sum(map(len, texts.values())),
            "images without objects": int((~present.any(1)).sum()),
            "images without captions": len(listing) - len(ids),
            "captions without image": sum(
                entry["image_id"] not in listing for entry in captions.anns.values()
            ),
            "objects without image": sum(entry["image_id"] not in listing for entry in objects),
        },
    )


def _annotations(file: Path, lists: Mapping[str, Fields]) -> Any:
    """pycocotools' index of an annotation file, of whose lists each entry has been checked."""
    from pycocotools.coco import COCO

    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:  # of JSON or Unicode; of brackets inside each other
        reason = shortened(str(error), 200)
        raise RepriseError(f"{file}: not MSCOCO's annotations: {reason}; unpack it again") from None
    for name, fields in lists.items():
        entries = content.get(name) if isinstance(content, dict) else None
        if not isinstance(entries, list) or not entries:
            raise RepriseError(f"{file}: holds no list of {name}; unpack it again")
        ids: set[int] = set()
        for number, entry in enumerate(entries):
            if problem := _problem(entry, fields, ids):
                raise RepriseError(f"{file}: {name}, entry {number}: {problem}; unpack it again")
            ids.add(entry["id"])
    index = COCO()
    index.dataset = {"annotations": [], **content}
    with open(os.devnull, "w", encoding="utf-8") as devnull, contextlib.redirect_stdout(devnull):
        index.createIndex()
    return index


def _problem(entry: Any, fields: Fields, ids: set[int]) -> str:
    """The fault of an entry of an annotation file, in words; empty if there is none.

    Args:
        ids: of the entries before it.
    """
    if not isinstance(entry, dict):
        return f"is {quoted(entry)}, expected a mapping"
    for key, kind in fields.items():
        if type(entry.get(key)) is not kind:
            value = quoted(entry[key]) if key in entry else "missing"
            return f"'{key}' is {value}, expected {TYPES[kind]}"
    if entry["id"] in ids:
        return f"'id' {quoted(entry['id'])} stands twice"
    name = entry["file_name"] if "file_name" in fields else "none is read"
    if name in ("", ".", "..") or "/" in name or not name.isprintable():
        return f"'file_name' is {quoted(name)}, expected the name of a file, without a folder"
    return ""


def _require_images(folder: Path, names: list[str]) -> None:
    present = {entry.name for entry in os.scandir(folder) if entry.is_file()}
    absent = [name for name in names if name not in present]
    if absent:
        raise RepriseError(
            f"{folder} lacks {len(absent)} of {len(names)} images, {quoted(absent[0])} first; "
            "unpack the archive again"
        )
