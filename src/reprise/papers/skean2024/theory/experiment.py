"""Settings of the checks: random points of the formulas, embeddings for the gradients, and timing.

No other loss can be shown: the formulas are about the losses of Section 3, and nothing is trained.
"""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours, stated

CORRELATIONS, DECAYS = (0.0, 0.5, 0.9, 0.99), (0.0, 0.5, 1.0, 2.0)
"""The embeddings that claims about gradients read: the two views' correlation, and the decay exponent of
their principal components' standard deviations."""
CORRELATION, DECAY = 0.5, 1.0
"""Correlation at which the figure varies the decay, and decay at which it varies the correlation."""


class Params(Seeded):
    """Formulas hold at every point and size, or not at all. Gradients and cost depend on the batch size and
    the embedding's dimension, which are the published ones."""

    points: int = ours(200, "random points and sizes at which each formula is checked", ge=1)
    largest: int = ours(5, "largest number of dimensions; samples go beyond", ge=4)
    batch: int = stated(256, "Section 6.1: N of all methods", ge=4)
    dim: int = stated(1024, "Appendix B.1: FroSSL's d", ge=4)
    correlations: tuple[float, ...] = ours(CORRELATIONS, "of the two views' embeddings")
    decays: tuple[float, ...] = ours(DECAYS, "the k-th principal component has k^-decay")
    seeds: int = ours(5, "independent embeddings", ge=1)
    timed_dims: tuple[int, ...] = ours((256, 512, 1024, 2048), "d of the timed terms", min_length=3)
    repeats: int = ours(5, "times each term is timed", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_numbers(self) -> Self:
        for name, numbers in (("correlations", CORRELATIONS), ("decays", DECAYS)):
            if not set(numbers) <= set(getattr(self, name)):
                raise ValueError(f"{name} must hold {list(numbers)}, which claims use")
        if not all(0 <= correlation < 1 for correlation in self.correlations):
            raise ValueError("correlations lie in [0, 1)")
        if list(self.timed_dims) != sorted(set(self.timed_dims)):
            raise ValueError("timed_dims must increase")
        return self


EXPERIMENT = Experiment(params=Params, tables=("identities", "gradients", "operations", "cost_seconds"))
