"""Training on all GPUs of this machine, in a process each, for a caller that is one process."""

import subprocess
import sys
import tempfile
from pathlib import Path

from reprise.errors import RepriseError
from reprise.storage.store import locked
from reprise.training.models import FOLDER, Spec, data_set, trained
from reprise.training.processes import joined


def train_on_all_gpus(spec: Spec, name: str, data_root: str, root: Path) -> None:
    """`models.trained` by torchrun; the model is found by it afterwards. Of several processes that ask for
    the GPUs, the others wait.

    Args:
        name, data_root: of `models.data_set`.
        root: the checkout.

    Raises:
        RepriseError: when a process fails; what it said is on stderr.
    """
    with locked(root / FOLDER / ".gpus.lock"):
        launch(spec, name, data_root, root, device="cuda", processes="gpu")


def launch(spec: Spec, name: str, data_root: str, root: Path, *, device: str, processes: str) -> None:
    """The same in so many processes, of which `gpu` stands for one a GPU."""
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", processes)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spec.json"
        file.write_text(spec.model_dump_json())
        told = (str(file), name, data_root, str(root), device)
        done = subprocess.run([sys.executable, *torchrun, "-m", __spec__.name, *told], check=False)
    if done.returncode:
        raise RepriseError(
            f"training of {spec.objective} on {name} by torchrun ended with exit code {done.returncode}; "
            "the log says why, and the same command goes on from the last checkpoint"
        )


def main(file: str, name: str, data_root: str, root: str, device: str) -> None:
    """What each process does."""
    spec = Spec.model_validate_json(Path(file).read_text())
    with joined(device) as own:
        trained(spec, data_set(name, data_root), Path(root), device=own)


if __name__ == "__main__":
    main(*sys.argv[1:])
