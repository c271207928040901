"""What a cell compares, apart from what a sentence claims."""

import pandas as pd
import pytest

from reprise.engine import registry
from reprise.evidence import claims
from reprise.evidence import comparison as m
from reprise.evidence.claim import single
from reprise.evidence.judgement import judge


def x(tables):
    return tables["t"].set_index("seed")["x"]


VALUES = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.02, 0.98, 1.01, 0.99]
FOUND = {"t": pd.DataFrame({"seed": range(10), "x": VALUES})}


def table(tables):
    return tables["t"]


SIMPLE = {
    "above": (m.above(x, 0.5, unit="1"), {"above": 0.5}, claims.ordering),
    "below": (m.below(x, 0.5, unit="1", bounds=m.SHARE), {"below": 0.5, "bounds": m.SHARE}, claims.ordering),
    "near": (
        m.near(x, 1.0, quantity="singular value", unit="1"),
        {"published": 1.0, "quantity": "singular value"},
        claims.value,
    ),
    "accuracy": (
        m.near(x, 1.0, quantity="accuracy", unit="1", std=0.1, n=3),
        {"published": 1.0, "quantity": "accuracy", "std": 0.1, "n": 3},
        claims.value,
    ),
    "at least": (m.at_least(x, 1, unit="1"), {"at_least": 1}, claims.count),
    "at most": (m.at_most(x, 0, unit="1"), {"at_most": 0}, claims.count),
    "every run": (m.in_every_run(m.exactly(x, 1, unit="1")), {"exactly": 1}, claims.always),
    "agrees": (
        m.agrees(x, 1.0, resolution=x, unit="1"),
        {"reference": 1.0, "resolution": x},
        claims.agreement,
    ),
    "limit": (
        m.tends_to(x, 1.0, resolution=x, course=table, unit="1"),
        {"reaches": 1.0, "resolution": x, "course": table},
        claims.limit,
    ),
}


@pytest.mark.parametrize("name", SIMPLE)
def test_a_claim_of_one_call_holds_the_comparison_of_its_name(name):
    compared, arguments, make = SIMPLE[name]
    claim = make("k/fig1/c", "s", source="Figure 1", measure=x, unit="1", **arguments)
    assert claim == single("k/fig1/c", "s", compared, source="Figure 1")
    assert claim.first == compared


def test_every_claim_says_something_and_is_about_comparisons():
    for id, (claim, _) in registry.claims().items():
        assert claim.id == id
        assert claim.statement, id
        assert claim.source, id
        assert all(type(cell) is m.Comparison for cell in claim.cells.values()), id


def test_a_margin_of_its_own_takes_the_place_of_the_quantitys():
    wide = m.near(x, 1.5, quantity="count", margin=1.0, unit="1")
    exact = m.near(x, 1.5, quantity="count", unit="1")
    claim = single("k/fig1/c", "s", wide, source="Figure 1")
    assert judge(claim, FOUND).verdict == "reproduced"
    assert judge(single("k/fig1/c", "s", exact, source="Figure 1"), FOUND).verdict == "contradicted"
