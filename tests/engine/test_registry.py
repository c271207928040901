"""Mistakes in a folder of experiments that the registry refuses."""

import sys

import pytest

from reprise.contract.experiment import Plan, figure
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.claim import claim
from reprise.evidence.comparison import near


def test_a_figure_that_reads_an_unknown_table_is_told_the_nearest(monkeypatch):
    drawn = {"number": "Figure 1", "kind": "figure", "caption": "", "reads": ["matchin"]}
    monkeypatch.setattr(registry, "_drawn", lambda module: [[1, "fig01", drawn]])
    with pytest.raises(RepriseError, match=r"new2030/fig01.*'matchin'; did you mean 'matching'\?"):
        registry._artifacts("new2030/toy", "reprise", ("matching", "filters"))


def test_one_table_is_a_tuple_of_one():
    with pytest.raises(RepriseError, match=r"fig01: reads='matching' is no tuple; write \('matching',\)"):

        @figure("Figure 1", reads=("matching"), caption="New.")
        def fig01(tables, params): ...


def test_an_unknown_quantity_is_told_the_nearest_with_the_claim():
    with pytest.raises(RepriseError, match=r"new2030/fig1/rises.*'scor'; did you mean 'score'\?"):

        @claim("new2030/fig1/rises", "It rises.", at="Figure 1")
        def rises():
            return near(None, 0.0, quantity="scor", unit="")


def test_an_empty_caption_is_refused():
    with pytest.raises(RepriseError, match="fig01: caption is empty; say what is seen"):

        @figure("Figure 1", reads=("matching",), caption=" ")
        def fig01(tables, params): ...


@pytest.mark.parametrize(
    ("number", "is_in_paper"),
    [("Figure 4", True), ("Table 1", True), ("Figures of Appendix C", True), ("Figure 7b, search", False),
     ("Table 1, beside print", False), ("Section 4", False), ("Stand-in", False)],
)  # fmt: skip
def test_the_caption_of_a_figure_that_is_not_in_the_paper_says_so(number, is_in_paper):
    @figure(number, reads=("matching",), caption="Scores.")
    def drawn(tables, params): ...

    assert drawn.artifact["caption"] == ("Scores." if is_in_paper else "Not in the paper. Scores.")


def test_a_plan_is_made_of_functions():
    with pytest.raises(RepriseError, match=r"Plan\(needs=...\) must be a function, not None"):
        Plan(tasks=list, needs=None)


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A function that reads a paper, whose files have these texts."""
    key = "registered2030"
    whole = {
        "__init__.py": 'TITLE = "A"\nBIBTEX = "@article{a}"\n',
        "artifacts.csv": "item,section,covered_by,note\n",
    }

    def read(**files):
        for file, text in (whole | files).items():
            path = tmp_path / key / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return registry._paper(key)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "packages", lambda: {key: key})
    yield read
    for name in [each for each in sys.modules if each.partition(".")[0] == key]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"__init__.py": 'TITLE = "A"\nBIBTEXT = "@"\n'}, "declares no BIBTEX; 'BIBTEXT' is not read"),
        ({"__init__.py": 'BIBTEX = "@article{a}"\n'}, "declares no TITLE"),
        ({"artifacts.csv": "item,section,covered\n"}, "its first line must be item,section,covered_by,note"),
        (
            {"printed.py": "\nrises = print(publishd=1)\n"},
            "2030.printed, line 2: .*'publishd'",
        ),
        ({"printed.py": "\n{}['Table 9']\n"}, "2030.printed, line 2: no entry 'Table 9'"),
    ],
)
def test_a_paper_that_is_declared_wrongly_is_told_what_and_where(paper, files, said):
    with pytest.raises(RepriseError, match=said):
        paper(**files)


def test_printed_numbers_without_a_value_are_refused(paper):
    with pytest.raises(RepriseError, match=r"registered2030/published\.csv has no column 'value'"):
        paper(**{"published.csv": "artifact,number\nTable 1,2\n"}).printed_numbers()
    for row in (",2", "Table 1,abc", "Table 1,"):
        with pytest.raises(RepriseError, match=r"registered2030/published\.csv, row 2: expected the name"):
            paper(**{"published.csv": f"artifact,value\nTable 1,2\n{row}\n"}).printed_numbers()
