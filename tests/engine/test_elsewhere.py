"""Papers in other repositories: found by a path in a config or by an entry point, and then like any other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text()


@pytest.fixture
def other(tmp_path):
    """Another repository, with the paper of docs/extending.md in the folder `cpc2018`."""
    section = PAGE.partition("\n## A new paper\n")[2].partition("\n## ")[0]
    (diff,) = re.findall(r"^```diff\n(.+?)^```$", section, re.MULTILINE | re.DOTALL)
    repository = tmp_path / "other"
    subprocess.run(["git", "apply", "-"], input=diff, cwd=tmp_path, text=True, check=True)
    (tmp_path / "src" / "reprise" / "papers").rename(repository)
    (repository / "oord2018").rename(repository / "cpc2018")  # where the page was followed, its key is taken
    for file in (*repository.rglob("*.py"), *repository.rglob("*.csv")):
        file.write_text(
            file.read_text().replace("reprise.papers.oord2018", "cpc2018").replace("oord2018", "cpc2018")
        )
    return repository


@pytest.fixture
def reprise(checkout, other):
    """Runs commands in the checkout, in one process, and gives the largest exit code; `papers` is what its
    config `mine` lists."""

    def call(*commands, papers="[../other/cpc2018]", path=()):
        (checkout / "configs" / "mine.yaml").write_text(f"tier: mine\nbase: smoke\npapers: {papers}\n")
        searched = os.pathsep.join([str(ROOT / "src"), *map(str, path)])
        words = [command.split() for command in commands]
        program = f"import sys; from reprise.cli import main; sys.exit(max(map(main, {words})))"
        return subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": searched}, cwd=checkout, capture_output=True, text=True,
        )  # fmt: skip

    return call


def test_a_paper_named_in_a_config_runs_and_is_judged_like_any_other(reprise, other):
    done = reprise(
        "run cpc2018/bound --tier mine",
        "check cpc2018 --tier mine --json",
        "show cpc2018/sec23/below --tier mine",
        "draw cpc2018/sec23_bound --tier mine",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"verdict": "reproduced"') == 2, done.stderr
    assert re.search(r"written in +\.\./other/cpc2018/bound/claims\.py:\d+", done.stdout)
    assert "sec23_bound.pdf" in done.stdout, done.stderr

    compute = other / "cpc2018" / "bound" / "compute.py"
    compute.write_text(compute.read_text().replace("c, noise = random", "noise, c = random"))
    stale = reprise("check cpc2018 --tier mine")
    assert stale.returncode == 2
    assert "made by other code than is here now" in stale.stderr


def test_an_installed_paper_is_found_by_its_entry_point(reprise, other):
    installed = other / "cpc-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: cpc\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[reprise.papers]\ncpc2018 = cpc2018\n")
    listed = reprise("list cpc2018 --tier mine", papers="[]", path=[other])
    assert "  cpc2018/bound: 2 claims; no results" in listed.stdout, listed.stderr

    (installed / "entry_points.txt").write_text("[reprise.papers]\ncpc2018 = gone\n")
    broken = reprise("list", papers="[]", path=[other])
    assert (broken.returncode, broken.stdout) == (2, "")
    assert "entry point 'cpc2018' of cpc: no package 'gone'" in broken.stderr


@pytest.mark.parametrize(
    ("papers", "words"),
    [
        ("[../other/gone]", "configs/mine.yaml: papers: '../other/gone': no paper's folder"),
        ("[../other/jing2022]", "two papers have the key 'jing2022': reprise.papers.jing2022 and jing2022"),
        ("[../other/yaml]", "Python has another package 'yaml'; rename the folder"),
        ("[../other/cpc2018, ../cpc2018]", "rename"),
        ("../other/cpc2018", "key 'papers' has the value '../other/cpc2018'; write a list of folders"),
    ],
)
def test_a_wrong_folder_is_one_line(reprise, other, papers, words):
    for folder in (other / "jing2022", other / "yaml", other.parent / "cpc2018"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    process = reprise("list --tier mine", papers=papers)
    assert (process.returncode, process.stdout) == (2, "")
    assert words in process.stderr
    assert process.stderr.count("\n") == 1
