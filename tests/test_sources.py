"""A file that is replaced by another of its size and date: the module is the new one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import reprise
from reprise.errors import RepriseError
from reprise.storage import user_code


@pytest.fixture
def package(tmp_path):
    """A copy of the package, with the compiled modules of a first import."""
    shutil.copytree(
        Path(reprise.__file__).parent, tmp_path / "reprise", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "reprise"


def replaced(file, old, new):
    """Puts another content of the same size and date in a file's place."""
    before, text = file.stat(), file.read_text()
    assert text.count(old) == 1
    assert len(old) == len(new)
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def run(package, code, *options, **environment):
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        env={**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "", **environment},
        cwd=package.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip


CODE = "from reprise.errors import INTERRUPTED; print(INTERRUPTED)"


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ([], {}),
        (["--check-hash-based-pycs", "never"], {}),
        (["-O"], {}),
        ([], {"PYTHONDONTWRITEBYTECODE": "1"}),
        ([], {"PYTHONPYCACHEPREFIX": "elsewhere"}),
    ],
)
@pytest.mark.parametrize("first", ["reprise", "python"])
def test_a_module_is_the_one_that_its_file_holds(package, first, options, environment):
    """The module was first compiled by the package or, as pip does, by Python itself."""
    file = package / "errors.py"
    if first == "python":
        compile_all = ["-m", "compileall", "-q", str(package)]
        subprocess.run([sys.executable, *options, *compile_all], cwd=package.parent, check=True)
    before = run(package, CODE, *options, **environment | {"PYTHONDONTWRITEBYTECODE": ""})
    assert before.stdout == "130\n", before.stderr
    if first == "python":
        subprocess.run([sys.executable, *options, *compile_all, "-f"], cwd=package.parent, check=True)
    replaced(file, "INTERRUPTED = 130\n", "INTERRUPTED = 131\n")
    for _ in range(2):
        assert run(package, CODE, *options, **environment).stdout == "131\n"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("__init__.py", 'id: str, tier: str = "default", *, loss', 'id: str, tier: str = "defaulT", *, loss'),
        ("sources.py", "CHECKED_HASH = (0b11)", "CHECKED_HASH = (0b01)"),
    ],
)
def test_what_python_imports_before_it_can_be_looked_at_refuses_and_is_new_at_the_next_start(
    package, file, old, new
):
    assert run(package, CODE).returncode == 0
    replaced(package / file, old, new)
    refused = run(package, CODE)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith(
        f"ImportError: {package / file} has another content than"
    )
    assert run(package, CODE).stdout == "130\n"


def test_a_module_is_compiled_once(package):
    run(package, CODE)
    compiled = {file: file.stat().st_mtime_ns for file in package.rglob("*.pyc")}
    assert len(compiled) >= 3
    run(package, CODE)
    assert {file: file.stat().st_mtime_ns for file in package.rglob("*.pyc")} == compiled


def test_a_moved_package_names_its_own_files(package, tmp_path):
    run(package, CODE)
    (tmp_path / "moved").mkdir()
    package = package.rename(tmp_path / "moved" / "reprise")
    where = "from reprise.errors import unknown; print(unknown.__code__.co_filename)"
    assert run(package, where).stdout.strip() == str(package / "errors.py")


def test_a_module_beside_a_users_file_is_the_one_that_its_file_holds(tmp_path):
    (tmp_path / "mine.py").write_text("import helper\nfactor = helper.FACTOR\n")
    (tmp_path / "helper.py").write_text("FACTOR = 2\n")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(tmp_path)], check=True)
    assert user_code.executed(tmp_path / "mine.py").factor == 2
    replaced(tmp_path / "helper.py", "FACTOR = 2\n", "FACTOR = 3\n")
    assert user_code.executed(tmp_path / "mine.py").factor == 3
    (tmp_path / "helper.py").write_text("FACTOR = \n")
    with pytest.raises(RepriseError, match=r"helper\.py:1: SyntaxError"):
        user_code.executed(tmp_path / "mine.py")


HOOK = """import sys
from importlib.machinery import PathFinder, SourceFileLoader

class Loader(SourceFileLoader):
    def source_to_code(self, data, path, *, _optimization=-1):
        return compile(data + b"\\nRewritten = True\\n", path, "exec", dont_inherit=True)

class Finder:
    def find_spec(name, path, target=None):
        spec = PathFinder.find_spec(name, path, target)
        if spec and name.startswith("reprise"):
            spec.loader = Loader(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder)
"""


def test_a_tool_that_rewrites_modules_is_let(package):
    assert run(package, CODE).stdout == "130\n"
    done = run(package, HOOK + CODE)
    assert done.stdout == "130\n", done.stderr


def test_the_package_is_imported_from_an_archive_and_without_sources(package):
    archive = shutil.make_archive(str(package.parent / "archive"), "zip", package.parent, "reprise")
    done = run(package, CODE, PYTHONPATH=archive)
    assert done.stdout == "130\n", done.stderr
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-b", package], check=True)
    for file in package.rglob("*.py"):
        file.unlink()
    done = run(package, CODE)
    assert done.stdout == "130\n", done.stderr
