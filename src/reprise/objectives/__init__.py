"""Losses of self-supervised learning, each a pure function that reads like its equation.

Most map the embeddings of two views to a loss: `(z1, z2) -> loss`. The others take what they need as
arguments: a predictor's output and its target, prototype scores, a queue, a centre, running moments. A loss
with state takes the old state and returns the new one.
"""

import inspect
from collections.abc import Callable

from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.clustering import prototype_scores, sinkhorn, swapped_prediction, swav
from reprise.objectives.contrastive import directclr, enqueue, infonce_other_view, moco, nt_xent
from reprise.objectives.cosine import infonce_cosine, quadratic_cosine
from reprise.objectives.frobenius import (
    frossl,
    frossl_as_given,
    frossl_no_logs,
    frossl_no_logs_unit_trace,
    gram_energy,
)
from reprise.objectives.infonce import infonce_distance, infonce_dot
from reprise.objectives.information import Moments, corinfomax
from reprise.objectives.own import own_loss
from reprise.objectives.redundancy import (
    AUTHORS_VARIANCE_WEIGHT,
    PAPER_OFF_DIAGONAL_WEIGHT,
    PAPER_VARIANCE_WEIGHT,
    SKEAN_OFF_DIAGONAL_WEIGHT,
    barlow_twins,
    vicreg,
)
from reprise.objectives.self_distillation import byol, dino, negative_cosine, update_centre
from reprise.objectives.whitening import w_mse, whiten

Objective = Callable[[Tensor, Tensor], Tensor]
"""Maps (z1, z2), each of shape [*replica, batch, dim], to a loss of shape [*replica]."""


def resolve(name: str) -> Objective:
    """Finds a loss: a published one by its name, or a user's own by `path/mine.py:my_loss`.

    Only losses of two views' embeddings, z1 and z2, have a name here. A user's loss takes two tensors of
    shape [batch, dim] and returns a scalar; a stack of replicas is mapped over with `torch.func.vmap`.

    Example:
        `resolve("vicreg")(z1, z2)`, or `resolve("mine.py:my_loss")(z1, z2)`.

    Raises:
        RepriseError: if the name is unknown, or `own_loss` refuses the user's.
    """
    if ":" in name:
        return own_loss(name)
    losses = {key: value for key, value in globals().items() if _is_loss_of_two_views(value)}
    if name not in losses:
        raise RepriseError(
            f"unknown objective '{name}'; allowed: {', '.join(losses)}, or path/mine.py:my_loss"
        )
    return losses[name]


def _is_loss_of_two_views(candidate: object) -> bool:
    """Tells if an object is a function of this package whose only required arguments are z1 and z2."""
    if not inspect.isfunction(candidate) or not candidate.__module__.startswith(f"{__name__}."):
        return False
    arguments = inspect.signature(candidate).parameters.values()
    return [argument.name for argument in arguments if argument.default is argument.empty] == ["z1", "z2"]
