"""What the losses ask of their embeddings and do to them first."""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from reprise.errors import RepriseError


def check_views(loss: str, first: Tensor, second: Tensor, *, samples: int = 1) -> None:
    """That two views are of one shape [..., batch, dim], with so many samples at least.

    Raises:
        RepriseError: naming the loss, the shapes and what was expected.
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
    """Each embedding at unit length."""
    return functional.normalize(z, dim=-1)


def squared_chord(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """The mean squared distance of the embeddings at unit length, mean_i |z1_i/|z1_i| - z2_i/|z2_i||²."""
    return (unit_rows(z1) - unit_rows(z2)).square().sum(-1).mean(-1)


def centred(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """Less the mean over the batch."""
    return z - z.mean(-2, keepdim=True)


def unit_columns(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """Each dimension centred and at unit length over the batch, so that products of columns are
    correlations; a dimension that does not vary is zero."""
    return functional.normalize(centred(z), dim=-2)


def off_diagonal(matrix: Float[Tensor, "*replica dim dim"]) -> Float[Tensor, "*replica"]:
    """The sum of the squares off the diagonal."""
    return (matrix - matrix.diagonal(dim1=-2, dim2=-1).diag_embed()).square().sum((-2, -1))
