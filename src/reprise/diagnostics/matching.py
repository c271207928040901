"""Matches of a layer's filters with the patterns in its input (Tian 2023, Eqs. 16, 180, 181)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

CAPTURED = 2**-0.5
"""A filter captures a token if more than half of its squared length lies along the token's embedding; no
filter captures two."""


def token_matches(
    filters: Float[Tensor, "*replica field token unit"], *, absolute: bool = False
) -> Float[Tensor, "*replica field token"]:
    """max_m cos(w_km, u_a): how well a field's best filter matches each token's embedding (orthogonal).

    As in the code of Tian 2023, a filter's length is taken to be |w| + max(max |W_k| / 1000, 1e-6), so that
    an unused filter matches nothing and a perfect match scores slightly below 1.

    Range: -1 to 1; from 0 for `absolute`.

    Args:
        absolute: whether to use |cos|, as the code does for the linear activation, which is blind to signs.

    Example:
        >>> token_matches(torch.eye(3)[None]).round(decimals=2).tolist()
        [[1.0, 1.0, 1.0]]
    """
    largest = filters.abs().amax((-2, -1), keepdim=True)
    length = torch.linalg.vector_norm(filters, dim=-2, keepdim=True) + (largest / 1000).clamp_min(1e-6)
    cosine = filters / length
    return (cosine.abs() if absolute else cosine).amax(-1)


def matching_score(
    matches: Float[Tensor, "*replica field token"], chosen: Bool[Tensor, "*replica field token"]
) -> Float[Tensor, "*replica"]:
    """Matching score χ: the chosen tokens' mean match, averaged over the fields that have any.

    It is χ+ for the tokens that the generators use and χ- for all others; χ- is divided by their number,
    where Tian 2023, Eq. 181, prints P.

    Range: -1 to 1. Shapes: matches from `token_matches`, [*replica, field, token], and which tokens count.

    Example:
        >>> chosen = torch.tensor([[True, False], [True, True]])
        >>> matching_score(torch.tensor([[1.0, 0.0], [0.5, 0.0]]), chosen).item()  # (1 + .25) / 2
        0.625
    """
    number = chosen.sum(-1)
    per_field = (matches * chosen).sum(-1) / number.clamp_min(1)
    return per_field.sum(-1) / (number > 0).sum(-1)


def captured_tokens(
    matches: Float[Tensor, "*replica field token"], chosen: Bool[Tensor, "*replica field token"]
) -> Float[Tensor, "*replica"]:
    """Number of chosen tokens that are captured, over all fields; NaN where a match is NaN.

    Range: 0 to field * token. Shapes as for `matching_score`.

    Example:
        >>> captured_tokens(torch.tensor([[0.9, 0.1]]), torch.tensor([[True, True]])).item()
        1.0
    """
    return _number((matches > CAPTURED) & chosen, matches)


def complete_fields(
    matches: Float[Tensor, "*replica field token"], chosen: Bool[Tensor, "*replica field token"]
) -> Float[Tensor, "*replica"]:
    """Number of fields in which every chosen token is captured, each by a filter of its own; NaN where a
    match is NaN.

    Range: 0 to field. Shapes as for `matching_score`.

    Example:
        >>> complete_fields(torch.tensor([[0.9, 0.1]]), torch.tensor([[True, False]])).item()
        1.0
    """
    return _number(((matches > CAPTURED) | ~chosen).all(-1, keepdim=True), matches)


def _number(counted: Bool[Tensor, "*replica field _"], matches: Tensor) -> Float[Tensor, "*replica"]:
    number = counted.sum((-2, -1)).to(matches.dtype)
    return number.masked_fill(matches.isnan().any(-1).any(-1), torch.nan)
