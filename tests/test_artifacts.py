"""papers/KEY/artifacts.csv against the registry: nothing is left out, or covered by what is not there."""

import pytest

from reprise.engine import registry

UNCOVERED = ("illustration", "proof step")
NUMBERED = (
    "Appendix", "Assumption", "Conjecture", "Corollar", "Definition", "Equation", "Lemma", "Proof of",
    "Proposition", "Remark", "Table", "Theorem",
)  # fmt: skip
"""Statements that the paper numbers or names, so that the item says where the sentence is."""
SENTENCES = ("Sentence: “", "Claim: ", *NUMBERED)
"""How items begin that are a sentence: quoted, in our words, or by its number. A figure is none."""


def covering(paper):
    """The ids that the paper's artifacts.csv names."""
    return {
        id for row in paper.coverage if row["covered_by"] not in UNCOVERED for id in row["covered_by"].split()
    }


def known(paper):
    """The ids of the paper's figures, tables and claims."""
    return {*paper.artifacts, *paper.claims}


@pytest.fixture(params=registry.papers())
def paper(request):
    return registry.paper(request.param)


def test_every_item_says_where_it_is_and_what_covers_it(paper):
    for row in paper.coverage:
        assert all(row[column] for column in ("item", "section", "covered_by")), row


def test_an_item_without_cover_says_why(paper):
    assert [row["item"] for row in paper.coverage if row["covered_by"] in UNCOVERED and not row["note"]] == []


def test_no_item_stands_twice(paper):
    items = [(row["item"], row["section"]) for row in paper.coverage]
    assert len(items) == len(set(items))


def test_what_covers_an_item_exists(paper):
    missing = covering(paper) - known(paper)
    assert not missing, f"{paper.key}/artifacts.csv names {', '.join(missing)}, which no experiment has"


def test_every_figure_table_and_claim_covers_an_item(paper):
    missing = known(paper) - covering(paper)
    assert not missing, (
        f"{', '.join(missing)}: name it in the row of {paper.key}/artifacts.csv that it covers"
    )


def test_a_claim_has_its_papers_key(paper):
    foreign = [id for id in paper.claims if not id.startswith(f"{paper.key}/")]
    assert not foreign, f"{', '.join(foreign)}: an id in the folder of {paper.key} begins with '{paper.key}/'"


def test_no_figure_or_table_bears_the_id_of_an_experiment(paper):
    assert not set(paper.artifacts) & set(paper.experiments)  # each names a rule


def test_what_says_that_it_is_ours_is_not_counted_as_the_papers(paper):
    """Corrections, remarks, readings and what is about a stand-in."""
    for id, (claim, _) in paper.claims.items():
        source = claim.source.lower()
        if source.startswith("our ") or source.endswith("corrected"):
            assert claim.form == "ours", id
        if "/stand-in/" in id or id.endswith("/corrected"):
            assert claim.form == "ours", id


def test_every_statement_of_the_paper_has_its_sentence(paper):
    sentences = [row for row in paper.coverage if row["item"].startswith(SENTENCES)]
    covered = {id for row in sentences for id in row["covered_by"].split()}
    theirs = {id for id, (claim, _) in paper.claims.items() if claim.form != "ours"}
    missing = theirs - covered
    assert not missing, (
        f"{', '.join(missing)}: name it in a sentence of {paper.key}/artifacts.csv, or wrap it in `ours`"
    )


def test_a_quotation_is_short(paper):
    quoted = [row["item"] for row in paper.coverage if row["item"].startswith("Sentence")]
    for item in quoted:
        assert item.startswith("Sentence: “"), item
        assert item.endswith("”"), item
        assert 2 <= len(item.split()) - 1 <= 25, item


def test_claim_ids_are_unique(paper):
    claims = [claim.id for e in paper.experiments.values() for claim in e.claims]
    claims += [claim.id for claim in (*paper.pending, *paper.printed)]
    assert len(claims) == len(set(claims))


def test_claims_without_a_measure_say_what_they_need(paper):
    waiting = [claim for claim, _ in paper.claims.values() if claim.first.measure is None]
    assert [claim.id for claim in waiting if not claim.needs] == []


@pytest.mark.parametrize("key", registry.papers())
def test_no_two_figures_of_a_paper_have_one_name(key):
    """Home names its thumbnails by it alone."""
    by_number = {}
    for id, artifact in registry.paper(key).artifacts.items():
        assert artifact.number.strip(), f"{id} has no number: @figure('Figure 4', ...)"
        first = by_number.setdefault(artifact.number, id)
        assert first == id, f"{id} has the number of {first}: {artifact.number}"
