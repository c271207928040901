"""Results on disk: all or none, checked when read, and never half-written."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reprise.errors import RepriseError
from reprise.storage import disk, locks, records, store

AGAIN = "reprise run p/e"
KEY = "0123456789abcdef"
MARKER = f".{KEY}.done"


def tables(offset=0.0):
    rng = np.random.default_rng(0)
    return {
        "spectrum": pd.DataFrame({"seed": range(500), "value": rng.normal(size=500) + offset}),
        "loss": pd.DataFrame({"seed": [0, 1], "loss": [1.5 + offset, 2.5], "setting": "published"}),
    }


def content(folder):
    """Every file under a folder, hidden ones too, with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path):
    """A folder with good results."""
    folder = tmp_path / "results" / "e"
    store.save_tables(folder, tables(), KEY, {"commit": "abc", "params": {}})
    return folder


def test_what_is_read_is_what_was_written(folder):
    read = store.load_tables(folder, AGAIN)
    assert set(read) == {"spectrum", "loss"}
    for name, table in tables().items():
        pd.testing.assert_frame_equal(read[name], table)
    record = store.load_record(folder, AGAIN)
    assert record["commit"] == "abc"
    assert set(record["sha256"]) == {"spectrum.parquet", "loss.parquet"}
    assert set(content(folder.parent)) == {
        "e/run.json",
        "e/spectrum.parquet",
        "e/loss.parquet",
        f"e/{MARKER}",
    }


@pytest.mark.parametrize(("name", "reader"), [(store.RECORD, "read_text"), ("loss.parquet", "read_bytes")])
def test_results_that_may_not_be_read_are_named(folder, monkeypatch, name, reader):
    """The error that the system gives to all but root."""
    read = getattr(Path, reader)

    def refuse(file, *options, **more):
        if file.name == name:
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return read(file, *options, **more)

    monkeypatch.setattr(Path, reader, refuse)
    with pytest.raises(RepriseError) as caught:
        store.load_tables(folder, AGAIN)
    assert str(caught.value) == (
        f"{folder / name}: not readable (Permission denied); make it again with: {AGAIN}"
    )


def test_the_same_tables_are_the_same_bytes(folder):
    before = content(folder)
    store.save_tables(folder, tables(), KEY, {"commit": "abc", "params": {}})
    assert content(folder) == before


def test_new_results_replace_old_ones(folder):
    store.save_tables(folder, {"loss": tables(1.0)["loss"]}, KEY, {"commit": "def", "params": {}})
    read = store.load_tables(folder, AGAIN)
    assert list(read) == ["loss"]
    assert read["loss"]["loss"].tolist() == [2.5, 2.5]
    assert store.load_record(folder, AGAIN)["commit"] == "def"


def test_a_table_that_cannot_be_stored_leaves_the_old_results_as_they_were(folder):
    before = content(folder.parent)
    broken = {**tables(1.0), "mixed": pd.DataFrame({"x": [1, "one", object()]})}
    with pytest.raises(Exception, match=r"x|mixed|object"):
        store.save_tables(folder, broken, KEY, {})
    assert content(folder.parent) == before
    assert os.listdir(folder.parent) == ["e"]


def test_a_record_that_cannot_be_stored_leaves_the_old_results_as_they_were(folder):
    before = content(folder.parent)
    with pytest.raises(TypeError):
        store.save_tables(folder, tables(1.0), KEY, {"params": object()})
    assert content(folder.parent) == before
    assert os.listdir(folder.parent) == ["e"]


def test_an_empty_table_is_refused(folder):
    before = content(folder.parent)
    empty = {**tables(1.0), "spectrum": tables()["spectrum"].iloc[:0]}
    with pytest.raises(RepriseError, match="spectrum: the table is empty"):
        store.save_tables(folder, empty, KEY, {})
    assert content(folder.parent) == before


def truncate(file):
    file.write_bytes(file.read_bytes()[:-100])


def alter(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def empty(file):
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [truncate, alter, empty])
def test_a_damaged_table_is_named_with_the_command_that_makes_it_again(folder, damage):
    damage(folder / "spectrum.parquet")
    with pytest.raises(RepriseError) as caught:
        store.load_tables(folder, AGAIN)
    message = str(caught.value)
    assert message.startswith(f"{folder / 'spectrum.parquet'}: truncated or altered")
    assert message.endswith(AGAIN)


def test_a_missing_table_is_named(folder):
    (folder / "loss.parquet").unlink()
    with pytest.raises(RepriseError, match=rf"loss\.parquet: missing; make it again with: {AGAIN}"):
        store.load_tables(folder, AGAIN)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"commit": "abc"}', '{"seal": []}', "\x00"])
def test_a_damaged_record_is_named(folder, text):
    (folder / "run.json").write_text(text)
    with pytest.raises(RepriseError, match=rf"run\.json: damaged, not the record .*{AGAIN}"):
        store.load_tables(folder, AGAIN)


def test_no_flipped_bit_of_a_record_is_read(folder):
    file = folder / "run.json"
    good, record = file.read_bytes(), store.load_record(folder, AGAIN)
    for place in range(8 * len(good)):
        file.write_bytes(flipped(good, place))
        with suppress(RepriseError):  # or it is a space that became another
            assert store.load_record(folder, AGAIN) == record


def test_a_new_key_takes_the_markers_place(folder):
    store.save_tables(folder, tables(1.0), "f" * 16, {})
    assert [file.name for file in folder.glob(".*")] == [store.marker("f" * 16)]
    assert store.load_record(folder, AGAIN)["key"] == "f" * 16


def flushed_before(monkeypatch, change, act):
    """The names of the files and folders that are flushed to disk before the first call of `os.CHANGE`."""
    flushed, fsync, changed = [], os.fsync, getattr(os, change)

    def flush(descriptor):
        flushed.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    def call(*arguments):
        flushed.append(None)
        changed(*arguments)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, change, call)
    act()
    return set(flushed[: flushed.index(None)])


def test_tables_are_on_disk_before_they_replace_others(folder, monkeypatch):
    flushed = flushed_before(monkeypatch, "rename", lambda: store.save_tables(folder, tables(1.0), KEY, {}))
    assert flushed >= {"spectrum.parquet", "loss.parquet"}


def test_of_two_who_want_a_lock_the_second_waits_and_says_so(tmp_path, capfd):
    lock = tmp_path / "e" / locks.LOCK
    program = "import sys; from pathlib import Path; from reprise.storage import locks\n"
    program += "with locks.locked(Path(sys.argv[1])) as waited: print(waited)"
    with locks.locked(lock) as waited:
        assert not waited
        second = subprocess.Popen([sys.executable, "-c", program, lock], stderr=subprocess.PIPE, text=True)
        assert second.stderr.readline() == f"{lock.parent}: waiting for another process at work here\n"
    second.communicate(timeout=60)
    assert capfd.readouterr().out == "True\n"


def test_a_disk_without_locks_is_one_message(tmp_path, monkeypatch):
    def flock(handle, mode):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    lock = tmp_path / locks.LOCK
    with pytest.raises(RepriseError, match=rf"{lock}: this file system cannot lock files .*not implemented"):
        locks.locked(lock).__enter__()


def test_a_record_that_is_no_text_is_named(folder):
    (folder / "run.json").write_bytes(b"\xff\xfe")
    with pytest.raises(RepriseError, match=r"run\.json: damaged"):
        store.load_record(folder, AGAIN)


def test_a_folder_without_a_record_holds_no_finished_results(folder):
    (folder / "run.json").unlink()
    with pytest.raises(RepriseError, match=rf"no finished results here; make them with: {AGAIN}"):
        store.load_tables(folder, AGAIN)


@pytest.mark.parametrize("place", ["e", "deeper/e", "deeper/than/e"])
def test_a_file_where_the_folder_should_be_is_one_message(tmp_path, place):
    blocked = tmp_path / Path(place).parts[0]
    blocked.write_text("mine")
    with pytest.raises(RepriseError, match=f"{tmp_path / place}: cannot be written"):
        store.save_tables(tmp_path / place, tables(), KEY, {})
    assert content(tmp_path) == {blocked.name: b"mine"}
    assert os.listdir(tmp_path) == [blocked.name]


def test_a_place_that_takes_no_files_is_one_message():
    """/proc refuses even root."""
    with pytest.raises(RepriseError, match="/proc/reprise/e: cannot be written"):
        store.save_tables(Path("/proc/reprise/e"), tables(), KEY, {})
    with pytest.raises(RepriseError, match=r"/proc/reprise/fig\.pdf: cannot be written"):
        disk.write_files({Path("/proc/reprise/fig.pdf"): lambda file: file.write_text("x")})


def on_a_full_disk(code, folder):
    """Runs code in a process whose files may not grow over 4 KiB: more fails as it does on a full disk."""
    head = """
        import resource, sys
        from pathlib import Path
        import pandas as pd
        from reprise.storage import disk, store
        from reprise.errors import RepriseError
        folder, KEY = Path(sys.argv[1]), "0123456789abcdef"
        small = pd.DataFrame({"seed": [0], "x": [1.0]})
        large = pd.DataFrame({"x": [float(i) ** 0.5 for i in range(5000)]})
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
    """
    tail = """
        except RepriseError as error:
            print(error)
    """
    program = textwrap.dedent(head) + textwrap.indent(code, "    ") + textwrap.dedent(tail)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", program, folder], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_a_full_disk_leaves_the_old_results_and_no_draft(folder):
    before = content(folder.parent)
    said = on_a_full_disk('store.save_tables(folder, {"loss": small, "spectrum": large}, KEY, {})', folder)
    assert said.startswith(f"{folder}: cannot be written (")
    assert "what was there before is unchanged" in said
    assert content(folder.parent) == before
    assert os.listdir(folder.parent) == ["e"]


def test_a_full_disk_while_writing_the_record_leaves_the_old_results_and_no_draft(folder):
    before = content(folder.parent)
    said = on_a_full_disk('store.save_tables(folder, {"loss": small}, KEY, {"note": "x" * 5000})', folder)
    assert said.startswith(f"{folder}: cannot be written (")
    assert content(folder.parent) == before


def test_a_full_disk_leaves_the_old_files_and_no_draft(tmp_path):
    (tmp_path / "fig.pdf").write_text("old")
    code = """disk.write_files({
        folder / "fig.pdf": lambda file: file.write_text("new"),
        folder / "fig.png": lambda file: file.write_bytes(b"x" * 5000),
    })"""
    said = on_a_full_disk(textwrap.dedent(code), tmp_path)
    assert said.startswith(f"{tmp_path / 'fig.png'}: cannot be written (")
    assert content(tmp_path) == {"fig.pdf": b"old"}


def test_files_are_written_all_or_none(tmp_path):
    first, second = tmp_path / "a" / "fig.pdf", tmp_path / "a" / "fig.png"
    disk.write_files({first: lambda file: file.write_text("1"), second: lambda file: file.write_text("2")})
    assert content(tmp_path) == {"a/fig.pdf": b"1", "a/fig.png": b"2"}

    def fail(file):
        file.write_text("half")
        raise ValueError("no ink")

    with pytest.raises(ValueError, match="no ink"):
        disk.write_files({first: lambda file: file.write_text("3"), second: fail})
    assert content(tmp_path) == {"a/fig.pdf": b"1", "a/fig.png": b"2"}


def test_the_draft_of_a_killed_process_is_removed_by_the_next_one(tmp_path):
    file = tmp_path / "fig.pdf"

    def write_until_killed(draft):
        draft.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

    if not (child := os.fork()):
        disk.write_files({file: write_until_killed})
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    of_a_running_process = left.with_name(left.name.replace(str(child), str(os.getppid())))
    of_another_file = left.with_name(f"{left.name}.gz")
    for draft in (of_a_running_process, of_another_file):
        draft.write_text("not ours")
    disk.write(file, b"whole")
    assert set(tmp_path.iterdir()) == {file, of_a_running_process, of_another_file}


@pytest.mark.parametrize("moved", [0, 1, 2, 3])
def test_a_kill_while_results_take_their_place_loses_neither_the_old_nor_the_new(folder, moved):
    """The new results are complete, `moved` of their files have taken their place, the others have not."""
    before = store.load_tables(folder, AGAIN)
    program = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        import pandas as pd
        from reprise.storage import store
        left, replace = [int(sys.argv[2])], os.replace

        def replace_or_die(*names):
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            replace(*names)

        os.replace = replace_or_die
        table = pd.DataFrame({"seed": [0], "loss": [9.0]})
        store.save_tables(Path(sys.argv[1]), {"loss": table, "spectrum": table}, "0123456789abcdef", {})
    """)
    done = subprocess.run([sys.executable, "-c", program, folder, str(moved)], check=False)
    assert done.returncode == -9
    read = store.load_tables(folder, AGAIN)
    assert set(read) == set(before)
    assert [table["loss"].tolist() for table in read.values()] == [[9.0], [9.0]]
    assert sorted(os.listdir(folder)) == [MARKER, "loss.parquet", "run.json", "spectrum.parquet"]


@pytest.mark.parametrize("moved", [0, 1, 2, 3])
@pytest.mark.parametrize("key", [KEY, "another0key"])
def test_a_reader_may_move_results_into_place_while_the_writer_does(folder, monkeypatch, key, moved):
    """The reader comes when `moved` of the files have taken their place, and moves the others."""
    left, replace = [moved], os.replace

    def replace_after_the_reader(*names):
        if not left[0]:
            monkeypatch.setattr(os, "replace", replace)
            store.load_record(folder, AGAIN)
        left[0] -= 1
        replace(*names)

    monkeypatch.setattr(os, "replace", replace_after_the_reader)
    store.save_tables(folder, tables(offset=1.0), key, {})
    pd.testing.assert_frame_equal(store.load_tables(folder, AGAIN)["loss"], tables(offset=1.0)["loss"])
    assert sorted(os.listdir(folder)) == [f".{key}.done", "loss.parquet", "run.json", "spectrum.parquet"]


def test_a_killed_writers_draft_is_cleared_away_by_the_next(folder):
    (folder / ".draft-killed").mkdir()
    (folder / ".draft-killed" / "loss.parquet").write_bytes(b"half")
    pd.testing.assert_frame_equal(store.load_tables(folder, AGAIN)["loss"], tables()["loss"])
    store.save_tables(folder, tables(1.0), KEY, {"params": {}})
    assert sorted(os.listdir(folder)) == [MARKER, "loss.parquet", "run.json", "spectrum.parquet"]


def test_no_flipped_bit_of_results_is_read(folder):
    """About 150 bits of each file are flipped."""
    for file in (path for path in folder.iterdir() if path.suffix == ".parquet"):
        good = file.read_bytes()
        for place in range(0, 8 * len(good), 1 + 8 * len(good) // 150):
            file.write_bytes(flipped(good, place))
            with pytest.raises(RepriseError, match=f"{file.name}: truncated or altered"):
                store.load_tables(folder, AGAIN)
        file.write_bytes(good)


def flipped(content, place):
    """The content with the bit at a place flipped."""
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


KIND, KEY_OF_ENTRY = "models", "ab" * 16


class TestCache:
    """An entry of the cache is made once, and outlives a kill."""

    def make(self, folder):
        self.times = getattr(self, "times", 0) + 1
        (folder / "deep").mkdir()
        disk.write(folder / "deep" / "log.jsonl", b'{"loss": 1}\n')
        disk.write(folder / "model", b"weights")
        return {"diverged": None}

    def kept(self, root, key=KEY_OF_ENTRY, kind=KIND):
        with store.cached(root, kind, key, "a net", self.make) as entry:
            return entry

    def test_it_is_made_once_under_one_key(self, tmp_path):
        first = self.kept(tmp_path)
        assert first.folder == tmp_path / "results" / "cache" / KIND / KEY_OF_ENTRY
        assert not first.hit
        assert self.kept(tmp_path).hit
        assert self.times == 1
        self.kept(tmp_path, key="cd" * 16)
        self.kept(tmp_path, kind="tasks")
        assert self.times == 3

    def test_the_record_says_how_it_was_made(self, tmp_path):
        with store.asking("smoke paper/experiment key"):
            record = self.kept(tmp_path).verified()
        assert set(record.pop("sha256")) == {"model", "deep/log.jsonl"}
        assert 0 <= record.pop("seconds") < 60
        assert 0 <= record.pop("cpu_seconds") < 60
        assert record == {
            "diverged": None,
            "asked": [],
            "what": "a net",
            "key": KEY_OF_ENTRY,
            "made_for": "smoke paper/experiment key",
        }

    def test_the_seconds_of_an_entry_are_its_own(self, tmp_path):
        """Seconds of the entries asked for are left out, but not those of views, which go at the end."""

        def busy(seconds, inside=()):
            def make(folder):
                for kind in inside:
                    with store.cached(tmp_path, kind, kind, "inner", busy(0.3)):
                        pass
                end = time.process_time() + seconds
                while time.process_time() < end:
                    pass
                return self.make(folder)

            return make

        with store.cached(tmp_path, "tasks", "outer", "outer", busy(0.1, ("models", "views"))) as entry:
            record = entry.verified()
        assert record["asked"] == ["models/models"]
        assert 0.4 <= record["cpu_seconds"] < 0.6
        assert record["seconds"] >= 0.4
        inner = store.Entry(tmp_path / store.CACHE / "models" / "models").verified()
        assert 0.3 <= inner["cpu_seconds"] < 0.4

    def test_who_does_not_wait_goes_on_without_an_entry_that_is_made_elsewhere(self, tmp_path):
        """Views are excepted; no handler of exceptions takes the lack of an entry for a failure."""
        entry = store.Entry(tmp_path / store.CACHE / KIND / KEY_OF_ENTRY)
        with (
            locks.locked(entry.lock),
            pytest.raises(store.MadeElsewhere),
            store.not_waiting(),
            suppress(Exception),
        ):
            self.kept(tmp_path)
        assert not issubclass(store.MadeElsewhere, Exception)
        assert not entry.folder.exists()
        with store.not_waiting():
            assert not self.kept(tmp_path).hit
            assert self.kept(tmp_path).hit

    def test_no_flipped_bit_of_any_file_is_read(self, tmp_path, capsys):
        entry = self.kept(tmp_path)
        record = entry.verified()
        for file in [path for path in entry.folder.rglob("*") if path.is_file()]:
            good = file.read_bytes()
            for place in range(8 * len(good)):
                file.write_bytes(flipped(good, place))
                with suppress(ValueError):  # or it is a space that became another
                    assert entry.verified() == record
                    assert file.name == store.CACHE_RECORD
            assert not self.kept(tmp_path).hit
            assert f"{file}: " in capsys.readouterr().err
        assert self.kept(tmp_path).hit

    @pytest.mark.parametrize("name", ["model", "deep/log.jsonl", store.CACHE_RECORD])
    def test_a_file_that_is_gone_is_made_again(self, tmp_path, name, capsys):
        entry = self.kept(tmp_path)
        (entry.folder / name).unlink()
        assert not self.kept(tmp_path).hit
        assert "made again" in capsys.readouterr().err
        assert self.kept(tmp_path).hit

    def test_other_arguments_are_another_key(self):
        assert records.key_of("a", 1) == records.key_of("a", 1) != records.key_of("a1")

    def test_a_failure_leaves_nothing_but_what_to_go_on_from(self, tmp_path):
        def fail(folder):
            (folder / "half").write_text("")
            (folder.parent / "state").write_text("step 7")
            raise ValueError("no luck")

        with (
            pytest.raises(ValueError, match="no luck"),
            store.cached(tmp_path, KIND, KEY_OF_ENTRY, "a net", fail),
        ):
            pass
        entry = store.Entry(tmp_path / store.CACHE / KIND / KEY_OF_ENTRY)
        assert content(entry.folder.parent) == {f".{KEY_OF_ENTRY}/state": b"step 7", entry.lock.name: b""}
        self.kept(tmp_path)
        assert not entry.draft.exists()

    @pytest.mark.parametrize("made_again", [False, True])
    def test_a_draft_that_is_deleted_while_it_is_made_is_no_entry(self, tmp_path, made_again):
        def deleted(folder):
            self.make(folder)
            shutil.rmtree(folder.parent)
            if made_again:
                disk.write(folder / "model", b"weights")

        with (
            pytest.raises(RepriseError, match=f"{KEY_OF_ENTRY}/files: cannot be written"),
            store.cached(tmp_path, KIND, KEY_OF_ENTRY, "a net", deleted),
        ):
            pass
        assert not self.kept(tmp_path).hit

    @pytest.mark.parametrize(
        "error", [PermissionError(errno.EACCES, "denied"), FileNotFoundError(errno.ENOENT, "gone")]
    )
    def test_a_folder_that_cannot_be_read_is_not_left_out_of_an_entry(self, tmp_path, monkeypatch, error):
        scandir = os.scandir

        def refused(place):
            if not isinstance(place, int) and Path(place).name == "deep":
                raise error
            return scandir(place)

        with monkeypatch.context() as patch:
            patch.setattr(os, "scandir", refused)
            with pytest.raises(RepriseError, match=r"files.*: cannot be written"):
                self.kept(tmp_path)
        assert not self.kept(tmp_path).hit

    def test_an_entry_that_lists_no_files_is_made_again(self, tmp_path, capsys):
        entry = self.kept(tmp_path)
        (entry.folder / store.CACHE_RECORD).write_text(records.seal({**entry.record, "sha256": {}}))
        assert not self.kept(tmp_path).hit
        assert "lists no files; made again" in capsys.readouterr().err

    def test_its_files_are_on_disk_before_it_has_its_name(self, tmp_path, monkeypatch):
        assert flushed_before(monkeypatch, "rename", lambda: self.kept(tmp_path)) >= {
            "model",
            "log.jsonl",
            "deep",
        }

    @pytest.mark.parametrize("survives", range(30))
    def test_a_kill_at_any_change_of_the_disk_leaves_it_whole_or_unmade(self, tmp_path, survives):
        program = textwrap.dedent("""
            import os, sys
            from pathlib import Path
            from reprise.storage import disk, store
            left = [int(sys.argv[2])]

            def fatal(function):
                def changed(*arguments, **keywords):
                    if not left[0]:
                        os._exit(9)
                    left[0] -= 1
                    return function(*arguments, **keywords)
                return changed

            for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir"):
                setattr(os, name, fatal(getattr(os, name)))

            def make(folder):
                (folder.parent / "state").write_text("step 7")
                disk.write(folder / "model", b"weights")

            with store.cached(Path(sys.argv[1]), "models", "ab" * 16, "a net", make):
                pass
        """)
        pid = os.fork()
        if not pid:
            sys.argv = ["", str(tmp_path), str(survives)]
            exec(program, {})
            os._exit(0)
        killed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
        assert killed or survives > 10
        entry = store.Entry(tmp_path / store.CACHE / KIND / KEY_OF_ENTRY)
        if entry.folder.exists():
            entry.verified()
        self.kept(tmp_path)
        entry.verified()
        assert not entry.draft.exists()

    def test_of_two_processes_that_ask_at_once_one_makes_it(self, tmp_path):
        program = textwrap.dedent("""
            import sys, time
            from pathlib import Path
            from reprise.storage import disk, store

            def make(folder):
                print("made", flush=True)
                time.sleep(1)
                disk.write(folder / "model", b"weights")

            with store.cached(Path(sys.argv[1]), "models", "ab" * 16, "a net", make) as entry:
                assert (entry.folder / "model").read_bytes() == b"weights"
        """)
        command = [sys.executable, "-c", program, tmp_path]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        assert sorted(each.communicate(timeout=60)[0] for each in both) == ["", "made\n"]
        assert [each.returncode for each in both] == [0, 0]

    def test_it_knows_all_that_have_asked_for_it(self, tmp_path):
        entry = self.kept(tmp_path)
        assert entry.askers == set()
        for asker in ("one", "two", "one"):
            with store.asking(asker):
                self.kept(tmp_path)
        assert entry.askers == {"one", "two"}
        assert self.times == 1
        entry.lock.write_text(entry.lock.read_text().rstrip()[:-1])  # cut short by a kill
        with store.asking("three"):
            self.kept(tmp_path)
        assert entry.askers == {"one", "tw", "three"}

    def test_what_is_removed_leaves_nothing(self, tmp_path):
        entry = self.kept(tmp_path)
        entry.draft.mkdir()
        assert store.entries(tmp_path) == [store.Entry(entry.folder)]
        assert store.remove(entry)
        assert list(entry.folder.parent.iterdir()) == []
        assert store.entries(tmp_path) == []

    def test_what_a_process_holds_is_not_removed(self, tmp_path):
        with store.cached(tmp_path, KIND, KEY_OF_ENTRY, "a net", self.make) as entry:
            assert not store.remove(entry)
            assert entry.verified()
        assert store.remove(entry)

    def test_who_waited_for_a_lock_that_is_removed_takes_the_new_one(self, tmp_path):
        """The new lock excludes a third process."""
        lock = tmp_path / locks.LOCK
        program = "import sys; from pathlib import Path; from reprise.storage import locks\n"
        program += "with locks.locked(Path(sys.argv[1])): print('mine', flush=True); input()"
        with locks.locked(lock):
            second = subprocess.Popen(
                [sys.executable, "-c", program, lock],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert "waiting" in second.stderr.readline()
            lock.unlink()
        assert second.stdout.readline() == "mine\n"
        with pytest.raises(locks.Busy), locks.locked(lock, wait=False):
            pass
        second.communicate("\n", timeout=60)
        assert second.returncode == 0

    def test_a_place_that_takes_no_files_is_one_message(self, tmp_path):
        (tmp_path / "results").write_text("mine")
        with pytest.raises(RepriseError, match="cannot be written"):
            self.kept(tmp_path)

    def test_a_table_comes_from_the_file_both_times(self, tmp_path):
        table = pd.DataFrame({"x": [0.1, 2.0], "name": ["a", "b"]})
        calls = []

        def make():
            calls.append(1)
            return table

        for _ in range(2):
            found = store.cached_table(tmp_path, "key", "part", make)
            pd.testing.assert_frame_equal(found, table)
        assert calls == [1]
