"""The record of the arithmetic and the code that made a result."""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy  # noqa: F401  whose OpenBLAS is looked for
import pytest
from threadpoolctl import threadpool_info

from reprise.engine import provenance, registry
from reprise.engine.provenance import commit_date, describe
from reprise.ledger import diff
from reprise.report.schema import CodeLine

ROOT = Path(__file__).parents[2]

COMMAND = "from reprise.cli import main; raise SystemExit(main())"
DESCRIBED = """
import json, sys
from pathlib import Path
from reprise.engine import provenance
print(json.dumps(provenance.describe(Path(sys.argv[1]))))
"""
WITHOUT_TORCH = """
import json, sys
from pathlib import Path
import numpy
from reprise.engine import provenance
before = provenance.describe(Path())
assert "torch" not in sys.modules
import torch
torch.set_num_threads(3)
print(json.dumps([before["arithmetic"], provenance.describe(Path())["arithmetic"]]))
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the kernels are those of Intel's processors")
@pytest.mark.parametrize(("kernel", "instructions"), [("Nehalem", "default"), ("Haswell", "avx2")])
def test_a_run_records_kernels_threads_and_the_variables_that_choose_them(checkout, kernel, instructions):
    chosen = {"OPENBLAS_CORETYPE": kernel, "ATEN_CPU_CAPABILITY": instructions}
    command = [sys.executable, "-c", COMMAND, "run", "ren2023/theory", "--tier", "smoke"]
    subprocess.run(command, env=os.environ | chosen, capture_output=True, check=True)
    record = json.loads((checkout / "results" / "smoke" / "ren2023" / "theory" / "run.json").read_text())
    libraries = record["arithmetic"]["libraries"]
    used = {(library["name"], library["kernel"]) for library in libraries if library["kernel"]}
    assert {kernel for name, kernel in used if "openblas" in name} == {kernel}
    assert ("torch", instructions.upper()) in used
    assert {library["threads"] for library in libraries} == {1}
    variables = record["arithmetic"]["variables"]
    assert chosen | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} == {
        name: variables.get(name) for name in (*chosen, "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    }


def test_of_torch_it_says_what_is_used_once_it_is_loaded_and_loads_it_for_nobody():
    command = [sys.executable, "-c", WITHOUT_TORCH]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    before, after = (
        {library["name"]: library["threads"] for library in arithmetic["libraries"]}
        for arithmetic in json.loads(shown)
    )
    assert "torch" not in before
    assert after["torch"] == 3


def test_a_commit_has_the_day_on_which_it_was_made(tmp_path, monkeypatch):
    """A commit unknown to git has no date, and no other words reach git."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2031-02-03T23:30:00+0200")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    repository = tmp_path / "repository"
    for words in (
        ["init", "-q", str(repository)],
        ["-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty",
         "-m", "first"],
    ):  # fmt: skip
        subprocess.run(["git", *words], check=True)
    commit = git(repository, "rev-parse", "HEAD")
    assert commit_date(commit, repository) == commit_date(f"{commit}+changes", repository) == "2031-02-03"
    assert [commit_date(name, repository) for name in ("0" * 40, "unknown", "HEAD", "--all", "")] == [""] * 5
    assert commit_date(commit, tmp_path) == ""


def git(root, *words):
    name = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    command = ["git", "-C", root, *name, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def is_run_from(monkeypatch, root):
    """Makes the package appear as imported from this checkout."""
    monkeypatch.setattr(provenance, "PACKAGE", root.resolve() / "src" / "reprise")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository with one commit, in a folder whose name a shell would split, whose package runs."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    root = tmp_path / "the clone"
    (root / "src" / "reprise").mkdir(parents=True)
    (root / "src" / "reprise" / "cli.py").touch()
    (root / ".gitignore").write_text("__pycache__\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        git(root, *words)
    is_run_from(monkeypatch, root)
    return root


def another_owner(root, monkeypatch):
    """Sets git's own switch for tests, under which every folder is another user's."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")


def no_git(root, monkeypatch):
    monkeypatch.setenv("PATH", str(root))


def no_checkout(root, monkeypatch):
    shutil.rmtree(root / ".git")


def no_commit(root, monkeypatch):
    shutil.rmtree(root / ".git")
    subprocess.run(["git", "init", "-q", root], check=True)


@pytest.mark.parametrize(
    ("spoil", "reason", "remedy"),
    [
        (
            another_owner,
            "git does not trust a folder that another user owns",
            "run: git config --global --add safe.directory {}",
        ),
        (no_git, "git cannot be run (No such file or directory)", "install it"),
        (no_checkout, "{} is not a git checkout", "run in a clone"),
        (no_commit, "git fails (ambiguous argument 'HEAD'", "try: git -C {} status"),
    ],
)
def test_a_commit_that_is_unknown_has_a_reason_and_a_remedy(repository, monkeypatch, spoil, reason, remedy):
    before = describe(repository)
    assert re.fullmatch("[0-9a-f]{40}", before["commit"])
    assert "commit_problem" not in before
    spoil(repository, monkeypatch)
    record = describe(repository)
    assert record["commit"] == "unknown"
    problem = record["commit_problem"]
    assert reason.format(repository) in problem
    assert problem.endswith(remedy.format(shlex.quote(str(repository))))
    causes = [*diff._causes(before, record)]
    assert f"commit: {before['commit']} -> unknown" in causes
    assert any(cause.startswith(f"commit problem: none -> {problem[:100]}") for cause in causes)


def test_gits_remedy_makes_the_commit_known(repository, monkeypatch, tmp_path):
    known = describe(repository)["commit"]
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    another_owner(repository, monkeypatch)
    command = describe(repository)["commit_problem"].partition("run: ")[2]
    subprocess.run(shlex.split(command), check=True)
    assert describe(repository)["commit"] == known


def test_where_git_cannot_compare_files_the_record_says_that_they_may_have_changed(repository):
    known = describe(repository)["commit"]
    (repository / ".git" / "index").write_bytes(b"damaged")
    record = describe(repository)
    assert record["commit"] == known
    assert record["commit_problem"].startswith("files may have been changed: git fails (")


def test_a_tarball_within_another_repository_has_not_its_commit(repository, monkeypatch):
    outer = git(repository, "rev-parse", "HEAD")
    tarball = repository / "vendor" / "reprise-main"
    shutil.copytree(repository / "src", tarball / "src")
    is_run_from(monkeypatch, tarball)
    record = describe(tarball)
    assert record["commit"] == "unknown"
    assert record["commit_problem"].startswith(
        f"{tarball} is not a git checkout, but lies within another one"
    )
    assert outer not in json.dumps(record)


@pytest.mark.parametrize(
    "variables",
    [
        ["GIT_DIR"],
        ["GIT_DIR", "GIT_WORK_TREE"],
        ["GIT_INDEX_FILE"],
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"],
        ["GIT_OBJECT_DIRECTORY"],
        ["GIT_COMMON_DIR", "GIT_DIR"],
        ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"],
        ["GIT_NAMESPACE"],
    ],
)
def test_variables_of_git_that_name_another_repository_do_not_count(
    repository, tmp_path, monkeypatch, variables
):
    """Git sets such variables in a hook of the other repository."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "another")
    commit, date = git(repository, "rev-parse", "HEAD"), git(repository, "show", "-s", "--format=%cs")
    values = {
        "GIT_DIR": other / ".git", "GIT_COMMON_DIR": other / ".git", "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": other / ".git" / "index", "GIT_OBJECT_DIRECTORY": other / ".git" / "objects",
        "GIT_CONFIG_COUNT": 1, "GIT_CONFIG_KEY_0": "core.worktree", "GIT_CONFIG_VALUE_0": other,
        "GIT_NAMESPACE": "x",
    }  # fmt: skip
    for name in variables:
        monkeypatch.setenv(name, str(values[name]))
    assert describe(repository)["commit"] == commit
    assert "commit_problem" not in describe(repository)
    assert commit_date(commit, repository) == date


def test_every_variable_that_git_calls_local_to_a_repository_is_dropped():
    listed = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    assert set(listed.stdout.split()) <= set(provenance.REDIRECTING)


@pytest.mark.parametrize(
    ("new", "counts"),
    [
        ("src/reprise/papers/new2030/paper.py", True),
        ("configs/mine.yaml", True),
        ("workflow/rules/mine.smk", True),
        ("src/reprise/__pycache__/cli.pyc", False),
        ("notes.txt", False),
        ("results/run.json", False),
    ],
)
def test_a_new_file_of_the_code_is_a_change_and_others_are_none(repository, monkeypatch, new, counts):
    """The answers do not depend on what git is configured to show."""
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "config", "status.showUntrackedFiles", "no")
    (repository / new).parent.mkdir(parents=True, exist_ok=True)
    (repository / new).write_text("x = 1\n")
    assert describe(repository)["commit"] == f"{commit}{'+changes' * counts}"


def test_a_repository_cloned_into_the_code_is_a_change(repository, tmp_path):
    shutil.copytree(repository, tmp_path / "papers")
    shutil.move(tmp_path / "papers", repository / "src" / "reprise" / "papers")
    assert describe(repository)["commit"].endswith("+changes")


@pytest.mark.parametrize("how", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_is_told_not_to_compare_may_have_changed(repository, how):
    git(repository, "update-index", how, "src/reprise/cli.py")
    (repository / "src" / "reprise" / "cli.py").write_text("x = 1\n")
    problem = describe(repository)["commit_problem"]
    assert problem.startswith("files may have been changed: git does not compare src/reprise/cli.py; run: ")
    subprocess.run(shlex.split(problem.partition("run: ")[2]), cwd=repository, check=True)
    assert describe(repository)["commit"].endswith("+changes")


def worktree(root, tmp_path):
    git(root, "worktree", "add", "-q", tmp_path / "tree", "HEAD")
    return tmp_path / "tree"


def submodule(root, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "--quiet", "add", f"file://{root}", "inner")
    git(outer, "commit", "-q", "-m", "with a submodule")
    return outer / "inner"


def shallow(root, tmp_path):
    git(root, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", tmp_path / "shallow")
    return tmp_path / "shallow"


def linked(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    return tmp_path / "link"


def sparse(root, tmp_path):
    git(root, "sparse-checkout", "set", "src")
    return root


@pytest.mark.parametrize("made", [worktree, submodule, shallow, linked, sparse])
def test_other_kinds_of_checkouts_have_their_commit(repository, tmp_path, monkeypatch, made):
    root = made(repository, tmp_path)
    is_run_from(monkeypatch, root)
    record = describe(root)
    assert record["commit"] == git(repository, "rev-parse", "HEAD")
    assert "commit_problem" not in record
    (root / "src" / "reprise" / "cli.py").write_text("x = 1\n")
    assert describe(root)["commit"].endswith("+changes")


def test_code_of_another_clone_has_its_own_commit_and_no_lines_here(repository, tmp_path, monkeypatch):
    """The path of Python's modules leads to the other clone, as it does in this process."""
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    here = git(repository, "rev-parse", "HEAD")
    monkeypatch.undo()
    shutil.copytree(ROOT / "configs", repository / "configs")
    command = [sys.executable, "-c", DESCRIBED, repository]
    record = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    source = Path(provenance.__file__).parents[1]
    assert here not in json.dumps(record)
    assert record["commit"] == provenance._state(source.parents[1])[0]
    assert record["commit_problem"].startswith(f"the code is imported from {source}, not from {repository}; ")
    (artifact,) = [each for each in registry.artifacts().values() if each.id == "jing2022/fig04"]
    same = repository / f"{artifact.module.replace('.', '/')}.py"
    (repository / "src" / same.relative_to(repository)).parent.mkdir(parents=True)
    (repository / "src" / same.relative_to(repository)).write_text("another = 1\n")
    assert CodeLine.of(artifact.code, repository, repository / "results").path == ""


@pytest.mark.parametrize("installed", ["src", ".venv/lib/python3.11/site-packages", "build/lib"])
def test_only_the_source_is_the_checkouts_code(repository, monkeypatch, installed):
    """A copy that was installed into a virtual environment stays what it was."""
    package = repository / installed / "reprise"
    package.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(provenance, "PACKAGE", package)
    assert ("commit_problem" in describe(repository)) == (installed != "src")


@pytest.mark.parametrize("name", ["short", "branch", "tree"])
def test_only_a_whole_name_of_a_commit_has_a_date(repository, name):
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "branch", "decade")
    names = {"short": commit[:10], "branch": "decade", "tree": git(repository, "rev-parse", "HEAD^{tree}")}
    git(repository, "config", "log.showSignature", "true")
    assert commit_date(names[name], repository) == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", commit_date(commit, repository))


def test_a_run_has_the_commit_at_which_it_began(monkeypatch):
    began = {"commit": "a" * 40}
    monkeypatch.setattr(provenance, "_commit", lambda root: ("a" * 40, ""))
    assert provenance.of_run(began, Path()) == began
    monkeypatch.setattr(provenance, "_commit", lambda root: ("b" * 40, ""))
    changed = provenance.of_run(began, Path())
    assert changed["commit"] == "a" * 40
    assert "changed while this ran" in changed["commit_problem"]


def test_the_kernels_are_those_that_numpy_runs():
    (library, *_) = [each for each in threadpool_info() if each["prefix"] == "libscipy_openblas"]
    version, kernel = library["version"], library["architecture"]
    assert f"libscipy_openblas {version}: {kernel}" in provenance.kernels().split(", ")
