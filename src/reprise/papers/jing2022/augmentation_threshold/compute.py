"""Trains W at every amplitude and seed at once, beside Theorem 1's solution, and by the authors' code."""

import math
from collections.abc import Iterator

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.contract.tidy import Axes, tidy
from reprise.networks.dense import Weights
from reprise.numerics.streams import Streams, spread
from reprise.objectives import infonce_distance, infonce_dot, resolve
from reprise.papers.jing2022.augmentation_threshold.experiment import (
    CODE_INPUTS,
    CODE_RATE,
    CODE_TEMPERATURE,
    PROGRAM,
    Params,
)
from reprise.papers.jing2022.theory import x_matrix
from reprise.training.replicas import sgd

X_SAMPLES = 8
"""Number of fresh minibatches over which X is averaged."""

Views = Float[Tensor, "view replica batch dim"]


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Singular values of W, and the block of W with the strong augmentation, over the steps; with another
    loss than InfoNCE there is no X, and what follows from it is NaN."""
    seeds, dim, strong = params.seed_range(params.seeds), params.dim, params.dim // 2
    cells = [("one", k) for k in params.one_view] + [("both", k) for k in params.both_views]
    loss_of = resolve(context.objective) if context.objective else infonce_distance
    noise_std = torch.stack([noise_std_of(params, views, amplitude) for views, amplitude in cells], 1)

    def sampler(purpose: str) -> Iterator[Views]:
        """Yields x + noise for both views; all cells of a seed share their normal numbers."""
        for normal in Streams(seeds, purpose).batches(3, params.batch_size, dim):
            x = params.input_variance**0.5 * normal[:, 0]
            noise = normal[:, 1:].transpose(0, 1)[:, :, None]
            yield torch.addcmul(x[:, None], noise, noise_std[:, None, :, None]).flatten(1, 2)

    start = spread(params.init_std * Streams(seeds, "init").normal(dim, dim), len(cells))
    batches, probes = sampler("train"), sampler("probe")

    def loss(weights: Weights) -> Tensor:
        (w,) = weights
        return loss_of(*(x @ w.mT for x in next(batches)))

    checkpoints = checkpoints_of(params.steps)
    singular_values, norms = [], []
    for _, (w,) in sgd(
        [start],
        loss,
        learning_rate=params.learning_rate,
        steps=params.steps,
        checkpoints=checkpoints,
        progress=lambda step: context.progress(
            step, params.steps, f"{len(cells) * params.seeds} linear layers"
        ),
    ):
        singular_values.append(torch.linalg.svdvals(w))
        norms.append(torch.linalg.matrix_norm(beyond_weak(w), 2))

    time = [params.learning_rate * step for step in checkpoints]
    if context.objective:
        predicted = [torch.full(start.shape[:1], torch.nan).double() for _ in time]
    else:
        x = mean_x(start, probes).double()[..., strong:, strong:]
        predicted = [log10_norm_if_x_fixed(beyond_weak(start.double()), x, t) for t in time]
    axes: Axes = {"step": checkpoints, "seed": seeds, "cell": cells}
    shape = tuple(map(len, axes.values()))
    tables = {
        "singular_values": tidy(
            {**axes, "index": range(1, dim + 1)},
            singular_value=torch.stack(singular_values).view(*shape, dim),
        ),
        "strong_block": tidy(
            axes,
            norm=torch.stack(norms).view(shape),
            log10_norm_if_x_fixed=torch.stack(predicted).view(shape),
        ),
    }
    tables = {
        name: table.assign(views=table["cell"].str[0], amplitude=table["cell"].str[1]).drop(columns="cell")
        for name, table in tables.items()
    }
    if not context.objective:
        programs = [authors_code(params, noise, context) for noise in params.code_noise]
        tables["singular_values"] = pd.concat([tables["singular_values"], *programs], ignore_index=True)
    return tables


def authors_code(params: Params, noise: float, context: Context) -> pd.DataFrame:
    """Singular values of W over the steps of the authors' own program: InfoNCE on dot products, a layer with
    a bias, and minibatches of a fixed set of inputs, with noise on the last half of either view."""
    seeds, dim = params.seed_range(params.seeds), params.dim
    inputs, picks = Streams(seeds, "code inputs").normal(CODE_INPUTS, dim), Streams(seeds, "code picks")
    noises = Streams(seeds, "code noise").batches(2, params.batch_size, dim)
    std = noise * (torch.arange(dim) >= dim // 2)
    start = dim**-0.5 * (2 * Streams(seeds, "code init").uniform(dim + 1, dim) - 1)

    def loss(weights: Weights) -> Tensor:
        w, bias = weights
        chosen = picks.uniform(CODE_INPUTS).topk(params.batch_size).indices
        x = inputs.take_along_dim(chosen[..., None], 1)
        views = (x + std * each for each in next(noises).unbind(1))
        return infonce_dot(*(view @ w.mT + bias for view in views), temperature=CODE_TEMPERATURE)

    checkpoints = checkpoints_of(params.steps)
    values = [
        torch.linalg.svdvals(w)
        for _, (w, _) in sgd(
            [start[:, :dim], start[:, dim:]],
            loss,
            learning_rate=CODE_RATE,
            steps=params.steps,
            checkpoints=checkpoints,
            progress=lambda step: context.progress(step, params.steps, f"{params.seeds} of {PROGRAM}"),
        )
    ]
    axes: Axes = {"step": checkpoints, "seed": seeds, "index": range(1, dim + 1)}
    return tidy(axes, singular_value=torch.stack(values)).assign(views=PROGRAM, amplitude=noise**2)


def checkpoints_of(steps: int) -> list[int]:
    """Sixteen steps from the first to the last, denser at the start."""
    return sorted({round(steps * (k / 15) ** 2) for k in range(16)})


def noise_std_of(params: Params, views: str, amplitude: float) -> Float[Tensor, "view dim"]:
    """Standard deviation of each view's noise: weak on the first half of the inputs, strong on the rest; 0
    for a clean view."""
    half = params.dim // 2
    noisy = torch.tensor([params.weak_variance] * half + [amplitude] * half).sqrt()
    return torch.stack([{"one": torch.zeros_like(noisy), "both": noisy}[views], noisy])


def beyond_weak(w: Float[Tensor, "replica dim in"]) -> Float[Tensor, "replica dim half"]:
    """The part of W's strongly augmented columns outside the span of the weakly augmented ones: the
    dimensions that they add.

    Inside that span, sampling noise couples them to the large columns, which says nothing about collapse.
    """
    weak, strong = w.chunk(2, -1)
    q = torch.linalg.qr(weak).Q
    return strong - q @ (q.mT @ strong)


def log10_norm_if_x_fixed(
    w: Float[Tensor, "replica dim block"], x: Float[Tensor, "replica block block"], time: float
) -> Float[Tensor, " replica"]:
    """Log10 of the spectral norm of W(0) exp(X t), Theorem 1's solution, on a block that X does not mix with
    others."""
    rates, u = torch.linalg.eigh(x)
    largest = rates[..., -1:]
    scaled = w @ (u * torch.exp((rates - largest) * time)[..., None, :])
    return torch.linalg.matrix_norm(scaled, 2).log10() + largest[..., 0] * time / math.log(10)


def mean_x(w: Tensor, samples: Iterator[Views]) -> Float[Tensor, "replica dim dim"]:
    """X of Lemma 2, averaged over fresh minibatches; a few replicas at a time, which stay in cache."""
    total = torch.zeros_like(w)
    for _ in range(X_SAMPLES):
        x1, x2 = next(samples)
        parts = zip(*(views.split(8) for views in (x1, x2, x1 @ w.mT, x2 @ w.mT)), strict=True)
        total += torch.cat([x_matrix(*part) for part in parts])
    return total / X_SAMPLES
