"""What made a result: command, commit, versions, hardware."""

import os
import platform
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

LIBRARIES = ("reprise", "torch", "numpy", "numba", "scipy", "pandas", "matplotlib", "snakemake")


def describe(root: Path) -> dict[str, object]:
    """The exact command, the commit (with `+changes` when the tree is dirty), versions and hardware."""
    return {
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "commit": _commit(root),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in LIBRARIES},
        "hardware": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "system": platform.platform(terse=True),
        },
    }


def _commit(root: Path) -> str:
    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        commit = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
    except FileNotFoundError:
        return "unknown"
    return f"{commit}+changes" if commit and changed else commit or "unknown"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
