"""papers/KEY/artifacts.csv against the registry: nothing is left out, or covered by what is not there."""

from dataclasses import replace

import pytest

from reprise.engine import coverage, registry
from reprise.errors import RepriseError
from reprise.evidence.claim import ALONE, Quotation
from reprise.evidence.comparison import above


@pytest.fixture(params=registry.papers())
def paper(request):
    return registry.paper(request.param)


@pytest.mark.parametrize("check", coverage.CHECKS, ids=lambda check: check.__name__)
def test_every_paper_is_covered(paper, check):
    check(paper)


def test_what_says_that_it_is_ours_is_not_counted_as_the_papers(paper):
    """Corrections, remarks, readings and what is about a stand-in."""
    for id, (claim, _) in paper.claims.items():
        source = claim.source.lower()
        if source.startswith("our ") or source.endswith("corrected"):
            assert claim.form == "ours", id
        if "/stand-in/" in id or id.endswith("/corrected"):
            assert claim.form == "ours", id


def test_a_papers_parts_are_its_items_and_what_claims_say(paper):
    parts = coverage.coverage(paper)
    assert parts[: len(paper.items)] == list(paper.items)
    covered = {id for row in parts for id in row["covered_by"].split()}
    assert covered >= {id for id, (claim, _) in paper.claims.items() if claim.form != "ours"}
    sentences = {(row["item"], row["section"]) for row in parts}
    quotes = [quote for claim, _ in paper.claims.values() if claim.form != "ours" for quote in claim.quotes]
    assert {(f"Sentence: “{quote.text}”", quote.at) for quote in quotes} <= sentences


def check_all(paper):
    for check in coverage.CHECKS:
        check(paper)


FIRST = registry.paper("ren2023").items[0]
CLAIM = "ren2023/thm43/contrastive"


def renamed(paper, id):
    """The paper, with another id for one of its claims."""
    experiments = {
        name: replace(each, claims=tuple(replace(c, id=id) if c.id == CLAIM else c for c in each.claims))
        for name, each in paper.experiments.items()
    }
    return replace(paper, experiments=experiments)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"item": "Figure 1", "section": ""}, "the row of 'Figure 1' has no 'section'"),
        ({"covered_by": "illustration", "note": ""}, "is covered by nothing, and `note` does not say why"),
        ({"covered_by": "ren2023/fig1/wrnog"}, "names ren2023/fig1/wrnog, which no experiment has"),
    ],
)
def test_a_row_that_is_wrong_is_named(change, said):
    paper = registry.paper("ren2023")
    changed = replace(paper, items=(FIRST | change, *paper.items[1:]))
    with pytest.raises(RepriseError, match=f"^ren2023/artifacts.csv .*{said}"):
        check_all(changed)


def test_a_row_that_stands_twice_is_named():
    paper = registry.paper("ren2023")
    with pytest.raises(RepriseError, match="stands twice"):
        coverage.items_are_whole(replace(paper, items=(FIRST, *paper.items)))


def test_a_claim_with_the_key_of_another_paper_is_named():
    with pytest.raises(RepriseError, match="claim 'ren2024/a/b' of ren2023 must begin with 'ren2023/'"):
        coverage.ids_are_the_papers_own(renamed(registry.paper("ren2023"), "ren2024/a/b"))


ENTRY = "@article{a2030,\n  author = {A},\n  title = {B},\n  year = {2030}\n}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("@article{a2030,", "article", "BIBTEX must be one entry"),
        ("{B}", "{B", "the braces of BIBTEX do not match"),
        ("{A},", "{A}", r"BIBTEX lacks a comma after: author = \{A\}"),
        ("year", "yaer", "BIBTEX has no 'year'"),
    ],
)
def test_a_citation_that_is_wrong_is_named(old, new, said):
    paper = registry.paper("ren2023")
    coverage.the_citation_is_one_entry(replace(paper, bibtex=ENTRY))
    with pytest.raises(RepriseError, match=f"^ren2023: .*{said}"):
        coverage.the_citation_is_one_entry(replace(paper, bibtex=ENTRY.replace(old, new)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source": " "}, "has no `source`"),
        ({"cells": {ALONE: above(None, 0.0, unit="")}}, "has no measure; say in `needs`"),
        ({"broken_by": ()}, "has no `broken_by`"),
        ({"broken_by": (dict,)}, "speaks against none of its cells"),
        ({"quotes": (Quotation("so " * 26, "Section 1"),)}, "a quotation has 2 to 25 words"),
    ],
)
def test_a_claim_about_printed_numbers_that_is_wrong_is_named(change, said):
    paper = registry.paper("jing2022")
    first, *others = paper.printed
    with pytest.raises(RepriseError, match=f"^claim '{first.id}'.*{said}"):
        check_all(replace(paper, printed=(replace(first, **change), *others)))


def test_a_figure_without_a_row_is_named():
    paper = registry.paper("ren2023")
    others = tuple(item for item in paper.items if item["covered_by"] != "ren2023/fig01")
    with pytest.raises(RepriseError, match="has no row that ren2023/fig01 covers; name it in one"):
        coverage.every_figure_covers_an_item(replace(paper, items=others))
