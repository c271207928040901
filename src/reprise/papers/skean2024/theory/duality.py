"""Section 3.2, Appendices E.1 and E.2: FroSSL as a dimension-contrastive and as a sample-contrastive loss."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, size
from reprise.papers.skean2024.theory.norms import off_by
from reprise.papers.skean2024.theory.points import (
    Embeddings,
    Views,
    energy,
    eq_5,
    eq_6,
    off_dimensions,
    off_samples,
    sizes,
    two_views,
    unit_columns,
    unit_rows,
    views,
)

STARTS = 3
"""Descents, of which the one that ends lowest finds FroSSL's minimum: with 3 samples of 2 dimensions, or 4 of
3, about a tenth of them end in a local minimum that is higher, in which the views differ."""


@dataclass(frozen=True)
class Descents:
    """Embeddings, and where descents to the minimum start."""

    views: Views
    starts: tuple[Views, ...]

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.views.sizes


def descents(rng: Random, largest: int) -> Descents:
    first = two_views(rng, largest)
    return Descents(first, tuple(views(rng, *first.z1.shape) for _ in range(STARTS)))


def welch(vectors: int, room: int) -> float:
    """Smallest sum of squared inner products of `vectors` distinct unit vectors in `room` dimensions."""
    return max(0.0, vectors**2 / room - vectors)


def by_criterion(
    criterion: Callable[[Embeddings], float], constant: float, u1: Embeddings, u2: Embeddings
) -> float:
    """FroSSL as the logarithms of a criterion plus a constant, and the mean-squared error."""
    return float(np.log(criterion(u1) + constant) + np.log(criterion(u2) + constant)) + eq_5(u1, u2)


@formula(
    "prop31/minimum",
    "For unit-length dimensions, FroSSL is log(L_nc(Z1) + D) + log(L_nc(Z2) + D) + MSE, and embeddings that "
    "minimise it minimise L_nc of both views, at 0 or, if larger, D² / (N - 1) - D.",
    at="Proposition 3.1, Section 3.2, and Appendix E.1",
    quotes=Quotation(
        "If every embedding dimension is normalized to have equal variance, then FroSSL is a "
        "dimension-contrastive method",
        at="Proposition 3.1, Section 3.2",
    ),
    word="every",
    tried_at=descents,
)
def proposition_31(point: Descents) -> Errors:
    """Dimensions are centred, and lie in N - 1 dimensions. The decoy leaves the constant D out."""
    from reprise.papers.skean2024.theory import minima

    u1, u2 = unit_columns(point.views.z1), unit_columns(point.views.z2)
    samples, dims = u1.shape
    loss = eq_6(u1, u2)
    least = welch(dims, samples - 1)
    gaps = [abs(off_dimensions(z) - least) / dims for z in minima.of_frossl(point.starts)]
    return Errors(
        printed=max(off_by(by_criterion(off_dimensions, dims, u1, u2), loss), *gaps),
        decoy=off_by(by_criterion(off_dimensions, 0, u1, u2), loss),
    )


@formula(
    "prop32/minimum",
    "For unit-length embeddings, FroSSL is log(L_c(Z1) + N) + log(L_c(Z2) + N) + MSE, and embeddings that "
    "minimise it minimise L_c of both views, at 0 or, if larger, N² / D - N.",
    at="Proposition 3.2, Section 3.2, and Appendix E.2",
    quotes=Quotation(
        "If every embedding is normalized to have equal norm, then FroSSL is a sample-contrastive method",
        at="Proposition 3.2, Section 3.2",
    ),
    word="every",
    tried_at=two_views,
)
def proposition_32(point: Views) -> Errors:
    """The decoy leaves the constant N out."""
    from reprise.papers.skean2024.theory import minima

    u1, u2 = unit_rows(point.z1), unit_rows(point.z2)
    samples, dims = u1.shape
    loss, least = eq_6(u1, u2), welch(samples, dims)
    gaps = [abs(off_samples(z) - least) / samples for z in minima.of_unit_embeddings(point)]
    return Errors(
        printed=max(off_by(by_criterion(off_samples, samples, u1, u2), loss), *gaps),
        decoy=off_by(by_criterion(off_samples, 0, u1, u2), loss),
    )


@dataclass(frozen=True)
class Candidates:
    """Matrices among which the one with the least |ZᵀZ|²_F is looked for.

    Attributes:
        stochastic: doubly stochastic, among them a permutation and the one whose entries are all equal.
        equal_norms: with rows of norm 1 and columns of equal norms.
    """

    stochastic: tuple[Embeddings, ...]
    equal_norms: tuple[Embeddings, ...]

    @property
    def sizes(self) -> dict[str, int]:
        return sizes(self.equal_norms[0])


def candidates(rng: Random, largest: int) -> Candidates:
    samples, dims = size(rng, 3, 2 * largest), size(rng, 2, largest)
    mixed = (scaled(rng.uniform(0.05, 1, (samples, samples)), 1, 1) for _ in range(3))
    stochastic = np.full((samples, samples), 1 / samples), np.eye(samples)[rng.permutation(samples)], *mixed
    squares = (scaled(rng.uniform(0.05, 1, (samples, dims)), 1, samples / dims) for _ in range(4))
    equal_norms = (rng.choice([-1, 1], (samples, dims)) * square**0.5 for square in squares)
    return Candidates(stochastic, tuple(equal_norms))


def scaled(values: Array, rows: float, columns: float) -> Array:
    """Sinkhorn's iteration to equal row sums and equal column sums."""
    for _ in range(300):
        values = values * (columns / values.sum(0))
        values = values * (rows / values.sum(1))[:, None]
    return values


def missed(matrices: Sequence[Embeddings]) -> float:
    """Excess of L_nc and L_c, at the matrix with the smallest |ZᵀZ|²_F, over their own minima."""
    best = min(matrices, key=energy)
    excess = 0.0
    for criterion in (off_dimensions, off_samples):
        values = [criterion(z) for z in matrices]
        excess = max(excess, (criterion(best) - min(values)) / max(values))
    return excess


@formula(
    "prop33-doubly-stochastic",
    "Among {}, the one with the least |ZᵀZ|²_F has the least L_nc and L_c.",
    at="Proposition 3.3, Section 3.2",
    quotes=Quotation(
        "If the embedding matrices are doubly stochastic, then FroSSL is simultaneously "
        "dimension-contrastive and sample-contrastive",
        at="Proposition 3.3, Section 3.2",
    ),
    word="simultaneously",
    is_bound=True,
    wrong=Misprint(
        "typo",
        printed=Text("doubly stochastic matrices"),
        corrected=Text("matrices with equal row norms and equal column norms"),
        note="up to scale, their squared entries are doubly stochastic; of doubly stochastic matrices "
        "|ZᵀZ|²_F is smallest where all embeddings are one",
    ),
    tried_at=candidates,
)
def doubly_stochastic(point: Candidates) -> Errors:
    """|ZᵀZ|²_F of a doubly stochastic matrix is smallest where all entries are equal, since each has the
    singular value 1; L_nc and L_c are larger there than for a permutation."""
    return Errors(printed=missed(point.stochastic), corrected=missed(point.equal_norms))


@formula(
    "prop33/equal-norms",
    "FroSSL is both dimension-contrastive and sample-contrastive where embeddings have norm 1 and dimensions "
    "equal norms: its |ZᵀZ|²_F is the criterion L_nc plus N² / D, and the criterion L_c plus N.",
    at="Proposition 3.3, Section 3.2",
    quotes=(
        Quotation(
            "which is both sample- and dimension-contrastive up to embedding normalization", at="Abstract"
        ),
        Quotation(
            "it is both dimension-contrastive and sample-contrastive up to a normalization of the embeddings",
            at="Section 1",
        ),
    ),
    word="both",
    tried_at=candidates,
)
def equal_norms(point: Candidates) -> Errors:
    """The decoy leaves the constants out."""
    z = point.equal_norms[0]
    samples, dims = z.shape
    constants = np.array([samples**2 / dims, samples])
    expected = np.array([off_dimensions(z), off_samples(z)])
    return Errors(printed=off_by(energy(z) - constants, expected), decoy=off_by(energy(z), expected))


FORMULAS: tuple[Formula, ...] = (
    proposition_31,
    proposition_32,
    doubly_stochastic,
    equal_norms,
)
