"""Names of verdicts, and statements of what would decide them."""

import numpy as np
import pandas as pd
import pytest
from stating import stated as claimed

from reprise.contract.settings import Settings, stated
from reprise.evidence import comparison as m
from reprise.evidence.measures import column
from reprise.evidence.verdicts import judge_all
from reprise.report.schema import Claim, Reading
from reprise.report.wording import LEANS, NOT_SEEN, label, notes, to_hold, what_would_decide

SPREAD = 0.01 * np.arange(-4.5, 5)


class Params(Settings):
    width: int = stated(16, "Section 5")


def x(name: str = "x") -> m.Measure:
    return column("t", name)


def row(claim, width=16, **columns):
    table = pd.DataFrame({"seed": range(10), "setting": "published"} | columns)
    (found,) = judge_all([claim], [{"t": table}], Params(width=width)).to_dict("records")
    return found


def above(unit="1", **rest):
    return claimed(m.above(x(), 0.0, unit=unit, **rest))


TREND = claimed(m.near(x(), 1.0, kind="trend", quantity="slope", unit="1"))
IDENTITY = claimed(m.identity(x()))


@pytest.mark.parametrize(
    ("claim", "mean", "width", "words"),
    [
        (above(), 1.0, 16, "reproduced"),
        (above(), -1.0, 16, "the opposite"),
        (above(), -1.0, 8, NOT_SEEN),
        (above("matching score"), 0.0, 16, "tied"),
        (above(), 0.015, 16, "leans yes"),
        (above(), -0.015, 16, "leans no"),
        (above(), 0.005, 16, "undecided"),
        (TREND, 2.0, 16, "the direction holds, the size does not"),
        (TREND, -2.0, 16, "contradicted"),
        (IDENTITY, 1.0, 8, "a counterexample"),
        (IDENTITY, -1.0, 16, "few points"),
    ],
)
def test_a_verdict_is_said_one_degree_more_precisely(claim, mean, width, words):
    assert label(row(claim, width, x=mean + SPREAD), claim) == words


def test_a_sentence_about_cells_says_in_how_many_it_holds():
    cells = {name: m.above(x(name), 0.0, unit="1") for name in "abc"}
    every = claimed(cells)
    columns = {"a": 1 + SPREAD, "b": 1 + SPREAD, "c": SPREAD - 1}
    assert label(row(every, **columns), every) == "holds in 2 of 3 cells"
    tendency = claimed(cells, quantifier="generic")
    assert label(row(tendency, **columns), tendency) == "holds on average"
    assert label(row(tendency, **columns | {"c": SPREAD}), tendency) == "holds on average"
    assert label(row(tendency, **columns | {"c": 1 + SPREAD}), tendency) == "reproduced"


def test_a_sentence_about_every_cell_leans_as_its_worst_cell_does():
    """The p-value of its failing is corrected for the number of cells."""
    cells = {name: m.above(x(name), 0.0, unit="1") for name in "abcdefgh"}
    every = claimed(cells)
    columns = dict.fromkeys("abcdefg", 1 + SPREAD)
    assert label(row(every, **columns, h=SPREAD - 0.025), every) == "leans no"
    assert label(row(every, **columns, h=SPREAD - 0.015), every) == "undecided"
    assert label(row(every, **columns, h=SPREAD + 0.015), every) == "leans yes"


@pytest.mark.parametrize("seeds", [5, 10])
@pytest.mark.parametrize("cells", ["a", "abc"])
def test_a_claim_with_no_effect_is_said_to_lean_once_in_five(seeds, cells):
    """A false lean to either side, decided claims counted with it: the expected share is at most 20 %."""
    rng, worlds = np.random.default_rng(7), 300
    claim = claimed({name: m.above(x(name), 0.0, unit="1") for name in cells})
    tables = [
        pd.DataFrame({"seed": range(seeds), "setting": "published"} | dict(zip(cells, values, strict=True)))
        for values in rng.normal(size=(worlds, len(cells), seeds))
    ]
    rows = [judge_all([claim], [{"t": table}], Params()).to_dict("records")[0] for table in tables]
    labels = [label(found, claim) for found in rows]
    for words in ({"leans yes", "reproduced"}, {"leans no", "the opposite", "holds in 2 of 3 cells"}):
        share = sum(said in words for said in labels) / worlds
        assert share <= LEANS + 3 * (LEANS * (1 - LEANS) / worlds) ** 0.5


def test_seeds_on_the_side_to_which_it_leans_are_counted():
    values = 0.016 + SPREAD
    assert label(row(above(), x=values), above(), list(values)) == "leans yes: 7 of 10 seeds"
    assert label(row(above(), x=-values), above(), list(-values)) == "leans no: 7 of 10 seeds"


def test_a_verdict_says_whether_it_stands_in_our_setting_alone_or_in_every_one():
    claim = above()
    found = row(claim, x=1 + SPREAD)
    assert label(found | {"stands": ""}, claim) == "reproduced", "the paper leaves nothing open"
    assert label(found | {"stands": "here"}, claim) == "reproduced in our setting"
    assert label(found | {"stands": "everywhere"}, claim) == "reproduced everywhere"
    assert label(found | {"stands": "everywhere", "every": "inconclusive"}, claim) == "holds on average"


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("reproduced", "2 same, 1 opposite, 3 tied, 1 undecided"),
        ("contradicted", "1 same, 2 opposite, 3 tied, 1 undecided"),
        ("tied", "3 same, 3 otherwise, 1 undecided"),
        ("depends", "holds in 2, fails in 1, 3 tied, 1 undecided"),
    ],
)
def test_a_tied_setting_is_not_called_undecided(verdict, words):
    others = [*2 * ["reproduced"], "contradicted", *3 * ["tied"], "inconclusive"]
    settings = [Reading.model_construct(verdict=each) for each in others]
    claim = Claim.model_construct(
        verdict=verdict, settings=settings, stands="", verdict_half_margin=verdict, reading="", looked="",
        verdict_twice_margin=verdict, margin=0.0, smallest=0.0, kind="ordering", exceptions=[],
        what_would_decide="", seeds=10, sample="seeds", quotations=[],
    )  # fmt: skip
    assert notes(claim) == [f"7 other settings: {words}"]
    few = claim.model_copy(update={"seeds": 5})
    assert notes(few)[1] == "an outcome of up to 52 % of runs may not be among 5 seeds"
    assert (1 - 0.52) ** 5 > 0.025 > (1 - 0.53) ** 5


@pytest.mark.parametrize(
    ("quantifier", "reference", "cells", "words"),
    [
        ("generic", 0.0, [0.5, 0.6], "difference above 0"),
        ("generic", 0.0, [0.0, 0.0], "above 0"),  # as it is observed
        ("generic", 0.5, [0.5], "above 0.5"),
        ("universal", 0.0, [0.0, 0.6], "above 0"),  # of the cell that decides
    ],
)
def test_a_mean_over_cells_with_references_of_their_own_is_a_difference(quantifier, reference, cells, words):
    claim = Claim.model_construct(
        relation="above", quantifier=quantifier, reference=reference, margin=0.0,
        cells=[Reading.model_construct(reference=each) for each in cells],
    )  # fmt: skip
    assert to_hold(claim) == words


def test_seeds_and_minutes_that_would_decide_it_are_said():
    undecided = row(above(), x=0.03 + 10 * SPREAD)
    seeds = undecided["seeds_to_decide"]
    assert 10 < seeds < 10_000
    assert what_would_decide(undecided, None).startswith(f"about {seeds:.0f} seeds decide it")
    assert f", {seeds / 10 * 30 / 60:.0f} h" in what_would_decide(undecided, 30.0)
    assert "no number of seeds" in what_would_decide(row(above(), x=SPREAD), 1.0)
    assert what_would_decide(row(above(), x=1 + SPREAD), 1.0) == ""
