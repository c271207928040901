"""A release has one version everywhere, and its citation the papers as they were judged."""

import re
import tomllib
from pathlib import Path

import yaml

from reprise.engine import registry

ROOT = Path(__file__).parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_version_is_that_of_the_newest_release_in_the_changelog():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\S+)$", changelog, re.MULTILINE)[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == version
    assert (str(CITATION["version"]), str(CITATION["date-released"])) == (version, date)


def test_the_citation_names_the_version_of_each_paper_that_was_judged():
    """It leaves out what else `VERSION` says, in brackets or after a comma or semicolon. A paper without
    `VERSION` needs no reference."""
    cited = {reference["title"]: reference for reference in CITATION["references"]}
    papers = {paper.title: paper for paper in registry.judged().values() if paper.version}
    assert cited.keys() == papers.keys(), "add papers with a VERSION to the references of CITATION.cff"
    for title, reference in cited.items():
        assert re.split(r" \(|;|, whose", papers[title].version)[0] == reference.get("version"), title
        authors = [author["family-names"] for author in reference["authors"]]
        assert re.findall(r"[{ ]([^\s{},]+), ", re.search("author.*", papers[title].bibtex)[0]) == authors
        assert re.search(r"year\s*=\s*{?(\d+)", papers[title].bibtex)[1] == str(reference["year"])
