"""Loops compiled for the CPU: one pass over the data where PyTorch makes one for every operation.

No replica's numbers depend on which others share its stack.
"""

from typing import Any

import numpy as np
from numba import njit
from torch import Tensor

compiled = njit(cache=True, error_model="numpy")
"""Sums in the order in which they are written."""
compiled_rows = njit(cache=True, error_model="numpy", fastmath={"reassoc", "nsz"})
"""Sums along a row in the order that suits the processor's vectors, the same for all rows of that length.

What is written must not share memory with what is read: the loop would go number by number.
"""


def arrays(*tensors: Tensor) -> list[np.ndarray[Any, Any]]:
    """Tensors of the CPU as contiguous arrays, which share the memory of those that are."""
    return [tensor.contiguous().numpy(force=True) for tensor in tensors]
