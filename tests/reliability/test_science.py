"""The study of mutants: its lists, its table, and a made-up package in which each outcome is known."""

import subprocess

import pytest

from reliability import document, science
from reliability.science import Mutant

MUTANTS = science.load()


def test_every_list_of_mutants_has_the_fields_and_names_tests_that_there_are():
    assert len(MUTANTS) >= 90
    tests = {test.partition("::")[0] for mutant in MUTANTS for test in mutant.tests}
    assert [test for test in sorted(tests) if not (science.ROOT / "tests" / test).is_file()] == []


ROW = "name = 'a'\nfile = 'f.py'\nold = 'x'\nnew = 'y'\ntests = ['t.py']\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ROW.replace("old", "was"), "has the fields"),
        (ROW.replace("new = 'y'\n", ""), "has the fields"),
        (ROW + "why = 'so'\n", "has the fields"),
        (ROW.replace("['t.py']", "[]"), "expected texts that are not empty"),
        (ROW.replace("['t.py']", "'t.py'"), "expected texts that are not empty"),
        (ROW + "survives = ''\n", "expected texts that are not empty"),
        (ROW.replace("'y'", "'x'"), "changes nothing"),
        (f"{ROW}[[mutant]]\n{ROW}", "used more than once: a"),
    ],
)
def test_a_list_that_is_wrong_is_refused_with_its_file_and_mutant(tmp_path, text, said):
    (tmp_path / "mine.toml").write_text(f"[[mutant]]\n{text}")
    with pytest.raises(ValueError, match=said) as refused:
        science.load(tmp_path)
    assert str(tmp_path) in str(refused.value)


MODULE = (
    "def mean(numbers):\n    return sum(numbers) / len(numbers)\n\n\n"
    "def count(numbers):\n    return len(numbers)\n"
)
TESTS = {
    "test_mean.py": "from reprise.mean import mean\n\ndef test_of_two():\n    assert mean([1, 3]) == 2\n",
    "test_golden.py": (
        "from pathlib import Path\nfrom reprise.mean import mean\n\ndef test_it_is_the_golden_number():\n"
        "    file = Path(__file__).parent / 'golden/smoke/mean.csv'\n"
        "    assert mean([1, 3]) == float(file.read_text())\n"
    ),
}


@pytest.fixture
def package(tmp_path):
    """A checkout of one module, a test that knows its formula, and one that compares with a golden number."""
    for name, text in {
        "src/reprise/__init__.py": "",
        "src/reprise/mean.py": MODULE,
        "tests/golden/smoke/mean.csv": "2",
        **{f"tests/{name}": text for name, text in TESTS.items()},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def mutant(name, old, new, tests=("test_mean.py",), **more):
    return Mutant("made-up", name, "mean.py", old, new, tests, **more)


def test_what_becomes_of_mutants_in_a_made_up_package(package):
    mutants = [
        mutant("factor", "/ len(numbers)", "/ len(numbers) / 2"),
        mutant("miscounted", "return len(numbers)", "return len(numbers) + 1"),
        mutant("known", "return len(numbers)", "return len(numbers) - 1", survives="nothing calls it"),
        mutant("endless", "return sum(numbers)", "while True:\n        pass\n    return sum(numbers)"),
        mutant("gone", "return max(numbers)", "return min(numbers)"),
        mutant("not-one-place", "len(numbers)", "1"),
        mutant("golden", "/ len(numbers)", "/ 3", tests=("test_golden.py",)),
    ]
    told = []
    outcomes = science.study(mutants, package, limit=10, told=told.append)
    assert [(o.mutant.name, o.kind) for o in outcomes] == [
        ("factor", "caught"),
        ("miscounted", "survived"),
        ("known", "survived"),
        ("endless", "caught"),
        ("gone", "stale"),
        ("not-one-place", "stale"),
        ("golden", "error"),
    ]
    factor, _, _, endless, gone, twice, golden = (outcome.by for outcome in outcomes)
    assert factor == "test_mean.py::test_of_two"
    assert endless == "time-out after 10 s"
    assert gone == "its old text occurs 0 times in mean.py"
    assert twice == "its old text occurs 2 times in mean.py"
    assert golden.startswith("fails unmutated: test_golden.py")  # no golden number is there to compare with
    assert [outcome.mutant.name for outcome in science.wrong(outcomes)] == ["miscounted", "golden"]
    assert sorted(told)[0].startswith("FAILS unmutated: test_golden.py")
    assert (package / "src/reprise/mean.py").read_text() == MODULE
    counted = science.row("made-up", [o for o in outcomes if o not in science.wrong(outcomes)])
    assert counted == ["made-up", "5", "2", ". 1, (time-out or crash) 1", "2", "`known`: nothing calls it"]


def test_a_mutant_or_a_list_is_chosen_by_its_name():
    assert science.chosen(MUTANTS, []) == MUTANTS
    assert {m.group for m in science.chosen(MUTANTS, ["shared"])} == {"shared"}
    assert [m.name for m in science.chosen(MUTANTS, ["margin-doubled"])] == ["margin-doubled"]
    with pytest.raises(ValueError, match="no mutant and no file of mutants is called margin-tripled"):
        science.chosen(MUTANTS, ["margin-tripled"])


def test_the_document_has_the_last_study_of_every_list():
    """Its mutants are counted, its survivors are those that the lists name."""
    rows = science.rows()
    for group in {mutant.group for mutant in MUTANTS}:
        mutants = [mutant for mutant in MUTANTS if mutant.group == group]
        survivors = [mutant for mutant in mutants if mutant.survives]
        where = f"{document.DOCUMENT}: run make mutants MUTANTS={group}"
        assert group in rows, where
        _, number, caught, by, stale, said = rows[group]
        assert int(number) == len(mutants) == int(caught) + int(stale) + len(survivors), where
        assert sum(int(each.split()[-1]) for each in by.split(", ")) == int(caught), where
        assert said == ("; ".join(f"`{m.name}`: {m.survives}" for m in survivors) or "none"), where
    assert rows.keys() == {mutant.group for mutant in MUTANTS}
