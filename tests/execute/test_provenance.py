"""What a record says of the arithmetic that made a result."""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from reprise.execute import diff
from reprise.execute.provenance import commit_date, describe

COMMAND = "from reprise.cli import main; raise SystemExit(main())"
WITHOUT_TORCH = """
import json, sys
from pathlib import Path
import numpy
from reprise.execute import provenance
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
    """What git does not know has none, and no other words reach git."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2031-02-03T23:30:00+0200")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    repository = tmp_path / "repository"
    for words in (
        ["init", "-q", str(repository)],
        ["-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty",
         "-m", "first"],
    ):  # fmt: skip
        subprocess.run(["git", *words], check=True)
    commit = str(describe(repository)["commit"])
    assert commit_date(commit, repository) == commit_date(f"{commit}+changes", repository) == "2031-02-03"
    assert [commit_date(name, repository) for name in ("0" * 40, "unknown", "HEAD", "--all", "")] == [""] * 5
    assert commit_date(commit, tmp_path) == ""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository with one commit, in a folder whose name a shell would split."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    root = tmp_path / "the clone"
    root.mkdir()
    (root / "file").touch()
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "file"], [*name, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    return root


def another_owner(root, monkeypatch):
    """Git's own switch for tests, under which every folder is another user's."""
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
