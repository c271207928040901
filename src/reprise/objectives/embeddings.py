"""Checks of arguments, and transformations of embeddings, that several losses share."""

import math
from collections.abc import Callable
from numbers import Integral

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from reprise.errors import RepriseError


def check_views(loss: str, first: Tensor, second: Tensor, *, samples: int = 1) -> None:
    """Checks that both views have the same shape [..., batch, dim] and at least `samples` samples.

    Raises:
        RepriseError: if they do not; it names the loss, the shapes and what was expected.
    """
    shape = first.shape
    if shape != second.shape or len(shape) < 2:
        expected = "expected one shape [batch, dim] for both views"
    elif shape[-2] < samples:
        expected = (
            f"it is undefined for fewer than {samples} samples: use larger batches, or drop the last one"
        )
    else:
        return
    raise RepriseError(f"{loss}: embeddings of shapes {list(shape)} and {list(second.shape)}; {expected}")


def check_positive(loss: str, **arguments: float) -> None:
    """Checks that arguments such as temperatures are above 0.

    Raises:
        RepriseError: if one is not; it names the loss, the argument, its value and what is allowed.
    """
    _check(loss, arguments, lambda value: 0 < value < math.inf, "a finite number above 0")


def check_weights(loss: str, **arguments: float) -> None:
    """Checks that the weights of a loss's terms are 0 or more; raises as `check_positive` does."""
    _check(loss, arguments, lambda value: 0 <= value < math.inf, "a finite number, 0 or more")


def check_fractions(loss: str, **arguments: float) -> None:
    """Checks that the weights of moving averages lie in [0, 1]; raises as `check_positive` does."""
    _check(loss, arguments, lambda value: 0 <= value <= 1, "a number from 0 to 1")


def check_counts(loss: str, **arguments: int) -> None:
    """Checks that numbers of iterations are whole and above 0; raises as `check_positive` does."""
    _check(loss, arguments, lambda value: isinstance(value, Integral) and value > 0, "a whole number above 0")


def _check(
    loss: str, arguments: dict[str, float] | dict[str, int], holds: Callable[[float], bool], allowed: str
) -> None:
    for name, value in arguments.items():
        if not holds(value):
            raise RepriseError(f"{loss}: {name} is {value}; allowed: {allowed}")


def unit_rows(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """Scales each embedding to unit length."""
    return functional.normalize(z, dim=-1)


def squared_chord(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """Mean squared distance between the embeddings scaled to unit length, mean_i |z1_i/|z1_i| -
    z2_i/|z2_i||²."""
    return (unit_rows(z1) - unit_rows(z2)).square().sum(-1).mean(-1)


def centred(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """Subtracts the mean over the batch."""
    # A mean of large numbers is rounded; the second mean, of small ones, removes what that leaves.
    z = z - z.detach().mean(-2, keepdim=True)
    return z - z.mean(-2, keepdim=True)


def unit_columns(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """Centres each dimension and scales it to unit length over the batch, so that products of columns are
    correlations. A constant dimension becomes zero."""
    return functional.normalize(centred(z), dim=-2)


def over_temperature(
    logits: Float[Tensor, "*replica batch dim"], temperature: float
) -> Float[Tensor, "*replica batch dim"]:
    """Subtracts each row's largest logit and divides by a temperature: a softmax doesn't see the first, and
    the second then enlarges no rounding error of large logits."""
    return (logits - logits.detach().amax(-1, keepdim=True)) / temperature


def off_diagonal(matrix: Float[Tensor, "*replica dim dim"]) -> Float[Tensor, "*replica"]:
    """Sum of the squared off-diagonal entries."""
    return (matrix - matrix.diagonal(dim1=-2, dim2=-1).diag_embed()).square().sum((-2, -1))
