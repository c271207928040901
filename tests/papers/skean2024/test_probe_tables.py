"""Tables 2 and 3 as drawn: every printed number stands beside ours, and nothing else does."""

import csv
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from reading import share_x
from scipy import stats

import reprise.papers.skean2024 as paper
from reprise.contract.experiment import BASE
from reprise.evidence.statistics import Interval
from reprise.papers.skean2024.linear_probes.agreement import kendall_tau, rank_agreement
from reprise.papers.skean2024.linear_probes.experiment import Params
from reprise.papers.skean2024.linear_probes.figures import (
    ORDER,
    table2,
    table2_beside_print,
    table3,
    table3_beside_print,
)
from reprise.papers.skean2024.lineup import EPOCHS, METHODS

with (Path(paper.__file__).parent / "published.csv").open() as file:
    PRINTED = list(csv.DictReader(file))
REDUCED = {
    "data_sets": ("shapes", "shapes-80"),
    "steps": (6, 6),
    "online": "shapes",
    "looks": (2, 3, 4, 5, 6),
    "probe_every": 1,
}


def results(params):
    """Runs of which every accuracy is 12, or 13 of the second seed."""
    runs = [
        {"method": method, "seed": seed, "learning_rate": 0.3, "top1": 12.0 + seed, "setting": BASE}
        for method in METHODS
        for seed in (0, 1)
    ]
    probes = [
        {
            **run,
            "data_set": name,
            "place": place,
            "start": 10.0,
            "pixel_neighbours": 9.0,
            "pixel_probe": 8.0,
            "supervised": 70.0,
        }
        for run, (place, name) in product(runs, enumerate(params.data_sets))
    ]
    online = [{**run, "data_set": params.online, "epoch": epoch} for run, epoch in product(runs, EPOCHS)]
    return {"probes": pd.DataFrame(probes), "online": pd.DataFrame(online)}


@pytest.mark.parametrize("params", [Params(), Params(**REDUCED)], ids=["published", "reduced"])
@pytest.mark.parametrize(("number", "draw"), [("Table 2", table2), ("Table 3", table3)])
def test_the_printed_numbers_stand_beside_ours(number, draw, params):
    drawn = draw(results(params), params).set_index("method")
    shown = {
        (method, column.removesuffix(": published").removesuffix(" (STL-10)"), float(cell))
        for column in drawn
        if column.endswith(": published")
        for method, cell in drawn[column].items()
        if cell != ""
    }
    printed = {
        (row["row"], row["column"].replace("Average", "average"), float(row["value"]))
        for row in PRINTED
        if row["artifact"] == number
    }
    assert shown == printed
    ours = drawn[drawn["family"] != "for comparison"].filter(like=": ours")
    assert ours.shape[1] == (len(params.data_sets) + 1 if number == "Table 2" else len(EPOCHS))
    assert (ours == "12.5 ± 0.7").all(axis=None)


@pytest.mark.parametrize("params", [Params(), Params(**REDUCED)], ids=["published", "reduced"])
@pytest.mark.parametrize(
    ("number", "draw"), [("Table 2", table2_beside_print), ("Table 3", table3_beside_print)]
)
def test_every_printed_number_is_drawn_in_its_row_and_on_an_axis_without_ours(number, draw, params):
    panels = draw(results(params), params).axes
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    shown = set()
    for panel in panels:
        lines = [line for line in panel.lines if line.get_label() == "printed"]
        for line in lines:
            column, said = panel.get_title().split("\n")
            assert said == "printed"
            shown |= {(names[round(y)], column, x) for x, y in line.get_xydata()}
        assert not (lines and dots(panel))
        assert not any(other is not panel for other in share_x(panel, panels))
    expected = [row for row in PRINTED if row["artifact"] == number]
    assert shown == {(row["row"], row["column"], float(row["value"])) for row in expected}
    last = ORDER[number]
    in_order = [float(row["value"]) for name in names for row in expected
                if (row["row"], row["column"]) == (name, last)]  # fmt: skip
    assert in_order == sorted(in_order, reverse=True)


def with_accuracies(params, **chosen):
    """Results with these accuracies of each method named, one a seed, on every data set; the others
    diverged."""
    made = results(params)
    for table in made.values():
        for method, accuracies in chosen.items():
            rows = table["method"] == method
            table.loc[rows, "top1"] = table.loc[rows, "seed"].map(dict(enumerate(accuracies)))
        table.loc[~table["method"].isin(chosen), "top1"] = np.nan
    return made


def dots(panel):
    """Dots of our numbers: row -> (accuracy, colour)."""
    return {
        round(line.get_ydata()[0]): (line.get_xdata()[0], line.get_color())
        for line in panel.lines
        if line.get_marker() == "o"
    }


def test_dots_are_our_means_and_grey_where_a_network_did_not_learn():
    params = Params(**REDUCED)
    tables = with_accuracies(params, simclr=(50, 54), byol=(26, 24), vicreg=(40, 42), frossl=(60, 61))
    names, panel = rows_and_ours(tables, params)
    shown = {names[place]: dot for place, dot in dots(panel).items()}
    assert {name: x for name, (x, _) in shown.items()} == {
        "SimCLR": 52, "BYOL": 25, "VICReg": 41, "FroSSL": 60.5,
    }  # fmt: skip
    grey = {name for name, (_, color) in shown.items() if len(set(mpl.colors.to_rgb(color))) == 1}
    assert grey == {"BYOL"}  # a seed gains 14 points, less than the 15 that show learning
    words = [text.get_text() for text in panel.texts]
    assert words.count("diverged") == len(METHODS) - 4
    assert panel.get_title().split("\n")[2].startswith("n = 3, ")


def rows_and_ours(tables, params):
    """The names of the rows, and the panel of our numbers on the first data set."""
    printed, ours = table2_beside_print(tables, params).axes[:2]
    return [label.get_text() for label in printed.get_yticklabels()], ours


def ranks_of(tables, params):
    """Row -> its ranks, and whether they are in bold."""
    names, panel = rows_and_ours(tables, params)
    return {
        names[round(text.get_position()[1])]: (text.get_text(), text.get_fontweight() == "bold")
        for text in panel.texts
        if text.get_text()[0].isdigit()
    }


def test_ranks_and_tau_compare_the_orders():
    """On CIFAR-10 the paper has FroSSL before VICReg before SimCLR; here it is SimCLR, FroSSL, VICReg."""
    params = Params(**REDUCED)
    tables = with_accuracies(params, simclr=(70, 71), vicreg=(40, 41), frossl=(50, 51))
    assert ranks_of(tables, params) == {
        "SimCLR": ("3 → 1", True), "VICReg": ("2 → 3", True), "FroSSL": ("1 → 2", True),
    }  # fmt: skip
    _, panel = rows_and_ours(tables, params)
    assert panel.get_title().split("\n")[2:] == ["n = 3, τ = -0.33", "[-0.33, -0.33]"]


def test_a_rank_that_the_seeds_leave_open_is_a_range():
    params = Params(**REDUCED)
    tables = with_accuracies(params, simclr=(40, 41), vicreg=(60, 50), frossl=(50, 60))
    assert ranks_of(tables, params) == {
        "SimCLR": ("3 → 1 to 3", False), "VICReg": ("2 → 1 to 3", False), "FroSSL": ("1 → 1 to 3", False),
    }  # fmt: skip


@pytest.mark.parametrize("values", [10, 3])  # of the latter, many tie
def test_kendalls_tau_is_scipys(values):
    rng = np.random.default_rng(0)
    first, second = rng.integers(values, size=8), rng.integers(values, size=(20, 8))
    expected = [stats.kendalltau(first, each).statistic for each in second]
    np.testing.assert_allclose(kendall_tau(first, second), expected)


def test_the_interval_of_tau_shows_how_far_seeds_agree():
    printed = pd.Series({"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5})
    same = pd.DataFrame([[30.0, 20.0, 10.0, 5.0]] * 5, columns=list("abcd"))
    assert rank_agreement(printed, same) == Interval(1.0, 1.0, 1.0)
    assert rank_agreement(printed, -same) == Interval(-1.0, -1.0, -1.0)
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 4)), columns=list("abcd"))
    found = rank_agreement(printed, noise)
    assert found.high - found.low > 0.5
    with pytest.raises(ValueError, match="2 methods have no order"):
        rank_agreement(printed[:2], same)


def test_a_single_seed_separates_no_methods():
    printed = pd.Series({"a": 3.0, "b": 2.0, "c": 1.0})
    assert rank_agreement(printed, pd.DataFrame([[30.0, 20.0, 25.0]], columns=list("abc"))) == Interval(
        pytest.approx(1 / 3), -1.0, 1.0
    )


@pytest.mark.parametrize("printed", [(1, 2, 3, 4, 5), (3, 1, 2, 5, 4)])
def test_the_interval_of_tau_holds_the_true_one_as_often_as_it_says(printed):
    """Five methods a third of a standard deviation apart, five seeds. A bootstrap over seeds holds a true tau
    of 1 in 59 % of the draws."""
    rng, draws = np.random.default_rng(0), 200
    means, order = np.arange(5.0), pd.Series(printed, index=list("abcde"), dtype=float)
    true = stats.kendalltau(means, order).statistic
    ends = [
        rank_agreement(order, pd.DataFrame(means + rng.normal(0, 3, (5, 5)), columns=order.index))
        for _ in range(draws)
    ]
    assert sum(each.low - 1e-9 <= true <= each.high + 1e-9 for each in ends) >= 0.95 * draws
    assert all(each.low <= each.mean <= each.high for each in ends)
    apart = pd.DataFrame(100 * means + rng.normal(0, 3, (5, 5)), columns=order.index)
    found = rank_agreement(order, apart)
    assert (found.low, found.high) == pytest.approx((true, true))
