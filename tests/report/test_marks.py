"""Marks of frozen claims and all attempts are where people look, and a report grows old with the ledger."""

import json

import pandas as pd
import pytest
from freezing import KEY, Toy, World

from reprise.engine.check import judge
from reprise.ledger import frozen
from reprise.report import card, html, results, sealed
from reprise.report.build import build
from reprise.report.claims import marked


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.setattr("reprise.report.build.registry.in_order", lambda: list(toy.papers().values()))
    toy = Toy(tmp_path, monkeypatch, World({"solid": 0.5, "lucky": 0.0}, {"lucky": 0.5}))
    toy.develop()
    return toy


def written(toy):
    html.write(toy.tier, judge(toy.experiment))
    return (toy.tier.results / "report.html").read_text(), json.loads(
        (toy.tier.results / "report.json").read_text()
    )  # fmt: skip


def test_without_an_attempt_nothing_is_shown(toy):
    page, content = written(toy)
    assert "Attempts to confirm" not in page
    assert content["attempts"] == []
    assert set(pd.read_csv(toy.tier.results / "claims.csv", keep_default_na=False)["mark"]) == {""}
    assert "mark" not in card.card(f"{KEY}/fig1/solid", toy.tier)
    assert all(b"attempt" not in each for each in results.pages(report(toy), toy.root).values())


def report(toy):
    return build(toy.tier, judge(toy.experiment), [])


def test_marks_stand_beside_verdicts_and_attempts_come_first(toy):
    toy.confirm("mine & yours")
    toy.record("never")
    page, content = written(toy)
    marks = {"confirmed": [f"{KEY}/fig1/solid"], "fell back": [f"{KEY}/fig1/lucky"]}
    assert [each["marks"] for each in content["attempts"]] == [marks, None]
    (paper,) = content["papers"]
    marks = {each["id"]: each["mark"] for each in paper["claims"]}
    assert marks == {
        f"{KEY}/fig1/solid": "confirmed in attempt 1 of 2",
        f"{KEY}/fig1/lucky": "fell back in attempt 1 of 2",
    }
    _, provenance = page.split('<section class="view" id="provenance">')
    assert provenance.index("mine &amp; yours") < provenance.index("<caption>Runs</caption>")
    assert f"1 fell back (<code>{KEY}/fig1/lucky</code>), 1 confirmed" in provenance
    assert "never ended" in provenance
    assert "</b> <small>confirmed in attempt 1 of 2</small>" in page
    table = pd.read_csv(toy.tier.results / "claims.csv").set_index("claim")
    assert dict(table["mark"]) == marks
    assert "mark            confirmed in attempt 1 of 2" in card.card(f"{KEY}/fig1/solid", toy.tier)
    pages = {name: text.decode() for name, text in results.pages(report(toy), toy.root).items()}
    assert "| 2 | never | 0.00625 | 2 | never ended |" in pages["README.md"]
    assert "(fell back in attempt 1 of 2)<br>" in pages[f"{KEY}.md"]
    for text in (page, pages["README.md"]):
        first = text.index("What did not come out again on fresh seeds")
        assert first < text.index("What the verdicts stand on" if text is page else "What the abstracts and")
    (line,) = (line for line in pages["README.md"].splitlines() if "; fell back in attempt 1 of 2; [" in line)
    assert f"`{KEY}/fig1/lucky`" in line


def test_a_mark_names_the_frozen_verdict_beside_another(toy):
    toy.confirm()
    toy.world.lucky = {}
    toy.compute(toy.experiment)
    table = marked(toy.tier, judge(toy.experiment)).set_index("claim")
    assert table.loc[f"{KEY}/fig1/lucky", "verdict"] != "reproduced"
    assert table.loc[f"{KEY}/fig1/lucky", "mark"] == "frozen as reproduced, fell back in attempt 1 of 1"


def test_a_report_is_out_of_date_once_the_lock_or_the_ledger_changes(toy):
    written(toy)
    assert sealed.is_reported(toy.tier)
    toy.confirm()
    assert not sealed.is_reported(toy.tier)
    written(toy)
    assert sealed.is_reported(toy.tier)
    lock = toy.root / frozen.LOCK
    lock.write_text(f"{lock.read_text()} ")
    assert not sealed.is_reported(toy.tier)
