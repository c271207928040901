"""Tables in which every claim of this room holds."""

import numpy as np
import pandas as pd

from reprise.papers.ren2023.dimension.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """A condition number of d^0.4 after Stage 1 and without negatives, and 1 after Stage 2."""
    dims = np.array(params.dims)
    signals = dims // 2
    table = {"dim": dims, "signals": signals, "tolerance": params.tolerance}
    moments = {
        "start": {"condition": np.log(dims) ** 0.5, "stable_rank": signals / 2, "distance": 2**0.5},
        "without negatives": {"condition": dims**0.4, "stable_rank": 1 + dims**-0.5, "distance": 0.0},
        "stage 1": {"condition": dims**0.4, "stable_rank": 1 + dims**-0.5, "distance": 0.01},
        "stage 2": {"condition": 1.0, "stable_rank": signals * (1 - params.tolerance), "distance": 0.0},
    }
    ends = [pd.DataFrame({**table, "moment": name, **columns}) for name, columns in moments.items()]
    return {"ends": pd.concat(ends, ignore_index=True)}
