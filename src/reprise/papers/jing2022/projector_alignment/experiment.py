"""Settings of Section 6.1's propositions in the toy model; the paper tests them on ImageNet only (Section
6.3)."""

from reprise.contract.experiment import Experiment
from reprise.contract.settings import unstated
from reprise.papers.jing2022.two_layer_settings import TwoLayers


class Params(TwoLayers):
    """W1 trains from small, distinct singular values; W2, the projector, is constrained, or as a control
    trains with it, as in Figure 4; each but the low-rank one starts from the same singular values."""

    low_rank: int = unstated(8, "rank of the fixed low-rank projector: half of the dimensions", ge=1)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated; with half the noise, half the rank too."""
    return {
        name: each.model_copy(update={"low_rank": max(1, params.low_rank // 2)})
        if each.noise_std < params.noise_std
        else each
        for name, each in params.plausible().items()
    }


EXPERIMENT = Experiment(
    params=Params,
    tables=("trajectory",),
    alternatives=alternatives,
)
