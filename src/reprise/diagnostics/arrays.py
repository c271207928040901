"""NumPy's arrays in place of tensors."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor


def on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Extends a function to arrays: with one among its arguments, it returns arrays in place of tensors.

    Example:
        >>> on_arrays(torch.exp)(np.zeros(2)).tolist()
        [1.0, 1.0]
    """

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        if not any(isinstance(value, np.ndarray) for value in (*arguments, *named.values())):
            return function(*arguments, **named)
        result = function(*map(_tensor, arguments), **{name: _tensor(value) for name, value in named.items()})
        return result.numpy() if isinstance(result, Tensor) else result

    return called


def _tensor(value: Any) -> Any:
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value
