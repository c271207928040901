"""Wiring of methods, against the losses and averages written out."""

import copy
import inspect

import pytest
import tiny
import torch
from torch import nn
from torch.nn.functional import cosine_similarity, normalize

from reprise import objectives
from reprise.contract.losses import names
from reprise.contract.settings import overridden
from reprise.datasets.augment import Views
from reprise.errors import RepriseError
from reprise.networks.encoders import Conv4, ResNet
from reprise.networks.projectors import MLP, Identity, Linear
from reprise.training import images
from reprise.training.images import assemble
from reprise.training.spec import Spec

VIEWS = Views(tiny.RECIPE)(tiny.data().images[:16], torch.Generator().manual_seed(1))


def method(objective, **hyperparameters):
    return assemble(tiny.spec(objective, hyperparameters=hyperparameters), 3)


def embeddings(method):
    with torch.no_grad():
        return [method.student(view)[1] for view in VIEWS]


def weights(module):
    return [weight.clone() for weight in module.parameters()]


@pytest.mark.parametrize("name", ["nt_xent", "vicreg", "barlow_twins", "frossl"])
def test_a_loss_of_embeddings_gets_those_of_both_views(name):
    found = method(name)
    loss, r, z = found(VIEWS, 0)
    torch.testing.assert_close(loss, getattr(objectives, name)(*embeddings(found)))
    torch.testing.assert_close(z, torch.stack(embeddings(found)))
    torch.testing.assert_close(r[1], found.student.encoder(VIEWS[1]).detach())


@pytest.mark.parametrize("projector", [MLP(dims=(16, 8), last_norm=True), Linear(out=8), Identity()])
@pytest.mark.parametrize(
    "encoder",
    [
        Conv4(widths=(16, 16, 32, 16)),
        ResNet(blocks=(1, 1, 1, 2), width=16, stem="stride2"),
        ResNet(block="bottleneck", blocks=(1, 1, 1, 1), width=4, last_shortcut="projection"),
    ],
)
def test_views_that_go_through_at_once_have_statistics_of_their_own(encoder, projector):
    found = assemble(tiny.spec(encoder=encoder, projector=projector, precision="bfloat16"), 3)
    if images.narrowest(found) >= images.CHANNELS_LAST:
        found.to(memory_format=torch.channels_last)
    check_that_views_are_apart(found)


def test_where_a_batch_norm_knows_no_parts_views_go_through_one_after_the_other():
    found = assemble(tiny.spec(encoder=Conv4(widths=(16, 16, 32, 16)), precision="bfloat16"), 3)
    found.student.projector = nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8))
    check_that_views_are_apart(found)


def check_that_views_are_apart(found):
    separate = copy.deepcopy(found.student)
    views = torch.nn.functional.interpolate(VIEWS.flatten(0, 1), 16).unflatten(0, (2, -1))
    views[1] *= 3
    _, r, z = found(views, 0)
    with torch.no_grad():
        for view, own_r, own_z in zip(views, r, z, strict=True):
            expected_r, expected_z = separate(view)
            torch.testing.assert_close(own_r, expected_r, rtol=0, atol=0.02)
            torch.testing.assert_close(own_z, expected_z, rtol=0, atol=0.02)
    torch.testing.assert_close(
        dict(found.student.named_buffers()), dict(separate.named_buffers()), rtol=1e-3, atol=1e-3
    )


def test_hyperparameters_reach_the_loss():
    found = method("nt_xent", temperature=0.9)
    torch.testing.assert_close(found(VIEWS, 0).loss, objectives.nt_xent(*embeddings(found), temperature=0.9))


def test_directclr_sees_the_representation():
    spec = tiny.spec("directclr", hyperparameters={"dimensions": 5}, projector=Identity())
    found = assemble(spec, 3)
    loss, r, _ = found(VIEWS, 0)
    torch.testing.assert_close(loss, objectives.infonce_other_view(r[0, :, :5], r[1, :, :5]))
    with pytest.raises(RepriseError, match="projector 'none'"):
        method("directclr")


def test_a_users_loss(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def my_loss(z1, z2):\n    return (z1 - z2).square().mean()\n")
    found = method(f"{file}:my_loss")
    z1, z2 = embeddings(found)
    torch.testing.assert_close(found(VIEWS, 0).loss, (z1 - z2).square().mean())


def test_simsiam():
    found = method("simsiam", hidden=8)
    z = embeddings(found)
    p1, p2 = (found.predictor(x) for x in z)
    expected = -(cosine_similarity(p1, z[1]).mean() + cosine_similarity(p2, z[0]).mean()) / 2
    torch.testing.assert_close(found(VIEWS, 0).loss, expected)
    assert set(map(id, found.unscheduled())) == set(map(id, found.predictor.parameters()))


def test_byol_with_a_teacher_that_follows():
    found = method("byol", hidden=8, momentum=0.9)
    z = embeddings(found)  # the teacher starts as the student
    p = [normalize(found.predictor(x)) for x in z]
    expected = sum((a - normalize(b)).square().sum(1).mean() for a, b in ((p[0], z[1]), (p[1], z[0])))
    loss = found(VIEWS, 0).loss
    torch.testing.assert_close(loss, expected)
    loss.backward()
    assert all(weight.grad is None for weight in found.teacher.parameters())
    before = weights(found.teacher)
    with torch.no_grad():
        for weight in found.student.parameters():
            weight += 1
    found.after_update(0)
    for old, new, student in zip(before, weights(found.teacher), weights(found.student), strict=True):
        torch.testing.assert_close(new, 0.9 * old + 0.1 * student)
    found.after_update(found.steps // 2)
    halfway = weights(found.teacher)
    found.after_update(found.steps)
    assert all(map(torch.equal, weights(found.teacher), halfway))  # momentum 1 at the end


def test_moco_takes_negatives_from_its_queue_and_keeps_the_last_keys():
    found = method("moco", queue=32)
    queue, z = found.queue.clone(), embeddings(found)
    expected = (objectives.moco(z[0], z[1], queue[1]) + objectives.moco(z[1], z[0], queue[0])) / 2
    torch.testing.assert_close(found(VIEWS, 0).loss, expected)
    torch.testing.assert_close(found.queue[:, 16:], normalize(torch.stack(z), dim=-1))
    torch.testing.assert_close(found.queue[:, :16], queue[:, 16:])


def test_swav_has_prototypes_of_unit_length_that_may_be_frozen_at_first():
    found = method("swav", prototypes=12, frozen=5)
    found(VIEWS, 0).loss.backward()
    lengths = found.prototypes.weight.norm(dim=1)
    torch.testing.assert_close(lengths, torch.ones(12))
    gradient = found.prototypes.weight.grad
    found.before_update(5)
    assert found.prototypes.weight.grad is gradient
    found.before_update(4)
    assert found.prototypes.weight.grad is None


def test_swavs_prototypes_move_by_the_gradient_at_a_constant_normalisation():
    found = method("swav", prototypes=12)
    optimiser = torch.optim.SGD([found.prototypes.weight], lr=0.5)
    lengths = []
    for _ in range(3):
        optimiser.zero_grad()
        found(VIEWS, 0).loss.backward()
        weight = found.prototypes.weight.detach().clone().requires_grad_()
        torch.testing.assert_close(weight.norm(dim=1), torch.ones(12))
        scores = [normalize(z) @ weight.T for z in embeddings(found)]
        (expected,) = torch.autograd.grad(objectives.swav(*scores), weight)
        torch.testing.assert_close(found.prototypes.weight.grad, expected)
        optimiser.step()
        torch.testing.assert_close(found.prototypes.weight, weight - 0.5 * expected)
        lengths.append(found.prototypes.weight.norm(dim=1))
    assert (
        torch.stack(lengths) - 1
    ).abs().max() > 1e-3  # the step leaves the sphere, to which the next returns


def test_dino_moves_its_centre_and_warms_its_teacher():
    found = method("dino", prototypes=12, warmup=10)
    unit = normalize(found.prototypes.weight, dim=1)
    scores = [normalize(z) @ unit.T for z in embeddings(found)]
    pairs = ((scores[0], scores[1]), (scores[1], scores[0]))
    zero = torch.zeros(12)
    warm = {step: sum(objectives.dino(s, t, zero, teacher_temperature=tau) for s, t in pairs) / 2
            for step, tau in ((0, 0.04), (5, 0.055), (10, 0.07), (44, 0.07))}  # fmt: skip
    for step, expected in warm.items():
        found.centre = zero
        torch.testing.assert_close(found(VIEWS, step).loss, expected)
    torch.testing.assert_close(found.centre, 0.1 * torch.cat(scores).mean(0))


@pytest.mark.parametrize("objective", ["byol", "moco", "dino"])
def test_targets_are_the_teachers_once_it_is_not_the_student(objective):
    found = method(objective, **tiny.STATEFUL[objective])
    with torch.no_grad():
        for weight in found.teacher.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(2))
        z, targets = embeddings(found), [found.teacher.network(view)[1] for view in VIEWS]
        if objective == "byol":
            expected = sum(objectives.byol(found.predictor(z[i]), targets[1 - i]) for i in range(2))
        elif objective == "moco":
            queue = found.queue.clone()
            expected = sum(objectives.moco(z[i], targets[1 - i], queue[1 - i]) for i in range(2)) / 2
        else:
            found.teacher_prototypes.network.weight += 0.5 * found.prototypes.weight.flip(0)
            prototypes = found.prototypes.weight, found.teacher_prototypes.network.weight
            student, teacher = (
                [objectives.prototype_scores(each, weight) for each in both]
                for both, weight in zip((z, targets), prototypes, strict=True)
            )
            expected = sum(
                objectives.dino(student[i], teacher[1 - i], torch.zeros(12), teacher_temperature=0.04)
                for i in range(2)
            )
            expected = expected / 2
    torch.testing.assert_close(found(VIEWS, 0).loss.detach(), expected)
    if objective == "moco":
        torch.testing.assert_close(found.queue[:, 16:], normalize(torch.stack(targets), dim=-1))
    if objective == "dino":
        torch.testing.assert_close(found.centre, 0.1 * torch.cat(teacher).mean(0))


def test_corinfomax_carries_its_moments():
    found = method("corinfomax", attraction=10.0)
    z, moments = embeddings(found), objectives.Moments.initial(8)
    for _ in range(2):
        expected, moments = objectives.corinfomax(*z, moments, attraction=10.0)
        torch.testing.assert_close(found(VIEWS, 0).loss, expected)
    torch.testing.assert_close(found.covariance, moments.covariance)
    assert "covariance" in found.state_dict()


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("stateless", "unknown objective 'stateless'; allowed: .*nt_xent"),
        ("missing.py:loss", "no file .*missing.py$"),
    ],
)
def test_what_does_not_exist_is_said(objective, said):
    with pytest.raises(RepriseError, match=said):
        method(objective)


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ({"kind": "nt_xent", "temprature": 1.0}, "unknown key 'objective.nt_xent.temprature'.*temperature"),
        ({"kind": "byol", "queue": 1}, "unknown key 'objective.byol.queue'.*hidden, momentum, final_mom"),
        ({"kind": "nt_xent", "temperature": 0.0}, "'objective.nt_xent.temperature' has the value 0.0"),
    ],
)
def test_a_hyperparameter_of_another_objective_is_named(objective, said):
    with pytest.raises(RepriseError, match=said):
        overridden(Spec, {"objective": objective}, "mine.yaml")


@pytest.mark.parametrize("name", names())
def test_settings_of_a_loss_are_its_keyword_arguments_with_its_own_defaults(name):
    function = getattr(objectives, name)
    arguments = inspect.signature(function).parameters.values()
    defaults = {each.name: each.default for each in arguments if each.kind is each.KEYWORD_ONLY}
    settings = tiny.objective(name)
    assert settings.loss() is function
    assert settings.hyperparameters == defaults


def test_the_precision_is_that_of_the_networks_alone():
    found = assemble(tiny.spec(precision="bfloat16"), 3)
    loss, r, z = found(VIEWS, 0)
    assert {loss.dtype, r.dtype, z.dtype} == {torch.float32}
    exact = method("nt_xent")(VIEWS, 0).loss
    assert loss != exact
    torch.testing.assert_close(loss, exact, rtol=0.05, atol=0)
