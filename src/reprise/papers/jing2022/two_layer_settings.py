"""Settings shared by the experiments on the two-layer toy model; the text states only the widths, plain SGD
and singular values that start non-degenerate."""

import math
from typing import Self

from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, from_code, ours, stated, unstated

CODE_DECAY, CODE_DIM = 0.35, 16
CODE_SPAN = math.exp(CODE_DECAY * (CODE_DIM - 1))
"""Largest over smallest singular value in the authors' toy code, which starts from exp(-0.35 i), i < 16."""
CODE_SCALE = CODE_SPAN**-0.5
"""Geometric mean of the singular values in the authors' toy code."""


class TwoLayers(Seeded, TakesLosses):
    """z = W2 W1 x on one fixed batch of pairs: gradient descent on a fixed loss, `infonce_distance` of
    Eq. 2."""

    dim: int = stated(16, "Figure 4: weight matrices of 16x16", ge=4, multiple_of=2)
    batch_size: int = from_code(128, "here the whole data set: gradient descent, as in the analysis", ge=2)
    covariance_span: float = unstated(
        4.0, "data covariance diag(geomspace(span, 1/span)): distinct values, as Theorem 2 needs", ge=1
    )
    noise_std: float = unstated(0.3, "on both views, below the data's smallest deviation of 1/2", ge=0)
    init_scale: float = unstated(0.2, "geometric mean of each layer's singular values: small", gt=0)
    init_span: float = unstated(
        1.3, "the largest of them over the smallest: non-degenerate (Section 5.3), how far is not said", gt=1
    )
    learning_rate: float = unstated(0.02, "close to gradient flow", gt=0)
    steps: int = unstated(4000, "until the largest values have saturated", ge=4)
    seeds: int = ours(10, "independent data, noise and weights", ge=1)

    def plausible(self) -> dict[str, Self]:
        """Other plausible values of what the paper leaves unstated: the initialisation and learning
        rate of the authors' toy code with our loss and pairs, and others with fewer but larger steps, which
        is cheap."""
        coarser = {"learning_rate": 2 * self.learning_rate, "steps": self.steps // 2}
        grid: dict[str, dict[str, float]] = {
            "twice the time": {"steps": self.steps},
            "init and noise halved": {
                "init_scale": self.init_scale / 2, "noise_std": self.noise_std / 2,
            },
            "init doubled, more noise": {
                "init_scale": 2 * self.init_scale, "noise_std": 1.5 * self.noise_std,
            },
            "init doubled, data less spread": {
                "init_scale": 2 * self.init_scale, "covariance_span": self.covariance_span**0.5,
            },
            "noise halved, data more spread": {
                "noise_std": self.noise_std / 2, "covariance_span": 2 * self.covariance_span,
            },
            "init barely distinct": {"init_span": 1.1},
            "init further apart": {"init_span": 2.0},
            "authors' initialisation and rate, our loss": {
                "init_scale": CODE_SCALE, "init_span": CODE_SPAN, "covariance_span": 1.0, "noise_std": 0.001,
                "learning_rate": self.learning_rate / 2, "steps": self.steps * 5 // 2,
            },
        }  # fmt: skip
        return {
            name: self.model_copy(update={"seeds": min(self.seeds, 10), **coarser, **changes})
            for name, changes in grid.items()
        }
