"""The networks of Jing 2022's image experiments, by the name that their rows have; and probes that learn from
the training images alone, whose predictions no test label and no other test image changes."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from reprise.contract.experiment import Context
from reprise.contract.settings import replaced
from reprise.engine.tiers import load_tier
from reprise.networks.projectors import MLP, Diagonal, Identity, Linear, LowRank
from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.colour_short_cut import compute as short_cut
from reprise.papers.jing2022.colour_short_cut.experiment import Params as ShortCut
from reprise.papers.jing2022.projector_map.experiment import tasks
from reprise.papers.jing2022.projector_map.grid import networks
from reprise.papers.jing2022.projector_spectra.networks import nets as nets_of_spectra
from reprise.training import grid_tasks
from reprise.training.image_tasks import Network
from reprise.training.images import Data, assemble
from reprise.training.methods import Student

ROOT = Path(__file__).parents[3]
SMOKE = load_tier("smoke", ROOT).params
SPECTRA = replaced(SMOKE["jing2022/projector_spectra"], {"further_sets": ()})
MAP = SMOKE["jing2022/projector_map"]
SHORT_CUT = ShortCut(
    data_set="shapes", images=80, test_images=80, batch=16, steps=4, probe_epochs=3, seeds=1,
    precision="float32", learning_rate=0.02,
)  # fmt: skip

OBJECTIVES = {
    net: "directclr" if net.startswith("directclr") else "infonce_other_view"
    for net in ("nonlinear", "linear", "none", "directclr", "low_rank", "diagonal", "directclr, no shortcut",
                "start", "start, no shortcut")
}  # fmt: skip
HEADS = {
    **dict.fromkeys(("nonlinear", "start", "start, no shortcut"), MLP),
    **dict.fromkeys(("none", "directclr", "directclr, no shortcut"), Identity),
    "linear": Linear,
    "low_rank": LowRank,
    "diagonal": Diagonal,
}


def test_a_row_of_spectra_is_of_the_network_that_it_names():
    found = nets_of_spectra(SPECTRA)
    assert {dict(each.columns)["net"] for each in found} == set(OBJECTIVES)
    common = {}
    for each in found:
        spec, source, columns = each.spec, each.source, dict(each.columns)
        net = columns["net"]
        assert str(spec.objective) == OBJECTIVES[net]
        assert type(spec.projector) is HEADS[net]
        assert (spec.steps == 0) == net.startswith("start")
        assert spec.seed == columns["seed"]
        assert source.name == columns["data_set"]
        assert spec.encoder.last_shortcut == ("none" if net.endswith("no shortcut") else "identity")
        assert each.name.endswith(f"{net}/{columns['seed']}")
        rest = spec.model_dump(exclude={"objective", "projector", "steps", "seed"})
        rest["encoder"].pop("last_shortcut")
        assert spec.objective.temperature == SPECTRA.temperature
        assert getattr(spec.objective, "dimensions", SPECTRA.d0) == SPECTRA.d0
        assert rest == common.setdefault("rest", rest)
        assert spec.steps == (0 if net.startswith("start") else common.setdefault("steps", spec.steps))
    assert SPECTRA.d0 not in (None, SPECTRA.encoder.dim)


def test_a_row_of_the_map_is_of_the_network_that_it_names():
    nets, rows = networks(MAP)
    assert tasks(MAP) == list(nets.values())
    assert len(set(map(str, tasks(MAP)))) == len(nets)
    seen = set()
    for point, net, seed, key in rows:
        spec = nets[key].spec
        seen.add(net)
        assert nets[key].source.name == MAP.data_set
        made = str(spec.objective), type(spec.projector), spec.seed
        assert made == (OBJECTIVES[net], HEADS[net], seed) or net == "start"
        assert (spec.steps == 0) == (net == "start")
        moves = not point.base and (net in point.nets or net == "start")
        values = {
            "temperature": f"{spec.objective.temperature:g}",
            "last shortcut": spec.encoder.last_shortcut,
            "projector's last BatchNorm": {True: "yes", False: "no"}.get(
                getattr(spec.projector, "last_norm", None)
            ),
            "$d_0$": f"{getattr(spec.objective, 'dimensions', 0):g}",
        }
        if moves and (net != "start" or point.factor == "last shortcut"):
            assert values[point.factor] == point.value
        elif not moves:
            base = {"temperature": f"{MAP.temperature:g}", "last shortcut": MAP.encoder.last_shortcut}
            assert {name: values[name] for name in base} == base
    assert seen == {"nonlinear", "none", "directclr", "start"}


def test_the_arms_of_the_short_cut_have_their_images_and_share_their_seeds():
    found = short_cut.tasks(SHORT_CUT)
    for task in found:
        spec, source = short_cut.spec(SHORT_CUT, *task), short_cut.source(SHORT_CUT, task.arm)
        dark = task.arm == "any hue"
        assert source.name == ("shapes" if dark else "shapes-bright")
        assert (source.first, source.first_test) == (80, 80)
        assert (spec.augmentation.first.hue > 0.4) == (spec.augmentation.second.hue > 0.4) == dark
        assert (str(spec.objective), spec.seed) == ("nt_xent", task.seed)
    assert len(found) == 2


# Probes.


class Pixels(torch.nn.Module):
    """A representation of the pixels alone."""

    def forward(self, x):
        return x.flatten(1)


CLASSES = torch.arange(90) % 3


def images_of(classes, noise, seed):
    """Images of 4 x 4 pixels, a stripe for each class, and noise."""
    draw = torch.Generator().manual_seed(seed)
    images = 40 + noise * torch.randint(0, 100, (len(classes), 1, 4, 4), generator=draw)
    images[torch.arange(len(classes)), :, classes] += 100
    return images.to(torch.uint8)


def accuracy(data, training=SPECTRA):
    """Accuracy, in %, of an image experiment's probe on pixels."""
    training = replaced(training, {"probe.epochs": 15, "d0": 8})
    student = Student(Pixels(), torch.nn.Identity(), features=16, dim=16)
    own = image_settings.net(training, "linear", 0, "", {})
    net = replace(own, probed=(SimpleNamespace(name="own", load=lambda: data),))
    top1, _ = grid_tasks.probes(training, net, Network(student, [], None))
    return top1["value"]


def noisy(offset=0):
    """Images of which a probe predicts some and not all."""
    train, test = images_of(CLASSES, 2, 0), images_of(CLASSES.roll(offset), 2, 1)
    return Data(train, CLASSES, test, CLASSES.roll(offset))


def short_cut_accuracy(monkeypatch, data):
    """Accuracy, in %, of the colour experiment's probe on pixels."""
    of = short_cut.spec(SHORT_CUT, "any hue", 0)
    student = Student(Pixels(), torch.nn.Identity(), features=16, dim=16)
    monkeypatch.setattr(short_cut, "features", lambda student, spec, images: images.flatten(1).float())
    return short_cut.accuracy(SHORT_CUT, of, student, data)


@pytest.mark.parametrize("experiment", ["spectra", "short cut"])
def test_a_prediction_depends_on_no_test_label_and_on_no_other_test_image(experiment, monkeypatch):
    """Each image is right once over the three ways to turn the labels; and the accuracy of all images is the
    mean of two halves of other classes and brightness."""
    of = accuracy if experiment == "spectra" else lambda data: short_cut_accuracy(monkeypatch, data)
    data = noisy()
    accuracies = [of(data._replace(test_labels=(data.test_labels + shift) % 3)) for shift in range(3)]
    assert sum(accuracies) == pytest.approx(100)
    assert 40 < accuracies[0] < 100
    order = data.test_labels.argsort()
    halves = [
        of(data._replace(test_images=data.test_images[part], test_labels=data.test_labels[part]))
        for part in (order[:45], order[45:])
    ]
    assert sum(halves) / 2 == pytest.approx(accuracies[0])
    other = of(data._replace(labels=(data.labels + 1) % 3))
    assert other < accuracies[0]  # what it learned is the training labels


def test_views_of_a_probe_are_of_training_images(monkeypatch):
    """Test images are in another order, so that their classes are not those of the training labels."""

    def pixels(student, spec, images, device):
        while True:
            yield images.flatten(1).float() / 255

    monkeypatch.setattr(grid_tasks, "random_views", pixels)
    with_views = replaced(SPECTRA, {"probe_views": 3})
    train, test = images_of(CLASSES, 0, 0), images_of(CLASSES.roll(1), 0, 1)
    assert accuracy(Data(train, CLASSES, test, CLASSES.roll(1)), training=with_views) == 100


def test_the_accuracy_before_training_is_that_of_the_initial_network(tmp_path):
    tables = short_cut.compute(SHORT_CUT, Context(root=tmp_path))
    before, after = (tables["probes"].query("step == @step") for step in (0, 4))
    moved = (before["accuracy"].to_numpy() != after["accuracy"].to_numpy()).any()
    assert moved
    for arm, seed, found in before[["arm", "seed", "accuracy"]].itertuples(index=False):
        of = replaced(short_cut.spec(SHORT_CUT, arm, seed), {"steps": 0})
        data = short_cut.source(SHORT_CUT, arm).load()
        student = assemble(of, 3).eval().student
        assert found == pytest.approx(short_cut.accuracy(SHORT_CUT, of, student, data))
