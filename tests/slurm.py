"""A Slurm of one node on this machine, without systemd: `slurmctld`, `slurmd` and `munged`, run as root.

The node has a pretend GPU (/dev/null), which Slurm hands out as it would a real one.
"""

import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

INSTALL = "apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge"
DAEMONS = ("munged", "slurmctld", "slurmd")
FOLDER = Path("/etc/slurm")
"""Jobs look for the configuration here: Snakemake's plugin takes SLURM_CONF out of their environment."""

CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
MpiDefault=none
GresTypes=gpu
ReturnToService=2
MinJobAge=3600
KillWait=10
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} Gres=gpu:1
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def unavailable():
    """Why no Slurm can be started here; empty if one can."""
    if os.geteuid() != 0:
        return "a Slurm of one node needs root"
    if missing := [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=_path()) is None]:
        return f"{', '.join(missing)} not installed; {INSTALL}"
    if (FOLDER / "slurm.conf").exists():
        return f"{FOLDER / 'slurm.conf'} exists: a Slurm is configured here, or an earlier test was killed"
    return ""


class Node:
    """The one node, and the daemons that run it."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = {}

    def start(self, name, *options):
        log = (self.folder / f"{name}.out").open("a")
        self.daemons[name] = subprocess.Popen(
            (shutil.which(name, path=_path()), *options), stdout=log, stderr=log, start_new_session=True
        )

    def start_slurmd(self):
        self.start("slurmd", "-D")

    def stop(self, name):
        process = self.daemons.pop(name)
        process.terminate()
        process.wait(timeout=60)

    def is_idle(self):
        return _output("sinfo", "--noheader", "--format=%T") == "idle"

    def jobs(self):
        """All that Slurm says of each job, finished ones too: `Comment`, `JobState`, `StartTime`, ..."""
        lines = _output("scontrol", "show", "jobs", "--oneliner").splitlines()
        return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in lines]

    def cancel(self, job):
        _done("scancel", job)

    def requeue(self, job):
        """As a preemption does: the job ends and waits, though not the minutes that Slurm lets it wait."""
        _done("scontrol", "requeue", job)
        waiting = {"JobId": job, "Reason": "BeginTime"}.items()
        wait_until(lambda: any(waiting <= each.items() for each in self.jobs()), 60, "requeued")
        _done("scontrol", "update", f"JobId={job}", "StartTime=now")

    def end_its_time(self, job):
        """Slurm looks at the time limits every half minute."""
        _done("scontrol", "update", f"JobId={job}", "EndTime=now")

    def restart_slurmd(self):
        self.stop("slurmd")
        self.start_slurmd()


@contextmanager
def running(folder):
    """Starts a Slurm whose files lie in a folder, and stops it with all of its jobs.

    Yields:
        The node, once it is idle.
    """
    folder.mkdir(parents=True)
    for part in ("state", "spool"):
        (folder / part).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    config = CONFIG.format(
        host=host, folder=folder, cores=os.cpu_count(), memory=memory, ports=_free_ports(2)
    )
    node = Node(folder)
    FOLDER.mkdir(exist_ok=True)
    elsewhere = os.environ.pop("SLURM_CONF", None)  # which keeps other tests from asking for a daemon
    try:
        (FOLDER / "slurm.conf").write_text(config)
        (FOLDER / "gres.conf").write_text(f"NodeName={host} Name=gpu File=/dev/null\n")
        parts = ("key", "socket", "pid", "log", "seed")
        munge = [f"--{part}{'' if part == 'socket' else '-file'}={folder}/munge.{part}" for part in parts]
        node.start("munged", "--foreground", "--force", *munge)
        wait_until(lambda: (folder / "munge.socket").exists(), 30, "munged")
        node.start("slurmctld", "-D")
        node.start_slurmd()
        wait_until(node.is_idle, 60, "an idle node")
        yield node
    finally:
        subprocess.run(["scancel", "--user=root"], capture_output=True, timeout=30, check=False)
        for name in ("slurmd", "slurmctld", "munged"):
            if name in node.daemons:
                node.stop(name)
        for name in ("slurm.conf", "gres.conf"):
            (FOLDER / name).unlink(missing_ok=True)
        if elsewhere is not None:
            os.environ["SLURM_CONF"] = elsewhere


def wait_until(condition, seconds, what):
    """The condition's first true value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not after {seconds} s: {what}"
        time.sleep(0.2)
    return value


def _done(*command):
    subprocess.run(command, capture_output=True, check=True)


def _output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _path():
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
