"""Wrong science in valid code, one edit at a time, and which test catches it: `make mutants`.

A mutant is an edit that a researcher would fear, such as one noise for both views or a loss without its
temperature. `mutants/NAME.toml` lists them, each with the tests that should catch it:

    [[mutant]]
    name = "one-noise-for-both-views"
    file = "training/batches.py"               # under src/reprise
    old = '''text that occurs there once'''
    new = '''text in its place'''
    tests = ["training/test_images.py"]        # under tests
    survives = "reason"                        # of a known survivor only

The tests run in a copy of the checkout without golden numbers and published results, so that none can catch a
mutant because a number differs from a recorded one. A mutant whose `old` text is no longer there is stale;
one whose tests fail without it is an error.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from reliability import document

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "mutants"
COMMAND = "make mutants"
RECORDED = ("tests/golden/smoke", "docs/results")
"""Folders of recorded numbers, which the copies lack."""
LIMIT = 300.0
"""Seconds after which the tests of a mutant count as endless."""
OPTIONS = (
    "-x", "-m", "not slow", "-k", "not those_that_results_were_taken_from", "-rfE", "-p", "no:cacheprovider",
)  # fmt: skip
"""Options of pytest: quick tests, without those that hold a recorded mean of a stand-in's images."""
FIRST = re.compile(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", re.MULTILINE)
HEADER = ["mutants of", "number", "caught", "by tests in", "stale", "survivors"]

Kind = Literal["caught", "survived", "stale", "error"]


@dataclass(frozen=True)
class Mutant:
    """An edit of the science.

    Attributes:
        group: the name of its TOML file.
        file: below src/reprise.
        old, new: a text that occurs once in the file, and the text that replaces it.
        tests: files below tests, or tests as pytest names them.
        survives: why no test catches it, for a known survivor.
    """

    group: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""


@dataclass(frozen=True)
class Outcome:
    """The tests' verdict on a mutant.

    Attributes:
        by: the first test that failed, or why there is none.
    """

    mutant: Mutant
    kind: Kind
    by: str = ""


def load(folder: Path = FOLDER) -> list[Mutant]:
    """The mutants of every TOML file in a folder.

    Raises:
        ValueError: naming the file and the mutant, if a field is missing, unknown or of a wrong type, if a
            name is used twice, or an edit changes nothing.
    """
    mutants: list[Mutant] = []
    for file in sorted(folder.glob("*.toml")):
        mutants += [_mutant(file, row) for row in tomllib.loads(file.read_text(encoding="utf-8"))["mutant"]]
    twice = [name for name, number in Counter(mutant.name for mutant in mutants).items() if number > 1]
    if twice:
        raise ValueError(f"{folder}: used more than once: {', '.join(twice)}")
    return mutants


def _mutant(file: Path, row: dict) -> Mutant:
    allowed = {field.name for field in fields(Mutant)} - {"group"}
    place = f"{file}: mutant '{row.get('name')}'"
    if row.keys() - allowed or allowed - {"survives"} - row.keys():
        raise ValueError(f"{place} has the fields {sorted(row)}; expected {sorted(allowed)}")
    tests = row["tests"]
    texts = [value for name, value in row.items() if name != "tests"]
    listed = isinstance(tests, list) and len(tests) > 0
    if not listed or not all(isinstance(text, str) and text for text in [*tests, *texts]):
        raise ValueError(f"{place}: expected texts that are not empty, and a list of them in 'tests'")
    if row["old"] == row["new"]:
        raise ValueError(f"{place} changes nothing")
    return Mutant(file.stem, **{**row, "tests": tuple(tests)})


class Copy:
    """A copy of a checkout in which mutants are tried, one after the other."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        for name in filter(None, listed.split("\0")):
            if (root / name).exists() and not name.startswith(RECORDED):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name, follow_symlinks=False)
        self._seconds = count(1)

    def tested(self, tests: Iterable[str], limit: float, *, keep_compiled: bool) -> tuple[Kind, str]:
        """Runs the quick ones among some tests, up to the first that fails.

        Args:
            limit: in seconds.
            keep_compiled: whether Python may keep the modules that it compiles.

        Returns:
            What becomes of a mutant by them, and the test that failed.
        """
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "" if keep_compiled else "1",
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *OPTIONS, *(f"tests/{test}" for test in tests)],
            cwd=self.folder,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return "caught", f"time-out after {limit:g} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode == 0:
            return "survived", ""
        found = FIRST.search(printed)
        if found:
            return "caught", found[1]
        if process.returncode < 0:
            return "caught", f"Python ended by signal {-process.returncode}"
        return "error", " ".join(printed.split())[-300:]

    def tried(self, mutant: Mutant, limit: float) -> Outcome:
        """Applies a mutant, runs its tests and takes it back."""
        file = self.folder / "src" / "reprise" / mutant.file
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        times = text.count(mutant.old)
        if times != 1:
            return Outcome(mutant, "stale", f"its old text occurs {times} times in {mutant.file}")
        before = file.stat()
        # A time of its own for each mutant: caches of compiled code go by a file's time and size.
        then = before.st_mtime_ns + next(self._seconds) * 10**9
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        os.utime(file, ns=(then, then))
        try:
            return Outcome(mutant, *self.tested(mutant.tests, limit, keep_compiled=False))
        finally:
            file.write_text(text, encoding="utf-8")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def study(
    mutants: Sequence[Mutant],
    root: Path = ROOT,
    *,
    processes: int = 2,
    limit: float = LIMIT,
    told: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Tries each mutant; returns the outcomes in order.

    First the tests run without any mutant; what fails then says nothing about a mutant.

    Args:
        processes: copies that work side by side.
        limit: seconds for the tests of one mutant.
        told: called with a line for each test file and each mutant.
    """
    with (
        tempfile.TemporaryDirectory(prefix="reprise-mutants-") as folder,
        ThreadPoolExecutor(processes) as pool,
    ):
        free: SimpleQueue[Copy] = SimpleQueue()
        for number in range(processes):
            free.put(Copy(root, Path(folder) / str(number)))

        def borrowed(work: Callable[[Copy], Outcome | tuple[Kind, str]]):
            copy = free.get()
            try:
                return work(copy)
            finally:
                free.put(copy)

        def unmutated(test: str) -> str:
            kind, by = borrowed(lambda copy: copy.tested([test], limit, keep_compiled=True))
            told(f"{'passes' if kind == 'survived' else 'FAILS'} unmutated: {test}")
            return "" if kind == "survived" else by

        tests = sorted({test for mutant in mutants for test in mutant.tests})
        failing = dict(zip(tests, pool.map(unmutated, tests), strict=True))

        def tried(mutant: Mutant) -> Outcome:
            bad = [f"{test}: {failing[test]}" for test in mutant.tests if failing[test]]
            if bad:
                outcome = Outcome(mutant, "error", f"fails unmutated: {bad[0]}")
            else:
                outcome = borrowed(lambda copy: copy.tried(mutant, limit))
            told(line(outcome))
            return outcome

        return list(pool.map(tried, mutants))


def line(outcome: Outcome) -> str:
    """An outcome in words."""
    words = outcome.by
    if outcome.kind == "survived":
        words = outcome.mutant.survives and f"as expected: {outcome.mutant.survives}"
    elif outcome.kind == "caught" and outcome.mutant.survives:
        words += " (a survivor before: take its 'survives' out)"
    return f"{outcome.kind:9} {outcome.mutant.group}/{outcome.mutant.name}  {words}".rstrip()


def wrong(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The survivors that nobody expects, and the errors."""
    return [o for o in outcomes if o.kind == "error" or (o.kind == "survived" and not o.mutant.survives)]


def row(group: str, outcomes: Sequence[Outcome]) -> list[str]:
    """A group's row in docs/reliability.md."""
    caught = [o for o in outcomes if o.kind == "caught"]
    rooms = Counter(room(o) for o in caught)
    survivors = [f"`{o.mutant.name}`: {o.mutant.survives}" for o in outcomes if o.kind == "survived"]
    stale = sum(o.kind == "stale" for o in outcomes)
    by = ", ".join(f"{name} {number}" for name, number in rooms.most_common())
    return [group, *map(str, (len(outcomes), len(caught), by, stale)), "; ".join(survivors) or "none"]


def room(outcome: Outcome) -> str:
    """The folder of the test that caught a mutant."""
    return str(Path(outcome.by.partition("::")[0]).parent) if "::" in outcome.by else "(time-out or crash)"


def rows() -> dict[str, list[str]]:
    """The rows that docs/reliability.md has, by group."""
    cells = [text.strip("| ").split(" | ") for text in document.read(COMMAND).splitlines()[2:]]
    return {each[0]: each for each in cells if len(each) == len(HEADER)}


def chosen(mutants: Sequence[Mutant], names: Sequence[str]) -> list[Mutant]:
    """The mutants with these names, or of these groups; all without names.

    Raises:
        ValueError: if a name is none.
    """
    unknown = [name for name in names if not any(name in (m.name, m.group) for m in mutants)]
    if unknown:
        raise ValueError(f"no mutant and no file of mutants is called {', '.join(unknown)}")
    return [m for m in mutants if not names or {m.name, m.group} & set(names)]


def main() -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="mutants, or files of mutants; default: all")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for the tests of one mutant")
    arguments = parser.parse_args()
    every, begin = load(), time.monotonic()
    outcomes = study(
        chosen(every, arguments.names), processes=arguments.processes, limit=arguments.limit,
        told=lambda text: print(text, flush=True),
    )  # fmt: skip
    print()
    for kind in ("caught", "stale", "survived", "error"):
        print("".join(f"{line(outcome)}\n" for outcome in outcomes if outcome.kind == kind), end="")
    counts = Counter(outcome.kind for outcome in outcomes)
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()), end="")
    print(f"; {(time.monotonic() - begin) / 60:.1f} minutes")
    bad = wrong(outcomes)
    if not bad:
        _write(every, outcomes)
    return int(bool(bad))


def _write(every: Sequence[Mutant], outcomes: Sequence[Outcome]) -> None:
    """Replaces the rows of the files whose mutants have all been tried."""
    known = rows()
    for group in sorted({mutant.group for mutant in every}):
        tried = [outcome for outcome in outcomes if outcome.mutant.group == group]
        if len(tried) == sum(mutant.group == group for mutant in every):
            known[group] = row(group, tried)
    groups = sorted(known.keys() & {mutant.group for mutant in every})
    document.write(COMMAND, document.table(HEADER, [known[group] for group in groups]))


if __name__ == "__main__":
    sys.exit(main())
