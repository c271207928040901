"""What the paper says of its own numbers; its 106 numbers as claims that wait for a run."""

import pytest

from reprise.engine import registry
from reprise.evidence.comparison import MARGINS
from reprise.evidence.judgement import check_refuted, judge
from reprise.papers.skean2024.lineup import ROWS
from reprise.papers.skean2024.published import numbers_of

PAPER = registry.paper("skean2024")
WRONG = {"skean2024/text/best-dimension-contrastive-epoch50": -0.4}
"""The sentence that the numbers contradict, and by how much."""


@pytest.fixture
def published():
    return PAPER.printed_numbers()


@pytest.mark.parametrize("claim", PAPER.printed, ids=lambda claim: claim.id)
def test_the_papers_sentences_against_its_numbers(published, claim):
    found = judge(claim, {"published": published})
    assert found.verdict == ("contradicted" if claim.id in WRONG else "reproduced")
    if claim.id in WRONG:
        assert found.observed == pytest.approx(WRONG[claim.id])
    check_refuted(claim, {"published": published})


def test_the_sentence_that_is_wrong_would_be_right_of_other_numbers(published):
    (claim,) = (claim for claim in PAPER.printed if claim.id in WRONG)
    other = published.assign(value=published["value"].mask(published["row"] == "FroSSL", 100.0))
    assert judge(claim, {"published": other}).verdict == "reproduced"


def test_a_sentence_reads_its_own_table_alone(published):
    (claim,) = (claim for claim in PAPER.printed if claim.id in WRONG)
    table = published[published["artifact"] == "Table 3"]
    for columns in (["epoch 50"], ["epoch 50", "epoch 3"]):
        rows = table[table["column"].isin(columns)]
        assert judge(claim, {"published": rows}) == judge(claim, {"published": published})


NEED = [claim for claim, _ in PAPER.claims.values() if claim.needs]
"""The claims that a run without departures alone decides."""
NUMBERS = [claim for claim in NEED if claim.published is not None]


def test_what_needs_a_run_without_departures_besides_the_numbers():
    assert [claim.id for claim in NEED if claim not in NUMBERS] == ["skean2024/sec6.1/corinfomax-fails"]


def test_a_number_is_the_one_that_its_claim_is_to_reach(published):
    reached = {claim.id.removeprefix("skean2024/"): claim.published for claim in NUMBERS}
    assert reached == dict(zip(published["key"], published["value"], strict=True))
    assert len(NUMBERS) == 106
    assert {claim.first.margin for claim in NUMBERS} == {MARGINS["accuracy"]}


def test_every_row_of_the_tables_is_a_method():
    methods = {number.method for number in numbers_of("Table 2")}
    assert methods == set(ROWS)
    assert {number.method for number in numbers_of("Table 3")} == methods - {"corinfomax"}
