"""The profile `generic`, with a stand-in for PBS: what becomes of a job reaches Snakemake."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pbs
import pytest
import yaml
from killing import kill_all
from slurm import wait_until

ROOT = Path(__file__).parents[2]
PROFILES = ROOT / "workflow" / "profiles"
RULE, FOLDER = "esser2024_width", "results/smoke/esser2024/width"
ARGUMENTS = (
    RULE, "--workflow-profile", "generic", "--config", "tier=smoke",
    "--seconds-between-status-checks", "1", "--latency-wait", "2",
)  # fmt: skip
LONG = 300


class Cluster:
    """A checkout beside a PBS."""

    def __init__(self, checkout):
        self.root = checkout.root
        beside = checkout.root.parent
        self.jobs = beside / "jobs"
        self.jobs.mkdir()
        pbs.install(beside / "bin")
        path = f"{beside / 'bin'}{os.pathsep}{checkout.environment['PATH']}"
        self.environment = {**checkout.environment, "PATH": path, "PBS_STUB": str(self.jobs)}

    def start(self):
        """Snakemake, in a session of its own."""
        return subprocess.Popen(
            (sys.executable, "-m", "snakemake", *ARGUMENTS), cwd=self.root, env=self.environment,
            start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def cancel(self, job):
        subprocess.run(("qdel", job), env=self.environment, check=True)

    def started(self, number):
        """The id and the options of a job, once it runs and Snakemake watches it: it cancels no other."""
        job = f"{number}.stub"
        for mark in ("process", "asked"):
            wait_until((self.jobs / f"{job}.{mark}").exists, LONG, f"job {number}")
        return job, (self.jobs / f"{job}.options").read_text()


@pytest.fixture
def cluster(blank):
    if importlib.util.find_spec("snakemake_executor_plugin_cluster_generic") is None:
        pytest.skip('needs pip install -e ".[cluster]"')
    return Cluster(blank)


@pytest.mark.slow
def test_jobs_are_submitted_watched_and_cancelled(cluster, smoke_run):
    first = cluster.start()
    try:
        job, options = cluster.started(1)
        assert "walltime=11:00" in options
        assert options.endswith("ncpus=1:mem=1900mb:ngpus=0")
        cluster.cancel(job)
        job, options = cluster.started(2)
        assert "mem=3400mb" in options
        os.kill(first.pid, signal.SIGINT)
        assert first.wait(timeout=LONG) != 0
        assert (cluster.jobs / f"{job}.code").read_text() == pbs.CANCELLED
    finally:
        kill_all(first)

    # A PBS without history: neither job is known once it has ended, one without and one with its outputs.
    (cluster.jobs / pbs.FORGETFUL).touch()
    second = cluster.start()
    try:
        job, _ = cluster.started(3)
        cluster.cancel(job)
        cluster.started(4)
        printed, _ = second.communicate(timeout=LONG)
        assert second.returncode == 0, printed
        assert "MissingOutputException" in printed
    finally:
        kill_all(second)
    tables = [*(smoke_run.root / FOLDER).glob("*.parquet")]
    assert tables
    assert all((cluster.root / FOLDER / table.name).read_bytes() == table.read_bytes() for table in tables)


@pytest.mark.parametrize(
    ("qstat", "word"),
    [
        ("echo '    job_state = Q'", "running"),
        ("echo '    job_state = F'; echo '    Exit_status = 0'", "success"),
        ("echo '    job_state = F'; echo '    Exit_status = 271'", "failed"),
        ("echo '    job_state = F'", "failed"),  # deleted before it began
        ("printf '    job_state = F\\r\\n    Exit_status = 0\\r\\n'", "success"),
        ("echo '    job_state = R'; echo '    Variable_List = X=job_state = F'", "running"),
        ("echo 'qstat: Unknown Job Id 7.host' >&2; exit 153", "success"),
        ("echo 'Connection refused' >&2; exit 111", "running"),
    ],
)
def test_what_pbs_says_of_a_job_is_told_in_one_word(tmp_path, qstat, word):
    command = tmp_path / "qstat"
    command.write_text(f"#!/bin/sh\n{qstat}\n")
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        (PROFILES / "generic" / "status", "7.host"),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout == f"{word}\n"
    assert done.stderr == ("qstat -xf 7.host: Connection refused\n" if "Connection" in qstat else "")


def test_both_profiles_for_clusters_say_the_same_of_what_no_scheduler_has_a_part_in():
    generic, slurm = (
        yaml.safe_load((PROFILES / name / "config.yaml").read_text()) for name in ("generic", "slurm")
    )
    assert generic["default-resources"].pop("gpu") == 0
    own = ("executor", "slurm-", "cluster-generic-")
    generic, slurm = (
        {key: value for key, value in each.items() if not key.startswith(own)} for each in (generic, slurm)
    )
    assert generic == slurm
