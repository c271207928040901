"""The tasks of an experiment, in one process and in shares: each is done once, the tables are the same."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

import pandas as pd
import pytest

from reprise.contract.experiment import (
    BASE,
    Context,
    Plan,
    Resources,
    all_needs,
    all_tasks,
    evaluate,
    share_of,
)
from reprise.engine import cache, registry, run, tiers
from reprise.errors import RepriseError
from reprise.storage import closure, locks, records, store

ID = "tian2023/batch_normalization"


class Square(NamedTuple):
    n: int

    def __str__(self):
        return f"task {self.n}"


def tasks(count, objective):
    return [Square(n) for n in range(1, count + 1)]


def needs(count, task, objective):
    return Resources(minutes=task.n)


def perform(count, task, context, progress):
    progress(0.5)
    return pd.DataFrame({"square": [task.n**2]})


def compute(count, context):
    results = context.results(perform, count, tasks(count, context.objective))
    assert list(results) == tasks(count, None)
    return {"squares": pd.concat(results.values())}


PLAN = Plan(tasks, needs)


SETTINGS = {BASE: 1, "two": 2, "none": 3}


def test_tables_come_in_the_order_of_the_settings_and_tasks():
    table = evaluate(compute, SETTINGS, Context())["squares"]
    assert table["square"].tolist() == [1, 1, 4, 1, 4, 9]
    assert table["setting"].tolist() == [BASE, "two", "two", "none", "none", "none"]


def test_what_a_computation_asks_for_are_the_tasks_that_it_declares():
    asked = []

    def keep(name, make):
        asked.append(name)
        return make(lambda share: None)

    evaluate(compute, SETTINGS, Context(cached=keep))
    assert asked == list(all_tasks(PLAN, SETTINGS, Context())) == list(all_needs(PLAN, SETTINGS))
    assert len(set(asked)) == 6
    assert [each.minutes for each in all_needs(PLAN, SETTINGS).values()] == [1, 1, 2, 1, 2, 3]


def test_a_task_may_ask_for_the_table_of_another_in_its_own_setting():
    asked = []

    def keep(name, make):
        asked.append(name)
        return make(lambda share: None)

    def doubled(count, task, context, progress):
        if task.n == 1:
            return perform(count, task, context, progress)
        return 2 * context.result(doubled, count, Square(task.n - 1))

    table = Context(cached=keep, setting="two").result(doubled, 2, Square(2))
    assert table["square"].tolist() == [2]
    assert asked == ["two/task 2", "two/task 1"]


@pytest.mark.parametrize("shares", [1, 2, 3, 7, 40])
def test_shares_hold_every_task_once_and_take_about_as_long(shares):
    every = all_needs(PLAN, {BASE: 20})
    parts = [share_of(every, number, shares) for number in range(1, shares + 1)]
    assert sorted(name for part in parts for name in part) == sorted(every)
    loads = [sum(every[name].minutes for name in part) for part in parts]
    assert max(loads) - min(loads) <= max(each.minutes for each in every.values())


def test_what_tasks_need_is_known_without_torch():
    program = """
import sys
from reprise.engine import registry, tiers
for name in tiers.names():
    params = tiers.load_tier(name).params
    needs = [needs for id, e in registry.experiments().items() for needs in e.needs(params[id]).values()]
    assert all(each.minutes > 0 and each.memory_mb > 0 for each in needs), name
print("torch" in sys.modules)
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "False\n"


@pytest.fixture
def tier(checkout):
    """The smoke tier in a checkout without results."""
    return tiers.load_tier("smoke")


def tables(tier, id=ID):
    return {file.name: file.read_bytes() for file in (tier.results / id).glob("*.parquet")}


def tasks_kept(tier):
    return store.entries(tier.root, store.TASKS)


def test_an_experiment_in_shares_gives_the_bytes_of_one_in_one_piece(tier):
    run.run(tier.experiment(ID))
    whole = tables(tier)
    steps = []
    for number in (3, 1, 2):
        run.run_share(tier.experiment(ID), number, 3, lambda *news: steps.append(news))
    assert {done <= total for done, total, _ in steps} == {True}
    kept = len(tasks_kept(tier))
    assert kept == len(registry.experiment(ID).needs(tier.params[ID]))
    run.run(tier.experiment(ID))
    assert tables(tier) == whole
    assert tasks_kept(tier) == []


def test_after_its_shares_a_run_computes_no_task(tier, monkeypatch):
    """The run counts the time that its shares took."""
    registry.experiment(ID).compute()  # imports torch, which is no time of the tasks
    start = time.perf_counter()
    run.run_share(tier.experiment(ID), 1, 1)
    lasted = time.perf_counter() - start

    def never(root, key, name, make):
        def forbidden():
            raise AssertionError(f"{name} is computed again")

        return cached_table(root, key, name, forbidden)

    cached_table = store.cached_table
    monkeypatch.setattr(store, "cached_table", never)
    start = time.perf_counter()
    run.run(tier.experiment(ID))
    collecting = time.perf_counter() - start
    seconds = store.load_record(tier.results / ID, "again")["duration_seconds"]
    assert lasted / 2 < seconds < lasted + collecting


def test_an_experiment_in_one_piece_has_no_shares(tier):
    with pytest.raises(RepriseError, match=r"jing2022/gradient_flow: is in one piece .* reprise run"):
        run.run_share(tier.experiment("jing2022/gradient_flow"), 1, 2)


def test_of_two_processes_that_want_a_task_one_does_it(tmp_path):
    program = """
import sys, time
from pathlib import Path
import pandas as pd
from reprise.storage import closure, locks, records, store

def make():
    print("computed", flush=True)
    time.sleep(1)
    return pd.DataFrame({"x": [1.5]})

table = store.cached_table(Path(sys.argv[1]), "key", "task", make)
assert table["x"].tolist() == [1.5]
"""
    command = [sys.executable, "-c", program, tmp_path]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(each.communicate(timeout=60)[0] for each in both) == ["", "computed\n"]
    assert [each.returncode for each in both] == [0, 0]


def test_a_run_waits_for_the_shares_that_are_under_way(tier):
    """The jobs of a Snakemake that was killed alone go on."""
    command = [sys.executable, "-m", "reprise.cli", "run", ID, "--tier", "smoke"]
    with locks.locked(tier.results / ID / locks.LOCK, shared=True):
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


def test_a_run_that_begins_again_after_an_edit_says_so_once(tier, capsys):
    """Other parameters of the earlier tasks stand for an edit: either changes the key."""
    run.run_share(tier.experiment(ID), 1, 3)
    done = len(tasks_kept(tier))
    run.run_share(tier.experiment(ID), 2, 3)
    assert "slower" not in capsys.readouterr().err
    for entry in tasks_kept(tier)[done:]:
        store.remove(entry)
    other = tier.params[ID].model_copy(update={"steps": tier.params[ID].steps + 1})
    edited = replace(tier, params={**tier.params, ID: other})
    for number in (1, 2):
        run.run_share(edited.experiment(ID), number, 3)
    run.run(edited.experiment(ID))
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("reprise: slower: ")]
    assert len(told) == 1
    assert f": {done} finished tasks of an interrupted run of {ID} do not count" in told[0]


@pytest.mark.parametrize(("value", "told"), [("1", 1), ("0", 0)])
def test_loops_that_are_not_compiled_are_told(tier, value, told):
    command = [sys.executable, "-m", "reprise.cli", "run", "ren2023/theory", "--tier", "smoke"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": value}
    done = subprocess.run(command, cwd=tier.root, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.count("reprise: slower: NUMBA_DISABLE_JIT is set") == told


@pytest.mark.parametrize("id", [id for id, e in registry.experiments().items() if e.has_tasks])
def test_results_depend_on_what_a_task_does_and_not_on_how_long_it_is_expected_to_take(id):
    experiment = registry.experiment(id)
    plan, perform = experiment.declaration.plan, experiment.perform()
    needed = closure.closure(*experiment.symbols(experiment.params()))
    task = type(next(iter(plan.tasks(experiment.params(), None))))  # whose str is a task's name
    for wanted in (perform, task):
        assert (wanted.__module__, wanted.__name__) in needed
    assert (plan.needs.__module__, plan.needs.__name__) not in needed
    assert ("reprise.contract.experiment", "Resources") not in needed
    assert (f"{experiment.module}.experiment", registry.DECLARATION) not in needed


def entry_of(configured, name):
    """The cache entry of a task."""
    key = records.key_of(cache.asker(configured), name)
    return store.Entry(configured.tier.root / store.CACHE / store.TASKS / key)


def test_a_share_does_other_tasks_first_while_another_process_makes_one(tier, capsys):
    """The share waits for that task at the end, whose table it then does not compute."""
    id = "tian2023/matching_scores"
    configured = tier.experiment(id)
    names = share_of(configured.needs(), 1, 1)
    busy = store.Entry(
        tier.root / store.CACHE / store.TASKS / records.key_of(cache.asker(configured), names[0])
    )
    with locks.locked(busy.lock):
        command = [sys.executable, "-m", "reprise.cli", "run", id, "--tier", "smoke", "--share", "1-of-1"]
        share = subprocess.Popen(command, cwd=tier.root, stderr=subprocess.PIPE, text=True)
        for line in share.stderr:
            if "waiting for another process" in line:
                break
        done = {entry.record["what"] for entry in tasks_kept(tier) if entry.folder.is_dir()}
        assert done == set(names[1:])
        assert share.poll() is None
    share.communicate(timeout=300)
    assert share.returncode == 0
    assert busy.folder.is_dir()


def test_a_run_of_all_tasks_does_others_first_too(tier):
    """The tables are those of a run that waits for nothing."""
    id = "tian2023/matching_scores"
    configured = tier.experiment(id)
    run.run(configured)
    whole = tables(tier, id)
    name = next(iter(configured.needs()))
    busy = entry_of(configured, name)
    order = []
    with ExitStack() as held:
        held.enter_context(locks.locked(busy.lock))

        def follow(done, total, what):
            order.append(what)
            if len(set(order)) == len(configured.needs()) - 1:
                held.close()

        run.run(configured, follow)
    assert list(dict.fromkeys(order))[-1] == name
    assert tables(tier, id) == whole
