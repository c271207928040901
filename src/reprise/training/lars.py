"""The LARS optimiser, as described in `optimisers.LARS`."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.optim.optimizer import Optimizer


class LARS(Optimizer):
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            updates = [_update(weight, group) for weight in weights]
            for weight in weights:
                self.state[weight].setdefault("momentum_buffer", torch.zeros_like(weight))
            if weights:
                velocities = [self.state[weight]["momentum_buffer"] for weight in weights]
                torch._foreach_mul_(velocities, group["momentum"])
                torch._foreach_add_(velocities, updates)
                torch._foreach_add_(weights, velocities, alpha=-group["lr"])


def _update(weight: Tensor, group: dict[str, Any]) -> Tensor:
    if weight.ndim < 2:
        return weight.grad
    return (_clipped if group["clip"] else _adapted)(weight, group)


# `where` stays on the device; reading the norms' values would wait for it.


def _adapted(weight: Tensor, group: dict[str, Any]) -> Tensor:
    update = weight.grad.add(weight, alpha=group["weight_decay"])
    weight_norm, update_norm = torch.linalg.vector_norm(weight), torch.linalg.vector_norm(update)
    rate = group["trust"] * weight_norm / update_norm
    return update * torch.where((weight_norm > 0) & (update_norm > 0), rate, 1.0)


def _clipped(weight: Tensor, group: dict[str, Any]) -> Tensor:
    decay = group["weight_decay"]
    weight_norm, grad_norm = torch.linalg.vector_norm(weight), torch.linalg.vector_norm(weight.grad)
    rate = group["trust"] * weight_norm / (grad_norm + decay * weight_norm)
    update = weight.grad.add(weight, alpha=decay) * (rate / group["lr"]).clamp(max=1)
    return torch.where((weight_norm > 0) & (grad_norm > 0), update, weight.grad)
