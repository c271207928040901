"""Initial weights of the toy models of Section 5."""

from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.networks.dense import random_orthogonal
from reprise.numerics.streams import Streams


def layers(
    streams: Streams,
    dim: int,
    depth: int,
    *,
    scale: float,
    span: float,
    balanced: bool = False,
    from_uniform: bool = False,
) -> list[Float[Tensor, "seed dim dim"]]:
    """Layers with the same singular values, evenly spaced in the logarithm, and random singular vectors.

    Args:
        scale: geometric mean of a layer's singular values.
        span: the largest over the smallest; 1 makes them degenerate, a multiple of an orthogonal matrix.
        balanced: each layer's right singular vectors are the left ones of the layer below, so that
            W_l W_lᵀ = W_(l+1)ᵀ W_(l+1); otherwise all are independent.
        from_uniform: a layer's singular vectors are those of a matrix of uniform numbers in [0, 1), as in
            the authors' code, in which the leading ones are nearly constant; otherwise they are Haar
            distributed.
    """
    values = torch.from_numpy(scale * np.geomspace(span**0.5, span**-0.5, dim)).float()
    if from_uniform:
        found = [torch.linalg.svd(streams.uniform(dim, dim)) for _ in range(depth)]
        return [each.U * values @ each.Vh for each in found]
    bases = [random_orthogonal(streams, dim) for _ in range(depth + 1 if balanced else 2 * depth)]
    pairs = pairwise(bases) if balanced else zip(bases[::2], bases[1::2], strict=True)
    return [left * values @ right.mT for right, left in pairs]
