"""Lists the cache's entries with the runs that use them, and removes those that no run uses, or those that
are beyond a limit.

An asker is a run: a tier, an experiment, and the key of its code and parameters. Each entry lists all runs
that ever asked for it; only those with the key of the current code and configs count. After an edit of an
experiment or its settings, it counts again once it has rerun.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from reprise.engine import tiers
from reprise.engine.configured import ConfiguredExperiment
from reprise.storage import store

UNITS = (("days", 86400), ("h", 3600), ("min", 60), ("s", 1))


class Row(NamedTuple):
    """A cache entry, formatted for display.

    Attributes:
        what: description.
        size: in MB.
        age: time since the last write.
        used: when a run last asked for it, in seconds since 1970.
        asked_by: `KEY/NAME (TIER)` or `KEY/NAME/round-2 (TIER)` of the current runs that use it; empty if
            there are none.
    """

    entry: store.Entry
    kind: str
    what: str
    size: float
    age: str
    used: float
    asked_by: str


def asker(configured: ConfiguredExperiment) -> str:
    """The asker name of an experiment's run with the current code and parameters."""
    return f"{run_of(configured)}{configured.key()}"


def run_of(configured: ConfiguredExperiment) -> str:
    """The prefix shared by the asker names of all runs of an experiment in a tier, on the same seeds."""
    return f"{configured.tier.name} {configured.name} "


def seconds_spent(asker: str, root: Path) -> float:
    """Total time that a run has spent on its finished tasks, and on networks that it trained for them."""
    records = [entry.record for entry in store.entries(root) if entry.folder.parent.name != store.VIEWS]
    return sum(record.get("seconds", 0.0) for record in records if record.get("made_for") == asker)


def lost_parts(configured: ConfiguredExperiment) -> int:
    """Number of an interrupted run's finished tasks of which nothing counts, because code, settings or data
    have changed; 0 once the run has begun again."""
    now, prefix = asker(configured), run_of(configured)
    entries = store.entries(configured.tier.root, store.TASKS)
    askers = [entry.askers for entry in entries if entry.folder.is_dir()]
    if any(now in each for each in askers):
        return 0
    return sum(any(former.startswith(prefix) for former in each) for each in askers)


def forget_parts(configured: ConfiguredExperiment) -> None:
    """Removes the tables of an experiment's tasks and the views that it kept, of this run and of interrupted
    ones. Another experiment that needs the same views renders them again."""
    for kind in (store.TASKS, store.VIEWS):
        for entry in store.entries(configured.tier.root, kind):
            if any(asker.startswith(run_of(configured)) for asker in entry.askers):
                store.remove(entry)


def rows() -> list[Row]:
    """All entries of this checkout's cache."""
    root = tiers.checkout()
    every_tier = [tiers.load_tier(name, root) for name in tiers.names(root)]
    experiments = (each for tier in every_tier for each in tier.experiments().values())
    runs = (run for each in experiments for run in each.begun())
    labels = {asker(each): f"{each.name} ({each.tier.name})" for each in runs}
    table = []
    for entry in store.entries(root):
        with suppress(FileNotFoundError):  # another process has just removed it
            table.append(_row(entry, labels))
    return table


def clear() -> tuple[list[Row], list[Row]]:
    """Removes unused entries; returns the removed ones, and those that a running process still holds."""
    unused = [row for row in rows() if not row.asked_by]
    removed = [row for row in unused if store.remove(row.entry)]
    return removed, [row for row in unused if row not in removed]


def keep_below(megabytes: float) -> tuple[list[Row], list[Row]]:
    """Removes entries until the rest takes at most so many MB: first those that no experiment uses, then the
    others, each time the least recently used first. Returns the removed ones, and those that stay because a
    running process holds them."""
    table = rows()
    excess = sum(row.size for row in table) - megabytes
    removed, busy = [], []
    for row in sorted(table, key=lambda row: (bool(row.asked_by), row.used)):
        if excess <= 0:
            break
        if store.remove(row.entry):
            removed.append(row)
            excess -= row.size
        else:
            busy.append(row)
    return removed, busy


def _row(entry: store.Entry, labels: dict[str, str]) -> Row:
    files = [file for folder in (entry.folder, entry.draft) for file in folder.rglob("*") if file.is_file()]
    states = [file.stat() for file in files or [entry.lock]]
    return Row(
        entry,
        entry.folder.parent.name,
        entry.record.get("what", "unfinished"),
        sum(state.st_size for state in states) / 1e6,
        _age(time.time() - max(state.st_mtime for state in states)),
        entry.used,
        ", ".join(sorted(labels[asker] for asker in entry.askers & labels.keys())),
    )


def _age(seconds: float) -> str:
    unit, length = next((unit for unit in UNITS if seconds >= 2 * unit[1]), UNITS[-1])
    return f"{seconds // length:.0f} {unit}"
