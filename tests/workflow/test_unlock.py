"""Locks and `make reproduce`: it removes those that nobody holds, and leaves all others."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "workflow" / "scripts" / "unlock"
FAKE = """#!/bin/bash
if [[ $1 == --unlock ]]; then echo "$@"; rm -r .snakemake/locks; else echo ready; read -r; fi
"""


@pytest.fixture
def folder(tmp_path):
    """A locked folder, and in bin/ a program called snakemake, which unlocks it or waits."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "snakemake").write_text(FAKE)
    (tmp_path / "bin" / "snakemake").chmod(0o755)
    folder = tmp_path / "the user's checkout"
    (folder / ".snakemake" / "locks").mkdir(parents=True)
    (folder / ".snakemake" / "locks" / "0.output.lock").touch()
    (folder / ".snakemake" / "host").write_text(f"{platform.node()}\n")
    return folder


def unlock(folder):
    """The script's output, and whether the folder is locked then."""
    done = subprocess.run(
        [SCRIPT, "--config", "tier=smoke"], cwd=folder, capture_output=True, text=True,
        env={"PATH": f"{folder.parent / 'bin'}:/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr, (folder / ".snakemake" / "locks").exists()


def test_locks_that_no_process_holds_are_removed(folder):
    printed = "--unlock --quiet all --config tier=smoke\nunlocking: the last Snakemake here was killed\n"
    assert unlock(folder) == (printed, False)
    assert unlock(folder) == ("", False)


def test_without_locks_nothing_is_said(folder):
    shutil.rmtree(folder / ".snakemake")
    assert unlock(folder) == ("", False)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_locks_stay_while_a_snakemake_is_at_work_in_the_folder(folder, elsewhere):
    process = subprocess.Popen(
        [folder.parent / "bin" / "snakemake"], cwd=folder.parent if elsewhere else folder,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    printed, locked = unlock(folder)
    process.communicate("\n")
    assert locked != elsewhere
    assert elsewhere or printed.startswith(f"locked by Snakemake, process {process.pid}; once it has ended")


@pytest.mark.parametrize("host", ["elsewhere.example", None])
def test_locks_of_another_machine_stay(folder, host):
    if host:
        (folder / ".snakemake" / "host").write_text(f"{host}\n")
    else:
        (folder / ".snakemake" / "host").unlink()
    printed, locked = unlock(folder)
    assert locked
    assert printed.startswith(
        f"locked by Snakemake on {host or 'a machine that is not known'}; once it has ended"
    )
