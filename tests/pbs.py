#!/usr/bin/env python3
"""A stand-in for PBS: `qsub`, `qstat` and `qdel`, by the name of the link to this file.

Jobs run at once, in the background. The folder in the variable PBS_STUB holds, of each, its options, its
process, whether it was asked for, and at last its exit code.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

COMMANDS = ("qsub", "qstat", "qdel")
FORGETFUL = "forgetful"
"""With this file in the folder, it knows nothing of jobs that have ended, as a PBS without history."""
CANCELLED = "271"
"""The exit code of a job that ended by SIGTERM."""
RUN = 'echo $$ >"$1.process"; sh "$2" >"$1.log" 2>&1; echo $? >"$1.draft"; mv "$1.draft" "$1.code"'


def install(folder):
    """Links the commands into a folder for PATH."""
    folder.mkdir(parents=True)
    for name in COMMANDS:
        (folder / name).symlink_to(Path(__file__).resolve())


def qsub(*words):
    """Starts a job where PBS does, which is not the folder of the caller."""
    number = len([*jobs.glob("*.options")]) + 1
    job = jobs / f"{number}.stub"
    Path(f"{job}.options").write_text(" ".join(words[:-1]))
    output = subprocess.DEVNULL
    subprocess.Popen(
        ("sh", "-c", RUN, "job", job, words[-1]),
        cwd="/",
        start_new_session=True,
        stdout=output,
        stderr=output,
    )
    print(job.name)


def qstat(option, id):
    """The two lines that tell whether and how a job has ended."""
    assert option == "-xf"
    (jobs / f"{id}.asked").touch()
    code = jobs / f"{id}.code"
    if code.exists() and (jobs / FORGETFUL).exists():
        sys.exit(f"qstat: Unknown Job Id {id}")
    print(f"Job Id: {id}")
    if code.exists():
        print(f"    job_state = F\n    Exit_status = {code.read_text().strip()}")
    else:
        print("    job_state = R")


def qdel(*ids):
    """Ends jobs with all their processes."""
    for id in ids:
        with suppress(ProcessLookupError):
            os.killpg(int((jobs / f"{id}.process").read_text()), signal.SIGTERM)
        (jobs / f"{id}.code").write_text(CANCELLED)


if __name__ == "__main__":
    jobs = Path(os.environ["PBS_STUB"])
    name = Path(sys.argv[0]).name
    {"qsub": qsub, "qstat": qstat, "qdel": qdel}[name](*sys.argv[1:])
