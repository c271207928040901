"""The versions in keys: of the libraries that code uses, and of no others."""

import platform
from importlib import metadata

import pytest

from reprise.engine import registry
from reprise.storage import closure, versions


@pytest.fixture
def used(tmp_path, monkeypatch):
    """The libraries that a function of a package `demo` uses."""
    package = tmp_path / "demo"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "numbers.py").write_text(
        "import os\nimport scipy.stats as stats\nfrom numpy import mean\nimport pandas\n"
        "from . import other\nTYPE_CHECKING = False\n"
        "if TYPE_CHECKING:\n    from matplotlib.figure import Figure\n\n\n"
        "def average(x):\n    return mean(x)\n\n\n"
        "def through(x):\n    return average(other.late(x))\n\n\n"
        "def drawn(x) -> 'Figure':\n    return os.fspath(x)\n\n\n"
        "class Table(pandas.DataFrame):\n    pass\n"
    )
    (package / "other.py").write_text(
        "import torch\n\n\ndef late(x):\n    from sklearn.svm import SVC\n    return SVC(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(closure, "PACKAGE", "demo")
    closure.read_again()
    yield lambda name: closure.libraries(("demo.numbers", name))
    closure.read_again()


def test_a_library_counts_where_it_is_used_directly_or_through_another_module(used):
    assert used("average") == {"numpy"}
    assert used("through") == {"numpy", "sklearn"}
    assert used("drawn") == set()
    assert used("Table") == {"pandas"}
    assert used("") == {"numpy", "scipy", "pandas", "matplotlib", "sklearn", "torch"}


@pytest.mark.parametrize(("library", "changes"), [("numpy", True), ("sklearn", False), ("torch", False)])
def test_another_version_of_a_library_in_use_is_another_hash(used, monkeypatch, library, changes):
    def code():
        return versions.code_and_versions(("demo.numbers", "average"))

    monkeypatch.setattr(versions, "_installed", lambda name: [(name, "1")])
    before = code()
    monkeypatch.setattr(versions, "_installed", lambda name: [(name, "2" if name == library else "1")])
    assert (code() != before) == changes


def test_each_library_that_the_package_uses_has_the_version_of_its_distribution():
    """Found here by the files of all distributions, which takes too long for a plan."""
    params = {id: experiment.params() for id, experiment in registry.experiments().items()}
    symbols = [s for id, experiment in registry.experiments().items() for s in experiment.symbols(params[id])]
    symbols += [s for id in registry.artifacts() for s in registry.artifact_symbols(id)]
    libraries = closure.libraries(*symbols, *registry.report_symbols())
    assert {"numpy", "scipy", "sklearn", "skimage", "torch", "torchvision", "matplotlib"} <= libraries
    found = metadata.packages_distributions()
    for library in libraries & set(found):
        expected = {name.lower(): metadata.version(name) for name in found[library]}
        assert {name.lower(): version for name, version in versions._installed(library)} == expected, library


def test_python_counts_by_its_minor_version_and_annotations_of_shapes_do_not():
    major, minor, _ = platform.python_version_tuple()
    assert versions.of(["jaxtyping"]) == {"Python": f"{major}.{minor}"}


def test_a_library_that_is_not_there_is_named():
    assert versions.of(["nothing_here"])["nothing_here"] == "not installed"
