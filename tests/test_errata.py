"""The errata of every paper and the claims that show them."""

import pytest

from reprise.engine import registry
from reprise.evidence.verdicts import ground, judge_all

FALSE = {
    "esser2024": {"remark2-infonce"},
    "jing2022": set(),
    "ren2023": set(),
    "skean2024": {"eq12", "propD1-left-vectors", "appD/printed-closed-form-error"},
    "tian2023": {"thm6-winner"},
}  # fmt: skip
"""Statements that are no slip of the pen: read as printed, they are false."""


@pytest.fixture(params=registry.papers())
def paper(request):
    return registry.paper(request.param)


def grounds(claim):
    """Grounds of a claim's verdict, were it judged at paper scale."""
    (row,) = judge_all([claim], None, None).to_dict("records")
    return ground({**row, "verdict": "contradicted", "scale": "paper"})


def test_a_claim_knows_the_erratum_that_it_shows(paper):
    kinds = {erratum.shown_by: erratum.kind for erratum in paper.errata if erratum.shown_by}
    assert kinds == {id: claim.erratum for id, (claim, _) in paper.claims.items() if claim.erratum}
    assert len({erratum.id for erratum in paper.errata}) == len(paper.errata)


def test_false_statements_are_the_papers_and_slips_are_errata(paper):
    for erratum in paper.errata:
        if erratum.shown_by:
            expected = "paper scale" if erratum.kind == "substantive" else "errata"
            assert grounds(paper.claims[erratum.shown_by][0]) == expected
    substantive = {erratum.id.partition("/")[2] for erratum in paper.errata if erratum.kind == "substantive"}
    assert FALSE.get(paper.key, set()) - substantive == set()


SLIPS_WITH_RESULTS = {
    "tian2023": {"table1-learning-rate", "eq181", "eq16-length", "eq16-code"},
    "skean2024": {"eq24", "appA-norm", "appA-log", "appB-lambda"},
}
"""Slips with which Eqs. 12 and 13 are derived, or with which a reader's own numbers come out wrong."""


def test_false_statements_change_results_and_some_slips_do(paper):
    changing = {erratum.id.partition("/")[2] for erratum in paper.errata if erratum.changes_result}
    false = {erratum.id.partition("/")[2] for erratum in paper.errata if erratum.kind == "substantive"}
    assert SLIPS_WITH_RESULTS.get(paper.key, set()) <= changing - false
    assert false <= changing


def test_a_formula_is_printed_and_corrected_or_neither(paper):
    for erratum in paper.errata:
        assert erratum.printed != erratum.corrected
        if erratum.printed_formula or erratum.corrected_formula:
            assert "" not in (erratum.printed_formula, erratum.corrected_formula), erratum.id
            assert erratum.printed_formula != erratum.corrected_formula, erratum.id


def test_theory_that_was_derived_again_is_restated():
    """Our text has lost all formulas of ren2023's theory."""
    theory = registry.experiment("ren2023/theory").claims
    assert {grounds(claim) for claim in theory} == {"restated by us"}
