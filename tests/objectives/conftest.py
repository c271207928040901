"""Embeddings to try the losses on."""

import pytest
import torch


@pytest.fixture
def views():
    """Two views of the same samples, of dimensions of unequal spread about a mean that is not zero."""

    def draw(*shape, seed=0, dtype=torch.float64):
        generator = torch.Generator().manual_seed(seed)
        spread = torch.linspace(0.5, 2, shape[-1], dtype=torch.float64)
        clean, *noise = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(3))
        return [(0.4 + spread * (clean + 0.6 * n)).to(dtype) for n in noise]

    return draw
