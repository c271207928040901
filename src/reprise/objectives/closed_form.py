"""Losses that supply their own gradient, in closed form."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

LossAndGradients = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
"""Maps (z1, z2), each of shape [replica, batch, dim], to the losses [replica] and the gradients with respect
to z1 and z2."""


def closed_form(
    function: LossAndGradients,
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
) -> Float[Tensor, "*replica"]:
    """Returns the losses of `function`, and backpropagates its gradients instead of differentiating it.

    Example:
        `closed_form(lambda z1, z2: (loss, gradient1, gradient2), z1, z2)`.
    """
    shape = z1.shape[:-2]
    losses, *_ = _ClosedForm.apply(z1.reshape(-1, *z1.shape[-2:]), z2.reshape(-1, *z2.shape[-2:]), function)
    return losses.reshape(shape)


class _ClosedForm(torch.autograd.Function):
    @staticmethod
    def forward(z1: Tensor, z2: Tensor, function: LossAndGradients) -> tuple[Tensor, Tensor, Tensor]:
        return function(z1, z2)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, outer: Tensor, *_: None) -> tuple[Tensor, Tensor, None]:
        gradient1, gradient2 = ctx.saved_tensors
        return outer[:, None, None] * gradient1, outer[:, None, None] * gradient2, None

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], *inputs: Any
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Treats a mapped axis as one more axis of replicas, so that a user's loss, which is mapped, can call
        this one."""
        *views, function = inputs
        z1, z2 = (
            view.expand(info.batch_size, *view.shape) if dim is None else view.movedim(dim, 0)
            for view, dim in zip(views, in_dims, strict=False)
        )
        outputs = _ClosedForm.apply(z1.flatten(0, 1), z2.flatten(0, 1), function)
        return tuple(output.unflatten(0, z1.shape[:2]) for output in outputs), (0, 0, 0)
