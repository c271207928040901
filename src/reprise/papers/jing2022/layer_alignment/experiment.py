"""Settings of Figures 4 and 5."""

from typing import Literal, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.settings import ours, unstated
from reprise.papers.jing2022.two_layer_settings import CODE_SCALE, CODE_SPAN, TwoLayers

CODE_POINTS = 10_000
"""Points of the data set in the authors' toy code, N(0, I)."""


class Params(TwoLayers):
    """Both layers train, from distinct singular values with independent singular vectors, and from balanced
    layers, W1 W1ᵀ = W2ᵀ W2; the control is degenerate: multiples of orthogonal matrices."""

    controls: tuple[Literal["degenerate"], ...] = ours(("degenerate",), "the start that Section 5.3 excludes")
    authors_code: bool = unstated(
        False,
        "dot products over .1 instead of Eq. 2, at each step a fresh batch of 10,000 points and fresh noise, "
        "and singular vectors of uniform random matrices, as in toy_task/case_2.py",
    )
    seeds: int = ours(
        11,
        "independent data, noise and weights; signs of ten could not reach a level corrected for eleven "
        "settings",
        ge=1,
    )
    aligned_below: float = ours(0.05, "off-diagonal mass below which Theorem 3's ODE starts", gt=0)

    @model_validator(mode="after")
    def _embeddings_have_all_dimensions(self) -> Self:
        if self.batch_size < self.dim:
            raise ValueError("batch_size must be at least dim, so that embeddings have dim singular values")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, without the control; among them ten
    times the time, and all of the authors' toy code of 2022-06-06 (github.com/facebookresearch/directclr,
    843a210)."""
    settings = params.plausible()
    settings["ten times the time"] = settings["twice the time"].model_copy(update={"steps": 5 * params.steps})
    settings["authors' case_2.py (843a210, 2022-06-06)"] = settings["twice the time"].model_copy(
        update={
            "authors_code": True, "init_scale": CODE_SCALE, "init_span": CODE_SPAN, "covariance_span": 1.0,
            "noise_std": 0.001, "learning_rate": params.learning_rate / 2, "steps": params.steps * 5 // 2,
        }
    )  # fmt: skip
    own = {"controls": (), "seeds": min(params.seeds, 11)}
    return {name: each.model_copy(update=own) for name, each in settings.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("alignment", "trajectory", "singular_values", "theorem3"),
    plan=Resources(minutes=4),
    alternatives=alternatives,
)
