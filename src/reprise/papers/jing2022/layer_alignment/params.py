"""Settings of Figures 4 and 5; the text gives the widths and the plain SGD, and nothing else."""

from reprise.papers.jing2022.toy import OBJECTIVE
from reprise.settings import Settings, ours, stated, unstated

TABLES = ("alignment", "trajectory", "singular_values", "theorem3")


class Params(Settings):
    """z = W2 W1 x on one fixed batch of pairs: gradient descent on a fixed loss."""

    objective: str = stated("infonce_distance", "Eq. 2", pattern=OBJECTIVE)
    dim: int = stated(16, "Figure 4: weight matrices of 16x16", ge=4, multiple_of=2)
    batch_size: int = unstated(256, "the whole data set: gradient descent, as the analysis has it", ge=2)
    covariance_span: float = unstated(
        4.0, "data covariance diag(geomspace(span, 1/span)): distinct values, as Theorem 2 needs", gt=1
    )
    noise_std: float = unstated(0.3, "on both views, under the data's smallest deviation of 1/2", ge=0)
    init_scale: float = unstated(0.2, "W_l = scale x random orthogonal: balanced, W1 W1ᵀ = W2ᵀ W2", gt=0)
    learning_rate: float = unstated(0.02, "close to gradient flow", gt=0)
    steps: int = unstated(4000, "until the largest values have saturated", ge=4)
    low_rank: int = unstated(8, "rank of Section 6.1's fixed low-rank projector", ge=1)
    aligned_below: float = ours(0.05, "off-diagonal mass from which Theorem 3's ODE starts", gt=0)
    seeds: int = ours(10, "independent data, noise and weights", ge=1)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated."""
    common = {"seeds": min(params.seeds, 4)}
    grid = {
        "learning rate halved": {"learning_rate": params.learning_rate / 2},
        "batch halved": {"batch_size": max(2, params.batch_size // 2)},
        "init halved": {"init_scale": params.init_scale / 2},
        "noise halved": {"noise_std": params.noise_std / 2},
    }
    return {name: params.model_copy(update={**common, **changed}) for name, changed in grid.items()}
