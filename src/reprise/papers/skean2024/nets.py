"""The networks of the image experiments: the grid of runs, their tasks, specs and data, and what they need.
Imports no torch."""

from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

from reprise.contract.experiment import Resources
from reprise.contract.settings import replaced
from reprise.datasets import recipes
from reprise.datasets.catalogue import DATA_SETS
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP
from reprise.papers.skean2024 import lineup
from reprise.papers.skean2024.lineup import narrowed
from reprise.papers.skean2024.training import PRETRAINED_ON, OneDataSet, Training, check_data
from reprise.training import costs
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
    "textures": (recipes.SHAPES, recipes.SHAPES),
    "textures-40": (recipes.SHAPES, recipes.SHAPES),
    "textures-16": (recipes.SHAPES, recipes.SHAPES),
    "textures-16-40": (recipes.SHAPES, recipes.SHAPES),
    "photographs-64": (recipes.SKEAN_STL10, recipes.SKEAN_STL10_BASELINES),  # of the nearest size
}
"""For each data set: FroSSL's augmentations, and those of most other methods. A data set without a row uses
CIFAR-10's."""


OWN: Literal["own"] = "own"
"""In place of a learning rate: the one that the method's pilots choose."""


class Run(NamedTuple):
    """One training run: a row of the grid."""

    images: str
    method: str
    learning_rate: float | Literal["own"]
    batch: int
    dim: int
    seed: int

    def __str__(self) -> str:
        return "/".join(f"{value:g}" if isinstance(value, float) else str(value) for value in self)


START = "start"
"""The method of a network before training."""


class Budget(NamedTuple):
    """What an experiment needs from each training, besides the settings.

    Attributes:
        trace_every, probe_every: as in `Training`; a network is trained once for all experiments that agree
            in them, too.
        probed: data sets of the same images, whose labels are used for the final linear probes.
        supervised: whether a supervised network is trained for each of them, to compare probes with.
    """

    steps: int
    trace_every: int = 0
    probe_every: int = 0
    probed: tuple[str, ...] = ()
    supervised: bool = False


def plan(params: Training, steps: int, *probed: str) -> Budget:
    """The plan of the trainings."""
    return Budget(steps, params.trace_every, params.probe_every, probed)


def own_plan(params: OneDataSet) -> Budget:
    """The plan of the trainings on the settings' data set."""
    return plan(params, params.steps, params.data_set)


def runs(
    params: Training, names: Sequence[str], images: str, rates: Sequence[float | Literal["own"]] = (OWN,)
) -> list[Run]:
    """Every combination of method, learning rate and seed."""
    return [
        Run(images, name, rate, params.batch, lineup.method(name).at(params.width)[0], seed)
        for name, rate, seed in product(names, rates, range(params.seeds))
    ]


def starts(runs: Sequence[Run]) -> list[Run]:
    """One network before training for each seed; all networks of a seed start from the same encoder."""
    return list(
        {(run.images, run.seed): run._replace(method=START, learning_rate=0.0) for run in runs}.values()
    )


def pilots(params: Training, run: Run) -> list[Run]:
    """The runs that choose the learning rate of a run: its method at every rate of the grid. They have the
    batch and the dimension of the settings, whatever those of the run; a grid of one rate needs none."""
    if run.learning_rate != OWN or len(params.learning_rates) == 1:
        return []
    pilot = runs(params, [run.method], run.images, params.learning_rates)
    return [each._replace(seed=PILOT_SEED) for each in pilot if each.seed == 0]


def all_pilots(params: Training, runs: Sequence[Run]) -> list[Run]:
    """Those of all runs, each once."""
    return list(dict.fromkeys(pilot for run in runs for pilot in pilots(params, run)))


def pilot_plan(params: Training, plan: Budget) -> Budget:
    """The plan of a run's pilots, which are probed for the first data set's labels."""
    return Budget(params.pilot_steps or plan.steps, probed=plan.probed[:1])


class Pilot(NamedTuple):
    """The task of a pilot."""

    run: Run

    def __str__(self) -> str:
        return str(self.run)


class Pixels(NamedTuple):
    """The task of what the pixels of a set of images tell about a data set's labels."""

    images: str
    labels: str

    def __str__(self) -> str:
        return f"pixels/{self.labels}"


class Supervised(NamedTuple):
    """The task of a supervised network, trained as a run is."""

    run: Run
    labels: str

    def __str__(self) -> str:
        return f"supervised/{self.labels}"


Task = Pilot | Pixels | Supervised | Run


def tasks(params: Training, plan: Budget, runs: Sequence[Run]) -> list[Task]:
    """The tasks of runs on one set of images: their pilots, what their probes are compared with, and
    themselves, each with a network before training."""
    images = runs[0].images
    return [
        *map(Pilot, all_pilots(params, runs)),
        *(Pixels(images, name) for name in plan.probed),
        *(Supervised(runs[0], name) for name in plan.probed if plan.supervised),
        *starts(runs),
        *runs,
    ]


def images_of(task: Task) -> str:
    """The set of images of a task."""
    return task.run.images if isinstance(task, Pilot | Supervised) else task.images


def needs(params: Training, plan: Budget, task: Task, images: Source) -> Resources:
    """What a task needs."""
    match task:
        case Pixels():
            return costs.pixel_resources(images, params.probe, device=params.device)
        case Pilot(run):
            return network(params, pilot_plan(params, plan), run, images)
        case Supervised(run):
            return network(params, plan, run, images)
        case Run():
            return network(params, plan, task, images)


def own_tasks(params: OneDataSet, runs: Sequence[Run]) -> list[Task]:
    """The tasks of runs on the settings' data set."""
    return tasks(params, own_plan(params), runs)


def own_needs(params: OneDataSet, task: Task, objective: str | None = None) -> Resources:
    """What a task on the settings' data set needs."""
    return needs(params, own_plan(params), task, own_source(params))


def network(params: Training, plan: Budget, run: Run, images: Source) -> Resources:
    """What the task of a run needs."""
    run_spec = spec(params, at_rate(run, params.learning_rates[0]), plan)
    return costs.resources(run_spec, images, params.probe, device=params.device, probes=len(plan.probed))


def at_rate(run: Run, own: float) -> Run:
    """The run at its learning rate, given the method's own."""
    return run._replace(learning_rate=own) if run.learning_rate == OWN else run


def spec(params: Training, run: Run, plan: Budget) -> Spec:
    """The spec of a run, except for the weight of the matched method. A run with another batch size sees the
    same number of images, a network before training none."""
    before_training = run.method == START
    method = lineup.method("frossl" if before_training else run.method)
    hyperparameters = method.at(params.width)[1]
    if method.objective == "moco":
        hyperparameters["queue"] = params.queue
    if "momentum" in hyperparameters:
        hyperparameters["momentum"] = min(method.hyperparameters["momentum"], params.slowest_teacher)
    hidden = narrowed(params.projector_hidden, params.width)
    weaker, stronger = RECIPES.get(run.images, RECIPES["cifar10"])
    encoder = params.encoder
    # The published encoder's stem depends on the data set; one that a config names stays.
    if isinstance(encoder, ResNet) and encoder.stem == ResNet().stem and run.images.startswith("cifar"):
        encoder = replaced(encoder, {"stem": "cifar"})
    return params.spec(
        objective=method.objective,
        hyperparameters=hyperparameters,
        augmentation=weaker if method.weak or params.augmentation == "shared" else stronger,
        normalisation=DATA_SETS[run.images].normalisation,
        encoder=encoder,
        projector=MLP(dims=(hidden, hidden, run.dim)),
        optimiser=replaced(params.optimiser, {} if before_training else {"learning_rate": run.learning_rate}),
        batch=run.batch,
        steps=0 if before_training else plan.steps * params.batch // run.batch,
        seed=run.seed,
        trace_every=plan.trace_every,
        probe_every=plan.probe_every,
    )


def source(params: Training, name: str) -> Source:
    """The images of a data set on which networks are trained, and the test images of the online probe."""
    split, tested = PRETRAINED_ON.get(name, "train"), params.online_images or params.images
    return Source(name=name, root=params.root, split=split, first=params.images, first_test=tested)


def own_source(params: OneDataSet) -> Source:
    """The images of the settings' data set."""
    return source(params, params.data_set)


def check(params: OneDataSet) -> None:
    """Checks that the data set exists.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    check_data([params.data_set], params.root)
