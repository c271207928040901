"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.ren2023.finite_width.claims import KINDS
from reprise.papers.ren2023.finite_width.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Distances and cosines that fall with the root of the width, and errors as the step and the batch size
    say."""
    rng = np.random.default_rng(0)
    end = params.stage1_time + params.stage2_time
    looks = ((1, 0.0), (1, params.stage1_time), (2, end))

    def about(powers: pd.Series) -> pd.Series:
        return powers * rng.uniform(0.95, 1.05, len(powers))

    def table(name: str, values: tuple, seeds: int, power: float) -> pd.DataFrame:
        made = pd.DataFrame(product(values, params.seed_range(seeds), looks), columns=[name, "seed", "look"])
        made["stage"], made["time"] = made["look"].str[0], made["look"].str[1]
        return made.assign(distance=about(made[name] ** power))

    losses = ("contrastive", "non-contrastive")
    widths = pd.concat(
        [table("width", params.widths, params.width_seeds, -0.5).assign(loss=loss) for loss in losses],
        ignore_index=True,
    )
    for column in KINDS:
        widths[column] = about(widths["width"] ** -0.5)
    return {
        "widths": widths,
        "steps": table("step_size", params.step_sizes, params.seeds, 1.0),
        "batches": table("batch_size", params.batch_sizes, params.seeds, -0.5),
    }
