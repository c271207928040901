"""Trains every method at every learning rate on every data set."""

import math

import pandas as pd

from reprise.papers.skean2024 import nets, observations
from reprise.papers.skean2024.linear_probes.params import Params
from reprise.papers.skean2024.lineup import EPOCHS
from reprise.papers.skean2024.training import SAME_IMAGES
from reprise.study.experiment import Context, Task


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables of accuracies in %: `probes`, the final linear probes of each run; `online`, the online probe at
    Table 3's epochs, NaN after a divergence."""
    numbers = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    probes = observations.probe_table(numbers)
    positions = {name: position for position, name in enumerate(params.data_sets)}
    return {
        "probes": probes.assign(place=probes["data_set"].map(positions)),
        "online": online(params, numbers),
    }


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per run on each set of images."""
    declared = []
    for name, plan in plans(params).items():
        source = nets.source(params, name, params.online_images)
        methods = [context.objective] if context.objective else params.methods
        runs = nets.grid(params, methods, params.learning_rates, name)
        declared += observations.tasks(params, plan, runs, source, context)
    return declared


def plans(params: Params) -> dict[str, nets.Plan]:
    """The plan of the trainings on each set of images."""
    plans_by_images: dict[str, nets.Plan] = {}
    for name, steps in zip(params.data_sets, params.steps, strict=True):
        images = SAME_IMAGES.get(name, name)
        interval = math.gcd(*params.looks) if images == SAME_IMAGES.get(params.online, params.online) else 0
        probed = (*(plans_by_images[images].probed if images in plans_by_images else ()), name)
        plans_by_images[images] = nets.Plan(steps, params.trace_every, interval, probed)
    return plans_by_images


def online(params: Params, numbers: pd.DataFrame) -> pd.DataFrame:
    """One row per run and look; `epoch` is Table 3's."""
    images = SAME_IMAGES.get(params.online, params.online)
    looks = pd.DataFrame({"step": params.looks, "epoch": EPOCHS})
    return observations.online_table(numbers[numbers["images"] == images], looks).assign(
        data_set=params.online
    )
