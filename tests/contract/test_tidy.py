"""From arrays to tidy tables: every number keeps its coordinates."""

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.contract.tidy import in_numbers, tidy

AXES = {"step": [0, 10], "arm": ["a", "b", "c"], "seed": range(4)}


def test_every_element_is_a_row_with_its_coordinates():
    array = np.random.default_rng(0).normal(size=(2, 3, 4))
    table = tidy(AXES, x=array, twice=torch.from_numpy(2 * array))
    assert list(table.columns) == ["step", "arm", "seed", "x", "twice"]
    assert len(table) == 24
    assert not table.duplicated(list(AXES)).any()
    for row in table.itertuples():
        at = AXES["step"].index(row.step), AXES["arm"].index(row.arm), row.seed
        assert (row.x, row.twice) == (array[at], 2 * array[at])


def test_coordinates_may_be_pairs():
    table = tidy({"cell": [("one", 0.5), ("both", 4.0)], "seed": [7, 9]}, x=np.array([[1, 2], [3, 4]]))
    assert table["cell"].str[0].tolist() == ["one", "one", "both", "both"]
    assert table["cell"].str[1].tolist() == [0.5, 0.5, 4.0, 4.0]
    assert table["x"].tolist() == [1, 2, 3, 4]


def test_types_stay_what_they_were():
    table = tidy({"seed": [1, 2]}, a=torch.tensor([1.5, 2.5]), n=np.array([1, 2]))
    assert (table["seed"].dtype.kind, table["a"].dtype, table["n"].dtype.kind) == ("i", np.float32, "i")


@pytest.mark.parametrize("shape", [(2, 4, 3), (3, 2, 4), (24,), (2, 3), (2, 3, 4, 1), ()])
def test_an_array_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"x has the shape .*\['step', 'arm', 'seed'\] have \(2, 3, 4\)"):
        tidy(AXES, x=np.zeros(shape))


def test_the_table_does_not_change_with_the_array():
    array = torch.ones(2)
    table = tidy({"seed": [0, 1]}, x=array)
    array.fill_(5)
    assert table["x"].tolist() == [1, 1]


def test_a_table_for_reading_becomes_numbers_with_their_deviations():
    table = pd.DataFrame(
        {
            "method": ["a", "b", "-"],
            "ours": ["0.16 ± 0.19", "-1.20 ± 0.00", "diverged"],
            "slope": ["0.2 [-0.1, 1e-3]", "", "3"],
            "rate": ["0.1", "1e-05", ".5"],
            "mixed": ["1", "2 of 3", ""],
            "none": ["", "", "-"],
            "count": [1, 2, 3],
        }
    )
    found = in_numbers(table)
    nan = float("nan")
    expected = pd.DataFrame(
        {
            "method": table["method"],
            "ours": [0.16, -1.2, nan],
            "ours, std": [0.19, 0.0, nan],
            "slope": [0.2, nan, 3.0],
            "slope, low": [-0.1, nan, nan],
            "slope, high": [1e-3, nan, nan],
            "rate": [0.1, 1e-5, 0.5],
            "mixed": table["mixed"],
            "none": table["none"],
            "count": [1, 2, 3],
        }
    )
    pd.testing.assert_frame_equal(found, expected)
