"""Sections 5.3 and 5.4 through time: Gronwall's comparative lemma, and where the two stages end."""

import numpy as np
from scipy.integrate import solve_ivp

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, size
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment, Stage, solve
from reprise.papers.ren2023.theory.population import random_scales


def lemma52(rng: Random, largest: int) -> Checked:
    """A' = -X A and E' = X A E with any X(t) > 0: E(T) = E(0) exp(A(0) - A(T)) <= E(0) exp(A(0))."""
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
    """A learner with noise and with negatives, and the same without."""
    signals, noises = size(rng, 2, largest), size(rng, 1, largest)
    scales = random_scales(rng, signals, noises)
    both = InfiniteWidth.of(
        scales[:signals] ** 2,
        noise2=scales[-1] ** 2,
        noises=noises,
        negatives=rng.uniform(20, 200),
        contrastive=np.array([True, False]),
    )
    return both, {"signals": signals, "noises": noises}


def lemma51(rng: Random, largest: int) -> Checked:
    """Eq. 9, without negatives: noise and misalignment vanish; the condition number stays bounded.

    Our text has lost the paper's bound. As Σ k_p / σ_p² + (d - r) v / σ_ξ² = d is conserved and k_p is at
    least σ_p² / 2, the condition number is at most √(2d) σ_max / σ_min.
    """
    limit, sizes = random_setting(rng, largest)
    dim = sizes["signals"] + sizes["noises"]
    horizon = 60 * dim / float(limit.noise2[0])
    at = solve(limit, np.linspace(0, horizon, 60), [Stage(horizon, 1e-9)]).moment
    bound = np.sqrt(2 * dim * limit.sigma2[0].max() / limit.sigma2[0].min())
    condition = at.condition[:, 1]
    weights = (at.k / limit.sigma2).sum(-1) + limit.noises * at.v / limit.noise2
    return Checked(
        sizes,
        {
            "lemma-51/noise": as_printed(float(at.noise_to_signal[-1, 1])),
            "lemma-51/aligned": as_printed(float(at.distance[-1, 1])),
            "lemma-51/condition-bounded": as_printed(below_zero(np.append(bound - condition, bound))),
            "sec53/weights-conserved": as_printed(float(np.abs(weights[:, 1] / dim - 1).max())),
        },
    )


def lemma53(rng: Random, largest: int) -> Checked:
    """Eq. 10: from where Stage 1 ends, Stage 2 brings the condition number to 1, and noise and misalignment
    do not come back."""
    limit, sizes = random_setting(rng, largest)
    dim = sizes["signals"] + sizes["noises"]
    horizon = 40 * dim / float(limit.noise2[0])
    before = solve(limit, [horizon], [Stage(horizon, 1e-3)]).moment
    start = Moment(limit, before.k[0], before.h[0], before.v[0])
    tau2, longer = rng.uniform(1.5, 3), 100 * dim**2
    at = solve(limit, [longer], [Stage(longer, tau2)], start=start, method="LSODA").moment
    return Checked(
        sizes,
        {
            "lemma-53/balanced": as_printed(float(at.condition[-1, 0] - 1)),
            "lemma-53/noise": as_printed(float(at.noise_to_signal[-1, 0])),
            "lemma-53/aligned": as_printed(float(at.distance[-1, 0])),
        },
    )


def cor_c20(rng: Random, largest: int) -> Checked:
    """Corollary C.20 from Lemma C.19: while k_max / k_min exceeds 1 + δ its logarithm falls at least at the
    slowest σ_min² c (T_max - T_min) on the way, so that the time is at most the logarithm over that."""
    signals, delta, tau2 = size(rng, 2, largest), rng.uniform(0.05, 0.5), rng.uniform(0.5, 3)
    sigma2 = random_scales(rng, signals, 0)[:signals] ** 2
    limit = InfiniteWidth.of(sigma2, negatives=rng.uniform(20, 200))
    k = np.concatenate([[1, 4], rng.uniform(1, 4, signals - 2)])[None]
    times = np.linspace(0, 100 * signals**2, 8001)
    at = solve(limit, times, [Stage(times[-1], tau2)], start=Moment(limit, k, k, np.ones(1))).moment
    ratio = at.condition[:, 0] ** 2
    (there,) = np.nonzero(ratio <= 1 + delta)
    share = at.k[: there[0], 0] / at.norm2[: there[0]]
    pushed = np.tanh(tau2 * share.max(-1)) - np.tanh(tau2 * share.min(-1))
    slowest = (4 * at.unlikely(tau2)[: there[0], 0] / at.norm2[: there[0], 0] * pushed).min()
    bound = np.log(ratio[0] / (1 + delta)) / (sigma2.min() * slowest)
    taken = times[there[0] - 1]
    return Checked(
        {"signals": signals}, {"cor-c20/time": as_printed(below_zero(np.array([bound - taken, bound])))}
    )


CHECKS = (lemma52, lemma51, lemma53, cor_c20)
