"""Declarations of claims, and data that refute each of their cells."""

from pathlib import Path

import pandas as pd
import pytest

from reprise.errors import RepriseError
from reprise.evidence.claim import ALONE, Quotation, claim, each
from reprise.evidence.comparison import above, near
from reprise.evidence.edits import plus, swapped
from reprise.evidence.judgement import check_refuted, check_reproduced
from reprise.evidence.measures import column

SAID = Quotation("we suspect that it rises", at="Section 3", hedge="we suspect")
ARMS = ("a", "b")
IDEAL = {
    "t": pd.DataFrame(
        [(seed, arm, 10.0 * rank + seed) for seed in range(10) for rank, arm in enumerate((*ARMS, "c"))],
        columns=["seed", "arm", "score"],
    )
}


def score(arm):
    return column("t", "score", arm=arm)


def below_c(broken_by, **about):
    @claim("k/fig1/below", "Both are\n   below c.", quotes=SAID, word="rises", broken_by=broken_by, **about)
    def cells():
        for arm in ARMS:
            yield arm, above(score("c"), score(arm), unit="score")

    return cells


def test_a_function_declares_a_claim():
    declared = below_c(plus("t", "score", 99.0, arm=ARMS[0]))
    assert (declared.id, declared.statement, declared.source) == (
        "k/fig1/below",
        "Both are below c.",
        "Section 3",
    )
    assert list(declared.cells) == list(ARMS)
    assert declared.quotes == (SAID,)
    assert (Path(declared.code.file).name, declared.code.name) == ("test_claim.py", "cells")
    line = Path(__file__).read_text().splitlines()[declared.code.line - 1]
    assert line.strip().startswith("@claim(")


def test_a_family_has_a_claim_for_each_combination():
    @each(ARMS, (1, 2))
    def family(arm, number):
        @claim(f"k/{arm}/{number}", "It is above 0.", at="Section 1", broken_by=plus("t", "score", -99.0))
        def cells():
            return above(score(arm), 0.0, unit="score")

        return cells

    assert [one.id for one in family] == ["k/a/1", "k/a/2", "k/b/1", "k/b/2"]
    assert list(family[0].cells) == [ALONE]


def test_a_claim_says_where_and_names_each_cell_once():
    with pytest.raises(ValueError, match="k/a/b: neither `at` nor a quotation"):
        claim("k/a/b", "It is.")
    with pytest.raises(ValueError, match="k/a/b: two cells have the name 'x'"):

        @claim("k/a/b", "It is.", at="Section 1")
        def cells():
            yield "x", above(score("a"), 0.0, unit="")
            yield "x", above(score("b"), 0.0, unit="")


def test_an_error_of_a_comparison_names_the_claim():
    with pytest.raises(RepriseError, match=r"k/a/b: unknown quantity 'scor'; did you mean 'score'"):

        @claim("k/a/b", "It is.", at="Section 1")
        def cells():
            return near(score("a"), 0.0, quantity="scor", unit="")


def test_every_cell_must_be_broken():
    whole = (plus("t", "score", 99.0, arm="a"), plus("t", "score", 99.0, arm="b"))
    check_reproduced(below_c(whole), IDEAL)
    check_refuted(below_c(whole), IDEAL)
    with pytest.raises(RepriseError, match="nothing in its `broken_by` speaks against b"):
        check_refuted(below_c(whole[:1]), IDEAL)
    with pytest.raises(RepriseError, match="change 2 of its `broken_by` speaks against none of its cells"):
        check_refuted(below_c((*whole[:1], plus("t", "score", 1.0))), IDEAL)


def test_a_tendency_must_be_refuted_as_a_whole():
    few = (plus("t", "score", 15.0, arm="b"), plus("t", "score", 25.0, arm="a"))
    check_refuted(below_c((swapped("t", "arm", "a", "c"), swapped("t", "arm", "b", "c"))), IDEAL)
    check_refuted(below_c(few), IDEAL)
    with pytest.raises(RepriseError, match=r"is (inconclusive|reproduced)"):
        check_refuted(below_c(few, quantifier="generic"), IDEAL)


def test_a_claim_that_does_not_hold_in_its_ideal_world_is_named():
    with pytest.raises(RepriseError, match="claim 'k/fig1/below' is contradicted on the ideal tables"):
        check_reproduced(below_c(()), {"t": IDEAL["t"].assign(score=-IDEAL["t"]["score"])})
