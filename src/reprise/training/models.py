"""Trained image models, kept: whoever needs one names its spec, and it is trained once.

A model is an entry of the cache (`storage.store`): `model.safetensors`, the method's whole state, and
`log.jsonl`, what each step said. Its key stands for all that determines the model (spec, data, code of the
training path) and for nothing else. Until it is complete, its resume state lies in the entry's draft.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from torch import Tensor

from reprise.errors import RepriseError
from reprise.storage import checkpoints
from reprise.storage.closure import Symbol, closure_hash
from reprise.storage.store import CACHE, Entry, kept, key_of, write
from reprise.study import losses
from reprise.training import methods, processes
from reprise.training.images import Data, Trained, assemble, train
from reprise.training.methods import Method
from reprise.training.spec import Spec

KIND = "models"
MODEL, LOG = "model.safetensors", "log.jsonl"


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
    return key_of(
        spec.model_dump(mode="json") | {"objective": spec.objective.rpartition(":")[2]},
        fingerprint(data),
        closure_hash(*code, extra=content),
        torch.device(device).type,
    )


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
    entry = Entry(root / CACHE / KIND / key)

    def train_now() -> Trained:
        return train(spec, data, entry.draft, device=device, save_every=save_every, progress=progress)

    def announce(hit: bool) -> None:
        print(f"{'HIT' if hit else 'MISS'} {key} {spec.objective}", file=sys.stderr, flush=True)
        processes.said_by_first(hit)

    def make(folder: Path) -> dict[str, Any]:
        announce(hit=False)
        outcome = train_now()
        write(folder / MODEL, checkpoints.pack(outcome.method.state_dict(), {}))
        write(folder / LOG, outcome.log)
        return {
            "spec": spec.model_dump(mode="json"),
            "channels": data.channels,
            "diverged": outcome.diverged,
            "device": torch.device(device).type,
        }

    if processes.rank() == 0:
        what = f"{spec.objective}, {spec.steps} steps, seed {spec.seed}"
        with kept(root, KIND, key, what, make) as place:
            if place.hit:
                announce(hit=True)
    elif not processes.said_by_first():
        train_now()
    processes.wait()
    return entry.folder


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
        try:
            record = Entry(folder).verified()
        except ValueError:
            raise RepriseError(f"{folder}: no whole model; train it again") from None
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
