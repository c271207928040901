"""Every figure of Tian 2023, drawn from smoke tables, shows the numbers of its tables."""

from itertools import product

import matplotlib as mpl
import numpy as np
import pytest
from reading import assert_mean, drawn, labels, series, where

from reprise.engine import registry
from reprise.plotting.style import styled


def test_figure_1(smoke):
    panels, base, params = drawn("tian2023/fig01", smoke)
    for panel, model in zip(panels, ("discrete", "smoothed"), strict=False):
        lines = iter([line for line in panel.lines if len(line.get_xdata()) > 1])
        for distance in params.gram_distances:
            for seed in range(3):
                rows = where(base["steps"], model=model, gram_distance=distance, seed=seed)
                line = next(lines)
                np.testing.assert_array_equal(line.get_xdata(), rows["iteration"])
                np.testing.assert_array_equal(line.get_ydata(), np.maximum(rows["step"], 1e-17))
        assert next(lines, None) is None
        assert labels(panel) == [f"{distance:g}" for distance in params.gram_distances]
    ends = base["ends"]
    shares = {
        "smoothed: at rest": ("smoothed", ends["period"] == 1),
        "discrete: at rest": ("discrete", ends["period"] == 1),
        "discrete: in a cycle": ("discrete", ends["period"] > 1),
    }
    assert labels(panels[2]) == list(shares)
    for label, (model, so) in shares.items():
        rows = ends.assign(share=so.astype(float))[ends["model"] == model]
        by_seed = rows.groupby(["gram_distance", "seed"], as_index=False)["share"].mean()
        assert_mean(panels[2], label, by_seed, "gram_distance", "share", log=False, within=(0, 1))


def test_figure_8(smoke):
    panels, base, params = drawn("tian2023/fig08", smoke)
    for panel, alpha in zip(panels, ("uniform", "gaussian", "infonce"), strict=False):
        found = {}
        for activation, name in (("relu", "ReLU"), ("linear", "linear")):
            optima = where(base["optima"], data="E.1", seed=0, alpha=alpha, activation=activation)
            found[activation] = optima
            curve = where(base["curves"], alpha=alpha, activation=activation)
            x, y = series(panel)[f"{name}: {len(optima)} optima"]
            np.testing.assert_allclose(x, np.degrees(curve["angle"]))
            np.testing.assert_allclose(y, curve["objective"])
        marked = [line for line in panel.lines if line.get_marker() == "o"]
        for line, (activation, full) in zip(
            marked, [(a, f) for a in found for f in (True, False)], strict=True
        ):
            rows = found[activation][(found[activation]["speed"] <= 1e-6) == full]
            np.testing.assert_allclose(line.get_xdata(), np.degrees(rows["angle"]))
            np.testing.assert_allclose(line.get_ydata(), rows["height"])
            assert (mpl.colors.to_rgb(line.get_markerfacecolor()) == (1, 1, 1)) != full
        dotted = [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == ":"]
        np.testing.assert_allclose(dotted, 180 * np.array(params.points))
    for label, data in (("the nine points", "E.1"), ("random data", "random")):
        assert_mean(panels[3], label, where(base["counts"], data=data), "rotation", "maxima", log=False)
    assert labels(panels[3]) == ["the nine points", "random data"]


def test_figure_7(smoke):
    panels, base, params = drawn("tian2023/fig07", smoke)
    velocity, solutions, probabilities, basins = panels
    flow = base["flow"].sort_values("y")
    (curve,) = [line for line in velocity.lines if len(line.get_xdata()) > 2]
    np.testing.assert_allclose(curve.get_xdata(), flow["y"])
    np.testing.assert_allclose(curve.get_ydata(), (flow["y"] + 1) * flow["y"], atol=1e-12)
    fixed = {float(line.get_xdata()[0]): line for line in velocity.lines if len(line.get_xdata()) == 1}
    assert set(fixed) == {-1.0, 0.0}
    assert fixed[0.0].get_markerfacecolor() == "white"  # unstable: open

    assert labels(solutions) == ["integrated", "Eq. 147", "Eq. 150"]
    lines = [line for line in solutions.lines if line.get_linestyle() == "-"]
    circles = [line for line in solutions.lines if line.get_linestyle() == "None"]
    for start, line, circle in zip(params.flow_starts, lines, circles, strict=True):
        rows = where(base["flow"], start=start)
        np.testing.assert_allclose(line.get_xydata(), rows[["time", "y"]])
        np.testing.assert_allclose(circle.get_xydata(), rows[["time", "closed_form"]].iloc[::12])
    times = [line.get_xdata()[0] for line in solutions.lines if line.get_linestyle() == ":"]
    np.testing.assert_allclose(times, [np.log(1 + 1 / y) for y in sorted(params.flow_starts)[::-1] if y > 0])

    assert labels(probabilities) == [*(f"d = {dim}" for dim in params.probability_dims), "drawn"]
    for dim in params.probability_dims:
        rows = where(base["probabilities"], dim=dim)
        x, y = series(probabilities)[f"d = {dim}"]
        np.testing.assert_allclose(x, params.epsilons)
        np.testing.assert_allclose(y, rows.groupby("epsilon")["formula"].first())
    rows = where(base["probabilities"], dim=params.probability_dims[-1])
    assert_mean(probabilities, "drawn", rows, "epsilon", "simulated", log=False)

    names = {f"d = {dim}" for dim in params.dims}
    assert set(labels(basins)) == names | {"smallest $t^*$"}
    for dim in params.dims:
        assert_mean(basins, f"d = {dim}", where(base["basins"], dim=dim), "modulation", "reached", log=False)
    dashed = [line for line in basins.lines if line.get_linestyle() == "--" and len(line.get_xdata())]
    for dim, line in zip(params.dims, dashed, strict=True):
        means = where(base["basins"], dim=dim).groupby("modulation")["first_critical"].mean()
        np.testing.assert_allclose(line.get_ydata(), means)


def check_filters_and_statistic(drawing, arms, column, lines):
    """Four mosaics an arm, in the order of the quadrants, and the lines of a statistic, averaged over the
    fields."""
    (course, *panels), base, params = drawing
    assert len(panels) == 4 * len(arms)
    for at, (name, arm) in enumerate(arms.items()):
        check_mosaics(panels[4 * at : 4 * at + 4], where(base["filters"], arm=arm), params, name)
    assert labels(course) == list(lines)
    for name, shown_arm in lines.items():
        rows = where(base["statistics"], arm=shown_arm)
        mean = rows.pivot(index=["step", "seed"], columns="field", values=column).mean(axis=1, skipna=False)
        within = (1, min(params.filters, 16)) if column == "effective_rank" else (0, 1)
        rows = mean.rename(column).reset_index()
        assert_mean(course, name, rows, "step", column, log=False, within=within)
    return panels


def check_mosaics(panels, table, params, name):
    """Every field has tiles of the eight learned filters with the largest norms, four in a row, and says how
    many were learned."""
    fields = ["upper left", "upper right", "lower left", "lower right"]
    assert [panel.get_title() for panel in panels] == fields
    assert panels[0].figure.get_suptitle() == name
    for panel, field in zip(panels, fields, strict=True):
        (image,) = panel.images
        assert image.get_clim() == (-1, 1)
        rows = where(table, field=field)
        filters = [
            unit.sort_values(["row", "column"])["weight"].to_numpy().reshape(4, 4)
            for _, unit in rows[rows["learned"]].groupby("unit")
        ]
        filters.sort(key=lambda weights: -(weights**2).sum())
        shown = image.get_array()
        for at, weights in enumerate(filters[:8]):
            row, column_ = (5 * place for place in divmod(at, 4))
            tile = shown[row : row + 4, column_ : column_ + 4]
            np.testing.assert_allclose(tile, weights / abs(weights).max(), rtol=1e-6)
        assert shown.count() == 16 * min(len(filters), 8)  # all else is blank
        expected = f"{len(filters)} of {params.filters} learned"
        if name == "untrained":
            expected = f"{params.filters} random filters"
        assert panel.get_xlabel() == expected


FIGURE_12 = (
    {"ReLU": "plain", "linear": "linear", "untrained": "untrained"},
    "effective_rank",
    {"ReLU": "plain", "linear": "linear"},
)


def test_figure_12(smoke):
    check_filters_and_statistic(drawn("tian2023/fig12", smoke), *FIGURE_12)


def test_figure_12_shows_only_what_was_learned(smoke):
    """One field has no learned filter and the others two; before the fourth step seed 0 has none."""
    tables, params = smoke["tian2023/image_filters"]
    filters, statistics = tables["filters"].copy(), tables["statistics"].copy()
    filters["learned"] = (filters["unit"] < 2) & (filters["field"] != "lower right")
    early = (statistics["seed"] == 0) & (statistics["step"] < 4)
    statistics.loc[early, "effective_rank"] = np.nan
    damaged = {"tian2023/image_filters": ({"filters": filters, "statistics": statistics}, params)}
    panels = check_filters_and_statistic(drawn.__wrapped__("tian2023/fig12", damaged), *FIGURE_12)
    found = [panel.get_xlabel() for panel in panels[:4]]
    assert found == [f"{n} of {params.filters} learned" for n in (2, 2, 2, 0)]


def test_figure_13(smoke):
    lines = {"with crops": "cropped", "without": "plain", "linear, without": "linear"}
    arms = {"with crops": "cropped"}
    check_filters_and_statistic(drawn("tian2023/fig13", smoke), arms, "high_frequency_share", lines)


def check_scores(smoke, id, rows):
    """A row of panels for each (objective, score), a column for each P, a line for each activation; those of
    the published figure apart from ours."""
    panels, base, params = drawn(id, smoke)
    names = {
        "linear": "linear",
        "relu": "ReLU",
        "leaky_relu": "LeakyReLU(0.05)",
        "quadratic": "quadratic",
        "sigmoid": "sigmoid",
    }
    assert len(panels) == len(rows) * len(params.candidates)
    places = [(*row, candidates) for row in rows for candidates in params.candidates]
    printed = "linear by cos"
    for panel, (objective, score, candidates) in zip(panels, places, strict=True):
        lines = list(names.values())
        if not score.startswith("absolute_"):
            lines.insert(1, printed)
            chosen = where(base["matching"], objective=objective, activation="linear", candidates=candidates)
            assert_mean(panel, printed, chosen, "beta", score, log=False)
        assert labels(panel) == lines
        for activation, name in names.items():
            chosen = where(
                base["matching"], objective=objective, activation=activation, candidates=candidates
            )
            is_published = activation == "linear" and score in ("chi_plus", "chi_minus")
            shown = f"absolute_{score}" if is_published else score
            assert_mean(panel, name, chosen, "beta", shown, log=False)
        assert panel.get_xscale() == "log"
        for points, *_ in panel.containers:  # each beside its beta, and in view
            places = points.get_transform().transform(points.get_xydata())
            assert panel.bbox.padded(1).count_contains(places) == len(places)
            distances = abs(places - panel.transData.transform(points.get_xydata()))
            assert distances.max() < 0.1 * panel.bbox.width
        ours = score.startswith("absolute_")
        assert panel.figure.get_suptitle() == ("not in the paper" if ours else "as in the paper")
    for part in {panel.figure for panel in panels}:
        titles = [panel.get_title() for panel in part.axes]
        assert titles[: len(params.candidates)] == [f"P = {candidates}" for candidates in params.candidates]
        assert not any(titles[len(params.candidates) :])
    (legend,) = panels[0].get_figure(root=True).legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "linear",
        printed,
        *list(names.values())[1:],
    ]
    return [panel.get_ylabel() for panel in panels[:: len(params.candidates)]]


def test_figure_4(smoke):
    losses = {"infonce_cosine": "InfoNCE", "quadratic_cosine": "quadratic loss"}
    scores = {"chi_plus": "χ+", "absolute_chi_plus": "χ+ by |cos|"}
    names = [f"{score},\n{loss}" for score, loss in product(scores.values(), losses.values())]
    rows = [(loss, score) for score, loss in product(scores, losses)]
    assert check_scores(smoke, "tian2023/fig04", rows) == names


BY_BOTH = ["χ+", "χ-", "χ+ by |cos|", "χ- by |cos|"]


@pytest.mark.parametrize(
    ("id", "loss"), [("tian2023/fig09", "infonce_cosine"), ("tian2023/fig10", "quadratic_cosine")]
)
def test_figures_9_and_10(smoke, id, loss):
    scores = ("chi_plus", "chi_minus", "absolute_chi_plus", "absolute_chi_minus")
    assert check_scores(smoke, id, [(loss, score) for score in scores]) == BY_BOTH


def test_figure_5(smoke):
    panels, base, params = drawn("tian2023/fig05", smoke)
    places = [(field, name) for field in range(params.fields) for name in ("ReLU", "linear")]
    units = params.shown_over_parameterisation * params.shown_candidates
    assert [panel.get_title() for panel in panels] == [f"R{field}, {name}" for field, name in places]
    for panel, (field, name) in zip(panels, places, strict=True):
        rows = where(base["filters"], field=field, activation=name.lower())
        largest = rows["weight"].abs().max()
        (image,) = panel.images
        shown = np.asarray(image.get_array())
        assert shown.shape == (units, params.tokens)
        for unit, token, weight in rows[["unit", "token", "weight"]].itertuples(index=False):
            np.testing.assert_allclose(shown[unit, token], weight / largest, rtol=1e-6)
        assert image.get_clim() == (-1, 1)
        (marks,) = [line for line in panel.lines if line.get_marker() == "v"]
        assert sorted(marks.get_xdata()) == sorted(rows.loc[rows["relevant"], "token"].unique())
        assert 1 <= len(marks.get_xdata()) <= params.shown_candidates


def test_figure_11(smoke):
    panels, base, params = drawn("tian2023/fig11", smoke)
    places = [(zeta, candidates) for zeta in params.nonuniformity for candidates in params.candidates]
    table = where(base["matching"], mean_gradient=True, variance_gradient=False, learning_rate=0.02)
    for panel, (zeta, candidates) in zip(panels, places, strict=True):
        crosses = ["printed in Table 1"] if zeta == params.table_nonuniformity else []
        assert sorted(labels(panel)) == sorted(["with BatchNorm", "without", *crosses])
        for label, batch_norm in (("with BatchNorm", True), ("without", False)):
            rows = where(table, zeta=zeta, candidates=candidates, batch_norm=batch_norm)
            assert_mean(panel, label, rows, "beta", "chi_plus", log=False)
    expected = [f"χ+,\nzeta = {zeta:g}" for zeta in params.nonuniformity]
    assert [panel.get_ylabel() for panel in panels[:: len(params.candidates)]] == expected
    assert [panel.get_title() for panel in panels[: len(params.candidates)]] == [
        f"P = {candidates}" for candidates in params.candidates
    ]


def test_table_1(smoke):
    artifact = registry.artifact("tian2023/table1")
    assert artifact.kind == "table"
    tables, params = smoke[artifact.experiment]
    with styled():
        made = artifact.draw(tables, params)
    base = where(tables["matching"], setting="published", zeta=10.0, batch_norm=True, learning_rate=0.02)
    printed = registry.paper("tian2023").printed_numbers()
    assert len(made) == 16
    names = {"none": (False, False), "σ²": (False, True), "μ": (True, False), "μ and σ²": (True, True)}
    for row in made.to_dict("records"):
        for name, (mean, variance) in names.items():
            cell = {"beta": row["beta"], "mean_gradient": mean, "variance_gradient": variance}
            ours = where(base, candidates=row["P"], **cell)["chi_plus"]
            assert len(ours) == params.seeds
            assert row[f"{name}: ours"] == f"{np.mean(ours):.2f} ± {np.std(ours, ddof=1):.2f}"
            (theirs,) = where(
                printed, beta=row["beta"], P=row["P"], backprop_mean=mean, backprop_variance=variance
            ).to_dict("records")
            assert row[f"{name}: published"] == f"{theirs['value']:.2f} ± {theirs['std']:.2f}"
    assert set(made) == {"beta", "P", *(f"{n}: {who}" for n in names for who in ("ours", "published"))}
