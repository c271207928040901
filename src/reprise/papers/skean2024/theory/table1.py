"""Section 3: which dimension-contrastive losses (the paper's Table 1) are invariant to rotations of the
embeddings."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from reprise.evidence.identities import Checked, Random, as_printed, size
from reprise.objectives import barlow_twins, corinfomax, frossl, frossl_as_given, vicreg, w_mse, whiten
from reprise.objectives.embeddings import centred, off_diagonal, squared_chord
from reprise.objectives.information import Moments
from reprise.papers.skean2024.theory.points import embeddings, rotation, sizes

Loss = Callable[[Tensor, Tensor], Tensor]


def barlow_as_given(z1: Tensor, z2: Tensor, *, weight: float = 0.005) -> Tensor:
    """Eq. 3 for the cross-covariance, without feature normalisation."""
    m = centred(z1).mT @ centred(z2) / len(z1)
    return (1 - m.diagonal()).square().sum() + weight * off_diagonal(m)


def w_mse_zca(z1: Tensor, z2: Tensor) -> Tensor:
    """W-MSE with the symmetric root of the inverse covariance instead of a Cholesky factor."""

    def whitened(z: Tensor) -> Tensor:
        z = centred(z)
        values, vectors = torch.linalg.eigh(z.mT @ z / (len(z) - 1))
        return z @ (vectors * values**-0.5) @ vectors.mT

    return squared_chord(whitened(z1), whitened(z2))


def from_the_start(z1: Tensor, z2: Tensor) -> Tensor:
    """CorInfoMax's first step."""
    return corinfomax(z1, z2, Moments.initial(z1.shape[-1]))[0]


LOSSES: dict[str, Loss] = {
    "barlow-twins": barlow_twins,
    "barlow-twins-unnormalised": barlow_as_given,
    "barlow-twins-unnormalised-equal-weights": partial(barlow_as_given, weight=1.0),
    "vicreg": vicreg,
    "w-mse": w_mse,
    "w-mse-zca": w_mse_zca,
    "corinfomax": from_the_start,
    "frossl": frossl,
    "frossl-eq6": frossl_as_given,
}


def rotations(rng: Random, largest: int) -> Checked:
    """The relative change of each loss when the same rotation is applied to both views."""
    z1, z2 = embeddings(rng, 4 * largest, size(rng, 2, largest))
    turn = rotation(rng, z1.shape[-1])
    changes = {}
    for name, loss in LOSSES.items():
        before, after = float(loss(z1, z2)), float(loss(z1 @ turn, z2 @ turn))
        changes[name] = abs(after - before) / abs(before)
    errors = {f"table1/rotation-{name}": as_printed(change) for name, change in changes.items()}
    whitened = whiten(z1)
    covariance = (whitened.mT @ whitened / (len(z1) - 1)).numpy()
    return Checked(
        sizes(z1),
        {
            **errors,
            "table1/w-mse-whitened": as_printed(float(np.abs(covariance - np.eye(len(covariance))).max())),
        },
    )


CHECKS = (rotations,)
