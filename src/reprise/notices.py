"""Lines on stderr that say why a run takes much longer than it could, each once a run."""

import sys

from reprise.storage.store import ASKER

SAID: set[tuple[str, str]] = set()
"""The run and the switch of each line that this process has printed."""


def slower(switch: str, why: str, remedy: str) -> None:
    """Says that a run has taken a slow path, unless this process has said so of the run and the switch.

    Args:
        switch: names what chose the path, in all networks and steps alike.
        why: what the path is, how much slower, and for what reason.
        remedy: what the user can change.
    """
    if (ASKER.get(), switch) not in SAID:
        SAID.add((ASKER.get(), switch))
        print(f"reprise: slower: {why}; {remedy}", file=sys.stderr, flush=True)
