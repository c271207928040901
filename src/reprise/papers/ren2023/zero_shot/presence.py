"""Trains an encoder of images or texts to recognise which categories are present."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from reprise.numerics.streams import generator
from reprise.training.descent import AdamW
from reprise.training.precision import arithmetic
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
    precision: torch.dtype = torch.float32,
) -> nn.Module:
    """Trains an encoder by AdamW on the binary cross-entropy of a linear layer's scores, and freezes it.

    Args:
        make: builds the encoder, with weights from torch's global generator.
        dim: dimension of the encoder's output.
        inputs: maps sample indices to the encoder's input.
        present: labels, the categories present in each sample.
        learning_rate: peak value, after a linear warm-up over a tenth of the steps and before a cosine decay
            to 0.
        precision: of the encoder's products in training; float32, or bfloat16, which takes two thirds of the
            time on a core that has it.
    """
    with torch.random.fork_rng():
        torch.manual_seed(generator(seed, "weights").initial_seed())
        encoder, scores = make(), nn.Linear(dim, present.shape[1])
    modules = nn.ModuleList([encoder, scores]).train()
    optimiser = AdamW(modules.parameters(), learning_rate)
    schedule, order = WarmupCosine(warmup=max(steps // 10, 1) / max(steps, 1)), generator(seed, "order")
    for step in range(steps):
        index = torch.randint(len(present), (batch,), generator=order)
        optimiser.param_groups[0]["lr"] = learning_rate * schedule(step, steps)
        batch_inputs = inputs(index)
        with arithmetic("cpu", precision):
            encoded = encoder(batch_inputs)
        loss = binary_cross_entropy_with_logits(scores(encoded.float()), present[index].float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 20 == 0:
            progress(step / steps)
    return encoder.eval().requires_grad_(False)
