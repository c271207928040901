"""Trains SimCLR on dark backdrops with any hue, and on bright ones that keep theirs; probes for shape."""

from collections.abc import Callable
from itertools import product
from math import nan

import pandas as pd

from reprise.datasets.augment import NORMALISATIONS
from reprise.datasets.recipes import RECIPES
from reprise.diagnostics.probes import linear_probe, representations
from reprise.networks.encoders import RESNET10_W16
from reprise.networks.projectors import MLP
from reprise.objectives import nt_xent
from reprise.papers.jing2022.colour_short_cut.params import ARMS, Params, check
from reprise.study.experiment import Context, Task
from reprise.training.images import Data, assemble
from reprise.training.methods import Method, name_of
from reprise.training.models import Spec, data_set, model
from reprise.training.optimisers import AdamW
from reprise.training.schedules import WarmupCosine

STRETCHES = 20
"""Parts of the training over which the loss is averaged."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`losses`: the mean loss of each stretch of a training, by its last step. `probes`: a linear probe's
    accuracy for shape, in % of the test images, at the start and at the end."""
    table = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    return {
        name: table.loc[table["table"] == name, ["arm", "seed", "step", column]].reset_index(drop=True)
        for name, column in (("losses", "loss"), ("probes", "accuracy"))
    }


def tasks(params: Params, context: Context) -> list[Task]:
    """One for each net."""
    check(params)
    data = {arm: part_of(params, data_set(name, "")) for arm, (name, _) in ARMS.items()}

    def task(arm: str, seed: int) -> Task:
        of, images = spec(params, arm, seed, context.objective or name_of(nt_xent)), data[arm]

        def make(told: Callable[[float], None]) -> pd.DataFrame:
            found = model(of, images, context.root, told)
            top1 = {0: accuracy(params, of, assemble(of, images.channels), images), of.steps: nan}
            if found.diverged is None:
                top1[of.steps] = accuracy(params, of, found.method, images)
            probes = pd.DataFrame({"step": top1.keys(), "accuracy": top1.values()})
            tables = {"losses": stretches(found.log, of.steps), "probes": probes}
            return pd.concat(tables, names=["table"]).reset_index("table").assign(arm=arm, seed=seed)

        return Task(f"{arm}, seed {seed}", make, work=of.steps)

    return [task(arm, seed) for arm, seed in product(ARMS, range(params.seeds))]


def spec(params: Params, arm: str, seed: int, objective: str) -> Spec:
    """What determines a net."""
    name, recipe = ARMS[arm]
    return Spec(
        objective=objective,
        augmentation=RECIPES[recipe],
        normalisation=NORMALISATIONS[name],
        encoder=RESNET10_W16,
        projector=MLP(dims=(256, 128)),
        optimiser=AdamW(learning_rate=params.learning_rate),
        batch=params.batch,
        steps=params.steps,
        seed=seed,
        precision=params.precision,
    )


def part_of(params: Params, data: Data) -> Data:
    """The first images."""
    train, test = params.images, params.test_images
    return Data(data.images[:train], data.labels[:train], data.test_images[:test], data.test_labels[:test])


def stretches(log: list[dict], steps: int) -> pd.DataFrame:
    """The mean loss of each stretch."""
    table = pd.DataFrame(log)[["step", "loss"]]
    length = -(-steps // STRETCHES)
    last = (table["step"] // length + 1) * length
    return table.groupby(last.clip(upper=steps))["loss"].mean().reset_index()


def accuracy(params: Params, of: Spec, method: Method, data: Data) -> float:
    """Of a linear probe of representations, each dimension at unit variance over the training images."""
    train, test = (
        representations(method.student.encoder, of.normalisation, part)
        for part in (data.images, data.test_images)
    )
    mean, std = train.mean(0), train.std(0).clamp_min(1e-6)
    found = linear_probe(
        (train - mean) / std,
        data.labels,
        (test - mean) / std,
        data.test_labels,
        schedule=WarmupCosine(),
        learning_rate=0.1,
        epochs=params.probe_epochs,
        seed=of.seed,
    )
    return 100 * found.top1
