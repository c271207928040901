"""MSCOCO-2014: images with captions and with the categories of the objects in them, read through pycocotools.

Without torch, because the plan of a run asks `check` before the first job. What is not as it should be:

| what | what becomes of it |
|---|---|
| a folder or file of annotations that is missing, or not JSON as MSCOCO has it | refused |
| an image that is listed, and not there; or that cannot be decoded | refused, when read |
| a caption, or an object, of an image that is not listed; an image without a caption | left out, counted |
| an object of a category that is not listed | refused |
| an image without objects | counted; it has captions to train on, but no label to be right about |
"""

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray as Array

from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import extras

KINDS = ("captions", "instances")


class Captioned(NamedTuple):
    """A split.

    Attributes:
        files: JPEG images.
        captions: of all images, image by image.
        owner: the image of each caption, ascending; every image has one at least.
        present: whether an image shows an object of a category.
        categories: names.
        counts: `images`, `captions`, and how many of what was found odd.
    """

    files: tuple[Path, ...]
    captions: tuple[str, ...]
    owner: Int[Array, " caption"]
    present: Bool[Array, "image category"]
    categories: tuple[str, ...]
    counts: dict[str, int]

    @property
    def first(self) -> Int[Array, " image"]:
        """The number of each image's first caption."""
        return np.searchsorted(self.owner, np.arange(len(self.files)))


def missing(root: Path, splits: Iterable[str]) -> list[str]:
    """What `load` needs and does not find: a sentence each."""
    lacks = extras.missing("pycocotools", "multimodal")
    for split in splits:
        if not (root / f"{split}2014").is_dir():
            lacks.append(f"{root / f'{split}2014'}/: the images of {split}2014.zip")
        for file in (root / "annotations" / f"{kind}_{split}2014.json" for kind in KINDS):
            if not file.is_file():
                lacks.append(f"{file}: of annotations_trainval2014.zip")
    return lacks


def load(root: Path, split: str) -> Captioned:
    """The images, captions and objects of a split.

    Args:
        root: the folder that holds train2014/, val2014/ and annotations/, as MSCOCO's archives unpack.
        split: `train` or `val`.

    Raises:
        RepriseError: naming what is missing or damaged, what was expected and what to do.
    """
    if lacks := missing(root, [split]):
        raise RepriseError("data set 'coco' lacks " + "; ".join(lacks))
    captions, instances = (_annotations(root / "annotations" / f"{kind}_{split}2014.json") for kind in KINDS)
    listed, objects = captions.imgs, instances.dataset["annotations"]
    told = {id: [one["caption"] for one in captions.imgToAnns.get(id, ())] for id in sorted(listed)}
    ids = [id for id, of in told.items() if of]
    if not ids:
        raise RepriseError(f"{root / 'annotations'}: no caption of {split}2014 has an image; unpack it again")
    files = tuple(root / f"{split}2014" / listed[id]["file_name"] for id in ids)
    _all_there(root / f"{split}2014", [file.name for file in files])

    column = {id: number for number, id in enumerate(sorted(instances.cats))}
    row = {id: number for number, id in enumerate(ids)}
    present = np.zeros((len(ids), len(column)), dtype=bool)
    for one in objects:
        if one["category_id"] not in column:
            raise RepriseError(
                f"{root / 'annotations' / f'instances_{split}2014.json'}: object {one['id']} is of category "
                f"{one['category_id']}, which is not listed; unpack it again"
            )
        if one["image_id"] in row:
            present[row[one["image_id"]], column[one["category_id"]]] = True
    return Captioned(
        files,
        tuple(" ".join(caption.split()) for id in ids for caption in told[id]),
        np.repeat(np.arange(len(ids)), [len(told[id]) for id in ids]),
        present,
        tuple(instances.cats[id]["name"] for id in sorted(instances.cats)),
        {
            "images": len(ids),
            "captions": sum(map(len, told.values())),
            "images without objects": int((~present.any(1)).sum()),
            "images without captions": len(listed) - len(ids),
            "captions without image": sum(one["image_id"] not in listed for one in captions.anns.values()),
            "objects without image": sum(one["image_id"] not in listed for one in objects),
        },
    )


def _annotations(file: Path) -> Any:
    """pycocotools' index of a file of annotations."""
    from pycocotools.coco import COCO

    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            found = COCO(str(file))
        parts = ("images", "annotations", *(("categories",) if file.name.startswith("instances") else ()))
        lacks = [part for part in parts if not found.dataset.get(part)]
    except (OSError, json.JSONDecodeError, UnicodeDecodeError, AssertionError, KeyError, TypeError) as error:
        raise RepriseError(f"{file}: not MSCOCO's annotations: {error!r}; unpack it again") from None
    if lacks:
        raise RepriseError(f"{file}: holds no {', no '.join(lacks)}; unpack it again")
    return found


def _all_there(folder: Path, names: list[str]) -> None:
    found = {entry.name for entry in os.scandir(folder)}
    lacking = [name for name in names if name not in found]
    if lacking:
        raise RepriseError(
            f"{folder} lacks {len(lacking)} of {len(names)} images, {lacking[0]} first; "
            "unpack the archive again"
        )
