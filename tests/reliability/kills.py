"""Kills of real runs at random moments, each followed by the same commands again: `make faults`.

Every fault is a list of commands, run as a user would. First they run undisturbed, which makes the
expected files. Then, again and again, one of their processes gets a signal at a random moment; what a reader
accepts in between must be the expected bytes, the commands run again must succeed and leave exactly the
expected files, and no process may be left.

Most processes are forks of this one, which has imported torch: a kill takes a second, not ten.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import tiny
import torch

import reprise.__main__ as start
from reliability import document
from reprise.engine import registry
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.plotting import style  # noqa: F401  matplotlib is imported once, too
from reprise.storage import disk, locks, records, store
from reprise.training import image_settings, view_cache  # noqa: F401
from reprise.training.models import trained

ROOT = Path(__file__).parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
INTERRUPTED = (start.INTERRUPTED, -signal.SIGINT)
PATIENCE = 300.0
"""Seconds after which a command counts as hanging."""
LINGER = 60.0
"""Seconds that the jobs of a Snakemake that was killed alone may take to end."""
LOG = "printed.txt"

Command = Sequence[str] | Callable[[], object]
"""Words of a command line, or a function to call in the working directory."""


@dataclass(frozen=True)
class Fault:
    """A list of commands, one of whose processes is killed.

    Attributes:
        name: as the table in docs/reliability.md calls it.
        stages: the commands. Those of a stage run side by side, one stage after the other.
        before: commands whose results are there already.
        weight: its share of the kills, before the shares of all are made to add up to 1.
        mends: commands that a user has to call after a kill.
        groups: whether the signal may also go to a process with all that it has started.
    """

    name: str
    stages: tuple[tuple[Command, ...], ...]
    before: tuple[Command, ...] = ()
    weight: float = 1.0
    mends: tuple[Command, ...] = ()
    groups: bool = False


PLAIN, PARTS = "jing2022/layer_alignment", "tian2023/batch_normalization"
TIER = ("--tier", "smoke")
RUN, RUN_OF_PARTS = ("reprise", "run", PLAIN, *TIER), ("reprise", "run", PARTS, *TIER)
SHARES = tuple((*RUN_OF_PARTS, "--share", f"{number}/2") for number in (1, 2))
DRAW, CHECK = ("reprise", "draw", "jing2022/fig04", *TIER), ("reprise", "check", "jing2022", "--write", *TIER)
BUNDLE, MERGE = ("reprise", "bundle", "jing2022", "--to", "runs.zip", *TIER), ("reprise", "merge", "runs.zip")
SNAKEMAKE = (
    "snakemake", "--cores", "2", "jing2022_fig04", "--config", "tier=smoke", "paper=jing2022",
)  # fmt: skip
UNLOCK = ("workflow/scripts/unlock", "--config", "tier=smoke", "paper=jing2022")


def _train(objective):
    spec = tiny.spec(objective, hyperparameters=tiny.STATEFUL.get(objective, {}), steps=60, probe_every=20)

    def train():
        trained(spec, tiny.data(), Path(), save_every=0)

    return train


def _fill_cache():
    """Several processes ask for the same entry at once; who gets the lock makes it, in many small writes."""

    def make(folder):
        for number in range(40):
            disk.write(folder / f"{number:02d}", bytes([number]) * 20_000)

    with store.cached(Path(), "demo", "0" * 32, "what three processes ask for", make) as entry:
        entry.verified()


OVER_GOOD_RESULTS = "the same over good results"
FAULTS = (
    Fault("a run of an experiment in one piece", ((RUN,),), weight=3),
    Fault(OVER_GOOD_RESULTS, ((RUN,),), before=(RUN,), weight=3),
    Fault("a run of an experiment in tasks", ((RUN_OF_PARTS,),), weight=3),
    Fault("two shares side by side, then the run that joins them", (SHARES, (RUN_OF_PARTS,)), weight=3),
    *(
        Fault(f"training on images with checkpoints: `{objective}`", ((_train(objective),),))
        for objective in ("nt_xent", *tiny.STATEFUL)
    ),
    Fault("a cache entry that three processes ask for", ((_fill_cache,) * 3,), weight=3),
    Fault("a drawing and a paper's verdicts", ((DRAW,), (CHECK,)), before=(RUN,), weight=2),
    Fault("a bundle and its merging", ((BUNDLE,), (MERGE,)), before=(RUN,), weight=3),
    Fault("a run from the start of Python", (((sys.executable, "-m", *RUN),),), weight=1),
    Fault("Snakemake alone or with its jobs", ((SNAKEMAKE,),), weight=0.5, mends=(UNLOCK,), groups=True),
)  # fmt: skip


class Process:
    """A running command, in a session of its own: `reprise` and functions in a fork, others from a file."""

    def __init__(self, command: Command, folder: Path) -> None:
        with (folder / LOG).open("ab") as log:
            if callable(command) or command[0] == "reprise":
                self._ended = None
                self.pid = os.fork()
                if not self.pid:
                    _be(command, folder, log.fileno())
            else:
                self._ended = subprocess.Popen(
                    command, cwd=folder, env=_environment(), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                    start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                )  # fmt: skip
                self.pid = self._ended.pid
        self.code: int | None = None

    def poll(self) -> int | None:
        """The exit code, as `subprocess` gives it, or None."""
        if self.code is None:
            if self._ended:
                self.code = self._ended.poll()
            else:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def wait(self) -> int:
        """Waits for the exit code; ends a process that hangs, and raises AssertionError."""
        deadline = time.monotonic() + PATIENCE
        while self.poll() is None:
            if time.monotonic() > deadline:
                self.end()
                raise AssertionError(f"a process hung for {PATIENCE:.0f} s")
            time.sleep(0.002)
        return self.code

    def signal(self, how: int, *, group: bool) -> None:
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, how)

    def end(self) -> None:
        """Ends the command and all that it has started."""
        self.signal(signal.SIGKILL, group=True)
        while self.poll() is None:
            time.sleep(0.002)

    def orphans(self) -> list[int]:
        """Ids of the processes in the command's session that still run."""
        running = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, _, _, session = stat.read_text().rpartition(") ")[2].split()[:4]
                if int(session) == self.pid and state != "Z":
                    running.append(int(stat.parent.name))
        return running


def _be(command: Command, folder: Path, log: int) -> None:
    """Becomes the command in a fork, and never returns."""
    code = 70
    try:
        os.setsid()
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        torch.set_num_threads(1)
        if callable(command):
            command()
            code = 0
        else:
            sys.argv = list(command)
            code = start.main()
    except KeyboardInterrupt:
        code = start.INTERRUPTED
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}


def contents(folder: Path) -> dict[str, str]:
    """SHA-256 of each file that must be the same each time. Of records, which hold times, it only says that
    they are whole."""
    return {
        str(file.relative_to(folder)): _content(file)
        for top in ("results", "figures", "runs.zip")
        for file in [folder / top, *sorted((folder / top).rglob("*"))]
        if file.is_file() and not {"logs", "benchmarks"} & set(file.relative_to(folder).parts)
    }


def _content(file: Path) -> str:
    if file.name in (store.RECORD, store.CACHE_RECORD):
        records.unseal(file.read_text())
        return "whole"
    if file.name.endswith(locks.LOCK) or file.name == "runs.zip":  # askers; the times in the records
        return "here"
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _accepted(folder: Path) -> set[str]:
    """The tables that a reader takes for finished and finds whole."""
    return {
        str((record.parent / f"{table}.parquet").relative_to(folder))
        for record in folder.glob(f"results/smoke/*/*/{store.RECORD}")  # not those of drafts, one level below
        for table in store.load_tables(record.parent, "")
    }


@dataclass
class Bench:
    """A fault's folders: `now`, where it happens; `first`, as it is before; and the expected files."""

    fault: Fault
    folder: Path
    expected: dict[str, str] = field(default_factory=dict)
    seconds: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first.mkdir(parents=True)
        for part in ("Snakefile", "profiles", "configs", "workflow"):
            source = ROOT / part
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, self.first / part, symlinks=True)
            else:
                shutil.copy2(source, self.first, follow_symlinks=False)
        for command in self.fault.before:
            self._done(command, self.first)
        self.reset()
        self.seconds = self.finish()
        self.expected = contents(self.now)
        assert self.expected, f"{self.fault.name}: made nothing"

    @property
    def first(self) -> Path:
        return self.folder / "first"

    @property
    def now(self) -> Path:
        return self.folder / "now"

    def reset(self) -> None:
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(self.first, self.now, symlinks=True)

    def _done(self, command: Command, folder: Path) -> float:
        begin = time.perf_counter()
        code = Process(command, folder).wait()
        assert code == 0, f"{command} ended with {code}: {(folder / LOG).read_text()[-2000:]}"
        return time.perf_counter() - begin

    def finish(self) -> list[list[float]]:
        """Runs all the commands undisturbed; returns the seconds of each."""
        return [self._side_by_side(stage) for stage in self.fault.stages]

    def _side_by_side(self, stage: Sequence[Command]) -> list[float]:
        begin = time.perf_counter()
        processes = [Process(command, self.now) for command in stage]
        try:
            for process in processes:
                code = process.wait()
                assert code == 0, f"ended with {code}: {(self.now / LOG).read_text()[-2000:]}"
        finally:
            for process in processes:
                process.end()
        return [time.perf_counter() - begin] * len(stage)

    def strike(self, chance: random.Random) -> str | None:
        """Kills once and recovers; None if the process was faster than the signal.

        Returns:
            The signal's name, with `-group` if it went to all that the process had started.

        Raises:
            AssertionError: if anything is not as it must be.
        """
        self.reset()
        struck = chance.choices(range(len(self.fault.stages)), [max(seconds) for seconds in self.seconds])[0]
        for stage in self.fault.stages[:struck]:
            self._side_by_side(stage)
        stage, how = self.fault.stages[struck], chance.choice(SIGNALS)
        group = self.fault.groups and chance.random() < 0.5
        victim = chance.randrange(len(stage))
        processes = [Process(command, self.now) for command in stage]
        try:
            time.sleep(chance.random() * max(self.seconds[struck]))
            was_alive = processes[victim].poll() is None
            processes[victim].signal(how, group=group)
            codes = [process.wait() for process in processes]
            self._alone(processes)
        finally:
            for process in processes:
                process.end()
        code = codes.pop(victim)
        assert codes == [0] * len(codes), f"killing one process ended others: {codes}"
        self._readable()
        for command in self.fault.mends:
            self._done(command, self.now)
        self.finish()
        made = contents(self.now)
        wrong = sorted(
            name for name in made.keys() | self.expected if made.get(name) != self.expected.get(name)
        )
        assert not wrong, f"other files than without a kill: {wrong}"
        if not was_alive or code == 0:
            return None
        expected = INTERRUPTED if how == signal.SIGINT else (-how,)
        if not self.fault.groups:  # Snakemake ends with codes of its own
            assert code in expected, f"{how.name} ended it with {code}"
        return how.name + ("-group" if group else "")

    def _alone(self, processes: list[Process]) -> None:
        """Nothing that the processes have started may go on for long."""
        deadline = time.monotonic() + (LINGER if self.fault.groups else 1.0)
        while left := [pid for process in processes for pid in process.orphans()]:
            assert time.monotonic() < deadline, f"orphans: {left}"
            time.sleep(0.01)

    def _readable(self) -> None:
        """Asserts that accepted results are whole and as expected, and that good results are still there."""
        accepted = _accepted(self.now)
        for name in sorted(accepted):
            assert _content(self.now / name) == self.expected[name], f"{name} was accepted with other bytes"
        lost = _accepted(self.first) - accepted
        assert not lost, f"good results are lost: {sorted(lost)}"


@contextmanager
def _warm():
    """Imports and hashes once, in this process, what every fork needs; in a folder for all."""
    tier = load_tier("smoke", ROOT)
    for id in (PLAIN, PARTS):
        registry.experiment(id).compute()
        registry.experiment(id).code(tier.params[id])
    registry.artifact_code("jing2022/fig04")
    registry.claims_code("jing2022")
    with tempfile.TemporaryDirectory(prefix="reprise-faults-") as folder:
        yield Path(folder)


@dataclass
class Outcome:
    """Confirmed kills of one fault by signal, kills that came too late, and failures."""

    kills: Counter = field(default_factory=Counter)
    late: int = 0
    failures: list[str] = field(default_factory=list)

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(self.kills + other.kills, self.late + other.late, self.failures + other.failures)


def kill(
    number: int, seed: int | str, faults: Sequence[Fault] = FAULTS, limit: float = float("inf"), say=print
):
    """Kills `number` times, or until `limit` seconds have passed, and returns each fault's outcome by name.
    The seed chooses faults, signals and moments; what a moment meets is the machine's affair."""
    chance, outcomes = random.Random(seed), {fault.name: Outcome() for fault in faults}
    begin = time.monotonic()
    with _warm() as folder:
        benches: dict[str, Bench] = {}
        while sum(sum(o.kills.values()) + len(o.failures) for o in outcomes.values()) < number:
            if time.monotonic() - begin > limit:
                break
            (fault,) = chance.choices(faults, [fault.weight for fault in faults])
            outcome = outcomes[fault.name]
            if fault.name not in benches:
                benches[fault.name] = Bench(fault, folder / str(len(benches)))
            try:
                how = benches[fault.name].strike(chance)
            except (AssertionError, ValueError, RepriseError) as failure:
                outcome.failures.append(str(failure))
                say(f"{fault.name}: {failure}")
                continue
            if how:
                outcome.kills[how] += 1
            else:
                outcome.late += 1
            done = sum(sum(o.kills.values()) for o in outcomes.values())
            if how and done % 25 == 0:
                say(f"{done} of {number} kills, {time.monotonic() - begin:.0f} s")
    return outcomes


def side_by_side(processes: int, number: int, seed: int, limit: float) -> dict[str, Outcome]:
    """`kill`, the kills shared out among several processes, each with folders of its own."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        shares = [
            pool.submit(
                kill, len(range(share, number, processes)), f"{seed}.{share}",
                limit=limit, say=partial(print, f"{share}:", flush=True),
            )
            for share in range(processes)
        ]  # fmt: skip
        parts = [share.result() for share in shares]
    return {fault.name: sum((part[fault.name] for part in parts), Outcome()) for fault in FAULTS}


def report(outcomes: dict[str, Outcome], seed: int, seconds: float) -> str:
    """The table of faults, tries and outcomes."""
    rows = []
    for name, outcome in outcomes.items():
        kills = sum(outcome.kills.values())
        good = (
            f"{len(outcome.failures)} failed" if outcome.failures else "same bytes" if kills else "not tried"
        )
        rows.append([name, kills + len(outcome.failures), outcome.late, good])
    totals = [sum(row[column] for row in rows) for column in (1, 2)]
    failed = sum(len(outcome.failures) for outcome in outcomes.values())
    rows.append(["all", *totals, f"{failed} failed" if failed else "same bytes"])
    header = ["what is killed", "kills", "came too late", "after the same commands"]
    kills = sum((outcome.kills for outcome in outcomes.values()), Counter())
    by = [f"{sum(n for how, n in kills.items() if how.startswith(s.name))} by {s.name}" for s in SIGNALS]
    return (
        f"{document.table(header, rows)}\n\n"
        f"Seed {seed}, {seconds / 60:.1f} minutes, {60 * totals[0] / seconds:.0f} kills a minute: "
        f"{', '.join(by)}."
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__.splitlines()[0])
    parser.add_argument("kills", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--processes", type=int, default=1, help="that kill side by side")
    arguments = parser.parse_args()
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    begin = time.monotonic()
    outcomes = side_by_side(arguments.processes, arguments.kills, seed, 60 * arguments.minutes)
    text = report(outcomes, seed, time.monotonic() - begin)
    print(text)
    document.write("make faults", text)
    return int(any(outcome.failures for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
