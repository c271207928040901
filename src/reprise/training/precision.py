"""The arithmetic of convolutions and matrix products in a training's precision, on any processor."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from reprise.notices import slower

CHOOSING = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
"""Variables that keep PyTorch from instructions that the processor has."""
PRODUCTS: frozenset[Callable[..., Tensor]] = frozenset(
    (torch.conv2d, torch.nn.functional.linear, torch.matmul, Tensor.matmul, Tensor.__matmul__)
)
"""Operations that autocast takes in bfloat16, among those that networks here use."""


def arithmetic(device: str, precision: torch.dtype) -> AbstractContextManager[Any]:
    """A context in which convolutions and matrix products take operands of this precision and return it.

    In bfloat16, products are summed in float32 and the sum is rounded. Processors without instructions for
    that take ten times as long as in float32, so there operands are rounded and multiplied in float32,
    which is the same up to the order of the sum.
    """
    if precision == torch.float32:
        return nullcontext()
    if device == "cpu" and not multiplies_bfloat16():
        return Rounded(precision)
    return torch.autocast(device, precision)


@cache
def multiplies_bfloat16() -> bool:
    """Tells if this processor has instructions for bfloat16 that PyTorch's convolutions use."""
    return torch.ops.mkldnn._is_mkldnn_bf16_supported()


def say_what_processor_lacks() -> None:
    """Says so if PyTorch does without the instructions that `training.costs` counts on."""
    if torch.backends.cpu.get_cpu_capability().startswith("AVX512") and multiplies_bfloat16():
        return
    chosen = [f"{name}={os.environ[name]}" for name in CHOOSING if name in os.environ]
    slower(
        "no AVX-512",
        "networks train without AVX-512, which takes about twice as long as `reprise plan` says",
        f"unset {', '.join(chosen)}" if chosen else "use a processor that has it, or a GPU",
    )


class Rounded(TorchFunctionMode):
    """Rounds the operands of `PRODUCTS`, their results and their gradients; multiplies in float32."""

    def __init__(self, precision: torch.dtype) -> None:
        super().__init__()
        self.precision = precision

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if function not in PRODUCTS:
            return function(*args, **(kwargs or {}))
        rounded = [x.to(self.precision).float() if isinstance(x, Tensor) else x for x in args]
        return function(*rounded, **(kwargs or {})).to(self.precision)
