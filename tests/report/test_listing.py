"""Lists of experiments, papers and claims say what is stored."""

import shutil
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from stating import stated

from reprise.engine import registry, run, tiers
from reprise.engine.check import Verdicts
from reprise.evidence.comparison import above
from reprise.evidence.verdicts import COLUMNS
from reprise.report import listing

ROOT = Path(__file__).parents[2]
KEY = "jing2022"
ID = f"{KEY}/layer_alignment"


@pytest.fixture(scope="module")
def tier(tmp_path_factory):
    """A tier in which one experiment has run and its paper is checked."""
    root = tmp_path_factory.mktemp("ran")
    shutil.copytree(ROOT / "configs", root / "configs")
    smoke = tiers.load_tier("smoke", root).overrides[ID]
    settings = ", ".join(f"{name}: {value}" for name, value in smoke.items())
    (root / "configs" / "tiny.yaml").write_text(f"tier: tiny\nexperiments:\n  {ID}: {{{settings}}}\n")
    tier = tiers.load_tier("tiny", root)
    run.run(tier.experiment(ID))
    verdicts = Verdicts(registry.paper(KEY), tier)
    evidence = verdicts.evidence()
    verdicts.save(verdicts.judged(), evidence)
    return tier


@pytest.fixture(scope="module")
def verdicts(tier):
    return Verdicts(registry.paper(KEY), tier).judged().set_index("claim")["verdict"]


def row_of(tier, id):
    (line,) = [line for line in listing.overview([tier]) if line.startswith(f"{id} ")]
    return line.split()[1:]


def test_the_overview_counts_the_verdicts_of_each_experiment(tier, verdicts):
    counts = Counter(verdicts[claim.id] for claim in registry.experiment(ID).claims)
    assert sum(counts.values()) > 5
    names = ("reproduced", "contradicted", "tied", "depends", "inconclusive")
    assert row_of(tier, ID) == ["done", "/".join(str(counts[name]) for name in names)]
    assert row_of(tier, f"{KEY}/gradient_flow") == ["-"]


def test_verdicts_on_other_results_are_not_counted(tier, monkeypatch):
    monkeypatch.setattr(registry, "claims_code", lambda key: "edited")
    assert row_of(tier, ID) == ["done"]
    code = registry.Experiment.code
    monkeypatch.setattr(registry.Experiment, "code", lambda self, params: f"{code(self, params)} edited")
    assert row_of(tier, ID) == ["stale"]


def test_a_papers_list_has_the_verdicts_on_each_figure_and_statement(tier, verdicts):
    lines = [*listing.of_paper(KEY, tier)]
    assert f"  {ID}: {len(registry.experiment(ID).claims)} claims; done" in lines
    shown = dict(line.strip().split(": ") for line in lines[lines.index("verdicts") + 1 :])
    for artifact, words in shown.items():
        its = (verdicts.index == artifact) | verdicts.index.str.startswith(f"{artifact}/")
        expected = Counter(verdicts[its])
        found = {word.split(" ", 1)[1]: int(word.split()[0]) for word in words.split(", ")}
        assert found == expected
    assert sum(int(word.split()[0]) for words in shown.values() for word in words.split(", ")) == len(
        verdicts
    )


def test_a_list_of_claims_has_their_verdicts(tier, verdicts):
    lines = [*listing.of_claims([KEY], tier)]
    assert len(lines) == len(verdicts)
    for line in lines:
        verdict, rest = line[:13].strip(), line[13:].split()
        assert verdict == verdicts[rest[1]]


def test_findings_are_sorted_by_id_and_misprints_stand_apart(monkeypatch):
    rows = [
        {"claim": claim, "verdict": verdict, "form": form, "erratum": erratum}
        for claim, verdict, form, erratum in (
            ("k/b/z", "contradicted", "printed", ""),
            ("k/b/a", "contradicted", "ours", "typo"),
            ("k/b/printed", "contradicted", "printed", "typo"),
            ("k/c/d", "depends", "printed", ""),
            ("k/c/t", "tied", "printed", ""),
            ("k/a/r", "reproduced", "printed", ""),
        )
    ]  # fmt: skip
    claims = (
        pd.DataFrame(rows)
        .assign(unit="nats", kind="value", observed=1.234, low=1.0, high=1.4)
        .reindex(columns=list(COLUMNS))
    )
    unbounded = stated(above(None, 0.0, unit="nats"))
    within = stated(above(None, 0.0, unit="nats", range=(0.0, 1.3)))
    known = {row["claim"]: (within if row["claim"] == "k/c/d" else unbounded, None) for row in rows}
    monkeypatch.setattr(registry, "claims", lambda: known)
    assert [*listing.findings(claims)] == [
        "contradicted: 2",
        "  k/b/a: 1.23 [1.00, 1.40] nats",
        "  k/b/z: 1.23 [1.00, 1.40] nats",
        "tied: 1",
        "  k/c/t: 1.23 [1.00, 1.40] nats",
        "depends: 1",
        "  k/c/d: 1.23 [1.00, 1.30] nats",
        "contradicted as printed, a known erratum: 1",
        "  k/b/printed: 1.23 [1.00, 1.40] nats",
    ]
    assert [*listing.findings(claims[:0])] == []
