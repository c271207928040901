"""Growth of a step's time with the width."""

import numpy as np
import pandas as pd


def wide(widths: pd.Series) -> np.ndarray:
    """The wider half of the widths, at least three, for which a step's fixed cost is negligible."""
    unique_widths = np.unique(widths)
    return unique_widths[-max(3, len(unique_widths) // 2) :]


def slopes(times: pd.DataFrame) -> pd.Series:
    """Least-squares slopes of log seconds against log width among the wide nets, one per repeat (`seed`)."""
    rows = times[times["width"].isin(wide(times["width"]))]
    table = rows.pivot(index="width", columns="seed", values="seconds").sort_index()
    if table.empty or not np.isfinite(table.to_numpy(dtype=float)).all():
        return pd.Series(np.nan, table.columns, dtype=float)
    slope, _ = np.polyfit(np.log(table.index.to_numpy(dtype=float)), np.log(table.to_numpy(dtype=float)), 1)
    return pd.Series(slope, table.columns)
