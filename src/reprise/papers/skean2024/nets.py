"""The networks of the image experiments: their specs and data. Imports no torch."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from reprise.contract.experiment import Resources
from reprise.contract.settings import replaced
from reprise.datasets import recipes
from reprise.datasets.catalogue import DATA_SETS
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP
from reprise.papers.skean2024 import lineup
from reprise.papers.skean2024.lineup import narrowed
from reprise.papers.skean2024.training import (
    PRETRAINED_ON,
    OneDataSet,
    OnOtherImages,
    Training,
    check_data,
)
from reprise.training import grid
from reprise.training.grid import Net, Pilot, Pixels, Supervised, Task
from reprise.training.image_settings import Source
from reprise.training.pilots import PILOT_SEED
from reprise.training.spec import Spec

RECIPES = {
    "cifar10": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "cifar100": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "stl10": (recipes.SKEAN_STL10, recipes.SKEAN_STL10_BASELINES),
    "imagenet": (recipes.SIMCLR_IMAGENET, recipes.SIMCLR_IMAGENET),
    "shapes": (recipes.SHAPES, recipes.SHAPES),
    "shapes-64": (recipes.SHAPES, recipes.SHAPES),
    "shapes-80": (recipes.SHAPES, recipes.SHAPES),
    "shapes-16": (recipes.SHAPES, recipes.SHAPES),
    "shapes-16-80": (recipes.SHAPES, recipes.SHAPES),
    "textures": (recipes.SHAPES, recipes.SHAPES),
    "textures-40": (recipes.SHAPES, recipes.SHAPES),
    "textures-16": (recipes.SHAPES, recipes.SHAPES),
    "textures-16-40": (recipes.SHAPES, recipes.SHAPES),
    "photographs-64": (recipes.SKEAN_STL10, recipes.SKEAN_STL10_BASELINES),  # of the nearest size
}
"""For each data set: FroSSL's augmentations, and those of most other methods. A data set without a row uses
CIFAR-10's."""
START = "start"
"""The method of a network before training."""


class Budget(NamedTuple):
    """Length, records and probes of each training, which an experiment adds to the settings.

    Attributes:
        trace_every, probe_every: as in `Spec`; a network is trained once for all experiments that agree in
            them, too.
        probed: data sets of the same images, whose labels are used for the final linear probes.
    """

    steps: int
    trace_every: int = 0
    probe_every: int = 0
    probed: tuple[str, ...] = ()


def budget(params: Training, steps: int, *probed: str) -> Budget:
    """The budget of the trainings."""
    return Budget(steps, params.trace_every, params.probe_every, probed)


def nets(
    params: Training,
    budget: Budget,
    names: Sequence[str],
    images: str,
    rates: Sequence[float | None] = (None,),
) -> list[Net]:
    """Every method at every learning rate, with every seed.

    Args:
        rates: None stands for the one that the method's pilots choose.
    """
    return [
        net(params, budget, name, images, seed, rate=rate)
        for name, rate, seed in product(names, rates, params.seed_range(params.seeds))
    ]


def net(
    params: Training,
    budget: Budget,
    method: str,
    images: str,
    seed: int,
    *,
    rate: float | None = None,
    batch: int | None = None,
    dim: int | None = None,
) -> Net:
    """The network of a method.

    Args:
        rate: None for the one that pilots choose; they have the batch and the dimension of the settings.
        batch, dim: other ones than those of the settings. A network with another batch sees as many images.
    """
    batch, dim = batch or params.batch, dim or narrowed(lineup.method(method).dim, params.width)
    settled = params.learning_rates[0] if rate is None else rate
    columns: dict[str, grid.Scalar] = {
        "images": images, "method": method, "learning_rate": settled, "batch": batch, "dim": dim,
        "seed": seed, "own_rate": rate is None,
    }  # fmt: skip
    pilots = []
    if rate is None and len(params.learning_rates) > 1:
        short = Budget(params.pilot_steps or budget.steps, probed=budget.probed[:1])
        pilots = [
            Pilot.of(net(params, short, method, images, PILOT_SEED + number, rate=each))
            for each, number in product(params.learning_rates, range(params.pilot_seeds))
        ]
    return Net(
        name=f"{images}/{method}/{'own' if rate is None else f'{rate:g}'}/{batch}/{dim}/{seed}",
        columns=tuple(columns.items()),
        spec=spec(params, budget, method, images, seed, settled, batch, dim),
        source=source(params, images),
        probed=tuple(labelled(params, name) for name in budget.probed),
        pilots=tuple(pilots),
    )


def starts(nets: Sequence[Net]) -> list[Net]:
    """A network before training for each seed; all networks of a seed start from the same encoder."""
    found = {(net.source, net.spec.seed): net for net in reversed(nets)}
    return [
        net.before_training(START, {"method": START, "learning_rate": 0.0, "own_rate": False})
        for net in reversed(found.values())
    ]


def spec(
    params: Training, budget: Budget, method: str, images: str, seed: int, rate: float, batch: int, dim: int
) -> Spec:
    """The spec of a network, except for the weight of the matched method."""
    hidden = narrowed(params.projector_hidden, params.width)
    weaker, stronger = RECIPES.get(images, RECIPES["cifar10"])
    encoder = params.encoder
    # The published encoder's stem depends on the data set; one that a config names stays.
    if isinstance(encoder, ResNet) and encoder.stem == ResNet().stem and images.startswith("cifar"):
        encoder = replaced(encoder, {"stem": "cifar"})
    is_weak = lineup.method(method).weak or params.augmentation == "shared"
    return params.spec(
        objective=params.objectives.of(method, params.width),
        augmentation=weaker if is_weak else stronger,
        normalisation=DATA_SETS[images].normalisation,
        encoder=encoder,
        projector=MLP(dims=(hidden, hidden, dim)),
        optimiser=replaced(params.optimiser, {"learning_rate": rate}),
        batch=batch,
        steps=budget.steps * params.batch // batch,
        seed=seed,
        trace_every=budget.trace_every,
        probe_every=budget.probe_every,
    )


def own_budget(params: OneDataSet) -> Budget:
    """The budget of the trainings on the settings' data set."""
    return budget(params, params.steps, params.data_set)


def own_tasks(params: OneDataSet, names: Sequence[str]) -> list[Task]:
    """The tasks of methods on the settings' data set, at their own learning rates."""
    return tasks(params, nets(params, own_budget(params), names, params.data_set))


def needs(params: Training, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task."""
    return grid.needs(params, task)


def references(params: Training, net: Net, *, supervised: bool = False) -> list[Pixels | Supervised]:
    """References for the probes of a network's data sets: raw pixels and, if asked for, a supervised
    network."""
    trained = [Supervised(net.spec, labels) for labels in net.probed] if supervised else []
    return [*map(Pixels, net.probed), *trained]


def tasks(params: Training, nets: Sequence[Net], *, supervised: bool = False) -> list[Task]:
    """The tasks of networks on one set of images, those before training and what they are compared with."""
    return grid.tasks([*starts(nets), *nets], references(params, nets[0], supervised=supervised))


def source(params: Training, name: str) -> Source:
    """The images of a data set on which networks are trained, and the test images of the online probe."""
    split, tested = PRETRAINED_ON.get(name, "train"), params.online_images or params.images
    return Source(name=name, root=params.root, split=split, first=params.images, first_test=tested)


def labelled(params: Training, name: str) -> Source:
    """The images and labels of a data set on which linear probes are trained."""
    return Source(name=name, root=params.root, first=params.images, first_test=params.images)


def check(params: OneDataSet) -> None:
    """Checks that the data sets exist.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    others = params.other_images if isinstance(params, OnOtherImages) else ()
    check_data([params.data_set, *others], params.root)
