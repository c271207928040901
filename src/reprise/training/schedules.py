"""Learning-rate schedules: `schedule(step, steps)` is the factor on the optimiser's rate at a step from 0 to
steps - 1."""

import math
from typing import Annotated, Literal

from pydantic import Field

from reprise.contract.settings import Settings


class Constant(Settings):
    """A constant factor of 1."""

    kind: Literal["constant"] = "constant"

    def __call__(self, step: int, steps: int) -> float:
        return 1.0


class WarmupCosine(Settings):
    """Linear from 0 to 1 during warm-up, then half a cosine from 1 to `final`.

    Attributes:
        warmup: fraction of the steps.
        final: the factor at step `steps`, one past the last.
    """

    kind: Literal["warmup_cosine"] = "warmup_cosine"
    warmup: float = Field(default=0.0, ge=0, le=1)
    final: float = Field(default=0.0, ge=0, le=1)

    def __call__(self, step: int, steps: int) -> float:
        warmup = round(self.warmup * steps)
        if step < warmup:
            return step / warmup
        share = (step - warmup) / max(steps - warmup, 1)
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * share)) / 2


class Milestones(Settings):
    """Multiplies the rate by `factor` at each fraction of the training in `at`: .6 is epoch 60 of 100."""

    kind: Literal["milestones"] = "milestones"
    at: tuple[Annotated[float, Field(ge=0, le=1)], ...] = (0.6, 0.8)
    factor: float = Field(default=0.1, gt=0)

    def __call__(self, step: int, steps: int) -> float:
        return self.factor ** sum(step >= fraction * steps for fraction in self.at)


class CosineRestarts(Settings):
    """Half a cosine from 1 to 0, repeated (Loshchilov and Hutter 2017).

    Attributes:
        period: fraction of the steps.
    """

    kind: Literal["cosine_restarts"] = "cosine_restarts"
    period: float = Field(gt=0, le=1)

    def __call__(self, step: int, steps: int) -> float:
        period = max(round(self.period * steps), 1)
        return (1 + math.cos(math.pi * (step % period) / period)) / 2


Schedule = Annotated[Constant | WarmupCosine | Milestones | CosineRestarts, Field(discriminator="kind")]
