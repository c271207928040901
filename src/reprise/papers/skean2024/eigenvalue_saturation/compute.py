"""Trains Figure 3's methods at the shared learning rate and at their own, and collects traces of their
spectra."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.papers.skean2024 import observations
from reprise.papers.skean2024.eigenvalue_saturation.experiment import Params, tasks
from reprise.papers.skean2024.observations import perform

SHORT = dict(zip(observations.SCALES, ("raw", "normalised"), strict=True))
"""Unscaled, and with columns of unit variance; the paper does not say which it shows."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `eigenvalues`, the largest of view 1's embedding covariance, of one batch, at every trace;
    `traces`, the entropy of all eigenvalues and the mean correlation of the views' dimensions; `probes`, the
    final linear probes; `pilots`, what chose the methods' own learning rates."""
    results = context.results(perform, params, tasks(params, context.objective))
    numbers = observations.numbers(results.values())
    traces = {
        "eigenvalues": _columns(numbers, SHORT, [*observations.RUN, "step", "index"]),
        "traces": _columns(
            numbers,
            {
                "loss": "loss",
                "view_correlation": "view_correlation",
                **{f"entropy of {scale}": f"entropy_{short}" for scale, short in SHORT.items()},
            },
            [*observations.RUN, "step"],
        ),
    }
    return {
        **{name: table.assign(data_set=params.data_set) for name, table in traces.items()},
        "probes": observations.probe_table(numbers),
        "pilots": observations.pilot_table(numbers),
    }


def _columns(numbers: pd.DataFrame, names: dict[str, str], index: list[str]) -> pd.DataFrame:
    """The named numbers, one column each."""
    chosen = numbers[numbers["what"].isin(names)]
    integers = {name: int for name in index if name in ("step", "index")}
    wide = chosen.astype(integers).pivot(index=index, columns="what", values="value")
    return wide.rename(columns=names).rename_axis(columns=None).reset_index()
