"""Learners of infinite width, which follow Eq. 8: the columns of K_A and K_B stay orthogonal to each other.

Source: Ren and Li 2023, "On the Importance of Contrastive Loss in Multimodal Learning"; no public code was
found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.integrate import solve_ivp
from scipy.special import expit

Array = np.ndarray


@dataclass(frozen=True)
class InfiniteWidth:
    """A batch of settings; each is one learner with its own spectrum, noise and loss.

    Attributes:
        sigma2: squared singular values σ_p² of A and B.
        noise2: squared singular value σ_ξ² of A_ξ and B_ξ; any positive number if there is no noise
            coordinate.
        noises: number of noise coordinates, d - r; 0 is the noiseless case of Eq. 8.
        negatives: K, the strength of the negative pairs.
        contrastive: whether a setting follows Eq. 3; otherwise it follows Eq. 4.
    """

    sigma2: Float[Array, "setting r"]
    noise2: Float[Array, "setting"]
    noises: Float[Array, "setting"]
    negatives: Float[Array, "setting"]
    contrastive: Bool[Array, "setting"]

    @classmethod
    def of(
        cls,
        sigma2: Float[Array, "*setting r"],
        *,
        noise2: float | Array = 1.0,
        noises: float | Array = 0.0,
        negatives: float | Array = 255.0,
        contrastive: bool | Array = True,
    ) -> "InfiniteWidth":
        """Makes settings by broadcasting all arguments."""
        options = [np.asarray(value, dtype=float) for value in (noise2, noises, negatives, contrastive)]
        settings = max([np.atleast_2d(sigma2).shape[0], *(value.size for value in options)])
        noise2, noises, negatives, contrastive = (np.broadcast_to(value, settings) for value in options)
        spectrum = np.broadcast_to(np.asarray(sigma2, dtype=float), (settings, np.shape(sigma2)[-1]))
        return cls(spectrum, noise2, noises, negatives, contrastive.astype(bool))

    def start(self) -> "Moment":
        """The initial state k_p = σ_p², h_p = 0, v = σ_ξ²: the limit of weights with entries N(0, 1/m)."""
        return Moment(self, self.sigma2.copy(), np.zeros_like(self.sigma2), self.noise2.copy())


@dataclass(frozen=True)
class Moment:
    """State of the settings at one time, or at several, which are then the leading axis.

    Attributes:
        k: ||[K_A]_p||² = ||[K_B]_p||².
        h: <[K_A]_p, [K_B]_p>.
        v: ||[K_A,ξ]_q||² = ||[K_B,ξ]_q||², the same for all q.
    """

    limit: InfiniteWidth
    k: Float[Array, "*time setting r"]
    h: Float[Array, "*time setting r"]
    v: Float[Array, "*time setting"]

    @property
    def norm2(self) -> Float[Array, "*time setting"]:
        """F = Σ k_p + (d - r) v = d N_A²."""
        return self.k.sum(-1) + self.limit.noises * self.v

    @property
    def rho(self) -> Float[Array, "*time setting"]:
        """ρ = Σ h_p / F, which is E<f_A, f_B> over positive pairs."""
        return self.h.sum(-1) / self.norm2

    @property
    def condition(self) -> Float[Array, "*time setting"]:
        """Condition number: the largest over the r-th singular value of K_A."""
        return np.sqrt(self.k.max(-1) / self.k.min(-1))

    @property
    def noise_to_signal(self) -> Float[Array, "*time setting"]:
        """Noise-to-signal ratio: the largest column norm of K_A,ξ over the smallest of K_A."""
        return np.sqrt(self.v / self.k.min(-1))

    @property
    def distance(self) -> Float[Array, "*time setting"]:
        """||K_A - K_B||_F / ||K_A||_F, which is √2 at the start and 0 for aligned signals."""
        return np.sqrt(2 * (self.k - self.h).sum(-1) / self.k.sum(-1))

    @property
    def stable_rank(self) -> Float[Array, "*time setting"]:
        """||C||_F² / ||C||_2² of the covariance C of f_A, whose eigenvalues are k_p / F and v / F."""
        noise = np.where(self.limit.noises > 0, self.v, 0.0)
        return ((self.k**2).sum(-1) + self.limit.noises * noise**2) / np.maximum(self.k.max(-1), noise) ** 2

    @property
    def intrinsic_dimension(self) -> Float[Array, "*time setting"]:
        """tr C / ||C||_2, the other reading of the stable rank."""
        noise = np.where(self.limit.noises > 0, self.v, 0.0)
        return self.norm2 / np.maximum(self.k.max(-1), noise)

    def unlikely(self, tau2: float | Array) -> Float[Array, "*time setting"]:
        """1 - S, where S is the softmax weight of the positive pair."""
        return expit(self._logit(tau2))

    def loss(self, tau2: float | Array) -> Float[Array, "*time setting"]:
        """The loss: -E log S_A - E log S_B (Eq. 3) for contrastive settings, -E <f_A, f_B> (Eq. 4) for the
        others."""
        return np.where(self.limit.contrastive, 2 * np.logaddexp(0, self._logit(tau2)), -self.rho)

    def velocity(self, tau2: float | Array) -> "Moment":
        """dk/dt, dh/dt and dv/dt under gradient flow on the loss divided by τ² (Eq. 8; Lemma B.11 for v).

        k_p' = c σ_p² [h_p (1 - T_p) - k_p (ρ - T̄)],  h_p' = c σ_p² [k_p (1 - T_p) - h_p (ρ - T̄)],
        v' = -c σ_ξ² v (ρ - T̄), with T_p = tanh(τ² h_p / F), T̄ = Σ h_p T_p / F, c = 4 (1 - S) / F; without
        contrastive pairs T = 0 and c = 2 / F.
        """
        scale, pull, push = self._forces(tau2)
        speed = scale[..., None] * self.limit.sigma2
        return Moment(
            self.limit,
            speed * (self.h * pull - self.k * push[..., None]),
            speed * (self.k * pull - self.h * push[..., None]),
            -scale * self.limit.noise2 * self.v * push,
        )

    def _forces(self, tau2: float | Array) -> tuple[Array, Array, Array]:
        """c, 1 - T_p and ρ - T̄."""
        share = self.h / self.norm2[..., None]
        tanh = np.where(self.limit.contrastive[:, None], np.tanh(np.asarray(tau2)[..., None] * share), 0.0)
        scale = np.where(self.limit.contrastive, 4 * self.unlikely(tau2), 2.0) / self.norm2
        return scale, 1 - tanh, (share * (1 - tanh)).sum(-1)

    def _logit(self, tau2: float | Array) -> Array:
        """log( K E[exp(τ² f_A+ · f_B-)] / exp(τ² f_A+ · f_B+) )."""
        tau2 = np.asarray(tau2)
        share = tau2[..., None] * self.h / self.norm2[..., None]
        # log cosh x without overflow.
        log_cosh = np.logaddexp(share, -share) - np.log(2)
        return np.log(self.limit.negatives) + log_cosh.sum(-1) - tau2 * self.rho


@dataclass(frozen=True)
class Stage:
    """A number of gradient descent steps at one inverse temperature τ², or at one per setting."""

    steps: float
    tau2: float | Array


@dataclass(frozen=True)
class Path:
    """The settings over time.

    Attributes:
        steps: times, in steps of gradient descent.
        tau2: inverse temperature of the stage that leads to each time; at a boundary, the earlier stage's.
        moment: states, with time as the leading axis.
    """

    steps: Float[Array, "time"]
    tau2: Float[Array, "time setting"]
    moment: Moment

    @property
    def loss(self) -> Float[Array, "time setting"]:
        return self.moment.loss(self.tau2)


def solve(
    limit: InfiniteWidth,
    steps: Sequence[float] | Array,
    stages: Sequence[Stage],
    *,
    step_size: float = 1.0,
    start: Moment | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    method: str = "DOP853",
) -> Path:
    """Solves Eq. 8 through consecutive stages with different τ².

    The unknowns are log(k_p + h_p), log(k_p - h_p) and log v. Their rates c σ_p² [(1 - T_p) - (ρ - T̄)],
    -c σ_p² [(1 - T_p) + (ρ - T̄)] and -c σ_ξ² (ρ - T̄) are bounded, and k - h stays accurate as it vanishes.

    Args:
        limit: the settings.
        steps: increasing times to record, in steps of gradient descent, within the stages.
        stages: the stages, in order.
        step_size: gradient descent's step size; its step t is at time t * step_size.
        start: initial state, by default the random initialisation.
        rtol, atol: tolerances on the logarithms.
        method: method of `scipy.integrate.solve_ivp`; LSODA takes long steps where little changes.

    Raises:
        ArithmeticError: if the solver fails.
        ValueError: if a step lies beyond the last stage.
    """
    looks = np.asarray(steps, dtype=float)
    settings, r = limit.sigma2.shape
    start = start or limit.start()

    def moment(logs: Array) -> Moment:
        """The state from its logarithms, of shape [*time, setting, 2 r + 1]."""
        total, gap = np.exp(logs[..., :r]), np.exp(logs[..., r : 2 * r])
        return Moment(limit, (total + gap) / 2, (total - gap) / 2, np.exp(logs[..., -1]))

    def rates(logs: Array, tau2: float | Array) -> Array:
        scale, pull, push = moment(logs)._forces(tau2)
        speed, push_column = scale[:, None] * limit.sigma2, push[:, None]
        noise = -scale * limit.noise2 * push
        return np.concatenate(
            [speed * (pull - push_column), -speed * (pull + push_column), noise[:, None]], -1
        )

    tiny = np.finfo(float).tiny  # avoids log 0 if aligned, or without noise, to full precision
    gap, v = np.maximum(start.k - start.h, tiny), np.maximum(start.v, tiny)
    logs = np.log(np.concatenate([start.k + start.h, gap, v[:, None]], -1))
    pieces, tau2s, begin = [], [], 0.0
    for number, stage in enumerate(stages):
        end = begin + stage.steps
        stage_looks = looks[(looks <= end) & ((looks > begin) | (number == 0))]
        tau2 = np.broadcast_to(np.asarray(stage.tau2, dtype=float), settings)
        path = solve_ivp(
            lambda t, y, tau2=tau2: rates(y.reshape(settings, -1), tau2).ravel(),
            (begin * step_size, end * step_size),
            logs.ravel(),
            method,
            t_eval=np.union1d(stage_looks, end) * step_size,
            rtol=rtol,
            atol=atol,
        )
        if not path.success:
            raise ArithmeticError(f"Eq. 8 could not be solved beyond step {path.t[-1]}: {path.message}")
        logs_over_time = path.y.T.reshape(-1, settings, 2 * r + 1)
        pieces.append(logs_over_time[: len(stage_looks)])
        tau2s.append(np.broadcast_to(tau2, (len(stage_looks), settings)))
        logs, begin = logs_over_time[-1], end
    if looks[-1] > begin:
        raise ValueError(f"step {looks[-1]} is beyond the last stage, which ends at step {begin}")
    return Path(looks, np.concatenate(tau2s), moment(np.concatenate(pieces)))
