"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.ren2023.spectra import SPECTRA
from reprise.papers.ren2023.two_stages.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """With negatives the condition number doubles in Stage 1 and falls to 1 in Stage 2; without them the
    output collapses to rank one."""
    rng = np.random.default_rng(0)
    steps = np.array(params.recorded)
    stage1 = np.minimum(steps / params.stage1_steps, 1.0)
    stage2 = np.maximum(steps - params.stage1_steps, 0) / params.stage2_steps
    rising = 2.0 + 3 * stage1
    falling = 1.0 + (rising - 1) * np.exp(-20 * stage2)
    pieces = []
    for loss, spectrum, noise, seed in product(
        ("contrastive", "non-contrastive"), SPECTRA, (True, False), params.seed_range(params.seeds)
    ):
        contrastive = loss == "contrastive"
        shaken = 1 + 0.004 * rng.normal()
        end = 0.98 * params.signals if contrastive else 1.02
        rank = 0.5 * params.signals + (end - 0.5 * params.signals) * (stage1 + stage2) / 2
        columns = {
            "loss": loss,
            "spectrum": spectrum,
            "noise": noise,
            "seed": seed,
            "step": steps,
            "stage": np.where(steps <= params.stage1_steps, 1, 2),
            "condition": 1 + (falling - 1 if contrastive else rising - 1) * shaken,
            "noise_to_signal": 0.5 * (1 - 0.4 * (stage1 + stage2)) * shaken if noise else 0.0,
            "distance": 1.4 * np.exp(-6 * stage1),
            "alignment": np.where(steps > 0, 1 - 0.5**params.signals, 0.5 * shaken),
            "stable_rank": np.maximum(rank * shaken, 1.0),
            "intrinsic_dimension": 0.5 * params.signals,
            "loss_value": 1.0,
        }
        pieces.append(pd.DataFrame(columns))
    trajectory = pd.concat(pieces, ignore_index=True)
    trajectory["signals"], trajectory["fresh_pairs"] = params.signals, params.fresh_pairs
    return {"trajectory": trajectory}
