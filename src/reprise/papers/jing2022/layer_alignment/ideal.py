"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.jing2022.layer_alignment.experiment import Params

STARTS = ("independent", "balanced")


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """The layers align; the larger a singular value, the more it grows; the embeddings' last collapses."""
    rng = np.random.default_rng(0)
    seeds, indices, steps = params.seed_range(params.seeds), range(1, params.dim + 1), (0, params.steps)

    def table(columns: dict[str, object]) -> tuple[pd.DataFrame, np.ndarray]:
        """The product of the columns' values, and factors that spread by 1 %."""
        made = pd.DataFrame(product(*columns.values()), columns=list(columns))  # type: ignore[call-overload]
        return made, 1 + 0.01 * rng.uniform(-1, 1, len(made))

    trajectory, spread = table({"step": steps, "arm": STARTS, "seed": seeds})
    trajectory["off_diagonal_mass"] = np.where(trajectory["step"] == 0, 0.9, 0.01) * spread
    layers = ("W1", "W2", "embedding")
    values, spread = table({"step": steps, "arm": STARTS, "layer": layers, "seed": seeds, "index": indices})
    at_end, rank = values["step"] > 0, values["index"]
    grown = 1 + (params.dim + 1 - rank) / params.dim
    falling = 0.9**rank * np.where(at_end & (rank == params.dim), 1e-4, 1.0)
    values["singular_value"] = spread * np.where(
        values["layer"] == "embedding", falling, np.where(at_end, 0.2 * grown, 0.2)
    )
    ode, spread = table({"step": steps, "seed": seeds, "index": indices})
    for layer in ("w1", "w2"):
        ode[layer] = 1.0 * ode["index"]
        ode[f"{layer}_ode"] = np.where(ode["step"] > 0, 1 + 0.002 * spread, 1.0) * ode[layer]
        ode[f"{layer}_coarse"] = np.where(ode["step"] > 0, 1 + 0.0035 * spread, 1.0) * ode[layer]
    return {"trajectory": trajectory, "singular_values": values, "theorem3": ode}
