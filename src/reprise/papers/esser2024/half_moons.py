"""Two interleaving half moons, with a positive and a negative for each anchor (Example 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from sklearn.datasets import make_moons
from torch import Tensor

from reprise.numerics.streams import Streams


@dataclass(frozen=True)
class HalfMoons:
    """One data set per seed, in double precision.

    Attributes:
        anchor: points of the two moons, in random order.
        positive: the anchors with normal noise added.
        negative: a second sample of the moons, independent of the anchors.
    """

    anchor: Float[Tensor, "seed sample 2"]
    positive: Float[Tensor, "seed sample 2"]
    negative: Float[Tensor, "seed sample 2"]


def draw(seeds: Sequence[int], *, samples: int, noise: float, positive_variance: float) -> HalfMoons:
    """Draws half moons for every seed; a seed's numbers do not depend on the other seeds.

    Args:
        samples: number of anchors in both moons together.
        noise: standard deviation of the noise that scikit-learn adds to the moons.
        positive_variance: variance of each coordinate of x⁺ - x.
    """
    states = Streams(seeds, "half moons").integers(2**31, 2)
    anchor, negative = (
        torch.stack([_moons(samples, noise, int(state)) for state in column]) for column in states.unbind(1)
    )
    offset = Streams(seeds, "positives").normal(samples, 2).double()
    return HalfMoons(anchor, anchor + positive_variance**0.5 * offset, negative)


def _moons(samples: int, noise: float, state: int) -> Float[Tensor, "sample 2"]:
    points, _ = make_moons(samples, noise=noise, random_state=state)
    return torch.from_numpy(points)
