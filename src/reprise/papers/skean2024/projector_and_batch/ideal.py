"""Tables in which the claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.learning import PIXELS
from reprise.papers.skean2024.projector_and_batch.experiment import Params, networks


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Networks that have all learned, as much with small batches as with large ones."""
    rng = np.random.default_rng(0)
    columns = [dict(net.columns) for net in networks(params)]
    shapes = dict.fromkeys((row["dim"], row["batch"]) for row in columns)
    probes = pd.DataFrame(
        [(dim, batch, seed) for (dim, batch), seed in product(shapes, params.seed_range(params.seeds))],
        columns=["dim", "batch", "seed"],
    )
    probes["top1"] = 70 + 0.1 * rng.normal(size=len(probes))
    return {"probes": probes.assign(start=20.0, **dict.fromkeys(PIXELS, 20.0))}
