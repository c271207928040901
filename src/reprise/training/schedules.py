"""Learning rates as pure functions of the step: `schedule(step, steps)` is the factor on the optimiser's rate
at a step, 0 to steps - 1."""

import math
from typing import Annotated, Literal

from pydantic import Field

from reprise.study.settings import Settings


class Constant(Settings):
    """1 throughout."""

    kind: Literal["constant"] = "constant"

    def __call__(self, step: int, steps: int) -> float:
        return 1.0


class WarmupCosine(Settings):
    """Linear from 0 to 1 over the warm-up, then half a cosine from 1 towards `final` at the end.

    Attributes:
        warmup: share of the steps.
        final: the factor that the step after the last would have.
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
    """Multiplied by `factor` at each of the shares `at` of the training: .6 and .8 are epochs 60 and 80 of
    100."""

    kind: Literal["milestones"] = "milestones"
    at: tuple[Annotated[float, Field(ge=0, le=1)], ...] = (0.6, 0.8)
    factor: float = Field(default=0.1, gt=0)

    def __call__(self, step: int, steps: int) -> float:
        return self.factor ** sum(step >= at * steps for at in self.at)


class CosineRestarts(Settings):
    """Half a cosine from 1 to 0, again and again (Loshchilov and Hutter 2017).

    Attributes:
        period: share of the steps.
    """

    kind: Literal["cosine_restarts"] = "cosine_restarts"
    period: float = Field(gt=0, le=1)

    def __call__(self, step: int, steps: int) -> float:
        period = max(round(self.period * steps), 1)
        return (1 + math.cos(math.pi * (step % period) / period)) / 2


Schedule = Annotated[Constant | WarmupCosine | Milestones | CosineRestarts, Field(discriminator="kind")]
