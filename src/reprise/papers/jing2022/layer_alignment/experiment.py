"""Settings of Figures 4 and 5."""

from typing import Literal, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.settings import ours
from reprise.papers.jing2022.two_layer_settings import TwoLayers


class Params(TwoLayers):
    """Both layers train, from distinct singular values with independent singular vectors, and from balanced
    layers, W1 W1ᵀ = W2ᵀ W2; the control is degenerate: multiples of orthogonal matrices."""

    controls: tuple[Literal["degenerate"], ...] = ours(("degenerate",), "the start that Section 5.3 excludes")
    aligned_below: float = ours(0.05, "off-diagonal mass below which Theorem 3's ODE starts", gt=0)

    @model_validator(mode="after")
    def _embeddings_have_all_dimensions(self) -> Self:
        if self.batch_size < self.dim:
            raise ValueError("batch_size must be at least dim, so that embeddings have dim singular values")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, without the control."""
    return {name: each.model_copy(update={"controls": ()}) for name, each in params.plausible().items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("alignment", "trajectory", "singular_values", "theorem3"),
    plan=Resources(minutes=2),
    alternatives=alternatives,
)
