"""Two interleaving half moons, with a positive and a negative for each anchor (Example 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
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
        moon: the moon of each anchor, 0 or 1.
    """

    anchor: Float[Tensor, "seed sample 2"]
    positive: Float[Tensor, "seed sample 2"]
    negative: Float[Tensor, "seed sample 2"]
    moon: Int[Tensor, "seed sample"]


def draw(seeds: Sequence[int], *, samples: int, noise: float, positive_variance: float) -> HalfMoons:
    """Draws half moons for every seed; a seed's numbers do not depend on the other seeds.

    Args:
        samples: number of anchors in both moons together.
        noise: standard deviation of the noise that scikit-learn adds to the moons.
        positive_variance: variance of each coordinate of x⁺ - x.
    """
    states = Streams(seeds, "half moons").integers(2**31, 2)
    drawn = [
        [make_moons(samples, noise=noise, random_state=int(state)) for state in column]
        for column in states.unbind(1)
    ]
    anchor, negative = (torch.from_numpy(np.stack([points for points, _ in sample])) for sample in drawn)
    moon = torch.from_numpy(np.stack([labels for _, labels in drawn[0]]))
    offset = Streams(seeds, "positives").normal(samples, 2).double()
    return HalfMoons(anchor, anchor + positive_variance**0.5 * offset, negative, moon)
