"""MSCOCO-2014: images with captions and with the categories of their objects, read through pycocotools.

Does not import torch, because a run's plan calls `missing` before the first job. Irregular data are handled
so:

| irregularity | handling |
|---|---|
| a missing folder, or an annotation file that is missing or not in MSCOCO's JSON format | error |
| an image that is listed but missing, or cannot be decoded | error, when read |
| a caption or an object of an image that is not listed; an image without captions | skipped and counted |
| an object of a category that is not listed | error |
| an image without objects | counted; it has captions for training but no label for testing |
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
    problems = extras.missing("pycocotools", "multimodal")
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
    if problems := missing(root, [split]):
        raise RepriseError("data set 'coco' lacks " + "; ".join(problems))
    captions, instances = (_annotations(root / "annotations" / f"{kind}_{split}2014.json") for kind in KINDS)
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


def _annotations(file: Path) -> Any:
    """pycocotools' index of an annotation file."""
    from pycocotools.coco import COCO

    try:
        with open(os.devnull, "w") as devnull, contextlib.redirect_stdout(devnull):
            index = COCO(str(file))
        parts = ("images", "annotations", *(("categories",) if file.name.startswith("instances") else ()))
        absent = [part for part in parts if not index.dataset.get(part)]
    except (OSError, json.JSONDecodeError, UnicodeDecodeError, AssertionError, KeyError, TypeError) as error:
        raise RepriseError(f"{file}: not MSCOCO's annotations: {error!r}; unpack it again") from None
    if absent:
        raise RepriseError(f"{file}: holds no {', no '.join(absent)}; unpack it again")
    return index


def _require_images(folder: Path, names: list[str]) -> None:
    present = {entry.name for entry in os.scandir(folder)}
    absent = [name for name in names if name not in present]
    if absent:
        raise RepriseError(
            f"{folder} lacks {len(absent)} of {len(names)} images, {absent[0]} first; "
            "unpack the archive again"
        )
