"""Augmented views that trainings share. Methods, learning rates and projectors that are compared on the same
images, with the same recipe, seed and batch, see the same views: the first to need them renders them, and the
others read them.

Views lie in the cache in bytes, before normalisation, in blocks of steps, until their experiment is finished.
They are the bytes that are rendered otherwise, so no number depends on them.
"""

import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from reprise.datasets.augment import Pixels
from reprise.datasets.folders import Images
from reprise.notices import slower
from reprise.storage.disk import sha256, writing
from reprise.storage.records import key_of
from reprise.storage.store import VIEWS, cached
from reprise.storage.versions import code_and_versions
from reprise.training import processes
from reprise.training.batches import Rendering, ViewCache, at_each_step
from reprise.training.spec import Spec

FILE = "pixels.bin"
"""An entry's file: bytes [step, view, batch, channel, size, size]."""
BLOCK = 2**24
"""Bytes of an entry, at most, unless a step has more."""
LIMIT = 10**9
"""Bytes of a training's views, above which it renders its own at each step."""


def cached_views(root: Path, spec: Spec, images: Images, device: str) -> ViewCache:
    """Keeps the views of a training in one process on the CPU, with images in memory.

    An entry's key covers the images, the recipe, the seed, the batch, the steps, the code and the versions of
    the libraries that it uses. All blocks but the last have the same number of steps, so that a longer
    training uses those of a shorter one.

    Args:
        root: the checkout.
    """
    if not isinstance(images, Tensor) or torch.device(device).type != "cpu" or processes.count() > 1:
        return at_each_step
    shape = (2, spec.batch, *images.shape[1:])
    size = spec.steps * math.prod(shape)
    if size > LIMIT:
        slower(
            "views beyond the limit",
            f"the augmented views of a network's training take {size / 1e9:.2g} GB ({spec.steps} steps of "
            f"{spec.batch}), more than the {LIMIT / 1e9:g} GB that networks share, so each renders its own",
            "with fewer steps, a smaller batch or smaller images they are shared",
        )
        return at_each_step
    length = max(1, BLOCK // math.prod(shape))

    def keep(render: Rendering) -> Rendering:
        content = (
            sha256(images.contiguous().numpy().data),
            str(images.dtype),
            list(images.shape),
            spec.model_dump(mode="json", include={"augmentation", "seed", "batch"}),
            code_and_versions(("reprise.training.batches", "Batches"), (__name__, "_write")),
        )

        @lru_cache(1)
        def block(number: int) -> UInt8[Tensor, "step view batch channel size size"]:
            steps = range(number * length, min((number + 1) * length, spec.steps))
            what = f"views of steps {steps.start} to {steps.stop - 1}, batch {spec.batch}, seed {spec.seed}"
            key = key_of(*content, steps.start, steps.stop)
            with cached(root, VIEWS, key, what, lambda folder: _write(folder / FILE, render, steps)) as entry:
                # Read, not mapped into memory: on a network file system, a mapped file that another machine
                # removes ends the process.
                return torch.from_numpy(np.fromfile(entry.folder / FILE, np.uint8)).view(-1, *shape)

        def read(step: int) -> Pixels:
            number, place = divmod(step, length)
            return block(number)[place]

        return read

    return keep


def _write(file: Path, render: Rendering, steps: range) -> None:
    with writing(file), file.open("wb") as pixels:
        for step in steps:
            pixels.write(render(step).numpy().data)
