"""The losses of Table 1 under a rotation of both views' embeddings."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from reprise.evidence.identities import Checked, Random, as_printed, size
from reprise.objectives import barlow_twins, corinfomax, frossl, vicreg, w_mse
from reprise.objectives.embeddings import centred, off_diagonal
from reprise.objectives.information import Moments
from reprise.papers.skean2024.theory.points import rotation, views

Loss = Callable[[Tensor, Tensor], Tensor]


def barlow_as_given(z1: Tensor, z2: Tensor, *, weight: float = 0.005) -> Tensor:
    """Eq. 3 for the cross-covariance, without feature normalisation."""
    m = centred(z1).mT @ centred(z2) / len(z1)
    return (1 - m.diagonal()).square().sum() + weight * off_diagonal(m)


def from_the_start(z1: Tensor, z2: Tensor) -> Tensor:
    """CorInfoMax's first step."""
    return corinfomax(z1, z2, Moments.initial(z1.shape[-1]))[0]


LOSSES: dict[str, Loss] = {
    "barlow-twins": barlow_twins,
    "barlow-twins-unnormalised": barlow_as_given,
    "barlow-twins-unnormalised-equal-weights": partial(barlow_as_given, weight=1.0),
    "vicreg": vicreg,
    "w-mse": w_mse,
    "corinfomax": from_the_start,
    "frossl": frossl,
}


def rotations(rng: Random, largest: int) -> Checked:
    """The relative change of each loss when the same rotation is applied to both views."""
    drawn = views(rng, 4 * largest, size(rng, 2, largest))
    z1, z2 = torch.from_numpy(drawn.z1), torch.from_numpy(drawn.z2)
    turn = torch.from_numpy(rotation(rng, z1.shape[-1]))
    changes = {}
    for name, loss in LOSSES.items():
        before, after = float(loss(z1, z2)), float(loss(z1 @ turn, z2 @ turn))
        changes[name] = abs(after - before) / abs(before)
    return Checked(
        drawn.sizes, {f"table1/rotation-{name}": as_printed(change) for name, change in changes.items()}
    )
