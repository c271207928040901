"""The rooms of the package: what is shared serves two papers, and no module imports itself through others."""

import ast
import re
from pathlib import Path

import grimp
import networkx
import pytest

import reprise
from reprise.engine import registry

SOURCE = Path(reprise.__file__).parent
PAPERS = "reprise.papers"
OURS = "reprise.annex.ours"
COMMANDS = (
    "reprise.__main__",
    "reprise.forkserver",
    "reprise.cli",
    "reprise.engine",
    "reprise.ledger",
    "reprise.report",
    "reprise.bench",
    "reprise.annex",
)
"""Rooms that run papers, and are used by none."""
LIBRARY = ("reprise.diagnostics", "reprise.datasets.contact_sheet")
"""Rooms for notebooks as well, whichever paper uses them."""


@pytest.fixture(scope="module")
def imports():
    """The modules of the package, with an edge from each to those that it imports, also for types alone."""
    package = grimp.build_graph("reprise", cache_dir=None)
    graph = networkx.DiGraph()
    for module in package.modules:
        graph.add_edges_from((module, other) for other in package.find_modules_directly_imported_by(module))
    return graph


def shared(graph):
    rooms = (PAPERS, *COMMANDS, *LIBRARY)
    return [module for module in graph if module != "reprise" and not module.startswith(rooms)]


def test_a_shared_module_serves_two_papers(imports):
    for module in shared(imports):
        users = {
            name.split(".")[2]
            for name in networkx.ancestors(imports, module)
            if name.startswith((f"{PAPERS}.", OURS))
        }
        assert len(users) >= 2, f"{module} serves {users or 'no paper'}; it belongs into that paper's room"


def test_no_import_leads_back_to_its_module(imports):
    circles = [sorted(room) for room in networkx.strongly_connected_components(imports) if len(room) > 1]
    assert not circles


def literals(tree):
    """The strings of a module with their lines, without docstrings."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def names_a_paper(text):
    """Tells if a text is the key of a paper, or holds the id of something in it."""
    keys = "|".join(key for key, paper in registry.papers().items() if not paper.is_ours)
    return re.search(rf"^({keys})$|\b({keys})/\w", text) is not None


def test_no_shared_room_names_a_paper_its_experiments_figures_or_claims():
    """A program sees no more: it cannot know that a string is a column of one paper's tables."""
    files = [file for file in SOURCE.rglob("*.py") if "papers" not in file.relative_to(SOURCE).parts]
    named = [
        f"{file.relative_to(SOURCE)}:{line}: {text}"
        for file in files
        for line, text in literals(ast.parse(file.read_text(encoding="utf-8")))
        if names_a_paper(text)
    ]
    assert len(files) > 100
    assert not named


@pytest.mark.parametrize("text", ["jing2022", "jing2022/fig04", "run jing2022/layer_alignment"])
def test_a_string_that_names_a_paper_is_seen(text):
    assert names_a_paper(text)
    assert not names_a_paper(text.replace("2022", "2030"))


def test_no_function_looks_an_experiment_in_a_tier_up_by_its_id():
    """Functions that a user calls with an id are excepted."""
    by_id = {
        f"{file.relative_to(SOURCE)}: {node.name}"
        for room in ("engine", "ledger", "report", "annex")
        for file in (SOURCE / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and {"id", "tier"} <= {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    }
    assert by_id == {
        "report/card.py: card",
        "report/card.py: as_json",
        "report/why.py: why",
    }
