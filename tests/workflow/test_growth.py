"""Plans and reports of a registry four times as large."""

import compileall
import resource
import sys
import time
from py_compile import PycInvalidationMode

import pytest
from growing import grown_report, write_papers

from reprise.engine import registry
from reprise.report import html, sealed
from reprise.report.schema import Report

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


MOST_SECONDS_OPENING = 2.0
"""Until a page can be used."""


@pytest.fixture(scope="module")
def grown_pages(smoke_run, tmp_path_factory):
    """The pages of the smoke tier's report with so many papers and claims, in a folder."""
    made = smoke_run.root / "results" / "smoke"
    report = Report.model_validate_json((made / "report.json").read_text(encoding="utf-8"))
    grown = grown_report(report, PAPERS, CLAIMS)
    assert sum(bool(paper.bibtex) for paper in grown.papers) >= PAPERS
    assert sum(len(paper.claims) for paper in grown.papers) >= CLAIMS
    folder = tmp_path_factory.mktemp("grown")
    for name, text in html.pages(grown, made, smoke_run.root).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_no_page_of_a_large_report_is_too_large(grown_pages):
    sizes = {file.name: file.stat().st_size for file in grown_pages.iterdir()}
    assert len(sizes) > PAPERS
    assert max(sizes.values()) <= html.MOST_BYTES


def test_each_page_of_a_large_report_opens_in_two_seconds_and_finds_its_claims(grown_pages, browser):
    tab = browser.new_page()
    said = []
    tab.on("pageerror", lambda error: said.append(str(error)))
    for file in sorted(grown_pages.iterdir()):
        start = time.perf_counter()
        tab.goto(file.as_uri())
        tab.wait_for_function(
            "!document.querySelector('form').hidden && !document.querySelector('.view').hidden"
        )
        assert time.perf_counter() - start < MOST_SECONDS_OPENING, file.name
    tab.goto(f"{(grown_pages / sealed.PAGE).as_uri()}#find?q=collapse")
    tab.wait_for_function("document.querySelector('output').textContent")
    found, _, every = tab.text_content("output").split()[:3]
    assert 0 < int(found) < int(every) >= CLAIMS
    assert said == []
