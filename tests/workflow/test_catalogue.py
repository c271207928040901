"""What the catalogue of Snakemake workflows and `snakemake --lint` find."""

import re

import yaml
from conftest import ROOT

ENTRIES = ("Snakefile", "workflow/Snakefile")
DAG = (ROOT / "docs" / "architecture.md").read_text().partition("\n## The DAG\n")[2].partition("\n## ")[0]
NAMED = set(re.findall(r"^- \*(.+?)\*: ", DAG, re.MULTILINE))
"""Titles of lints that stay, which the page gives reasons for."""


def test_the_catalogue_finds_what_it_asks_for():
    """As its generate-catalog.py and its README say."""
    readme = (ROOT / "README.md").read_text().lower()
    assert "snakemake" in readme and "workflow" in readme
    assert all((ROOT / "workflow" / "rules").glob("*.smk"))
    assert "make environment" in (ROOT / "config" / "README.md").read_text()
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert {"mandatory-flags", "software-stack-deployment", "report"} == set(usage)


def test_both_entries_plan_the_same_jobs(blank):
    at_top, for_catalogue = (blank.jobs("--snakefile", entry, config=("tier=smoke", "paper=esser2024")) for entry in ENTRIES)
    assert at_top == for_catalogue and len(at_top) > 10


def test_lint_finds_only_what_the_page_names(blank):
    for entry in ENTRIES:
        code, printed = blank.call("snakemake", "--lint", "--snakefile", entry, "--config", "tier=smoke")
        assert code == 1
        assert set(re.findall(r"^    \* (.+?):?$", printed, re.MULTILINE)) == NAMED


def test_without_the_environment_a_line_says_what_to_do(blank):
    (blank.root / "src").rename(blank.root / "elsewhere")
    code, printed = blank.call("python", "-S", "-c", "pass")
    assert code == 0
