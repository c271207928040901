"""The comparison of a cell, apart from the sentence of its claim."""

import pandas as pd
from stating import stated

from reprise.engine import registry
from reprise.evidence import comparison as m
from reprise.evidence.judgement import judge


def x(tables):
    return tables["t"].set_index("seed")["x"]


VALUES = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.02, 0.98, 1.01, 0.99]
FOUND = {"t": pd.DataFrame({"seed": range(10), "x": VALUES})}


def test_every_claim_says_something_and_is_about_comparisons():
    for id, (claim, _) in registry.claims().items():
        assert claim.id == id
        assert claim.statement, id
        assert claim.source, id
        assert all(type(cell) is m.Comparison for cell in claim.cells.values()), id


def test_a_margin_of_its_own_takes_the_place_of_the_quantitys():
    wide = m.near(x, 1.5, quantity="count", margin=1.0, unit="1")
    exact = m.near(x, 1.5, quantity="count", unit="1")
    assert judge(stated(wide), FOUND).verdict == "reproduced"
    assert judge(stated(exact), FOUND).verdict == "contradicted"
