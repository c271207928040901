"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.datasets.catalogue import DATA_SETS
from reprise.evidence.learning import PIXELS
from reprise.papers.jing2022.projector_spectra.networks import START
from reprise.papers.jing2022.projector_spectra.settings import WITHOUT_SHORTCUT, Params

ACCURACY = {
    ("nonlinear", "all"): 66.5,
    ("linear", "all"): 61.1,
    ("none", "all"): 51.5,
    ("directclr", "all"): 63.3,
    ("directclr", "subvector"): 47.9,
    ("directclr", "rest"): 60.0,
    ("low_rank", "all"): 62.3,
    ("diagonal", "all"): 58.9,
    (WITHOUT_SHORTCUT, "all"): 58.0,
    (WITHOUT_SHORTCUT, "rest"): 30.0,
}
"""Accuracies in %, by network and part: near the printed ones, and further apart where the printed ones are
close."""
COLLAPSED = {
    ("nonlinear", "embedding"): 30,
    (START, "embedding"): 20,
    ("nonlinear", "representation"): 2,
    ("linear", "representation"): 5,
    ("none", "representation"): 40,
    ("directclr", "representation"): 2,
    (START, "representation"): 20,
}
"""Singular values that are collapsed."""
DIMENSIONS = {"representation": 64, "embedding": 128}


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Networks that have all learned; the representation collapses for want of a projector."""
    rng = np.random.default_rng(0)
    seeds = params.seed_range(params.seeds)
    probes = pd.DataFrame(
        [(net, part, seed, mean) for (net, part), mean in ACCURACY.items() for seed in seeds],
        columns=["net", "part", "seed", "accuracy"],
    )
    probes["accuracy"] += 0.1 * rng.normal(size=len(probes))
    probes["initial"] = 10.0 + 0.1 * rng.normal(size=len(probes))
    data_sets = [params.data_set, *(name for name in DATA_SETS if name != params.data_set)]
    spectra = [
        pd.DataFrame(
            {
                "data_set": data_set, "place": place, "seed": seed, "net": net, "what": what,
                "index": np.arange(1, DIMENSIONS[what] + 1),
                "log_value": _spectrum(DIMENSIONS[what], few + int(rng.integers(2)), net != START),
            }
        )
        for (place, data_set), seed in product(enumerate(data_sets), seeds)
        for (net, what), few in COLLAPSED.items()
    ]  # fmt: skip
    return {
        "probes": probes.assign(**dict.fromkeys(PIXELS, 12.0)),
        "spectra": pd.concat(spectra, ignore_index=True),
    }


def _spectrum(dimensions: int, collapsed: int, steep: bool) -> np.ndarray:
    """Logarithms of singular values: equal ones, and collapsed ones, behind a gap or one value between."""
    others = np.zeros(dimensions - collapsed)
    if not steep:
        others[-1] = -3.9
    return np.append(others, np.full(collapsed, -20.0 if steep else -7.8))
