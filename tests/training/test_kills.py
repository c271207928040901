"""A training that is killed, whenever and however, goes on and ends with the same bytes."""

import multiprocessing
import os
import random
import shutil
import signal
import time

import pytest
import tiny
import torch

from reprise.storage import store
from reprise.training import images
from reprise.training.models import trained

pytestmark = pytest.mark.slow

FORK = multiprocessing.get_context("fork")  # a new interpreter would import torch for seconds
HOW = {"nt_xent": {}, **tiny.STATEFUL}


def content(folder):
    """Bytes of a model's files. The record, which must be whole and says how long training took, is left
    out."""
    store.Entry(folder).verified()
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != store.CACHE_RECORD}


def in_a_process(work):
    torch.set_num_threads(1)
    process = FORK.Process(target=work)
    process.start()
    return process


@pytest.mark.parametrize("objective", HOW)
def test_at_random_moments(tmp_path, objective):
    spec = tiny.spec(objective, hyperparameters=HOW[objective], steps=200, probe_every=50)
    data, steps = tiny.data(), tmp_path / "steps"

    def work(root=tmp_path / "cut"):
        def progress(step):
            with steps.open("a") as opened:
                opened.write(f"{step}\n")

        trained(spec, data, root, save_every=0, progress=progress)

    start = time.perf_counter()
    process = in_a_process(lambda: work(tmp_path / "whole"))
    process.join()
    assert process.exitcode == 0
    lasts = time.perf_counter() - start
    steps.unlink()

    def made():
        return [int(step) for step in steps.read_text().split()] if steps.exists() else []

    # After up to 3 of the 10 blocks, counted and not timed, and at any moment of the one that follows.
    for how in (signal.SIGKILL, signal.SIGTERM):
        process, until = in_a_process(work), len(made()) + random.randrange(4)
        while len(made()) < until and process.is_alive():
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.1) * lasts)
        os.kill(process.pid, how)
        process.join()
        assert process.exitcode == -how, "it ended by itself"
    process = in_a_process(work)
    process.join()
    assert process.exitcode == 0
    whole, cut = (tmp_path / name / store.CACHE / "models" for name in ("whole", "cut"))
    (key,) = (name for name in os.listdir(whole) if not name.startswith("."))
    assert content(cut / key) == content(whole / key)
    assert sorted(os.listdir(cut)) == [f".{key}.lock", key]
    assert made()[-1] == 200
    assert len(made()) <= 10 + 2, "it began from scratch"  # 10 blocks, and one lost at each kill


def test_at_each_change_of_the_disk(tmp_path, monkeypatch):
    """A process ends before its first, second, third, ... change to a file; until one comes through."""
    spec, data = tiny.spec("moco", hyperparameters=tiny.STATEFUL["moco"], steps=3), tiny.data()
    monkeypatch.setattr(images, "BLOCK", 1)
    expected = trained(spec, data, tmp_path / "whole", save_every=0)
    places = [tmp_path / name / expected.relative_to(tmp_path / "whole") for name in ("cut", "anew")]

    def work(root, survives):
        left = survives

        def fatal(function):
            def changed(*arguments, **keywords):
                nonlocal left
                if left == 0:
                    os._exit(9)
                left -= 1
                return function(*arguments, **keywords)

            return changed

        for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir"):
            monkeypatch.setattr(os, name, fatal(getattr(os, name)))
        trained(spec, data, root, save_every=0)

    deaths = 0
    while True:
        # Killed there once, in a run of its own; and there again and again, in one that never gets further.
        for place, survives in ((places[1], deaths), (places[0], 8)):
            process = in_a_process(lambda: work(place.parents[3], survives))  # noqa: B023
            process.join()
            if process.exitcode == 0:
                assert content(place) == content(expected)
            else:
                assert process.exitcode == 9
        if not places[1].is_dir():
            trained(spec, data, places[1].parents[3], save_every=0)
            assert content(places[1]) == content(expected)
            deaths += 1
            shutil.rmtree(tmp_path / "anew", ignore_errors=True)
        else:
            break
    assert deaths > 20
    trained(spec, data, places[0].parents[3], save_every=0)
    assert content(places[0]) == content(expected)
