"""Two steps of training through each real loader, on tiny files in the official formats."""

import official_formats
import pytest
import tiny
import torch

from reprise.datasets import reading
from reprise.datasets.augment import Views
from reprise.datasets.catalogue import DATA_SETS
from reprise.datasets.recipes import RECIPES
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.training import batches, models
from reprise.training.image_settings import Source
from reprise.training.images import assemble, train
from reprise.training.models import trained

WRITE = {
    "mnist": lambda root, patch: official_formats.mnist(root),
    "cifar10": lambda root, patch: official_formats.cifar("cifar10", root, patch, count=8),
    "cifar100": lambda root, patch: official_formats.cifar("cifar100", root, patch, count=8),
    "stl10": official_formats.stl10,
    "imagenet": official_formats.imagenet,
}


def spec(name, **changes):
    """Two steps of its normalisation and a paper's augmentation."""
    settings = {"steps": 2, "batch": 6, "trace_every": 1, "probe_every": 2}
    return tiny.spec(
        augmentation=RECIPES["directclr"], normalisation=DATA_SETS[name].normalisation, **(settings | changes)
    )


@pytest.mark.parametrize("name", WRITE)
def test_two_steps(name, tmp_path, monkeypatch, capsys):
    WRITE[name](tmp_path / "data", monkeypatch)
    data, of = Source(name=name, root=str(tmp_path / "data")).load(), spec(name)
    folder = trained(of, data, tmp_path)
    model = models.Model(of, folder)
    assert [line["step"] for line in model.log] == [0, 1]
    assert all(0 < line["loss"] < 10 for line in model.log)
    assert 0 <= model.log[1]["probe_top1"] <= 1
    start = assemble(of, data.channels)
    moved = [
        not torch.equal(*both) for both in zip(model.method.parameters(), start.parameters(), strict=True)
    ]
    assert all(moved)
    assert trained(of, Source(name=name, root=str(tmp_path / "data")).load(), tmp_path) == folder
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["MISS", "HIT"]


def test_stl10s_unlabelled_images_train_too(tmp_path, monkeypatch):
    official_formats.stl10(tmp_path, monkeypatch)
    data = Source(name="stl10", root=str(tmp_path), split="train+unlabelled").load()
    assert len(data.labels) == 11
    assert (data.labels == -1).sum() == 5
    assert len(train(spec("stl10"), data, tmp_path / "run").log.splitlines()) == 2


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # of more than there are cores
@pytest.mark.parametrize("workers", [1, 3])
def test_files_are_read_ahead_and_the_numbers_are_the_same(workers, tmp_path, monkeypatch):
    official_formats.imagenet(tmp_path, monkeypatch)
    data, of = Source(name="imagenet", root=str(tmp_path)).load(), spec("imagenet", steps=5, probe_every=0)
    monkeypatch.setattr(reading, "workers", lambda: workers)
    monkeypatch.setattr(batches, "PIECE", 4)  # of six
    ahead = train(of, data, tmp_path / "ahead")

    def here(function, tasks, **_):
        return map(function, tasks)

    monkeypatch.setattr(batches, "ahead", here)
    alone = train(of, data, tmp_path / "alone")
    assert ahead.log == alone.log
    for ours, theirs in zip(ahead.method.parameters(), alone.method.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_batches_of_files_are_the_views_of_their_images_from_any_step_on(tmp_path, monkeypatch):
    official_formats.imagenet(tmp_path, monkeypatch)
    data, of = Source(name="imagenet", root=str(tmp_path)).load(), spec("imagenet")
    views, rows = Views(of.augmentation, of.normalisation), slice(2, 5)  # of the second process, say
    found = list(batches.Batches(data.images, 12, views, 0, 6, rows).between(1, 4, "cpu"))
    for step, batch in enumerate(found, 1):
        index = batches.batch_indices(0, step, 6, 12)
        numbers = views.draw(6, generator(0, f"views/{step}"))[:, rows]
        assert torch.equal(batch.index, index)
        read = views.read(data.images, index[rows], numbers)
        assert torch.equal(batch.pixels, views.pixels(read, numbers))
    assert len(found) == 3


def test_a_damaged_image_ends_the_training_with_its_name(tmp_path, monkeypatch):
    official_formats.imagenet(tmp_path, monkeypatch)
    data = Source(name="imagenet", root=str(tmp_path)).load()
    for file in (tmp_path / "train").glob("*/*_2.JPEG"):
        file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(RepriseError, match=r"_2\.JPEG: not an image that can be decoded"):
        train(spec("imagenet", steps=4), data, tmp_path / "run")
