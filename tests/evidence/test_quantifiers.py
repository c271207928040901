"""Sentences about many cells, in worlds in which they are true or false: how often a verdict is wrong."""

import numpy as np
import pandas as pd
import pytest
from stating import stated
from worlds import judged, rate, sentence

from reprise.evidence.comparison import above, at_least, below, near
from reprise.evidence.judgement import judge
from reprise.evidence.measures import column
from reprise.evidence.quantifiers import Evidence, existential, of_ordering, universal

ALPHA = 0.025
CELLS = [1, 4, 16, 40]
WORLDS = 600
ERROR = 3 * (ALPHA * (1 - ALPHA) / WORLDS) ** 0.5


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("seeds", [5, 10])
def test_one_cell_without_an_effect_is_missed_as_rarely_as_in_one_test_alone_and_no_more_rarely(cells, seeds):
    effects = [0.0] + [5.0] * (cells - 1)
    wrong = rate(judged(sentence("universal", cells), effects, seeds, WORLDS), "reproduced")
    assert 0.015 - ERROR <= wrong <= ALPHA + ERROR


def test_sixteen_cells_with_a_large_effect_are_found_to_have_it():
    claim = sentence("universal", 16)
    assert rate(judged(claim, [2.0] * 16, 10, 200), "reproduced") >= 0.95


@pytest.mark.parametrize("cells", CELLS)
def test_a_true_universal_sentence_is_rarely_contradicted(cells):
    wrong = rate(judged(sentence("universal", cells), [1e-9] * cells, 5, WORLDS), "contradicted")
    assert wrong <= ALPHA + ERROR


@pytest.mark.parametrize("cells", [4, 10])
@pytest.mark.parametrize("seeds", [5, 10])
def test_a_tendency_that_is_none_is_rarely_reproduced_though_half_of_the_cells_have_an_effect(cells, seeds):
    effects = [0.6, -0.6] * (cells // 2)
    assert rate(judged(sentence("generic", cells), effects, seeds, WORLDS), "reproduced") <= ALPHA + ERROR


def test_one_of_many_cells_can_fail_to_be_alike():
    """By ranks of ten seeds 2 x 2^-10 x 12 is above the level of a first look, so that t is tested."""
    cells = {f"{n}": near(column("t", f"{n}"), 0.0, quantity="score", unit="1") for n in range(12)}
    values = {name: 0.01 * np.linspace(-1, 1, 10) for name in cells}
    found = judge(stated(cells, quantifier="similar"), {"t": pd.DataFrame(values | {"seed": range(10)})})
    assert found.verdict == "reproduced"
    values["3"] = 0.3 + values["3"]
    found = judge(stated(cells, quantifier="similar"), {"t": pd.DataFrame(values | {"seed": range(10)})})
    assert (found.verdict, found.deciding) == ("contradicted", "3")


@pytest.mark.parametrize(("shared", "verdict"), [(2, "inconclusive"), (5, "reproduced")])
def test_a_tendency_is_averaged_over_the_seeds_that_all_cells_have(shared, verdict):
    """The other seeds of the second cell would drown the effect of both."""
    cells = {name: above(column(name, "x"), 0.0, unit="1") for name in ("few", "many")}
    claim = stated(cells, quantifier="generic")
    many = np.where(np.arange(12) < shared, 3.0, -30.0) + 0.1 * np.random.default_rng(0).normal(size=12)
    found = judge(claim, {
        "few": pd.DataFrame({"seed": range(shared), "x": 1.0 + 0.1 * np.arange(shared)}),
        "many": pd.DataFrame({"seed": range(12), "x": many}),
    })  # fmt: skip
    assert found.verdict == verdict
    if verdict == "reproduced":
        assert found.seeds == shared
        assert found.observed == pytest.approx((many[:shared] + 1.0 + 0.1 * np.arange(shared)).mean() / 2)


def test_a_third_of_the_cells_of_one_part_are_exceptions_though_they_are_few_of_all():
    names = ["a", "b", "c", *(f"{n}" for n in range(6))]
    cells = {
        name: above(column("t", name), 0.0, unit="1" if place < 3 else "2")
        for place, name in enumerate(names)
    }
    claim = stated(cells, quantifier="generic")
    spread = np.linspace(-1.0, 1.0, 8)
    values = dict.fromkeys(names, 1.0 + 0.1 * spread) | {"a": -0.1 + spread, "b": -0.1 + spread}
    judged = judge(claim, {"t": pd.DataFrame(values | {"c": 9.0 + spread, "seed": range(8)})})
    assert (judged.verdict, judged.exceptions) == ("reproduced", ("a", "b"))


@pytest.mark.parametrize("quantifier", ["universal", "generic"])
def test_a_sentence_about_cells_that_were_not_all_run_is_not_judged(quantifier):
    """It could only fail. A search may find what it looks for in the cells that there are."""
    cells = {name: above(column("t", "x", cell=name), 0.0, unit="1") for name in ("run", "left out")}
    for values in (1.0 + 0.1 * np.arange(5), -1.0 - 0.1 * np.arange(5)):
        found = {"t": pd.DataFrame({"seed": range(5), "cell": "run", "x": values})}
        judged = judge(stated(cells, quantifier=quantifier), found)
        assert (judged.verdict, judged.code) == ("not run", "no observations")
        assert "not run: left out" in judged.reason
        searched = judge(stated(cells, quantifier="existential"), found).verdict
        assert searched == ("reproduced" if values[0] > 0 else "inconclusive")


def test_counts_are_averaged_over_cells_as_other_effects_are():
    cells = {name: at_least(column("t", name), 1, unit="collapsed values") for name in ("a", "b")}
    claim = stated(cells, quantifier="generic")
    a = [0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    judged = judge(claim, {"t": pd.DataFrame({"seed": range(10), "a": a, "b": [8] * 10})})
    assert (judged.verdict, judged.every) == ("reproduced", "inconclusive")


def test_a_tendency_with_four_of_nine_cells_reversed_is_never_plainly_reproduced():
    judgements = judged(sentence("generic", 9), [4.0] * 5 + [-1.0] * 4, 10, 300)
    assert all(each.exceptions for each in judgements if each.verdict == "reproduced")
    assert rate(judgements, "reproduced") > 0.9


def test_a_tendency_says_what_it_would_be_in_every_cell_and_in_a_further_one():
    (one,) = judged(sentence("generic", 9), [2.0] * 8 + [-3.0], 10, 1)
    assert (one.verdict, one.every, one.exceptions) == ("reproduced", "contradicted", ("8",))
    assert "a further cell" in one.reason


@pytest.mark.parametrize("cells", CELLS)
def test_a_search_rarely_finds_what_is_nowhere_and_contradicts_nothing(cells):
    judgements = judged(sentence("existential", cells), [0.0] * cells, 5, WORLDS)
    assert rate(judgements, "reproduced") <= ALPHA + ERROR
    assert rate(judgements, "contradicted") == 0


def test_a_search_that_finds_nothing_says_so():
    (one,) = judged(sentence("existential", 3), [-9.0] * 3, 10, 1)
    assert (one.verdict, one.code) == ("inconclusive", "not found")


def test_an_effect_too_small_to_name_is_tied_and_contradicts_only_what_the_paper_prints():
    tie = {"holds": 0.001, "fails": 1.0, "tied": 0.01, "alpha": ALPHA}
    assert of_ordering(**tie, prints_more=False).decision(ALPHA) == "tied"
    assert of_ordering(**tie, prints_more=True).decision(ALPHA) == "contradicted"


def test_one_tied_cell_ties_a_universal_sentence_and_one_reversed_cell_contradicts_it():
    up, tied, down = Evidence(0.001, 1.0, 1.0), Evidence(1.0, 1.0, 0.01), Evidence(1.0, 0.001, 1.0)
    assert universal([up, up]) == Evidence(0.001, 1.0, 1.0)
    assert universal([up, tied]).decision(ALPHA) == "tied"
    assert universal([up, tied, down]).decision(ALPHA) == "contradicted"
    assert existential([down, down, up]).decision(ALPHA) == "reproduced"
    assert existential([down, down], is_complete=True).decision(ALPHA) == "contradicted"


def test_a_mean_effect_over_cells_is_not_cut_to_the_values_of_a_cell():
    cells = {name: below(column("t", name), 0.5, unit="1", bounds=(0.0, 1.0)) for name in ("a", "b")}
    average, each = (stated(cells, quantifier=quantifier) for quantifier in ("generic", "universal"))
    assert average.shown(-0.3, -0.1) == (-0.3, -0.1)
    assert each.shown(-0.3, 0.1) == (0.0, 0.1)
