"""Optimisers, which update weights from their gradients.

On a CPU, SGD and AdamW give the bits of `torch.optim`'s. Building one of torch's imports torch's
compiler, `torch._dynamo`, which takes over a second.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

Tensors = list[Tensor]
States = list[dict[str, Tensor]]
Group = Mapping[str, Any]


class Optimiser:
    """An optimiser with the attributes that callers use of torch's.

    Args:
        parameters: tensors, or groups, mappings with the tensors under `params` and settings of their own.
        settings: those of all groups that have no other.

    Attributes:
        param_groups: groups, each with all settings; `lr` is read at each step.
    """

    def __init__(self, parameters: Iterable[Any], **settings: Any) -> None:
        given = list(parameters)
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        self.param_groups: list[dict[str, Any]] = [settings | dict(group) for group in groups]
        self._state: dict[Tensor, dict[str, Tensor]] = {
            weight: {} for group in self.param_groups for weight in group["params"]
        }

    def zero_grad(self) -> None:
        """Drops all gradients."""
        for weight in self._state:
            weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Updates the weights that have a gradient."""
        for group in self.param_groups:
            if weights := [weight for weight in group["params"] if weight.grad is not None]:
                states = [self._state[weight] for weight in weights]
                self._update(weights, [weight.grad for weight in weights], states, group)

    def _update(self, weights: Tensors, gradients: Tensors, states: States, group: Group) -> None:
        raise NotImplementedError

    def tensors(self) -> dict[str, Tensor]:
        """The state, for a checkpoint: NUMBER OF THE WEIGHT/NAME -> tensor."""
        return {
            f"{number}/{name}": tensor
            for number, state in enumerate(self._state.values())
            for name, tensor in state.items()
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes on the state that `tensors` gave, in each weight's layout and on its device."""
        weights = list(self._state)
        for path, tensor in tensors.items():
            number, name = path.split("/")
            weight = weights[int(number)]
            like = weight.detach() if tensor.shape == weight.shape else tensor
            self._state[weight][name] = torch.empty_like(like).copy_(tensor)


class SGD(Optimiser):
    """`torch.optim.SGD`: u = g + λ w, m <- μ m + u, w <- w - lr m."""

    def __init__(
        self, parameters: Iterable[Any], lr: float, *, momentum: float = 0.0, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, lr=lr, momentum=momentum, weight_decay=weight_decay)

    def _update(self, weights: Tensors, gradients: Tensors, states: States, group: Group) -> None:
        if group["weight_decay"]:
            gradients = torch._foreach_add(gradients, weights, alpha=group["weight_decay"])
        if group["momentum"]:
            for state, gradient in zip(states, gradients, strict=True):
                if state:
                    state["momentum_buffer"].mul_(group["momentum"]).add_(gradient)
                else:
                    state["momentum_buffer"] = gradient.clone()
            gradients = [state["momentum_buffer"] for state in states]
        torch._foreach_add_(weights, gradients, alpha=-group["lr"])


class AdamW(Optimiser):
    """`torch.optim.AdamW` with `fused=True`; without weight decay, `torch.optim.Adam`."""

    def __init__(
        self,
        parameters: Iterable[Any],
        lr: float,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(parameters, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def _update(self, weights: Tensors, gradients: Tensors, states: States, group: Group) -> None:
        beta1, beta2 = group["betas"]
        for state, weight in zip(states, weights, strict=True):
            if not state:
                state["step"] = torch.zeros((), device=weight.device)
                state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
            state["step"] += 1
        means, squares, steps = (
            [state[name] for state in states] for name in ("exp_avg", "exp_avg_sq", "step")
        )
        torch._fused_adamw_(
            weights, gradients, means, squares, [], steps, lr=group["lr"], beta1=beta1, beta2=beta2,
            weight_decay=group["weight_decay"], eps=group["eps"], amsgrad=False, maximize=False,
        )  # fmt: skip


class LARS(Optimiser):
    """The LARS optimiser, as described in `optimisers.LARS`, with its fields as settings."""

    def _update(self, weights: Tensors, gradients: Tensors, states: States, group: Group) -> None:
        updates = [_lars(weight, group) for weight in weights]
        for state, weight in zip(states, weights, strict=True):
            state.setdefault("momentum_buffer", torch.zeros_like(weight))
        velocities = [state["momentum_buffer"] for state in states]
        torch._foreach_mul_(velocities, group["momentum"])
        torch._foreach_add_(velocities, updates)
        torch._foreach_add_(weights, velocities, alpha=-group["lr"])


def _lars(weight: Tensor, group: Group) -> Tensor:
    if weight.ndim < 2:
        return weight.grad
    return (_clipped if group["clip"] else _adapted)(weight, group)


# `where` stays on the device; reading the norms' values would wait for it.


def _adapted(weight: Tensor, group: Group) -> Tensor:
    update = weight.grad.add(weight, alpha=group["weight_decay"])
    weight_norm, update_norm = torch.linalg.vector_norm(weight), torch.linalg.vector_norm(update)
    rate = group["trust"] * weight_norm / update_norm
    return update * torch.where((weight_norm > 0) & (update_norm > 0), rate, 1.0)


def _clipped(weight: Tensor, group: Group) -> Tensor:
    decay = group["weight_decay"]
    weight_norm, grad_norm = torch.linalg.vector_norm(weight), torch.linalg.vector_norm(weight.grad)
    rate = group["trust"] * weight_norm / (grad_norm + decay * weight_norm)
    update = weight.grad.add(weight, alpha=decay) * (rate / group["lr"]).clamp(max=1)
    return torch.where((weight_norm > 0) & (grad_norm > 0), update, weight.grad)
