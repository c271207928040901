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
        names = [name for name in labels(panel) if not name.startswith("collapsed")]
        there = [net for net in nets if data_set == sets[0] or net != "linear"]
        assert len(names) == len(there)
        for name, net in zip(names, there, strict=True):
            mean, count = spectrum(where(base["spectra"], net=net, what=what, data_set=data_set))
            found_x, found_y = series(panel)[name]
            np.testing.assert_array_equal(found_x, mean.index)
            np.testing.assert_allclose(found_y, mean, atol=1e-12)
            assert name.endswith(f": {count:.0f} of {len(mean)} collapsed")
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
    """Each part of r has the gain of its probe over training, with the shortcut and without."""
    panels, base, params = drawn("jing2022/fig10", smoke)
    ticks = [label.get_text() for label in panels[0].get_yticklabels()]
    d0 = params.d0
    assert ticks == ["all of r", f"what the loss reads,\nr[:{d0}]", f"the rest,\nr[{d0}:]"]
    nets = {"with the identity shortcut": "directclr", "without a shortcut": "directclr, no shortcut"}
    assert [panel.get_title() for panel in panels] == list(nets)
    for panel, net in zip(panels, nets.values(), strict=True):
        by_label = {
            label: [line for line in panel.lines if line.get_label() == label]
            for label in ("before training", "a seed")
        }
        for place, part in enumerate(("all", "subvector", "rest")):
            rows = where(base["probes"], net=net, part=part)
            before, single = (lines[place].get_xydata() for lines in by_label.values())
            np.testing.assert_allclose(before, [[rows["initial"].mean(), place]])
            np.testing.assert_allclose(single, [[each, place] for each in rows["accuracy"]], atol=0.4)
            points, _, (errors,) = panel.containers[place].lines
            np.testing.assert_allclose(points.get_xydata(), [[rows["accuracy"].mean(), place]])
            half = stats.t.ppf(0.975, 2) * rows["accuracy"].std() / 3**0.5
            ends = np.clip(rows["accuracy"].mean() + np.array([-half, half]), 0, 100)
            np.testing.assert_allclose(errors.get_segments()[0][:, 0], ends)
        (chance,) = (line.get_xdata()[0] for line in panel.lines if line.get_label() == "chance")
        assert chance == 10


def test_figure_2_says_the_printed_number_of_collapsed_values_and_draws_it_nowhere(smoke):
    panels, _, _ = drawn("jing2022/fig02", smoke)
    assert panels[0].figure.get_suptitle() == "printed, on ImageNet: about 30 of 128 collapsed"
    assert not any("printed" in label for panel in panels for label in labels(panel))


def test_printed_accuracies_stand_beside_ours(smoke):
    tables, params = smoke["jing2022/projector_spectra"]
    numbers = np.random.default_rng(0).uniform(40, 60, len(tables["probes"]))
    probes = tables["probes"].assign(accuracy=numbers, initial=20.0, pixel_neighbours=30.0, pixel_probe=0.0)
    probes.loc[where(probes, net="linear", seed=0).index, "accuracy"] = 29.0  # not above pixels
    printed_panel, panel = draw("jing2022/table1_beside_print", {**tables, "probes": probes}, params).axes
    printed = registry.paper("jing2022").printed_numbers()
    expected = printed.loc[printed["artifact"].isin(["Table 1", "Section 6.3"]), "value"]
    np.testing.assert_array_equal(series(printed_panel)["printed"], [expected, range(7)])
    assert "printed" not in labels(panel)  # whose axis is that of other images
    ours = {line.get_ydata()[0]: line for line in panel.lines if line.get_marker() == "o"}
    nets = ["nonlinear", "linear", "none", "directclr", "low_rank", "diagonal"]
    for place, net in enumerate(nets):
        rows = where(probes, net=net, part="all", setting=BASE)
        assert ours[place].get_xdata()[0] == pytest.approx(rows["accuracy"].mean())
        red, green, blue = to_rgb(ours[place].get_color())
        assert (red == green == blue) == (net == "linear")
    fewer = params.model_copy(update={"nets": ("nonlinear", "none")})
    _, panel = draw("jing2022/table1_beside_print", {**tables, "probes": probes}, fewer).axes
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
            found = dots_of_the_map(panel, ticks, name)
            expected = {
                f"{factor}: {value}": mean for (factor, value, of_net), mean in means.items() if of_net == net
            }
            assert found == pytest.approx(expected, rel=1e-6)


def dots_of_the_map(panel, ticks, name):
    """Row -> the number of a network, whether it learned or not; it stands above the row or below it."""
    rows = list(ticks)
    lines = [line for line in panel.lines if line.get_label() in (name, f"{name}, did not learn")]
    dots = np.concatenate([line.get_xydata() for line in lines])
    heights = np.array(list(ticks.values()))
    return {rows[np.abs(heights - y).argmin()]: x for x, y in dots}


def test_the_map_greys_what_did_not_learn(smoke):
    tables, params = smoke["jing2022/projector_map"]
    probes = tables["probes"]
    learned = probes["net"] == WITH
    changed = probes.assign(accuracy=probes["initial"].where(~learned, probes["initial"] + 16))
    panels = draw("jing2022/sec61_map", {**tables, "probes": changed}, params).axes
    lines = [line for line in panels[2].lines if line.get_marker() in ("o", "s", "^")]
    grey = [line for line in lines if len(set(to_rgb(line.get_color()))) == 1]
    assert {line.get_label() for line in lines if line not in grey} == {"SimCLR with projector"}
    assert {line.get_label() for line in grey} == {
        "SimCLR without, did not learn", "DirectCLR, did not learn",
    }  # fmt: skip
    points = changed.drop_duplicates(["factor", FACTOR, "net"])
    assert sum(len(line.get_xdata()) for line in grey) == (points["net"] != WITH).sum()


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
