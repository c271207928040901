"""Provenance of a result: command, commit, versions, hardware, and the numerical libraries in use."""

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
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
PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the code that runs."""
FROZEN = ("claims.lock", "ledger.jsonl")
"""Files at the root of a checkout that commands write: what was frozen, and what was tried since."""
SOURCES = ("src", "configs", "workflow")
"""Folders of a checkout in which a file counts that git does not know yet."""
REDIRECTING = (
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT"),
    *("GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE"),
    *("GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY"),
    *("GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"),
)
"""Environment variables that point git at another repository, as in one of its hooks: those that
`git rev-parse --local-env-vars` lists."""


def describe(root: Path) -> dict[str, object]:
    """The exact command, the commit of the code that runs, versions, hardware, and the numerical libraries
    loaded so far. The commit has `+changes` if the tree is dirty; `commit_problem` says why git does not tell
    it, or that the code is not the checkout's."""
    return {
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        **commit(root),
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


def kernels() -> str:
    """The numerical libraries that this process has loaded and the processor whose kernels each has chosen,
    for those that say it."""
    libraries = [each for each in _arithmetic_libraries() if each["kernel"]]
    return ", ".join(sorted({f"{each['name']} {each['version']}: {each['kernel']}" for each in libraries}))


def commit_date(commit: str, root: Path) -> str:
    """The day of a commit, as in `2030-01-31`; empty if the checkout's git does not know it.

    Args:
        commit: as `describe` names it, with or without `+changes`.
    """
    name = commit.removesuffix(CHANGES)
    if not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", name):  # a shorter one may be a branch's
        return ""
    return _git(root, "show", "--no-patch", "--no-show-signature", "--format=%cs", f"{name}^{{commit}}")[0]


def commit(root: Path) -> dict[str, str]:
    """The `commit` of the code that runs, and the `commit_problem`, if there is one, as in `describe`."""
    name, problem = _commit(root)
    return {"commit": name, **({"commit_problem": problem} if problem else {})}


def of_run(began: Mapping[str, str], root: Path) -> dict[str, str]:
    """The commit of a run that ends now; it is that at which it began.

    Args:
        began: from `commit`, at the start.
    """
    if commit(root)["commit"] == began["commit"]:
        return dict(began)
    return {**began, "commit_problem": "the checkout's commit or files changed while this ran"}


def _commit(root: Path) -> tuple[str, str]:
    """The commit of the code that runs, or `unknown`, and why git does not tell it, whether files may have
    been changed, or that the code is not the checkout's."""
    if root.resolve() / "src" / "reprise" == PACKAGE:
        return _state(root)
    commit, problem = _state(PACKAGE.parents[1])
    what_to_do = f"run the reprise of this checkout: PYTHONPATH={shlex.quote(str(root.resolve() / 'src'))}"
    return commit, f"the code is imported from {PACKAGE}, not from {root.resolve()}; {problem or what_to_do}"


def _state(root: Path) -> tuple[str, str]:
    """The commit of a checkout, or `unknown`, and why git does not tell it or whether files had been
    changed."""
    top, problem = _git(root, "rev-parse", "--show-toplevel")
    if problem:
        return UNKNOWN, problem
    if not _same(Path(top), root):
        return UNKNOWN, f"{root} is not a git checkout, but lies within another one, {top}; run in a clone"
    commit, problem = _git(root, "rev-parse", "HEAD")
    if problem:
        return UNKNOWN, problem
    written = [f":(exclude){name}" for name in FROZEN]
    status = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none")
    changed, problem = _git(root, *status, "--", ".", *written)
    if not changed and not problem:
        changed, problem = _git(root, "ls-files", "--others", "--exclude-standard", "--", *SOURCES)
    if not changed and not problem:
        problem = _unwatched(root)
    return (
        f"{commit}{CHANGES}" if changed else commit
    ), problem and f"files may have been changed: {problem}"


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False


def _unwatched(root: Path) -> str:
    """The first file that git was told not to compare (`git update-index --assume-unchanged`), and what to
    do; files that a sparse checkout leaves out are none."""
    listed, problem = _git(root, "ls-files", "-v", "-z", "--", *SOURCES)
    for tag, _, name in (entry.partition(" ") for entry in listed.split("\0") if entry):
        if (tag.islower() or tag == "S") and (root / name).exists():
            option = "skip-worktree" if tag in "sS" else "assume-unchanged"
            return f"git does not compare {name}; run: git update-index --no-{option} {shlex.quote(name)}"
    return problem


def _git(root: Path, *words: str) -> tuple[str, str]:
    """Git's output, and, if git fails, the problem and its remedy."""
    command = ["git", "--no-replace-objects", "-C", str(root), *words]
    own = {name: value for name, value in os.environ.items() if name not in REDIRECTING}
    try:
        result = subprocess.run(
            command,
            env=own | {"LC_ALL": "C"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        return "", f"git cannot be run ({error.strerror}); install it"
    if result.returncode == 0:
        return result.stdout.removesuffix("\n"), ""
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
