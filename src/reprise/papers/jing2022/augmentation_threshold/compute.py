"""Trains W at every amplitude and seed at once, and measures what Theorem 1 speaks of."""

from collections.abc import Iterator

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise import objectives
from reprise.experiment import Context
from reprise.networks.dense import linear
from reprise.papers.jing2022.augmentation_threshold.params import Params
from reprise.papers.jing2022.theory import x_matrix
from reprise.streams import Streams, spread
from reprise.tidy import tidy
from reprise.training.replicas import Weights, sgd

X_SAMPLES = 32
"""Fresh minibatches over which X is averaged at a checkpoint."""

Views = tuple[Float[Tensor, "replica batch dim"], Float[Tensor, "replica batch dim"]]


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Singular values of W, and the block of W that sees the strong augmentation, over the steps."""
    runs = {"one": params.one_view, "both": params.both_views}
    results = [_run(params, context, views, amplitudes) for views, amplitudes in runs.items()]
    return {name: pd.concat([r[name] for r in results], ignore_index=True) for name in results[0]}


def _run(params: Params, context: Context, views: str, amplitudes: tuple[float, ...]) -> dict[str, pd.DataFrame]:
    seeds, strong = range(params.seeds), params.dim // 2
    loss_of = objectives.resolve(params.objective)
    draw = {"one": one_view_augmented, "both": both_views_augmented}[views]
    noise_std = torch.full((len(amplitudes), params.dim), params.weak_variance)
    noise_std[:, strong:] = torch.tensor(amplitudes)[:, None]
    noise_std = noise_std.sqrt().repeat(params.seeds, 1)[:, None, :]

    def sampler(purpose: str) -> Iterator[Views]:
        for normal in Streams(seeds, purpose).batches(3, params.batch_size, params.dim):
            yield draw(spread(normal, len(amplitudes)), params.input_variance**0.5, noise_std)

    start = params.init_std * Streams(seeds, "init").normal(params.dim, params.dim)
    batches, probes = sampler("train"), sampler("probe")

    def loss(weights: Weights) -> Tensor:
        return loss_of(*(linear(weights, x) for x in next(batches)))

    checkpoints = checkpoints_of(params.steps)
    singular_values, norms, growth = [], [], []
    for _, (w,) in sgd(
        [spread(start, len(amplitudes))],
        loss,
        learning_rate=params.learning_rate,
        steps=params.steps,
        checkpoints=checkpoints,
        progress=lambda step: context.progress(step, params.steps, f"{views} view(s) augmented"),
    ):
        x = mean_x(w, probes)
        if not singular_values:
            x_start, w_start = x.double(), w.double()
        singular_values.append(torch.linalg.svdvals(w))
        norms.append(torch.linalg.matrix_norm(w[..., strong:], 2))
        growth.append(x.diagonal(dim1=-2, dim2=-1)[:, strong:].mean(-1))

    # Theorem 1's solution for the X of the first step, on the block of inputs with the strong augmentation.
    time = [params.learning_rate * step for step in checkpoints]
    fixed = [(w_start @ torch.matrix_exp(x_start * t))[..., strong:] for t in time]
    predicted = [torch.linalg.matrix_norm(block, 2) for block in fixed]

    shape = (len(checkpoints), params.seeds, len(amplitudes))
    axes = {"step": checkpoints, "seed": seeds, "amplitude": amplitudes}
    return {
        "singular_values": tidy(
            {**axes, "index": range(1, params.dim + 1)},
            singular_value=torch.stack(singular_values).view(*shape, params.dim),
        ).assign(views=views),
        "strong_block": tidy(
            axes,
            norm=torch.stack(norms).view(shape),
            norm_if_x_fixed=torch.stack(predicted).view(shape),
            growth_rate=torch.stack(growth).view(shape),
        ).assign(views=views),
    }


def checkpoints_of(steps: int) -> list[int]:
    """Sixteen steps from the first to the last, denser at the start."""
    return sorted({round(steps * (k / 15) ** 2) for k in range(16)})


def one_view_augmented(
    normal: Float[Tensor, "replica 3 batch dim"], input_std: float, noise_std: Float[Tensor, "replica 1 dim"]
) -> Views:
    """x clean, x' = x + noise."""
    x = input_std * normal[:, 0]
    return x, torch.addcmul(x, normal[:, 1], noise_std)


def both_views_augmented(
    normal: Float[Tensor, "replica 3 batch dim"], input_std: float, noise_std: Float[Tensor, "replica 1 dim"]
) -> Views:
    """Independent noise on both views of x."""
    x = input_std * normal[:, 0]
    return torch.addcmul(x, normal[:, 1], noise_std), torch.addcmul(x, normal[:, 2], noise_std)


def mean_x(w: Tensor, samples: Iterator[Views]) -> Float[Tensor, "replica dim dim"]:
    """X of Lemma 2, averaged over fresh minibatches."""
    total = torch.zeros_like(w)
    for _ in range(X_SAMPLES):
        x1, x2 = next(samples)
        total += x_matrix(x1, x2, linear([w], x1), linear([w], x2))
    return total / X_SAMPLES


