"""Plans of a registry four times as large."""

import compileall
import resource
import sys
from py_compile import PycInvalidationMode

import pytest
from growing import write_papers

from reprise.engine import registry

pytestmark = pytest.mark.slow

PAPERS, CLAIMS = 20, 4000
MOST_SECONDS = 5.0
"""CPU seconds of a plan, when no file has changed since the one before."""


@pytest.fixture
def grown(source, tmp_path):
    """A checkout whose tier `grown` has so many papers and claims."""
    checkout = source.copy(tmp_path / "checkout")
    more = PAPERS - len([paper for paper in registry.papers().values() if paper.bibtex])
    each = -(-(CLAIMS - len(registry.claims())) // (5 * more))
    keys = write_papers(checkout.root / "papers", more, 5, each)
    listed = ", ".join(f"papers/{key}" for key in keys)
    (checkout.root / "configs" / "grown.yaml").write_text(f"tier: grown\nbase: default\npapers: [{listed}]\n")
    compileall.compile_dir(checkout.root, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return checkout


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    "command",
    [("snakemake", "-n", "--config", "tier=grown"), ("reprise", "plan", "--tier", "grown")],
)
def test_twenty_papers_with_thousands_of_claims_are_planned_in_seconds(grown, command):
    grown.call(*command)  # which keeps what follows from the files
    before = cpu_seconds()
    code, printed = grown.call(*command)
    took = cpu_seconds() - before
    assert code == 0, printed
    assert "grown2000" in printed
    assert took < MOST_SECONDS


def test_so_many_papers_and_claims_are_there(grown):
    counted = (
        "from reprise.engine import registry; registry.papers();"
        "print(sum(bool(paper.bibtex) for paper in registry.papers().values()), len(registry.claims()))"
    )
    code, printed = grown.call(sys.executable, "-c", counted)
    assert code == 0, printed
    papers, claims = map(int, printed.split())
    assert papers >= PAPERS
    assert claims >= CLAIMS
