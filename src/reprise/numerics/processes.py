"""Number and start of processes beside this one."""

import os
import sys
from multiprocessing import get_context
from multiprocessing.context import ForkContext, SpawnContext


def context() -> ForkContext | SpawnContext:
    """The context that starts processes: on Linux as forks, which have at once what this process has
    imported; elsewhere anew, because libraries of macOS do not survive a fork."""
    return get_context("fork") if sys.platform == "linux" else get_context("spawn")


def can_fork() -> bool:
    """Tells if `context` starts processes as forks."""
    return context().get_start_method() == "fork"


def cores() -> int:
    """Number of cores that this process may use, or of all cores where the system does not tell."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
