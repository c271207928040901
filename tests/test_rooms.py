"""The rooms of the package: what is shared serves two papers, and no module imports itself through others."""

import grimp
import networkx
import pytest

PAPERS = "reprise.papers"
OURS = "reprise.annex.ours"
COMMANDS = (
    "reprise.__main__",
    "reprise.cli",
    "reprise.engine",
    "reprise.ledger",
    "reprise.report",
    "reprise.bench",
    "reprise.annex",
)
"""Rooms that run papers, and are used by none."""
LIBRARY = ("reprise.diagnostics", "reprise.datasets.contact_sheet")
"""For notebooks as well, whichever paper uses them."""


@pytest.fixture(scope="module")
def imports():
    """The modules of the package, with an edge from each to those that it imports, also for types alone."""
    package = grimp.build_graph("reprise")
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
