"""One training in several processes (`torchrun`), with the numbers that one process would have.

Each process holds the same weights and its own rows of every batch. Losses of the whole batch, and
BatchNorm's statistics, see all rows; a gradient is the sum of what each process finds for its own rows.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from reprise.errors import RepriseError


@contextmanager
def joined(device: str) -> Iterator[str]:
    """Joins the processes that `torchrun` has started, if it has; NCCL on GPUs, Gloo elsewhere.

    Yields:
        The device of this process: with several, its own GPU.
    """
    if "LOCAL_RANK" not in os.environ:
        yield device
        return
    gpus = torch.device(device).type == "cuda"
    if gpus:
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpus else "gloo")
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
    """Until all have come here."""
    if count() > 1:
        dist.barrier()


def said_by_first(value: bool = False) -> bool:
    """The value that the first process gives, in all of them; each waits for it."""
    said = [value]
    if count() > 1:
        dist.broadcast_object_list(said)
    return said[0]


def own_rows(batch: int) -> slice:
    """The rows of a batch that this process takes.

    Raises:
        RepriseError: when the batch does not divide among the processes.
    """
    if batch % count():
        raise RepriseError(
            f"a batch of {batch} does not divide among {count()} processes; start another number of them"
        )
    share = batch // count()
    return slice(rank() * share, (rank() + 1) * share)


def gather(own: Float[Tensor, "share *rest"]) -> Float[Tensor, "batch *rest"]:
    """The rows of all processes, in the batch's order; the gradient is that of this process's own rows.

    A loss of the gathered rows is the same in all processes, so that the gradients on the weights add up to
    that of one process with the whole batch: nothing needs to go back through the gathering.
    """
    if count() == 1:
        return own
    rows = [torch.empty_like(own, memory_format=torch.contiguous_format) for _ in range(count())]
    dist.all_gather(rows, own.detach().contiguous())
    rows[rank()] = own
    return torch.cat(rows)


def synchronised(network: nn.Module, device: str) -> nn.Module:
    """The network with every BatchNorm over the whole batch: torch's own on GPUs, which is fused but knows no
    CPU, and `GlobalBatchNorm` elsewhere."""
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
    """BatchNorm with the mean and variance over the rows of all processes, for any device."""

    def __init__(self, norm: _BatchNorm) -> None:
        super().__init__()
        # The same names, so that the state is a BatchNorm's.
        self.weight, self.bias = norm.weight, norm.bias
        for name, buffer in norm.named_buffers():
            self.register_buffer(name, buffer)
        self.eps, self.momentum = norm.eps, norm.momentum

    def forward(self, x: Float[Tensor, "share channel *place"]) -> Float[Tensor, "share channel *place"]:
        if not self.training:
            return nn.functional.batch_norm(
                x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        others = [0, *range(2, x.ndim)]
        shape = (1, -1, *(1 for _ in others[1:]))
        n = count() * x.numel() // x.shape[1]
        centred = x - (_Sum.apply(x.sum(others)) / n).view(shape)
        variance = _Sum.apply(centred.square().sum(others)) / n
        with torch.no_grad():
            self.num_batches_tracked += 1
            mean = (x - centred).mean(others)
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * n / (n - 1), self.momentum)
        scale = (variance + self.eps).rsqrt()
        if self.weight is None:  # not affine
            return centred * scale.view(shape)
        return centred * (self.weight * scale).view(shape) + self.bias.view(shape)


class _Sum(torch.autograd.Function):
    """The sum over the processes. Each one's term is in the sums of all, whose gradients add up."""

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
