"""The network u(x) = W2ᵀ φ(W1 x), its starts on the constraint, and its shape here: W1 [h, d], W2 [h, z]."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from reprise.networks.activations import ACTIVATIONS
from reprise.numerics.streams import Streams
from reprise.papers.esser2024.projection import polar

Weights = tuple[Float[Tensor, "*replica h d"], Float[Tensor, "*replica h z"]]
"""W1 and W2."""


def outputs(
    weights: Weights, x: Float[Tensor, "*replica sample d"], activation: str = "linear"
) -> Float[Tensor, "*replica sample z"]:
    """u(x) = W2ᵀ φ(W1 x) of each row x; linear, W1ᵀ W2 is multiplied first."""
    w1, w2 = weights
    if activation == "linear":
        return x @ (w1.mT @ w2)
    return ACTIVATIONS[activation](x @ w1.mT) @ w2


def orthonormal_start(seeds: Sequence[int], width: int, inputs: int, outputs: int) -> Weights:
    """Uniform on W1ᵀ W1 = I_d and W2ᵀ W2 = I_z, in double precision: the polar factors of normal matrices."""
    streams = Streams(seeds, f"weights of width {width}")
    w1, w2 = (polar(streams.normal(width, columns).double()) for columns in (inputs, outputs))
    return w1, w2
