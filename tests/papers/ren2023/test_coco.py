"""MSCOCO's format through pycocotools, held against torchvision's loaders; damage is named, and counted."""

import importlib.util
import json
import os

import coco_format
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from torchvision.datasets import CocoCaptions, CocoDetection

from reprise.datasets.folders import Files
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import coco

SHOWS = {9: [1, 7, 1], 4: [3], 30: [7]}
CAPTIONS = {9: ["A cat\nand a dog. ", "Pets"], 4: ["A light"], 30: ["A dog", "It sits", "It is a dog"]}


@pytest.fixture
def root(tmp_path):
    coco_format.write(tmp_path, "val", SHOWS, CAPTIONS)
    return tmp_path


def test_images_captions_and_objects_are_those_of_torchvisions_loaders(root):
    found = coco.load(root, "val")
    folder = str(root / "val2014")
    captions = CocoCaptions(folder, str(coco_format.annotations_file(root, "captions", "val")))
    objects = CocoDetection(folder, str(coco_format.annotations_file(root, "instances", "val")))
    assert [int(file.stem[-12:]) for file in found.files] == captions.ids == [4, 9, 30]
    assert found.categories == ("cat", "traffic light", "dog")
    numbers = list(coco_format.CATEGORIES)
    images = Files(found.files, size=28)[torch.arange(3)]
    for row, ((picture, told), (_, held)) in enumerate(zip(captions, objects, strict=True)):
        ours = [text for text, owner in zip(found.captions, found.owner, strict=True) if owner == row]
        assert ours == [" ".join(text.split()) for text in told]
        assert ours[0] == found.captions[found.first[row]]
        shown = {numbers.index(one["category_id"]) for one in held}
        assert set(np.flatnonzero(found.present[row])) == shown
        # 1/16 off each side, the middle of the rest, 28 pixels of it: here no pixel is resized.
        middle = np.asarray(picture)[2:30, 6:34].transpose(2, 0, 1)
        np.testing.assert_array_equal(images[row].numpy(), middle)
    assert found.counts == {
        "images": 3, "captions": 6, "images without objects": 0, "images without captions": 0,
        "captions without image": 0, "objects without image": 0,
    }  # fmt: skip


def test_what_is_odd_is_left_out_and_counted(root):
    def two_more_images(content):
        for id in (50, 51):
            content["images"].append({"id": id, "file_name": f"COCO_val2014_{id:012d}.jpg"})

    def captions_of(content):
        two_more_images(content)
        content["annotations"] += [
            {"id": 1, "image_id": 50, "caption": "nothing that has a name"},
            {"id": 2, "image_id": 77, "caption": "of no image"},
        ]

    coco_format.change(root, "captions", "val", captions_of)
    orphan = {"id": 3, "image_id": 78, "category_id": 1}
    coco_format.change(root, "instances", "val", lambda content: content["annotations"].append(orphan))
    Image.new("RGB", (32, 32)).save(root / "val2014" / f"COCO_val2014_{50:012d}.jpg")
    found = coco.load(root, "val")
    assert [int(file.stem[-12:]) for file in found.files] == [4, 9, 30, 50]
    assert "of no image" not in found.captions
    assert not found.present[3].any()
    assert found.counts == {
        "images": 4, "captions": 7, "images without objects": 1, "images without captions": 1,
        "captions without image": 1, "objects without image": 1,
    }  # fmt: skip


def test_a_missing_file_of_annotations_or_folder_of_images_is_named_and_all_at_once(root):
    (root / "annotations" / "instances_val2014.json").unlink()
    with pytest.raises(
        RepriseError, match=r"lacks .*/instances_val2014.json: of annotations_trainval2014.zip$"
    ):
        coco.load(root, "val")
    lacks = coco.missing(root, ["train", "val"])
    assert [sentence.split(": ")[0].removeprefix(f"{root}/") for sentence in lacks] == [
        "train2014/", "annotations/captions_train2014.json", "annotations/instances_train2014.json",
        "annotations/instances_val2014.json",
    ]  # fmt: skip


def test_the_missing_package_is_named(root, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        RepriseError, match=r"the package pycocotools: pip install 'reprise-ssl\[multimodal\]'"
    ):
        coco.load(root, "val")


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"images": [], "annotations": []}', '{"annotations": 3}', ""]
)
@pytest.mark.parametrize("kind", coco.KINDS)
def test_annotations_that_are_none_are_refused(root, kind, content):
    file = coco_format.annotations_file(root, kind, "val")
    file.write_text(content)
    with pytest.raises(RepriseError, match=rf"{kind}_val2014.json: .*unpack it again"):
        coco.load(root, "val")


@pytest.mark.parametrize(
    ("kind", "part", "number", "change", "message"),
    [
        ("captions", "images", 1, {"id": "4"}, "'id' is '4', expected a whole number"),
        ("captions", "images", 1, {"id": 9}, "'id' 9 stands twice"),
        ("captions", "images", 2, {"file_name": "../x.jpg"}, "'file_name' is '../x.jpg', expected the name"),
        ("captions", "images", 2, {"file_name": "/etc/passwd"}, "'file_name' is '/etc/passwd', expected"),
        ("captions", "images", 2, {"file_name": ".."}, "'file_name' is '..', expected the name of a file"),
        ("captions", "images", 0, {"file_name": "a\0b"}, r"'file_name' is 'a\\x00b', expected the name"),
        ("captions", "annotations", 3, {"caption": None}, "'caption' is None, expected a text"),
        ("captions", "annotations", 3, {"image_id": True}, "'image_id' is True, expected a whole number"),
        ("instances", "annotations", 0, {"category_id": [1]}, r"'category_id' is \[1\], expected a whole"),
        ("instances", "categories", 2, {"name": 7}, "'name' is 7, expected a text"),
    ],
)
def test_a_wrong_entry_is_named_with_its_file_its_number_and_what_was_expected(
    root, kind, part, number, change, message
):
    coco_format.change(root, kind, "val", lambda content: content[part][number].update(change))
    with pytest.raises(
        RepriseError, match=rf"{kind}_val2014.json: {part}, entry {number}: {message}.*; unpack it again"
    ):
        coco.load(root, "val")


SCRAPS = (
    None,
    True,
    -1,
    4,
    10**30,
    0.5,
    "",
    "..",
    "../../etc/passwd",
    "/",
    "\0",
    "x" * 3000,
    [],
    [[]],
    {},
    {"id": 4},
)


@settings(max_examples=int(os.environ.get("EXAMPLES", "150")), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_made_up_annotations_are_read_or_refused_in_a_line_that_names_the_file(root, data):
    """A place anywhere in a file, whose value is replaced, dropped or doubled, or a cut text."""
    kind = data.draw(st.sampled_from(sorted(coco.KINDS)))
    file = coco_format.annotations_file(root, kind, "val")
    intact = file.read_text()
    content = json.loads(intact)
    inside, key = content, data.draw(st.sampled_from(sorted(content)))
    while isinstance(inside[key], (dict, list)) and inside[key] and data.draw(st.booleans()):
        inside = inside[key]
        key = data.draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
    how = data.draw(st.sampled_from(("replaced", "dropped", "doubled", "cut")))
    if how == "replaced":
        inside[key] = data.draw(st.sampled_from(SCRAPS))
    elif how == "doubled" and isinstance(inside, list):
        inside.append(inside[key])
    elif how == "dropped":
        del inside[key]
    text = json.dumps(content)
    file.write_text(text[: data.draw(st.integers(0, len(text)))] if how == "cut" else text)
    try:
        read = coco.load(root, "val").files
        message = ""
    except RepriseError as error:
        read, message = (), str(error)
    finally:
        file.write_text(intact)
    assert not message or file.name in message or "val2014 lacks" in message or "no caption of" in message
    assert len(message.splitlines()) <= 1
    assert len(message) <= 1000
    assert {image.resolve().parent for image in read} <= {(root / "val2014").resolve()}


def test_an_image_that_is_not_there_is_named_with_how_many(root):
    for id in (4, 30):
        (root / "val2014" / f"COCO_val2014_{id:012d}.jpg").unlink()
    with pytest.raises(RepriseError, match=r"val2014 lacks 2 of 3 images, 'COCO_val2014_0+4.jpg' first"):
        coco.load(root, "val")


@pytest.mark.parametrize("damage", [lambda content: content[:300], lambda content: b"no JPEG" + content])
def test_a_corrupt_jpeg_is_refused_by_name_when_it_is_read(root, damage):
    found = coco.load(root, "val")
    found.files[1].write_bytes(damage(found.files[1].read_bytes()))
    files = Files(found.files, size=16)
    assert files[torch.tensor([0, 2])].shape == (2, 3, 16, 16)
    with pytest.raises(
        RepriseError, match=r"COCO_val2014_0+9.jpg: not an image that can be decoded: .*again"
    ):
        files[torch.arange(3)]


def test_an_object_of_an_unknown_category_is_refused(root):
    def changed(content):
        content["annotations"][2]["category_id"] = 8

    coco_format.change(root, "instances", "val", changed)
    with pytest.raises(RepriseError, match="object 502 is of category 8, which is not listed"):
        coco.load(root, "val")


def test_captions_all_of_other_images_are_refused(root):
    def changed(content):
        for one in content["annotations"]:
            one["image_id"] += 1000

    coco_format.change(root, "captions", "val", changed)
    with pytest.raises(RepriseError, match="no caption of val2014 has an image"):
        coco.load(root, "val")


def test_nothing_is_printed(root, capfd):
    coco.load(root, "val")
    assert capfd.readouterr() == ("", "")
