"""The repository as the catalogue of Snakemake workflows and `snakemake --lint` see it."""

import re

import yaml
from conftest import ROOT

ENTRIES = ("Snakefile", "workflow/Snakefile")
DAG = (ROOT / "docs" / "architecture.md").read_text().partition("\n## The DAG\n")[2].partition("\n## ")[0]
NAMED = set(re.findall(r"^- \*(.+?)\*: ", DAG, re.MULTILINE))
"""Titles of lints that stay, which the page gives reasons for."""


def test_the_catalogue_finds_what_it_asks_for():
    """The catalogue's generate-catalog.py and its README name these."""
    readme = (ROOT / "README.md").read_text().lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    assert "make environment" in (ROOT / "config" / "README.md").read_text()
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert {"mandatory-flags", "software-stack-deployment", "report"} == set(usage)


def test_both_entries_plan_the_same_jobs(blank):
    esser = ("tier=smoke", "paper=esser2024")
    top, catalogue = (blank.jobs("--snakefile", entry, config=esser) for entry in ENTRIES)
    stated = [{name: {**job, "jobid": ""} for name, job in jobs.items()} for jobs in (top, catalogue)]
    assert stated[0] == stated[1]
    assert {"all", "report", "esser2024_width"} <= set(top)


def test_a_profile_that_is_not_there_is_unknown_from_both_entries(blank):
    for entry in ENTRIES:
        code, printed = blank.snakemake("-n", "--snakefile", entry, "--workflow-profile", "slum")
        assert code == 1
        assert "unknown workflow profile 'slum'; did you mean 'slurm'? " in printed
        assert "there are: default, generic, slurm;" in printed


def test_lint_finds_only_what_the_page_names(blank):
    for entry in ENTRIES:
        code, printed = blank.call("snakemake", "--lint", "--snakefile", entry, "--config", "tier=smoke")
        assert code == 1
        assert set(re.findall(r"^    \* (.+?):?$", printed, re.MULTILINE)) == NAMED


def test_without_the_environment_a_line_says_what_to_do(blank):
    (blank.root / "src" / "sitecustomize.py").write_text(
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda *names: None if 'reprise' in names else found(*names)\n"
    )
    code, printed = blank.snakemake("-n")
    assert code == 1
    assert "\nReprise runs in a clone, in its own environment: make environment && source" in printed
    assert "Traceback" not in printed
