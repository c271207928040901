"""Rendered scenes: repeatable, in MSCOCO's format, and with captions and boxes that say what is in them."""

import re

import numpy as np
import pytest
from pycocotools.coco import COCO

from reprise.datasets.shapes import COLOURS, HUES, SHAPES
from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import coco, scenes
from reprise.papers.ren2023.zero_shot.data import _rendered, captioned
from reprise.papers.ren2023.zero_shot.experiment import Params
from reprise.papers.ren2023.zero_shot.scenes import CATEGORIES, SPLITS, lay_out, paint


def painted(layout, size=48):
    return np.stack(list(paint(layout, size)))


def test_any_prefix_is_the_same_and_seeds_and_splits_are_not():
    whole = lay_out(200, seed=1, split="train")
    images = painted(whole)
    assert (images.shape, images.dtype) == ((200, 3, 48, 48), np.uint8)
    for count in (1, 129):
        part = lay_out(count, seed=1, split="train")
        np.testing.assert_array_equal(painted(part), images[:count])
        assert part.captions == whole.captions[:count]
    for other in (lay_out(200, seed=2, split="train"), lay_out(200, seed=1, split="val")):
        assert (painted(other) == images).mean() < 0.3


def test_objects_are_one_to_three_and_apart_from_one_another():
    layout = lay_out(3000, seed=0, split="train")
    np.testing.assert_allclose(
        np.bincount(layout.there.sum(1), minlength=4) / 3000, [0, *[1 / 3] * 3], atol=0.03
    )
    assert (abs(layout.right) + layout.radius <= 0.4376).all()
    assert (abs(layout.up) + layout.radius <= 0.4376).all()
    for a, b in ((0, 1), (0, 2), (1, 2)):
        apart = np.maximum(
            abs(layout.right[:, a] - layout.right[:, b]), abs(layout.up[:, a] - layout.up[:, b])
        )
        assert (apart >= layout.radius[:, a] + layout.radius[:, b] - 1e-9).all()


def test_frequencies_fall_as_said_and_tell_neither_colour_nor_shape():
    layout = lay_out(30_000, seed=0, split="pretrain")
    found = np.bincount(layout.category[layout.there], minlength=80) / layout.there.sum()
    expected = np.arange(1, 81) ** -0.5 / (np.arange(1, 81) ** -0.5).sum()
    np.testing.assert_allclose(found[np.arange(80) * 37 % 80], expected, rtol=0.25)
    table = found.reshape(len(SHAPES), len(COLOURS))
    assert table.sum(1).max() < 2 * table.sum(1).min()
    assert table.sum(0).max() < 2.5 * table.sum(0).min()


def test_captions_name_each_object_and_size_only_truly():
    layout = lay_out(300, seed=3, split="train")
    for i, captions in enumerate(layout.captions):
        held = layout.category[i, layout.there[i]]
        assert len(captions) == scenes.CAPTIONS
        for caption in captions:
            found = re.findall(rf"\b(an?) (small |large )?({'|'.join(CATEGORIES)})\b", caption)
            assert sorted(name for _, _, name in found) == sorted(CATEGORIES[number] for number in held)
            for article, size, name in found:
                assert article == ("an" if (size or name)[0] in "aeiou" else "a")
                sizes = layout.radius[i, layout.there[i]][held == CATEGORIES.index(name)]
                if size:
                    assert ((sizes < scenes.MEDIUM) == (size == "small ")).any()
    told = " ".join(caption for captions in layout.captions for caption in captions).split()
    assert {"this", "is", "a", "small", "large", "and"} <= set(told)


def test_an_object_has_its_colour_where_its_box_is_and_the_dark_ground_is_elsewhere(tmp_path):
    scenes.write(tmp_path, "val", 40, seed=0, size=64)
    layout, images = lay_out(40, seed=0, split="val"), painted(lay_out(40, seed=0, split="val"), 64)
    index = COCO(str(tmp_path / "annotations" / "instances_val2014.json"))
    for i, image in enumerate(images):
        objects = index.imgToAnns[i + 1]
        assert len(objects) == layout.there[i].sum()
        inside = np.zeros((64, 64), dtype=bool)
        for one in objects:
            left, top, width, height = (round(number) for number in one["bbox"])
            box = image[:, top : top + height, left : left + width].reshape(3, -1).astype(float)
            inside[top - 3 : top + height + 3, left - 3 : left + width + 3] = True
            bright = box[:, box.max(0) > 110]
            assert bright.shape[1] > 0.04 * box.shape[1]
            high, low = bright.max(0), bright.min(0)
            sector = np.array([(bright[1] - bright[2]), (bright[2] - bright[0]), (bright[0] - bright[1])])
            hue = (sector / np.maximum(high - low, 1))[bright.argmax(0), range(bright.shape[1])] / 6
            hue = (hue + bright.argmax(0) / 3) % 1
            expected = HUES[(one["category_id"] - 1) % len(COLOURS)]
            distance = np.abs((np.median(hue - expected + 0.5) % 1) - 0.5)
            assert distance < 0.06, (i, one["category_id"])
        assert image[:, ~inside].max() < 150


def test_they_are_read_by_the_loader_of_mscoco(tmp_path):
    for split, count in zip(SPLITS, (5, 7, 6), strict=True):
        scenes.write(tmp_path, split, count, seed=0, size=32)
        found, layout = coco.load(tmp_path, split), lay_out(count, seed=0, split=split)
        assert found.categories == CATEGORIES
        assert found.captions == tuple(caption for captions in layout.captions for caption in captions)
        np.testing.assert_array_equal(found.owner, np.repeat(range(count), scenes.CAPTIONS))
        for i in range(count):
            assert set(np.flatnonzero(found.present[i])) == set(layout.category[i, layout.there[i]])


def test_what_is_written_is_the_same_bytes(tmp_path):
    files = {}
    for place in ("a", "b"):
        scenes.write(tmp_path / place, "val", 4, seed=0, size=32)
        files[place] = {
            str(file.relative_to(tmp_path / place)): file.read_bytes()
            for file in (tmp_path / place).rglob("[!.]*.*")
        }
    assert files["a"] == files["b"]
    assert len(files["a"]) == 4 + 2


def test_an_altered_image_is_rendered_again(tmp_path, capsys):
    params = Params(data_set="scenes", encoders="presence", image_size=32, batch_size=4, scenes=(4, 5, 6))
    first = captioned(params, tmp_path, "val", 0)
    assert len(first.files) == 6
    good = first.files[2].read_bytes()
    first.files[2].write_bytes(good[:-1])
    _rendered.cache_clear()
    assert captioned(params, tmp_path, "val", 0).files == first.files
    assert first.files[2].read_bytes() == good
    assert f"{first.files[2]}: truncated or altered" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RepriseError, match=r"file/val2014: cannot be written"):
        scenes.write(tmp_path / "file", "val", 2, seed=0, size=32)


def test_attributes_do_not_say_which_colour_goes_with_which_shape():
    categories = list(CATEGORIES)
    first, second = list(SHAPES)[:2]
    shown = ((f"red {first}", f"blue {second}"), (f"blue {first}", f"red {second}"), (f"red {first}",))
    present = np.zeros((3, len(categories)), dtype=bool)
    for row, names in enumerate(shown):
        present[row, [categories.index(name) for name in names]] = True
    words = [*SHAPES, *COLOURS]
    attributes = [{words[i] for i in np.flatnonzero(row)} for row in scenes.attributes(present)]
    assert attributes == [{first, second, "red", "blue"}, {first, second, "red", "blue"}, {first, "red"}]
