"""`reprise cache` lists what is kept, and clears exactly what nothing asks for."""

import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from reprise.cli import main
from reprise.engine import cache, registry, run, tiers
from reprise.storage import disk, locks, store
from reprise.storage.store import Entry

ID = "jing2022/projector_map"
OTHER = "jing2022/colour_short_cut"


def keep(tier, asker, key, kind="models"):
    """An entry, made for an asker."""

    def make(folder):
        disk.write(folder / "model", b"weights" * 100_000)

    with store.asking(asker), store.cached(tier.root, kind, key, f"net {key}", make) as entry:
        return entry


@pytest.fixture
def tier(checkout):
    return tiers.load_tier("smoke")


@pytest.fixture
def now(tier):
    """The asker with the present code and settings."""
    return cache.asker(tier.experiment(ID))


def test_who_asks_is_listed_with_what_size_and_age(tier, now, capsys):
    keep(tier, now, "wanted")
    keep(tier, cache.asker(tiers.load_tier("default").experiment(OTHER)), "wanted")
    keep(tier, "", "from a notebook")
    assert main(["cache"]) == 0
    first, second, total, hint = capsys.readouterr().out.splitlines()
    line = r"models +0\.7 MB +\d+ s  net "
    assert re.fullmatch(line + r"from a notebook; nothing asks for it", first)
    assert re.fullmatch(line + re.escape(f"wanted; {OTHER} (default), {ID} (smoke)"), second)
    assert total == "2 entries, 1.4 MB"
    assert hint == "nothing asks for 1 of them, 0.7 MB; remove with: reprise cache --clear"


def test_an_empty_cache_is_said_to_be(tier, capsys):
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == "0 entries, 0.0 MB\n"
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == "freed 0.0 MB\n"
    assert not (tier.root / "results").exists()


def test_exactly_what_nothing_asks_for_is_cleared(tier, now, capsys):
    keep(tier, now, "wanted")
    keep(tier, now.replace("smoke", "default"), "of another tier's settings")
    keep(tier, f"{now[:-1]}x", "of other code")
    keep(tier, f"gone {ID} {now.split()[-1]}", "of a tier that is gone")
    keep(tier, "", "of nobody")
    for asker in (f"{now[:-1]}x", now):
        keep(tier, asker, "of other code first")
    before = {entry.folder.name for entry in store.entries(tier.root)}
    assert main(["cache", "--clear"]) == 0
    left = {entry.folder.name for entry in store.entries(tier.root)}
    assert left == {"wanted", "of other code first"}
    *removed, freed = capsys.readouterr().out.splitlines()
    assert removed == [f"removed models: net {key} (0.7 MB)" for key in sorted(before - left)]
    assert freed == "freed 2.8 MB"
    assert sorted(file.name for file in (tier.root / store.CACHE / "models").iterdir()) == sorted(
        name for key in left for name in (key, f".{key}.lock")
    )


def test_an_edit_of_the_settings_or_of_the_code_takes_the_name_away(tier, now, monkeypatch):
    keep(tier, now, "wanted")
    file = tier.root / "configs" / "smoke.yaml"
    text = file.read_text()
    file.write_text(text.replace("temperatures: [0.5]", "temperatures: [0.25]"))
    assert file.read_text() != text
    assert [row.asked_by for row in cache.rows()] == [""]
    file.write_text(text)
    assert [row.asked_by for row in cache.rows()] == [f"{ID} (smoke)"]
    monkeypatch.setattr(registry.Experiment, "code", lambda self, params: "edited")
    assert [row.asked_by for row in cache.rows()] == [""]


def test_what_a_killed_training_left_is_listed_and_cleared_like_the_rest(tier, now):
    folder = tier.root / store.CACHE / "models"
    for key, asker in (("wanted", now), ("useless", "")):
        entry = Entry(folder / key)
        entry.draft.mkdir(parents=True)
        (entry.draft / "000000020.state").write_bytes(b"x" * 3_000_000)
        entry.lock.write_text(asker)
    assert {(row.what, row.size, row.asked_by) for row in cache.rows()} == {
        ("unfinished", 3.0, f"{ID} (smoke)"),
        ("unfinished", 3.0, ""),
    }
    removed, busy = cache.clear()
    assert ([row.entry.folder.name for row in removed], busy) == (["useless"], [])
    assert sorted(file.name for file in folder.iterdir()) == [".wanted", ".wanted.lock"]


def test_a_limit_takes_what_nothing_asks_for_and_then_what_was_used_longest_ago(tier, now, capsys):
    """Entries of 0.7 MB; that of nobody is the youngest."""
    for age, key, asker in ((40, "old", now), (30, "used again", now), (20, "young", now), (10, "lost", "")):
        entry = keep(tier, asker, key)
        os.utime(entry.lock, (time.time() - age,) * 2)
    assert keep(tier, now, "used again").hit

    def left(limit):
        assert main(["cache", "--limit", limit]) == 0
        return {entry.folder.name for entry in store.entries(tier.root)}

    assert left("2.9") == {"old", "used again", "young", "lost"}
    assert left("2.5") == {"old", "used again", "young"}
    assert left("2.0") == {"used again", "young"}
    assert left("0.8") == {"used again"}
    with locks.locked(entry.folder.with_name(".used again.lock")):
        capsys.readouterr()
        assert left("0") == {"used again"}
        assert "left models: net used again: a process is at work there" in capsys.readouterr().out
    assert left("0") == set()
    assert list((tier.root / store.CACHE / "models").iterdir()) == []


@pytest.mark.parametrize("limit", ["-1", "much", "nan", "1e3"])
def test_a_limit_is_a_number_of_megabytes(checkout, limit, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["cache", f"--limit={limit}"])
    assert f"{limit!r} is not a number of MB such as 500" in capsys.readouterr().err


def test_a_damaged_record_does_not_stop_it(tier, now):
    entry = keep(tier, now, "wanted")
    (entry.folder / store.CACHE_RECORD).write_bytes(b"\xff")
    assert [(row.what, row.asked_by) for row in cache.rows()] == [("unfinished", f"{ID} (smoke)")]


def test_what_a_running_process_makes_is_left(tier, capsys):
    program = """
import sys
from pathlib import Path
from reprise.storage import disk, locks, store

def make(folder):
    print("begun", flush=True)
    input()
    disk.write(folder / "model", b"weights")

with store.cached(Path(sys.argv[1]), "models", "key", "a net", make):
    pass
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, tier.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    assert main(["cache", "--clear"]) == 0
    assert "left models: unfinished: a process is at work there" in capsys.readouterr().out
    process.communicate("\n", timeout=60)
    assert process.returncode == 0
    assert main(["cache", "--clear"]) == 0
    assert "removed models: a net" in capsys.readouterr().out


def test_a_run_asks_for_what_its_computation_asks_for(tier, monkeypatch):
    """A run asks in its tasks, in shares or not; once it has finished, its tasks' tables and kept views are
    gone."""
    id = "tian2023/batch_normalization"
    run.run_share(tier.experiment(id), 1, 2)
    tasks = store.entries(tier.root, store.TASKS)
    assert tasks
    assert {frozenset(entry.askers) for entry in tasks} == {frozenset({cache.asker(tier.experiment(id))})}
    assert {row.asked_by for row in cache.rows()} == {f"{id} (smoke)"}
    spent = cache.seconds_spent(cache.asker(tier.experiment(id)), tier.root)
    assert spent == sum(entry.verified()["seconds"] for entry in tasks) > 0
    experiment = registry.experiment(id)
    compute = experiment.compute()

    def compute_with_a_net(params, context):
        with store.cached(
            context.root, "models", "net", "a net", lambda folder: disk.write(folder / "net", b"")
        ):
            return compute(params, context)

    monkeypatch.setattr(registry.Experiment, "compute", lambda self: compute_with_a_net)
    keep(tier, f"smoke {id} of other code", "killed", store.TASKS)
    keep(tier, cache.asker(replace(tier, name="default").experiment(id)), "of another tier", store.TASKS)
    keep(tier, cache.asker(tier.experiment(id)), "of a net", store.VIEWS)
    keep(tier, cache.asker(tier.experiment(OTHER)), "of another experiment", store.VIEWS)
    run.run(tier.experiment(id))
    assert [entry.folder.name for entry in store.entries(tier.root, store.TASKS)] == ["of another tier"]
    assert [entry.folder.name for entry in store.entries(tier.root, store.VIEWS)] == ["of another experiment"]
    (net,) = (row for row in cache.rows() if row.kind == "models")
    assert net.asked_by == f"{id} (smoke)"


def test_no_tier_is_called_like_the_cache(checkout, capsys):
    (checkout / "configs" / "cache.yaml").write_text("tier: cache\n")
    assert main(["report", "--tier", "cache"]) == 2
    assert "and is not 'cache' or 'recorded'; rename the file" in capsys.readouterr().err
