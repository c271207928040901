"""Training on all GPUs of this machine, in a process each, for a caller that is one process."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from reprise.errors import RepriseError
from reprise.storage.store import ASKER, CACHE, asking, locked
from reprise.training.image_settings import Source
from reprise.training.models import trained
from reprise.training.processes import joined
from reprise.training.spec import Spec


def train_on_all_gpus(spec: Spec, source: Source, root: Path) -> None:
    """`models.trained` in a process on each GPU of this machine, by torchrun; the network is then among those
    that are kept. Of several callers one has the GPUs, and the others wait.

    Args:
        root: the checkout.

    Raises:
        RepriseError: when a process fails; its message is on stderr.
    """
    with locked(root / CACHE / ".gpus.lock"):
        launch(spec, source, root, device="cuda", processes="gpu")


def launch(spec: Spec, source: Source, root: Path, *, device: str, processes: str) -> None:
    """The same in a given number of processes; `gpu` stands for one on each GPU."""
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", processes)
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.json"
        job.write_text(json.dumps({"spec": spec.model_dump(mode="json"), "source": source.model_dump()}))
        arguments = (str(job), str(root), device, ASKER.get())
        done = subprocess.run([sys.executable, *torchrun, "-m", __spec__.name, *arguments], check=False)
    if done.returncode:
        raise RepriseError(
            f"training of {spec.objective} on {source.name} by torchrun ended with exit code "
            f"{done.returncode}; the log says why, and the same command goes on from the last checkpoint"
        )


def main(job: str, root: str, device: str, asker: str) -> None:
    """The work of each process."""
    content = json.loads(Path(job).read_text())
    spec = Spec.model_validate_json(json.dumps(content["spec"]))
    source = Source.model_validate(content["source"])
    with joined(device) as own, asking(asker):
        trained(spec, source.load(), Path(root), device=own)


if __name__ == "__main__":
    main(*sys.argv[1:])
