"""The end of a process in a session of its own."""

import os
import signal
from contextlib import suppress


def kill_all(process):
    """The process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
