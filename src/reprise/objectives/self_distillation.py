"""Losses in which a student predicts a teacher's output: SimSiam, BYOL and DINO.

The stop-gradient is part of each equation, so it is applied here: no gradient reaches a target or a teacher.
Each loss covers one order of the views; a method averages (SimSiam, DINO) or sums (BYOL) both orders.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from reprise.errors import RepriseError
from reprise.objectives.embeddings import (
    check_fractions,
    check_positive,
    check_views,
    over_temperature,
    squared_chord,
)


def negative_cosine(
    prediction: Float[Tensor, "*replica batch dim"], target: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """SimSiam's D(p, stopgrad(z)) = -mean_i cos(p_i, z_i), in [-1, 1].

    Invariant to: rotation of both views, permutation of samples, length of each embedding.

    Source: Chen and He 2021, "Exploring Simple Siamese Representation Learning", Eq. 1 and 3; code:
    github.com/facebookresearch/simsiam.

    Args:
        prediction: the predictor's output for one view.
        target: the projector's output for the other.

    Example:
        >>> negative_cosine(torch.eye(3), 2 * torch.eye(3)).item()
        -1.0

    Raises:
        RepriseError: if the shapes differ.
    """
    check_views("negative_cosine", prediction, target)
    return -functional.cosine_similarity(prediction, target.detach(), dim=-1).mean(-1)


def byol(
    prediction: Float[Tensor, "*replica batch dim"], target: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """BYOL's squared distance between unit vectors, mean_i |q_i/|q_i| - z_i/|z_i||²; in [0, 4], and equal to
    2 + 2 `negative_cosine`.

    Invariant to: rotation of both views, permutation of samples, length of each embedding.

    Source: Grill et al. 2020, "Bootstrap Your Own Latent: A New Approach to Self-Supervised Learning", Eq. 2;
    code: github.com/google-deepmind/deepmind-research, folder byol.

    Args:
        prediction: the online network's prediction for one view.
        target: the target network's projection of the other.

    Example:
        >>> byol(torch.eye(3), -2 * torch.eye(3)).item()
        4.0

    Raises:
        RepriseError: if the shapes differ.
    """
    check_views("byol", prediction, target)
    return squared_chord(prediction, target.detach())


def dino(
    student: Float[Tensor, "*replica batch dim"],
    teacher: Float[Tensor, "*replica batch dim"],
    centre: Float[Tensor, " dim"],
    *,
    student_temperature: float = 0.1,
    teacher_temperature: float = 0.04,
) -> Float[Tensor, "*replica"]:
    """DINO's cross-entropy H(P_t, P_s) = -Σ P_t log P_s, averaged over the batch.

    P_s = softmax(student / τ_s) and P_t = softmax((teacher - centre) / τ_t), for two different views.

    Invariant to: number added to each view, permutation of samples.

    Source: Caron et al. 2021, "Emerging Properties in Self-Supervised Vision Transformers", Eq. 1 to 3; code:
    github.com/facebookresearch/dino.

    Example:
        >>> student, teacher = torch.zeros(1, 4), torch.eye(1, 4)
        >>> round(dino(student, teacher, torch.zeros(4)).item(), 4)  # log 4
        1.3863

    Raises:
        RepriseError: if the shapes differ, the centre has another dimension, or a temperature is not above 0.
    """
    check_views("dino", student, teacher)
    check_positive("dino", student_temperature=student_temperature, teacher_temperature=teacher_temperature)
    _check_centre(centre, teacher)
    # In float32, the difference would be rounded, and the temperature would enlarge the error.
    difference = over_temperature(teacher.detach().double() - centre, teacher_temperature)
    targets = difference.to(torch.result_type(teacher, centre)).softmax(-1)
    return -(targets * over_temperature(student, student_temperature).log_softmax(-1)).sum(-1).mean(-1)


def update_centre(
    centre: Float[Tensor, " dim"], teacher: Float[Tensor, "batch dim"], *, momentum: float = 0.9
) -> Float[Tensor, " dim"]:
    """Updates DINO's centre: c ← m c + (1 - m) mean_i teacher_i (Caron 2021, Eq. 4). Start from zeros.

    Args:
        teacher: the teacher's outputs for all views, concatenated.

    Example:
        >>> update_centre(torch.zeros(2), torch.ones(3, 2), momentum=0.5).tolist()
        [0.5, 0.5]

    Raises:
        RepriseError: if the centre has another dimension, or the momentum is not in [0, 1].
    """
    check_fractions("update_centre", momentum=momentum)
    _check_centre(centre, teacher)
    return momentum * centre + (1 - momentum) * teacher.detach().mean(0)


def _check_centre(centre: Tensor, teacher: Tensor) -> None:
    if centre.shape != teacher.shape[-1:]:
        raise RepriseError(
            f"dino: a centre of shape {list(centre.shape)} for outputs of shape {list(teacher.shape)}; "
            f"expected {list(teacher.shape[-1:])}"
        )
