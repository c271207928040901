"""What the Makefile passes to commands, and what it refuses."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@pytest.fixture
def make(tmp_path):
    """Runs make without executing its recipes, in a folder whose name holds spaces and quotes."""
    folder = tmp_path / 'the "user\'s" $(checkout)'
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)

    # A make that runs under another make says which folder it enters; these tests run under `make test`.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}

    def call(*arguments):
        return subprocess.run(
            ["make", "-n", *arguments], cwd=folder, env=environment, capture_output=True, text=True
        )

    return call


def test_a_tier_a_paper_and_cores_go_to_snakemake(make):
    done = make("reproduce", "TIER=my-tier_2.b", "PAPER=jing2022", "CORES=3")
    assert done.returncode == 0, done.stderr
    assert "snakemake --cores 3 --config tier=my-tier_2.b paper=jing2022\n" in done.stdout
    assert "results/my-tier_2.b/summary.md" in done.stdout


def test_the_folders_name_is_in_no_command(make):
    assert "checkout" not in make("reproduce", "test", "golden").stdout


BAD = [
    "default; touch x",
    "a b",
    "it's",
    '"a',
    "`touch x`",
    "$(touch x)",
    "$(shell touch x)",
    "a\ntouch x",
    "..",
    "-n",
    "a/b",
]


@pytest.mark.parametrize("name", ["TIER", "PAPER", "CORES", "MUTANTS"])
@pytest.mark.parametrize("value", BAD)
def test_what_is_no_plain_name_is_refused_before_anything_runs(make, tmp_path, name, value):
    done = make("reproduce", f"{name}={value}")
    assert done.returncode != 0
    assert done.stdout == ""
    assert f'{name} is "{value}"; it takes letters, digits' in done.stderr
    assert list(tmp_path.rglob("x")) == []


@pytest.mark.parametrize("name", ["tier", "TEIR", "SHARE_MINUTES"])
def test_an_unknown_variable_is_refused_before_anything_runs(make, name):
    done = make("reproduce", f"{name}=smoke")
    assert done.returncode != 0
    assert done.stdout == ""
    assert f"unknown variable {name}; there are: TIER PAPER CORES KILLS MUTANTS PYTHON" in done.stderr
    assert make("reproduce", "PYTHON=python3.11").returncode == 0
