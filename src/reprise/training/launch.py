"""Trains on all GPUs of this machine, one process per GPU where there are several, on behalf of a
single-process caller."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import torch

from reprise.errors import RepriseError
from reprise.storage.locks import locked
from reprise.storage.store import ASKER, asking
from reprise.training.image_settings import Source
from reprise.training.models import trained
from reprise.training.processes import joined
from reprise.training.spec import Spec


def train_on_all_gpus(spec: Spec, source: Source, root: Path) -> None:
    """Runs `models.trained`, which leaves the network in the cache: on the one visible GPU in this process,
    or by torchrun in one process per GPU. Only one of a user's trainings at a time uses a GPU; others wait.

    Args:
        root: the checkout.

    Raises:
        RepriseError: if this machine has no GPU, or a process fails; its message is on stderr.
    """
    if not torch.cuda.is_available():
        raise RepriseError(
            f"device 'cuda': no GPU can be used on {os.uname().nodename}; run this where there is one (on a "
            "cluster, the job must ask for it), or set `device: cpu` in the config"
        )
    data = source.load()
    gpus = [torch.cuda.get_device_properties(index).uuid for index in range(torch.cuda.device_count())]
    with ExitStack() as stack:
        for lock in sorted(map(gpu_lock, map(str, gpus))):  # in one order, so that no two wait for each other
            stack.enter_context(locked(lock))
        if len(gpus) > 1:
            launch(spec, source, root, device="cuda", processes="gpu")
        else:  # no other process, which would take seconds to start and to make the images again
            trained(spec, data, root, device="cuda")


def gpu_lock(uuid: str) -> Path:
    """The lock file of a GPU, on this machine: the checkout may lie on a disk that several machines share."""
    return Path(tempfile.gettempdir()) / f"reprise-{os.getuid()}-gpu-{uuid}.lock"


def launch(spec: Spec, source: Source, root: Path, *, device: str, processes: str) -> None:
    """Runs `models.trained` in a given number of processes; `gpu` starts one per GPU."""
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", processes)
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.json"
        job.write_text(json.dumps({"spec": spec.model_dump(mode="json"), "source": source.model_dump()}))
        arguments = (str(job), str(root), device, ASKER.get())
        result = subprocess.run([sys.executable, *torchrun, "-m", __spec__.name, *arguments], check=False)
    if result.returncode:
        raise RepriseError(
            f"training of {spec.objective} on {source.name} by torchrun ended with exit code "
            f"{result.returncode}; the log says why, and the same command resumes from the last checkpoint"
        )


def main(job: str, root: str, device: str, asker: str) -> None:
    """Entry point of each process."""
    content = json.loads(Path(job).read_text(encoding="utf-8"))
    spec = Spec.model_validate_json(json.dumps(content["spec"]))
    source = Source.model_validate(content["source"])
    with joined(device) as own_device, asking(asker):
        trained(spec, source.load(), Path(root), device=own_device)


if __name__ == "__main__":
    main(*sys.argv[1:])
