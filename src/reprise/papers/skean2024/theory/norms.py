"""Sections 1 to 3: Frobenius norms of covariance and Gram matrices, and the loss made of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, relative_error
from reprise.papers.skean2024.theory.points import Views, energy, eq_5, eq_6, rotation, two_views


def off_by(actual: Array | float, expected: Array | float) -> float:
    """The relative error of numbers or arrays."""
    return relative_error(np.asarray(actual), np.asarray(expected))


@formula(
    "sec1/invariance-of-vicreg",
    "FroSSL's invariance term (Eq. 5) is VICReg's invariance term.",
    at="Section 1 and Table 1",
    quotes=Quotation("is identical to VICReg's invariance term", at="Section 1"),
    word="is identical to",
    tried_at=two_views,
)
def same_invariance(point: Views) -> Errors:
    """The decoy averages over dimensions too."""
    import torch

    from reprise.objectives import vicreg

    dims = point.z1.shape[1]
    z1, z2 = torch.from_numpy(point.z1), torch.from_numpy(point.z2)
    value = float(vicreg(z1, z2, invariance_weight=dims, variance_weight=0, covariance_weight=0))
    expected = eq_5(point.z1, point.z2)
    return Errors(printed=off_by(value, expected), decoy=off_by(value, expected / dims))


@formula(
    "eq2/duality",
    "The matrices ZᵀZ and ZZᵀ have the same Frobenius norm and the same nonzero eigenvalues.",
    at="Eq. 2, Section 2, and Section 3.2",
    quotes=Quotation(
        "having the same nonzero eigenvalues and having the same Frobenius norm", at="Section 3.2"
    ),
    word="having the same",
    tried_at=two_views,
)
def duality(point: Views) -> Errors:
    """The decoy has the trace for the Frobenius norm."""
    z = point.z1
    rank = min(z.shape)
    of_dimensions, of_samples = (np.linalg.eigvalsh(m)[::-1][:rank] for m in (z.T @ z, z @ z.T))
    return Errors(
        printed=max(off_by(energy(z.T), energy(z)), off_by(of_samples, of_dimensions)),
        decoy=off_by(np.square(z).sum() ** 2, energy(z)),
    )


@formula(
    "sec3-square",
    "The number |Z1ᵀZ1|²_F can be computed as {}.",
    at="Section 3, after Eq. 6",
    wrong=Misprint(
        "typo",
        printed=Text("|Z1Z1ᵀ|_F", r"\Vert Z_1Z_1^{\top}\Vert_F"),
        corrected=Text("|Z1Z1ᵀ|²_F", r"\Vert Z_1Z_1^{\top}\Vert_F^2"),
    ),
    tried_at=two_views,
)
def without_its_square(point: Views) -> Errors:
    by_samples, by_dimensions = energy(point.z1.T), energy(point.z1)
    return Errors(printed=off_by(by_samples**0.5, by_dimensions), corrected=off_by(by_samples, by_dimensions))


@dataclass(frozen=True)
class Moved:
    """Embeddings, a rotation and a factor."""

    views: Views
    turn: Array
    factor: float

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.views.sizes


def moved(rng: Random, largest: int) -> Moved:
    views = two_views(rng, largest)
    return Moved(views, rotation(rng, views.z1.shape[1]), rng.uniform(0.1, 10))


@formula(
    "table1/rotation-frossl-eq6",
    "A rotation of both views' embeddings leaves FroSSL (Eq. 6) on unnormalised embeddings unchanged.",
    at="Section 3",
    quotes=Quotation(
        "One natural matrix operation that is invariant to unitary transformations is the Frobenius norm",
        at="Section 3",
    ),
    word="is invariant to",
    tried_at=moved,
)
def unchanged_by_rotation(point: Moved) -> Errors:
    """The decoy rotates one view."""
    z1, z2, turn = point.views.z1, point.views.z2, point.turn
    before = eq_6(z1, z2)
    return Errors(
        printed=off_by(eq_6(z1 @ turn, z2 @ turn), before), decoy=off_by(eq_6(z1 @ turn, z2), before)
    )


@formula(
    "sec3/collapse-without-normalisation",
    "Without normalisation FroSSL (Eq. 6) decreases without bound as embeddings collapse: scaling both views "
    "by a adds 8 log a and scales its invariance by a².",
    at="Section 3",
    quotes=Quotation(
        "Normalizing the embeddings is crucial because otherwise, minimizing the Frobenius norm will lead to "
        "trivial collapse",
        at="Section 3",
    ),
    word="will lead to",
    tried_at=moved,
)
def scaled(point: Moved) -> Errors:
    """The decoy adds 4 log a."""
    z1, z2, factor = point.views.z1, point.views.z2, point.factor
    after = eq_6(factor * z1, factor * z2)
    fixed = eq_6(z1, z2) + (factor**2 - 1) * eq_5(z1, z2)
    return Errors(
        printed=off_by(after, fixed + 8 * np.log(factor)), decoy=off_by(after, fixed + 4 * np.log(factor))
    )


FORMULAS: tuple[Formula, ...] = (
    same_invariance,
    duality,
    without_its_square,
    unchanged_by_rotation,
    scaled,
)
