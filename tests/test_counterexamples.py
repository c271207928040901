"""Each counterexample to a paper's statement is printed on docs/readings.md, as its command prints it."""

import subprocess
import sys
from pathlib import Path

from reprise.engine import registry

DOCS = Path(__file__).parents[1] / "docs"


def run(*names):
    command = [sys.executable, str(DOCS / "counterexamples.py"), *names]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_the_page_prints_is_what_the_command_prints():
    page = " ".join((DOCS / "readings.md").read_text(encoding="utf-8").split())
    lines = run().stdout.splitlines()
    assert lines
    for line in lines:
        id, _, said = line.partition(": ")
        assert run(id).stdout.strip() == line
        assert f"`{id}`" in page
        assert " ".join(said.split()) in page


def test_every_false_statement_has_a_counterexample():
    """The false statements are those of claims that declare a substantive misprint."""
    shown = {line.partition(": ")[0] for line in run().stdout.splitlines()}
    false = {
        id
        for id, (claim, _) in registry.claims().items()
        if claim.misprint and claim.erratum == "substantive"
    }
    assert false <= shown


def test_an_unknown_name_is_an_error():
    done = run("tian2023/thm9")
    assert done.returncode == 1
    assert "tian2023/thm9: not worked out here (`reprise show` has its points)." in done.stderr
    assert "Here: tian2023/thm2" in done.stderr
