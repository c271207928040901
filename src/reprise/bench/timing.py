"""How the benches time."""

import time
from collections.abc import Callable, Sequence
from statistics import median

import torch


def seconds(work: Callable[[], None], device: str = "cpu") -> float:
    """CPU time, on a GPU wall time: the median of three runs, after one that warms up."""
    return in_turns([work], device, rounds=3)[0]


def in_turns(works: Sequence[Callable[[], None]], device: str = "cpu", rounds: int = 5) -> list[float]:
    """The same of several, one after the other in each round: what slows the machine for a while slows all
    of them."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    taken: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(rounds):
        for work, of in zip(works, taken, strict=True):
            _finish(device)
            start = clock()
            work()
            _finish(device)
            of.append(clock() - start)
    return [median(of) for of in taken]


def _finish(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()
