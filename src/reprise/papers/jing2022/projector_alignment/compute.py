"""Trains W1 under three constrained projectors W2, and under a free one, at once."""

import pandas as pd
import torch

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.diagnostics.alignment import alignment_matrix, off_diagonal_mass, subspace_mass_outside
from reprise.networks.dense import random_orthogonal
from reprise.numerics.streams import Streams
from reprise.papers.jing2022.projector_alignment.experiment import Params
from reprise.papers.jing2022.starts import layers
from reprise.papers.jing2022.two_layers import Arm, checkpoints_of, free, train


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Distance of W1's left singular vectors from W2's right ones, one by one and from the subspace that W2
    reads."""
    seeds, dim, rank = params.seed_range(params.seeds), params.dim, params.low_rank
    start, streams = Streams(seeds, "weights"), Streams(seeds, "projectors")
    w1, w2 = layers(start, dim, 2, scale=params.init_scale, span=params.init_span)
    u, v = random_orthogonal(streams, dim), random_orthogonal(streams, dim)
    arms = {
        "frozen": Arm(w1, w2, torch.zeros(dim, dim)),
        "diagonal": Arm(w1, torch.linalg.svdvals(w2).diag_embed(), torch.eye(dim)),
        "low-rank": Arm(w1, u[:, :, :rank] @ v[:, :rank], torch.zeros(dim, dim)),
        "free": free([w1, w2]),
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
