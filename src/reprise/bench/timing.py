"""Timing for the benches."""

import time
from collections.abc import Callable, Sequence
from statistics import median

import torch


def seconds(work: Callable[[], None], device: str = "cpu") -> float:
    """Seconds of CPU time, or of wall time on a GPU: the median of three runs after a warm-up."""
    return in_turns([work], device, rounds=3)[0]


def in_turns(works: Sequence[Callable[[], None]], device: str = "cpu", rounds: int = 5) -> list[float]:
    """Times several functions in turns, as `seconds` does: the median of each over the rounds.

    Each round runs all of them, so that a slow spell of the machine affects them alike.
    """
    clock = time.process_time if device == "cpu" else time.perf_counter
    durations: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(rounds):
        for work, times in zip(works, durations, strict=True):
            _finish(device)
            start = clock()
            work()
            _finish(device)
            times.append(clock() - start)
    return [median(times) for times in durations]


def _finish(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()
