"""Measures made of rows, columns and arithmetic, on a table that can be read by eye."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reprise.errors import RepriseError
from reprise.evidence.measures import (
    Setting,
    applied,
    beside,
    column,
    difference,
    each_seed,
    first,
    largest,
    last,
    log_log_slope,
    mean,
    once,
    rank_correlation,
    ratio,
    rows,
    selected,
    smallest,
    wide,
)

TABLE = pd.DataFrame(
    [
        ("relu", 0, 1, 2.0), ("relu", 10, 1, 8.0), ("relu", 0, 0, 4.0), ("relu", 10, 0, np.nan),
        ("linear", 0, 0, 1.0), ("linear", 20, 0, 3.0),
    ],
    columns=["arm", "step", "seed", "loss"],
)  # fmt: skip
TABLES = {"losses": TABLE}


def test_rows_by_value_by_several_and_by_function():
    assert len(rows(TABLE)) == 6
    assert rows(TABLE, arm="relu", seed=1)["loss"].tolist() == [2, 8]
    assert rows(TABLE, step=(0, 20))["loss"].tolist() == [2, 4, 1, 3]
    assert rows(TABLE, loss=lambda loss: loss > 3)["loss"].tolist() == [8, 4]
    assert rows(TABLE, step=first)["loss"].tolist() == [2, 4, 1]


def test_conditions_apply_from_left_to_right():
    assert rows(TABLE, arm="relu", step=last)["step"].unique() == [10]
    assert rows(TABLE, step=last, arm="relu").empty


def test_a_column_is_in_the_tables_order_by_seed_or_another_column():
    of_relu = column("losses", "loss", arm="relu", step=0)(TABLES)
    assert of_relu.to_dict() == {1: 2.0, 0: 4.0}
    assert of_relu.index.tolist() == [1, 0]
    assert column("losses", "loss", by="arm", step=0, seed=0)(TABLES).to_dict() == {
        "relu": 4.0,
        "linear": 1.0,
    }
    assert column("losses", "loss", arm="tanh")(TABLES).empty
    assert column(lambda tables: tables["losses"].iloc[:1], "loss")(TABLES).to_dict() == {1: 2.0}


def test_unknown_names_are_errors():
    for measure in (column("loss", "loss"), column("losses", "lose"), column("losses", "loss", arms="relu")):
        with pytest.raises(KeyError):
            measure(TABLES)
    with pytest.raises(RepriseError, match="unknown table 'loss'; did you mean 'losses'"):
        column("loss", "loss")(Setting(TABLES))


def test_one_number_for_all_that_a_seed_has():
    losses = column("losses", "loss", arm="relu")
    assert each_seed("max", losses)(TABLES).to_dict() == {0: 4.0, 1: 8.0}
    for reduce, of_seed_1 in ((largest, 8), (smallest, 2), (mean, 5)):
        numbers = each_seed(reduce, losses)(TABLES)
        assert numbers[1] == of_seed_1
        assert np.isnan(numbers[0])
    assert each_seed(largest, column("losses", "loss", arm="tanh"))(TABLES).empty


def test_arithmetic_is_seed_by_seed():
    end, start = (column("losses", "loss", arm="relu", step=step) for step in (10, 0))
    assert difference(end, start)(TABLES)[1] == 6
    assert ratio(end, start)(TABLES)[1] == 4
    assert applied(np.log, start)(TABLES)[0] == np.log(4)


def test_wide_and_the_slope_of_its_rows():
    squares = pd.DataFrame({"seed": 0, "width": [1, 2, 4], "loss": [3.0, 12.0, 48.0]})
    spread = wide("squares", "loss", "width", width=lambda width: width > 1)
    assert spread({"squares": squares}).to_numpy().tolist() == [[12.0, 48.0]]
    assert applied(log_log_slope, spread)({"squares": squares}).to_dict() == {0: pytest.approx(2)}


def test_measures_that_read_the_same_rows_of_a_setting_make_them_once():
    made = []

    def source(tables):
        made.append(len(tables["losses"]))
        return tables["losses"]

    setting, fewer = Setting(TABLES), Setting({"losses": TABLE.iloc[:2]})
    for _ in range(2):
        mine, other = (column(source, value, arm="relu", step=0) for value in ("loss", "step"))
        assert difference(mine, other)(setting).to_dict() == {1: 2.0, 0: 4.0}
        assert difference(mine, other)(fewer).to_dict() == {1: 2.0}
    assert made == [6, 2]
    assert selected(source, arm="linear")(setting)["step"].tolist() == [0, 20]
    assert made == [6, 2]
    assert mine(TABLES).to_dict() == {1: 2.0, 0: 4.0}  # of other tables nothing is kept
    assert mine(TABLES) is not mine(TABLES)
    assert mine(setting) is mine(setting)


def test_conditions_in_another_order_are_others():
    setting = Setting(TABLES)
    assert selected("losses", arm="relu", step=last)(setting)["step"].unique() == [10]
    assert selected("losses", step=last, arm="relu")(setting).empty


def test_what_cannot_be_derived_is_an_error_each_time():
    setting, broken = Setting(TABLES), once(lambda tables: tables["gains"])
    for _ in range(2):
        with pytest.raises(RepriseError, match="unknown table 'gains'"):
            broken(setting)


def test_rank_correlation_is_spearmans_and_leaves_out_what_has_no_observations():
    rng = np.random.default_rng(0)
    scores = [pd.Series(rng.normal(size=3)) for _ in range(12)]
    one, other = (beside(*(constant(score) for score in half))({}) for half in (scores[:6], scores[6:]))
    found, with_columns = rank_correlation(one, other), rank_correlation(one, one.columns)
    for seed in range(3):
        assert found[seed] == pytest.approx(stats.spearmanr(one.loc[seed], other.loc[seed]).statistic)
        assert with_columns[seed] == pytest.approx(stats.spearmanr(one.loc[seed], range(6)).statistic)
    assert beside(constant(scores[0]), constant(scores[1].iloc[:0]))({}).empty
    other.iloc[0, 3] = np.nan
    assert list(rank_correlation(one, other).isna()) == [True, False, False]
    pd.testing.assert_series_equal(rank_correlation(one, other[::-1].loc[[2, 1]]), found.loc[[1, 2]])
    assert rank_correlation(one, other[:0]).empty
    assert rank_correlation(one[:0], other).empty


def constant(values):
    return lambda tables: values
