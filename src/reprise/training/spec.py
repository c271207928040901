"""The spec of a trained image model. Imports no torch, so that planning a run stays fast."""

from typing import Literal

from pydantic import Field

from reprise.contract.settings import Settings
from reprise.datasets.recipes import Normalisation, Recipe
from reprise.networks.encoders import Encoder
from reprise.networks.projectors import Projector
from reprise.training.objective import Objective
from reprise.training.optimisers import OptimiserSpec
from reprise.training.schedules import Schedule, WarmupCosine


class Spec(Settings):
    """Everything that determines a trained model, except the data.

    Attributes:
        batch: size of the whole batch, across all processes.
        steps: 0 gives the network at random initialisation.
        precision: of the encoder and the projector.
        trace_every: steps between traces of the embeddings' spectrum in the log; 0 for none.
        probe_every: steps between tests of the online linear probe; 0 for no probe.
        checkpoint_blocks: whether the backward pass computes residual blocks again, which takes less memory,
            more time, and changes no number: it is no part of a model's key.
    """

    objective: Objective
    augmentation: Recipe
    normalisation: Normalisation = Normalisation()
    encoder: Encoder
    projector: Projector
    optimiser: OptimiserSpec
    schedule: Schedule = WarmupCosine()
    batch: int = Field(default=256, ge=2)
    steps: int = Field(ge=0)
    seed: int = 0
    precision: Literal["float32", "bfloat16"] = "float32"
    trace_every: int = Field(default=0, ge=0)
    probe_every: int = Field(default=0, ge=0)
    checkpoint_blocks: bool = False
