"""SimSiam and DINO against lightly, BYOL against its definition; stop-gradients; the centre's momentum."""

import math

import pytest
import torch
from lightly.loss import DINOLoss, NegativeCosineSimilarity

from reprise.errors import RepriseError
from reprise.objectives import byol, dino, negative_cosine, update_centre


def test_negative_cosine_is_lightlys(views):
    prediction, target = views(9, 4)
    torch.testing.assert_close(
        negative_cosine(prediction, target), NegativeCosineSimilarity()(prediction, target)
    )


def test_byol_is_the_squared_distance_at_unit_length(views):
    prediction, target = views(9, 4)
    total = 0.0
    for p, z in zip(prediction.tolist(), target.tolist(), strict=True):
        total += math.dist([x / math.hypot(*p) for x in p], [x / math.hypot(*z) for x in z]) ** 2
    assert byol(prediction, target).item() == pytest.approx(total / 9)
    torch.testing.assert_close(byol(prediction, target), 2 + 2 * negative_cosine(prediction, target))


def test_dino_is_lightlys_of_two_views_with_its_centre(views):
    """Three steps are taken; lightly takes the mean over both orders of the views."""
    theirs = DINOLoss(output_dim=5)
    centre = torch.zeros(5, dtype=torch.float64)
    for step in range(3):
        student, teacher = views(2, 7, 5, seed=step)
        both = dino(student[0], teacher[1], centre), dino(student[1], teacher[0], centre)
        expected = theirs(list(teacher), list(student))
        torch.testing.assert_close(sum(both) / 2, expected, rtol=1e-5, atol=0)
        centre = update_centre(centre, teacher.flatten(0, 1))
        torch.testing.assert_close(centre, theirs.center[0, 0].double())


def test_the_centre_forgets_at_its_momentum():
    """The centre of a teacher that always says 1 is 1 - m^n after n steps."""
    centre = torch.zeros(3)
    for _ in range(5):
        centre = update_centre(centre, torch.ones(4, 3), momentum=0.8)
    torch.testing.assert_close(centre, torch.full((3,), 1 - 0.8**5))


def test_a_shift_of_teacher_and_centre_changes_nothing(views):
    student, teacher = views(6, 4)
    centre, shift = torch.arange(4.0), torch.tensor([3.0, -1.0, 0.0, 2.0])
    moved = dino(student, teacher + shift, centre + shift)
    torch.testing.assert_close(moved, dino(student, teacher, centre))
    assert (dino(student, teacher + shift, centre) - moved).abs() > 1e-3


@pytest.mark.parametrize(
    "loss", [negative_cosine, byol, lambda student, teacher: dino(student, teacher, torch.zeros(4))]
)
def test_the_gradient_stops_at_the_target(views, loss):
    prediction, target = (z.requires_grad_() for z in views(6, 4))
    loss(prediction, target).backward()
    assert prediction.grad.abs().sum() > 0
    assert target.grad is None


def test_the_centre_carries_no_gradient(views):
    teacher = views(6, 4)[0].requires_grad_()
    assert not update_centre(torch.zeros(4), teacher).requires_grad


def test_a_centre_of_another_dimension(views):
    for call in (lambda z: dino(z, z, torch.zeros(5)), lambda z: update_centre(torch.zeros(5), z)):
        with pytest.raises(RepriseError, match=r"a centre of shape \[5\].*\[6, 4\]; expected \[4\]"):
            call(views(6, 4)[0])
