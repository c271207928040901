"""The network u(x) = W2ᵀ φ(W1 x) with W1 [h, d] and W2 [h, z], and initial weights that satisfy its
constraint.

Source: Esser, Mukherjee and Ghoshdastidar 2024, "Representation Learning Dynamics of Self-Supervised Models";
no public code was found.
"""

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
    """Outputs u(x) = W2ᵀ φ(W1 x) of each row x; for a linear φ, W1ᵀ W2 is multiplied first.

    Raises:
        KeyError: if the activation is unknown.
    """
    w1, w2 = weights
    if activation == "linear":
        return x @ (w1.mT @ w2)
    return ACTIVATIONS[activation](x @ w1.mT) @ w2


def orthonormal_start(seeds: Sequence[int], width: int, inputs: int, outputs: int) -> Weights:
    """Random weights, uniform on W1ᵀ W1 = I_d and W2ᵀ W2 = I_z: polar factors of normal matrices, in double
    precision.

    Raises:
        RepriseError: if the width is smaller than the inputs or outputs.
    """
    streams = Streams(seeds, f"weights of width {width}")
    w1, w2 = (polar(streams.normal(width, columns).double()) for columns in (inputs, outputs))
    return w1, w2
