"""Where claims, figures and counter-cases are written is found by reading the code."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import unwritten

from reprise.engine import registry
from reprise.report import places
from reprise.report.places import Checkout

ROOT = Path(__file__).parents[2]
CLAIMS = '''"""new2030/fig1/rises is only mentioned here."""

NAMES = ("a", "b")


def falls(name):
    return claim(f"new2030/figure1/{name}-falls", "It falls.")


CLAIMS = [
    claim("new2030/fig1/rises", "It rises."),
    *(falls(name) for name in NAMES),
    *(claim(f"new2030/x/{name}", f"Beyond all doubt, {name} is flat.") for name in NAMES),
]
'''
TESTS = """def test_it_is_in_a_list():
    assert "fig1/rises" in everything


BROKEN = {"fig1/rises": "flipped", "b": "bent"}


@pytest.mark.parametrize("id", IDENTITIES)
def test_counter_case(id):
    assert judge(id, wrong).verdict == "contradicted"
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    package = tmp_path / "src" / "reprise"
    (package / "papers" / "new2030" / "toy").mkdir(parents=True)
    (package / "papers" / "new2030" / "toy" / "claims.py").write_text(CLAIMS)
    (tmp_path / "tests" / "papers" / "new2030").mkdir(parents=True)
    (tmp_path / "tests" / "papers" / "new2030" / "test_toy.py").write_text(TESTS)
    monkeypatch.setattr(places, "PACKAGE", package)
    return Checkout(tmp_path, tmp_path / "results" / "tiny")


@pytest.mark.parametrize(
    ("id", "statement", "line", "name"),
    [
        ("new2030/fig1/rises", "It rises.", 11, "CLAIMS"),
        ("new2030/figure1/a-falls", "It falls.", 7, "falls"),
        ("new2030/x/b", "Beyond all doubt, b is flat.", 13, "CLAIMS"),
    ],
)
def test_a_claim_is_where_its_id_or_its_statement_is_made(checkout, id, statement, line, name):
    place = checkout.claim(claim(id, statement=statement), "reprise.papers.new2030.toy.claims")
    assert (place.line, place.name) == (line, name)
    assert place.file == "src/reprise/papers/new2030/toy/claims.py"
    assert (checkout.folder.parent / "x" / place.path).resolve() == checkout.root / place.file


def test_a_claim_that_no_string_makes_has_no_place(checkout):
    assert (
        checkout.claim(claim("new2030/y/z", statement="Something else."), "reprise.papers.new2030.toy.claims")
        is None
    )


def claim(id, kind="ordering", needs="", statement=""):
    return SimpleNamespace(id=id, kind=kind, needs=needs, statement=statement, broken_by=(), code=None)


def test_a_counter_case_is_what_breaks_the_claim_and_not_every_test_that_names_it(checkout):
    for id in ("new2030/fig1/rises", "new2030/x/b"):
        place = checkout.counter_case(claim(id), "new2030/toy")
        assert (place.line, place.name) == (5, "BROKEN")
    assert checkout.counter_case(claim("new2030/x/b"), "new2030/other") is None
    assert checkout.counter_case(claim("new2030/figure1/a-falls"), "new2030/toy") is None


def test_a_formula_is_broken_by_the_test_that_breaks_each_of_its_experiment_in_turn(checkout):
    formula = claim("new2030/eq1/sum", "identity")
    place = checkout.counter_case(formula, "new2030/toy")
    assert (place.line, place.name) == (9, "test_counter_case")
    assert checkout.counter_case(formula, "new2030/other") is None
    assert checkout.counter_case(claim("new2030/eq1/sum", "identity", "imagenet"), "new2030/toy") is None


@pytest.mark.parametrize("key", unwritten.OWN)
def test_every_claim_that_can_be_judged_has_its_counter_case(key):
    checkout = Checkout(ROOT, ROOT / "results" / "default")
    claims = registry.paper(key).claims
    judged = {id: home.id if home else "" for id, (each, home) in claims.items() if not each.needs}
    written = judged.keys() - unwritten.claims()
    missing = [id for id in written if checkout.counter_case(claims[id][0], judged[id]) is None]
    assert not missing, (
        f"no test gives {', '.join(missing)} data that violate it: say in its `broken_by` which do "
        f"(docs/extending.md)"
    )


def broken(tables):
    return tables


def test_a_counter_case_is_what_a_claim_says_that_breaks_it(checkout):
    place = checkout.counter_case(SimpleNamespace(code=None, broken_by=(broken,)), "new2030/toy")
    assert (Path(place.file).name, place.name) == ("test_places.py", "broken")


def test_nearly_every_claim_and_every_figure_has_its_place():
    checkout = Checkout(ROOT, ROOT / "results" / "default")
    missing, total = [], 0
    for paper in map(registry.paper, unwritten.OWN):
        for id, (claim, experiment) in paper.claims.items():
            module = f"{experiment.module}.claims" if experiment else f"reprise.papers.{paper.key}.printed"
            place = checkout.claim(claim, module)
            total += 1
            if place is None:
                missing.append(id)
            else:
                line = (ROOT / place.file).read_text(encoding="utf-8").splitlines()[place.line - 1]
                assert any(mark in line for mark in ('"', "'", "@")), id
        for artifact in paper.artifacts.values():
            place = checkout.figure(artifact)
            lines = (ROOT / place.file).read_text(encoding="utf-8").splitlines()[place.line - 1 :]
            assert lines[0].startswith(("@figure", "@table"))
            assert any(line.startswith(f"def {artifact.name}(") for line in lines)
    assert len(missing) < 0.03 * total
