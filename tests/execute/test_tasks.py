"""The tasks of an experiment, in one process and in shares: each is done once, the tables are the same."""

import subprocess
import sys
import time
from functools import partial

import pandas as pd
import pytest

from reprise.errors import RepriseError
from reprise.execute import pipeline, registry, tiers
from reprise.storage import store
from reprise.study.experiment import BASE, Context, Task, all_tasks, evaluate, share_of

CUT = [pytest.param(id, id=id) for id, e in registry.experiments().items() if e.has_tasks]
ID = "tian2023/batch_normalization"


def squares(n, progress):
    progress(0.5)
    return pd.DataFrame({"square": [n**2]})


def tasks(count, context):
    return [Task(f"task {n}", partial(squares, n), work=n) for n in range(1, count + 1)]


def compute(count, context):
    return {"squares": pd.concat(context.results(tasks(count, context)))}


SETTINGS = {BASE: 1, "two": 2, "none": 3}


def test_tables_come_in_the_order_of_the_settings_and_tasks():
    table = evaluate(compute, SETTINGS, Context())["squares"]
    assert table["square"].tolist() == [1, 1, 4, 1, 4, 9]
    assert table["setting"].tolist() == [BASE, "two", "two", "none", "none", "none"]


def test_what_a_computation_asks_for_are_the_tasks_that_it_declares():
    asked = []

    def keep(task):
        asked.append((task.name, task.work))
        return task.make(lambda share: None)

    evaluate(compute, SETTINGS, Context(keep=keep))
    assert asked == [(task.name, task.work) for task in all_tasks(tasks, SETTINGS, Context())]
    assert len(set(asked)) == 6


@pytest.mark.parametrize("shares", [1, 2, 3, 7, 40])
def test_shares_hold_every_task_once_and_about_the_same_work(shares):
    declared = tasks(20, None)
    parts = [share_of(declared, number, shares) for number in range(1, shares + 1)]
    assert sorted(task.name for part in parts for task in part) == sorted(task.name for task in declared)
    loads = [sum(task.work for task in part) for part in parts]
    assert max(loads) - min(loads) <= max(task.work for task in declared)


@pytest.mark.parametrize("id", CUT)
def test_what_says_that_an_experiment_is_cut_is_its_code(id):
    """`has_tasks` looks at the text, for a plan without torch."""
    assert callable(registry.experiment(id).tasks())


@pytest.fixture
def tier(checkout):
    """The smoke tier in a checkout without results."""
    return tiers.load_tier("smoke")


def tables(tier, id=ID):
    return {file.name: file.read_bytes() for file in (tier.results / id).glob("*.parquet")}


def tasks_kept(tier):
    return store.entries(tier.root, store.TASKS)


def test_an_experiment_in_shares_gives_the_bytes_of_one_in_one_piece(tier):
    pipeline.run(ID, tier)
    whole = tables(tier)
    steps = []
    for number in (3, 1, 2):
        pipeline.run_share(ID, tier, number, 3, lambda *news: steps.append(news))
    assert {done <= total for done, total, _ in steps} == {True}
    kept = len(tasks_kept(tier))
    experiment = registry.experiment(ID)
    settings = experiment.settings(tier.params[ID])
    assert kept == len(all_tasks(experiment.tasks(), settings, Context()))
    pipeline.run(ID, tier)
    assert tables(tier) == whole
    assert tasks_kept(tier) == []


def test_after_its_shares_a_run_computes_no_task(tier, monkeypatch):
    """And counts the time that they took."""
    start = time.perf_counter()
    pipeline.run_share(ID, tier, 1, 1)
    lasted = time.perf_counter() - start

    def never(root, key, name, make):
        def forbidden():
            raise AssertionError(f"{name} is computed again")

        return kept_table(root, key, name, forbidden)

    kept_table = store.kept_table
    monkeypatch.setattr(store, "kept_table", never)
    start = time.perf_counter()
    pipeline.run(ID, tier)
    collecting = time.perf_counter() - start
    seconds = store.load_record(tier.results / ID, "again")["duration_seconds"]
    assert lasted / 2 < seconds < lasted + collecting


def test_an_experiment_in_one_piece_has_no_shares(tier):
    with pytest.raises(RepriseError, match=r"jing2022/gradient_flow: is in one piece .* reprise run"):
        pipeline.run_share("jing2022/gradient_flow", tier, 1, 2)


def test_of_two_processes_that_want_a_task_one_does_it(tmp_path):
    program = """
import sys, time
from pathlib import Path
import pandas as pd
from reprise.storage import store

def make():
    print("computed", flush=True)
    time.sleep(1)
    return pd.DataFrame({"x": [1.5]})

table = store.kept_table(Path(sys.argv[1]), "key", "task", make)
assert table["x"].tolist() == [1.5]
"""
    command = [sys.executable, "-c", program, tmp_path]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(each.communicate(timeout=60)[0] for each in both) == ["", "computed\n"]
    assert [each.returncode for each in both] == [0, 0]


def test_a_run_waits_for_the_shares_that_are_under_way(tier):
    """As after a kill of Snakemake alone, whose jobs go on."""
    command = [sys.executable, "-m", "reprise.cli", "run", ID, "--tier", "smoke"]
    with store.locked(tier.results / ID / store.LOCK, shared=True):
        whole = subprocess.Popen(command, cwd=tier.root, stderr=subprocess.PIPE, text=True)
        for line in whole.stderr:
            if "waiting for another process" in line:
                break
        time.sleep(0.2)
        assert whole.poll() is None
    whole.communicate(timeout=300)
    assert whole.returncode == 0
    assert tables(tier)


@pytest.mark.parametrize("text", ["3", "0/2", "3/2", "a/b", "1/", "1/2/3"])
def test_a_share_is_written_as_a_fraction(text, capsys):
    from reprise.cli import main

    with pytest.raises(SystemExit):
        main(["run", ID, "--share", text])
    assert "is not a share such as 3/16" in capsys.readouterr().err
