"""Settings shared by the experiments on the two-layer toy model; the text states only the widths and plain
SGD."""

from typing import Self

from reprise.study.losses import TakesLosses
from reprise.study.settings import ours, stated, unstated


class TwoLayers(TakesLosses):
    """z = W2 W1 x on one fixed batch of pairs: gradient descent on a fixed loss, `infonce_distance` of
    Eq. 2."""

    dim: int = stated(16, "Figure 4: weight matrices of 16x16", ge=4, multiple_of=2)
    batch_size: int = unstated(256, "the whole data set: gradient descent, as in the analysis", ge=2)
    covariance_span: float = unstated(
        4.0, "data covariance diag(geomspace(span, 1/span)): distinct values, as Theorem 2 needs", gt=1
    )
    noise_std: float = unstated(0.3, "on both views, below the data's smallest deviation of 1/2", ge=0)
    init_scale: float = unstated(0.2, "W_l = scale x random orthogonal: balanced, W1 W1ᵀ = W2ᵀ W2", gt=0)
    learning_rate: float = unstated(0.02, "close to gradient flow", gt=0)
    steps: int = unstated(4000, "until the largest values have saturated", ge=4)
    seeds: int = ours(10, "independent data, noise and weights", ge=1)

    def plausible(self) -> dict[str, Self]:
        """Other plausible values of what the paper leaves unstated: half the batch, with fewer but larger
        steps, which is cheap, and on top of it other times, initial weights and data."""
        coarser = {
            "seeds": min(self.seeds, 8),
            "batch_size": self.batch_size // 2,
            "learning_rate": 2 * self.learning_rate,
            "steps": self.steps // 2,
        }
        grid: dict[str, dict[str, float]] = {
            "coarser": {},
            "coarser, twice the time": {"steps": self.steps},
            "coarser, init and noise halved": {
                "init_scale": self.init_scale / 2, "noise_std": self.noise_std / 2,
            },
            "coarser, init doubled, more noise": {
                "init_scale": 2 * self.init_scale, "noise_std": 1.5 * self.noise_std,
            },
            "coarser, init doubled, less spread": {
                "init_scale": 2 * self.init_scale, "covariance_span": self.covariance_span**0.5,
            },
            "coarser, noise halved, spread doubled": {
                "noise_std": self.noise_std / 2, "covariance_span": 2 * self.covariance_span,
            },
        }  # fmt: skip
        return {name: self.model_copy(update={**coarser, **changes}) for name, changes in grid.items()}
