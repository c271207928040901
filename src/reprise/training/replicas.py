"""The replica engine: many small networks trained at once, seeds and settings stacked on a leading axis.

One batched matrix product serves all replicas where others start a process each. A replica's numbers do not
depend, to the last bit on the CPU, on which others share its stack: all arithmetic is per replica, and
random numbers come from the stream of its own seed (`reprise.streams`).
"""

import ctypes
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's mallopt

Weights = Sequence[Float[Tensor, "replica out in"]]


def sgd(
    weights: Weights,
    loss: Callable[[Weights], Float[Tensor, " replica"]],
    *,
    learning_rate: float,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    steps: int,
    checkpoints: Collection[int],
    project: Callable[[Tensor], Tensor] | None = None,
    progress: Callable[[int], None] = lambda step: None,
) -> Iterator[tuple[int, Weights]]:
    """Stochastic gradient descent of every replica on its own loss.

    Args:
        weights: the initial values; not changed.
        loss: draws its own minibatch at each call; a replica's loss depends on that replica's weights only.
        momentum: of `torch.optim.SGD`, as is `weight_decay`, on all weights.
        checkpoints: the steps, from 0 (before the first) to `steps`, at which to yield.
        project: brings each weight back onto its constraint after each step.
        progress: called with the step, now and then.

    Yields:
        (step, the weights at that step, detached).

    Raises:
        RepriseError: when a weight is not finite at a checkpoint.
    """
    keep_freed_memory()
    now = [weight.detach().clone().requires_grad_() for weight in weights]
    # Not fused: that rounds the last numbers of a stack otherwise than the rest.
    optimiser = torch.optim.SGD(
        now, learning_rate, momentum=momentum, weight_decay=weight_decay, foreach=False
    )
    for step in range(steps + 1):
        if step in checkpoints:
            if not all(weight.isfinite().all() for weight in now):
                raise RepriseError(f"diverged: weights are not finite at step {step}; lower learning_rate")
            yield step, [weight.detach().clone() for weight in now]
        if step % 100 == 0:
            progress(step)
        if step < steps:
            with _flushed_denormals():
                gradients = torch.autograd.grad(loss(now).sum(), now)
            for weight, gradient in zip(now, gradients, strict=True):
                weight.grad = gradient
            optimiser.step()
            if project:
                with torch.no_grad():
                    for weight in now:
                        weight.copy_(project(weight))


def left_of_start(*, learning_rate: float, momentum: float, weight_decay: float, steps: int) -> list[float]:
    """What `sgd` leaves, after 0 to `steps` steps, of a weight of 1 that no gradient reaches."""
    left, velocity = [1.0], 0.0
    for _ in range(steps):
        velocity = momentum * velocity + weight_decay * left[-1]
        left.append(left[-1] - learning_rate * velocity)
    return left


@contextmanager
def _flushed_denormals() -> Iterator[None]:
    """Softmax weights of far pairs are denormal numbers, on which a product takes a hundred times as long."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@cache
def keep_freed_memory() -> None:
    """glibc gives freed stacks back to the system, and has their pages faulted in anew soon after."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        for option in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD):
            libc.mallopt(option, 2**30)
