"""Images are never silently wrong: scaled, skipped and broken ones are counted and named."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from reprise.annex.diagnose.pictures import found, picture
from reprise.cli import main
from reprise.datasets.folders import Files
from reprise.errors import RepriseError

MODEL = """
from torch import nn

def build():
    return nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten())
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Images of two classes, among them hidden, broken and deep ones; and a model."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "model.py").write_text(MODEL)
    rng = np.random.default_rng(0)
    for index in range(60):
        file = folder / "images" / f"class{index % 2}" / f"{index}.PNG"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (12, 14, 3), np.uint8)).save(file)
    images = folder / "images"
    Image.fromarray(rng.integers(0, 2**16, (12, 14), np.uint16)).save(images / "class0" / "deep.png")
    Image.fromarray(rng.normal(size=(12, 14)).astype(np.float32)).save(images / "class0" / "deep.tiff")
    for name in (".ipynb_checkpoints", "__MACOSX", "class0/.thumbnails"):
        (images / name).mkdir()
        (images / name / "copy.png").write_bytes(b"\0")
    for name in ("class1/._1.png", ".DS_Store"):
        (images / name).write_bytes(b"\0\5\x16\7")
    (images / "class1" / "notes.txt").write_text("no image")
    return folder


def diagnosed(project, *arguments):
    images = ["--images", str(project / "images"), "--size", "16", "--recipe", "shapes"]
    return main(["diagnose", f"{project}/model.py:build", *images, *arguments])


def test_an_image_is_decoded_as_data_sets_decode_it(project):
    file = project / "images" / "class0" / "0.PNG"
    assert np.array_equal(picture(file, 8).pixels, Files([file], 8)[:1][0])
    assert not picture(file, 8).scaled


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
def test_values_beyond_bytes_are_scaled_from_their_own_range(tmp_path, dtype):
    ramp = np.linspace(100, 60_000, 64 * 64).reshape(64, 64).astype(dtype)
    Image.fromarray(ramp).save(tmp_path / "ramp.tiff")
    pixels, scaled = picture(tmp_path / "ramp.tiff", 64)
    assert scaled
    assert len(np.unique(pixels)) > 200
    assert pixels.float().mean() == pytest.approx(127.5, abs=3)
    Image.fromarray(np.full((8, 8), 7, dtype)).save(tmp_path / "flat.tiff")
    assert picture(tmp_path / "flat.tiff", 8).pixels.max() == 0


def test_sixteen_bits_in_png_are_scaled(tmp_path):
    ramp = np.arange(2**16, dtype=np.uint16).reshape(256, 256)
    Image.fromarray(ramp).save(tmp_path / "ramp.png")
    pixels, scaled = picture(tmp_path / "ramp.png", 256)
    assert scaled
    assert (pixels == 255).float().mean() < 0.01


def test_nan_in_an_image_is_refused(tmp_path):
    Image.fromarray(np.full((8, 8), np.nan, np.float32)).save(tmp_path / "nan.tiff")
    with pytest.raises(RepriseError, match=r"nan\.tiff: .* NaN or infinity among its pixels"):
        picture(tmp_path / "nan.tiff", 8)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
        (b"\0\5\x16\7\0\2\0\0Mac OS X", "AppleDouble"),
        (b"no image", "cannot identify image file"),
    ],
)
def test_what_a_broken_image_is_is_said(tmp_path, content, reason):
    (tmp_path / "x.jpg").write_bytes(content)
    with pytest.raises(
        RepriseError, match=rf"x.jpg: not an image that can be decoded: .*{reason}.*--skip-bad"
    ):
        picture(tmp_path / "x.jpg", 8)


def test_a_truncated_image_is_refused(tmp_path):
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(tmp_path / "x.png")
    (tmp_path / "x.png").write_bytes((tmp_path / "x.png").read_bytes()[:5000])
    with pytest.raises(RepriseError, match=r"x\.png: not an image that can be decoded: .*truncated"):
        picture(tmp_path / "x.png", 8)


def test_hidden_files_and_folders_are_skipped_and_counted(project):
    files, skipped = found(project / "images")
    assert len(files) == 62
    assert files == sorted(files)
    assert [*skipped.values()] == [5, 1, 0]  # hidden, notes.txt, links


def test_linked_folders_are_read(project, tmp_path):
    (tmp_path / "linked").symlink_to(project / "images" / "class0")
    assert len(found(tmp_path).files) == 32


def test_a_folder_is_read_once_however_many_links_lead_to_it(project, tmp_path):
    """A link to a folder around it would repeat all its images forty times."""
    (tmp_path / "linked").symlink_to(project / "images" / "class0")
    (tmp_path / "again").symlink_to(project / "images" / "class0")
    (tmp_path / "around").symlink_to(tmp_path)
    files, skipped = found(tmp_path)
    assert len(files) == 32
    assert skipped["Folders that links lead to again, skipped"] == 2


@pytest.mark.filterwarnings("error")
def test_what_pillow_warns_of_is_no_error(tmp_path):
    image = Image.new("P", (8, 8))
    image.putpalette(range(6))
    image.save(tmp_path / "x.png", transparency=b"\0\x80")
    assert picture(tmp_path / "x.png", 8).pixels.shape == (3, 8, 8)


def test_notes_count_what_was_skipped_and_scaled(project, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert diagnosed(project) == 0
    printed = capsys.readouterr().out.splitlines()
    scaled = "Images of more than 8 bits, each scaled from its own lowest and highest value: 2."
    notes = ["Weights as build gives them.", "Hidden files and folders, skipped: 5.", scaled]
    for note in (*notes, "Classes, by folder: class0, class1."):
        assert note in printed
        assert note in " ".join((tmp_path / "diagnosis" / "diagnosis.html").read_text().split())


def test_broken_images_are_named_and_left_out_where_asked(project, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bad = project / "images" / "class1" / "bad.jpg"
    bad.write_bytes(b"no image")
    order = [file.name for file in found(project / "images").files]
    try:
        assert diagnosed(project) == 2
        assert "class1/bad.jpg: not an image" in capsys.readouterr().err
        assert not (tmp_path / "diagnosis").exists()
        # A label for each image, also for the broken one: of the others, none is off by one.
        (tmp_path / "y.txt").write_text("\n".join("dark" if name == "bad.jpg" else "light" for name in order))
        assert diagnosed(project, "--labels", "y.txt", "--skip-bad") == 0
        left_out = "Images left out that cannot be decoded (class1/bad.jpg): 1."
        printed = capsys.readouterr().out
        assert left_out in printed.splitlines()
        assert "by folder" not in printed  # of the labels that are named, the folders say nothing
        rows = pd.read_csv("diagnosis/diagnosis.csv").set_index("diagnostic")
        assert rows.loc["most frequent class", "value"] == 1
    finally:
        bad.unlink()


def test_folders_that_are_no_classes_make_no_probes(project, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for index, file in enumerate(found(project / "images").files[:45]):
        place = tmp_path / "each" / str(index)
        place.mkdir(parents=True)
        (place / file.name).write_bytes(file.read_bytes())
    assert diagnosed(project, "--images", "each") == 0
    assert "No probes: 45 folders of 45 images are no classes." in capsys.readouterr().out
    (tmp_path / "each" / "loose.png").write_bytes(file.read_bytes())
    assert diagnosed(project, "--images", "each") == 0
    assert "No probes: some images lie in no folder, which would be their class." in capsys.readouterr().out
