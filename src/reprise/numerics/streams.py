"""Random numbers that depend on a seed and a purpose only, whatever else runs at the same time: the one place
where streams of them begin. Those of NumPy need no torch."""

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from jaxtyping import Float, Int
    from torch import Tensor


def stream(seed: int, purpose: str | int) -> np.random.Generator:
    """NumPy's generator at the start of the stream of a seed and a purpose: its name, or its number among the
    purposes of the seed."""
    number = zlib.crc32(purpose.encode()) if isinstance(purpose, str) else purpose
    return np.random.default_rng([seed, number])


class Streams:
    """One stream of torch's random numbers per seed, which does not depend on the other seeds."""

    BLOCK = 8
    """Minibatches drawn per call of the generator."""

    def __init__(self, seeds: Sequence[int], purpose: str) -> None:
        self._generators = [generator(seed, purpose) for seed in seeds]

    def normal(self, *shape: int) -> 'Float[Tensor, "seed *shape"]':
        """Draws standard normal numbers from each stream."""
        import torch

        numbers = torch.empty(len(self._generators), *shape)
        for row, generator in zip(numbers, self._generators, strict=True):
            row.normal_(generator=generator)
        return numbers

    def uniform(self, *shape: int) -> 'Float[Tensor, "seed *shape"]':
        """Draws numbers uniform in [0, 1) from each stream."""
        import torch

        return torch.stack([torch.rand(shape, generator=generator) for generator in self._generators])

    def integers(self, below: int, *shape: int) -> 'Int[Tensor, "seed *shape"]':
        """Draws integers uniform in [0, below) from each stream."""
        import torch

        return torch.stack(
            [torch.randint(below, shape, generator=generator) for generator in self._generators]
        )

    def batches(self, *shape: int) -> 'Iterator[Float[Tensor, "seed *shape"]]':
        """Yields standard normal minibatches forever."""
        while True:
            yield from self.normal(self.BLOCK, *shape).unbind(1)


def spread(by_seed: 'Float[Tensor, "seed *shape"]', settings: int) -> 'Float[Tensor, "replica *shape"]':
    """Repeats each seed's numbers for all of its settings: replica = seed * settings + setting."""
    return by_seed.repeat_interleave(settings, 0)


def generator(seed: int, purpose: str, device: "str | torch.device" = "cpu") -> "torch.Generator":
    """Torch's generator at the start of the stream of a seed and a purpose."""
    import torch

    return torch.Generator(device).manual_seed(_key(seed, purpose))


def _key(seed: int, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{purpose}/{seed}".encode()).digest()[:7], "big")
