"""Trains the two-layer model behind several projectors, without negatives and with ReLU, and measures what
the other papers measure."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.diagnostics.balance import covariance_eigenvalues, stable_rank
from reprise.diagnostics.matching import matching_score, token_matches
from reprise.diagnostics.ranks import collapsed_dimensions
from reprise.diagnostics.spectra import embedding_spectrum
from reprise.networks.dense import Weights, decaying_spectrum, linear, random_orthogonal, relu
from reprise.numerics.streams import Streams
from reprise.objectives import Objective, infonce_distance, resolve
from reprise.papers.jing2022.other_papers.experiment import Params
from reprise.papers.jing2022.starts import layers
from reprise.papers.jing2022.two_layers import checkpoints_of, pairs_of
from reprise.training.replicas import sgd

Network = Callable[[list[Weights], Float[Tensor, "1 replica batch in"]], Float[Tensor, "1 replica batch out"]]


@dataclass(frozen=True)
class Group:
    """Nets that train in one stack, replica = arm * seeds + seed.

    Attributes:
        projector: the fixed A of z = A r, one of each replica.
        network: maps W1, W2 and inputs to representations r.
    """

    arms: tuple[str, ...]
    projector: Float[Tensor, "replica dim dim"]
    network: Network
    loss: Objective

    def embeddings(self, weights: Weights, x: Float[Tensor, "replica batch in"]) -> Tensor:
        return self.network([weights], x[None])[0] @ self.projector.mT


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Standing dimensions, balance and chi over the steps, by arm: `none` has no projector, `low-rank` and
    `decaying` have a fixed one; `non-contrastive` and `relu` have none."""
    groups = _groups(params, resolve(context.objective) if context.objective else infonce_distance)
    if context.objective:
        groups = [group for group in groups if group.loss is not noncontrastive]
    return {"trajectory": pd.concat([_train(params, context, each) for each in groups], ignore_index=True)}


def noncontrastive(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """-E<f1, f2> with f = z / N, N² = E|z|² (Ren 2023, Eq. 4), here over the batch."""
    norms = (z1.square().sum((-2, -1)) * z2.square().sum((-2, -1))).sqrt()
    return -(z1 * z2).sum((-2, -1)) / norms


def _groups(params: Params, loss: Objective) -> list[Group]:
    streams, rank = Streams(params.seed_range(params.seeds), "projectors"), params.low_rank
    u, v = random_orthogonal(streams, params.dim), random_orthogonal(streams, params.dim)
    none, decaying = torch.eye(params.dim).expand_as(u), decaying_spectrum(streams, params.dim)
    projectors = {"none": none, "low-rank": u[:, :, :rank] @ v[:, :rank], "decaying": decaying}
    return [
        Group(tuple(projectors), torch.cat(list(projectors.values())), linear, loss),
        Group(("non-contrastive",), none, linear, noncontrastive),
        Group(("relu",), none, relu, loss),
    ]


def _train(params: Params, context: Context, group: Group) -> pd.DataFrame:
    seeds, dim, copies = params.seed_range(params.seeds), params.dim, len(group.arms)
    start = layers(Streams(seeds, "weights"), dim, 2, scale=params.init_scale, span=params.init_span)
    pairs = pairs_of(params)
    clean, x1, x2 = (x.repeat(copies, 1, 1) for x in (pairs.clean, pairs.view1, pairs.view2))
    rotations = Streams(seeds, "rotations")
    rotated = torch.stack([random_orthogonal(rotations, dim) for _ in range(params.rotations)])
    rotated = rotated.repeat(1, copies, 1, 1)

    def loss(weights: Weights) -> Tensor:
        return group.loss(group.embeddings(weights, x1), group.embeddings(weights, x2))

    checkpoints = checkpoints_of(params.steps)
    records = []
    for _, weights in sgd(
        [w.repeat(copies, 1, 1) for w in start],
        loss,
        learning_rate=params.learning_rate,
        steps=params.steps,
        checkpoints=checkpoints,
        progress=lambda step: context.progress(step, params.steps, f"{len(x1)} two-layer nets"),
    ):
        z, signless = group.embeddings(weights, clean), group.network is linear
        by_rotation = chi(rotated @ weights[0], signless)
        records.append(
            {
                "standing": dim - collapsed_dimensions(embedding_spectrum(z)),
                "stable_rank": stable_rank(covariance_eigenvalues(z.double())),
                "chi": chi(weights[0], signless),
                "chi_rotated": sum(by_rotation.unbind()) / len(rotated),
            }
        )
    axes = {"step": checkpoints, "arm": group.arms, "seed": seeds}
    shape = tuple(map(len, axes.values()))
    return tidy(
        axes,
        **{name: torch.stack([each[name] for each in records]).double().view(shape) for name in records[0]},
    )


def chi(w1: Float[Tensor, "*replica hidden in"], signless: bool) -> Float[Tensor, "*replica"]:
    """Matching score χ of W1's rows with the axes along which the data vary independently, as one receptive
    field of `in` tokens."""
    matched = token_matches(w1.mT[..., None, :, :], absolute=signless)
    return matching_score(matched, torch.ones(matched.shape[-2:], dtype=torch.bool))
