"""Loops compiled for the CPU, which pass over the data once where PyTorch needs a pass per operation.

The contract of a compiled loop:

- It is private to its module. One public function beside it chooses between the loop and plain PyTorch.
- That function checks shapes first, because compiled code does not check bounds. It takes the plain path
  where the loop's arithmetic could overflow.
- Where the loop replaces automatic differentiation, a test compares its gradients with those of the plain
  path.
- A replica's results do not depend on the other replicas in its stack.
- Every compiled function that it calls is `inlined_rows`. Otherwise a process that compiles it would link it
  with functions compiled on their own, and one that loads it from numba's cache would run copies that were
  optimised within it, whose sums may be rounded differently.
"""

from typing import Any

import numpy as np
from numba import njit
from torch import Tensor

REORDERED = {"reassoc", "contract", "nsz"}
"""Sums along a row may be reordered for SIMD, identically for all rows of a length, and products fused with
sums. What is not finite stays so: a run that diverges is seen."""

compiled = njit(cache=True, error_model="numpy")
"""Compiles a function whose sums keep their written order."""
compiled_rows = njit(cache=True, error_model="numpy", fastmath=REORDERED)
"""Compiles a function with `REORDERED` sums.

Outputs must not share memory with inputs, or the loop will not be vectorised.
"""
inlined_rows = njit(error_model="numpy", fastmath=REORDERED, forceinline=True)
"""The same, for a function that other compiled functions call."""


def arrays(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """CPU tensors as contiguous arrays; contiguous tensors share their memory with the arrays."""
    return [tensor.contiguous().numpy(force=True) for tensor in tensors]
