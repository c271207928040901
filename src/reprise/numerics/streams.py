"""Random numbers that depend on a seed and a purpose, and on nothing else that runs beside them."""

import hashlib
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Streams:
    """One stream of random numbers a seed; the same seed and purpose give the same numbers in any company."""

    BLOCK = 8
    """Minibatches drawn at a time."""

    def __init__(self, seeds: Sequence[int], purpose: str) -> None:
        self._generators = [torch.Generator().manual_seed(_key(seed, purpose)) for seed in seeds]

    def normal(self, *shape: int) -> Float[Tensor, "seed *shape"]:
        """Standard normal numbers, the next ones of each stream."""
        numbers = torch.empty(len(self._generators), *shape)
        for row, generator in zip(numbers, self._generators, strict=True):
            row.normal_(generator=generator)
        return numbers

    def uniform(self, *shape: int) -> Float[Tensor, "seed *shape"]:
        """Numbers uniform in [0, 1), the next ones of each stream."""
        return torch.stack([torch.rand(shape, generator=generator) for generator in self._generators])

    def integers(self, below: int, *shape: int) -> Int[Tensor, "seed *shape"]:
        """Whole numbers uniform in [0, below), the next ones of each stream."""
        return torch.stack(
            [torch.randint(below, shape, generator=generator) for generator in self._generators]
        )

    def batches(self, *shape: int) -> Iterator[Float[Tensor, "seed *shape"]]:
        """Standard normal minibatches without end."""
        while True:
            yield from self.normal(self.BLOCK, *shape).unbind(1)


def spread(by_seed: Float[Tensor, "seed *shape"], settings: int) -> Float[Tensor, "replica *shape"]:
    """The same numbers for every setting of a seed: replica = seed * settings + setting, paired by seed."""
    return by_seed.repeat_interleave(settings, 0)


def generator(seed: int, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
    """A generator at the beginning of the stream of a seed and a purpose."""
    return torch.Generator(device).manual_seed(_key(seed, purpose))


def _key(seed: int, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{purpose}/{seed}".encode()).digest()[:7], "big")
