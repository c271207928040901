"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.learning import PIXELS
from reprise.papers.skean2024.early_lead.claims import FINALS, LEAD, K
from reprise.papers.skean2024.early_lead.experiment import EPOCHS, PAIR, SHOWN, Params, epochs_between_looks


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Networks that end as printed; FroSSL leads as printed for the epochs that the figure shows, and by a
    point in the end."""
    rng = np.random.default_rng(0)
    seeds = params.seed_range(params.seeds)
    interval = epochs_between_looks(params)
    looks = product(PAIR, range(interval, EPOCHS + 1, interval), seeds)
    online = pd.DataFrame(looks, columns=["method", "epoch", "seed"])
    leads = np.where(online["epoch"] <= SHOWN, LEAD.value, 1.0) * (online["method"] == "frossl")
    probes = pd.DataFrame(product(PAIR, seeds), columns=["method", "seed"])
    ends = {number.key: number.value for number in FINALS}
    for name in K:
        online[name] = 30 + leads + 0.1 * rng.normal(size=len(online))
        probes[name] = [ends[f"fig4/{method}-{name}"] for method in probes["method"]]
        probes[name] += 0.1 * rng.normal(size=len(probes))
    return {"online": online, "probes": probes.assign(start=10.0, **dict.fromkeys(PIXELS, 10.0))}
