"""Power iteration in the latent summation model, the threshold of Eq. 9, and the formulas of Section 3.3."""

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.optimize import brentq

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.evidence.formula import checks
from reprise.evidence.identities import orthonormal, size, tried
from reprise.numerics.streams import stream
from reprise.papers.tian2023.power_iteration import irregularity
from reprise.papers.tian2023.power_iteration.experiment import Params
from reprise.papers.tian2023.power_iteration.formulas import FORMULAS
from reprise.papers.tian2023.power_iteration.summation import a_matrix, patterns, power_step, states

Array = np.ndarray

REST = 1e-8
"""A step shorter than this counts as rest, a return closer than this as exact; at rest steps are about
1e-16."""
LONGEST = 24
"""Longest period that counts as a cycle, in steps."""
NEAR = 1e-6
"""Distance of the two weights on either side of a jump of A(w)."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `steps` of the runs from u_1, `ends` of the runs from every u_m, the `irregularity` at u_1, Eq.
    9's `thresholds`, and the `identities`."""
    models = {"discrete": 0.0, "smoothed": params.noise_std}
    y, likelihood = states(np.full(params.patterns, params.probability))
    seeds = params.seed_range(params.seeds)
    u = np.stack(
        [patterns(stream(seed, "patterns"), params.patterns, params.gram_distances) for seed in seeds], 1
    )
    axes = {"model": list(models), "gram_distance": params.gram_distances, "seed": seeds}
    runs = {
        model: _iterate(u, y, likelihood, noise_std, params.iterations, context)
        for model, noise_std in models.items()
    }
    points = params.seed_range(params.points)
    measurements = [_irregularity(u, y, likelihood, noise_std) for noise_std in models.values()]
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
            axes, **{name: np.stack([model[name] for model in measurements]) for name in measurements[0]}
        ),
        "thresholds": pd.DataFrame([_threshold(point, params.largest) for point in points]),
        "identities": tried(checks(FORMULAS), points, params.largest, ("dimension",), context),
    }


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
        period: the number of steps since the last weight last occurred: 1 at a fixed point, 0 if it never
            did;
        distance: distance of the last weight from its u_m;
        nearest: 1 if no other u_m' is nearer (all three [s seed start]).
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
    returned = np.linalg.norm(np.stack(path[-2::-1]) - path[-1], axis=2) < REST
    overlaps = np.einsum("...dm,...kd->...km", u, path[-1].reshape(*shape, m, dim))
    return {
        "steps": np.stack(steps, -1).reshape(*shape, m, iterations),
        "period": np.where(returned.any(0), returned.argmax(0) + 1, 0).reshape(*shape, m),
        "distance": np.linalg.norm(path[-1] - starts, axis=1).reshape(*shape, m),
        "nearest": (overlaps.argmax(-1) == np.arange(m)).astype(float),
    }


def _irregularity(
    u: Float[Array, "s seed dim m"], y: Array, likelihood: Array, noise_std: float
) -> dict[str, Array]:
    """The quantities in Theorem 3's condition, for w(0) = u_1.

    Returns:
        lipschitz: a lower bound on A's Lipschitz constant L over the sphere: the largest ‖A(v) - A(v')‖₂ /
            ‖v - v'‖₂ of some pairs around u_1 and around the nearest weight at which wᵀ x changes sign for a
            state;
        omega: ω at u_1 with that L and κ = 0, a lower bound on its supremum over B_γ;
        covered: 1 if the condition provably holds with L taken over B_γ only, where A(w) is constant;
        radius: radius of that B_γ, or 0 if the condition is not proven (all four [s seed]).
    """
    values = [
        [_irregularity_at(basis[:, 0], y @ basis.T, likelihood, noise_std) for basis in seeds] for seeds in u
    ]
    return {name: np.array([[entry[name] for entry in row] for row in values]) for name in values[0][0]}


def _irregularity_at(w: Array, means: Array, likelihood: Array, noise_std: float) -> dict[str, float]:
    directions = means / np.linalg.norm(means, axis=1, keepdims=True)
    nearest_direction = directions[np.abs(directions @ w).argmin()]
    border = w - (nearest_direction @ w) * nearest_direction
    pairs = [(w, direction) for direction in np.eye(len(w))] + [
        (border / np.linalg.norm(border), nearest_direction)
    ]
    points = np.array(
        [centre + sign * NEAR / 2 * direction for centre, direction in pairs for sign in (1, -1)]
    )
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    a = a_matrix(points, np.broadcast_to(means, (len(points), *means.shape)), likelihood, noise_std)
    change = np.linalg.norm(a[0::2] - a[1::2], 2, (1, 2))
    lipschitz = float((change / np.linalg.norm(points[0::2] - points[1::2], axis=1)).max())
    a0 = a_matrix(w[None], means[None], likelihood, noise_std)[0]
    values, _ = irregularity.eigenpairs(a0)
    c = float(irregularity.first_eigenvector(a0, w) @ w)
    border_distance = 2 * np.sin(np.arcsin(abs(nearest_direction @ w)) / 2)
    certificate = irregularity.certificate(a0, w, 0.0) if noise_std == 0 else None
    is_covered = certificate is not None and certificate.radius < border_distance
    return {
        "lipschitz": lipschitz,
        "omega": irregularity.omega(c, values[1] / values[0], values[0] - values[1], lipschitz, 0.0),
        "covered": float(is_covered),
        "radius": certificate.radius if certificate and is_covered else 0.0,
    }


def _threshold(point: int, largest: int) -> dict[str, float]:
    """The q_m above which u_m is no longer the first eigenvector of A(u_m).

    The other patterns have random probabilities, and U is a random orthogonal matrix.
    """
    rng = stream(point, "threshold")
    m = size(rng, 2, largest)
    u = orthonormal(rng, m, m)
    other_probabilities = rng.uniform(0.05, 0.95, m - 1)

    def lead(q: float) -> float:
        """u_mᵀ A u_m minus the largest eigenvalue on the complement of u_m."""
        y, likelihood = states(np.array([q, *other_probabilities]))
        a = a_matrix(u[:, 0][None], (y @ u.T)[None], likelihood, 0.0)[0]
        return float(u[:, 0] @ a @ u[:, 0] - np.linalg.eigvalsh(u[:, 1:].T @ a @ u[:, 1:])[-1])

    return {"seed": point, "patterns": m, "threshold": brentq(lead, 1e-3, 1 - 1e-3, xtol=1e-14)}
