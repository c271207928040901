"""The paper's sentences about its own numbers; its 106 numbers as claims that wait for a run."""

import pytest

from reprise.engine import registry
from reprise.evidence.comparison import MARGINS
from reprise.evidence.judgement import check_refuted, judge
from reprise.papers.skean2024.lineup import EPOCHS, ROWS
from reprise.papers.skean2024.printed import lead
from reprise.papers.skean2024.published import numbers_of

PAPER = registry.paper("skean2024")
PRINTED = {claim.id.removeprefix("skean2024/text/"): claim for claim in PAPER.printed}


@pytest.fixture
def published():
    return PAPER.printed_numbers()


@pytest.mark.parametrize("claim", PAPER.printed, ids=lambda claim: claim.id)
def test_the_papers_sentences_against_its_numbers(published, claim):
    assert judge(claim, {"published": published}).verdict == "reproduced"
    check_refuted(claim, {"published": published})


def test_the_reading_names_the_one_epoch_at_which_another_method_is_ahead(published):
    claim = PRINTED["best-dimension-contrastive"]
    (epoch,) = (epoch for epoch in EPOCHS if vicregs_lead(published, epoch) > 0)
    assert f"at epoch {epoch} VICReg is .4 points ahead" in claim.reading
    assert vicregs_lead(published, epoch) == pytest.approx(0.4)
    others = lead("Table 3", list(set(claim.cells) - {"VICReg"}))({"published": published})
    assert (others > 0).all()


def vicregs_lead(published, epoch):
    return -lead("Table 3", ["VICReg"], f"epoch {epoch}")({"published": published}).item()


def test_one_method_that_is_ahead_on_average_refutes_a_sentence_about_all(published):
    table = published.assign(value=published["value"] + 3.0 * (published["row"] == "VICReg"))
    found = judge(PRINTED["best-dimension-contrastive"], {"published": table})
    assert found.verdict == "contradicted"
    assert "holds in 3 of 4 cells; not: VICReg" in found.reason


@pytest.mark.parametrize("name", ["best-dimension-contrastive", "best-of-all"])
def test_a_sentence_reads_its_own_table_alone(name, published):
    table = published[published["artifact"] == "Table 3"]
    assert judge(PRINTED[name], {"published": table}) == judge(PRINTED[name], {"published": published})


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
