"""Loops compiled for the CPU, which pass over the data once where PyTorch needs a pass per operation.

The contract of a compiled loop:

- It is private to its module. One public function beside it chooses between the loop and plain PyTorch.
- That function checks shapes first, because compiled code does not check bounds. It takes the plain path on
  other devices, and where the loop's arithmetic could overflow.
- Where the loop replaces automatic differentiation, the plain path is `differentiated_NAME` in the same
  module, and a test compares values and gradients of both.
- A replica's results do not depend on the other replicas in its stack.
"""

from typing import Any

import numpy as np
from numba import njit
from torch import Tensor

compiled = njit(cache=True, error_model="numpy")
"""Compiles a function whose sums keep their written order."""
compiled_rows = njit(cache=True, error_model="numpy", fastmath={"reassoc", "nsz"})
"""Compiles a function whose sums along a row may be reordered for SIMD, identically for all rows of a length.

Outputs must not share memory with inputs, or the loop will not be vectorised.
"""


def arrays(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """CPU tensors as contiguous arrays; contiguous tensors share their memory with the arrays."""
    return [tensor.contiguous().numpy(force=True) for tensor in tensors]
