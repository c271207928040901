"""Figure 1 of Ren 2023 and the figures of finite width show the numbers of their (smoke) tables."""

import numpy as np
import pytest
from reading import assert_mean, drawn, labels, series, where

COLUMNS = [
    "condition", "stable_rank", "alignment", "distance", "noise_to_signal", "intrinsic_dimension",
    "loss_value", "loss_value",
]  # fmt: skip
PANELS = [(spectrum, column) for column in COLUMNS for spectrum in ("linear", "spiked")]
NAMES = {
    "contrastive": ("contrastive", True),
    "contrastive, no noise": ("contrastive", False),
    "non-contrastive": ("non-contrastive", True),
    "non-contrastive, no noise": ("non-contrastive", False),
}
LOG = {"condition", "distance", "noise_to_signal"}


def shown(at, column):
    """The series of a panel: there is no noise-to-signal ratio without noise, and each loss has its panel."""
    if column == "noise_to_signal":
        return [name for name, (_, noise) in NAMES.items() if noise]
    if column == "loss_value":
        return [
            name
            for name, (loss, _) in NAMES.items()
            if loss == ("contrastive" if at < 14 else "non-contrastive")
        ]
    return list(NAMES)


def test_figure_1(smoke):
    panels, base, params = drawn("ren2023/fig01", smoke)
    assert [panel.get_title() for panel in panels[:4]] == ["linear spectrum", "spiked spectrum"] * 2
    for at, (panel, (spectrum, column)) in enumerate(zip(panels, PANELS, strict=True)):
        assert labels(panel) == shown(at, column)
        assert panel.get_yscale() == ("log" if column in LOG else "linear")
        for name in shown(at, column):
            loss, noise = NAMES[name]
            cell = {"spectrum": spectrum, "loss": loss, "noise": noise}
            rows = where(base["trajectory"], **cell)
            assert_mean(panel, name, rows, "step", column, log=column in LOG)
            if column == "alignment":
                assert f"_{name}" not in series(panel)
                continue
            limit = where(base["limit"], **cell).sort_values("step")
            if column == "distance":
                limit = limit[limit[column] > 1e-3]
            np.testing.assert_allclose(series(panel)[f"_{name}"], limit[["step", column]].T)
        dotted = [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == ":"]
        assert params.stage1_steps in dotted


def test_the_grey_lines_of_figure_1(smoke):
    panels, _, params = drawn("ren2023/fig01", smoke)
    for panel, (_, column) in zip(panels, PANELS, strict=True):
        grey = [line.get_ydata()[0] for line in panel.lines if str(line.get_color()) == "0.55"]
        expected = {
            "alignment": [1 - 2.0**-params.signals],
            "condition": [1.0],
            "stable_rank": [params.signals],
            "intrinsic_dimension": [params.signals],
        }
        np.testing.assert_allclose(grey, expected.get(column, []))


def guide(panel, label):
    x, y = series(panel)[label]
    return np.log(y[1] / y[0]) / np.log(x[1] / x[0])


def test_widths(smoke):
    (left, right), base, params = drawn("ren2023/lemma51_width", smoke)
    table = base["widths"]
    last = {1: params.stage1_time, 2: params.stage1_time + params.stage2_time}
    for label, loss, stage in (
        ("end of Stage 1", "contrastive", 1),
        ("end of Stage 2", "contrastive", 2),
        ("non-contrastive, end", "non-contrastive", 2),
    ):
        rows = table[(table["loss"] == loss) & np.isclose(table["time"], last[stage])]
        assert_mean(left, label, rows, "width", "distance")
    assert guide(left, "$m^{-1/2}$") == pytest.approx(-0.5)
    contrastive = where(table, loss="contrastive")
    for column, label in (
        ("signals", "two signals"),
        ("signal_noise", "a signal and a noise"),
        ("noises", "two noises"),
    ):
        for width, prefix in ((min(params.widths), ""), (max(params.widths), "_")):
            assert_mean(right, prefix + label, where(contrastive, width=width), "time", column)
    (boundary,) = [line.get_xdata()[0] for line in right.lines if line.get_linestyle() == ":"]
    assert boundary == params.stage1_time


def test_descent(smoke):
    panels, base, _ = drawn("ren2023/appD_descent", smoke)
    for panel, name, by, label, power in (
        (panels[0], "steps", "step_size", "proportional to the step", 1.0),
        (panels[1], "batches", "batch_size", "batch to the power -1/2", -0.5),
    ):
        rows = base[name].groupby(["seed", by], as_index=False)["distance"].max()
        assert_mean(panel, "measured", rows, by, "distance")
        assert guide(panel, label) == pytest.approx(power)
        assert labels(panel) == ["measured", label]
