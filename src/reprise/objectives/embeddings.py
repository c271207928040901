"""Checks and transformations of embeddings that several losses share."""

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
    return z - z.mean(-2, keepdim=True)


def unit_columns(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """Centres each dimension and scales it to unit length over the batch, so that products of columns are
    correlations. A constant dimension becomes zero."""
    return functional.normalize(centred(z), dim=-2)


def off_diagonal(matrix: Float[Tensor, "*replica dim dim"]) -> Float[Tensor, "*replica"]:
    """Sum of the squared off-diagonal entries."""
    return (matrix - matrix.diagonal(dim1=-2, dim2=-1).diag_embed()).square().sum((-2, -1))
