"""Every training on images of the paper tier but MSCOCO's, a few steps long, on tiny files in the official
formats: by shares, as on a cluster, with the published optimisers, schedules, precisions, augmentations and
probes.

Reduced are numbers of steps, images, views, seeds and points of a grid; batches, with the widths that a paper
ties to them; and the widths of encoders, or the side of images, whose steps would take a CPU minutes.

And every network of the gpu tier, two steps long, of which the batch alone is reduced.
"""

import json
import math
from collections import Counter
from pathlib import Path

import official_formats
import pytest
import torch
import yaml

from reprise.contract.settings import alterations, departures, replaced
from reprise.datasets import photographs, shapes
from reprise.engine import registry, run
from reprise.engine.tiers import checkout, load_tier
from reprise.errors import RepriseError
from reprise.training.grid import Net
from reprise.training.images import Data, train
from reprise.training.objective import WMSE

IMAGES_OF_JING = {
    "encoder": {"width": 8}, "d0": 45, "batch": 4, "epochs": 1.0, "probe_views": 2, "seeds": 1
}  # fmt: skip
IMAGES_OF_SKEAN = {"encoder": {"width": 16}, "batch": 32, "seeds": 1}
GRIDS = (
    "temperatures", "colours", "budgets", "depths", "widths", "last_blocks", "optimisers", "head_norms",
    "head_depths", "head_widths", "d0s",
)  # fmt: skip
REDUCED = {
    "esser2024/digit_classes": {
        "per_class": 8, "steps": 2, "width": 784, "timed_widths": [784, 800, 900], "repeats": 1, "splits": 2,
        "selection_splits": 1, "seeds": 1,
    },
    "jing2022/colour_short_cut": {"images": 80, "test_images": 80, "batch": 16, "steps": 2, "seeds": 1},
    "jing2022/projector_map": IMAGES_OF_JING
    | {"base_seeds": 1, "crops": [0.5]}
    | {name: [] for name in GRIDS},
    "jing2022/projector_spectra": IMAGES_OF_JING,
    "skean2024/early_lead": IMAGES_OF_SKEAN
    | {"batch": 8, "full_width_batch": 8, "steps": 10, "probe_every": 1},
    "skean2024/eigenvalue_saturation": IMAGES_OF_SKEAN
    | {"steps": 4, "trace_every": 1, "learning_rates": [0.1]},
    "skean2024/linear_probes": IMAGES_OF_SKEAN
    | {"steps": [2, 2, 5], "looks": [1, 2, 3, 4, 5], "probe_every": 1},
    "skean2024/linear_regime": {"samples": 32, "horizon": 0.01, "records": 3, "seeds": 1},
    "skean2024/projector_and_batch": IMAGES_OF_SKEAN | {"steps": 2, "dims": [128, 256], "batches": [16, 32]},
    "skean2024/trade_off": IMAGES_OF_SKEAN | {"steps": 2},
    "tian2023/image_filters": {"steps": 2, "seeds": 1},
}  # fmt: skip
"""Settings that differ from configs/paper.yaml, by experiment on images."""
ELSEWHERE = {"ren2023/zero_shot"}
"""The experiment on MSCOCO, which ren2023/test_miniature_of_mscoco.py runs, from shares to verdicts."""
QUICK = (
    "jing2022/colour_short_cut", "skean2024/linear_regime", "skean2024/projector_and_batch",
    "skean2024/trade_off", "tian2023/image_filters",
)  # fmt: skip
"""The experiments that take a few seconds here; the others take ten to eighty."""
SIZES = {
    "steps", "epochs", "looks", "horizon", "batch", "full_width_batch", "batches", "dims",
    "seeds", "base_seeds", "images", "test_images", "samples", "per_class", "width", "encoder.width", "d0",
    "learning_rates", "trace_every", "probe_every", "probe_views", "records", "repeats",
    "splits", "selection_splits", "timed_widths", "crops", "data_set", *GRIDS,
}  # fmt: skip
"""The settings that the reduced tier may change; `data_set` of the experiment on the stand-in itself."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The reduced tier, of a checkout whose data/ holds every data set where the paper tier looks for it."""
    root = tmp_path_factory.mktemp("lab")
    content = yaml.safe_load((checkout() / "configs" / "paper.yaml").read_text())
    content["device"] = "cpu"
    for id, changes in REDUCED.items():
        content["experiments"][id] = (content["experiments"].get(id) or {}) | changes
    (root / "configs").mkdir()
    for name in ("default", "paper"):
        (root / "configs" / f"{name}.yaml").write_text(yaml.safe_dump(content | {"tier": name}))
    data = root / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        official_formats.mnist(data, train=200, patch=patch)
        official_formats.cifar("cifar10", data, patch, count=16)
        official_formats.cifar("cifar100", data, patch, count=40)
        official_formats.stl10(data, patch, train=40, test=12, unlabelled=30)
        official_formats.imagenet(data / "imagenet", patch, classes=2, train=4, val=4)
        yield load_tier("paper", root)


def test_no_experiment_on_images_is_left_out_and_only_sizes_are_reduced(lab):
    on_images = {
        id for id, params in lab.params.items() if {"data_set", "root"} & type(params).model_fields.keys()
    }
    assert on_images == REDUCED.keys() | ELSEWHERE, "REDUCED says how small each experiment on images is here"
    for id in REDUCED:
        changed = {line.split(":")[0] for line in departures(lab.params[id])}
        assert changed <= SIZES, id


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=[] if id in QUICK else pytest.mark.slow) for id in REDUCED]
)
def test_every_training_runs_by_shares_and_is_measured(id, lab):
    experiment, before = registry.experiment(id), set(models(lab))
    experiment.check(lab.params[id])
    if experiment.has_tasks:
        for number in (1, 2):
            run.run_share(lab.experiment(id), number, 2)
    trained = set(models(lab))
    run.run(lab.experiment(id))
    if experiment.has_tasks:
        assert set(models(lab)) == trained  # the shares leave nothing to train
    for log in trained - before:
        losses = [json.loads(line)["loss"] for line in log.open()]
        assert len(losses) >= 2
        assert all(map(math.isfinite, losses))
    tables, params = lab.experiment(id).tables(), lab.experiment(id).params
    for name, table in tables.items():
        assert len(table), name
    for artifact in experiment.artifacts:
        try:
            artifact.draw(tables, params)
        except RepriseError as error:
            if not str(error).startswith(
                "nothing to draw: "
            ):  # in two steps, no filter of Figure 12 has learned
                raise


def models(lab):
    return lab.root.glob("results/cache/models/*/log.jsonl")


GPU = load_tier("gpu", Path(__file__).parents[2])
ON_GPU = (
    "jing2022/projector_spectra", "skean2024/early_lead", "skean2024/eigenvalue_saturation",
    "skean2024/linear_probes",
)  # fmt: skip
"""The experiments that the gpu tier is for."""
CHANGED = {
    "data_set", "data_sets", "online", "steps", "looks", "epochs", "methods", "encoder.stem", "precision",
    "pilot_steps", "trace_every",
    "objectives.mocov2.queue", "objectives.dino.momentum", "probe_every", "probe_views", "recipe", "crop",
    "jitter", "hue", "batch",
    "optimiser.learning_rate",
}  # fmt: skip
"""Settings in which the gpu tier departs from the published ones; the last two in jing2022 alone."""
H200 = 139 * 2**30
"""Memory of an H200, in bytes."""


def gpu_specs(id):
    """The data set and the spec of each network of the first seed that an experiment of the tier trains."""
    params = GPU.params[id].model_copy(update={"seeds": 1})
    if id.startswith("jing2022"):
        params = replaced(params, {"further_seeds": 1})
    tasks = registry.experiment(id).declaration.plan.tasks(params, None)
    trained = [task for task in tasks if type(task) is Net and task.spec.steps]
    return [(net.source.name, net.spec) for net in trained]


def gpu_data(name, count):
    """The first images of a data set of the gpu tier."""
    if name == "shapes-64":
        rendered = shapes.render(count, seed=0, size=64)
        images, labels = rendered.images, rendered.shape
    else:
        images, labels = photographs.crops_of_many(count, "train", 64)
    pair = torch.from_numpy(images), torch.from_numpy(labels)
    return Data(*pair, *(each[:16] for each in pair))


@pytest.mark.slow
@pytest.mark.parametrize("id", ON_GPU)
def test_every_net_of_the_gpu_tier_takes_two_steps_with_its_own_spec(id, tmp_path):
    """W-MSE needs more images than its 128 dimensions."""
    for number, (name, spec) in enumerate(gpu_specs(id)):
        batch = 136 if isinstance(spec.objective, WMSE) else 8
        few = replaced(spec, {"batch": batch, "steps": 2})
        trained = train(few, gpu_data(name, batch), tmp_path / str(number))
        losses = [json.loads(line)["loss"] for line in trained.log.decode().splitlines()]
        assert len(losses) == 2, spec.objective
        assert all(map(math.isfinite, losses)), spec.objective


def test_the_gpu_tier_trains_the_methods_of_table_2_and_the_nets_of_table_1():
    specs = {id: gpu_specs(id) for id in ON_GPU}
    objectives = {
        name: {str(spec.objective) for images, spec in specs["skean2024/linear_probes"] if images == name}
        for name in ("shapes-64", "photographs-64")
    }
    assert objectives["shapes-64"] == objectives["photographs-64"]
    assert len(objectives["shapes-64"]) == 12
    assert {spec.encoder.dim for _, spec in specs["skean2024/linear_probes"]} == {512}
    nets_on = Counter(name for name, _ in specs["jing2022/projector_spectra"])
    assert nets_on == {"shapes-64": 7, "photographs-64": 3}
    assert {spec.encoder.dim for _, spec in specs["jing2022/projector_spectra"]} == {2048}
    assert all(GPU.params[id].seeds == 5 for id in ON_GPU)


@pytest.mark.parametrize("id", ON_GPU)
def test_the_gpu_tier_keeps_the_published_temperature_optimiser_and_batch(id):
    params = GPU.params[id]
    changed = {line.split(":")[0] for line in departures(params)}
    if id.startswith("jing2022"):
        assert params.optimiser.learning_rate == pytest.approx(0.3 * params.batch / 256)
    else:
        assert not changed & {"batch", "optimiser.learning_rate"}
    assert changed <= CHANGED
    assert alterations(params)  # so that no printed number is judged


def test_the_gpu_tier_fits_one_gpu_and_two_hours():
    needs = {id: experiment.needs(GPU.params[id]) for id, experiment in registry.experiments().items()}
    trained = {
        id: [each for each in needs[id].values() if each.gpus]
        for id in needs.keys() - set(GPU.on_request)
        if any(each.gpus for each in needs[id].values())
    }
    assert trained.keys() == set(ON_GPU)
    every = [each for tasks in trained.values() for each in tasks]
    assert {each.gpus for each in every} == {1}  # activations fit in half of an H200's memory
    assert all(each.memory_mb * 1e6 < H200 for each in every)  # images and features, which lie there too
    assert 90 < sum(each.minutes for each in every) < 120


def test_figure_3_has_its_published_steps_on_a_gpu():
    params = GPU.params["skean2024/eigenvalue_saturation"]
    assert not {"steps", "learning_rates"} & {line.split(":")[0] for line in departures(params)}
