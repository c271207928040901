"""The files that an experiment reads: published ones alone, or in the key of its results."""

import json
import os
import shutil

import official_formats
import pytest
from filelock import FileLock

from reprise.datasets import catalogue
from reprise.datasets.data_set import DataSet
from reprise.engine import cache, inputs, registry, run, tiers
from reprise.errors import RepriseError
from reprise.ledger import diff
from reprise.papers.ren2023.zero_shot.experiment import Params as ZeroShot
from reprise.papers.ren2023.zero_shot.experiment import reads
from reprise.papers.tian2023.image_filters.experiment import Params as Filters
from reprise.storage import disk, records, store

ID = "jing2022/layer_alignment"


def test_the_data_sets_of_an_experiment_are_those_that_its_check_looks_for(monkeypatch):
    """Every experiment is asked with its published settings; a stand-in has no files."""
    looked = set()
    monkeypatch.setattr(DataSet, "check", lambda self, root: looked.add(self.name))
    for data_set in catalogue.DATA_SETS.values():
        monkeypatch.setattr(type(data_set), "check", lambda self, root: looked.add(self.name))
    seen = set()
    for id, experiment in registry.experiments().items():
        if id in ("ren2023/zero_shot", "jing2022/colour_short_cut"):  # COCO's is no DataSet; a stand-in alone
            continue
        looked.clear()
        params = experiment.params()
        experiment.check(params)
        assert looked == set(inputs.data_sets(params)), id
        assert inputs.data_sets(params) == inputs.published_data_sets(experiment.params), id
        seen |= looked
    assert {"mnist", "cifar10", "stl10", "imagenet"} <= seen


@pytest.mark.parametrize("count", [50, 60_000])
def test_an_mnist_that_is_not_the_published_one_is_refused_by_a_run(tmp_path, count):
    official_formats.mnist(tmp_path, train=count)
    file = tmp_path / "MNIST" / "raw" / "train-images-idx3-ubyte"
    with pytest.raises(RepriseError, match=f"^data set 'mnist': {file}: its MD5 sum differs"):
        registry.experiment("tian2023/image_filters").require_published(Filters(root=str(tmp_path)))


def test_one_changed_label_of_mnist_is_found(tmp_path, monkeypatch):
    official_formats.mnist(tmp_path, patch=monkeypatch)
    experiment, params = registry.experiment("tian2023/image_filters"), Filters(root=str(tmp_path))
    experiment.require_published(params)
    file = tmp_path / "MNIST" / "raw" / "t10k-labels-idx1-ubyte"
    content = bytearray(file.read_bytes())
    content[-1] = (content[-1] + 1) % 10
    file.write_bytes(content)
    with pytest.raises(RepriseError, match=f"{file}: its MD5 sum"):
        experiment.require_published(params)


def test_files_that_torchvision_would_read_instead_of_mnists_are_refused(tmp_path, monkeypatch):
    official_formats.mnist(tmp_path, patch=monkeypatch)
    (tmp_path / "MNIST" / "processed").mkdir()
    (tmp_path / "MNIST" / "processed" / "training.pt").touch()
    with pytest.raises(RepriseError, match="of an older torchvision would be read"):
        registry.experiment("tian2023/image_filters").require_published(Filters(root=str(tmp_path)))


def test_generated_data_are_no_files_in_the_key():
    experiment = registry.experiment(ID)
    params = experiment.params()
    assert experiment.files(params) == {}
    used = experiment.versions(params)
    what = experiment.code(params), used, params.model_dump(mode="json"), {}
    assert experiment.key(params) == records.key_of(*what)[:16]


@pytest.fixture
def folder(tmp_path):
    """A folder with two images in a folder each."""
    return put_images(tmp_path)


def put_images(root):
    for name in ("a/1.jpg", "b/2.jpg"):
        (root / "images" / name).parent.mkdir(parents=True)
        (root / "images" / name).write_bytes(b"12")
    return root / "images"


def test_a_folder_is_its_files_names_and_sizes(folder):
    before = inputs.digest(folder)
    os.utime(folder / "a", ns=(0, 0))
    assert inputs.digest(folder) == before
    (folder / "b" / "2.jpg").rename(folder / "b" / "3.jpg")
    renamed = inputs.digest(folder)
    (folder / "a" / "4.jpg").write_bytes(b"")
    added = inputs.digest(folder)
    (folder / "a" / "4.jpg").unlink()
    (folder / "b" / "3.jpg").rename(folder / "b" / "2.jpg")
    assert len({before, renamed, added}) == 3
    assert inputs.digest(folder) == before


def test_a_file_is_its_content(tmp_path):
    file = tmp_path / "weights"
    digests = []
    for content in (b"1", b"2"):
        file.write_bytes(content)
        os.utime(file, ns=(0, int(content)))
        digests.append(inputs.digest(file))
    assert digests == [disk.sha256(b"1"), disk.sha256(b"2")]


def test_the_captions_images_and_weights_of_figure_2_are_read(tmp_path):
    names = ("config.json", "model.safetensors", "vocab.json", "merges.txt")
    (tmp_path / "roberta").mkdir()
    for name in (*names, "tf_model.h5", "README.md", ".gitattributes", "pytorch_model.bin"):
        (tmp_path / "roberta" / name).touch()
    params = ZeroShot(root="coco", resnet101="resnet.pth", roberta=str(tmp_path / "roberta"))
    found = {str(path) for path in reads(params)}
    annotations = {f"coco/annotations/{kind}_{split}2014.json" for kind in ("captions", "instances")
                   for split in ("train", "val")}  # fmt: skip
    weights = {"resnet.pth", *(str(tmp_path / "roberta" / name) for name in names)}
    assert found == annotations | {"coco/train2014", "coco/val2014"} | weights
    assert reads(ZeroShot(data_set="scenes", encoders="presence")) == []


@pytest.fixture(scope="session")
def with_files(ran, shared):
    """`ran`, made again from the files of `folder`, once for all processes that test; not to be changed."""
    root = shared / "ran with files"
    with FileLock(f"{root}.lock"):
        if not root.exists():
            shutil.copytree(ran, root)
            put_images(root)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(registry.Experiment, "files", lambda *_: _there(root / "images"))
                run.run(tiers.load_tier("tiny", root).experiment(ID))
    return root


@pytest.fixture
def tier(with_files, checkout, folder, monkeypatch):
    """An experiment that reads the folder, run at a tiny size; and its tier."""
    monkeypatch.setattr(registry.Experiment, "files", lambda *_: _there(folder))
    shutil.copytree(with_files, checkout, dirs_exist_ok=True)
    return tiers.load_tier("tiny")


def _there(folder):
    return {"images": inputs.digest(folder)} if folder.exists() else {}


def test_results_of_other_files_are_refused_and_the_file_is_named(tier, folder):
    record = json.loads((tier.results / ID / store.RECORD).read_text())
    assert record["files"] == {"images": inputs.digest(folder)}
    assert tier.experiment(ID).tables()
    asker, key = cache.asker(tier.experiment(ID)), tier.experiment(ID).key()
    (folder / "b" / "2.jpg").rename(folder / "b" / "3.jpg")
    with pytest.raises(RepriseError, match=r"made from another images than is here now; make it again"):
        tier.experiment(ID).tables()
    assert cache.asker(tier.experiment(ID)) != asker
    assert tier.experiment(ID).key() != key  # what Snakemake compares
    run.run(tier.experiment(ID))
    new = json.loads((tier.results / ID / store.RECORD).read_text())
    assert tier.experiment(ID).tables()
    assert any(cause.startswith("file images: ") for cause in diff._causes(record, new))


def test_results_stay_when_the_data_set_is_no_longer_here(tier, folder):
    folder.rename(folder.with_name("elsewhere"))
    assert tier.experiment(ID).tables()


def test_a_data_set_that_changes_during_a_run_stops_it(tier, folder, monkeypatch):
    compute = registry.experiment(ID).compute()

    def edited(*arguments):
        (folder / "b" / "3.jpg").touch()
        return compute(*arguments)

    monkeypatch.setattr(registry.Experiment, "compute", lambda self: edited)
    record = (tier.results / ID / store.RECORD).read_text()
    with pytest.raises(RepriseError, match=r"a file of the data was edited while this ran; nothing"):
        run.run(tier.experiment(ID))
    assert (tier.results / ID / store.RECORD).read_text() == record
