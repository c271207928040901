"""Values that one process finds out about the package and keeps for the next."""

import importlib.util
import inspect
import subprocess
import sys

import pytest

from reprise import sources
from reprise.engine import memo, registry
from reprise.engine.memo import Memo
from reprise.engine.tiers import load_tier
from reprise.storage.closure import closure_hash, libraries
from reprise.storage.versions import code_and_versions


@pytest.fixture
def package(tmp_path):
    """A package's folder with a module, a table and a template."""
    root = tmp_path / "package"
    (root / "inner").mkdir(parents=True)
    for name in ("__init__.py", "inner/module.py", "inner/printed.csv", "inner/page.j2"):
        (root / name).write_text("1\n")
    return root


@pytest.fixture
def load(package):
    """A function that makes the memo of a new process."""
    return lambda: Memo([package], package / "__pycache__" / "memo.json")


def put(process, **values):
    """Makes values in a process, which keeps them for later processes."""
    for name, value in values.items():
        assert process.value(name, lambda value=value: value) == value
    process.write()


def has(process, name):
    """Tells if a process has a value without making it."""
    return process.value(name, lambda: "made now") != "made now"


def test_every_experiment_drawing_and_paper_has_the_hash_of_its_closure(checkout):
    """The hash is the same without the memo: closures are computed again here."""
    tier = load_tier("smoke")
    for id, experiment in registry.experiments().items():
        params = tier.params[id]
        assert experiment.code(params) == closure_hash(*experiment.symbols(params))
        assert set(memo.libraries(*experiment.symbols(params))) == libraries(*experiment.symbols(params))
    for id in registry.artifacts():
        assert registry.artifact_code(id) == code_and_versions(*registry.artifact_symbols(id))
    for key in registry.papers():
        published = registry._published(key)
        assert registry.claims_code(key) == code_and_versions(*registry.claims_symbols(key), extra=published)


def test_every_figure_and_table_is_the_one_that_its_module_draws():
    for id, experiment in registry.experiments().items():
        module = f"{experiment.module}.figures"
        if importlib.util.find_spec(module) is None:
            assert experiment.artifacts == ()
            continue
        drawn = {
            f"{experiment.paper}/{name}": function.artifact
            for name, function in vars(importlib.import_module(module)).items()
            if inspect.isfunction(function) and hasattr(function, "artifact")
        }
        assert drawn == {
            each.id: {name: getattr(each, name) for name in ("number", "kind", "caption", "reads")}
            for each in experiment.artifacts
        }, id


def test_neither_a_plan_nor_a_check_imports_matplotlib(checkout):
    code = (
        "import sys; from reprise.cli import main; main(['check']);"
        "sys.exit('matplotlib' in sys.modules or 'torch' in sys.modules)"
    )
    registry.papers()
    memo.of_package().write()
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_a_value_is_made_once_for_all_processes(load):
    put(load(), hash="1", figures=[{"name": "fig01"}])
    later = load()
    assert later.value("hash", pytest.fail) == "1"
    assert later.value("figures", pytest.fail) == [{"name": "fig01"}]
    assert not has(later, "another")


def test_what_two_processes_make_at_a_time_is_kept_together(load):
    first, second = load(), load()
    put(first, one="1")
    put(second, two="2")
    third = load()
    assert has(third, "one")
    assert has(third, "two")


@pytest.mark.parametrize("name", ["inner/module.py", "inner/printed.csv", "inner/page.j2", "inner/new.py"])
def test_after_an_edit_nothing_kept_counts(load, package, name):
    put(load(), hash="1")
    (package / name).write_text("2\n")
    assert not has(load(), "hash")


def test_a_moved_file_is_an_edit(load, package):
    put(load(), hash="1")
    (package / "inner/module.py").rename(package / "module.py")
    assert not has(load(), "hash")


def test_what_was_made_while_a_file_was_edited_is_not_kept(load, package):
    process = load()
    (package / "inner/module.py").write_text("2\n")
    put(process, hash="1")
    assert not has(load(), "hash")
    (package / "inner/module.py").write_text("1\n")
    assert not has(load(), "hash")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"package": "1"}', '{"values": 1, "package": "STATE"}'])
def test_a_damaged_file_counts_as_none(load, package, content):
    file = package / "__pycache__" / "memo.json"
    file.parent.mkdir()
    file.write_text(content.replace("STATE", memo.fingerprint(package)))
    put(load(), hash="1")
    assert has(load(), "hash")


def test_a_folder_that_cannot_be_written_to_is_no_error(load, package):
    (package / "__pycache__").write_text("no folder")
    put(load(), hash="1")
    assert not has(load(), "hash")


def test_a_module_edited_between_its_import_and_the_first_look_is_seen(package, load):
    """A process imports some hundred modules first; and an edit that is taken back counts no more."""
    module = package / "inner" / "module.py"
    sources._Loader("module", str(module)).get_code("module")
    assert load().is_current()
    module.write_text("2\n")
    assert sources.edited(package) == [str(module)]
    process = load()
    assert not process.is_current()
    put(process, found="by another code")
    assert not has(load(), "found")
    module.write_text("1\n")
    assert load().is_current()
