"""How the benches time."""

import time
from collections.abc import Callable

import torch


def seconds(work: Callable[[], None], device: str = "cpu") -> float:
    """CPU time, on a GPU wall time: the median of three runs, after one that warms up."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    work()
    taken = []
    for _ in range(3):
        _finish(device)
        start = clock()
        work()
        _finish(device)
        taken.append(clock() - start)
    return sorted(taken)[1]


def _finish(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()
