"""Sections 5.3 and 5.4 over time: the comparative Gronwall lemma, and the ends of the two stages."""

import numpy as np
from scipy.integrate import solve_ivp

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, size
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment, Stage, solve
from reprise.papers.ren2023.theory.population import random_scales


def lemma52(rng: Random, largest: int) -> Checked:
    """Lemma 5.2: A' = -X A and E' = X A E with X(t) > 0 give E(T) = E(0) exp(A(0) - A(T)) <= E(0)
    exp(A(0))."""
    terms = size(rng, 2, largest)
    amplitude, frequency, phase = rng.normal(size=(3, terms))
    end = rng.uniform(1, 10)

    def x(t: float) -> float:
        return float(np.exp(amplitude @ np.sin(3 * frequency * t + phase) / 2))

    def flow(t: float, state: Array) -> Array:
        a, e = state
        return np.array([-x(t) * a, x(t) * a * e])

    start = rng.uniform(0.3, 3, 2)
    path = solve_ivp(flow, (0, end), start, "DOP853", rtol=1e-11, atol=1e-13).y
    closed = start[1] * np.exp(start[0] - path[0])
    bound = start[1] * np.exp(start[0])
    return Checked(
        {},
        {
            "lemma-52/solution": as_printed(float(np.abs(path[1] / closed - 1).max())),
            "lemma-52/bound": as_printed(below_zero(np.append(bound - path[1], bound))),
        },
    )


def random_setting(rng: Random, largest: int) -> tuple[InfiniteWidth, dict[str, int]]:
    """A random learner with noise and negatives, and the same learner without negatives."""
    signals, noises = size(rng, 2, largest), size(rng, 1, largest)
    scales = random_scales(rng, signals, noises)
    limit = InfiniteWidth.of(
        scales[:signals] ** 2,
        noise2=scales[-1] ** 2,
        noises=noises,
        negatives=rng.uniform(20, 200),
        contrastive=np.array([True, False]),
    )
    return limit, {"signals": signals, "noises": noises}


def lemma51(rng: Random, largest: int) -> Checked:
    """Lemma 5.1 (Eq. 9), without negatives: noise and misalignment vanish, and the condition number stays
    bounded.

    Our text has lost the paper's bound. Since Σ k_p / σ_p² + (d - r) v / σ_ξ² = d is conserved and k_p is at
    least σ_p² / 2, the condition number is at most √(2d) σ_max / σ_min.
    """
    limit, sizes = random_setting(rng, largest)
    dim = sizes["signals"] + sizes["noises"]
    horizon = 60 * dim / float(limit.noise2[0])
    moment = solve(limit, np.linspace(0, horizon, 60), [Stage(horizon, 1e-9)]).moment
    bound = np.sqrt(2 * dim * limit.sigma2[0].max() / limit.sigma2[0].min())
    condition = moment.condition[:, 1]
    weights = (moment.k / limit.sigma2).sum(-1) + limit.noises * moment.v / limit.noise2
    return Checked(
        sizes,
        {
            "lemma-51/noise": as_printed(float(moment.noise_to_signal[-1, 1])),
            "lemma-51/aligned": as_printed(float(moment.distance[-1, 1])),
            "lemma-51/condition-bounded": as_printed(below_zero(np.append(bound - condition, bound))),
            "sec53/weights-conserved": as_printed(float(np.abs(weights[:, 1] / dim - 1).max())),
        },
    )


def lemma53(rng: Random, largest: int) -> Checked:
    """Lemma 5.3 (Eq. 10): after Stage 1, Stage 2 reduces the condition number to 1, and noise and
    misalignment do not return."""
    limit, sizes = random_setting(rng, largest)
    dim = sizes["signals"] + sizes["noises"]
    horizon = 40 * dim / float(limit.noise2[0])
    stage1 = solve(limit, [horizon], [Stage(horizon, 1e-3)]).moment
    start = Moment(limit, stage1.k[0], stage1.h[0], stage1.v[0])
    tau2, stage2_time = rng.uniform(1.5, 3), 100 * dim**2
    moment = solve(limit, [stage2_time], [Stage(stage2_time, tau2)], start=start, method="LSODA").moment
    return Checked(
        sizes,
        {
            "lemma-53/balanced": as_printed(float(moment.condition[-1, 0] - 1)),
            "lemma-53/noise": as_printed(float(moment.noise_to_signal[-1, 0])),
            "lemma-53/aligned": as_printed(float(moment.distance[-1, 0])),
        },
    )


def cor_c20(rng: Random, largest: int) -> Checked:
    """Corollary C.20 from Lemma C.19, on the time until k_max / k_min falls to 1 + δ.

    Until then its logarithm falls at least at the smallest σ_min² c (T_max - T_min) on the way, so the time
    is at most the logarithm divided by that rate.
    """
    signals, delta, tau2 = size(rng, 2, largest), rng.uniform(0.05, 0.5), rng.uniform(0.5, 3)
    sigma2 = random_scales(rng, signals, 0)[:signals] ** 2
    limit = InfiniteWidth.of(sigma2, negatives=rng.uniform(20, 200))
    k = np.concatenate([[1, 4], rng.uniform(1, 4, signals - 2)])[None]
    times = np.linspace(0, 100 * signals**2, 4001)
    moment = solve(limit, times, [Stage(times[-1], tau2)], start=Moment(limit, k, k, np.ones(1))).moment
    ratio = moment.condition[:, 0] ** 2
    (balanced,) = np.nonzero(ratio <= 1 + delta)
    share = moment.k[: balanced[0], 0] / moment.norm2[: balanced[0]]
    tanh_gap = np.tanh(tau2 * share.max(-1)) - np.tanh(tau2 * share.min(-1))
    smallest_rate = (
        4 * moment.unlikely(tau2)[: balanced[0], 0] / moment.norm2[: balanced[0], 0] * tanh_gap
    ).min()
    bound = np.log(ratio[0] / (1 + delta)) / (sigma2.min() * smallest_rate)
    duration = times[balanced[0] - 1]
    return Checked(
        {"signals": signals}, {"cor-c20/time": as_printed(below_zero(np.array([bound - duration, bound])))}
    )


CHECKS = (lemma53, lemma52, lemma51, cor_c20)
