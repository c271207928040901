"""The recorded run judged by the rules of another commit and by those of this one: what a change of rules or
claims moves."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from reprise.contract.settings import shortened
from reprise.engine import registry
from reprise.engine.check import Verdicts
from reprise.engine.configured import PUBLISHED
from reprise.engine.provenance import REDIRECTING
from reprise.errors import RepriseError
from reprise.evidence.verdicts import ground
from reprise.ledger import recorded
from reprise.ledger.recorded import BUNDLE

Row = Mapping[str, Any]
RULES = ("kind", "relation", "reference", "margin", "quantifier", "published")
NUMBERS = ("observed", "low", "high", "seeds")


class MovedVerdict(NamedTuple):
    """A claim with another verdict, or that only one of the commits has.

    Attributes:
        before, now: the verdicts.
        why: what else differs, in words.
    """

    claim: str
    before: str
    now: str
    why: str


def moved(commit: str, root: Path) -> list[MovedVerdict]:
    """The claims whose verdict on the recorded run is another one by the rules of a commit than by those of
    the checkout, by id.

    Args:
        commit: as git names it.

    Raises:
        RepriseError: if there is no recorded run or no such commit, or its rules judge no recorded run.
    """
    if not (root / BUNDLE).exists():
        raise RepriseError(f"{root / BUNDLE}: no recorded run to judge; write it with: reprise publish")
    here = recorded.load_published(root)
    judged = [Verdicts(paper, here).judged() for paper in registry.judged().values()]
    now = _rows(pd.concat(judged).to_dict("records"))
    before = _rows(_judged_by(commit, root))
    return [
        MovedVerdict(id, old, new, ", ".join(_why(before.get(id), now.get(id))))
        for id in sorted(before.keys() | now.keys())
        for old, new in [(_verdict(before.get(id)), _verdict(now.get(id)))]
        if old != new
    ]


def lines(commit: str, found: list[MovedVerdict]) -> Iterator[str]:
    """A table in Markdown, for a changelog."""
    if not found:
        yield f"no verdict on the recorded run is another one by the rules of {commit}"
        return
    yield f"| claim | by the rules of {commit} | now | why |"
    yield "| --- | --- | --- | --- |"
    for each in found:
        yield f"| `{each.claim}` | {each.before} | {each.now} | {each.why.replace('|', '/')} |"


def _judged_by(commit: str, root: Path) -> list[Row]:
    """The verdicts on the recorded run by the code of a commit, in a folder of its own."""
    git = ["git", "-C", str(root)]
    own = {name: value for name, value in os.environ.items() if name not in REDIRECTING}
    found = subprocess.run(
        [*git, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"],
        capture_output=True, text=True, check=False, env=own,
    )  # fmt: skip
    if found.returncode:
        raise RepriseError(f"{commit}: not a commit of {root}; see: git log")
    packed = subprocess.run([*git, "archive", found.stdout.strip()], capture_output=True, check=True, env=own)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        (Path(folder) / BUNDLE).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / BUNDLE, Path(folder) / BUNDLE)
        judged = subprocess.run(
            [sys.executable, "-m", "reprise", "check", "--json", "--tier", PUBLISHED],
            cwd=folder, capture_output=True, text=True, check=False,
            env={**own, "PYTHONPATH": f"{folder}/src"},
        )  # fmt: skip
    try:
        return json.loads(judged.stdout)
    except ValueError:
        said = shortened(judged.stderr.strip().rpartition("\n")[2])
        raise RepriseError(f"{commit}: judges no recorded run ({said}); name a later commit") from None


def _rows(rows: list[Any]) -> dict[str, Row]:
    return {row["claim"]: row for row in rows}


def _verdict(row: Row | None) -> str:
    """A verdict and its ground."""
    return "no such claim" if row is None else ", ".join(dict.fromkeys([row["verdict"], ground(row)]))


def _why(before: Row | None, now: Row | None) -> Iterator[str]:
    """The differences between two rows of a claim, in words."""
    if before is None or now is None:
        return
    if before["statement"] != now["statement"]:
        yield "reworded"
    for name in (*RULES, *NUMBERS):
        old, new = (_shown(row.get(name)) for row in (before, now))
        if old != new:
            yield f"{name} {old} -> {new}"
    if before["reason"] != now["reason"]:
        yield f"reason: {now['reason'] or 'none'}"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "none" if value != value else f"{value:.4g}"
    return "none" if value is None else str(value)
