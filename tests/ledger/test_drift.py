"""Drift: a number that moved is named with its experiment, then and now; one that did not is not."""

import numpy as np
import pandas as pd
import pytest

from reprise.engine import registry
from reprise.engine.configured import ConfiguredExperiment
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.ledger import drift
from reprise.ledger.drift import KEYS, compare, golden_file, summarise

ID = "jing2022/layer_alignment"


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    trajectory = pd.DataFrame(
        [
            {
                "step": step,
                "arm": arm,
                "seed": seed,
                "mass": rng.uniform(),
                "norm": rng.uniform(1, 2),
                "setting": s,
            }
            for s in ("published", "noise halved")
            for arm in ("balanced", "public")
            for step in (0, 10)
            for seed in range(3)
        ]
    )
    strong = pd.DataFrame(
        {"amplitude": [0.5, 2.0], "seed": [0, 1], "growth": [1.0, -3.0], "setting": "published"}
    )
    return {"trajectory": trajectory, "strong": strong}


@pytest.fixture
def compared(checkout, tables, monkeypatch):
    """Compares changed tables with the golden summary of the unchanged ones, whose tolerance is 1e-3."""
    tier = load_tier("smoke", checkout)
    paper = registry.paper("jing2022")
    alone = type(paper)(**{**vars(paper), "experiments": {ID: paper.experiments[ID]}})
    monkeypatch.setattr(registry, "paper", lambda key: alone)
    file = golden_file(checkout, "smoke", ID)
    file.parent.mkdir(parents=True)
    summarise(tables).assign(tolerance=1e-3).to_csv(file, index=False)

    def compare_with(now):
        monkeypatch.setattr(ConfiguredExperiment, "tables", lambda self: now)
        found = compare(tier, ["jing2022"])
        assert found.compared == len(pd.read_csv(file))
        assert str(found) == f"{len(pd.read_csv(file))} numbers compared, {len(found.moved)} moved"
        return found.moved

    return compare_with


def changed(tables, name, rows, column, by):
    table = tables[name].copy()
    table.loc[table.query(rows).index, column] += by
    return {**tables, name: table}


def test_a_summary_has_mean_least_and_largest_of_each_group(tables):
    summary = summarise(tables, ["amplitude"]).set_index(KEYS)["value"]
    together = tables["trajectory"].replace({"setting": {"noise halved": "other settings"}})
    expected = together.groupby(["arm", "setting"])["mass"]
    for (arm, setting), values in expected:
        for statistic in ("mean", "min", "max"):
            found = summary["trajectory", f"{arm} {setting}", "mass", statistic]
            assert found == pytest.approx(values.agg(statistic), rel=1e-12)
    assert len(summary) == 4 * 2 * 3 + 3
    assert summary.index.is_unique


def test_other_settings_are_summarised_together(tables):
    another = tables["trajectory"].replace({"setting": {"noise halved": "rate halved"}})
    own = another["setting"] == "published"
    both = pd.concat([tables["trajectory"], another[~own].assign(mass=lambda table: table["mass"] + 7)])
    summary = summarise({"trajectory": both}).set_index(KEYS)["value"]
    others = both[(both["setting"] != "published") & (both["arm"] == "public")]["mass"]
    assert summary["trajectory", "public other settings", "mass", "mean"] == pytest.approx(others.mean())
    assert summary["trajectory", "public other settings", "mass", "max"] == others.max()


def test_a_summary_leaves_out_where_a_number_was_measured(tables):
    """Amplitude, step and seed are coordinates, and have no drift."""
    assert set(summarise(tables, ["amplitude"])["column"]) == {"mass", "norm", "growth"}


def test_an_experiment_says_which_columns_are_coordinates(checkout, tables, monkeypatch):
    experiment = load_tier("smoke", checkout).experiment("jing2022/augmentation_threshold")
    monkeypatch.setattr(ConfiguredExperiment, "tables", lambda self: tables)
    assert set(drift.summary(experiment)["column"]) == {"mass", "norm", "growth"}


def test_equal_tables_have_not_drifted(compared, tables):
    assert compared({name: table.sample(frac=1, random_state=0) for name, table in tables.items()}) == []


def test_a_number_within_its_tolerance_is_silent_and_one_beyond_it_is_named(compared, tables):
    row = "arm == 'public' and setting == 'published' and step == 10 and seed == 1"
    (before,) = tables["trajectory"].query(row)["norm"]
    others = "arm == 'public' and setting == 'published'"
    assert compared(changed(tables, "trajectory", others, "norm", 0.0009)) == []
    assert compared(changed(tables, "trajectory", others, "norm", -0.0009)) == []
    lines = compared(changed(tables, "trajectory", row, "norm", 5.0))
    group = tables["trajectory"].query(others)["norm"]
    assert len(lines) == 2  # the mean and the largest, not the least
    mean, largest = sorted(lines, key=lambda line: "mean" not in line)
    start = "of trajectory.norm [public published]"
    assert mean.startswith(f"{ID}: mean {start}: then {group.mean():.9g}, now {group.mean() + 5 / 6:.9g}, ")
    assert largest.startswith(f"{ID}: max {start}: then {group.max():.9g}, now {before + 5:.9g}, ")
    assert all(line.endswith("tolerance 0.001") for line in lines)


@pytest.mark.parametrize("sign", [1, -1])
def test_drift_is_noticed_in_both_directions(compared, tables, sign):
    moved = changed(
        tables, "trajectory", "arm == 'public' and setting == 'noise halved'", "mass", sign * 0.0011
    )
    assert len(compared(moved)) == 3


def test_drift_of_another_setting_is_noticed_too(compared, tables):
    assert len(compared(changed(tables, "trajectory", "setting == 'noise halved'", "mass", 1))) == 6


def test_a_missing_group_is_reported(compared, tables):
    fewer = {**tables, "trajectory": tables["trajectory"].query("arm != 'public'")}
    lines = compared(fewer)
    assert len(lines) == 2 * 2 * 3
    assert all("[public " in line and ", now nan, " in line for line in lines)


def test_a_new_group_is_reported(compared, tables):
    more = tables["trajectory"].assign(arm="third").query("setting == 'published'")
    lines = compared({**tables, "trajectory": pd.concat([tables["trajectory"], more])})
    assert len(lines) == 2 * 3
    assert all("[third published]" in line and "then nan, now " in line for line in lines)


@pytest.mark.parametrize("name", ["trajectory", "strong"])
def test_a_missing_table_and_a_missing_column_are_reported(compared, tables, name):
    without = compared({key: table for key, table in tables.items() if key != name})
    assert len(without) == (summarise(tables)["table"] == name).sum()
    column = {"trajectory": "norm", "strong": "growth"}[name]
    renamed = tables[name].rename(columns={column: "other"})
    lines = compared({**tables, name: renamed})
    assert {line.split(" of ")[1].split(" ")[0] for line in lines} == {f"{name}.{column}", f"{name}.other"}


def test_a_group_without_numbers_is_no_drift_and_its_first_number_is(compared, tables, checkout):
    none = changed(tables, "trajectory", "arm == 'public'", "mass", np.nan)
    assert len(compared(none)) == 2 * 3
    file = golden_file(checkout, "smoke", ID)
    summarise(none).assign(tolerance=1e-3).to_csv(file, index=False)
    assert compared(none) == []
    lines = compared(tables)
    assert len(lines) == 2 * 3
    assert all("trajectory.mass [public " in line and ": then nan, now " in line for line in lines)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_reported(compared, tables, bad):
    lines = compared(changed(tables, "strong", "seed == 1", "growth", bad))
    assert lines
    assert all(f"{ID}: " in line and "strong.growth" in line for line in lines)
    whole = compared(changed(tables, "strong", "seed >= 0", "growth", bad))
    assert len(whole) == 3


def test_a_number_of_infinite_tolerance_may_be_anything_or_missing(compared, tables, checkout):
    file = golden_file(checkout, "smoke", ID)
    golden = summarise(tables).assign(tolerance=1e-3)
    free = golden["column"] == "growth"
    golden.assign(tolerance=golden["tolerance"].mask(free, np.inf)).to_csv(file, index=False)
    for other in (5.0, np.nan):
        assert compared(changed(tables, "strong", "seed >= 0", "growth", other)) == []
    assert compared(
        changed(tables, "strong", "seed >= 0", "growth", 5.0) | {"trajectory": tables["trajectory"].head(0)}
    )


def test_a_tier_without_golden_numbers_says_so(compared, checkout):
    with pytest.raises(RepriseError, match="no golden numbers; they exist for the smoke tier"):
        drift.compare(load_tier("default", checkout), ["jing2022"])
