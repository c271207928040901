"""Ids in any spelling are found, and what is ambiguous or unknown is said with a few others."""

import re
from collections import Counter

import pytest

from reprise.engine import ids, registry
from reprise.errors import RepriseError

NUMBERED = {id: re.fullmatch(r"(\w+)/fig0?(\d+)([a-z]?)", id) for id in registry.artifacts()}
NUMBERED = {id: match.groups() for id, match in NUMBERED.items() if match}
"""The key, number and letter of each figure whose id is made of these alone."""
EVERY = {
    "paper": registry.papers(),
    "experiment": registry.experiments(),
    "figure or table": registry.artifacts(),
    "claim": registry.claims(),
}


def named(message):
    """The ids that a message names, the one that was asked for apart."""
    return set(re.findall(r"[\w-]+/[\w/.-]+", message.partition("'")[2].partition("'")[2]))


def test_every_id_is_its_own_spelling():
    for kind, known in EVERY.items():
        for id in known:
            assert ids.find(id) == ids.Id(kind, id)
            assert ids.find(id, kind).id == id


def test_no_two_ids_differ_by_their_spelling_alone():
    counts = Counter(ids.spelled(id) for known in EVERY.values() for id in known)
    assert {name for name, count in counts.items() if count > 1} == set()


@pytest.mark.parametrize("id", NUMBERED)
def test_a_figure_is_found_by_any_spelling_of_its_number(id):
    key, number, letter = NUMBERED[id]
    for written in (
        f"{key}/fig{number}{letter}", f"{key}/fig0{number}{letter}", f"{key}/Fig. {number}{letter}",
        f"{key} Figure {number}({letter})", f"{key.upper()}/FIGURE {number}{letter.upper()}",
        f"{key}_fig{number.zfill(2)}{letter}", f"{key}: figure {number} {letter}",
    ):  # fmt: skip
        assert ids.find(written).id == id, written


def test_the_papers_key_may_be_missing_where_one_paper_has_such_a_figure():
    own = Counter(id.partition("/")[2] for id in registry.artifacts())
    single = [id for id in NUMBERED if own[id.partition("/")[2]] == 1]
    assert "jing2022/fig06a" in single
    for id in single:
        _, number, letter = NUMBERED[id]
        assert ids.find(f"fig{number}{letter}", "figure or table").id in (
            id,
            *_called(f"Figure {number}{letter}"),
        )


def _called(number):
    return [id for id, artifact in registry.artifacts().items() if artifact.number == number]


def test_a_figure_is_found_as_its_paper_numbers_it():
    numbers = Counter((id.split("/")[0], each.number) for id, each in registry.artifacts().items())
    for id, artifact in registry.artifacts().items():
        key = id.split("/")[0]
        if numbers[key, artifact.number] == 1 and f"{key}/{artifact.number.lower()}" not in EVERY["claim"]:
            assert id in named_or_found(f"{key} {artifact.number}")


def named_or_found(written):
    try:
        return {ids.find(written).id}
    except RepriseError as error:
        return named(str(error))


@pytest.mark.parametrize("written", ["fig4", "fig04", "Figure 4"])
def test_a_figure_of_several_papers_lists_them(written):
    papers = {id for id in registry.artifacts() if id.endswith("/fig04")}
    assert len(papers) > 2
    with pytest.raises(RepriseError, match=rf"^'{written}' may be .*; write one of them$") as caught:
        ids.find(written)
    assert papers <= named(str(caught.value))


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        ("jing2022/fig99", "jing2022/fig0"),
        ("jing2022/layer_alignmnt", "jing2022/layer_alignment"),
        ("jing2022/fig4/off-diagnal", "jing2022/fig4/off-diagonal"),
        ("jing2022/fig7", "jing2022/fig07b"),
        ("tian", "tian2023"),
    ],
)
def test_an_unknown_id_names_a_few_that_are_near(written, nearest):
    with pytest.raises(RepriseError, match=f"^unknown id '{written}'; did you mean ") as caught:
        ids.find(written)
    message = str(caught.value)
    assert nearest in message
    assert 1 <= len(re.split(", | or ", message.partition("did you mean ")[2].partition("?")[0])) <= 3
    assert re.search("list them with: reprise list( jing2022)?$", message)


@pytest.mark.parametrize("written", ["", "nobody/nothing-like-it", "?"])
def test_an_id_like_none_is_one_short_line(written):
    with pytest.raises(RepriseError, match=r"^unknown id '") as caught:
        ids.find(written)
    assert len(str(caught.value)) < 300


def test_one_kind_alone_is_looked_for():
    assert ids.papers("Jing 2022") == ["jing2022"]
    with pytest.raises(RepriseError, match=r"^unknown paper 'fig4'; there are: .*jing2022"):
        ids.papers("fig4")
    with pytest.raises(RepriseError, match=r"list them with: reprise list jing2022 --claims$"):
        ids.find("jing2022/fig04", "claim")


def test_several_papers_are_words_or_joined_by_commas_each_once_and_each_checked():
    both = ["tian2023", "jing2022"]
    assert ids.papers("tian2023,jing2022") == ids.papers("Tian 2023, jing2022", "tian2023") == both
    assert [paper.key for paper in registry.chosen(both)] == both
    assert ids.papers("") == ids.papers() == []
    for commas in (",", " , "):
        with pytest.raises(RepriseError, match=r"names no paper; there are: esser2024, "):
            ids.papers(commas)
    assert [paper.key for paper in registry.chosen([])] == list(registry.papers())
    with pytest.raises(RepriseError, match=r"^unknown paper 'jing2021'; did you mean jing2022"):
        ids.papers("tian2023,jing2021")


def test_the_experiment_of_a_figure_or_claim_is_the_one_that_it_is_from():
    for id, artifact in registry.artifacts().items():
        assert ids.experiment(id) == artifact.experiment
    for id, (_, decided_by) in registry.claims().items():
        assert ids.experiments(ids.find(id)) == ([decided_by.id] if decided_by else [])
    with pytest.raises(RepriseError, match=r"^paper jing2022 has .*jing2022/layer_alignment"):
        ids.experiment("jing2022")


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("Figure 6(a)", "fig6a"),
        ("fig006A", "fig6a"),
        ("fig10", "fig10"),
        ("Fig. 100", "fig100"),
        ("beta0.05", "beta005"),
        ("beta0.5", "beta05"),
        ("Tab. 1", "table1"),
        ("Theorem 4.3", "thm43"),
    ],
)
def test_spellings(written, spelled):
    assert ids.spelled(written) == spelled
