"""The pages of results in the repository: whole, and made as promised; whether stale is printed."""

import re
import subprocess
import warnings
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from reprise.engine import registry
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.report import results, wording
from reprise.report.contents import lead
from reprise.report.schema import Provenance, Report

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "results"

published = pytest.mark.skipif(not FOLDER.is_dir(), reason="no results are published yet")


def between_marks(text):
    begin, end = map(re.escape, results.MARKS)
    return re.search(f"{begin}\n(.*){end}", text, re.DOTALL)[1]


@published
def test_pages_that_the_code_has_left_behind_are_named():
    """Pages show a run of an earlier commit: a sentence reworded since makes them stale, which is printed. No
    test waits for a run."""
    if stale := [*stale_statements(), *stale_captions()]:
        shown = "; ".join(stale[:5]) + (f"; and {len(stale) - 5} more" if len(stale) > 5 else "")
        warnings.warn(f"docs/results is stale: {shown}; after the next run: reprise publish", stacklevel=1)


def stale_statements():
    """Claims that the published table lacks, has besides, or states in other words."""
    published = pd.read_csv(FOLDER / results.TABLE).set_index("claim")["statement"].to_dict()
    stated = {
        id: claim.statement for paper in registry.papers().values() for id, (claim, _) in paper.claims.items()
    }
    return sorted(id for id in published.keys() | stated.keys() if published.get(id) != stated.get(id))


def stale_captions():
    """Figures and tables that their paper's page lacks, or whose caption there is another."""
    for key, paper in registry.papers().items():
        file = FOLDER / f"{key}.md"
        page = file.read_text(encoding="utf-8") if file.is_file() else ""  # a paper added since the last run
        for artifact in paper.artifacts.values():
            if artifact.experiment not in load_tier("default", ROOT).on_request:
                shown = re.search(rf"\]\({artifact.id}\.(svg|png|csv)\)", page)
                if not shown or any(wording.cell(part) not in page for part in lead(artifact.caption)):
                    yield artifact.id


@published
def test_a_verdict_that_decides_nothing_says_why_on_its_page():
    rows = pd.read_csv(FOLDER / results.TABLE, keep_default_na=False)
    for row in rows[rows["verdict"].isin(["inconclusive", "depends"])].to_dict("records"):
        page = (FOLDER / f"{row['claim'].split('/')[0]}.md").read_text(encoding="utf-8")
        assert row["reason"], row["claim"]
        assert f"*({wording.cell(row['reason'])})*" in page, row["claim"]


@published
def test_the_folder_holds_no_drawing_that_no_page_shows():
    pages = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md"))
    for file in FOLDER.glob("*/*.*"):
        assert f"{file.parent.name}/{file.name}" in pages


@published
def test_the_readme_says_what_the_pages_say():
    """Its links start at another folder."""
    section = between_marks((ROOT / "README.md").read_text(encoding="utf-8"))
    assert section.replace("docs/results/", "") in (FOLDER / results.INDEX).read_text(encoding="utf-8")


@pytest.mark.skipif(not (FOLDER / "published.csv").is_file(), reason="published before the table was short")
def test_the_readme_is_read_in_three_screens():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 1800


@published
def test_every_table_of_the_pages_begins_after_a_blank_line():
    """Otherwise Markdown takes it for text."""
    for page in [*FOLDER.glob("*.md"), ROOT / "README.md"]:
        lines = ["", *page.read_text(encoding="utf-8").splitlines()]
        for before, line in pairwise(lines):
            if line.startswith("| "):
                assert not before or before.startswith("|"), f"{page.name}: {before[:80]}"


@published
def test_every_link_of_the_pages_leads_to_a_file():
    for page in [*FOLDER.glob("*.md"), ROOT / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r'(?:src|href)="([^":]+)"', text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_pages_date_the_commits_that_git_knows():
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%H %cs"]
    commit, date = subprocess.run(git, capture_output=True, text=True, check=True).stdout.split()
    same = {"Python": "3.12", "versions": "torch 2.11", "hardware": "a CPU"}
    runs = [
        Provenance(experiment="k/e", command="", minutes=1.0, facts={**same, "commit": name})
        for name in (commit, f"{commit}+changes", "unknown")
    ]
    facts = results._facts(Report.model_construct(runs=runs), ROOT)
    assert facts["commit"] == f"{commit} ({date}), {commit}+changes ({date}), unknown"
    assert facts["hardware"] == "a CPU"


def test_what_stands_outside_the_marks_is_kept():
    begin, end = results.MARKS
    text = f"before\n{begin}\nold\n{end}\nafter\n"
    assert results.in_readme(text, "new\n", ROOT) == f"before\n{begin}\nnew\n{end}\nafter\n"
    with pytest.raises(RepriseError, match="lacks the lines"):
        results.in_readme("no marks", "new", ROOT)
