"""Sections 5.3 and 5.4 over time: the comparative Gronwall lemma, and the ends of the two stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, below_zero, size
from reprise.papers.ren2023.theory.population import random_scales

if TYPE_CHECKING:
    from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment


@dataclass(frozen=True)
class Coupled:
    """A' = -X A and E' = X A E, with log X(t) = Σ a_i sin(3 ω_i t + φ_i) / 2, until `end`.

    Attributes:
        start: A(0) and E(0).
    """

    amplitude: Array
    frequency: Array
    phase: Array
    start: Array
    end: float

    @property
    def sizes(self) -> dict[str, int]:
        return {}

    def solution(self) -> tuple[Array, Array]:
        """A and E over time, by integration."""
        from scipy.integrate import solve_ivp

        def flow(t: float, state: Array) -> Array:
            a, e = state
            x = np.exp(self.amplitude @ np.sin(3 * self.frequency * t + self.phase) / 2)
            return np.array([-x * a, x * a * e])

        path = solve_ivp(flow, (0, self.end), self.start, "DOP853", rtol=1e-11, atol=1e-13).y
        return path[0], path[1]


def random_coupled(rng: Random, largest: int) -> Coupled:
    amplitude, frequency, phase = rng.normal(size=(3, size(rng, 2, largest)))
    return Coupled(amplitude, frequency, phase, rng.uniform(0.3, 3, 2), rng.uniform(1, 10))


@formula(
    "lemma-52",
    "Where A' = -X A and E' = X A E, the error at time T is E(T) = E(0) exp(A(0) - A(T)), which is at most "
    "E(0) exp(A(0)), whatever X > 0 and T.",
    at="Lemma 5.2, Section 5.3, and Lemma B.2, Appendix B",
    tried_at=random_coupled,
    form="restated",
)
def comparative_gronwall(point: Coupled) -> Errors:
    """The decoy has the wrong sign of A(T)."""
    (a0, e0), (a, e) = point.start, point.solution()
    bound = e0 * np.exp(a0)

    def off(sign: int) -> float:
        return float(np.abs(e / (e0 * np.exp(a0 + sign * a)) - 1).max())

    return Errors(printed=max(off(-1), below_zero(np.append(bound - e, bound))), decoy=off(1))


@dataclass(frozen=True)
class Setting:
    """A learner of infinite width with noise and negatives (setting 0), the same without negatives
    (setting 1), and the τ² of Stage 2."""

    limit: InfiniteWidth
    tau2: float

    @property
    def dim(self) -> int:
        return self.limit.sigma2.shape[1] + int(self.limit.noises[0])

    @property
    def sizes(self) -> dict[str, int]:
        return {"signals": self.limit.sigma2.shape[1], "noises": int(self.limit.noises[0])}

    def stage1(self) -> Moment:
        """Stage 1 at a vanishing τ², over time."""
        from reprise.papers.ren2023.infinite_width import Stage, solve

        horizon = 60 * self.dim / float(self.limit.noise2[0])
        return solve(self.limit, np.linspace(0, horizon, 60), [Stage(horizon, 1e-9)]).moment

    def stage2(self) -> Moment:
        """The start and the end of Stage 2, after a shorter Stage 1."""
        from reprise.papers.ren2023.infinite_width import Moment, Stage, solve

        horizon = 40 * self.dim / float(self.limit.noise2[0])
        stage1 = solve(self.limit, [horizon], [Stage(horizon, 1e-3)]).moment
        start = Moment(self.limit, stage1.k[0], stage1.h[0], stage1.v[0])
        end = 100.0 * self.dim**2
        path = solve(self.limit, [0.0, end], [Stage(end, self.tau2)], start=start, method="LSODA")
        return path.moment


def random_setting(rng: Random, largest: int) -> Setting:
    from reprise.papers.ren2023.infinite_width import InfiniteWidth

    signals, noises = size(rng, 2, largest), size(rng, 1, largest)
    scales = random_scales(rng, signals, noises)
    limit = InfiniteWidth.of(
        scales[:signals] ** 2,
        noise2=scales[-1] ** 2,
        noises=noises,
        negatives=rng.uniform(20, 200),
        contrastive=np.array([True, False]),
    )
    return Setting(limit, rng.uniform(1.5, 3))


@formula(
    "lemma-51",
    "Without negatives, in the limit of infinite width, the noise-to-signal ratio and K_A - K_B vanish, and "
    "the condition number never exceeds √(2d) σ_max / σ_min.",
    at="Lemma 5.1 and Eq. 9, Section 5.3, and Lemma B.1, Appendix B",
    tried_at=random_setting,
    form="restated",
    reading="ours: the bound √(2d) σ_max / σ_min, as our text has lost the paper's",
)
def end_of_stage1(point: Setting) -> Errors:
    """The bound follows from Σ k_p / σ_p² + (d - r) v / σ_ξ² = d, which is conserved, and k_p >= σ_p² / 2.
    In the decoy the condition number keeps its first value."""
    moment, sigma2 = point.stage1(), point.limit.sigma2[0]
    bound = np.sqrt(2 * point.dim * sigma2.max() / sigma2.min())
    condition = moment.condition[:, 1]
    return Errors(
        printed=max(
            float(moment.noise_to_signal[-1, 1]),
            float(moment.distance[-1, 1]),
            below_zero(np.append(bound - condition, bound)),
        ),
        decoy=float(abs(condition[-1] / condition[0] - 1)),
    )


@formula(
    "lemma-53",
    "In the limit of infinite width, after a long Stage 2 (large temperature τ²) the condition number is 1, "
    "the noise-to-signal ratio is 0, and the modalities are aligned: K_A = K_B.",
    at="Lemma 5.3 and Eq. 10, Section 5.4, and Lemma C.1, Appendix C",
    tried_at=random_setting,
    form="restated",
)
def end_of_stage2(point: Setting) -> Errors:
    """The decoy keeps the first value of the condition number."""
    moment = point.stage2()
    condition = moment.condition[:, 0]
    return Errors(
        printed=float(max(condition[-1] - 1, moment.noise_to_signal[-1, 0], moment.distance[-1, 0])),
        decoy=float(abs(condition[-1] / condition[0] - 1)),
    )


@dataclass(frozen=True)
class Unbalanced:
    """Aligned, noiseless learners that are not balanced, in Stage 2."""

    limit: InfiniteWidth
    k: Array
    tau2: float
    delta: float

    @property
    def sizes(self) -> dict[str, int]:
        return {"signals": self.k.shape[1]}


def random_unbalanced(rng: Random, largest: int) -> Unbalanced:
    from reprise.papers.ren2023.infinite_width import InfiniteWidth

    signals, delta, tau2 = size(rng, 2, largest), rng.uniform(0.05, 0.5), rng.uniform(0.5, 3)
    sigma2 = random_scales(rng, signals, 0)[:signals] ** 2
    limit = InfiniteWidth.of(sigma2, negatives=rng.uniform(20, 200))
    k = np.concatenate([[1, 4], rng.uniform(1, 4, signals - 2)])[None]
    return Unbalanced(limit, k, tau2, delta)


@formula(
    "cor-c20/time",
    "With negatives, of aligned, noiseless learners, the ratio k_p / k_q of the largest and smallest squared "
    "column norm is under 1 + δ after a time of at most log(k_p(0) / k_q(0) / (1 + δ)) over the slowest "
    "c σ_min² (T_p - T_q) on the way.",
    at="Corollary C.20, Appendix C.5",
    tried_at=random_unbalanced,
    is_bound=True,
    form="restated",
)
def time_to_balance(point: Unbalanced) -> Errors:
    """The rate is from Lemma C.19. The decoy has the fastest c σ_max² (T_p - T_q)."""
    from reprise.papers.ren2023.infinite_width import Moment, Stage, solve

    times = np.linspace(0, 100 * point.k.shape[1] ** 2, 4001)
    start = Moment(point.limit, point.k, point.k, np.ones(1))
    moment = solve(point.limit, times, [Stage(times[-1], point.tau2)], start=start).moment
    ratio = moment.condition[:, 0] ** 2
    (balanced,) = np.nonzero(ratio <= 1 + point.delta)
    way = slice(balanced[0])
    norm2 = moment.norm2[way, 0]
    tanh = np.tanh(point.tau2 * moment.k[way, 0] / norm2[:, None])
    rates = 4 * moment.unlikely(point.tau2)[way, 0] / norm2 * (tanh.max(-1) - tanh.min(-1))
    duration = times[balanced[0] - 1]

    def violation(rate: float) -> float:
        bound = np.log(ratio[0] / (1 + point.delta)) / rate
        return below_zero(np.array([bound - duration, bound]))

    sigma2 = point.limit.sigma2
    return Errors(printed=violation(sigma2.min() * rates.min()), decoy=violation(sigma2.max() * rates.max()))


FORMULAS: tuple[Formula, ...] = (end_of_stage1, comparative_gronwall, end_of_stage2, time_to_balance)
