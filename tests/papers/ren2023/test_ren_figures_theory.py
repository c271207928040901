"""The figures of Ren & Li's theory, drawn from smoke tables, show the numbers of their tables."""

import numpy as np
import pytest
from reading import assert_mean, drawn, labels, series, where

MOMENTS = {
    "no negatives, at rest": "without negatives",
    "end of Stage 1": "stage 1",
    "end of Stage 2": "stage 2",
    "start": "start",
}


def test_theorem_43(smoke):
    (left, right), base, params = drawn("ren2023/thm43_dimension", smoke)
    assert labels(left) == [*MOMENTS, "closed form"]
    assert labels(right) == list(MOMENTS)
    for label, moment in MOMENTS.items():
        rows = where(base["ends"], moment=moment)
        assert tuple(rows["dim"]) == params.dims
        for panel, expected in ((left, rows["condition"]), (right, rows["stable_rank"] / rows["signals"])):
            np.testing.assert_allclose(series(panel)[label], [rows["dim"], expected])
    closed = base["closed_form"]
    np.testing.assert_allclose(series(left)["closed form"], [closed["dim"], closed["condition"]])


def test_section_5(smoke):
    panels, base, params = drawn("ren2023/sec5_temperature", smoke)
    over_time, against, stage1 = panels
    table = base["uniform"]
    assert params.claimed_negatives == 255
    assert labels(over_time) == [f"τ² = {tau2:g}" for tau2 in (0.5, 2, 96)]
    for tau2 in (0.5, 2.0, 96.0):
        rows = where(table, tau2=tau2, negatives=255.0)
        assert_mean(over_time, f"τ² = {tau2:g}", rows, "step", "condition", axis="linear")
    assert labels(against) == ["largest / first", "last, K = 31", "last, K = 255"]
    for negatives in (31.0, 255.0):
        rows = where(table, negatives=negatives, step=table["step"].max())
        values = np.exp(np.log(rows["condition"]).groupby(rows["tau2"]).mean())
        found_x, found_y = series(against)[f"last, K = {negatives:g}"]
        np.testing.assert_allclose(found_x, values.index)
        np.testing.assert_allclose(found_y, values, rtol=1e-6)
    at_255 = where(table, negatives=255.0)
    wide = at_255.pivot(index=["tau2", "seed"], columns="step", values="condition")
    rise = np.log(wide.max(axis=1) / wide[0]).groupby("tau2").mean()
    np.testing.assert_allclose(series(against)["largest / first"][1], np.exp(rise), rtol=1e-6)
    assert labels(stage1) == ["time unscaled", "time scaled", "∝ τ²"]
    assert_mean(stage1, "time scaled", base["stage1"], "tau2", "distance")
    assert_mean(stage1, "time unscaled", base["stage1"], "tau2", "distance_unscaled")
    x, y = series(stage1)["∝ τ²"]
    assert y[1] / y[0] == pytest.approx(x[1] / x[0])
