"""Tests each formula at random points, and compares gradient descent of both layers with its closed form."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray as Array

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.evidence.formula import checks
from reprise.evidence.identities import orthonormal, tried
from reprise.numerics.streams import stream
from reprise.papers.skean2024.linear_dynamics import formulas
from reprise.papers.skean2024.linear_dynamics.experiment import Params
from reprise.papers.skean2024.linear_views import LOSSES, Loss, closed_form

CHECKS = checks(formulas.FORMULAS)
SIZES = ("samples", "inputs", "outputs")

Layers = Float[Array, "*run 2 output input"]


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables:

    `identities`: the relative error of every formula in each of its forms, one row per point (`seed`).
    `closed_form`: the singular values of W1 in descent from aligned layers and by the closed form, one row
    per loss, seed, time and mode.
    `equation_18`: the singular values by Eq. 18 as printed, one row per time and mode.
    `small_starts`: the eigenvalues of Z1ᵀZ1 under Eq. 8, in descent from random layers of each standard
    deviation and by the closed form of the aligned layers they approach, one row per time and eigenvalue.
    `coarse` is descent with steps twice as long, which tells how precise it is.
    """
    points = params.seed_range(params.points)
    data = [_data(params, seed) for seed in params.seed_range(params.seeds)]
    views, u, v = (np.stack(arrays) for arrays in zip(*data, strict=True))
    from_aligned = _from_aligned(params, views, u, v)
    return {
        "identities": tried(CHECKS, points, params.largest, SIZES, context),
        "closed_form": from_aligned,
        "equation_18": _by_equation_18(params, np.unique(from_aligned["time"])),
        "small_starts": _from_random(params, views, v),
    }


def _modes(params: Params) -> tuple[Array, Array]:
    """λ and c."""
    variances = np.array(params.variances)
    return variances, variances * params.correlations


def _data(params: Params, seed: int) -> tuple[Array, Array, Array]:
    """X1 and X2 with these modes in random directions; U; V."""
    rng = stream(seed, 18)
    variances, cross = _modes(params)
    modes, rho = len(variances), cross / variances
    frame = orthonormal(rng, 2 * modes + 2, 2 * modes)
    left = frame[:, :modes], frame[:, :modes] * rho + frame[:, modes:] * np.sqrt(1 - rho**2)
    v = orthonormal(rng, modes + 3, modes)
    views = np.stack([side * np.sqrt(variances) @ v.T for side in left])
    return views, orthonormal(rng, modes, modes), v


def descent_of_layers(
    loss: Loss, x: Float[Array, "*run 2 sample input"], w: Layers, learning_rate: float
) -> Iterator[Layers]:
    """Yields W1 and W2 before the first step and after each step."""
    while True:
        yield w
        gradient = loss.gradient(x @ w.swapaxes(-1, -2))
        w = w - learning_rate * gradient.swapaxes(-1, -2) @ x


def _recorded(
    loss: Loss,
    x: Float[Array, "*run 2 sample input"],
    w: Layers,
    learning_rate: float,
    steps: Int[Array, " record"],
    measure: Callable[[Layers], Array],
) -> list[Array]:
    """The measure of the layers at each of the steps."""
    selected = set(steps.tolist())
    path = zip(range(steps[-1] + 1), descent_of_layers(loss, x, w, learning_rate), strict=False)
    return [measure(layers) for step, layers in path if step in selected]


def _even_steps(learning_rate: float, horizon: float, records: int) -> Int[Array, " record"]:
    """Steps at evenly spaced times, which half as many steps of twice the size come to as well."""
    return 2 * np.unique(np.rint(np.linspace(0, horizon / learning_rate / 2, records)).astype(int))


def _from_aligned(params: Params, x: Array, u: Array, v: Array) -> pd.DataFrame:
    variances, cross = _modes(params)
    start = np.full(len(variances), params.start)
    w, u_t = np.stack([params.start * u @ v.swapaxes(1, 2)] * 2, 1), u.swapaxes(1, 2)
    steps = _even_steps(params.learning_rate, params.horizon, params.records)
    time = steps * params.learning_rate
    tables = []
    for name, loss in LOSSES.items():
        fine, coarse = (
            np.stack(
                _recorded(
                    loss,
                    x,
                    w,
                    size * params.learning_rate,
                    steps // size,
                    lambda layers: np.einsum("...ii->...i", u_t @ layers[:, 0] @ v),
                ),
                1,
            )
            for size in (1, 2)
        )
        exact = np.sqrt(closed_form(name, variances, cross, start, time))
        table = tidy(
            {
                "seed": params.seed_range(params.seeds),
                "time": time.tolist(),
                "mode": range(1, len(variances) + 1),
            },
            descent=fine,
            coarse=coarse,
            closed_form=np.broadcast_to(exact, fine.shape),
        )
        tables.append(table.assign(loss=name))
    return pd.concat(tables, ignore_index=True)


def _by_equation_18(params: Params, time: Array) -> pd.DataFrame:
    variances, _ = _modes(params)
    values = formulas.eq18(np.full(len(variances), params.start), variances, variances, time)
    return tidy({"time": time.tolist(), "mode": range(1, len(variances) + 1)}, singular_value=values)


def _from_random(params: Params, x: Array, v: Array) -> pd.DataFrame:
    """Descent from random layers, and the closed form of the aligned layers that small random ones approach.

    These start, in each mode, with the part of its column of (W1 + W2) V / 2 that is orthogonal to the
    columns of the modes that grow faster.
    """
    variances, cross = _modes(params)
    order = np.argsort(-(variances + cross))
    shape = (2, len(variances), x.shape[-1])
    seeds = params.seed_range(params.seeds)
    normals = np.stack([stream(seed, 2).normal(size=shape) for seed in seeds])
    stds = np.array(params.stds)
    w = stds[:, None, None, None, None] * normals
    columns = (w.mean(2) @ v)[..., order]
    starts = np.abs(np.einsum("...ii->...i", np.linalg.qr(columns)[1]))
    rate = params.random_learning_rate
    steps = _even_steps(rate, params.random_horizon, params.records)
    fine, coarse = (
        np.stack(
            _recorded(
                LOSSES["frossl"], x[None], w, size * rate, steps // size,
                lambda layers: np.linalg.svd(
                    x[None, :, 0] @ layers[:, :, 0].swapaxes(-1, -2), compute_uv=False
                ) ** 2,
            ),
            2,
        )
        for size in (1, 2)
    )  # fmt: skip
    time = steps * rate
    predicted = [
        [
            variances[order] * closed_form("frossl", variances[order], cross[order], s, time)
            for s in seed_starts
        ]
        for seed_starts in starts
    ]
    return tidy(
        {
            "std": stds.tolist(),
            "seed": seeds,
            "time": time.tolist(),
            "index": range(1, len(variances) + 1),
        },
        eigenvalue=fine,
        coarse=coarse,
        aligned=-np.sort(-np.array(predicted), axis=-1),
    )
