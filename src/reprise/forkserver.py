"""Runs commands in forks of one process that has imported what they need: a job of Snakemake then starts in
milliseconds instead of seconds.

Snakemake's main process calls `start` (workflow/rules/common.smk); workflow/scripts/forked is the client. A
request is a line, a JSON object with the words of a command line (`words`), the folder (`folder`) and the
environment (`environment`), sent with the client's three standard files. The reply is `ACCEPTED`, and when
the command has ended a JSON object with its exit code as a shell gives it (`code`), its CPU seconds
(`cpu_time`) and the peak of its resident memory in MB (`max_rss`). The reply is empty where a command needs a
process of its own: after an edit of the code or a change of what is installed, or in another folder or
environment than the server's, as on a node of Slurm's, because modules may read both when they are imported.
"""

import atexit
import ctypes
import gc
import json
import os
import secrets
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from reprise.__main__ import main

ACCEPTED = b"+"
OF_A_JOB = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "TMP", "TEMP", "TEMPDIR"})
"""Environment variables that may differ between jobs: no module reads them while it is imported."""
OF_THREADS = "_THREADS"
"""End of the names of environment variables that do not count: a command computes in one thread."""
MODULES = {
    "run": ("reprise.cli", "scipy.stats", "reprise.training.images", "reprise.numerics.compiled"),
    "draw": ("reprise.cli", "scipy.stats", "reprise.plotting.style", "reprise.report.card"),
    "check": ("reprise.cli", "scipy.stats"),
    "report": ("reprise.cli", "scipy.stats", "reprise.report.html"),
}
"""Command -> what the server imports before the command's first fork, which needs it anyway."""
LARGEST = 1 << 22
"""Bytes that are read of a request."""
PATIENCE = 5.0
"""Seconds that a client may pause while it sends its request."""
PR_SET_PDEATHSIG = 1


def start(search_path: str) -> None:
    """Starts a server, where the system has sockets without a file. Its name is in this process's environment
    from then on, as REPRISE_FORKSERVER, for jobs to inherit.

    Args:
        search_path: the PATH of jobs.
    """
    if sys.platform != "linux":
        return
    os.environ["REPRISE_FORKSERVER"] = name = f"reprise-{secrets.token_hex(16)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen(1000)
        file = listener.fileno()
        subprocess.Popen(
            [sys.executable, "-P", "-m", "reprise.forkserver", str(file), str(os.getpid())],
            pass_fds=[file],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": search_path},
        )


@dataclass(frozen=True)
class _Job:
    """A running fork.

    Attributes:
        ended: readable once the process has ended.
        client: readable once the client is gone.
    """

    process: int
    ended: int
    client: socket.socket


class Server:
    """Serves until the process that started the server has ended, and then until the last job has. Jobs are
    killed if the server is.

    Args:
        listener: a Unix socket that listens.
        parent: the process that started the server.
    """

    def __init__(self, listener: socket.socket, parent: int) -> None:
        self._listener = listener
        self._parent = parent
        is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # e.g. by nohup
        self._interruption = signal.SIG_IGN if is_ignored else signal.SIG_DFL
        self._path = [*sys.path]  # imports may add to it
        self._installed = {*_installed(self._path)}
        self._environment = _relevant(os.environ)
        self._jobs: list[_Job] = []
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the jobs, which are in the same group
        try:
            parent = os.pidfd_open(self._parent)
        except ProcessLookupError:
            return
        if os.getppid() != self._parent:  # it has ended meanwhile, and another process may have its number
            return
        watched = self._selector
        watched.register(self._listener, selectors.EVENT_READ, self._accept)
        watched.register(parent, selectors.EVENT_READ, lambda: watched.unregister(parent))
        while self._jobs or parent in watched.get_map():
            for key, _ in watched.select():
                if watched.get_map().get(key.fd) is key:  # else another event of this round has ended it
                    key.data()

    def _accept(self) -> None:
        """Starts the job of the next client, unless it needs a process of its own or fails to be a client."""
        with suppress(BaseException), ExitStack() as opened:
            client = opened.enter_context(self._listener.accept()[0])
            if _user(client) != os.getuid():
                return
            client.settimeout(PATIENCE)
            content, files, _, _ = socket.recv_fds(client, 1, 3)
            for file in files:
                opened.callback(os.close, file)
            with client.makefile("rb") as rest:
                request = json.loads(content + rest.readline(LARGEST))
            if len(files) == 3 and self._can_serve(request):
                self._start(client, request, files)

    def _can_serve(self, request: Mapping[str, Any]) -> bool:
        if _relevant(request["environment"]) != self._environment or request["folder"] != os.getcwd():
            return False
        if not self._jobs:  # nothing but this server is left for Ctrl-C to end
            signal.signal(signal.SIGINT, self._interruption)
        try:
            _import(request["words"])
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return self._is_current()

    def _is_current(self) -> bool:
        """Tells if the code and the versions of libraries are still those that this process imports."""
        from reprise.engine import memo

        return memo.of_package().is_current() and {*_installed(self._path)} == self._installed

    def _start(self, client: socket.socket, request: Mapping[str, Any], files: Sequence[int]) -> None:
        server = os.getpid()
        process = os.fork()
        if process:
            try:
                job = _Job(process, os.pidfd_open(process), client.dup())
            except OSError:  # too many files
                os.kill(process, signal.SIGKILL)
                raise
            self._jobs.append(job)
            self._selector.register(job.ended, selectors.EVENT_READ, partial(self._finish, job))
            self._selector.register(job.client, selectors.EVENT_READ, partial(self._kill, job))
            return
        with suppress(BaseException):
            is_bound = not ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if is_bound and os.getppid() == server:  # which may have ended before that call
                signal.signal(signal.SIGINT, self._interruption)
                client.sendall(ACCEPTED)  # fails if Ctrl-C has ended the client
                for other in (self._listener, client, *(job.client for job in self._jobs)):
                    other.close()  # a client sees by the end of its connection that the server is gone
                _become(request["words"], request["environment"], files)
        os._exit(70)

    def _kill(self, job: _Job) -> None:
        """Kills a job whose client is gone."""
        self._selector.unregister(job.client)
        os.kill(job.process, signal.SIGKILL)

    def _finish(self, job: _Job) -> None:
        """Tells the client how its job ended."""
        _, status, usage = os.wait4(job.process, 0)
        code = os.waitstatus_to_exitcode(status)
        reply = {
            "code": code if code >= 0 else 128 - code,
            "cpu_time": usage.ru_utime + usage.ru_stime,
            "max_rss": usage.ru_maxrss / 1024,
        }
        with suppress(OSError):
            job.client.sendall(json.dumps(reply).encode())
        for watched in (job.ended, job.client):
            with suppress(KeyError):
                self._selector.unregister(watched)
        job.client.close()
        os.close(job.ended)
        self._jobs.remove(job)


def _relevant(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name not in OF_A_JOB and not name.endswith(OF_THREADS)
    }


def _user(client: socket.socket) -> int:
    """The user whose process has connected."""
    return struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]


def _import(words: Sequence[str]) -> None:
    """Imports what a command needs."""
    missing = [name for name in MODULES.get(words[0], ("reprise.cli",)) if name not in sys.modules]
    for name in missing:
        import_module(name)
    from reprise.engine import registry

    registry.papers()  # imports their claims
    if missing:
        gc.collect()
        gc.freeze()  # no later search for garbage writes to pages that forks share


def _installed(path: Sequence[str]) -> Iterator[str]:
    """The folders whose names are those of installed distributions, with their versions."""
    for folder in path:
        for ending in ("dist-info", "egg-info"):
            yield from map(str, Path(folder).glob(f"*.{ending}"))


def _become(words: Sequence[str], environment: Mapping[str, str], files: Sequence[int]) -> NoReturn:
    """Runs the command line in this process, as if it had been started by a shell."""
    from reprise.engine import memo

    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        for number, name in ((1, "stdout"), (2, "stderr")):  # those of the server know its files
            old = getattr(sys, name)
            is_in_lines = number == 2 or os.isatty(number)
            buffering = 1 if is_in_lines else -1
            setattr(sys, name, os.fdopen(number, "w", buffering, old.encoding, old.errors, closefd=False))
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None  # read again when it is asked for
        sys.argv = ["reprise", *words]
        atexit._clear()  # what the server would do at its own end
        atexit.register(memo.of_package().write)
        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(BaseException):
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    Server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])).serve()
