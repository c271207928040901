"""Trained image models, cached: callers ask for a spec, and each model is trained once.

A model is an entry of the cache (`storage.store`): `model.safetensors`, the method's whole state, and
`log.jsonl`, the record of each step. Its key covers everything that determines the model (spec, data, code of
the training path) and nothing else. During training, checkpoints lie in the entry's draft.
"""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reprise.datasets.reading import workers
from reprise.errors import RepriseError
from reprise.notices import slower
from reprise.storage import checkpoints
from reprise.storage.disk import write
from reprise.storage.records import key_of
from reprise.storage.store import CACHE, MODELS, Entry, cached
from reprise.training import processes
from reprise.training.costs import CORES_PER_GPU
from reprise.training.identity import code_hash, users_loss, versions_used
from reprise.training.images import Data, Trained, assemble, train
from reprise.training.methods import Method
from reprise.training.precision import say_what_processor_lacks
from reprise.training.spec import Spec
from reprise.training.view_cache import cached_views

MODEL, LOG = "model.safetensors", "log.jsonl"


def model_key(spec: Spec, data: Data, device: str = "cpu") -> str:
    """32 hexadecimal digits over everything that determines a model: the spec, the data's content, the code,
    the versions of the libraries that it uses, and the kind of device.

    For a user's loss, the content of its file counts, with the local modules it imports, what they use of the
    package and of libraries, and the files that it was seen to read, but not its path. The number of
    processes and the folder of the results do not count.

    Raises:
        RepriseError: for an unknown objective, or a user's file that is missing.
    """
    described = spec.model_dump(mode="json", exclude={"checkpoint_blocks"})
    if name := users_loss(spec):
        described["objective"] = name.rpartition(":")[2]
    return key_of(
        described,
        fingerprint(data),
        code_hash(spec),
        versions_used(spec),
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
    """The folder of a model, read from the cache (HIT) or trained now (MISS); prints which on stderr, with
    the key and, for an interrupted training, the step from which it goes on.

    If several processes ask for the same model at once, one trains it and the others wait.

    Args:
        root: the checkout.
        device, save_every, progress: as in `train`.

    Raises:
        RepriseError: if the training fails or the folder cannot be written.
    """
    # Once for all processes, because a fingerprint asks for the size of every file.
    key = processes.said_by_first(model_key(spec, data, device) if processes.rank() == 0 else "")
    entry = Entry(root / CACHE / MODELS / key)

    def train_now() -> Trained:
        keep = cached_views(root, spec, data.images, device)
        return train(
            spec, data, entry.draft, device=device, save_every=save_every, progress=progress, keep=keep
        )

    def announce(hit: bool) -> None:
        step = 0 if hit else checkpoints.newest_step(entry.draft)
        resumes = f", from step {step} of {spec.steps}" if step else ""
        print(f"{'HIT' if hit else 'MISS'} {key} {spec.objective}{resumes}", file=sys.stderr, flush=True)
        processes.said_by_first(hit)

    def make(folder: Path) -> dict[str, Any]:
        announce(hit=False)
        left = max(spec.steps - checkpoints.newest_step(entry.draft), 1)
        _say_what_slows(data, device)
        outcome = train_now()
        write(folder / MODEL, checkpoints.pack(outcome.method.state_dict(), {}))
        write(folder / LOG, outcome.log)
        return {
            "spec": spec.model_dump(mode="json"),
            "channels": data.channels,
            "code": code_hash(spec),
            "versions": versions_used(spec),
            "diverged": outcome.diverged,
            "share": left / max(spec.steps, 1),  # of the training, to which the record's seconds apply
            "device": torch.device(device).type,
        }

    if processes.rank() == 0:
        what = f"{spec.objective}, {spec.steps} steps, seed {spec.seed}"
        with cached(root, MODELS, key, what, make) as found:
            if found.hit:
                announce(hit=True)
    elif not processes.said_by_first(False):
        train_now()
    processes.wait()
    return entry.folder


def _say_what_slows(data: Data, device: str) -> None:
    if torch.device(device).type == "cpu":
        say_what_processor_lacks()
    elif not isinstance(data.images, Tensor) and (cores := workers()) < CORES_PER_GPU:
        slower(
            "few cores",
            f"{cores} cores decode images for a GPU that can take those of {CORES_PER_GPU}, and so may wait",
            f"give the job {CORES_PER_GPU} cores a GPU",
        )


class Model:
    """A trained model, loaded from its folder.

    Attributes:
        method: in its final state and in evaluation mode; `method.student` has `encoder` and `projector`.
        log: the record of each step: `step`, `loss`, `learning_rate`, at some steps also a trace or a probe.
        diverged: the step at which the loss was first not finite, or None.
    """

    def __init__(self, spec: Spec, folder: Path) -> None:
        """
        Args:
            spec: the one it was trained with.
            folder: from `trained`.

        Raises:
            RepriseError: if a file is missing, truncated or altered.
        """
        try:
            record = Entry(folder).verified()
        except ValueError:
            raise RepriseError(f"{folder}: no whole model; train it again") from None
        self.method: Method = assemble(spec, record["channels"])
        self.method.load_state_dict(checkpoints.unpack((folder / MODEL).read_bytes())[0])
        self.method.eval()
        self.log: list[dict[str, Any]] = [json.loads(line) for line in (folder / LOG).open("rb")]
        self.diverged: int | None = record["diverged"]


def model(
    spec: Spec,
    data: Data,
    root: Path,
    progress: Callable[[float], None] = lambda share: None,
    *,
    device: str = "cpu",
) -> Model:
    """Loads a model, training it first unless it is cached.

    Args:
        progress: called every few steps with the fraction of the training done.
    """
    steps = max(spec.steps, 1)
    folder = trained(spec, data, root, device=device, progress=lambda step: progress(step / steps))
    return Model(spec, folder)


def fingerprint(data: Data) -> str:
    """SHA-256 of the images and labels; images on disk contribute their own `fingerprint()`."""
    digest = hashlib.sha256()
    for content in data:
        if isinstance(content, Tensor):
            digest.update(f"{content.dtype} {list(content.shape)}".encode())
            digest.update(content.contiguous().cpu().numpy().data)
        else:
            digest.update(content.fingerprint().encode())  # type: ignore[union-attr]
    return digest.hexdigest()
