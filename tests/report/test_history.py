"""Verdicts that have changed: what changed each is told by judging the earlier run again."""

import pandas as pd
import pytest

from reprise.engine import registry
from reprise.engine.tiers import load_tier
from reprise.ledger import recorded
from reprise.report import history
from reprise.report.results import TABLE

CLAIM = "tian2023/fig10/relu-above-linear"
PRINTED = next(id for paper in registry.papers().values() for id, (_, experiment) in paper.claims.items()
               if experiment is None)  # fmt: skip


def moved(monkeypatch, tmp_path, old, again, now, claim=CLAIM, gone="", **params):
    """The changes when a verdict `old` becomes `now`, and the earlier run is `again` by the rules of today.

    Args:
        gone: a claim that was published, too, and is no more.
        params: of the new run, that the earlier one did not have.
    """
    tier = load_tier("default")
    experiment = registry.paper(claim.split("/")[0]).claims[claim][1]
    earlier = dict(tier.params)
    if params:
        earlier[experiment.id] = tier.params[experiment.id].model_copy(update=params)
    published = tier.__class__(**{**vars(tier), "params": earlier})
    monkeypatch.setattr(recorded, "load", lambda name, root: published)
    judged = pd.DataFrame({"claim": [claim], "verdict": [again]})
    monkeypatch.setattr(recorded, "verdicts", lambda tier: judged if again else judged[:0])
    before = tmp_path / TABLE
    names, verdicts = ([claim, gone], [old, "contradicted"]) if gone else ([claim], [old])
    pd.DataFrame({"claim": names, "verdict": verdicts}).to_csv(before, index=False)
    rows = pd.DataFrame({"claim": [claim], "verdict": [now], "reason": ["why"]})
    return history.changes(tier, rows, before)


@pytest.mark.parametrize(
    ("again", "params", "cause"),
    [
        ("reproduced", {}, "rule"),
        ("contradicted", {}, "data"),
        ("contradicted", {"seeds": 99}, "setting"),
        ("inconclusive", {}, "rule and data"),
        ("inconclusive", {"seeds": 99}, "rule and setting"),
        (None, {}, "rule and data"),
    ],
)
def test_what_changed_a_verdict_is_told_by_the_earlier_run(monkeypatch, tmp_path, again, params, cause):
    (change,) = moved(monkeypatch, tmp_path, "contradicted", again, "reproduced", **params)
    assert (change.before, change.now, change.changed_by, change.why) == (
        "contradicted", "reproduced", cause, "why",
    )  # fmt: skip


def test_what_no_run_decides_is_changed_by_a_rule(monkeypatch, tmp_path):
    (change,) = moved(monkeypatch, tmp_path, "reproduced", None, "contradicted", PRINTED)
    assert change.changed_by == "rule"


@pytest.mark.parametrize(("old", "now"), [("tied", "tied"), ("not run", "reproduced"), ("tied", "not run")])
def test_a_claim_that_was_or_is_not_run_has_not_changed(monkeypatch, tmp_path, old, now):
    assert moved(monkeypatch, tmp_path, old, old, now) == []


def test_a_claim_that_is_gone_is_listed(monkeypatch, tmp_path):
    (change,) = moved(monkeypatch, tmp_path, "tied", "tied", "tied", gone="tian2023/fig10/gone")
    assert (change.claim, change.before, change.now) == ("tian2023/fig10/gone", "contradicted", "dropped")


def test_a_first_publication_changes_nothing(tmp_path):
    assert history.read(tmp_path) == []
    rows = pd.DataFrame({"claim": [CLAIM], "verdict": ["reproduced"], "reason": [""]})
    assert history.changes(load_tier("default"), rows, tmp_path / TABLE) == []


def test_a_claims_changes_are_one_course_and_written_as_they_are_read(tmp_path):
    first = history.Change(CLAIM, "2030-01-01", "abc", "contradicted", "inconclusive", "data", "a, b")
    second = history.Change(CLAIM, "2030-02-01", "def", "inconclusive", "reproduced", "rule", "c")
    other = history.Change("ren2023/fig1/x", "2030-02-01", "def", "tied", "reproduced", "rule", "")
    changed = [first, other, second]
    (tmp_path / history.HISTORY).write_bytes(history.written(changed))
    assert history.read(tmp_path) == changed
    (course,) = history.courses(changed, "tian2023")
    assert course["verdicts"] == (
        "contradicted → inconclusive (2030-01-01, data) → reproduced (2030-02-01, rule)"
    )
    assert course["why"] == "c"
