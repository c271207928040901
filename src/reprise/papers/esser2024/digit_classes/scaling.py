"""How the time of a step grows with the width."""

import numpy as np
import pandas as pd


def wide(widths: pd.Series) -> np.ndarray:
    """The wider half of the widths, three at least: there the fixed cost of a step no longer shows."""
    each = np.unique(widths)
    return each[-max(3, len(each) // 2) :]


def slopes(times: pd.DataFrame) -> pd.Series:
    """Of log seconds on log width among the wide nets, by least squares, a repeat (`seed`) each."""
    rows = times[times["width"].isin(wide(times["width"]))]
    table = rows.pivot(index="width", columns="seed", values="seconds").sort_index()
    if table.empty or not np.isfinite(table.to_numpy(dtype=float)).all():
        return pd.Series(np.nan, table.columns, dtype=float)
    slope, _ = np.polyfit(np.log(table.index.to_numpy(dtype=float)), np.log(table.to_numpy(dtype=float)), 1)
    return pd.Series(slope, table.columns)
