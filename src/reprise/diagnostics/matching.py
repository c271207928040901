"""How well the filters of a layer match the patterns in its input (Tian 2023, Eqs. 16, 180, 181)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def token_matches(
    filters: Float[Tensor, "*replica field token unit"], *, absolute: bool = False
) -> Float[Tensor, "*replica field token"]:
    """max_m cos(w_km, u_a): of a field's filters, the closest to each token's (orthogonal) embedding.

    As in the authors' code a filter's length is |w| + max(max |W_k| / 1000, 1e-6), so that an unused filter
    matches nothing, and a perfect match is a little under 1.

    Args:
        absolute: of |cos|, as the code has it for the linear activation, which sees no sign.
    """
    largest = filters.abs().amax((-2, -1), keepdim=True)
    length = torch.linalg.vector_norm(filters, dim=-2, keepdim=True) + (largest / 1000).clamp_min(1e-6)
    cosine = filters / length
    return (cosine.abs() if absolute else cosine).amax(-1)


def matching_score(
    matches: Float[Tensor, "*replica field token"], chosen: Bool[Tensor, "*replica field token"]
) -> Float[Tensor, "*replica"]:
    """χ: the mean over the fields of the mean match of the chosen tokens; a field with none does not count.

    Of the tokens that the generators use it is χ+; of all others, χ- (divided by their number, where Eq. 181
    prints P).
    """
    number = chosen.sum(-1)
    per_field = (matches * chosen).sum(-1) / number.clamp_min(1)
    return per_field.sum(-1) / (number > 0).sum(-1)
