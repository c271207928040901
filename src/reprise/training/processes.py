"""One training in several processes (`torchrun`), with the same numbers as in a single process.

Each process holds the same weights and its own rows of every batch. The loss and BatchNorm's statistics use
all rows; a gradient is the sum of the processes' gradients, each for its own rows.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from reprise.errors import RepriseError

T = TypeVar("T")

PATIENCE = timedelta(hours=2)
"""Time for which processes wait for the first, which alone asks for files' sizes and tests the online
probe."""


@contextmanager
def joined(device: str) -> Iterator[str]:
    """Joins the process group if started by `torchrun`: NCCL on GPUs, Gloo elsewhere.

    Yields:
        The device of this process, one GPU per process under `torchrun`.
    """
    if "LOCAL_RANK" not in os.environ:
        yield device
        return
    on_gpus = torch.device(device).type == "cuda"
    if on_gpus:
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpus else "gloo", timeout=PATIENCE)
    try:
        yield device
    finally:
        dist.destroy_process_group()


def count() -> int:
    """Number of processes that train together."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Rank of this process."""
    return dist.get_rank() if dist.is_initialized() else 0


def wait() -> None:
    """Waits until all processes have reached this call."""
    if count() > 1:
        dist.barrier()


def said_by_first(value: T) -> T:
    """Broadcasts the first process's value to all processes, which wait for it."""
    values = [value]
    if count() > 1:
        dist.broadcast_object_list(values)
    return values[0]


def own_rows(batch: int) -> slice:
    """This process's rows of a batch.

    Raises:
        RepriseError: if the batch does not divide evenly among the processes.
    """
    if batch % count():
        raise RepriseError(
            f"a batch of {batch} does not divide evenly among {count()} processes; change their number"
        )
    share = batch // count()
    return slice(rank() * share, (rank() + 1) * share)


def gather(own: Float[Tensor, "share *rest"]) -> Float[Tensor, "batch *rest"]:
    """Gathers the rows of all processes in the batch's order; gradients flow to this process's rows only.

    Every process computes the same loss from the gathered rows, so the processes' gradients for the weights
    add up to the gradient of the whole batch; no gradient needs to cross processes here.
    """
    if count() == 1:
        return own
    rows = [torch.empty_like(own, memory_format=torch.contiguous_format) for _ in range(count())]
    dist.all_gather(rows, own.detach().contiguous())
    rows[rank()] = own
    return torch.cat(rows)


def synchronised(network: nn.Module, device: str) -> nn.Module:
    """Makes every BatchNorm use the whole batch: by torch's fused SyncBatchNorm, which needs GPUs, or by
    `GlobalBatchNorm` elsewhere."""
    if count() == 1:
        return network
    if torch.device(device).type == "cuda":
        return nn.SyncBatchNorm.convert_sync_batchnorm(network)
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, _BatchNorm):
                setattr(module, name, GlobalBatchNorm(child))
    return network


class GlobalBatchNorm(nn.Module):
    """BatchNorm over the rows of all processes, on any device."""

    def __init__(self, norm: _BatchNorm) -> None:
        super().__init__()
        # The same names as in BatchNorm, so that the state dict is the same.
        self.weight, self.bias = norm.weight, norm.bias
        for name, buffer in norm.named_buffers():
            self.register_buffer(name, buffer)
        self.eps, self.momentum = norm.eps, norm.momentum

    def forward(self, x: Float[Tensor, "share channel *place"]) -> Float[Tensor, "share channel *place"]:
        if not self.training:
            return nn.functional.batch_norm(
                x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        axes = [0, *range(2, x.ndim)]
        shape = (1, -1, *(1 for _ in axes[1:]))
        n = count() * x.numel() // x.shape[1]
        centred = x - (_Sum.apply(x.sum(axes)) / n).view(shape)
        variance = _Sum.apply(centred.square().sum(axes)) / n
        with torch.no_grad():
            self.num_batches_tracked += 1
            mean = (x - centred).mean(axes)
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * n / (n - 1), self.momentum)
        scale = (variance + self.eps).rsqrt()
        if self.weight is None:  # not affine
            return centred * scale.view(shape)
        return centred * (self.weight * scale).view(shape) + self.bias.view(shape)


class _Sum(torch.autograd.Function):
    """The sum over processes. Each term enters every process's sum, so the gradients are summed too."""

    @staticmethod
    def forward(ctx: Any, term: Tensor) -> Tensor:
        total = term.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total
