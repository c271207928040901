"""Training an encoder, of images or of texts, to say which categories are present."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from reprise.numerics.streams import generator
from reprise.training.schedules import WarmupCosine


def train_on_presence(
    make: Callable[[], nn.Module],
    dim: int,
    inputs: Callable[[Int[Tensor, " batch"]], Any],
    present: Bool[Tensor, "sample category"],
    *,
    steps: int,
    batch: int,
    learning_rate: float,
    seed: int,
    progress: Callable[[float], None] = lambda share: None,
) -> nn.Module:
    """The encoder, frozen, after AdamW on the binary cross-entropy of a linear layer's scores.

    Args:
        make: builds it, with weights of torch's own generator.
        dim: of its output.
        inputs: from numbers of samples to what it takes.
        learning_rate: at its height; from 0 in a tenth of the steps, and then to 0 in a half cosine.
    """
    with torch.random.fork_rng():
        torch.manual_seed(generator(seed, "weights").initial_seed())
        encoder, scores = make(), nn.Linear(dim, present.shape[1])
    both = nn.ModuleList([encoder, scores]).train()
    optimiser = torch.optim.AdamW(both.parameters(), learning_rate)
    schedule, order = WarmupCosine(warmup=max(steps // 10, 1) / steps), generator(seed, "order")
    for step in range(steps):
        index = torch.randint(len(present), (batch,), generator=order)
        optimiser.param_groups[0]["lr"] = learning_rate * schedule(step, steps)
        loss = binary_cross_entropy_with_logits(scores(encoder(inputs(index))), present[index].float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 20 == 0:
            progress(step / steps)
    return encoder.eval().requires_grad_(False)
