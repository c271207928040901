"""What the cache holds, who asks for it, and what nobody asks for any more.

Who asks is a run: a tier, an experiment, and the key of its code and parameters. The cache keeps the names of
all that have ever asked for an entry; those count whose key is that of the code and the configs that are here
now. An edit of an experiment or of its settings takes its name away, until it has run again.
"""

import time
from contextlib import suppress
from typing import NamedTuple

from reprise.execute import registry, tiers
from reprise.execute.tiers import Tier
from reprise.storage import store

UNITS = (("days", 86400), ("h", 3600), ("min", 60), ("s", 1))


class Row(NamedTuple):
    """An entry as a person reads it.

    Attributes:
        what: in words.
        size: in MB.
        age: since it was made, or was last worked at.
        asked_by: `KEY/NAME (TIER)` of those that ask for it now; empty when nothing does.
    """

    entry: store.Entry
    kind: str
    what: str
    size: float
    age: str
    asked_by: str


def asker(id: str, tier: Tier) -> str:
    """The name by which the run of an experiment asks for entries, with the code and parameters of now."""
    return f"{run_of(id, tier)}{registry.experiment(id).key(tier.params[id])}"


def run_of(id: str, tier: Tier) -> str:
    """What the names of all its runs begin with, whatever the code and the parameters."""
    return f"{tier.name} {id} "


def seconds_spent(asker: str, tier: Tier) -> float:
    """How long the tables that a run's tasks have finished took to make."""
    own = (entry for entry in store.entries(tier.root, store.TASKS) if asker in entry.askers)
    return sum(entry.record.get("seconds", 0.0) for entry in own)


def forget_tasks(id: str, tier: Tier) -> None:
    """Removes the tables of an experiment's tasks, of this run and of killed ones."""
    for entry in store.entries(tier.root, store.TASKS):
        if any(asker.startswith(run_of(id, tier)) for asker in entry.askers):
            store.remove(entry)


def rows() -> list[Row]:
    """All that the cache of this checkout holds."""
    root = tiers.checkout()
    every_tier = [tiers.load_tier(name, root) for name in tiers.names(root)]
    shown = {asker(id, tier): f"{id} ({tier.name})" for tier in every_tier for id in tier.params}
    found = []
    for entry in store.entries(root):
        with suppress(FileNotFoundError):  # a run has removed it meanwhile
            found.append(_row(entry, shown))
    return found


def clear() -> tuple[list[Row], list[Row]]:
    """Removes what nothing asks for; what was removed, and what could not be because a process is at work
    there."""
    useless = [row for row in rows() if not row.asked_by]
    removed = [row for row in useless if store.remove(row.entry)]
    return removed, [row for row in useless if row not in removed]


def _row(entry: store.Entry, shown: dict[str, str]) -> Row:
    files = [file for folder in (entry.folder, entry.draft) for file in folder.rglob("*") if file.is_file()]
    states = [file.stat() for file in files or [entry.lock]]
    return Row(
        entry,
        entry.folder.parent.name,
        entry.record.get("what", "unfinished"),
        sum(state.st_size for state in states) / 1e6,
        _age(time.time() - max(state.st_mtime for state in states)),
        ", ".join(sorted(shown[asker] for asker in entry.askers & shown.keys())),
    )


def _age(seconds: float) -> str:
    unit, length = next((unit for unit in UNITS if seconds >= 2 * unit[1]), UNITS[-1])
    return f"{seconds // length:.0f} {unit}"
