"""The rule by which learning rates are chosen."""

import numpy as np
import pandas as pd
import pytest

from reprise.errors import RepriseError
from reprise.papers.skean2024.rates import at_own_rate, chosen, gains


def probes(**validations):
    """A method a keyword: rate -> accuracies by seed; test accuracies run the other way."""
    rows = [
        {
            "data_set": "shapes", "method": method, "learning_rate": rate, "seed": seed,
            "validation": value, "top1": 100 - value, "start": 20.0,
        }
        for method, rates in validations.items()
        for rate, values in rates.items()
        for seed, value in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def rate_of(table, method):
    return chosen(table).set_index("method")["learning_rate"][method]


def test_each_method_gets_the_rate_of_its_best_mean_validation_accuracy():
    table = probes(a={0.01: [50, 60], 0.1: [80, 20]}, b={0.01: [10, 10], 0.1: [20, 30]})
    assert (rate_of(table, "a"), rate_of(table, "b")) == (0.01, 0.1)


def test_a_rate_at_which_a_seed_diverged_is_not_chosen():
    table = probes(a={0.01: [30, 30], 0.1: [90, np.nan]})
    assert rate_of(table, "a") == 0.01


def test_of_equals_and_of_none_the_lowest_is_taken():
    table = probes(a={0.1: [30, 30], 0.01: [30, 30]}, b={0.1: [np.nan], 0.01: [np.nan]})
    assert (rate_of(table, "a"), rate_of(table, "b")) == (0.01, 0.01)


def test_test_images_have_no_part_in_the_choice():
    table = probes(a={0.01: [50, 60], 0.1: [20, 30]})
    assert (
        rate_of(table.assign(top1=range(4)), "a") == rate_of(table.assign(top1=range(4, 0, -1)), "a") == 0.01
    )


def test_the_rows_at_these_rates():
    table = probes(a={0.01: [50, 60], 0.1: [20, 30]}, b={0.01: [1, 2], 0.1: [3, 4]})
    own = at_own_rate(table, table)
    assert set(zip(own["method"], own["learning_rate"], strict=True)) == {("a", 0.01), ("b", 0.1)}
    assert len(own) == 4
    assert gains(own).tolist() == (own["top1"] - 20).tolist()


def test_nothing_to_choose_by_is_an_error():
    with pytest.raises(RepriseError, match="no run has a validation accuracy"):
        chosen(probes(a={0.1: [np.nan]}))
