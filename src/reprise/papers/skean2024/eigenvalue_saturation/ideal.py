"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.learning import PIXELS
from reprise.papers.skean2024.eigenvalue_saturation.experiment import SHARED_RATE, Params
from reprise.papers.skean2024.eigenvalue_saturation.measures import RUN, SCALES
from reprise.papers.skean2024.lineup import FIGURE3_PUBLISHED, TOP

STEPS = range(0, 101, 4)
OWN_RATE = 0.03


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Networks that have all learned, best at the shared rate. The first eigenvalue rises at once, the last
    later, FroSSL's soonest and highest."""
    rng = np.random.default_rng(0)
    runs = [
        (params.data_set, method, own, OWN_RATE if own else SHARED_RATE, seed)
        for own, method, seed in product(
            (False, True), (*FIGURE3_PUBLISHED, "frossl"), params.seed_range(params.seeds)
        )
    ]
    spectra = [_spectra(run, rng) for run in runs]
    probes = pd.DataFrame(runs, columns=RUN)
    probes["top1"] = 60 - 2.0 * probes["own_rate"] + 0.1 * rng.normal(size=len(probes))
    return {
        "eigenvalues": pd.concat([eigenvalues for eigenvalues, _ in spectra], ignore_index=True),
        "traces": pd.concat([traces for _, traces in spectra], ignore_index=True),
        "probes": probes.assign(start=20.0, **dict.fromkeys(PIXELS, 20.0)),
    }


def _spectra(run: tuple, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A run's largest eigenvalue and its `TOP`th, and its traces."""
    is_frossl = run[1] == "frossl"
    rises = {1: 8, TOP: (28 if is_frossl else 60) + 4 * int(rng.integers(2))}
    ends = {1: 5.0, TOP: (4.0 if is_frossl else 1.0) + 0.1 * rng.normal()}
    described = dict(zip(RUN, run, strict=True))
    eigenvalues = [
        pd.DataFrame({"step": STEPS, "index": index, **dict.fromkeys(SCALES, values)})
        for index in (1, TOP)
        for values in [ends[index] * np.where(np.array(STEPS) >= rises[index], 1.0, 0.05)]
    ]
    entropy = (4.0 if is_frossl else 3.0) + 0.05 * rng.normal()
    traces = pd.DataFrame({"step": STEPS, **dict.fromkeys((f"entropy_{scale}" for scale in SCALES), entropy)})
    return pd.concat(eigenvalues).assign(**described), traces.assign(view_correlation=0.9, **described)
