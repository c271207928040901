"""Statements of claims: each can be understood by itself, in a search's results or on a card."""

import re
from collections import Counter

import pytest

from reprise.engine import registry

CLAIMS = {id: claim for paper in registry.papers().values() for id, (claim, _) in paper.claims.items()}
POINTS_BACK = re.compile(
    r"(It|There|So|This|That|They|Its|Then|These|Those|Here|Both|Their|But|And|Neither|Each|Such|The same)\b"
)
"""First words whose meaning is in a sentence before."""


@pytest.mark.parametrize("key", registry.papers())
def test_a_statement_does_not_lean_on_another(key):
    leaning = {id: claim.statement for id, claim in CLAIMS.items() if claim.paper == key}
    assert not {id: said for id, said in leaning.items() if POINTS_BACK.match(said)}


def test_a_statement_is_one_sentence_or_more():
    assert not {
        id: claim.statement for id, claim in CLAIMS.items() if not claim.statement.endswith((".", ".)"))
    }
    assert not {id: claim.statement for id, claim in CLAIMS.items() if re.search(r",[.,]", claim.statement)}


def test_the_two_forms_of_an_erratum_say_different_things():
    for id, claim in CLAIMS.items():
        if id.endswith("/printed") and claim.erratum:
            assert claim.statement != CLAIMS[id.removesuffix("printed") + "corrected"].statement, id


def test_no_two_claims_of_a_paper_say_the_same():
    counts = Counter((claim.paper, claim.statement) for claim in CLAIMS.values())
    assert [said for said, count in counts.items() if count > 1] == []
