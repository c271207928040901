"""A fresh clone before anything has run, which shows the recorded run that comes with it."""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
EVERY_FIGURE = """
import matplotlib.pyplot as plt
from reprise.engine import registry
from reprise.engine.draw import Drawing
from reprise.ledger import recorded
tier = recorded.load("recorded/published")
for id, artifact in registry.artifacts().items():
    if tier.experiment(artifact.experiment).has_results():
        Drawing(artifact, tier).keep_current()
        print(id)
"""
"""Draws what the report has not drawn, and fails where that cannot be drawn."""


def cpu_seconds():
    """CPU time of the processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def git(clone, *words):
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", clone.root, *name, *words], check=True, capture_output=True)


def test_the_readmes_examples_run_in_a_fresh_clone_within_a_minute(clone, monkeypatch):
    """The commands for a first look draw every figure of five papers; the lines for a notebook run, too. What
    two idle cores do in a minute takes up to 80 CPU seconds beside other tests."""
    monkeypatch.setenv("BROWSER", "echo %s")
    readme = (clone.root / "README.md").read_text()
    section = readme.split("## Look first\n")[1].split("\n## ")[0]
    commands = [line.split("#")[0].split() for line in section.split("```")[1].strip().splitlines()]
    assert [words[1] for words in commands] == ["open", "list", "show", "check", "draw"]
    notebook = readme.split("In a notebook:\n\n```python\n")[1].split("```")[0]
    assert notebook.count("reprise.load(") == 3
    begin = cpu_seconds()
    for words in [*commands[1:], [sys.executable, "-c", notebook]]:
        code, printed = clone.call(*words)
        assert code == 0, printed
        assert re.search(
            r"^recorded on 20\d\d-\d\d-\d\d at [0-9a-f]{7}.*; not run here$", printed, re.MULTILINE
        )
    assert cpu_seconds() - begin < 80
    code, printed = clone.call(*commands[0])
    assert code == 0, printed
    assert "report.html" in printed
    (report,) = clone.root.glob("results/recorded/*/report.html")
    page = report.read_text()
    assert "Results recorded on" in page
    assert (clone.root / "docs/results/recorded.zip").stat().st_size <= 8_000_000
    code, printed = clone.call(sys.executable, "-c", EVERY_FIGURE)
    assert code == 0, printed
    drawn = set(re.findall(r"^(\w+)/\w+$", printed, re.MULTILINE))
    assert drawn == {"esser2024", "jing2022", "ren2023", "skean2024", "tian2023"}


def test_a_change_of_a_rule_is_a_table_of_what_it_moves(clone):
    git(clone, "add", "-A")
    git(clone, "commit", "--quiet", "--allow-empty", "-m", "As it is")
    code, printed = clone.call("reprise", "diff", "HEAD")
    assert (code, printed) == (0, "no verdict on the recorded run is another one by the rules of HEAD\n")
    clone.edit("src/reprise/evidence/estimates.py", "MIN_SEEDS = 3", "MIN_SEEDS = 99")
    code, printed = clone.call("reprise", "diff", "HEAD")
    assert code == 3
    head, _, *rows = printed.splitlines()
    assert head == "| claim | by the rules of HEAD | now | why |"
    assert rows
    cells = [
        re.fullmatch(r"\| `(\w+/[^|]+)` \| ([^|]+) \| ([^|]+) \| ([^|]*) \|", row).groups() for row in rows
    ]
    assert all(before != now for _, before, now, _ in cells)
    assert sum(now.startswith("inconclusive") for _, _, now, _ in cells) > 50
    code, printed = clone.call("reprise", "diff", "nosuch")
    assert code == 2
    assert "nosuch: not a commit of" in printed
