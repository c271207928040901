"""Eq. 8, and what Section 5 and the appendices derive from it, for orthogonal columns (Eq. 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, below_zero, relative_error, size
from reprise.papers.ren2023.theory.population import Learners, random_limit, signs

if TYPE_CHECKING:
    from reprise.papers.ren2023.infinite_width import Moment

CONTRASTIVE, NONCONTRASTIVE = 0, 1
"""Indices of the settings in the moments of `random_limit`."""


@dataclass(frozen=True)
class Measured:
    """Gram matrix of [K_A, K_A,ξ, K_B, K_B,ξ] and its rate of change, by automatic differentiation of a
    loss."""

    gram: Array
    rate: Array
    signals: int

    def _block(self, matrix: Array, rows: int, columns: int) -> Array:
        side = len(matrix) // 2
        return matrix[rows * side : (rows + 1) * side, columns * side : (columns + 1) * side]

    def diagonal(self, matrix: Array, rows: int, columns: int) -> Array:
        """Diagonal of a block of modalities (0 for A, 1 for B)."""
        return np.diag(self._block(matrix, rows, columns))

    @property
    def k(self) -> Array:
        return self.diagonal(self.gram, 0, 0)[: self.signals]

    @property
    def k_rate(self) -> Array:
        return self.diagonal(self.rate, 0, 0)[: self.signals]

    @property
    def h(self) -> Array:
        return self.diagonal(self.gram, 0, 1)[: self.signals]

    @property
    def h_rate(self) -> Array:
        return self.diagonal(self.rate, 0, 1)[: self.signals]

    @property
    def noise(self) -> Array:
        """v of each column of K_A,ξ."""
        return self.diagonal(self.gram, 0, 0)[self.signals :]

    @property
    def noise_rate(self) -> Array:
        return self.diagonal(self.rate, 0, 0)[self.signals :]


def measured(learners: Learners, setting: int) -> Measured:
    """The Gram matrix and its rate for `CONTRASTIVE` or `NONCONTRASTIVE`."""
    loss = (learners.contrastive, learners.noncontrastive)[setting]
    columns = np.hstack([modality.maps.numpy() for modality in (learners.a, learners.b)])
    velocities = np.hstack([velocity.numpy() for velocity in learners.velocities(loss)])
    half = columns.T @ velocities
    return Measured(columns.T @ columns, half + half.T, learners.signals)


@dataclass(frozen=True)
class Orthogonal:
    """Learners whose columns are orthogonal, and the moment of the limit that they have."""

    learners: Learners
    moment: Moment

    @property
    def sizes(self) -> dict[str, int]:
        return self.learners.sizes


def orthogonal(rng: Random, largest: int) -> Orthogonal:
    return Orthogonal(*random_limit(rng, largest))


def noiseless(rng: Random, largest: int) -> Orthogonal:
    return Orthogonal(*random_limit(rng, largest, noiseless=True))


def uneven(rng: Random, largest: int) -> Orthogonal:
    return Orthogonal(*random_limit(rng, largest, uneven=True))


def aligned(rng: Random, largest: int) -> Orthogonal:
    return Orthogonal(*random_limit(rng, largest, aligned=True))


def aligned_noiseless(rng: Random, largest: int) -> Orthogonal:
    return Orthogonal(*random_limit(rng, largest, noiseless=True, aligned=True))


@formula(
    "lemma-a7",
    "With orthogonal columns of equal norms and no noise, k_p = |[K_A]_p|² and h_p = <[K_A]_p, [K_B]_p> move "
    "by Eq. 8, k_p' = c σ_p² (h_p (1 - T_p) - k_p (ρ - T̄)) with T_p = tanh(τ² h_p / F), and h_p' with k_p "
    "and h_p exchanged; the softmax terms S_A and S_B do not depend on the signal z.",
    at="Lemma A.7, Appendix A.2, and Eq. 8, Section 5.2",
    tried_at=noiseless,
    form="restated",
)
def eq8(point: Orthogonal) -> Errors:
    """The decoy has τ in place of τ²."""
    learners, rates = point.learners, measured(point.learners, CONTRASTIVE)
    positive = learners.pairs > 0
    both = learners.softmax(learners.similarity(learners.a.w, learners.b.w))
    unlikely = 1 - np.concatenate([s[positive].numpy() for s in both])

    def error(tau2: float) -> float:
        velocity = point.moment.velocity(tau2)
        expected = np.full_like(unlikely, point.moment.unlikely(tau2)[CONTRASTIVE])
        return max(
            relative_error(unlikely, expected),
            relative_error(velocity.k[CONTRASTIVE], rates.k_rate),
            relative_error(velocity.h[CONTRASTIVE], rates.h_rate),
        )

    return Errors(printed=error(learners.tau2), decoy=error(learners.tau2**0.5))


@dataclass(frozen=True)
class Stage1:
    """Measured rates without negatives, where T = 0, and what Lemmas B.10 to B.12 need for them."""

    rates: Measured
    sigma2: Array
    noise2: float
    c: float
    rho: float

    @classmethod
    def of(cls, point: Orthogonal) -> Stage1:
        moment, setting = point.moment, NONCONTRASTIVE
        return cls(
            measured(point.learners, setting),
            moment.limit.sigma2[setting],
            float(moment.limit.noise2[setting]),
            2 / float(moment.norm2[setting]),
            float(moment.rho[setting]),
        )

    @property
    def cosine(self) -> Array:
        """h / k."""
        return self.rates.h / self.rates.k

    @property
    def growing(self) -> Array:
        """k_p' / k_p."""
        return self.rates.k_rate / self.rates.k


@formula(
    "lemma-b10/rate",
    "Without negatives h/k, the cosine between a signal's columns of the two modalities, moves by "
    "c σ_p² (1 - (h/k)²): to 1.",
    at="Lemma B.10, Appendix B.2, and Section 5.3",
    tried_at=orthogonal,
    form="restated",
)
def rate_of_alignment(point: Orthogonal) -> Errors:
    """The decoy has no square."""
    stage = Stage1.of(point)
    aligning = stage.rates.h_rate / stage.rates.k - stage.cosine * stage.growing
    return Errors(
        printed=relative_error(stage.c * stage.sigma2 * (1 - stage.cosine**2), aligning),
        decoy=relative_error(stage.c * stage.sigma2 * (1 - stage.cosine), aligning),
    )


@formula(
    "lemma-b11/rate",
    "Without negatives log(v / k_p), the noise beside a signal, moves by -c (σ_ξ² ρ + σ_p² (h_p / k_p - ρ)).",
    at="Lemma B.11, Appendix B.2",
    tried_at=orthogonal,
    form="restated",
)
def rate_of_noise(point: Orthogonal) -> Errors:
    """The decoy takes the noise to be constant."""
    stage = Stage1.of(point)
    cleaning = stage.rates.noise_rate[-1] / stage.rates.noise[-1] - stage.growing
    signal = stage.sigma2 * (stage.cosine - stage.rho)
    return Errors(
        printed=relative_error(-stage.c * (stage.noise2 * stage.rho + signal), cleaning),
        decoy=relative_error(-stage.c * signal, cleaning),
    )


@formula(
    "lemma-b12/rate",
    "Without negatives log(k_p / k_q), two signals beside each other, moves by "
    "c (σ_p² (h_p / k_p - ρ) - σ_q² (h_q / k_q - ρ)).",
    at="Lemma B.12, Appendix B.2, and Section 5.3",
    tried_at=orthogonal,
    form="restated",
)
def rate_of_condition(point: Orthogonal) -> Errors:
    """The decoy leaves out ρ."""
    stage = Stage1.of(point)
    growing = np.subtract.outer(stage.growing, stage.growing)

    def error(rho: float) -> float:
        force = stage.c * stage.sigma2 * (stage.cosine - rho)
        return relative_error(np.subtract.outer(force, force), growing)

    return Errors(printed=error(stage.rho), decoy=error(0.0))


@formula(
    "lemma-b14/kept",
    "In the limit of infinite width the condition number of the noise part K_A,ξ stays what it is.",
    at="Lemma B.14, Appendix B.3",
    tried_at=uneven,
    form="restated",
)
def condition_of_noise(point: Orthogonal) -> Errors:
    """Noise columns of any lengths shrink at one rate; in the decoy, by one amount."""
    found = [measured(point.learners, setting) for setting in (CONTRASTIVE, NONCONTRASTIVE)]

    def spread(rates: Array) -> float:
        return relative_error(rates, np.full_like(rates, rates.mean()))

    return Errors(
        printed=max(spread(each.noise_rate / each.noise) for each in found),
        decoy=max(spread(each.noise_rate) for each in found),
    )


@dataclass(frozen=True)
class Negatives:
    """A positive's signal z_p+ √d and the exponents τ² h_p / F."""

    scaled: Array
    anchor: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"signals": len(self.scaled)}


def random_negatives(rng: Random, largest: int) -> Negatives:
    signals = size(rng, 2, largest)
    return Negatives(rng.uniform(0.1, 2, signals), rng.choice([-1.0, 1.0], signals))


@formula(
    "lemma-c2",
    "Over the negatives' signals, E exp(τ² f_A+ · f_B-) = Π cosh(τ² h_p / F); with a factor z_p+ z_p- d it "
    "is T_p = tanh(τ² h_p / F) times that, and with two, T_p T_q times that, or 1 times where p = q.",
    at="Lemma C.2, Appendix C.1",
    tried_at=random_negatives,
    form="restated",
)
def expectations(point: Negatives) -> Errors:
    """The decoy has T_p² where p = q."""
    agree = signs(len(point.scaled)).numpy() * point.anchor
    odds = np.exp(agree @ point.scaled)
    product, tanh = np.cosh(point.scaled).prod(), np.tanh(point.scaled)
    second = np.einsum("n,np,nq->pq", odds, agree, agree) / len(odds)
    squares = product * np.outer(tanh, tanh)
    expected = squares.copy()
    np.fill_diagonal(expected, product)
    errors = (
        relative_error(product, odds.mean()),
        relative_error(product * tanh, odds @ agree / len(odds)),
        relative_error(expected, second),
    )
    return Errors(max(errors), decoy=relative_error(squares, second))


def strength(moment: Moment, tau2: float) -> float:
    """c = 4 (1 - S) / F."""
    return float(4 * moment.unlikely(tau2)[CONTRASTIVE] / moment.norm2[CONTRASTIVE])


@formula(
    "lemma-c18/never-grows",
    "With negatives, of aligned learners with noise, the ratio v / k_p of noise to the smallest k_p does not "
    "grow.",
    at="Lemma C.18, Appendix C.4",
    tried_at=aligned,
    is_bound=True,
    form="restated",
)
def noise_in_stage2(point: Orthogonal) -> Errors:
    """In the decoy the ratio falls at the rate of Stage 1, in which T = 0 (Lemma B.11)."""
    rates, moment, tau2 = measured(point.learners, CONTRASTIVE), point.moment, point.learners.tau2
    smallest = int(rates.k.argmin())
    noise = rates.noise_rate[-1] / rates.noise[-1]
    signal = rates.k_rate[smallest] / rates.k[smallest]
    c, rho = strength(moment, tau2), moment.rho[CONTRASTIVE]
    noise2, sigma2 = moment.limit.noise2[CONTRASTIVE], moment.limit.sigma2[CONTRASTIVE, smallest]
    stage1 = c * (noise2 * rho + sigma2 * (1 - rho))

    def violation(rate: float) -> float:
        return below_zero(np.array([signal - noise - rate, abs(signal), abs(noise)]))

    return Errors(printed=violation(0.0), decoy=violation(stage1))


@formula(
    "lemma-c19/bound",
    "With negatives, of aligned, noiseless learners, (k_p / k_q)' <= -c σ_min² (T_p - T_q) k_p / k_q for the "
    "largest k_p and the smallest k_q.",
    at="Lemma C.19, Appendix C.5, and Section 5.4",
    tried_at=aligned_noiseless,
    is_bound=True,
    form="restated",
)
def rate_of_balance(point: Orthogonal) -> Errors:
    """The decoy has σ_max² in place of σ_min²."""
    rates, moment, tau2 = measured(point.learners, CONTRASTIVE), point.moment, point.learners.tau2
    k, sigma2, norm2 = rates.k, moment.limit.sigma2[CONTRASTIVE], moment.norm2[CONTRASTIVE]
    c, tanh = strength(moment, tau2), np.tanh(tau2 * k / norm2)
    top, bottom = k.argmax(), k.argmin()
    ratio = k[top] / k[bottom]
    rate = ratio * (rates.k_rate[top] / k[top] - rates.k_rate[bottom] / k[bottom])

    def violation(sigma2: float) -> float:
        return below_zero(np.array([-c * sigma2 * (tanh[top] - tanh[bottom]) * ratio - rate, abs(rate)]))

    return Errors(printed=violation(sigma2.min()), decoy=violation(sigma2.max()))


FORMULAS: tuple[Formula, ...] = (
    eq8,
    rate_of_alignment,
    rate_of_noise,
    rate_of_condition,
    condition_of_noise,
    expectations,
    noise_in_stage2,
    rate_of_balance,
)
