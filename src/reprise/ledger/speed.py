"""Speed of a core of this machine, by a test of about a second."""

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from reprise.engine import seconds

TURNS = 20
"""Each part of the test runs so many times, and the fastest counts: other processes only slow it down."""


def slowness(root: Path) -> float:
    """The seconds that a core of this machine takes for what takes one on that of the recorded run; 1 if it
    is not known how fast that is.

    Raises:
        RepriseError: if the recorded seconds are damaged.
    """
    there = seconds.recorded(root).speed_test
    return trial_seconds() / there if there else 1.0


def trial_seconds() -> float:
    """CPU seconds of one core for a fixed work of three parts that take about as long as each other on a
    current processor: products of small matrices, a function of many numbers, and a loop in Python, as the
    experiments have them."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, 256, 256), dtype=np.float32)
    numbers = rng.standard_normal(2**16)

    def products() -> None:
        for _ in range(60):
            left @ right

    def function() -> None:
        for _ in range(140):
            np.tanh(numbers)

    def loop() -> None:
        total = 0.0
        for number in range(250_000):
            total += math.sqrt(number)

    with threadpool_limits(1):
        return sum(min(_cpu_seconds(part) for _ in range(TURNS)) for part in (products, function, loop))


def _cpu_seconds(work: Callable[[], None]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before
