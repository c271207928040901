"""A long computation that is killed goes on from its last finished block, and ends with the same bytes."""

import signal
import time

import pytest
from killing import kill_all

from reprise.storage import store

pytestmark = pytest.mark.slow

ID = "tian2023/batch_normalization"
RUN = ("reprise", "run", ID, "--tier", "smoke")


def kept(checkout):
    """The finished blocks, and when each was written."""
    files = (checkout.root / store.CACHE / store.TASKS).glob(f"*/{store.TABLE}")
    return {file: file.stat().st_mtime_ns for file in files}


def killed_after(checkout, blocks, how, *share):
    """Runs until there are so many blocks, then kills the run and all that it has started."""
    process = checkout.start(*RUN, *share)
    deadline = time.monotonic() + 120
    while len(kept(checkout)) < blocks:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(how)
    kill_all(process)
    return kept(checkout)


def test_a_killed_run_goes_on_where_it_stopped_and_ends_with_the_same_bytes(finished):
    folder = finished.root / "results" / "smoke" / ID
    tables = {file.name: file.read_bytes() for file in folder.glob("*.parquet")}
    assert tables
    assert kept(finished) == {}
    first = killed_after(finished, 5, signal.SIGKILL)
    second = killed_after(finished, len(first) + 5, signal.SIGTERM, "--share", "1/1")
    assert first.items() <= second.items()  # none was made again
    damaged = next(iter(first))
    damaged.write_bytes(damaged.read_bytes()[:-10])
    code, printed = finished.call(*RUN)
    assert code == 0, printed
    assert {file.name: file.read_bytes() for file in folder.glob("*.parquet")} == tables
    assert kept(finished) == {}


def test_blocks_of_other_settings_are_not_taken(finished):
    folder = finished.root / "results" / "smoke" / ID
    before = {file.name: file.read_bytes() for file in folder.glob("*.parquet")}
    first = killed_after(finished, 3, signal.SIGKILL)
    finished.edit(
        "configs/smoke.yaml", "    batch_size: 32\n    steps: 10\n", "    batch_size: 32\n    steps: 9\n"
    )
    second = killed_after(finished, len(first) + 3, signal.SIGKILL)
    assert len({asker for file in second for asker in store.Entry(file.parent).askers}) == 2
    code, printed = finished.call(*RUN)
    assert code == 0, printed
    assert {file.name: file.read_bytes() for file in folder.glob("*.parquet")} != before
