"""Losses of a student that predicts a teacher's output.

The stop-gradient is part of the equation, so it is here and not at the caller's: no gradient reaches a target
or a teacher, whoever it comes from. Each loss is for one order of the views; a method takes its mean
(SimSiam, DINO) or sum (BYOL) over both.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from reprise.errors import RepriseError
from reprise.objectives.embeddings import check_views, squared_chord


def negative_cosine(
    prediction: Float[Tensor, "*replica batch dim"], target: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """SimSiam's D(p, stopgrad(z)) = -mean_i cos(p_i, z_i) (Chen 2021, Eq. 1 and 3), in [-1, 1].

    Args:
        prediction: the predictor's output for one view.
        target: the projector's output for the other.

    Raises:
        RepriseError: for different shapes.
    """
    check_views("negative_cosine", prediction, target)
    return -functional.cosine_similarity(prediction, target.detach(), dim=-1).mean(-1)


def byol(
    prediction: Float[Tensor, "*replica batch dim"], target: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """BYOL's squared distance of embeddings at unit length, mean_i |q_i/|q_i| - z_i/|z_i||² (Grill 2020,
    Eq. 2): 2 + 2 `negative_cosine`, in [0, 4].

    Raises:
        RepriseError: for different shapes.
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
    """DINO's cross-entropy H(P_t, P_s) = -Σ P_t log P_s, its mean over the batch (Caron 2021, Eq. 1 to 3).

    P_s = softmax(student / τ_s) and P_t = softmax((teacher - centre) / τ_t), of two different views.

    Raises:
        RepriseError: for different shapes.
    """
    check_views("dino", student, teacher)
    _check_centre(centre, teacher)
    targets = ((teacher.detach() - centre) / teacher_temperature).softmax(-1)
    return -(targets * (student / student_temperature).log_softmax(-1)).sum(-1).mean(-1)


def update_centre(
    centre: Float[Tensor, " dim"], teacher: Float[Tensor, "batch dim"], *, momentum: float = 0.9
) -> Float[Tensor, " dim"]:
    """DINO's moving average c ← m c + (1 - m) mean_i teacher_i (Caron 2021, Eq. 4); it starts from zeros.

    Args:
        teacher: the teacher's outputs for all views, one after the other.

    Raises:
        RepriseError: for a centre of another dimension.
    """
    _check_centre(centre, teacher)
    return momentum * centre + (1 - momentum) * teacher.detach().mean(0)


def _check_centre(centre: Tensor, teacher: Tensor) -> None:
    if centre.shape != teacher.shape[-1:]:
        raise RepriseError(
            f"dino: a centre of shape {list(centre.shape)} for outputs of shape {list(teacher.shape)}; "
            f"expected {list(teacher.shape[-1:])}"
        )
