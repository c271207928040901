"""Processes beside this one: how many there should be, and how they start."""

import os
import sys
from multiprocessing import get_context
from multiprocessing.context import ForkContext, SpawnContext


def context() -> ForkContext | SpawnContext:
    """Returns what starts processes: on Linux as forks, which have at once what this process has imported;
    libraries of macOS do not survive a fork."""
    return get_context("fork") if sys.platform == "linux" else get_context("spawn")


def can_fork() -> bool:
    """Tells if `context` starts processes as forks."""
    return context().get_start_method() == "fork"


def cores() -> int:
    """Returns how many cores this process may use; where the system does not say, how many there are."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
