"""Settings of the two-layer experiment on token sequences (Section 5 and Appendix E.2)."""

from dataclasses import dataclass
from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, from_code, stated


class TokenSequences(Seeded, TakesLosses):
    """Settings of the data, the network and training."""

    tokens: int = stated(20, "Section 5: d; one caption has 8", ge=2)
    fields: int = stated(10, "Section 5: K", ge=1)
    generators: int = stated(40, "Section 5: G", ge=1)
    filled: int = stated(5, "Section 5: fields that a generator fills", ge=1)
    over_parameterisation: tuple[int, ...] = stated((1, 2, 5, 10), "Table 1: beta", min_length=1)
    candidates: tuple[int, ...] = stated((1, 3, 5, 10), "Table 1: P", min_length=1)
    output_dim: int = from_code(50, "the text is silent", ge=1)
    temperature: float = from_code(0.1, "of both published losses; the text is silent", gt=0)
    pooled_statistics: bool = from_code(
        False, "each view has its own BatchNorm statistics; the theory's Eq. 164 pools both views"
    )
    learning_rate: float = from_code(0.02, "the text has 2e-3, which does not give Table 1", gt=0)
    momentum: float = stated(0.9, "Section 5", ge=0, lt=1)
    weight_decay: float = stated(5e-3, "Section 5", ge=0)
    batch_size: int = stated(128, "Section 5", ge=2)
    steps: int = stated(5000, "Section 5: minibatches", ge=1)

    @model_validator(mode="after")
    def _candidates_are_tokens(self) -> Self:
        if max(self.candidates) > self.tokens:
            raise ValueError("tokens must be at least the largest of candidates")
        return self


@dataclass(frozen=True)
class Arm:
    """One of the variants that are compared on the same pools, minibatches and initial weights.

    Attributes:
        objective: a loss that `objectives.resolve` finds.
        mean, variance: whether the gradient flows through BatchNorm's mean, and through its variance.
        zeta: length of the second half of the tokens; the first half have length 1/zeta.
    """

    activation: str = "relu"
    objective: str = "infonce_cosine"
    mean: bool = True
    variance: bool = False
    zeta: float = 1.0


@dataclass(frozen=True)
class Cell:
    """Sizes and layers of a network.

    Attributes:
        beta: over-parameterisation; each field has `beta * candidates` filters.
        candidates: P, the number of candidate tokens per field.
        batch_norm: whether there is a BatchNorm.
    """

    beta: int
    candidates: int
    batch_norm: bool = True

    @property
    def units(self) -> int:
        """Filters per field, M = beta P."""
        return self.beta * self.candidates

    def __str__(self) -> str:
        return f"beta {self.beta}, P {self.candidates}" + (", BatchNorm" if self.batch_norm else "")


def resources(params: TokenSequences, cell: Cell, replicas: int) -> Resources:
    """Resources for training replicas of a cell; the time was measured at several sizes."""
    numbers = params.fields * params.batch_size * (40 + cell.units)
    return Resources(minutes=2.5e-9 * numbers * replicas * params.steps / 60)
