"""Power iteration in the latent summation model, the threshold of Eq. 9, and Section 3.3's formulas."""

import zlib

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.optimize import brentq

from reprise.evidence.identities import size, tried
from reprise.papers.tian2023.power_iteration import irregularity
from reprise.papers.tian2023.power_iteration.checks import CHECKS
from reprise.papers.tian2023.power_iteration.params import Params
from reprise.papers.tian2023.power_iteration.summation import a_matrix, patterns, power_step, states
from reprise.study.experiment import Context
from reprise.study.tidy import tidy

Array = np.ndarray

RESTED = 1e-8
"""A step this short, or a return this close, is none: steps have length 1e-16 where the iteration rests."""
LONGEST = 24
"""Steps within which the iteration must come back to count as a cycle."""
NEAR = 1e-6
"""How far two weights are apart between which A(w) may jump."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`steps` of the runs from u_1, `ends` of the runs from every u_m, the `irregularity` at u_1, Eq. 9's
    `thresholds`, and the `identities`."""
    models = {"discrete": 0.0, "smoothed": params.noise_std}
    y, likelihood = states(np.full(params.patterns, params.probability))
    u = np.stack(
        [
            patterns(_rng(seed, "patterns"), params.patterns, params.gram_distances)
            for seed in range(params.seeds)
        ],
        1,
    )
    axes = {"model": list(models), "gram_distance": params.gram_distances, "seed": range(params.seeds)}
    runs = {
        model: _iterate(u, y, likelihood, noise_std, params.iterations, context)
        for model, noise_std in models.items()
    }
    measured = [_irregularity(u, y, likelihood, noise_std) for noise_std in models.values()]
    return {
        "steps": tidy(
            {**axes, "iteration": range(params.iterations)},
            step=np.stack([run["steps"][:, :, 0] for run in runs.values()]),
        ),
        "ends": tidy(
            {**axes, "start": range(1, params.patterns + 1)},
            **{
                name: np.stack([run[name] for run in runs.values()])
                for name in ("period", "distance", "nearest")
            },
        ),
        "irregularity": tidy(
            axes, **{name: np.stack([each[name] for each in measured]) for name in measured[0]}
        ),
        "thresholds": pd.DataFrame([_threshold(point, params.largest) for point in range(params.points)]),
        "identities": tried(CHECKS, range(params.points), params.largest, ("dimension",), context),
    }


def _rng(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def _iterate(
    u: Float[Array, "s seed dim m"],
    y: Float[Array, "state m"],
    likelihood: Float[Array, " state"],
    noise_std: float,
    iterations: int,
    context: Context,
) -> dict[str, Array]:
    """Power iteration from every u_m.

    Returns:
        steps: ‖w(t+1) - w(t)‖₂ [s seed start iteration];
        period: the smallest number of steps after which the last weight came back: 1 for a fixed point, 0
            where it did not come back;
        distance: of the last weight from its u_m;
        nearest: 1 where that is nearer than any other u_m' (all three [s seed start]).
    """
    *shape, dim, m = u.shape
    starts = u.swapaxes(-1, -2).reshape(-1, dim)
    means = np.repeat((y @ u.swapaxes(-1, -2)).reshape(-1, len(y), dim), m, 0)
    path, steps = [starts], []
    for iteration in range(iterations):
        if iteration % 10 == 0:
            context.progress(iteration, iterations, f"power iteration, {len(starts)} runs")
        w = power_step(a_matrix(path[-1], means, likelihood, noise_std), path[-1])
        steps.append(np.linalg.norm(w - path[-1], axis=1))
        path = [*path[-LONGEST:], w]
    back = np.linalg.norm(np.stack(path[-2::-1]) - path[-1], axis=2) < RESTED
    overlaps = np.einsum("...dm,...kd->...km", u, path[-1].reshape(*shape, m, dim))
    return {
        "steps": np.stack(steps, -1).reshape(*shape, m, iterations),
        "period": np.where(back.any(0), back.argmax(0) + 1, 0).reshape(*shape, m),
        "distance": np.linalg.norm(path[-1] - starts, axis=1).reshape(*shape, m),
        "nearest": (overlaps.argmax(-1) == np.arange(m)).astype(float),
    }


def _irregularity(
    u: Float[Array, "s seed dim m"], y: Array, likelihood: Array, noise_std: float
) -> dict[str, Array]:
    """What Theorem 3's condition asks of w(0) = u_1.

    Returns, all of them [s seed]:
        lipschitz: a lower bound of A's Lipschitz constant L over the sphere: ‖A(v) - A(v')‖₂ / ‖v - v'‖₂, the
            largest of some pairs around u_1, and around the nearest weight at which wᵀ x changes its sign for
            one of the states;
        omega: ω at u_1 with that L and κ = 0, a lower bound of its supremum over B_γ;
        covered: 1 where the condition is proven with L taken over B_γ alone, because A(w) is constant there;
        radius: of that B_γ; 0 where it is not.
    """
    found = [
        [_irregularity_at(each[:, 0], y @ each.T, likelihood, noise_std) for each in by_seed] for by_seed in u
    ]
    return {name: np.array([[each[name] for each in row] for row in found]) for name in found[0][0]}


def _irregularity_at(w: Array, means: Array, likelihood: Array, noise_std: float) -> dict[str, float]:
    directions = means / np.linalg.norm(means, axis=1, keepdims=True)
    closest = directions[np.abs(directions @ w).argmin()]
    border = w - (closest @ w) * closest
    pairs = [(w, direction) for direction in np.eye(len(w))] + [(border / np.linalg.norm(border), closest)]
    points = np.array([at + sign * NEAR / 2 * along for at, along in pairs for sign in (1, -1)])
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    a = a_matrix(points, np.broadcast_to(means, (len(points), *means.shape)), likelihood, noise_std)
    change = np.linalg.norm(a[0::2] - a[1::2], 2, (1, 2))
    lipschitz = float((change / np.linalg.norm(points[0::2] - points[1::2], axis=1)).max())
    a0 = a_matrix(w[None], means[None], likelihood, noise_std)[0]
    values, _ = irregularity.eigenpairs(a0)
    c = float(irregularity.first_eigenvector(a0, w) @ w)
    to_border = 2 * np.sin(np.arcsin(abs(closest @ w)) / 2)
    proven = irregularity.certificate(a0, w, 0.0) if noise_std == 0 else None
    covered = proven is not None and proven.radius < to_border
    return {
        "lipschitz": lipschitz,
        "omega": irregularity.omega(c, values[1] / values[0], values[0] - values[1], lipschitz, 0.0),
        "covered": float(covered),
        "radius": proven.radius if proven and covered else 0.0,
    }


def _threshold(point: int, largest: int) -> dict[str, float]:
    """The q_m at which u_m stops being the first eigenvector of A(u_m): the other patterns have random
    probabilities, and U is a random orthogonal matrix."""
    rng = _rng(point, "threshold")
    m = size(rng, 2, largest)
    u = np.linalg.qr(rng.normal(size=(m, m)))[0]
    others = rng.uniform(0.05, 0.95, m - 1)

    def lead(q: float) -> float:
        """u_mᵀ A u_m less the largest eigenvalue across u_m."""
        y, likelihood = states(np.array([q, *others]))
        a = a_matrix(u[:, 0][None], (y @ u.T)[None], likelihood, 0.0)[0]
        return float(u[:, 0] @ a @ u[:, 0] - np.linalg.eigvalsh(u[:, 1:].T @ a @ u[:, 1:])[-1])

    return {"seed": point, "patterns": m, "threshold": brentq(lead, 1e-3, 1 - 1e-3, xtol=1e-14)}
