"""Eq. 8 and what Section 5 and the appendices derive from it, where columns are orthogonal (Eq. 7)."""

from dataclasses import dataclass

import numpy as np

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, relative_error, size
from reprise.papers.ren2023.infinite_width import Moment
from reprise.papers.ren2023.theory.population import Learners, random_limit, signs

CONTRASTIVE, NONCONTRASTIVE = 0, 1
"""The settings of a moment, as `random_limit` makes it."""


@dataclass(frozen=True)
class Measured:
    """Gram matrices of [K_A, K_A,ξ, K_B, K_B,ξ] and their rates, by automatic differentiation of a loss."""

    gram: Array
    rate: Array
    signals: int

    def _block(self, matrix: Array, rows: int, columns: int) -> Array:
        side = len(matrix) // 2
        return matrix[rows * side : (rows + 1) * side, columns * side : (columns + 1) * side]

    def diagonal(self, of: Array, rows: int, columns: int) -> Array:
        """Of the block of modalities (0 for A, 1 for B)."""
        return np.diag(self._block(of, rows, columns))

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
    def v(self) -> float:
        return float(self.diagonal(self.gram, 0, 0)[-1])

    @property
    def v_rate(self) -> float:
        return float(self.diagonal(self.rate, 0, 0)[-1])


def measured(learners: Learners, which: int) -> Measured:
    loss = (learners.contrastive, learners.noncontrastive)[which]
    columns = np.hstack([of.maps.numpy() for of in (learners.a, learners.b)])
    moving = np.hstack([velocity.numpy() for velocity in learners.velocities(loss)])
    half = columns.T @ moving
    return Measured(columns.T @ columns, half + half.T, learners.signals)


def lemma_a7(rng: Random, largest: int) -> Checked:
    """Eq. 8, noiseless; S is the same for all z; and Eq. 7 stays."""
    learners, moment = random_limit(rng, largest, noiseless=True)
    velocity, found = moment.velocity(learners.tau2), measured(learners, CONTRASTIVE)
    s_a, s_b = learners.softmax(learners.similarity(learners.a.w, learners.b.w))
    positive = learners.pairs > 0
    s = np.concatenate([s_a[positive].numpy(), s_b[positive].numpy()])
    other = measured(learners, NONCONTRASTIVE)
    side = learners.signals
    shared = np.tile(np.eye(side, dtype=bool), (2, 2))
    twins = found.diagonal(found.rate, 0, 0) - found.diagonal(found.rate, 1, 1)
    return Checked(
        learners.sizes,
        {
            "lemma-a7/norms": as_printed(relative_error(velocity.k[CONTRASTIVE], found.k_rate)),
            "lemma-a7/inner-products": as_printed(relative_error(velocity.h[CONTRASTIVE], found.h_rate)),
            "lemma-a7/softmax": as_printed(relative_error(1 - s, moment.unlikely(learners.tau2)[0] + 0 * s)),
            "eq7/orthogonal-stays": as_printed(_share(found.rate[~shared], found.rate[shared])),
            "eq7/twins-stay": as_printed(_share(twins, found.k_rate)),
            "sec53/first-term": as_printed(
                relative_error(
                    np.concatenate([velocity.k[NONCONTRASTIVE], velocity.h[NONCONTRASTIVE]]),
                    np.concatenate([other.k_rate, other.h_rate]),
                )
            ),
        },
    )


def with_noise(rng: Random, largest: int) -> Checked:
    """The same with noise, whose columns only the normalisation moves; every h_p / k_p grows at any τ²."""
    learners, moment = random_limit(rng, largest)
    velocity, errors, aligning = moment.velocity(learners.tau2), [], []
    for which in (CONTRASTIVE, NONCONTRASTIVE):
        found = measured(learners, which)
        ours = [*velocity.k[which], *velocity.h[which], velocity.v[which]]
        theirs = [*found.k_rate, *found.h_rate, found.v_rate]
        errors.append(relative_error(np.array(ours), np.array(theirs)))
        aligning.append(found.h_rate * found.k - found.h * found.k_rate)
    return Checked(
        learners.sizes,
        {
            "sec5/noise": as_printed(max(errors)),
            "sec54/alignment-kept": as_printed(below_zero(np.concatenate(aligning))),
        },
    )


def stage1_rates(rng: Random, largest: int) -> Checked:
    """Lemmas B.10 to B.12 with T = 0, as without negatives: of h / k, of v / k and of k_p / k_q."""
    learners, moment = random_limit(rng, largest)
    found, which = measured(learners, NONCONTRASTIVE), NONCONTRASTIVE
    k, h, v = found.k, found.h, found.v
    sigma2, noise2 = moment.limit.sigma2[which], moment.limit.noise2[which]
    c, rho = 2 / moment.norm2[which], moment.rho[which]
    aligning = (found.h_rate * k - h * found.k_rate) / k**2
    growing = found.k_rate / k
    cleaning = found.v_rate / v - growing
    return Checked(
        learners.sizes,
        {
            "lemma-b10/rate": as_printed(relative_error(c * sigma2 * (1 - (h / k) ** 2), aligning)),
            "lemma-b11/rate": as_printed(
                relative_error(-c * (noise2 * rho + sigma2 * (h / k - rho)), cleaning)
            ),
            "lemma-b12/rate": as_printed(
                relative_error(
                    np.subtract.outer(*(c * sigma2 * (h / k - rho),) * 2),
                    np.subtract.outer(growing, growing),
                )
            ),
        },
    )


def lemma_b14(rng: Random, largest: int) -> Checked:
    """Noise columns, of whatever lengths, shrink at one rate: the condition number of K_A,ξ stays."""
    learners, _ = random_limit(rng, largest, uneven=True)
    errors = []
    for which in (CONTRASTIVE, NONCONTRASTIVE):
        found = measured(learners, which)
        rates = found.diagonal(found.rate, 0, 0) / found.diagonal(found.gram, 0, 0)
        rates = rates[learners.signals :]
        errors.append(relative_error(rates, np.full_like(rates, rates.mean())))
    return Checked(learners.sizes, {"lemma-b14/kept": as_printed(max(errors))})


def stage2_rates(rng: Random, largest: int) -> Checked:
    """Section 5.4 and Lemma C.19: aligned and noiseless, k_p' = c σ_p² k_p (T̄ - T_p)."""
    learners, moment = random_limit(rng, largest, noiseless=True, aligned=True)
    found = measured(learners, CONTRASTIVE)
    k, sigma2 = found.k, moment.limit.sigma2[CONTRASTIVE]
    c, tanh, mean = _forces(moment, learners.tau2)
    top, bottom = k.argmax(), k.argmin()
    ratio = k[top] / k[bottom]
    rate = ratio * (found.k_rate[top] / k[top] - found.k_rate[bottom] / k[bottom])
    bound = -c * sigma2.min() * (tanh[top] - tanh[bottom]) * ratio
    return Checked(
        learners.sizes,
        {
            "sec54/norms": as_printed(relative_error(c * sigma2 * k * (mean - tanh), found.k_rate)),
            "lemma-c19/bound": as_printed(below_zero(np.array([bound - rate, abs(rate)]))),
            "lemma-c19/falls": as_printed(float(rate >= 0)),
        },
    )


def stage2_noise(rng: Random, largest: int) -> Checked:
    """Lemma C.18: aligned, the noise-to-signal ratio of the smallest k_p does not grow."""
    learners, _ = random_limit(rng, largest, aligned=True)
    found = measured(learners, CONTRASTIVE)
    smallest = found.k.argmin()
    rates = np.array([found.k_rate[smallest] / found.k[smallest], found.v_rate / found.v])
    error = max(0.0, rates[1] - rates[0]) / np.abs(rates).max()
    return Checked(learners.sizes, {"lemma-c18/never-grows": as_printed(float(error))})


def lemma_c2(rng: Random, largest: int) -> Checked:
    """E exp(s), d E[z_p+ z_p- exp(s)] and d² E[z_p+ z_p- z_q+ z_q- exp(s)] over z-, s = τ² f_A+ · f_B-."""
    signals = size(rng, 2, largest)
    scaled = rng.uniform(0.1, 2, signals)  # τ² h_p / F
    z = signs(signals).numpy()
    anchor = z[rng.integers(len(z))]
    odds = np.exp((z * anchor) @ scaled)
    agree = z * anchor
    product, tanh = np.cosh(scaled).prod(), np.tanh(scaled)
    second = np.einsum("n,np,nq->pq", odds, agree, agree) / len(z)
    expected = product * np.where(np.eye(signals, dtype=bool), 1, np.outer(tanh, tanh))
    return Checked(
        {"signals": signals},
        {
            "lemma-c2/mean": as_printed(relative_error(product, odds.mean())),
            "lemma-c2/first": as_printed(relative_error(product * tanh, odds @ agree / len(z))),
            "lemma-c2/second": as_printed(relative_error(expected, second)),
        },
    )


def _forces(moment: Moment, tau2: float) -> tuple[float, Array, float]:
    """c, T_p and T̄ of the contrastive setting."""
    share = moment.h[CONTRASTIVE] / moment.norm2[CONTRASTIVE]
    tanh = np.tanh(tau2 * share)
    return float(4 * moment.unlikely(tau2)[0] / moment.norm2[0]), tanh, float(share @ tanh)


def _share(part: Array, whole: Array) -> float:
    return float(np.linalg.norm(part) / np.linalg.norm(whole))


CHECKS = (lemma_a7, with_noise, stage1_rates, lemma_b14, stage2_rates, stage2_noise, lemma_c2)
