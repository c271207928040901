"""Sections 6.2 and 6.3: DirectCLR's loss, and the projectors equivalent to it."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from reprise.evidence.identities import Array, Checked, Random, as_printed, orthonormal, relative_error, size
from reprise.papers.jing2022.gradient_flow.motion import gradients


def cross_entropy_of_views(z: Tensor, z_aug: Tensor, temperature: float) -> Tensor:
    """InfoNCE as in SimCLR's training: classify which embedding of the other branch is the positive."""
    similarities = normalize(z) @ normalize(z_aug).T / temperature
    return cross_entropy(similarities, torch.arange(len(z)), reduction="sum")


def section62_loss(rng: Random, largest: int) -> Checked:
    """L as printed, and corrected with minus sign, temperature and the other branch's negatives."""
    sizes, r, r_aug = _representations(rng, largest)
    z, z_aug = (views[:, : sizes["outputs"]] for views in (r, r_aug))
    z, z_aug = (views / np.linalg.norm(views, axis=1, keepdims=True) for views in (z, z_aug))
    printed = np.log(np.exp(np.sum(z * z_aug, 1)) / np.exp(z @ z.T).sum(1)).sum()
    temperature = rng.uniform(0.05, 0.5)
    similar = np.exp(z @ z_aug.T / temperature)
    corrected = -np.log(np.diag(similar) / similar.sum(1)).sum()
    expected = cross_entropy_of_views(torch.from_numpy(z), torch.from_numpy(z_aug), temperature).numpy()
    return Checked(
        sizes,
        {
            "sec62-loss": {
                "printed": relative_error(printed, expected),
                "corrected": relative_error(corrected, expected),
            }
        },
    )


def section63_projectors(rng: Random, largest: int) -> Checked:
    """DirectCLR is a fixed diagonal projector; a fixed low-rank one is DirectCLR behind a fixed rotation."""
    sizes, r, r_aug = _representations(rng, largest)
    dim, outputs = sizes["inputs"], sizes["outputs"]
    mask = torch.from_numpy((np.arange(dim) < outputs).astype(float))
    temperature = rng.uniform(0.05, 0.5)
    u, v = (torch.from_numpy(orthonormal(rng, dim, dim)) for _ in range(2))

    def directclr(r: Tensor, r_aug: Tensor) -> Tensor:
        return cross_entropy_of_views(r[:, :outputs], r_aug[:, :outputs], temperature)

    def diagonal(r: Tensor, r_aug: Tensor) -> Tensor:
        return cross_entropy_of_views(r @ torch.diag(mask), r_aug @ torch.diag(mask), temperature)

    def low_rank(r: Tensor, r_aug: Tensor) -> Tensor:
        projector = u * mask @ v.T
        return cross_entropy_of_views(r @ projector.T, r_aug @ projector.T, temperature)

    def rotated(r: Tensor, r_aug: Tensor) -> Tensor:
        return directclr(r @ v, r_aug @ v)

    by_directclr, by_diagonal, by_low_rank, by_rotated = (
        np.stack(gradients(loss, r, r_aug)) for loss in (directclr, diagonal, low_rank, rotated)
    )
    return Checked(
        sizes,
        {
            "sec63/diagonal-projector": as_printed(relative_error(by_diagonal, by_directclr)),
            "sec63/low-rank-projector": as_printed(relative_error(by_low_rank, by_rotated)),
            "sec62/rest-has-no-gradient": as_printed(float(np.abs(by_directclr[..., outputs:]).max())),
        },
    )


def _representations(rng: Random, largest: int) -> tuple[dict[str, int], Array, Array]:
    """Two views' representations r; z is the first `outputs` of the `inputs` dimensions."""
    outputs = size(rng, 2, largest)
    sizes = {
        "samples": size(rng, 3, 3 * largest),
        "inputs": outputs + size(rng, 1, largest),
        "outputs": outputs,
    }
    r = rng.normal(size=(sizes["samples"], sizes["inputs"]))
    return sizes, r, r + 0.5 * rng.normal(size=r.shape)


CHECKS = (section62_loss, section63_projectors)
