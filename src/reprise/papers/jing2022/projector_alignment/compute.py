"""Trains W1 under three constrained projectors W2 at once."""

import pandas as pd
import torch

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.diagnostics.alignment import alignment_matrix, off_diagonal_mass, subspace_mass_outside
from reprise.networks.dense import decaying_spectrum, random_orthogonal
from reprise.numerics.streams import Streams
from reprise.papers.jing2022.projector_alignment.experiment import Params
from reprise.papers.jing2022.starts import layers
from reprise.papers.jing2022.two_layer_settings import CODE_DECAY
from reprise.papers.jing2022.two_layers import Arm, checkpoints_of, train


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Distance of W1's left singular vectors from W2's right ones, one by one and from the subspace that W2
    reads."""
    seeds, dim, rank = range(params.seeds), params.dim, params.low_rank
    start, streams = Streams(seeds, "weights"), Streams(seeds, "projectors")
    (w1,) = layers(start, dim, 1, scale=params.init_scale, span=params.init_span)
    general = decaying_spectrum(streams, dim)
    u, v = random_orthogonal(streams, dim), random_orthogonal(streams, dim)
    values = torch.exp(-CODE_DECAY * torch.arange(dim)).diag().repeat(params.seeds, 1, 1)
    arms = {
        "frozen": Arm(w1, general, torch.zeros(dim, dim)),
        "diagonal": Arm(w1, values, torch.eye(dim)),
        "low-rank": Arm(w1, u[:, :, :rank] @ v[:, :rank], torch.zeros(dim, dim)),
    }
    matrices = [alignment_matrix(w1, w2) for _, w1, w2 in train(params, context, arms)]
    alignment = torch.stack(matrices).view(-1, len(arms), params.seeds, dim, dim)
    return {
        "trajectory": tidy(
            {"step": checkpoints_of(params.steps), "arm": list(arms), "seed": seeds},
            off_diagonal_mass=off_diagonal_mass(alignment),
            mass_outside_subspace=subspace_mass_outside(alignment, rank),
        )
    }
