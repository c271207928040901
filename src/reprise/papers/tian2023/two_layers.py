"""Training of the two-layer network on token sequences (Section 5 and Appendix E.2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from reprise.diagnostics.matching import captured_tokens, complete_fields, matching_score, token_matches
from reprise.networks.activations import ACTIVATIONS
from reprise.networks.dense import Weights, default_init
from reprise.numerics.streams import Streams
from reprise.objectives import infonce_cosine, quadratic_cosine, resolve
from reprise.papers.tian2023.matmul import matmul
from reprise.papers.tian2023.receptive_fields import batch_norm, sum_over_fields
from reprise.papers.tian2023.sequences import Arm, Cell, TokenSequences
from reprise.papers.tian2023.token_sequences import Minibatch, Pool, draw_pool, minibatches
from reprise.training.replicas import sgd

PUBLISHED = {"infonce_cosine": infonce_cosine, "quadratic_cosine": quadratic_cosine}
"""The losses of the author's code."""


@dataclass(frozen=True)
class Trained:
    """Filters after training, and `scores` of them."""

    filters: Float[Tensor, "arm seed field token unit"]
    scores: dict[str, Float[Tensor, "arm seed"]]
    pool: Pool


def train(
    params: TokenSequences,
    cell: Cell,
    arms: Sequence[Arm],
    seeds: Sequence[int],
    progress: Callable[[float], None] = lambda share: None,
) -> Trained:
    """Trains every arm on every seed's pool, data and initial weights, all at once."""
    pool = draw_pool(
        seeds,
        generators=params.generators,
        fields=params.fields,
        tokens=params.tokens,
        candidates=cell.candidates,
        filled=params.filled,
    )
    data = minibatches(pool, seeds, params.batch_size)
    network = Network(params, cell, arms)
    names, counts = runs([arm.objective for arm in arms])
    losses = [_loss_of_views(name, params.temperature) for name in names]
    replicas = [n * len(seeds) for n in counts]

    def loss(weights: Weights) -> Tensor:
        views = network(weights, next(data)).flatten(1, 2)
        return piecewise(losses, views, replicas, dim=1)

    *_, (_, (filters, _)) = sgd(
        network.initial(seeds),
        loss,
        learning_rate=params.learning_rate,
        momentum=params.momentum,
        weight_decay=params.weight_decay,
        steps=params.steps,
        checkpoints={params.steps},
        progress=lambda step: progress(step / params.steps),
    )
    return Trained(filters, scores(filters, pool.relevant), pool)


def scores(
    filters: Float[Tensor, "arm seed field token unit"], relevant: Bool[Tensor, "seed field token"]
) -> dict[str, Float[Tensor, "arm seed"]]:
    """How well filters match the tokens that the generators use (`relevant`) and the others, which are noise.

    By cos, as in Eqs. 16, 180 and 181: the matching scores `chi_plus` and `chi_minus`, and the numbers of
    relevant tokens that no filter captures (`missed`), of noise tokens that one does (`noise`), and of fields
    that miss none (`complete`). By |cos|, which the author's code takes for linear filters: the same as
    `absolute_NAME`.
    """
    table: dict[str, Tensor] = {}
    for prefix, absolute in (("", False), ("absolute_", True)):
        matches = token_matches(filters, absolute=absolute)
        table |= {
            f"{prefix}chi_plus": matching_score(matches, relevant),
            f"{prefix}chi_minus": matching_score(matches, ~relevant),
            f"{prefix}missed": relevant.sum((-2, -1)) - captured_tokens(matches, relevant),
            f"{prefix}noise": captured_tokens(matches, ~relevant),
            f"{prefix}complete": complete_fields(matches, relevant),
        }
    return table


def _loss_of_views(name: str, temperature: float) -> Callable[[Tensor], Tensor]:
    """A loss by name, as a function of both views in one tensor; other losses than the published ones have
    their own temperature, if any."""
    loss = partial(PUBLISHED[name], temperature=temperature) if name in PUBLISHED else resolve(name)
    return lambda views: loss(*views.unbind(0))


class Network:
    """The network of Section 5: a linear layer from tokens to units in each field, the activation, BatchNorm
    or none, and one linear layer over all fields. It has no biases.

    Source: Tian 2023, "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning",
    Section 5 and Appendix E.2; code: github.com/facebookresearch/luckmatters, ssl/real-dataset.
    """

    def __init__(self, params: TokenSequences, cell: Cell, arms: Sequence[Arm]) -> None:
        self.params, self.cell, self.arms = params, cell, arms
        first_half = torch.arange(params.tokens) < params.tokens // 2
        zeta = torch.tensor([arm.zeta for arm in arms])[:, None]
        self.unit_lengths = bool((zeta == 1).all())
        self.lengths = torch.where(first_half, 1 / zeta, zeta)[:, None, None, :, None]
        names, self.arm_counts = runs([arm.activation for arm in arms])
        self.activations = [ACTIVATIONS[name] for name in names]
        self.mean = torch.tensor([arm.mean for arm in arms])
        self.variance = torch.tensor([arm.variance for arm in arms])

    def initial(self, seeds: Sequence[int]) -> Weights:
        """Initial weights: torch's default for linear layers, shared by all arms of a seed."""
        fields, tokens, units = self.params.fields, self.params.tokens, self.cell.units
        streams = Streams(seeds, "initial weights")
        lower = default_init(streams, fields, tokens, units, inputs=tokens)
        upper = default_init(streams, fields, units, self.params.output_dim, inputs=fields * units)
        return [weights.expand(len(self.arms), *weights.shape) for weights in (lower, upper)]

    def __call__(self, weights: Weights, minibatch: Minibatch) -> Float[Tensor, "view arm seed sample out"]:
        """The outputs of a minibatch.

        Args:
            weights: lower weights [arm, seed, field, token, unit] and upper ones [arm, seed, field, unit,
                out].
        """
        lower, upper = weights
        table = piecewise(
            self.activations, lower if self.unit_lengths else lower * self.lengths, self.arm_counts
        )
        views = minibatch.count.shape[2]
        if self.cell.batch_norm:
            share = (minibatch.count / minibatch.token.shape[2]).to(table.dtype)
            table = batch_norm(
                table,
                share,
                mean_gradient=self.mean,
                variance_gradient=self.variance,
                pooled=self.params.pooled_statistics,
            )
        else:
            table = table[..., None, :, :].expand(*table.shape[:3], views, *table.shape[3:])
        return sum_over_fields(matmul(table.flatten(3, 4), upper).unflatten(3, (views, -1)), minibatch)


def piecewise(
    functions: Sequence[Callable[[Tensor], Tensor]], values: Tensor, sizes: list[int], dim: int = 0
) -> Tensor:
    """Applies each function to its piece of the values and concatenates; a single piece is not copied."""
    if len(functions) == 1:
        return functions[0](values)
    pieces = values.split(sizes, dim)
    return torch.cat([function(piece) for function, piece in zip(functions, pieces, strict=True)])


def runs(names: Sequence[str]) -> tuple[list[str], list[int]]:
    """Run-length encoding: each run's name and length."""
    lengths = [(name, len(list(group))) for name, group in groupby(names)]
    return [name for name, _ in lengths], [count for _, count in lengths]
