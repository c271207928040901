"""Figure 2 of Skean 2024 and the figure of Appendix D show the numbers of their (smoke) tables."""

import numpy as np
import pandas as pd
import pytest
from reading import assert_mean, drawn, labels, series, where

from reprise.papers.skean2024.linear_dynamics.claims import distances
from reprise.papers.skean2024.linear_dynamics.figures import LEAST
from reprise.papers.skean2024.linear_regime import claims
from reprise.papers.skean2024.linear_regime.experiment import SHOWN, VIEWS

COLUMNS = (("frossl", "same"), ("barlow", "same"), ("frossl", "strong"), ("barlow", "strong"))


@pytest.mark.parametrize("column", range(4))
def test_figure_2_losses_and_spectra(column, smoke):
    panels, base, _ = drawn("skean2024/fig02", smoke)
    assert len(panels) == 10
    run, views = COLUMNS[column]
    top, middle = panels[2 * column], panels[2 * column + 1]
    of_seed_0 = {name: where(table, run=run, views=views, seed=0) for name, table in base.items()}
    loss = of_seed_0["loss"].sort_values("step")
    np.testing.assert_allclose(top.lines[0].get_xydata(), loss[["time", "loss"]])
    found = series(middle)
    assert len(found) == 2 * SHOWN
    time = np.unique(of_seed_0["spectrum"]["time"])
    predicted = claims.eigenvalues(of_seed_0["modes"], run, time)
    for index in range(1, SHOWN + 1):
        rows = where(of_seed_0["spectrum"], index=index).sort_values("step")
        of_descent = found["gradient descent" if index == 1 else f"_{index}"]
        np.testing.assert_allclose(of_descent, rows[["time", "eigenvalue"]].T)
        closed = found["closed form" if index == 1 else f"_closed {index}"]
        np.testing.assert_allclose(closed, [time, predicted[:, index - 1]])


@pytest.mark.parametrize(("at", "clock", "barlow"), [(8, "time", "barlow"), (9, "step", "barlow-own")])
def test_figure_2_rises(at, clock, barlow, smoke):
    panels, base, _ = drawn("skean2024/fig02", smoke)
    panel = panels[at]
    assert labels(panel)[::2] == ["FroSSL (Eq. 8)", "Barlow Twins"]
    assert [tick.get_text() for tick in panel.get_xticklabels()] == [
        "the same",
        "noise",
        "weak crops",
        "strong",
    ]
    for run, name in (("frossl", "FroSSL (Eq. 8)"), (barlow, "Barlow Twins")):
        found = [claims.rise(views, run, clock)(base) for views in VIEWS]
        rows = pd.DataFrame(
            {"views": x, "seed": seed, "rise": y} for x, of in enumerate(found) for seed, y in of.items()
        )
        assert_mean(panel, name, rows, "views", "rise", log=False)
        late = [x for x, views in enumerate(VIEWS) if not claims.risen(views, run)(base).all()]
        np.testing.assert_allclose(series(panel)[f"{name}, not risen"][0], late)


def test_appendix_d(smoke):
    (left, middle, right), base, _ = drawn("skean2024/appD_closed_form", smoke)
    for panel, loss in ((left, "frossl"), (middle, "barlow")):
        assert panel.get_yscale() == "log"
        found = series(panel)
        rows = where(base["closed_form"], loss=loss, seed=0)
        for mode in rows["mode"].unique():
            of = where(rows, mode=mode).sort_values("time")
            hidden = "" if mode == 1 else f"_{mode} "
            np.testing.assert_allclose(found[f"{hidden}gradient descent"], of[["time", "descent"]].T)
            x, y = found[f"{hidden}closed form, corrected"]
            np.testing.assert_allclose(y, of.set_index("time")["closed_form"].loc[x])
            if loss == "frossl":
                printed = where(base["equation_18"], mode=mode).sort_values("time")
                shown = printed[printed["singular_value"] >= LEAST]
                expected = shown[["time", "singular_value"]].to_numpy()
                line = {line.get_label(): line for line in panel.lines}[f"{hidden}Eq. 18 as printed"]
                np.testing.assert_allclose(line.get_xydata(), expected)
    rows = distances(base).rename("difference").reset_index()
    (of_std,) = right.lines
    of_std.set_label("all")
    assert_mean(right, "all", rows, "std", "difference")
