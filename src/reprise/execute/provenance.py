"""Provenance of a result: command, commit, versions, hardware, and the numerical libraries in use."""

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from threadpoolctl import threadpool_info

LIBRARIES = ("reprise-ssl", "torch", "numpy", "numba", "scipy", "pandas", "matplotlib", "snakemake")
VARIABLES = ("ATEN_", "BLIS_", "CUBLAS_", "MKL_", "NPY_", "NUMBA_", "OMP_", "ONEDNN_", "OPENBLAS_")
"""Prefixes of the environment variables that select instructions, kernels and threads."""
CHANGES = "+changes"
"""After a commit whose files had been changed."""
UNKNOWN = "unknown"
TRUST = re.compile(r"git config --global --add safe\.directory .+")
"""The remedy that git prints."""


def describe(root: Path) -> dict[str, object]:
    """The exact command, the commit (with `+changes` if the tree is dirty; `commit_problem` says why git does
    not tell), versions, hardware, and the numerical libraries loaded so far."""
    commit, problem = _commit(root)
    return {
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "commit": commit,
        **({"commit_problem": problem} if problem else {}),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in LIBRARIES},
        "hardware": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            **_gpus(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "system": platform.platform(terse=True),
        },
        "arithmetic": {
            "libraries": sorted(_arithmetic_libraries(), key=str),
            "variables": {
                name: os.environ[name] for name in sorted(os.environ) if name.startswith(VARIABLES)
            },
        },
    }


def _gpus() -> dict[str, list[str]]:
    """The names of the machine's GPUs, if it has any and torch is loaded."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return {}
    return {"gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]}


def _arithmetic_libraries() -> Iterator[dict[str, object]]:
    """The loaded numerical libraries (loads none itself): linear algebra, threading, PyTorch, compiled loops.
    `kernel` is the processor or instruction set that each library reports to have chosen."""

    def library(name: str, version: str | None, kernel: str | None, threads: int) -> dict[str, object]:
        return {"name": name, "version": version, "kernel": kernel, "threads": threads}

    for pool in threadpool_info():
        yield library(pool["prefix"], pool["version"], pool.get("architecture"), pool["num_threads"])
    if torch := sys.modules.get("torch"):
        threads = torch.get_num_threads()
        yield library("torch", torch.__version__, torch.backends.cpu.get_cpu_capability(), threads)
        for version in re.findall(r"Math Kernel Library Version (\S+)", torch.__config__.show()):
            yield library("MKL in torch", version, None, threads)
    if llvm := sys.modules.get("llvmlite.binding"):
        yield library("numba", _version("numba"), llvm.get_host_cpu_name(), 1)


def commit_date(commit: str, root: Path) -> str:
    """The day of a commit, as in `2030-01-31`; empty if the checkout's git does not know it.

    Args:
        commit: as `describe` names it, with or without `+changes`.
    """
    name = commit.removesuffix(CHANGES)
    return (
        _git(root, "show", "--no-patch", "--format=%cs", name)[0] if re.fullmatch("[0-9a-f]+", name) else ""
    )


def _commit(root: Path) -> tuple[str, str]:
    """The commit, or `unknown`, and why git does not tell it or whether files had been changed."""
    commit, problem = _git(root, "rev-parse", "HEAD")
    if problem:
        return UNKNOWN, problem
    changed, problem = _git(root, "status", "--porcelain", "--untracked-files=no")
    return (
        f"{commit}{CHANGES}" if changed else commit
    ), problem and f"files may have been changed: {problem}"


def _git(root: Path, *words: str) -> tuple[str, str]:
    """What git says, or else why it fails and what to do."""
    command, english = ["git", "-C", str(root), *words], os.environ | {"LC_ALL": "C"}
    try:
        result = subprocess.run(
            command, env=english, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        return "", f"git cannot be run ({error.strerror}); install it"
    if result.returncode == 0:
        return result.stdout.strip(), ""
    if trust := TRUST.search(result.stderr):
        return "", f"git does not trust a folder that another user owns, as in a container; run: {trust[0]}"
    if "not a git repository" in result.stderr:
        return "", f"{root} is not a git checkout; run in a clone"
    reason = (result.stderr.strip() or f"exit code {result.returncode}").splitlines()[0]
    return "", f"git fails ({reason.removeprefix('fatal: ')}); try: git -C {shlex.quote(str(root))} status"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
