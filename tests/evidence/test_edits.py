"""Changes to tables: what they select they change, and nothing else."""

import pandas as pd
import pytest

from reprise.evidence.edits import plus, put, swapped, times, together, without
from reprise.evidence.measures import last

TABLES = {
    "t": pd.DataFrame(
        {"seed": [0, 0, 1, 1], "arm": ["a", "b", "a", "b"], "step": [0, 1, 0, 1], "n": [1, 2, 3, 4]}
    ),
    "u": pd.DataFrame({"x": [1.0]}),
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (put("t", "n", 9, arm="a"), [9, 2, 9, 4]),
        (plus("t", "n", 0.5, arm="b"), [1, 2.5, 3, 4.5]),
        (times("t", ["n"], -1), [-1, -2, -3, -4]),
        (times("t", "n", 10, arm=["a", "b"], step=last), [1, 20, 3, 40]),
        (together(plus("t", "n", 1), times("t", "n", 2, seed=0)), [4, 6, 4, 5]),
    ],
)
def test_only_the_selected_rows_change(change, expected):
    before = TABLES["t"].copy()
    changed = change(TABLES)
    assert list(changed["t"]["n"]) == expected
    pd.testing.assert_frame_equal(changed["t"].drop(columns="n"), before.drop(columns="n"))
    pd.testing.assert_frame_equal(TABLES["t"], before)
    assert changed["u"] is TABLES["u"]


def test_rows_are_left_out():
    assert list(without("t", arm="a")(TABLES)["t"]["n"]) == [2, 4]
    with pytest.raises(ValueError, match="the change selects no row of 't'"):
        without("t", arm="c")(TABLES)


def test_labels_are_exchanged():
    assert list(swapped("t", "arm", "a", "b")(TABLES)["t"]["arm"]) == ["b", "a", "b", "a"]
    assert list(swapped("t", "arm", "a", "b", seed=1)(TABLES)["t"]["arm"]) == ["a", "b", "b", "a"]
    with pytest.raises(ValueError, match="'t' has no arm = 'c' in these rows"):
        swapped("t", "arm", "a", "c")(TABLES)


def test_a_change_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="the change selects no row of 't'"):
        put("t", "n", 0, arm="c")(TABLES)
