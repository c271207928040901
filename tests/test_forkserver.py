"""The server that runs jobs in forks, as Snakemake starts it, and its client, with real commands."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reprise.errors import INTERRUPTED, INTERRUPTION
from reprise.forkserver import LARGEST

ROOT = Path(__file__).parents[1]
FORKED = ROOT / "workflow" / "scripts" / "forked"
ALONE = 7
STARTS = """
import os, sys
from reprise import forkserver
forkserver.start(os.environ["PATH"])
print(os.environ["REPRISE_FORKSERVER"], flush=True)
sys.stdin.read()
"""
"""Program of a process that starts the server as Snakemake's main process does, and ends with its standard
input."""
PATIENCE = 60.0
SOON = 4.0
"""Seconds, fewer than the server waits for a request."""
NOBODY = 65534
PIPE = 4096
"""Bytes that a command can print before somebody reads them."""


class Folder:
    """A folder with a server, whose commands that run on their own print `alone` and end with `ALONE`."""

    def __init__(self, path: Path) -> None:
        self.path, self.benchmark = path, path / "benchmarks" / "job.tsv"
        (path / "bin").mkdir()
        (path / "bin" / "reprise").write_text(f"#!/bin/sh\necho alone; exit {ALONE}\n")
        (path / "bin" / "reprise").chmod(0o755)
        shutil.copytree(ROOT / "src", path / "src", ignore=shutil.ignore_patterns("__pycache__"))
        (path / "src" / "library-1.0.dist-info").mkdir()
        places = (path / "bin", Path(sys.executable).parent, os.environ["PATH"])
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join(map(str, places)),
            "PYTHONPATH": str(path / "src"),
        }

    def start(self) -> None:
        self.main = subprocess.Popen(
            [sys.executable, "-P", "-c", STARTS], env=self.environment, cwd=self.path, process_group=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.environment["REPRISE_FORKSERVER"] = self.main.stdout.readline().strip()

    def ask(self, *words: str, **options) -> subprocess.Popen:
        command = [FORKED, self.benchmark, "reprise", *words]
        given = {"cwd": self.path, "env": self.environment, "process_group": 0, **options}
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pipesize=PIPE, text=True, **given
        )

    def answer(self, *words: str, **options) -> tuple[int, str, str]:
        process = self.ask(*words, **options)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(SOON)
        client.connect("\0" + self.environment["REPRISE_FORKSERVER"])
        return client

    def server(self) -> int:
        """The server's process."""
        return _until(lambda: _children(self.main.pid))[0]


def _children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _until(true, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not (value := true()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def _ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # before or while it is read
        return True


def _ignores_interruption(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    return bool(int(status.partition("SigIgn:")[2].split()[0], 16) & 1 << signal.SIGINT - 1)


@pytest.fixture
def folder(tmp_path):
    # A process that runs in the background may ignore interruptions, and so would its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Folder(tmp_path)
    folder.start()
    yield folder
    folder.main.kill()
    folder.main.wait()
    signal.signal(signal.SIGINT, before)


def test_a_command_runs_in_a_fork_of_the_server(folder):
    """No file of the working folder is taken for a library."""
    (folder.path / "pandas.py").write_text("raise ImportError")
    code, out, err = folder.answer("--version")
    assert (code, out.split()[0], err) == (0, "reprise", "")
    names, values = (line.split("\t") for line in folder.benchmark.read_text().splitlines())
    measured = dict(zip(names, map(float, values), strict=True))
    assert measured["forked"]
    assert 0 < measured["cpu_time"] <= measured["s"]
    assert measured["max_rss"] > 50

    folder.benchmark.unlink()
    code, out, err = folder.answer(
        "show", "no/such", env=folder.environment | {"OMP_NUM_THREADS": "2", "TMPDIR": "/"}
    )
    assert (code, out) == (2, "")
    assert err.startswith("reprise: error: ")
    assert not folder.benchmark.exists()


def test_what_libraries_may_have_read_is_not_shared(folder):
    """Another environment, another version of a library and edited code need a process of their own."""
    assert folder.answer("--version")[0] == 0
    assert folder.answer("--version", env=folder.environment | {"OPENBLAS_CORETYPE": "Haswell"})[0] == ALONE
    assert folder.answer("--version")[0] == 0
    library = folder.path / "src" / "library-1.0.dist-info"
    upgraded = library.rename(library.with_name("library-1.1.dist-info"))
    assert folder.answer("--version")[0] == ALONE
    upgraded.rename(library)
    assert folder.answer("--version")[0] == 0
    file = folder.path / "src" / "reprise" / "numerics" / "streams.py"
    file.write_text(file.read_text() + "\n# edited\n")
    assert folder.answer("--version") == (ALONE, "alone\n", "")


def test_without_a_server_a_command_runs_by_itself(folder):
    os.kill(folder.server(), signal.SIGKILL)
    _until(lambda: folder.answer("--version")[0] == ALONE)
    del folder.environment["REPRISE_FORKSERVER"]
    assert folder.answer("--version") == (ALONE, "alone\n", "")


BAD = b"", b"\n", b"[]\n", b"[" * 100_000 + b"\n", b'{"words": [], "folder": "", "environment": []}\n'


def test_no_request_ends_the_server(folder):
    server = folder.server()
    for request in BAD:
        with folder.connect() as client:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b""
    with folder.connect() as client, pytest.raises(ConnectionError):
        client.sendall(bytes(2 * LARGEST))
    assert not _ended(server)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_nothing_is_read_from_another_user(folder):
    os.seteuid(NOBODY)
    try:
        client = folder.connect()
    finally:
        os.seteuid(0)
    with client:
        assert client.recv(1) == b""


@pytest.fixture
def busy(folder):
    """A server in a folder with a checkout, for commands that print more than a pipe holds."""
    for name in ("configs", "docs"):
        (folder.path / name).symlink_to(ROOT / name)
    return folder


def begun(folder):
    """A client and its job, which has begun and waits until somebody reads what it prints."""
    client = folder.ask("list", "--claims", "--tier", "smoke")
    _until(lambda: _ignores_interruption(client.pid))
    return client, _children(folder.server())[-1]


def test_a_job_ends_with_its_client_or_its_server(busy):
    client, job = begun(busy)
    client.kill()
    client.communicate()
    _until(lambda: _ended(job))

    client, job = begun(busy)
    os.kill(job, signal.SIGKILL)
    client.communicate(timeout=PATIENCE)
    assert client.returncode == 128 + signal.SIGKILL

    client, job = begun(busy)
    os.kill(busy.server(), signal.SIGKILL)
    assert client.wait(PATIENCE) == os.EX_UNAVAILABLE
    _until(lambda: _ended(job), SOON)
    assert "server" in client.communicate()[1]


def test_interruption_while_the_server_imports_ends_everything(folder):
    begins = "import pathlib, time; pathlib.Path('begun').touch(); time.sleep(20)"
    (folder.path / "src" / "reprise" / "cli.py").write_text(begins)
    client, server = folder.ask("--version", process_group=folder.main.pid), folder.server()
    _until((folder.path / "begun").exists)
    os.killpg(folder.main.pid, signal.SIGINT)
    client.communicate(timeout=SOON)
    assert client.returncode == -signal.SIGINT
    _until(lambda: _ended(server), SOON)


def test_interruption_of_the_process_group_ends_a_job(busy):
    client = busy.ask("list", "--claims", "--tier", "smoke", process_group=busy.main.pid)
    _until(lambda: _children(busy.server()))
    time.sleep(1.0)
    os.killpg(busy.main.pid, signal.SIGINT)
    _, err = client.communicate(timeout=PATIENCE)
    assert client.returncode == INTERRUPTED
    assert err.splitlines()[-1] == INTERRUPTION


def test_interruption_ends_a_command_that_runs_by_itself(folder):
    (folder.path / "bin" / "reprise").write_text("#!/bin/sh\necho begun; exec sleep 60\n")
    del folder.environment["REPRISE_FORKSERVER"]
    client = folder.ask("--version")
    assert client.stdout.readline() == "begun\n"
    _until(lambda: _ignores_interruption(client.pid))
    os.killpg(client.pid, signal.SIGINT)
    client.communicate(timeout=PATIENCE)
    assert client.returncode == 128 + signal.SIGINT


def test_the_server_ends_after_snakemake_and_the_last_job(busy):
    server = busy.server()
    client = busy.ask("list", "--claims", "--tier", "smoke")
    _until(lambda: _children(server))
    busy.main.kill()
    busy.main.wait()
    time.sleep(0.3)
    assert not _ended(server)
    out, _ = client.communicate(timeout=PATIENCE)
    assert client.returncode == 0
    assert len(out) > PIPE
    _until(lambda: _ended(server))


def test_a_server_whose_parent_has_ended_before_it_began_ends_at_once():
    parent = subprocess.Popen(["true"])
    parent.wait()
    with socket.socket(socket.AF_UNIX) as listener:
        file = listener.fileno()
        command = [sys.executable, "-m", "reprise.forkserver", str(file), str(parent.pid)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        assert subprocess.run(command, pass_fds=[file], env=environment, timeout=PATIENCE).returncode == 0
