"""Settings of other papers' statements on the two-layer model of Section 5: those of Figures 4 and 5."""

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.settings import ours
from reprise.papers.jing2022.two_layer_settings import TwoLayers


class Params(TwoLayers):
    """Linear layers W2 W1 with and without a fixed projector A behind them, and without negatives; and the
    same layers with ReLU between them. All nets of a seed have the same data and start."""

    low_rank: int = ours(8, "rank of the fixed low-rank projector: half of the dimensions", ge=2)
    rotations: int = ours(
        64, "random rotations of the hidden units, over which chi's chance level is averaged", ge=1
    )


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, with fewer seeds."""
    fewer = {"seeds": min(params.seeds, 5)}
    return {name: each.model_copy(update=fewer) for name, each in params.plausible().items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("trajectory",),
    plan=Resources(minutes=3),
    alternatives=alternatives,
)
