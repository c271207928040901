"""The objective on the circle and the angles that attract, for the paper's data and for random data."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from jaxtyping import Float

from reprise.contract.experiment import Context
from reprise.numerics.streams import stream
from reprise.papers.tian2023.local_optima.circle import (
    Importance,
    Unit,
    gaussian,
    infonce,
    optima,
    reached,
    uniform,
)
from reprise.papers.tian2023.local_optima.experiment import Params

Array = np.ndarray

CURVE_ANGLES = 720
"""Number of angles per curve in the figure."""


@dataclass(frozen=True)
class Data:
    """Points in the plane, with a rotation and a grid to examine them.

    Attributes:
        angles, lengths: polar coordinates of the points; angles in radians.
        turn: rotation of all points, in radians; recorded angles do not include it.
        first: the grid's first angle.
    """

    name: str
    seed: int
    angles: Float[Array, " sample"]
    lengths: Float[Array, " sample"]
    turn: float
    first: float

    def unit(self, activation: str, alpha: Importance = uniform) -> Unit:
        return Unit(self.angles + self.turn, self.lengths, activation == "relu", alpha)

    def recorded(self, angle: float) -> float:
        """An angle without the rotation, in radians from -π to π."""
        return (angle - self.turn + math.pi) % (2 * math.pi) - math.pi


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `curves`, `optima`, their `counts` under rotations, how many of them several units collect
    (`collected`), and the data's first principal direction (`pca`).

    The data of Figure 8 (`E.1`) are fixed. Their seeds only rotate the points and shift the grid, which must
    not change any result, so intervals over these seeds have zero width. Seed 0 does not rotate. Each seed of
    `random` is a new data set.
    """
    data_sets = [*_published(params), *_random(params)]
    alphas: dict[str, Importance] = {
        "uniform": uniform,
        "gaussian": partial(gaussian, tau=params.tau),
        "infonce": partial(infonce, tau=params.tau),
    }
    optimum_rows, counts, directions, collections = [], [], [], []
    for index, data in enumerate(data_sets):
        context.progress(index, len(data_sets), f"local optima, {data.name} data")
        row = {"data": data.name, "seed": data.seed}
        directions.append({**row, "angle": data.recorded(_principal_direction(data.unit("linear")))})
        for activation in ("linear", "relu"):
            collections += [
                {**row, "activation": activation, **each} for each in _collected(data, activation, params)
            ]
            for alpha, importance in alphas.items():
                unit = data.unit(activation, importance)
                case = {**row, "activation": activation, "alpha": alpha}
                optimum_rows += [{**case, **optimum} for optimum in _optima(unit, data, params.grid)]
        unit = data.unit("relu")
        for rotation in params.rotations:
            augmented = replace(unit, rotation=math.radians(rotation))
            theta = augmented.around(params.grid, data.first)
            energy, velocity = augmented.energy_and_velocity(theta)
            count = len(optima(augmented, theta, velocity).angle)
            size = {"maxima": count, "energy": energy.mean(), "energy_range": np.ptp(energy)}
            counts.append({**row, "rotation": rotation, **size})
    return {
        "curves": _curves(replace(data_sets[0], turn=0.0), alphas),
        "optima": pd.DataFrame(optimum_rows),
        "counts": pd.DataFrame(counts),
        "collected": pd.DataFrame(collections),
        "pca": pd.DataFrame(directions),
    }


def _published(params: Params) -> Iterator[Data]:
    angles = math.pi * np.array(params.points)
    for seed in params.seed_range(params.repeats):
        turn, first = stream(seed, "turn").uniform(-math.pi, math.pi, 2)
        yield Data("E.1", seed, angles, np.ones(len(angles)), turn if seed else 0.0, first)


def _random(params: Params) -> Iterator[Data]:
    """Random data: angles uniform on the circle, lengths uniform from 1/2 to 3/2."""
    size = len(params.points)
    for seed in params.seed_range(params.data_sets):
        rng = stream(seed, "data")
        angles, lengths = rng.uniform(-math.pi, math.pi, size), rng.uniform(0.5, 1.5, size)
        yield Data("random", seed, angles, lengths, 0.0, rng.uniform(-math.pi, math.pi))


def _optima(unit: Unit, data: Data, grid: int) -> list[dict[str, float]]:
    """The optima's angles, heights and depths as shares of the highest energy, speeds as shares of the
    fastest."""
    theta = unit.around(grid, data.first)
    energy, velocity = unit.energy_and_velocity(theta)
    attractors = optima(unit, theta, velocity)
    max_energy, max_speed = max([*energy, *attractors.energy]), np.abs(velocity).max()
    columns = (
        attractors.angle,
        attractors.energy / max_energy,
        attractors.depth / max_energy,
        attractors.speed / max_speed,
    )
    return [
        {"angle": data.recorded(angle), "height": height, "depth": depth, "speed": speed}
        for angle, height, depth, speed in zip(*columns, strict=True)
    ]


def _principal_direction(unit: Unit) -> float:
    """The angle of ϕ1, the data covariance's first eigenvector."""
    x = unit.lengths * np.array([np.cos(unit.angles), np.sin(unit.angles)])
    _, vectors = np.linalg.eigh(np.cov(x))
    return math.atan2(vectors[1, -1], vectors[0, -1])


def _collected(data: Data, activation: str, params: Params) -> list[dict[str, float]]:
    """Mean number of different patterns that so many units learn under a uniform α, from starts uniform on
    the circle: the optima that they reach, where the optima w and -w of a linear unit are one pattern."""
    unit = data.unit(activation)
    theta = unit.around(params.grid, data.first)
    attractors = optima(unit, theta, unit.energy_and_velocity(theta)[1])
    starts = stream(data.seed, f"starts/{data.name}").uniform(
        0, 2 * math.pi, (params.draws, max(params.units))
    )
    basins = reached(attractors.edge, starts)
    if activation == "linear":
        basins = basins % (len(attractors.edge) // 2)
    return [
        {"units": units, "patterns": float(np.mean([len(np.unique(draw[:units])) for draw in basins]))}
        for units in params.units
    ]


def _curves(data: Data, alphas: dict[str, Importance]) -> pd.DataFrame:
    """The objective's curves, each scaled to a maximum of 1."""
    theta = np.linspace(-math.pi, math.pi, CURVE_ANGLES + 1)
    tables = []
    for activation in ("linear", "relu"):
        for alpha, importance in alphas.items():
            energy, _ = data.unit(activation, importance).energy_and_velocity(theta)
            case = {"activation": activation, "alpha": alpha, "angle": theta}
            tables.append(pd.DataFrame({**case, "objective": energy / energy.max()}))
    return pd.concat(tables, ignore_index=True)
