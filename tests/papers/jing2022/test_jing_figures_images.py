"""The figures and tables of Jing et al.'s image experiments, drawn from smoke tables, show their numbers."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from reading import draw, drawn, labels, series, where
from scipy import stats

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.papers.jing2022.projector_map.grid import DIRECTCLR, START, WITH, WITHOUT

FACTOR = "value_of_factor"


def spectrum(rows):
    """The mean over seeds of ln(value / largest), and the number of collapsed values."""
    wide = rows.pivot(index="index", columns="seed", values="log_value")
    relative = (wide - wide.max()).clip(lower=-30)
    return relative.mean(axis=1), (relative <= np.log(1e-3)).sum().mean()


@pytest.mark.parametrize(
    ("id", "what", "nets"),
    [
        ("fig02", "embedding", ["nonlinear", "start"]),
        ("fig07b", "representation", ["nonlinear", "none", "start"]),
        ("fig09", "representation", ["nonlinear", "linear", "none", "directclr", "start"]),
    ],
)
def test_spectra(id, what, nets, smoke):
    """A panel a data set, the experiment's own first; the linear projector is trained there alone."""
    panels, base, params = drawn(f"jing2022/{id}", smoke)
    sets = [params.data_set, *params.further_sets]
    assert [panel.get_title() for panel in panels] == sets
    styles = []
    for panel, data_set in zip(panels, sets, strict=True):
        names = [name for name in labels(panel) if not name.startswith(("printed", "collapsed"))]
        there = [net for net in nets if data_set == sets[0] or net != "linear"]
        assert len(names) == len(there)
        for name, net in zip(names, there, strict=True):
            mean, count = spectrum(where(base["spectra"], net=net, what=what, data_set=data_set))
            found_x, found_y = series(panel)[name]
            np.testing.assert_array_equal(found_x, mean.index)
            np.testing.assert_allclose(found_y, mean, atol=1e-12)
            assert name.endswith(f"({count:.0f})")
        lines = [line for line in panel.lines if line.get_label() in names]
        (threshold,) = [line for line in panel.lines if line.get_label() == "collapsed below"]
        np.testing.assert_allclose(threshold.get_ydata(), np.log(1e-3))
        styles.append(
            {
                net: (to_rgb(line.get_color()), line.get_linestyle())
                for net, line in zip(there, lines, strict=True)
            }
        )
    for style in styles[1:]:
        assert style == {net: styles[0][net] for net in style}


def test_one_data_set_has_one_panel_without_a_title(smoke):
    tables, params = smoke["jing2022/projector_spectra"]
    own = {**tables, "spectra": where(tables["spectra"], place=0)}
    (panel,) = draw("jing2022/fig07b", own, params).axes
    assert panel.get_title() == ""


def test_figure_10(smoke):
    (panel,), base, _ = drawn("jing2022/fig10", smoke)
    ticks = [label.get_text() for label in panel.get_xticklabels()]
    assert ticks == ["$r$", "$r[:d_0]$", "$r[d_0:]$"]
    names = [
        "identity shortcut, trained",
        "identity shortcut, before",
        "no shortcut, trained",
        "no shortcut, before",
    ]
    assert sorted(labels(panel)) == sorted(names)
    bars = dict(zip(labels(panel), panel.get_legend_handles_labels()[0], strict=True))
    for name in names:
        net = "directclr" if name.startswith("identity") else "directclr, no shortcut"
        column = "accuracy" if name.endswith("trained") else "initial"
        rows = where(base["probes"], net=net)
        points, _, (errors,) = bars[name].lines
        assert (str(points.get_markerfacecolor()) == "none") == (column == "initial")
        for part, y, (low, high) in zip(
            ("all", "subvector", "rest"), points.get_ydata(), errors.get_segments(), strict=True
        ):
            values = rows.loc[rows["part"] == part, column]
            half = stats.t.ppf(0.975, 2) * values.std() / 3**0.5
            expected = np.clip(values.mean() + np.array([0, -half, half]), 0, 100)
            np.testing.assert_allclose([y, low[1], high[1]], expected)


def test_figure_2_marks_the_printed_number_of_collapsed_values(smoke):
    (own, *further), base, _ = drawn("jing2022/fig02", smoke)
    (line,) = [line for line in own.lines if line.get_label().startswith("printed")]
    assert line.get_label() == "printed: about 30 of 128"
    dim = where(base["spectra"], what="embedding", net="nonlinear")["index"].max()
    np.testing.assert_allclose(line.get_xdata(), dim * 98 / 128)
    assert not any("printed" in label for panel in further for label in labels(panel))


def test_printed_accuracies_stand_beside_ours(smoke):
    tables, params = smoke["jing2022/projector_spectra"]
    numbers = np.random.default_rng(0).uniform(40, 60, len(tables["probes"]))
    probes = tables["probes"].assign(accuracy=numbers, initial=20.0, pixel_neighbours=30.0, pixel_probe=0.0)
    probes.loc[where(probes, net="linear", seed=0).index, "accuracy"] = 29.0  # not above pixels
    (panel,) = draw("jing2022/table1_beside_print", {**tables, "probes": probes}, params).axes
    printed = registry.paper("jing2022").printed_numbers()
    expected = printed.loc[printed["artifact"].isin(["Table 1", "Section 6.3"]), "value"]
    np.testing.assert_array_equal(series(panel)["printed"], [expected, range(7)])
    ours = {line.get_ydata()[0]: line for line in panel.lines if line.get_marker() == "o"}
    nets = ["nonlinear", "linear", "none", "directclr", "low_rank", "diagonal"]
    for place, net in enumerate(nets):
        rows = where(probes, net=net, part="all", setting=BASE)
        assert ours[place].get_xdata()[0] == pytest.approx(rows["accuracy"].mean())
        red, green, blue = to_rgb(ours[place].get_color())
        assert (red == green == blue) == (net == "linear")
    fewer = params.model_copy(update={"nets": ("nonlinear", "none")})
    (panel,) = draw("jing2022/table1_beside_print", {**tables, "probes": probes}, fewer).axes
    assert [line.get_ydata()[0] for line in panel.lines if line.get_marker() == "o"] == [0, 2]


@pytest.mark.parametrize(("id", "places"), [("table1", 8), ("sec63", 6)])
def test_tables(id, places, smoke):
    tables, params = smoke["jing2022/projector_spectra"]
    numbers = np.random.default_rng(0).uniform(0, 100, (len(tables["probes"]), 2))
    probes = tables["probes"].assign(accuracy=numbers[:, 0], initial=numbers[:, 1])
    probes = probes.assign(pixel_neighbours=0.0, pixel_probe=0.0)
    listed = registry.artifact(f"jing2022/{id}").draw({**tables, "probes": probes}, params)
    assert len(listed) == places
    printed = registry.paper("jing2022").printed_numbers()
    expected = printed.loc[printed["artifact"] == {"table1": "Table 1", "sec63": "Section 6.3"}[id], "value"]
    assert list(listed["published"].dropna()) == list(expected)
    row = listed[listed["projector"] == {"table1": "1-layer linear", "sec63": "fixed low-rank"}[id]].iloc[0]
    rows = where(probes, net={"table1": "linear", "sec63": "low_rank"}[id], setting=BASE)
    assert row["found"] == pytest.approx(rows["accuracy"].mean(), abs=0.05)
    half = stats.t.ppf(0.975, 2) * rows["accuracy"].std() / 3**0.5
    assert row["high"] - row["low"] == pytest.approx(2 * half, abs=0.1)
    assert row["before training"] == pytest.approx(rows["initial"].mean(), abs=0.05)
    gain = (rows["accuracy"] - rows["initial"]).min()
    assert row["least gain of the net"] == pytest.approx(gain, abs=0.05)


def test_a_table_shows_other_labels_beside(smoke):
    tables, params = smoke["jing2022/projector_spectra"]
    other = {
        name: table.assign(setting="others").assign(
            **({"accuracy": 1.5, "initial": 0.5} if name == "probes" else {})
        )
        for name, table in tables.items()
    }
    both = {name: pd.concat([tables[name], other[name]]) for name in tables}
    listed = registry.artifact("jing2022/table1").draw(both, params)
    assert set(listed["others"].dropna()) == {1.5}
    assert set(listed["others, before training"].dropna()) == {0.5}
    without = registry.artifact("jing2022/table1").draw(tables, params)
    pd.testing.assert_frame_equal(listed[without.columns], without)


def test_a_network_that_was_not_trained_keeps_its_published_number(smoke):
    tables, params = smoke["jing2022/projector_spectra"]
    fewer = {**tables, "probes": tables["probes"].query("net != 'low_rank'")}
    listed = registry.artifact("jing2022/sec63").draw(fewer, params).set_index("projector")
    assert listed.loc["fixed low-rank", "published"] == 62.3
    assert listed["found"].isna().sum() == 1


def entropy_rank(values):
    p = np.exp(values) / np.exp(values).sum()
    return np.exp(stats.entropy(p))


def test_the_map(smoke):
    panels, base, _ = drawn("jing2022/sec61_map", smoke)
    assert [panel.get_xlabel() for panel in panels] == [
        "collapsed values (%)", "effective rank (%)", "digits probe (%)",
    ]  # fmt: skip
    rows = base["probes"].drop_duplicates(["factor", FACTOR])
    places = [f"{row.factor}: {getattr(row, FACTOR)}" for row in rows.itertuples()]
    ticks = dict(
        zip([label.get_text() for label in panels[0].get_yticklabels()], panels[0].get_yticks(), strict=True)
    )
    assert set(ticks) == set(places)
    bold = {label.get_text() for label in panels[0].get_yticklabels() if label.get_fontweight() == "bold"}
    assert bold == {place for place, base_point in zip(places, rows["base"], strict=True) if base_point}
    trained = base["spectra"][base["spectra"]["net"] != START]
    of_spectrum = trained.groupby(["factor", FACTOR, "net", "seed"])["log_value"]
    shares = of_spectrum.agg(lambda values: 100 * (values <= values.max() + np.log(1e-3)).mean())
    ranks = of_spectrum.agg(lambda values: 100 * entropy_rank(values) / len(values))
    accuracy = base["probes"].set_index(["factor", FACTOR, "net", "seed"])["accuracy"]
    names = {WITH: "SimCLR with projector", WITHOUT: "SimCLR without", DIRECTCLR: "DirectCLR"}
    for panel, numbers in zip(panels, (shares, ranks, accuracy), strict=True):
        means = numbers.groupby(["factor", FACTOR, "net"]).mean()
        for net, name in names.items():
            found = {round(y): x for x, y in zip(*series(panel)[name], strict=True)}
            expected = {
                round(ticks[f"{factor}: {value}"]): mean
                for (factor, value, of_net), mean in means.items()
                if of_net == net
            }
            assert found == pytest.approx(expected, rel=1e-6)


def test_the_map_crosses_out_what_did_not_learn(smoke):
    tables, params = smoke["jing2022/projector_map"]
    probes = tables["probes"]
    learned = probes["net"] == WITH
    changed = probes.assign(accuracy=probes["initial"].where(~learned, probes["initial"] + 16))
    panels = draw("jing2022/sec61_map", {**tables, "probes": changed}, params).axes
    crosses = [line for line in panels[2].lines if line.get_marker() == "x"]
    points = changed.drop_duplicates(["factor", FACTOR, "net"])
    assert sum(len(line.get_xdata()) for line in crosses) == (points["net"] != WITH).sum()


def test_the_maps_spectra(smoke):
    panels, base, _ = drawn("jing2022/sec61_map_spectra", smoke)
    spectra = base["spectra"]
    assert [panel.get_title() for panel in panels] == list(dict.fromkeys(spectra["factor"]))
    for panel in panels:
        of_factor = where(spectra, factor=panel.get_title())
        for value, rows in of_factor.groupby(FACTOR):
            (other,) = set(rows["net"]) - {WITHOUT, START}
            x, y = series(panel)[value]
            mean, _ = spectrum(rows[rows["net"] == other])
            np.testing.assert_allclose(x, mean.index / len(mean))
            np.testing.assert_allclose(y, mean, atol=1e-12)
        dashed = [line.get_ydata() for line in panel.lines if line.get_linestyle() == "--"]
        expected = [
            spectrum(rows[rows["net"] == WITHOUT])[0] for _, rows in of_factor.groupby(FACTOR, sort=False)
        ]
        np.testing.assert_allclose(dashed, expected, atol=1e-12)
        (dotted,) = (line.get_ydata() for line in panel.lines if line.get_linestyle() == ":")
        start = spectrum(of_factor[of_factor["base"] & (of_factor["net"] == START)])[0]
        np.testing.assert_allclose(dotted, start, atol=1e-12)


def test_the_search_has_each_setting_once_and_this_runs_networks_beside_them(smoke):
    (panel,), base, _ = drawn("jing2022/sec61_search", smoke)
    found = series(panel)
    counts = {name: len(x) for name, (x, _) in found.items()}
    (own,) = [name for name in counts if name.startswith("this run")]
    first = sum(count for name, count in counts.items() if "further" not in name and name != own)
    ones = sum(name.startswith("collapsed") for name in labels(panel))  # each a line of one point
    assert (first, ones) == (169 - 3, 3)
    assert [count for name, count in counts.items() if "further" in name] == [5, 5, 5]
    wide = where(base["spectra"], net="none", what="representation", place=0)
    ends = wide.groupby("seed")["log_value"].agg(["min", "max"])
    np.testing.assert_allclose(found[own][1], np.exp((ends["min"] - ends["max"]).clip(lower=-30)))
    # Where a collapse is drawn by its smallest value, it lies in the corner of those that learned.
    gains, smallest = found["learned (12)"]
    assert (gains >= 15).all()
    assert (smallest > 1e-5).all()
