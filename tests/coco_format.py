"""A tiny data set in MSCOCO-2014's format."""

import json

import numpy as np
from PIL import Image

CATEGORIES = {1: "cat", 3: "traffic light", 7: "dog"}


def write(root, split, shows, captions, size=(40, 32), seed=0):
    """Writes images of noise with their annotations.

    Args:
        shows: image id -> ids of the categories of its objects.
        captions: image id -> its captions.
    """
    folder, random = root / f"{split}2014", np.random.default_rng(seed)
    folder.mkdir(parents=True)
    images = []
    for id in shows:
        name = f"COCO_{split}2014_{id:012d}.jpg"
        Image.fromarray(random.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)).save(folder / name)
        images.append({"id": id, "file_name": name, "width": size[0], "height": size[1]})
    told = [(id, caption) for id, of in captions.items() for caption in of]
    held = [(id, category) for id, of in shows.items() for category in of]
    annotations = {
        "captions": [{"id": n, "image_id": id, "caption": text} for n, (id, text) in enumerate(told, 100)],
        "instances": [
            {"id": n, "image_id": id, "category_id": category, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}
            for n, (id, category) in enumerate(held, 500)
        ],
    }
    (root / "annotations").mkdir(exist_ok=True)
    for kind, records in annotations.items():
        content = {"images": images, "annotations": records}
        if kind == "instances":
            content["categories"] = [{"id": id, "name": name} for id, name in CATEGORIES.items()]
        annotations_file(root, kind, split).write_text(json.dumps(content))


def annotations_file(root, kind, split):
    return root / "annotations" / f"{kind}_{split}2014.json"


def change(root, kind, split, changed):
    """Rewrites a file of annotations after `changed` has had its content."""
    file = annotations_file(root, kind, split)
    content = json.loads(file.read_text())
    changed(content)
    file.write_text(json.dumps(content))
