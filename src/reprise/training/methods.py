"""Connects each objective to a student, together with the state that the objective carries.

A method is a module: its `state_dict` is its whole state (weights, teacher, queue, centre, covariance), which
checkpoints store. The optimiser updates the parameters that require a gradient.
"""

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reprise import objectives
from reprise.errors import RepriseError
from reprise.networks.batch_norm import apart
from reprise.networks.layers import keeps_apart
from reprise.networks.projectors import MLP
from reprise.objectives.embeddings import unit_rows
from reprise.objectives.whitening import Degenerate
from reprise.training.precision import arithmetic
from reprise.training.processes import count, gather

Views = Float[Tensor, "2 share channel height width"]
Labels = Int[Tensor, " batch"]
Loss = Callable[[Tensor, Tensor], Tensor]


class Outcome(NamedTuple):
    """The result of a forward pass on a whole batch.

    Attributes:
        loss: a scalar.
        r: representations of both views, [2, batch, features], without a gradient.
        z: embeddings of both views, [2, batch, dim], without a gradient.
    """

    loss: Tensor
    r: Tensor
    z: Tensor


class Student(nn.Module):
    """The trained encoder and projector.

    Attributes:
        features: dimension of the representation.
        dim: dimension of the embedding.
        precision: of convolutions and matrix products; outputs are float32.
    """

    def __init__(
        self,
        encoder: nn.Module,
        projector: nn.Module,
        *,
        features: int,
        dim: int,
        precision: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.encoder, self.projector = encoder, projector
        self.features, self.dim, self.precision = features, dim, precision

    def forward(
        self, images: Float[Tensor, "share channel height width"]
    ) -> tuple[Float[Tensor, "share features"], Float[Tensor, "share dim"]]:
        """Returns (representation r, embedding z)."""
        with arithmetic(images.device.type, self.precision):
            r = self.encoder(images)
            z = self.projector(r)
        return r.float(), z.float()


class Method(nn.Module):
    """Base class of methods. Hyperparameters are keyword arguments of the constructor; `training.objective`
    describes them and has their defaults.

    Args:
        steps: length of the whole training, for quantities that change during it.
    """

    def __init__(self, student: Student, steps: int) -> None:
        super().__init__()
        self.student, self.steps = student, steps

    def forward(self, views: Views, step: int) -> Outcome:
        """The loss of the whole batch, given the views of this process's rows.

        BatchNorm's statistics are those of one view, as in the authors' code, where each passes through the
        student separately.
        """
        on_cpu, in_bfloat16 = views.device.type == "cpu", self.student.precision == torch.bfloat16
        if on_cpu and in_bfloat16 and count() == 1 and keeps_apart(self.student):
            with apart(2):  # half as many operations, which on small networks take most of the time
                (r1, r2), (z1, z2) = (x.chunk(2) for x in self.student(views.flatten(0, 1)))
        else:
            (r1, z1), (r2, z2) = (self.student(view) for view in views)
        try:
            loss = self.loss(z1, z2, views, step)
        except RepriseError as error:
            if not isinstance(error, Degenerate) and z1.isfinite().all() and z2.isfinite().all():
                raise
            loss = math.nan * (z1.sum() + z2.sum())  # refused: the training has diverged
        r, z = ([gather(x.detach()) for x in pair] for pair in ((r1, r2), (z1, z2)))
        return Outcome(loss, torch.stack(r), torch.stack(z))

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        """The loss of the whole batch.

        Networks see this process's rows, losses see all rows: apply `gather` in between.

        Args:
            z1, z2: embeddings of this process's rows, one view each, [share, dim].
        """
        raise NotImplementedError

    def before_forward(self, labels: Labels) -> None:
        """Called before the forward pass, with the classes of the whole batch."""

    def before_update(self, step: int) -> None:
        """Called between the backward pass and the optimiser's step."""

    def after_update(self, step: int) -> None:
        """Called after the optimiser's step."""

    def unscheduled(self) -> list[nn.Parameter]:
        """The parameters trained at a constant learning rate."""
        return []


class Stateless(Method):
    """A loss on the two views' embeddings alone: SimCLR, VICReg, Barlow Twins, W-MSE, FroSSL, or a user's."""

    def __init__(self, student: Student, steps: int, *, loss: Loss) -> None:
        super().__init__(student, steps)
        self.embedding_loss = loss

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        return self.embedding_loss(gather(z1), gather(z2))


class DirectCLR(Method):
    """Jing et al. 2022: a loss on the first dimensions of the representation, without a projector.

    Raises:
        RepriseError: if there is a projector.
    """

    def __init__(self, student: Student, steps: int, *, dimensions: int, temperature: float) -> None:
        super().__init__(student, steps)
        if not isinstance(student.projector, nn.Identity):
            raise RepriseError("objective 'directclr': it uses the representation; choose projector 'none'")
        self.representation_loss = partial(
            objectives.directclr, dimensions=dimensions, temperature=temperature
        )

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        return self.representation_loss(gather(z1), gather(z2))


class Supervised(Method):
    """A reference, not self-supervised: cross-entropy of both views with the classes. The projector is the
    classifier; it starts at zero.

    Raises:
        RepriseError: if the projector is not a single linear layer.
    """

    labels: Labels

    def __init__(self, student: Student, steps: int) -> None:
        super().__init__(student, steps)
        if not isinstance(student.projector, nn.Linear):
            raise RepriseError("objective 'supervised': its projector is a classifier; choose 'linear'")
        nn.init.zeros_(student.projector.weight)

    def before_forward(self, labels: Labels) -> None:
        self.labels = labels

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        return cross_entropy(torch.cat([gather(z1), gather(z2)]), self.labels.repeat(2))


class SimSiam(Method):
    """Chen and He 2021: a predictor, and no gradient through the target. The predictor's rate is constant."""

    def __init__(self, student: Student, steps: int, *, hidden: int) -> None:
        super().__init__(student, steps)
        self.predictor = MLP(dims=(hidden, student.dim)).build(student.dim)

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        p1, p2 = (gather(self.predictor(z)) for z in (z1, z2))
        loss1, loss2 = objectives.negative_cosine(p1, gather(z2)), objectives.negative_cosine(p2, gather(z1))
        return (loss1 + loss2) / 2

    def unscheduled(self) -> list[nn.Parameter]:
        return list(self.predictor.parameters())


class Teacher(nn.Module):
    """A moving average of a network: θ' <- m θ' + (1 - m) θ after each step. BatchNorm statistics are its
    own.

    Args:
        momentum: m at the first and the last step, with half a cosine in between (BYOL, App. B).
    """

    def __init__(self, network: nn.Module, momentum: tuple[float, float]) -> None:
        super().__init__()
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.momentum = momentum

    @torch.no_grad()
    def forward(self, *inputs: Tensor) -> Any:
        return self.network(*inputs)

    @torch.no_grad()
    def follow(self, network: nn.Module, share: float) -> None:
        """Updates the average once; `share` is the fraction of the training done."""
        start, end = self.momentum
        momentum = end - (end - start) * (1 + math.cos(math.pi * share)) / 2
        torch._foreach_lerp_(list(self.network.parameters()), list(network.parameters()), 1 - momentum)


class BYOL(Method):
    """Grill et al. 2020: a predictor, and a teacher as the target."""

    def __init__(
        self,
        student: Student,
        steps: int,
        *,
        hidden: int,
        momentum: float,
        final_momentum: float,
    ) -> None:
        super().__init__(student, steps)
        self.predictor = MLP(dims=(hidden, student.dim)).build(student.dim)
        self.teacher = Teacher(student, (momentum, final_momentum))

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        target1, target2 = (gather(self.teacher(view)[1]) for view in views)
        p1, p2 = (gather(self.predictor(z)) for z in (z1, z2))
        return objectives.byol(p1, target2) + objectives.byol(p2, target1)

    def after_update(self, step: int) -> None:
        self.teacher.follow(self.student, step / self.steps)


class MoCo(Method):
    """Chen et al. 2020 (v2), symmetric: queries of one view against the teacher's keys of the other, with a
    queue of that view's latest keys as negatives."""

    queue: Tensor

    def __init__(
        self,
        student: Student,
        steps: int,
        *,
        temperature: float,
        queue: int,
        momentum: float,
        final_momentum: float,
    ) -> None:
        super().__init__(student, steps)
        self.temperature = temperature
        self.teacher = Teacher(student, (momentum, final_momentum))
        self.register_buffer("queue", torch.stack([_random_queue(queue, student.dim) for _ in range(2)]))

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        keys = [gather(self.teacher(view)[1]) for view in views]
        z1, z2 = gather(z1), gather(z2)
        loss1 = objectives.moco(z1, keys[1], self.queue[1], temperature=self.temperature)
        loss2 = objectives.moco(z2, keys[0], self.queue[0], temperature=self.temperature)
        self.queue = torch.stack(
            [objectives.enqueue(queue, key) for queue, key in zip(self.queue, keys, strict=True)]
        )
        return (loss1 + loss2) / 2

    def after_update(self, step: int) -> None:
        self.teacher.follow(self.student, step / self.steps)


def _random_queue(size: int, dim: int) -> Float[Tensor, "size dim"]:
    return objectives.enqueue(torch.zeros(size, dim), torch.randn(size, dim))


class SwAV(Method):
    """Caron et al. 2020, with two views and no queue.

    As in the authors' code, prototypes are scaled to unit length before each forward pass, and no gradient
    flows through that normalisation.
    """

    def __init__(
        self,
        student: Student,
        steps: int,
        *,
        prototypes: int,
        temperature: float,
        epsilon: float,
        iterations: int,
        frozen: int,
    ) -> None:
        super().__init__(student, steps)
        self.prototypes = nn.Linear(student.dim, prototypes, bias=False)
        self.frozen = frozen
        self.score_loss = partial(
            objectives.swav, temperature=temperature, epsilon=epsilon, iterations=iterations
        )

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        with torch.no_grad():
            self.prototypes.weight.copy_(unit_rows(self.prototypes.weight))
        return self.score_loss(*(gather(self.prototypes(unit_rows(z))) for z in (z1, z2)))

    def before_update(self, step: int) -> None:
        if step < self.frozen:
            self.prototypes.weight.grad = None


class DINO(Method):
    """Caron et al. 2021, with two views. The projector's output is the bottleneck before the prototypes."""

    centre: Tensor

    def __init__(
        self,
        student: Student,
        steps: int,
        *,
        prototypes: int,
        student_temperature: float,
        teacher_temperature: float,
        warm_temperature: float,
        warmup: int,
        centre_momentum: float,
        momentum: float,
        final_momentum: float,
        frozen: int,
    ) -> None:
        super().__init__(student, steps)
        self.prototypes = nn.Linear(student.dim, prototypes, bias=False)
        self.teacher = Teacher(student, (momentum, final_momentum))
        self.teacher_prototypes = Teacher(self.prototypes, (momentum, final_momentum))
        self.register_buffer("centre", torch.zeros(prototypes))
        self.student_temperature, self.teacher_temperature = student_temperature, teacher_temperature
        self.warm_temperature, self.warmup = warm_temperature, warmup
        self.centre_momentum, self.frozen = centre_momentum, frozen

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        # Cosines, whatever the weights' length, as the official code does by weight normalisation.
        def scores(z: Tensor, prototypes: nn.Module) -> Tensor:
            return gather(objectives.prototype_scores(z, prototypes.weight))

        student1, student2 = (scores(z, self.prototypes) for z in (z1, z2))
        teacher1, teacher2 = (
            scores(self.teacher(view)[1], self.teacher_prototypes.network) for view in views
        )
        pair_loss = partial(
            objectives.dino,
            centre=self.centre,
            student_temperature=self.student_temperature,
            teacher_temperature=self._temperature(step),
        )
        loss = (pair_loss(student1, teacher2) + pair_loss(student2, teacher1)) / 2
        outputs = torch.cat([teacher1, teacher2])
        self.centre = objectives.update_centre(self.centre, outputs, momentum=self.centre_momentum)
        return loss

    def _temperature(self, step: int) -> float:
        share = min(step / self.warmup, 1.0) if self.warmup else 1.0
        return self.warm_temperature + (self.teacher_temperature - self.warm_temperature) * share

    def before_update(self, step: int) -> None:
        if step < self.frozen:
            self.prototypes.weight.grad = None

    def after_update(self, step: int) -> None:
        self.teacher.follow(self.student, step / self.steps)
        self.teacher_prototypes.follow(self.prototypes, step / self.steps)


class CorInfoMax(Method):
    """Ozsoy et al. 2022, with running means and covariances of the embeddings."""

    mean: Tensor
    covariance: Tensor

    def __init__(
        self,
        student: Student,
        steps: int,
        *,
        attraction: float,
        forgetting: float,
        epsilon: float,
    ) -> None:
        super().__init__(student, steps)
        for name, tensor in objectives.Moments.initial(student.dim)._asdict().items():
            self.register_buffer(name, tensor)
        self.moment_loss = partial(
            objectives.corinfomax, attraction=attraction, forgetting=forgetting, epsilon=epsilon
        )

    def loss(self, z1: Tensor, z2: Tensor, views: Views, step: int) -> Tensor:
        loss, moments = self.moment_loss(
            gather(z1), gather(z2), objectives.Moments(self.mean, self.covariance)
        )
        self.mean, self.covariance = moments
        return loss
