"""Snakemake is killed or stopped, whenever: no half-written result counts, the next run ends the same."""

import random
import signal
import time

import pytest
from killing import kill_all

pytestmark = pytest.mark.slow

ID = "jing2022/layer_alignment"
CONFIG = ("tier=smoke", "paper=jing2022")
SNAKEMAKE = ("snakemake", "--cores", "2", "--config", *CONFIG)


def of_paper(checkout):
    """The paper's share of what a run has made."""
    return {name: made for name, made in checkout.results().items() if "/jing2022/" in name}


def wait(process, done):
    """Until something is done, and then to a random moment; a run of any speed is not over by then."""
    while process.poll() is None and not done():
        time.sleep(0.05)
    time.sleep(random.uniform(0, 0.5))


def test_a_killed_snakemake_says_how_to_go_on_and_then_ends_the_same(blank, smoke_run):
    """First it alone is killed, and its jobs go on without it; then it with all its jobs."""

    def results():
        return len([*blank.root.glob("results/smoke/jing2022/*/run.json")])

    first = blank.start(*SNAKEMAKE)
    second = None
    try:
        wait(first, results)
        first.kill()
        first.wait()
        code, printed = blank.snakemake("--cores", "2", config=CONFIG)
        assert code != 0
        assert "--unlock" in printed
        blank.done("--unlock", config=CONFIG)

        before, more = results(), random.randint(1, 2)
        second = blank.start(*SNAKEMAKE)
        wait(second, lambda: results() >= before + more)
    finally:
        kill_all(first)
        if second:
            kill_all(second)
    assert second.returncode == -signal.SIGKILL, "it was quicker than expected"
    blank.done("--unlock", config=CONFIG)
    blank.done("--cores", "2", config=CONFIG)
    made, expected = of_paper(blank), of_paper(smoke_run)
    assert set(made) == set(expected)
    assert len(made) > 20
    assert [name for name in made if made[name] != expected[name]] == []
    assert blank.plan("--config", *CONFIG) == set()


def test_make_reproduce_unlocks_what_a_killed_snakemake_left_and_not_what_a_living_one_holds(blank):
    unlock = ("workflow/scripts/unlock", "--config", *CONFIG)
    run = ("snakemake", "--cores", "1", ID.replace("/", "_"), "--config", *CONFIG)
    quick, long = (f"{ID}:\n    batch_size: 64\n    steps: {steps}\n" for steps in (40, 40_000))
    blank.edit("configs/smoke.yaml", quick, long)
    process = blank.start(*run)
    try:
        while process.poll() is None and not (blank.root / "results/smoke/logs" / f"{ID}.log").exists():
            time.sleep(0.1)
        code, printed = blank.call(*unlock)
        assert (code, printed.partition(";")[0]) == (0, f"locked by Snakemake, process {process.pid}")
        code, printed = blank.call(*run)
        assert code != 0
        assert "--unlock" in printed
    finally:
        kill_all(process)
    assert process.returncode == -signal.SIGKILL, "it was quicker than expected"
    blank.edit("configs/smoke.yaml", long, quick)
    code, printed = blank.call(*unlock)
    assert code == 0
    assert "unlocking: the last Snakemake here was killed" in printed
    code, printed = blank.call(*run)
    assert code == 0, printed


def test_a_terminated_snakemake_leaves_nothing_that_counts_as_done(finished, smoke_run):
    """On a request to stop it lets its jobs end, and the next run does the rest."""
    finished.edit("configs/smoke.yaml", f"{ID}:\n", f"{ID}:\n    noise_std: 0.25\n")
    log = finished.root / "results/smoke/logs" / f"{ID}.log"
    log.unlink()
    process = finished.start("snakemake", "--cores", "2", "--config", "tier=smoke")
    wait(process, log.exists)
    process.terminate()
    printed, _ = process.communicate(timeout=120)
    assert process.returncode != 0, printed
    assert "report" in finished.plan()
    finished.edit("configs/smoke.yaml", "    noise_std: 0.25\n", "")
    finished.done("--cores", "2")
    assert finished.results() == smoke_run.results()
