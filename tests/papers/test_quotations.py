"""Quotations are in the papers' text, and hold the words that decide what a claim says."""

import pytest
from quotations import file_of, missing

from reprise.engine import registry

QUOTING = {
    id: claim
    for paper in registry.papers().values()
    for id, (claim, _) in paper.claims.items()
    if claim.quotes
}


KNOWN = {key for key in registry.papers() if file_of(key).is_file()}
"""The papers of which it is known which words they have."""


@pytest.mark.parametrize("key", sorted(KNOWN & {claim.paper for claim in QUOTING.values()}))
def test_every_quotation_is_in_the_papers_text(key):
    quotations = {each.text for claim in QUOTING.values() if claim.paper == key for each in claim.quotes}
    assert {text: parts for text in sorted(quotations) if (parts := missing(key, text))} == {}


def test_a_changed_word_is_no_quotation():
    assert missing("tian2023", "the presence of nonlinearity can lead to many local optima") == []
    assert missing("tian2023", "the presence of nonlinearity will lead to many local optima")
    assert missing("tian2023", "many optima")


@pytest.mark.parametrize("key", sorted(key for key in KNOWN if registry.paper(key).headlines))
def test_every_headline_is_in_the_papers_text(key):
    assert {text for text, _ in registry.paper(key).headlines if missing(key, text)} == set()


def test_the_word_that_decides_the_quantifier_is_quoted():
    unquoted = {
        id: claim.word
        for id, claim in QUOTING.items()
        if claim.form != "ours"
        and not any(claim.word.lower() in quote.text.lower() for quote in claim.quotes)
    }
    assert unquoted == {}


def test_a_hedge_is_quoted():
    hedges = [quote for claim in QUOTING.values() for quote in claim.quotes if quote.hedge]
    assert [quote for quote in hedges if quote.hedge not in quote.text] == []
