"""The profile `slurm` on a Slurm of one node: the same bytes as without it, whatever is killed."""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import slurm
from filelock import FileLock
from killing import kill_all

from reprise.engine import registry
from reprise.storage import locks

pytestmark = pytest.mark.slow

PAPERS = ("esser2024", "tian2023")
ON_GPU = ("esser2024_theory", "tian2023_dynamics")
ID = "tian2023/batch_normalization"
FOLDER = f"results/smoke/{ID}"
PROFILE = (
    "--workflow-profile", "slurm", "--config", "tier=smoke",
    "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "1",
    "--seconds-between-status-checks", "2",
)  # fmt: skip
"""Options for a Slurm without accounting, and short waits."""
LONG = 1200


def rule_of(id):
    """The name of the rule of an experiment, a figure or table."""
    return id.replace("/", "_")


class Cluster:
    """A checkout on a machine where no environment is activated."""

    def __init__(self, checkout):
        self.root = checkout.root
        here = str(Path(sys.executable).parent)
        path = [folder for folder in os.environ["PATH"].split(os.pathsep) if folder != here]
        self.environment = {**checkout.environment, "PATH": os.pathsep.join(path)}
        del self.environment["PYTHONDONTWRITEBYTECODE"]
        self.output = self.root / "printed.txt"

    @property
    def printed(self):
        """All that Snakemake has printed."""
        return self.output.read_text()

    def start(self, *arguments):
        """Starts Snakemake in a session of its own."""
        command = (sys.executable, "-m", "snakemake", *arguments, *PROFILE)
        with self.output.open("a") as file:
            return subprocess.Popen(
                command, cwd=self.root, env=self.environment, start_new_session=True, stdout=file, stderr=file
            )

    def done(self, *arguments):
        """Runs Snakemake, which must succeed."""
        self.finish(self.start(*arguments))

    def finish(self, process):
        """Waits for Snakemake, which must succeed."""
        try:
            assert process.wait(timeout=LONG) == 0, self.printed
        finally:
            kill_all(process)

    def log(self, share=""):
        """The log of the experiment, or of a share, so far."""
        file = self.root / "results/smoke/logs" / f"{ID}{share and f'.{share}'}.log"
        return file.read_text() if file.is_file() else ""

    def wait_for(self, text, share="", times=1):
        """Waits until the log says a text so many times."""
        slurm.wait_until(lambda: self.log(share).count(text) >= times, LONG, text)

    def worker(self, share=""):
        """The process that runs the experiment, or a share of it, and its job; stopped, so that it lasts."""
        command = ["run", ID, "--tier", "smoke", *(("--share", share) if share else ())]

        def find():
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    words = (process / "cmdline").read_text().split("\0")[:-1]
                    if words[2:] == command and (process / "cwd").resolve() == self.root:
                        os.kill(int(process.name), signal.SIGSTOP)
                        return process
            return None

        process = slurm.wait_until(find, LONG, " ".join(command))
        variables = (process / "environ").read_text().split("\0")
        job = next(each.partition("=")[2] for each in variables if each.startswith("SLURM_JOB_ID="))
        return int(process.name), job

    def next_worker(self, share):
        """The worker of a share's next attempt."""
        self.wait_for("--- next attempt", share)
        return self.worker(share)


def require_same_tables(made, expected):
    tables = list((expected.root / FOLDER).glob("*.parquet"))
    assert tables
    for table in tables:
        assert (made.root / FOLDER / table.name).read_bytes() == table.read_bytes()


def run_until_locked(process, lock):
    """Lets a stopped process run on until it holds the lock, and stops it again."""
    held = False
    while not held:
        os.kill(process, signal.SIGCONT)
        time.sleep(0.05)
        os.kill(process, signal.SIGSTOP)
        try:
            with locks.locked(lock, wait=False):
                pass
        except locks.Busy:
            held = True


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip('needs pip install -e ".[cluster]"')
    with FileLock(Path(tempfile.gettempdir()) / "slurm-of-one-node.lock"):  # a machine has one at a time
        if reason := slurm.unavailable():
            pytest.skip(reason)
        with slurm.running(tmp_path_factory.mktemp("slurm") / "node") as node:
            yield node


def test_two_papers_are_the_same_bytes_and_gpu_jobs_wait_for_the_gpu(node, blank, smoke_run):
    papers = [registry.paper(key) for key in PAPERS]
    drawn = [rule_of(id) for paper in papers for id in paper.artifacts]
    on_gpu = [f"{rule}:gpu=1" for rule in ON_GPU]
    Cluster(blank).done(*drawn, *(f"{key}_claims" for key in PAPERS), "--set-resources", *on_gpu)
    made, expected = blank.results(), smoke_run.results()
    assert made == {name: expected[name] for name in expected if any(f"/{key}/" in name for key in PAPERS)}
    assert len(made) > 40

    jobs = {job["Comment"].removeprefix("rule_"): job for job in node.jobs()}
    assert set(jobs) == {rule_of(id) for paper in papers for id in paper.experiments}
    assert {name for name, job in jobs.items() if "gpu:1" in job.get("TresPerJob", "")} == set(ON_GPU)
    first, second = sorted((jobs[name]["StartTime"], jobs[name]["EndTime"]) for name in ON_GPU)
    assert first[1] <= second[0]


def test_a_slurm_without_accounts_is_told_what_to_add_to_the_profile(node, blank):
    code, printed = blank.call(
        "snakemake", "--workflow-profile", "slurm", "--config", "tier=smoke", "paper=esser2024", timeout=120
    )
    assert code != 0
    assert "sacct fails, so that no job's end would be seen: Slurm accounting storage is disabled" in printed
    assert "`slurm-status-command: squeue`" in printed
    assert not (blank.root / "results").exists()


def test_a_requeued_job_goes_on_without_another_attempt(node, blank, smoke_run):
    cluster = Cluster(blank)
    running = cluster.start(rule_of(ID))
    try:
        process, job = cluster.worker()
        node.requeue(job)
        slurm.wait_until(lambda: not Path(f"/proc/{process}").exists(), LONG, "its end")
        process, again = cluster.worker()
        assert again == job
        os.kill(process, signal.SIGCONT)
        cluster.finish(running)
    finally:
        kill_all(running)
    assert next(each["Restarts"] for each in node.jobs() if each["JobId"] == job) == "1"
    assert "Trying to restart" not in cluster.printed
    require_same_tables(blank, smoke_run)


def test_whatever_is_killed_the_run_ends_with_the_same_bytes(node, blank, smoke_run):
    cluster, one, two = Cluster(blank), "1-of-2", "2-of-2"
    arguments = (rule_of(ID), "--set-scatter", f"{rule_of(ID)}=2")

    def both(find):
        """Results of `find` for both shares, sought at once because neither waits for the other."""
        with ThreadPoolExecutor() as pool:
            return pool.map(find, (one, two))

    first = cluster.start(*arguments)
    try:
        # One share is cancelled, and the worker of the other killed.
        (_, job), (victim, _) = both(cluster.worker)
        node.cancel(job)
        os.kill(victim, signal.SIGKILL)
        cluster.wait_for("stopped (SIGTERM): cancelled, preempted or over the time limit", one)
        cluster.wait_for("killed (SIGKILL): probably out of memory", two)

        # In the next attempt, one is over its time limit, and the node's daemon restarts under the other.
        (_, job), (survivor, _) = both(cluster.next_worker)
        node.end_its_time(job)
        node.restart_slurmd()
        cluster.wait_for("stopped (SIGTERM)", one, times=2)
        os.kill(survivor, signal.SIGCONT)

        # Snakemake is killed and its job goes on; that of the next Snakemake waits for it.
        orphan, _ = cluster.worker()
        run_until_locked(orphan, blank.root / FOLDER / locks.LOCK)
        first.kill()
        for state in ("CANCELLED", "FAILED", "TIMEOUT"):
            assert f"SLURM status is: '{state}'" in cluster.printed, cluster.printed
    finally:
        kill_all(first)
    cluster.done("--unlock")
    second = cluster.start(*arguments)
    try:
        cluster.wait_for("waiting for another process at work here")
    finally:
        os.kill(orphan, signal.SIGCONT)
        cluster.finish(second)
    require_same_tables(blank, smoke_run)
