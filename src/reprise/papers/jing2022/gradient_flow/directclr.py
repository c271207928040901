"""Sections 6.2 and 6.3: DirectCLR's loss, and the projectors equivalent to it.

Functions that need torch import it where they calculate, so that lists of claims do not wait for it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, relative_error, size


@dataclass(frozen=True)
class Representations:
    """Two views' representations r, of which DirectCLR's z are the first `outputs` dimensions, and the
    singular vectors of a random square matrix."""

    r: Array
    r_aug: Array
    outputs: int
    temperature: float
    u: Array
    v: Array

    @property
    def sizes(self) -> dict[str, int]:
        samples, inputs = self.r.shape
        return {"samples": samples, "inputs": inputs, "outputs": self.outputs}

    @property
    def values(self) -> Array:
        """1 for each dimension of z, 0 for the rest."""
        return (np.arange(len(self.u)) < self.outputs).astype(float)

    def gradients(self, projector: Array | None = None, *, kept: int | None = None) -> Array:
        """The gradients of SimCLR's loss behind a fixed projector, of which it sees the first dimensions."""
        from reprise.papers.jing2022.gradient_flow.motion import simclr_gradients

        return simclr_gradients(self.r, self.r_aug, self.temperature, projector=projector, kept=kept)

    @cached_property
    def by_directclr(self) -> Array:
        return self.gradients(kept=self.outputs)


def representations(rng: Random, largest: int) -> Representations:
    outputs = size(rng, 2, largest)
    inputs = outputs + size(rng, 1, largest)
    r = rng.normal(size=(size(rng, 3, 3 * largest), inputs))
    r_aug = r + 0.5 * rng.normal(size=r.shape)
    u, v = (orthonormal(rng, inputs, inputs) for _ in range(2))
    return Representations(r, r_aug, outputs, rng.uniform(0.05, 0.5), u, v)


@formula(
    "sec62/rest-has-no-gradient",
    "DirectCLR's loss has no gradient on the rest of the representation.",
    at="Section 6.2, before Figure 10",
    quotes=Quotation(
        "does not experience a gradient directly from the loss function",
        at="Section 6.2, before Figure 10",
    ),
    word="does not experience",
    tried_at=representations,
)
def no_gradient_on_the_rest(point: Representations) -> Errors:
    """The decoy is the gradient on the sub-vector z."""
    largest = np.abs(point.by_directclr).max((0, 1))
    return Errors(printed=float(largest[point.outputs :].max()), decoy=float(largest[: point.outputs].max()))


@formula(
    "sec63/diagonal-projector",
    "DirectCLR is SimCLR with a fixed diagonal projector.",
    at="Section 6.3, fixed low-rank projector",
    quotes=Quotation(
        "DirectCLR is equivalent to SimCLR with a fixed linear projector with a diagonal matrix",
        at="Section 6.3, fixed low-rank projector",
    ),
    word="is equivalent to",
    tried_at=representations,
)
def diagonal_projector(point: Representations) -> Errors:
    """The decoy is SimCLR without a projector."""
    return Errors(
        printed=relative_error(point.gradients(np.diag(point.values)), point.by_directclr),
        decoy=relative_error(point.gradients(), point.by_directclr),
    )


@formula(
    "sec63/low-rank-projector",
    "A fixed projector with d0 singular values of 1, the rest 0, is DirectCLR behind a fixed rotation.",
    at="Section 6.3, fixed low-rank projector",
    quotes=Quotation(
        "their only difference is that this fixed projector has an extra fixed orthogonal matrix",
        at="Section 6.3, fixed low-rank projector",
    ),
    word="their only difference",
    tried_at=representations,
)
def low_rank_projector(point: Representations) -> Errors:
    """The decoy is DirectCLR without the rotation."""
    projected = point.gradients(point.u * point.values @ point.v.T)
    return Errors(
        printed=relative_error(projected, point.gradients(point.v.T, kept=point.outputs)),
        decoy=relative_error(projected, point.by_directclr),
    )


FORMULAS: tuple[Formula, ...] = (
    no_gradient_on_the_rest,
    diagonal_projector,
    low_rank_projector,
)
