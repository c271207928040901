"""A few kills by the code of `make faults`, of every kind of fault but Snakemake's, which
`workflow/test_kills.py` kills."""

import random

import pytest

from reliability import kills

pytestmark = pytest.mark.slow

KILLS = 12


def test_whatever_is_killed_ends_with_the_same_files():
    seed = random.randrange(10**6)
    faults = [fault for fault in kills.FAULTS if not fault.groups]
    outcomes = kills.kill(KILLS, seed, faults)
    failures = [f"{name}: {said}" for name, outcome in outcomes.items() for said in outcome.failures]
    assert not failures, f"seed {seed}:\n" + "\n".join(failures)
    assert sum(sum(outcome.kills.values()) for outcome in outcomes.values()) == KILLS


def test_a_file_too_many_and_other_bytes_are_noticed(tmp_path):
    """The comparison can fail: work that goes on from a half-written file, and work that leaves its draft."""

    def leave_a_draft():
        folder = kills.Path("results")
        folder.mkdir(exist_ok=True)
        (folder / f".draft-{kills.os.getpid()}").touch()

    with pytest.raises(AssertionError, match="other files than without a kill"):
        kills.Bench(kills.Fault("draft", ((leave_a_draft,),)), tmp_path).strike(random.Random(0))
