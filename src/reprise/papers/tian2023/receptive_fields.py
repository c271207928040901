"""Two-layer nets on disjoint receptive fields, many at once, in plain PyTorch.

Each field has a table of units' values, with a row for each of its inputs. A field of a token sequence holds
one of a few tokens, so it has a row for each token, which both views of all samples share. A field of an
image has a row for each view of each sample. Both layers and the batch statistics are computed on these
tables. This is exact and, for tokens, saves nearly all of the work.

Source: Tian 2023, "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning",
Section 4, Section 5 and Appendices D and E; code: github.com/facebookresearch/luckmatters,
ssl/real-dataset.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from reprise.networks.activations import ACTIVATIONS
from reprise.networks.dense import Weights
from reprise.objectives import Objective, infonce_cosine, quadratic_cosine, resolve
from reprise.papers.tian2023.sequences import Arm

BATCH_NORM_EPS = 1e-5
PUBLISHED = {"infonce_cosine": infonce_cosine, "quadratic_cosine": quadratic_cosine}
"""The losses of the author's code."""


class Minibatch(NamedTuple):
    """Two views of each sample, one minibatch per seed.

    Attributes:
        row: the row of the field's table for a view of a sample.
        x: the inputs of which the rows are made; without them, they are the tokens, as one-hot vectors.
    """

    row: Int[Tensor, "seed view sample field"]
    x: Float[Tensor, "arm seed field row input"] | None = None


@dataclass(frozen=True)
class Block:
    """Minibatches that were drawn together, one for each step, with `row` and `x` as in `Minibatch`."""

    row: Int[Tensor, "seed step view sample field"]
    x: Float[Tensor, "arm seed step field row input"] | None = None

    def __iter__(self) -> Iterator[Minibatch]:
        for step, row in enumerate(self.row.unbind(1)):
            yield Minibatch(row, None if self.x is None else self.x[:, :, step])


@dataclass(frozen=True)
class Net:
    """z = V BN(h(w_kmᵀ x_k)): in each field a linear layer, an activation and BatchNorm or none; then one
    linear layer over all fields. It has no biases.

    Attributes:
        arms: variants that share data and initial weights, each with its activation, loss, gradients through
            BatchNorm's statistics and lengths of tokens.
        pooled_statistics: whether BatchNorm's statistics are those of both views together, as in Eq. 164, or
            each view's own.
        temperature: of the published losses; others have their own, if any.
    """

    arms: Sequence[Arm]
    batch_norm: bool = True
    pooled_statistics: bool = False
    temperature: float = 0.1

    def lengths(self, tokens: int) -> Float[Tensor, "arm token"]:
        """The tokens' lengths: 1/zeta for the first half and zeta for the second."""
        zeta = torch.tensor([arm.zeta for arm in self.arms])[:, None]
        return torch.where(torch.arange(tokens) < tokens // 2, 1 / zeta, zeta)

    def embed(self, weights: Weights, minibatch: Minibatch) -> Float[Tensor, "arm seed view sample out"]:
        """The outputs of a minibatch.

        Args:
            weights: W as [arm, seed, field, input, unit] and V as [arm, seed, field, unit, out].
        """
        lower, upper = weights
        row, x = minibatch
        table = lower * self.lengths(lower.shape[3])[:, None, None, :, None] if x is None else x @ lower
        table = torch.stack(
            [ACTIVATIONS[arm.activation](values) for arm, values in zip(self.arms, table, strict=True)]
        )
        chosen = one_hot(row.long(), table.shape[3]).to(table.dtype)
        if self.batch_norm:
            share = chosen.mean(2).transpose(1, 2)  # seed, field, view, row
            if self.pooled_statistics:
                share = share.mean(2, keepdim=True).expand_as(share)
            flows = [torch.tensor([getattr(arm, name) for arm in self.arms]) for name in ("mean", "variance")]
            hidden = batch_norm(table, share, *flows)
        else:
            hidden = table[:, :, :, None].expand(-1, -1, -1, row.shape[1], -1, -1)
        top = (hidden @ upper[:, :, :, None]).transpose(2, 3)  # arm, seed, view, field, row, out
        return chosen.flatten(3) @ top.flatten(3, 4)

    def losses(self, weights: Weights, minibatch: Minibatch) -> Float[Tensor, "arm seed"]:
        """Each arm's own loss."""
        outputs = self.embed(weights, minibatch)
        return torch.stack([self._loss(arm)(*z.unbind(1)) for arm, z in zip(self.arms, outputs, strict=True)])

    def _loss(self, arm: Arm) -> Objective:
        if arm.objective in PUBLISHED:
            return partial(PUBLISHED[arm.objective], temperature=self.temperature)
        return resolve(arm.objective)


def batch_norm(
    table: Float[Tensor, "arm seed field row unit"],
    share: Float[Tensor, "seed field view row"],
    mean_gradient: Bool[Tensor, " arm"],
    variance_gradient: Bool[Tensor, " arm"],
) -> Float[Tensor, "arm seed field view row unit"]:
    """BatchNorm without affine weights, (f - μ)/sqrt(σ² + 1e-5), with each view's own μ and biased σ².

    Args:
        table: each unit's value in each row.
        share: share of the batch that has each row; it weighs μ and σ².
        mean_gradient: whether the gradient flows through μ (Appendix E.2), for each arm.
        variance_gradient: whether it flows through σ². In Definition 5's mean-backprop BatchNorm it does not.
    """

    def detach_unless(flows: Tensor, statistic: Tensor) -> Tensor:
        return torch.where(flows.view(-1, *[1] * 5), statistic, statistic.detach())

    mean = detach_unless(mean_gradient, (share @ table)[..., None, :])
    centred = table[..., None, :, :] - mean
    variance = detach_unless(variance_gradient, share[..., None, :] @ centred.square())
    return centred / (variance + BATCH_NORM_EPS).sqrt()
