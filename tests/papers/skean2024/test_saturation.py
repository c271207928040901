"""Figure 3's metrics on curves of which the answer is known."""

import math

import numpy as np
import pandas as pd
import pytest
from reading import draw, panels_of

from reprise.papers.skean2024.eigenvalue_saturation.measures import saturation, summary

STEPS = np.arange(0, 101, 10)


def test_a_curve_that_rises_and_stays_saturates_where_it_enters_the_band():
    values = np.array([0.1, 0.3, 0.5, 0.7, 0.79, 0.81, 1.1, 0.9, 1.0, 1.0, 1.0])
    assert saturation(STEPS, values) == 50


def test_leaving_the_band_again_counts():
    values = np.array([0.1, 1.0, 1.0, 1.0, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert saturation(STEPS, values) == 50


@pytest.mark.parametrize(
    "values",
    [
        2.0 ** np.arange(11),  # it still rises
        np.where(np.arange(11) % 2, 1.0, 3.0),  # it does not settle
    ],
)
def test_an_eigenvalue_that_still_moves_saturates_after_the_horizon(values):
    assert saturation(STEPS, values) == math.inf


@pytest.mark.parametrize("values", [np.full(11, 1.0), np.linspace(0.9, 1.1, 11), np.full(11, np.nan)])
def test_one_that_never_had_to_rise_has_no_step(values):
    assert math.isnan(saturation(STEPS, values))


def test_the_step_depends_on_the_horizon():
    rising = 1 - 0.9 * np.exp(-np.arange(0, 401, 10) / 100)
    ends = [saturation(np.arange(0, last + 1, 10), rising[: last // 10 + 1]) for last in (200, 300, 400)]
    assert ends == sorted(set(ends))


def tables(diverged=()):
    """Two methods' eigenvalues λ_k = scale / k^power, that grow until step 50, and seeds that ended at 40."""
    eigenvalues, traces = [], []
    for method, power in (("frossl", 0.0), ("simclr", 2.0)):
        for seed in range(3):
            for step in STEPS:
                if (method, seed) in diverged and step > 40:
                    continue
                run = {
                    "data_set": "shapes",
                    "method": method,
                    "learning_rate": 0.1,
                    "own_rate": True,
                    "seed": seed,
                    "step": step,
                }
                values = min(step + 5, 55) * np.arange(1, 15) ** -power
                eigenvalues += [
                    {**run, "index": k, "raw": value, "normalised": 2 * value**2}
                    for k, value in enumerate(values, 1)
                ]
                traces.append(
                    {**run, "entropy_raw": step, "entropy_normalised": -step, "view_correlation": 0.5}
                )
    return pd.DataFrame(eigenvalues), pd.DataFrame(traces)


def test_the_metrics_are_those_of_the_end():
    found = summary(*tables()).set_index(["method", "seed"])
    np.testing.assert_allclose(found.loc["frossl", "condition_raw"], 1)
    np.testing.assert_allclose(found.loc["simclr", "condition_raw"], 14**2)
    np.testing.assert_allclose(found.loc["simclr", "condition_normalised"], 14**4)
    np.testing.assert_allclose(found["entropy_raw"], 95)  # the mean of steps 90 and 100
    np.testing.assert_allclose(found["saturation_raw"], 40)  # 45 of 55
    np.testing.assert_allclose(found["saturation_normalised"], 50)  # of squares


def test_a_method_of_which_all_seeds_diverged_says_so(smoke):
    tables, params = smoke["skean2024/eigenvalue_saturation"]
    damaged = {
        name: tables[name][~((tables[name]["method"] == "vicreg") & (tables[name]["step"] > 0))]
        for name in ("eigenvalues", "traces")
    }
    figure = draw("skean2024/fig03", {**tables, **damaged}, params)
    for panel, method in zip(panels_of(figure), 2 * params.methods, strict=True):
        words = [text.get_text() for text in panel.texts]
        assert words == (["all 3 seeds\ndiverged"] if method == "vicreg" else [])


def test_a_run_that_diverged_has_no_metrics():
    found = summary(*tables({("frossl", 1)})).set_index(["method", "seed"])
    assert found.loc[("frossl", 1)].drop(["data_set", "own_rate", "learning_rate"]).isna().all()
    assert found.drop(("frossl", 1)).notna().all(axis=None)
