"""Hashes that one process keeps for the next."""

import json

import pytest

from reprise.execute import hashes, registry
from reprise.execute.hashes import Hashes
from reprise.execute.tiers import load_tier
from reprise.storage.closure import closure_hash

SYMBOLS = (("reprise.objectives", "infonce"), ("reprise.study.experiment", "evaluate"))


@pytest.fixture
def package(tmp_path):
    """A package's folder with a module, a table and a template."""
    root = tmp_path / "package"
    (root / "inner").mkdir(parents=True)
    for name in ("__init__.py", "inner/module.py", "inner/printed.csv", "inner/page.j2"):
        (root / name).write_text("1\n")
    return root


@pytest.fixture
def computed(monkeypatch):
    """The calls of `closure_hash`, which answers by their number."""
    calls = []
    monkeypatch.setattr(
        hashes, "closure_hash", lambda *symbols, extra: str(calls.append(symbols) or len(calls))
    )
    return calls


@pytest.fixture
def load(package):
    """A function that makes what a new process has."""
    return lambda: Hashes(package, package / "__pycache__" / "closures.json")


def test_every_experiment_drawing_and_paper_has_the_hash_of_its_closure(checkout):
    """Kept or not. The closures are computed again here, without what is kept."""
    tier = load_tier("smoke")
    for id, experiment in registry.experiments().items():
        params = tier.params[id]
        assert experiment.code(params) == closure_hash(*experiment.symbols(params))
    for id in registry.artifacts():
        assert registry.artifact_code(id) == closure_hash(*registry.artifact_symbols(id))
    for key in registry.papers():
        published = registry._published(key)
        assert registry.claims_code(key) == closure_hash(*registry.claims_symbols(key), extra=published)


def test_a_hash_is_computed_once_for_all_processes(load, computed):
    first = load()
    values = [first(*SYMBOLS), first(*SYMBOLS[:1]), first(*SYMBOLS, extra=b"1"), first(*reversed(SYMBOLS))]
    assert values == ["1", "2", "3", "1"]
    first.keep()
    second = load()
    assert [second(*SYMBOLS), second(*SYMBOLS[:1]), second(*SYMBOLS, extra=b"1")] == ["1", "2", "3"]
    assert len(computed) == 3


def test_what_two_processes_compute_at_a_time_is_kept_together(load, computed):
    first, second = load(), load()
    first(*SYMBOLS)
    second(*SYMBOLS[:1])
    first.keep()
    second.keep()
    third = load()
    assert (third(*SYMBOLS), third(*SYMBOLS[:1]), len(computed)) == ("1", "2", 2)


@pytest.mark.parametrize("name", ["inner/module.py", "inner/printed.csv", "inner/page.j2", "inner/new.py"])
def test_after_an_edit_nothing_kept_counts(load, computed, package, name):
    first = load()
    first(*SYMBOLS)
    first.keep()
    (package / name).write_text("2\n")
    assert load()(*SYMBOLS) == "2"
    (package / name).write_text("1\n")
    assert load()(*SYMBOLS) == ("3" if name == "inner/new.py" else "1")


def test_a_moved_file_is_an_edit(load, computed, package):
    first = load()
    first(*SYMBOLS)
    first.keep()
    (package / "inner/module.py").rename(package / "module.py")
    assert load()(*SYMBOLS) == "2"


def test_hashes_from_before_and_after_an_edit_are_not_kept(load, computed, package):
    first = load()
    (package / "inner/module.py").write_text("2\n")
    first(*SYMBOLS)
    first.keep()
    assert not (package / "__pycache__" / "closures.json").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"package": "1"}', '{"hashes": 1, "package": "STATE"}'])
def test_a_damaged_file_counts_as_none(load, computed, package, content):
    file = package / "__pycache__" / "closures.json"
    file.parent.mkdir()
    file.write_text(content.replace("STATE", hashes.fingerprint(package)))
    first = load()
    assert first(*SYMBOLS) == "1"
    first.keep()
    assert list(json.loads(file.read_text())["hashes"].values()) == ["1"]


def test_a_folder_that_cannot_be_written_to_is_no_error(load, computed, package):
    (package / "__pycache__").write_text("no folder")
    first = load()
    first(*SYMBOLS)
    first.keep()
    assert load()(*SYMBOLS) == "2"
