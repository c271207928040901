"""Tables in which every claim of this room holds."""

import numpy as np
import pandas as pd

from reprise.papers.esser2024.constrained_losses.experiment import PENALTIES, Params

HELD = {"unconstrained": 0.0, "orthogonal": 0.5, "frobenius": 0.0, "one_layer": 0.0}
"""Problem -> second singular value of two outputs as a share of the first."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Each data set has its own least loss, which every start reaches; only L_orth keeps two dimensions."""
    rng = np.random.default_rng(0)
    least = -0.8 - 0.01 * rng.random(params.seeds)
    runs = _runs(params, problem=list(HELD), output_dim=[1, 2])
    share = runs["problem"].map(HELD).where(runs["output_dim"] == 2, 0.0)
    runs = runs.assign(
        diverged_at=np.where(runs["problem"] == "unconstrained", 50.0 + runs["start"], np.nan),
        loss=least[runs["seed"] - params.first_seed],
        moved_before=1e-4,
        moved=1e-7 * rng.random(len(runs)),
        second_share=share * (1 + 0.1 * rng.random(len(runs))),
        alignment=1 - 1e-9 * rng.random(len(runs)),
        alignment_moved=0.0,
    )
    penalised = _runs(params, penalty=list(PENALTIES), strength=list(params.penalties))
    diverges = penalised["strength"] < 1
    first, second = np.where(diverges, 1.0, 1e-9), 1e-9 * rng.random(len(penalised))
    return {"runs": runs, "penalised": penalised.assign(first=first, second=second)}


def _runs(params: Params, **axes: list) -> pd.DataFrame:
    """A row for every run of every case."""
    axes = {"seed": list(params.seed_range(params.seeds)), "start": list(range(params.starts)), **axes}
    return pd.MultiIndex.from_product(list(axes.values()), names=list(axes)).to_frame(index=False)
