"""The parts of a computation in one process and in several: the same tables, and no process left behind."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import pandas as pd
import pytest

from reprise import parts, store
from reprise.errors import RepriseError
from reprise.experiment import BASE, Context, Part, evaluate


def silent(done, total, what):
    pass


def squares(n, progress):
    for step in range(n):
        progress(step / n)
    return pd.DataFrame({"n": [n], "square": [n**2], "process": [os.getpid()]})


def some(count):
    return [Part(f"part {n}", partial(squares, n), work=n) for n in range(1, count + 1)]


@pytest.fixture
def keep(tmp_path):
    return partial(store.keep, tmp_path, "key")


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_tables_come_in_the_order_of_the_parts(keep, workers):
    tables = parts.make(some(4), keep, silent, workers)
    assert [table["square"].item() for table in tables] == [1, 4, 9, 16]
    processes = {table["process"].item() for table in tables}
    assert (processes == {os.getpid()}) == (workers == 1)


@pytest.mark.parametrize("workers", [1, 3])
def test_no_part_is_made_twice(keep, workers):
    first = parts.make(some(3), keep, silent, workers=2)
    again = parts.make(some(5), keep, silent, workers)
    for table, kept in zip(first, again, strict=False):
        pd.testing.assert_frame_equal(table, kept)
    assert len(again) == 5


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_goes_up_to_the_whole_work(keep, workers):
    told = []
    parts.make(some(6), keep, lambda *news: told.append(news), workers)
    done, totals, names = zip(*told, strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {21}
    assert 15 <= done[-1] <= 21
    assert set(names) == {f"part {n}" for n in range(1, 7)}


def test_at_most_so_many_processes_at_once(tmp_path):
    def make(n, progress):
        begun = time.monotonic()
        time.sleep(0.4)  # longer than a fork of a large process takes
        return pd.DataFrame({"begun": [begun], "ended": [time.monotonic()]})

    all = [Part(str(n), partial(make, n)) for n in range(7)]
    times = pd.concat(parts.make(all, partial(store.keep, tmp_path, "key"), silent, workers=3))
    together = [((times["begun"] <= t) & (times["ended"] > t)).sum() for t in times["begun"]]
    assert 2 <= max(together) <= 3


@pytest.mark.parametrize("workers", [1, 2])
def test_a_part_that_fails_ends_the_rest(keep, workers):
    def fail(progress):
        raise RepriseError("no such loss")

    with pytest.raises(RepriseError, match="no such loss"):
        parts.make([Part("bad", fail, work=9), *some(2)], keep, silent, workers)


def test_a_killed_process_is_named(keep):
    def die(progress):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RepriseError, match=r"bad: its process ended with exit code -9"):
        parts.make([Part("bad", die, work=9), *some(2)], keep, silent, workers=2)


LISTENER = """
import os, time
from functools import partial
from pathlib import Path
from reprise import parts, store
from reprise.experiment import BASE, Context, Part, evaluate

def forever(progress):
    Path(f"pid.{os.getpid()}").touch()
    while True:
        progress(0.5)
        time.sleep(0.01)

all = [Part(str(n), forever) for n in range(3)]
parts.make(all, partial(store.keep, Path("kept"), "key"), lambda *news: None, workers=3)
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_the_one_that_listens(tmp_path, how):
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENER], cwd=tmp_path, stderr=subprocess.DEVNULL,
        # A shell has its background jobs ignore it, and what they start inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while len(found := list(tmp_path.glob("pid.*"))) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(how)
    process.wait(10)
    pids = [int(file.suffix[1:]) for file in found]
    while any(map(alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_settings_parts_are_made_together():
    """In one call, whatever a computation asks for later; the tables are those of each setting alone."""
    calls = []

    def keep(asked):
        calls.append([part.name for part in asked])
        return [part.make(lambda share: None) for part in asked]

    def compute(params, context):
        if params == 0:
            return {"squares": pd.DataFrame({"square": [0]})}
        first = context.keep(some(params))
        (last,) = context.keep([Part("last", partial(squares, 9))])
        return {"squares": pd.concat([*first, last])[["square"]]}

    settings = {BASE: 1, "two": 2, "none": 0}
    table = evaluate(compute, settings, Context(keep=keep))["squares"]
    together, *later = calls
    assert together == [f"{BASE}/part 1", "two/part 1", "two/part 2"]
    assert later == [[f"{BASE}/last"], ["two/last"]]
    found = {name: of["square"].tolist() for name, of in table.groupby("setting")}
    assert found == {BASE: [1, 81], "two": [1, 4, 81], "none": [0]}
    assert table["setting"].drop_duplicates().tolist() == list(settings)
