"""Eq. 8, and what Section 5 and the appendices derive from it, for orthogonal columns (Eq. 7)."""

from dataclasses import dataclass

import numpy as np

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, relative_error, size
from reprise.papers.ren2023.infinite_width import Moment
from reprise.papers.ren2023.theory.population import Learners, random_limit, signs

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
    def v(self) -> float:
        return float(self.diagonal(self.gram, 0, 0)[-1])

    @property
    def v_rate(self) -> float:
        return float(self.diagonal(self.rate, 0, 0)[-1])


def measured(learners: Learners, setting: int) -> Measured:
    """The Gram matrix and its rate for `CONTRASTIVE` or `NONCONTRASTIVE`."""
    loss = (learners.contrastive, learners.noncontrastive)[setting]
    columns = np.hstack([modality.maps.numpy() for modality in (learners.a, learners.b)])
    velocities = np.hstack([velocity.numpy() for velocity in learners.velocities(loss)])
    half = columns.T @ velocities
    return Measured(columns.T @ columns, half + half.T, learners.signals)


def lemma_a7(rng: Random, largest: int) -> Checked:
    """Lemma A.7: Eq. 8 without noise; S is the same for all z; Eq. 7 is preserved."""
    learners, moment = random_limit(rng, largest, noiseless=True)
    velocity, rates = moment.velocity(learners.tau2), measured(learners, CONTRASTIVE)
    s_a, s_b = learners.softmax(learners.similarity(learners.a.w, learners.b.w))
    positive = learners.pairs > 0
    s = np.concatenate([s_a[positive].numpy(), s_b[positive].numpy()])
    plain_rates = measured(learners, NONCONTRASTIVE)
    side = learners.signals
    shared = np.tile(np.eye(side, dtype=bool), (2, 2))
    view_difference = rates.diagonal(rates.rate, 0, 0) - rates.diagonal(rates.rate, 1, 1)
    return Checked(
        learners.sizes,
        {
            "lemma-a7/norms": as_printed(relative_error(velocity.k[CONTRASTIVE], rates.k_rate)),
            "lemma-a7/inner-products": as_printed(relative_error(velocity.h[CONTRASTIVE], rates.h_rate)),
            "lemma-a7/softmax": as_printed(relative_error(1 - s, moment.unlikely(learners.tau2)[0] + 0 * s)),
            "eq7/orthogonal-stays": as_printed(_share(rates.rate[~shared], rates.rate[shared])),
            "eq7/twins-stay": as_printed(_share(view_difference, rates.k_rate)),
            "sec53/first-term": as_printed(
                relative_error(
                    np.concatenate([velocity.k[NONCONTRASTIVE], velocity.h[NONCONTRASTIVE]]),
                    np.concatenate([plain_rates.k_rate, plain_rates.h_rate]),
                )
            ),
        },
    )


def with_noise(rng: Random, largest: int) -> Checked:
    """Eq. 8 with noise, whose columns change through the normalisation only; every h_p / k_p grows at any
    τ²."""
    learners, moment = random_limit(rng, largest)
    velocity, errors, aligning = moment.velocity(learners.tau2), [], []
    for setting in (CONTRASTIVE, NONCONTRASTIVE):
        measurement = measured(learners, setting)
        formula = [*velocity.k[setting], *velocity.h[setting], velocity.v[setting]]
        rates = [*measurement.k_rate, *measurement.h_rate, measurement.v_rate]
        errors.append(relative_error(np.array(formula), np.array(rates)))
        aligning.append(measurement.h_rate * measurement.k - measurement.h * measurement.k_rate)
    return Checked(
        learners.sizes,
        {
            "sec5/noise": as_printed(max(errors)),
            "sec54/alignment-kept": as_printed(below_zero(np.concatenate(aligning))),
        },
    )


def stage1_rates(rng: Random, largest: int) -> Checked:
    """Lemmas B.10 to B.12 with T = 0, that is without negatives: the rates of h / k, v / k and k_p / k_q."""
    learners, moment = random_limit(rng, largest)
    measurement, setting = measured(learners, NONCONTRASTIVE), NONCONTRASTIVE
    k, h, v = measurement.k, measurement.h, measurement.v
    sigma2, noise2 = moment.limit.sigma2[setting], moment.limit.noise2[setting]
    c, rho = 2 / moment.norm2[setting], moment.rho[setting]
    aligning = (measurement.h_rate * k - h * measurement.k_rate) / k**2
    growing = measurement.k_rate / k
    cleaning = measurement.v_rate / v - growing
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
    """Lemma B.14: noise columns of any lengths shrink at one rate, so that K_A,ξ keeps its condition
    number."""
    learners, _ = random_limit(rng, largest, uneven=True)
    errors = []
    for setting in (CONTRASTIVE, NONCONTRASTIVE):
        measurement = measured(learners, setting)
        rates = measurement.diagonal(measurement.rate, 0, 0) / measurement.diagonal(measurement.gram, 0, 0)
        rates = rates[learners.signals :]
        errors.append(relative_error(rates, np.full_like(rates, rates.mean())))
    return Checked(learners.sizes, {"lemma-b14/kept": as_printed(max(errors))})


def stage2_rates(rng: Random, largest: int) -> Checked:
    """Section 5.4 and Lemma C.19: k_p' = c σ_p² k_p (T̄ - T_p) for aligned, noiseless learners."""
    learners, moment = random_limit(rng, largest, noiseless=True, aligned=True)
    measurement = measured(learners, CONTRASTIVE)
    k, sigma2 = measurement.k, moment.limit.sigma2[CONTRASTIVE]
    c, tanh, mean = _forces(moment, learners.tau2)
    top, bottom = k.argmax(), k.argmin()
    ratio = k[top] / k[bottom]
    rate = ratio * (measurement.k_rate[top] / k[top] - measurement.k_rate[bottom] / k[bottom])
    bound = -c * sigma2.min() * (tanh[top] - tanh[bottom]) * ratio
    return Checked(
        learners.sizes,
        {
            "sec54/norms": as_printed(relative_error(c * sigma2 * k * (mean - tanh), measurement.k_rate)),
            "lemma-c19/bound": as_printed(below_zero(np.array([bound - rate, abs(rate)]))),
            "lemma-c19/falls": as_printed(float(rate >= 0)),
        },
    )


def stage2_noise(rng: Random, largest: int) -> Checked:
    """Lemma C.18: for aligned learners the noise-to-signal ratio of the smallest k_p does not grow."""
    learners, _ = random_limit(rng, largest, aligned=True)
    measurement = measured(learners, CONTRASTIVE)
    smallest = measurement.k.argmin()
    rates = np.array(
        [measurement.k_rate[smallest] / measurement.k[smallest], measurement.v_rate / measurement.v]
    )
    error = max(0.0, rates[1] - rates[0]) / np.abs(rates).max()
    return Checked(learners.sizes, {"lemma-c18/never-grows": as_printed(float(error))})


def lemma_c2(rng: Random, largest: int) -> Checked:
    """Lemma C.2: E exp(s), d E[z_p+ z_p- exp(s)] and d² E[z_p+ z_p- z_q+ z_q- exp(s)] over z-, s = τ² f_A+ ·
    f_B-."""
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


def _share(part: Array, total: Array) -> float:
    return float(np.linalg.norm(part) / np.linalg.norm(total))


CHECKS = (lemma_a7, stage1_rates, lemma_b14, lemma_c2, with_noise, stage2_rates, stage2_noise)
