"""Numbers as the page and the terminal write them."""

import numpy as np
import pytest

from reprise.report.numbers import rounded
from reprise.report.wording import measured, printed


@pytest.mark.parametrize(
    ("value", "uncertainty", "shown"),
    [
        (0.12345, 0.034, "0.123"),
        (89.77, 5.2, "89.8"),
        (-0.98, 0.3, "−0.98"),
        (12345.0, 300.0, "12340"),
        (1e-6, np.nan, "1e−6"),
        (66.5, np.nan, "66.5"),
        (3209.7, np.nan, "3210"),
        (4.75e-15, 1e-15, "4.8e−15"),
        (np.nan, 0.3, "—"),
        (np.inf, np.nan, "∞"),
    ],
)
def test_a_number_has_two_digits_of_its_uncertainty(value, uncertainty, shown):
    assert rounded(value, uncertainty) == shown


def test_a_range_is_no_uncertainty():
    assert measured("identity", 3209.7, 22.0154, 3209.7) == "3210 [22.02, 3210]"
    assert measured("value", 3209.7, 22.0154, 3209.7) == "3200 [0, 3200]"
    assert measured("always", 0.5, 0.5, 0.5) == measured("always", 0.5, np.nan, np.nan) == "0.5"


@pytest.mark.parametrize(
    ("value", "std", "shown"),
    [
        (0.3, 0.24, "0.30 ± 0.24"),
        (-0.03, 0.01, "−0.03 ± 0.01"),
        (-0.0, 0.0, "0 ± 0"),
        (62.7, None, "62.7"),
        (0.9, 0.01, "0.90 ± 0.01"),
    ],
)
def test_a_published_number_and_its_deviation_have_as_many_places(value, std, shown):
    assert printed(value, std) == shown
