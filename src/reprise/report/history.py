"""Verdicts that have changed since they were first published, and what changed each of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from reprise.engine import registry
from reprise.engine.configured import Tier
from reprise.engine.provenance import commit, commit_date
from reprise.ledger import recorded

HISTORY = "history.csv"
DROPPED = "dropped"
"""Entry in place of the verdict on a claim that is gone or has another name."""
Cause = Literal["data", "setting", "rule", "rule and data", "rule and setting"]
CAUSES: dict[Cause, str] = {
    "data": "run again with the same parameters",
    "setting": "run with other parameters",
    "rule": "the same run, measured or judged otherwise",
    "rule and data": "both: by today's rules the earlier run has a third verdict, or shows it no longer",
    "rule and setting": "likewise",
}


class Change(NamedTuple):
    """A verdict that was published, and the one that took its place.

    Attributes:
        date, commit: of the code that gave the second.
    """

    claim: str
    date: str
    commit: str
    before: str
    now: str
    changed_by: Cause
    why: str


def read(folder: Path) -> list[Change]:
    """All changes so far, the oldest first; none where nothing has been published."""
    file = folder / HISTORY
    rows = pd.read_csv(file, keep_default_na=False).itertuples(index=False) if file.is_file() else []
    return [Change(*row) for row in rows]


def written(changed: Sequence[Change]) -> bytes:
    """The content of the file `HISTORY`."""
    return (
        pd.DataFrame(changed, columns=list(Change._fields)).to_csv(index=False, lineterminator="\n").encode()
    )


def changes(tier: Tier, claims: pd.DataFrame, before: Path) -> list[Change]:
    """Lists the verdicts that publishing a tier changes, without claims that were not run before, or are not
    now.

    Args:
        claims: with the columns `evidence.verdicts.COLUMNS`.
        before: the table of the verdicts published before, beside the run that they were of.
    """
    if not before.is_file():
        return []
    old = _verdicts(pd.read_csv(before))
    moved = [
        row for row in claims.to_dict("records")
        if row["verdict"] != old.get(row["claim"], row["verdict"])
        and "not run" not in (row["verdict"], old[row["claim"]])
    ]  # fmt: skip
    gone = [id for id in old if id not in set(claims["claim"])]
    if not moved and not gone:
        return []
    published = recorded.load(recorded.PUBLISHED, tier.root)
    again = _verdicts(recorded.verdicts(published))
    rules = commit(tier.root)["commit"]
    date = commit_date(rules, tier.root)

    def change(row: Mapping[Any, Any]) -> Change:
        id, verdict = row["claim"], row["verdict"]
        by = _cause(id, old[id], again.get(id), verdict, tier, published)
        return Change(id, date, rules[:7], old[id], verdict, by, row["reason"])

    dropped = [Change(id, date, rules[:7], old[id], DROPPED, "rule", "no claim any more") for id in gone]
    return [*map(change, moved), *dropped]


def _verdicts(claims: pd.DataFrame) -> dict[str, str]:
    return dict(zip(claims["claim"], claims["verdict"], strict=True))


def _cause(claim: str, old: str, again: str | None, now: str, tier: Tier, published: Tier) -> Cause:
    """Tells what changed a verdict: the data, the setting or the rule.

    Args:
        old, again, now: the verdict on the earlier run when it was published, that on it by the rules of
            today, and that on the run of today; the second is None where that run no longer shows it.
    """
    _, experiment = registry.paper(claim.split("/")[0]).claims[claim]
    if again == now or experiment is None:
        return "rule"
    same = tier.experiment(experiment.id).params == published.experiment(experiment.id).params
    by: Cause = "data" if same else "setting"
    return by if again == old else "rule and data" if same else "rule and setting"


def courses(history: Sequence[Change], paper: str) -> list[dict[str, str]]:
    """A row a claim of a paper whose verdict has changed, or that was dropped: all of its verdicts and what
    changed them, and the last before."""
    by_claim: dict[str, list[Change]] = {}
    for each in history:
        if each.claim.startswith(f"{paper}/"):
            by_claim.setdefault(each.claim, []).append(each)
    return [
        {
            "claim": claim, "verdicts": " → ".join([each[0].before, *map(_after, each)]),
            "before": each[-1].before, "now": each[-1].now, "why": each[-1].why,
        }
        for claim, each in sorted(by_claim.items())
    ]  # fmt: skip


def _after(change: Change) -> str:
    return f"{change.now} ({change.date}, {change.changed_by})"
