"""Trained image models, kept: whoever needs one names its spec, and it is trained once.

A model lies in `results/models/KEY/`: `model.safetensors` (the method's whole state), `log.jsonl` (what each
step said) and `record.json`. KEY is a hash of all that determines the model (spec, data, code of the training
path) and of nothing else. Until it is complete, its resume state lies in the hidden `results/models/.KEY/`.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from torch import Tensor

from reprise.errors import RepriseError
from reprise.storage import checkpoints
from reprise.storage.closure import Symbol, closure_hash
from reprise.storage.kept import VERSIONS
from reprise.storage.store import locked, seal, unseal, writing
from reprise.study import losses
from reprise.training import methods, processes
from reprise.training.images import Data, assemble, train
from reprise.training.methods import Method
from reprise.training.spec import Spec

FOLDER = Path("results") / "models"
MODEL, LOG, RECORD = "model.safetensors", "log.jsonl", "record.json"


def model_key(spec: Spec, data: Data, device: str = "cpu") -> str:
    """32 hexadecimal digits over all that determines a model: the spec, the data's content, the code, the
    versions of torch and torchvision, and the kind of device.

    Of a user's loss its file counts with the modules beside it that it imports and what they use of ours, not
    where it lies. How many processes share the work, and where the results lie, does not count.

    Raises:
        RepriseError: for an unknown objective, or a user's that is not there.
    """
    code, content = list(_code(spec)), b""
    if ":" in spec.objective:
        loss = losses.foreign(spec.objective)
        code += loss.symbols
        content = loss.content
    what = {
        "spec": spec.model_dump(mode="json") | {"objective": spec.objective.rpartition(":")[2]},
        "data": fingerprint(data),
        "code": closure_hash(*code, extra=content),
        "versions": VERSIONS,
        "device": torch.device(device).type,
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def trained(
    spec: Spec,
    data: Data,
    root: Path,
    *,
    device: str = "cpu",
    save_every: float = 60.0,
    progress: Callable[[int], None] = lambda step: None,
) -> Path:
    """The folder of a model: that which lies there (HIT), or one that is trained now (MISS); which of the two
    is printed on stderr with its key.

    Of several processes that ask for one model at once, one trains it and the others wait.

    Args:
        root: the checkout.
        device, save_every, progress: of `train`.

    Raises:
        RepriseError: of the training, and when the folder cannot be written.
    """
    key = model_key(spec, data, device)
    folder, draft = root / FOLDER / key, root / FOLDER / f".{key}"
    with _lock(root / FOLDER / f".{key}.lock"):
        hit = _is_whole(folder)
        if processes.rank() == 0:
            print(f"{'HIT' if hit else 'MISS'} {key} {spec.objective}", file=sys.stderr, flush=True)
        processes.wait()
        if hit:
            return folder
        outcome = train(spec, data, draft, device=device, save_every=save_every, progress=progress)
        if processes.rank() == 0:
            contents = {
                MODEL: checkpoints.pack(outcome.method.state_dict(), {}),
                LOG: outcome.log,
            }
            record = {
                "spec": spec.model_dump(mode="json"),
                "channels": data.channels,
                "diverged": outcome.diverged,
                "versions": VERSIONS,
                "device": torch.device(device).type,
                "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
            }
            contents[RECORD] = seal(record).encode()
            with writing(folder):
                _put(folder, draft, contents)
        processes.wait()
    return folder


class Model:
    """A trained model, read back.

    Attributes:
        method: with its final state, in evaluation mode; `method.student` has `encoder` and `projector`.
        log: what each step said: `step`, `loss`, `learning_rate`, and now and then a trace or a probe.
        diverged: the step at which its loss was not finite, if there was one.
    """

    def __init__(self, spec: Spec, folder: Path) -> None:
        """
        Args:
            spec: that it was trained with.
            folder: from `trained`.

        Raises:
            RepriseError: when a file is missing, truncated or altered.
        """
        if not _is_whole(folder):
            raise RepriseError(f"{folder}: no whole model; train it again")
        record = unseal((folder / RECORD).read_text())
        self.method: Method = assemble(spec, record["channels"])
        self.method.load_state_dict(checkpoints.unpack((folder / MODEL).read_bytes())[0])
        self.method.eval()
        self.log: list[dict[str, Any]] = [json.loads(line) for line in (folder / LOG).open()]
        self.diverged: int | None = record["diverged"]


def model(
    spec: Spec,
    data: Data,
    root: Path,
    told: Callable[[float], None] = lambda share: None,
    *,
    device: str = "cpu",
) -> Model:
    """A trained model, of `trained`.

    Args:
        told: called now and then with the share of the training that is done.
    """
    folder = trained(spec, data, root, device=device, progress=lambda step: told(step / max(spec.steps, 1)))
    return Model(spec, folder)


def fingerprint(data: Data) -> str:
    """SHA-256 of the images and labels; of images on the disk, of what their `fingerprint()` says."""
    digest = hashlib.sha256()
    for part in data:
        if isinstance(part, Tensor):
            digest.update(f"{part.dtype} {list(part.shape)}".encode())
            digest.update(part.contiguous().cpu().numpy().data)
        else:
            digest.update(part.fingerprint().encode())  # type: ignore[union-attr]
    return digest.hexdigest()


def _code(spec: Spec) -> Iterator[Symbol]:
    """Where the code lies that makes a model of this spec: the loop, and what the spec chooses."""
    yield "reprise.training.images", "train"
    for _, value in spec:
        if isinstance(value, BaseModel):
            yield type(value).__module__, type(value).__name__
    objective = methods.find(spec.objective)
    if isinstance(objective, type):
        yield objective.__module__, objective.__name__
    elif ":" not in spec.objective:
        yield "reprise.objectives", spec.objective


def _is_whole(folder: Path) -> bool:
    """Whether a model lies there; one that is truncated or altered is reported."""
    if not folder.is_dir():
        return False
    try:
        sums = unseal((folder / RECORD).read_text())["sha256"]
        if sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (MODEL, LOG)}:
            return True
    except (OSError, ValueError):
        pass
    print(f"{folder}: truncated or altered; trained again", file=sys.stderr, flush=True)
    return False


def _put(folder: Path, draft: Path, contents: dict[str, bytes]) -> None:
    """A complete folder under its name, and the resume state away."""
    ready = draft / "ready"
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir(parents=True)
    for name, content in contents.items():
        checkpoints.write(ready / name, content)
    shutil.rmtree(folder, ignore_errors=True)  # a damaged one
    os.rename(ready, folder)
    shutil.rmtree(draft)


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    """Held by the first process of a training."""
    if processes.rank():
        processes.wait()
        yield
        return
    with locked(file):
        processes.wait()
        yield
