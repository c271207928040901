"""Holds golden numbers against CHANGELOG.md: a file of them changes only with an entry that says so.

lock.csv has, of every golden file, its SHA-256 and the number of entries of CHANGELOG.md that were about it
when it was locked: entries that name the experiment, KEY/NAME, and say "golden". A changed file is locked
only if there is one more, so that an entry about an earlier change is not enough.
"""

import hashlib
import re
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
LOCK_COMMAND = "python tests/golden/update.py --lock"


def unlocked(root: Path = ROOT) -> list[str]:
    """The experiments whose golden file is not the locked one, or has come or gone since."""
    now, then = _digests(root), _lock(root)["sha256"].to_dict()
    return sorted(id for id in now.keys() | then.keys() if now.get(id) != then.get(id))


def lock(root: Path = ROOT) -> list[str]:
    """Locks the golden files as they are, except changed ones whose entry is missing.

    Returns:
        Their experiments.
    """
    locked, now = _lock(root), _digests(root)
    named = {id: entries(root, id) for id in unlocked(root)}
    missing = [id for id, number in named.items() if number <= locked["entries"].get(id, 0)]
    for id in named.keys() - set(missing):
        if id in now:
            locked.loc[id] = [now[id], named[id]]
        else:
            locked = locked.drop(id)
    locked.sort_index().to_csv(_file(root))
    return missing


def what_to_do(experiments: list[str]) -> str:
    """A message about changed golden numbers that no entry announces; empty without any."""
    lines = [
        f"golden numbers of {id} changed: add an entry to CHANGELOG.md with the words 'golden' and '{id}', "
        "and the numbers before and after"
        for id in experiments
    ]
    return "\n".join([*lines, f"then: {LOCK_COMMAND}"]) if lines else ""


def entries(root: Path, id: str) -> int:
    """Number of entries of CHANGELOG.md about an experiment's golden numbers."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    every = [entry.partition("\n#")[0] for entry in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]
    named = re.compile(rf"(?<![\w/.-]){re.escape(id)}(?![\w/-])")
    return sum(bool(named.search(entry)) and "golden" in entry.lower() for entry in every)


def _digests(root: Path) -> dict[str, str]:
    folder = root / "tests" / "golden" / "smoke"
    return {
        str(file.relative_to(folder).with_suffix("")): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*.csv")
    }


def _lock(root: Path) -> pd.DataFrame:
    """By experiment, the columns `sha256` and `entries`."""
    return pd.read_csv(_file(root), index_col="experiment")


def _file(root: Path) -> Path:
    return root / "tests" / "golden" / "lock.csv"
