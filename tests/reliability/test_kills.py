"""A few kills by the code of `make faults`, of every kind of fault but Snakemake's, which
`workflow/test_kills.py` kills."""

import random
import shutil
from pathlib import Path

import pandas as pd
import pytest

from reliability import kills
from reprise.storage import store

pytestmark = pytest.mark.slow

OVER_GOOD_RESULTS = [fault for fault in kills.FAULTS if fault.name == kills.OVER_GOOD_RESULTS]
OTHERS = [fault for fault in kills.FAULTS if not fault.groups and fault not in OVER_GOOD_RESULTS]


@pytest.mark.parametrize(("faults", "number"), [(OVER_GOOD_RESULTS, 8), (OTHERS, 12)])
def test_whatever_is_killed_ends_with_the_same_files(faults, number):
    seed = random.randrange(10**6)
    outcomes = kills.kill(number, seed, faults)
    failures = [f"{name}: {said}" for name, outcome in outcomes.items() for said in outcome.failures]
    assert not failures, f"seed {seed}:\n" + "\n".join(failures)
    assert sum(sum(outcome.kills.values()) for outcome in outcomes.values()) == number


def test_a_file_too_many_and_other_bytes_are_noticed(tmp_path):
    """The comparison can fail: work that goes on from a half-written file, and work that leaves its draft."""

    def leave_a_draft():
        folder = kills.Path("results")
        folder.mkdir(exist_ok=True)
        (folder / f".draft-{kills.os.getpid()}").touch()

    with pytest.raises(AssertionError, match="other files than without a kill"):
        kills.Bench(kills.Fault("draft", ((leave_a_draft,),)), tmp_path).strike(random.Random(0))


def test_good_results_that_a_kill_loses_are_noticed(tmp_path):
    """The reader's check can fail: a command that takes old results away before new ones are whole."""
    folder = Path("results/smoke/demo/runs")
    table = pd.DataFrame({"x": [1.0]})

    def save():
        store.save_tables(folder, {"t": table}, "0" * 16, {})

    def take_away_first():
        shutil.rmtree(folder)
        save()

    fault = kills.Fault("taken away", ((take_away_first,),), before=(save,))
    bench = kills.Bench(fault, tmp_path)
    shutil.rmtree(bench.now / folder)
    with pytest.raises(AssertionError, match="good results are lost"):
        bench._readable()
