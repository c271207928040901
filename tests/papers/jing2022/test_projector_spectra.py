"""The image experiments: what is trained, what is measured of it, and what its claims take for granted."""

from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from torch.nn.functional import normalize

from reprise.contract.experiment import BASE, Context
from reprise.contract.settings import replaced
from reprise.datasets.augment import normalised
from reprise.datasets.folders import Folder
from reprise.datasets.recipes import DIRECTCLR, SHAPES, Normalisation
from reprise.engine import registry
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.evidence.edits import put, without
from reprise.evidence.judgement import judge
from reprise.evidence.measures import Setting
from reprise.evidence.verdicts import judge_all
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import Identity
from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.image_nets import spectra
from reprise.papers.jing2022.image_settings import NETS
from reprise.papers.jing2022.projector_spectra.claims import NEEDS
from reprise.papers.jing2022.projector_spectra.compute import compute
from reprise.papers.jing2022.projector_spectra.experiment import Params, alternatives, check
from reprise.papers.jing2022.projector_spectra.ideal import ideal
from reprise.papers.jing2022.projector_spectra.networks import OF_TABLE_1, STARTS, nets
from reprise.papers.jing2022.projector_spectra.settings import WITHOUT_SHORTCUT
from reprise.papers.jing2022.spectra import has_collapse, rank_of_covariance, relative
from reprise.training import grid, grid_tasks, image_tasks
from reprise.training.grid import WHOLE
from reprise.training.image_tasks import Network, features, random_views
from reprise.training.images import Data, assemble
from reprise.training.methods import Student
from reprise.training.objective import Contrastive, DirectCLR
from reprise.training.optimisers import LARS, SGD

CLAIMS = registry.experiment("jing2022/projector_spectra").claims
BY_ID = {claim.id.removeprefix("jing2022/"): claim for claim in CLAIMS}
ROOT = Path(__file__).parents[3]
SMALL = (
    load_tier("smoke", ROOT)
    .params["jing2022/projector_spectra"]
    .model_copy(update={"seeds": 1, "further_seeds": 1})
)


# Training.


def spec(training, kind, seed):
    """The spec of a network."""
    return image_settings.net(training, kind, seed, "", {}).spec


@dataclass(frozen=True)
class Given:
    """A source of these images and labels."""

    name: str
    data: Data

    def load(self):
        return self.data


def rows_of(student, own, training, *sources, parts=(WHOLE,)):
    """The spectra of a network, and its probes for the labels of each source."""
    net = grid.Net("a net", (), own, sources[0], sources, parts, training.probe_views)
    network = Network(student, [], None)
    return pd.DataFrame([*spectra(network, net, "cpu"), *grid_tasks.probes(training, net, network)])


@pytest.mark.parametrize("net", NETS)
def test_the_published_training(net):
    of = spec(Params(), net, 0)
    assert of.encoder == ResNet(block="bottleneck", blocks=(3, 4, 6, 3), zero_init_residual=True)
    assert of.augmentation == DIRECTCLR
    assert of.optimiser == LARS(learning_rate=4.8, weight_decay=1e-6, trust=1e-3, clip=False)
    assert (of.batch, of.steps, of.schedule.warmup) == (4096, 31_200, 0.1)
    published = Contrastive(kind="infonce_other_view", temperature=0.1)
    assert of.objective == (DirectCLR(dimensions=360, temperature=0.1) if net == "directclr" else published)
    head = of.projector.build(2048)
    shapes = {
        "nonlinear": [(2048, 2048), (2048,), (2048,), (128, 2048), (128,), (128,)],
        "linear": [(128, 2048)],
        "diagonal": [(2048,)],
    }
    assert [tuple(weight.shape) for weight in head.parameters()] == shapes.get(net, [])
    if net == "low_rank":
        assert torch.linalg.matrix_rank(head.weight) == 360


def test_the_recipes_strengths_can_be_changed_and_nothing_else():
    changed = image_settings.augmentation(Params(jitter=0.8, crop=0.5))
    for view, before in zip(
        (changed.first, changed.second), (DIRECTCLR.first, DIRECTCLR.second), strict=True
    ):
        expected = {"brightness": 0.8, "contrast": 0.8, "saturation": 0.4, "scale": (0.5, 1.0)}
        assert view == replace(before, **expected)
    same = Params(recipe="shapes", crop=0.4, jitter=0.6, hue=0.5)
    assert image_settings.augmentation(same) == SHAPES


def test_all_nets_of_a_seed_start_from_one_encoder():
    starts = [
        assemble(spec(SMALL, net, 3), 1).student.encoder.state_dict() for net in ("nonlinear", "low_rank")
    ]
    assert all(torch.equal(weight, starts[1][name]) for name, weight in starts[0].items())


# Measurements of a network.


@pytest.fixture(scope="module")
def small():
    """A net, and images that it is read with."""
    draw = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (150, 1, 8, 8), generator=draw, dtype=torch.uint8)
    labels = torch.arange(150) % 3
    own = spec(SMALL, "linear", 0)
    return assemble(own, 1).eval().student, own, Data(images[:60], labels[:60], images[60:], labels[60:])


def test_spectra_are_those_of_unit_vectors_of_test_images(small):
    student, own, data = small
    table = rows_of(student, own, SMALL, Given("mine", data))
    with torch.no_grad():
        r = student.encoder(normalised(data.test_images, own.normalisation))
        vectors = {"representation": r, "embedding": r @ student.projector.weight.T}
    for what, z in vectors.items():
        unit = normalize(z.double()).numpy()
        largest_first = np.linalg.eigvalsh(np.cov(unit.T, bias=True))[::-1]
        found = table[table["what"] == what].sort_values("index")
        assert list(found["index"]) == list(range(1, z.shape[1] + 1))
        above = largest_first > 1e-6 * largest_first[0]  # where the other way has digits
        np.testing.assert_allclose(np.exp(found["value"])[above], largest_first[above], rtol=1e-4)


class Told(torch.nn.Module):
    """A representation of which only the last two dimensions tell the class."""

    def forward(self, x):
        told = x.flatten(1).round()[:, :1] + torch.arange(2)
        return torch.cat([torch.ones(len(x), 4), torch.cos(2 * told)], 1)


def test_probes_read_the_parts_that_they_name():
    params = replaced(SMALL, {"probe.epochs": 100})
    classes = torch.arange(90) % 3
    # Bytes that stay whole numbers after the data set's normalisation, near enough.
    images = (255 * (0.287 + 0.354 * classes)).clamp(max=255).to(torch.uint8)
    images = images[:, None, None, None].expand(-1, 1, 8, 8)
    data = Data(images[:60], classes[:60], images[60:], classes[60:])
    student = Student(Told(), torch.nn.Identity(), features=6, dim=6)
    two = data._replace(labels=data.labels % 2, test_labels=data.test_labels % 2)
    own = spec(params, "linear", 0)
    own = own.model_copy(update={"projector": Identity()})
    found = rows_of(student, own, params, Given("own", data), Given("two", two), parts=params.parts)
    accuracy = found[found["what"] == "top1"].set_index(["labels", "part"])["value"]
    assert accuracy["own", "all"] == accuracy["own", "rest"] == accuracy["two", "rest"] == 100
    assert accuracy["own", "subvector"] == pytest.approx(100 / 3)


def test_the_numbers_read_off_a_spectrum():
    two = pd.Series(np.log([2.0, 2.0, 1e-300]))
    assert rank_of_covariance(two) == pytest.approx(2)
    assert rank_of_covariance(pd.Series([0.0, -np.inf])) == 1
    assert np.isnan(rank_of_covariance(pd.Series([0.0, np.nan])))
    assert list(relative(two, pd.Series([0, 0, 0]))) == [0, 0, -30]


# The experiment.


@pytest.fixture(scope="module")
def run(kept):
    return kept("jing2022/projector_spectra", SMALL)


def test_every_probe_stands_beside_its_start(run):
    probes = run["probes"]
    assert set(probes["net"]) == {*NETS, "directclr, no shortcut"}
    assert run["probes"].notna().all(axis=None)
    start = probes.groupby(["net", "part"])["initial"].mean()
    assert start["nonlinear", "all"] == start["directclr", "all"]
    assert set(probes.loc[probes["net"] == "directclr", "part"]) == {"all", "subvector", "rest"}


def test_a_net_that_diverged_has_no_numbers(tmp_path, monkeypatch):
    model = image_tasks.model

    def diverged(*given, **options):
        found = model(*given, **options)
        found.diverged = 1
        return found

    monkeypatch.setattr(image_tasks, "model", diverged)
    tables = compute(SMALL, Context(root=tmp_path))
    assert tables["probes"]["accuracy"].isna().all()
    claim = BY_ID["table1/linear-above-none"]
    assert judge(claim, tables).code == "undefined"


def test_other_settings_change_one_thing_of_fewer_nets():
    default = load_tier("default", ROOT).params["jing2022/projector_spectra"]
    several = replaced(
        default,
        {"other_temperatures": (0.7, 1.0), "other_optimisers": (SGD(learning_rate=0.5),), "further_seeds": 3},
    )
    by_name = alternatives(several)
    differences = {
        name: {field for field in ("temperature", "optimiser", "probe_views", "data_set")
               if getattr(other, field) != getattr(default, field)}
        for name, other in by_name.items()
    }  # fmt: skip
    assert differences == {
        "temperature 0.7": {"temperature"},
        "temperature 1": {"temperature"},
        "sgd, rate 0.5": {"optimiser"},
        "probe of two crops and flips": {"probe_views"},
    }
    for name, other in by_name.items():
        rows = pd.DataFrame([dict(net.columns) for net in nets(other)])
        of_probes = {"start", "directclr"}
        assert set(rows["net"]) == of_probes | (set() if "probe" in name else {"nonlinear", "none"})
        assert set(rows["seed"]) == {0, 1, 2}
        assert set(rows["data_set"]) == {default.data_set}
    assert alternatives(Params()) == {}
    assert alternatives(replaced(default, {"nets": ("nonlinear", "none")})) == {}


def test_fewer_networks_leave_out_their_cells():
    def named(*names):
        return {dict(net.columns)["net"] for net in nets(replaced(SMALL, {"nets": names}))}

    assert named("none", "directclr") == {"start", "none", "directclr"}
    assert named(WITHOUT_SHORTCUT) == {*STARTS.values(), WITHOUT_SHORTCUT}


def test_networks_outside_table_1_have_fewer_seeds_and_are_compared_in_those():
    seeds = {}
    for net in nets(replaced(SMALL, {"seeds": 5, "further_seeds": 3})):
        row = dict(net.columns)
        seeds.setdefault((row["data_set"], row["net"]), set()).add(row["seed"])
    assert {net for (_, net), those in seeds.items() if those == set(range(5))} == {"start", *OF_TABLE_1}
    assert all(name == "digits" for (name, _), those in seeds.items() if those == set(range(5)))
    assert {frozenset(those) for those in seeds.values()} == {frozenset(range(5)), frozenset(range(3))}
    world = without("probes", seed=[3, 4], net=["diagonal", WITHOUT_SHORTCUT])(ideal(Params(seeds=5)))
    for name, count in (
        ("sec63/linear-above-diagonal", 3),
        ("fig10/through-residual", 3),
        ("table1/linear-above-none", 5),
    ):
        judgement = judge(BY_ID[name], world)
        assert (judgement.verdict, judgement.seeds) == ("reproduced", count)


def test_a_further_data_set_has_the_numbers_that_it_has_as_the_experiments_own(run, tmp_path):
    assert SMALL.further_sets == ("strokes",)
    further = run["spectra"].query("data_set == 'strokes'")
    assert set(further["net"]) == {"start", "nonlinear", "none", "directclr"}
    changes = {"data_set": "strokes", "further_sets": (), "nets": ("none",), "seeds": SMALL.further_seeds}
    own = compute(replaced(SMALL, changes), Context(root=tmp_path))
    found, expected = (
        tables["spectra"]
        .query("net == 'none' and data_set == 'strokes'")
        .drop(columns="place")
        .sort_values(["seed", "what", "index"], ignore_index=True)
        for tables in (run, own)
    )
    assert len(found) > 0
    pd.testing.assert_frame_equal(found, expected)


def test_a_data_set_that_is_missing_is_named_before_anything_runs(tmp_path):
    elsewhere = replaced(SMALL, {"further_sets": ("cifar10",), "root": str(tmp_path)})
    with pytest.raises(RepriseError, match="cifar"):
        check(elsewhere)


def test_random_views_are_crops_and_flips_of_the_same_images_and_others_each_time(small):
    student, own, data = small
    first, second, third = islice(random_views(student, own, data.images), 3)
    again = next(random_views(student, own, data.images))
    assert torch.equal(first, again)
    plain = features(student, own, data.images)
    for one, other in combinations((first, second, third, plain), 2):
        assert one.shape == plain.shape
        assert not torch.equal(one, other)
    # An image without edges is the same after each crop and flip.
    flat = torch.full((5, 1, 8, 8), 77, dtype=torch.uint8)
    torch.testing.assert_close(
        next(random_views(student, own, flat)), features(student, own, flat), rtol=1e-4, atol=1e-5
    )


def test_views_of_files_are_those_of_whole_images(small, tmp_path):
    """Not of the middle that evaluation sees."""
    _, own, _ = small
    for label in range(2):
        (tmp_path / f"{label}").mkdir()
        noise = np.random.default_rng(label).integers(0, 256, (40, 60, 3), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / f"{label}" / "0.png")
    images = Folder(tmp_path, size=16)
    of_colour = assemble(own, 3).eval().student
    views = list(
        islice(random_views(of_colour, replaced(own, {"normalisation": Normalisation()}), images), 3)
    )
    assert views[0].shape == views[2].shape == (2, 32)
    assert not torch.equal(views[0], views[2])


@pytest.mark.parametrize(("count", "epochs"), [(2, 5), (5, 5), (9, 5)])
def test_a_probe_takes_as_many_views_as_it_has_and_no_more_than_epochs(small, monkeypatch, count, epochs):
    student, own, data = small
    made = []

    def counted(*given):
        for number in range(100):
            made.append(number)
            yield torch.full((60, 32), float(number))

    monkeypatch.setattr(grid_tasks, "random_views", counted)
    training = replaced(SMALL, {"probe_views": count, "probe.epochs": epochs})
    network, source = Network(student, [], None), Given("mine", data)

    def views_of(number):
        net = grid.Net("a net", (), own, source, (source,), views=number)
        return grid_tasks._views(training, net, network, slice(4))

    views = views_of(count)
    seen = [next(views) for _ in range(epochs)]
    assert {view.shape for view in seen} == {(60, 4)}
    assert [int(view[0, 0]) for view in seen] == [number % count for number in range(epochs)]
    assert made == list(range(min(count, epochs)))
    assert views_of(0) is None


# The claims.


@pytest.fixture(scope="module")
def world():
    """Tables in which every claim holds, on the experiment's own data set alone."""
    return Setting(without("spectra", place=lambda place: place > 0)(ideal(Params())))


@pytest.mark.parametrize("name", BY_ID)
@pytest.mark.parametrize(("column", "value"), [("initial", 60.0), ("pixel_neighbours", 80.0)])
def test_a_net_that_did_not_learn_is_no_evidence(name, column, value, world):
    """Every statement is about a net that is too close to its start, or below raw pixels."""
    assert judge(BY_ID[name], put("probes", column, value)(world)).code == "did not learn"


REMEDIES = {
    name
    for name, claim in BY_ID.items()
    if any(cell.premise for cell in claim.cells.values()) and name != "fig7/collapse-without-projector"
}


@pytest.fixture(scope="module")
def elsewhere():
    """Likewise, on images that are not the paper's."""
    return Setting(without("spectra", place=lambda place: place > 0)(ideal(Params(data_set="textures"))))


def uncollapsed(net, value=-3.9):
    return put("spectra", "log_value", value, net=net, what="representation", index=lambda index: index > 1)


def test_sentences_that_compare_remedies_presuppose_a_collapse_and_those_about_one_network_do_not():
    assert {
        "fig7/projector-prevents-collapse",
        *(f"fig9/{name}-prevents-collapse" for name in ("directclr", "linear-projector")),
        *(f"table1/{net}-above-none" for net in ("directclr", "linear", "nonlinear")),
        "table1/directclr-above-linear",
        "table1/nonlinear-above-directclr",
        "sec63/linear-above-diagonal",
    } == REMEDIES


@pytest.mark.parametrize("name", sorted(REMEDIES | {"fig7/collapse-without-projector"}))
def test_where_nothing_collapses_nothing_can_be_prevented(name, elsewhere):
    assert judge(BY_ID[name], elsewhere).verdict == "reproduced"
    above_the_gate = uncollapsed("none")(elsewhere)
    for lacking in (above_the_gate, uncollapsed("start", -7.8)(elsewhere)):  # or something had before
        judgement = judge(BY_ID[name], lacking)
        assert judgement.code == "no premise"
        assert "not testable here: there is no collapse without a projector" in judgement.reason
    # Nor need the networks that are compared be trained.
    others = {"net": [net for net in NETS if net not in ("none", "directclr")]}
    untrained = without("spectra", **others)(without("probes", **others)(above_the_gate))
    assert judge(BY_ID[name], untrained).code == "no premise"


def test_on_imagenet_a_collapse_that_is_not_there_speaks_against_the_paper(world):
    without_any = uncollapsed("none")(world)
    assert judge(BY_ID["fig7/collapse-without-projector"], without_any).verdict == "contradicted"
    assert {judge(BY_ID[name], without_any).code for name in REMEDIES} == {""}
    same = uncollapsed("nonlinear")(without_any)
    assert judge(BY_ID["fig7/projector-prevents-collapse"], same).verdict == "tied"


def test_a_collapse_is_a_value_below_the_gate_or_a_fall_between_neighbours():
    assert not has_collapse(pd.Series([-7.8, 0.0, -3.9, -11.5]))
    assert has_collapse(pd.Series([-7.8, 0.0, -3.9, -11.6]))
    assert has_collapse(pd.Series([0.0, -4.1]))


@pytest.fixture(scope="module")
def everywhere():
    """Likewise, on all data sets."""
    return Setting(ideal(Params()))


@pytest.mark.parametrize("name", [name for name in BY_ID if name.startswith(("fig2/some", "fig7", "fig9"))])
def test_spectra_count_on_each_data_set_that_has_the_network(name, world, everywhere):
    every = judge(BY_ID[name], everywhere)
    assert every.verdict == "reproduced"
    assert {"imagenet", "shapes", "photographs-many"} < set(every.cells)
    own = judge(BY_ID[name], world)
    assert (own.verdict, set(own.cells)) == ("reproduced", {"imagenet"})


@pytest.mark.parametrize("name", BY_ID)
def test_untrained_nets_reproduce_nothing(name, world):
    """Nor do they where the probes are those of trained ones, but for statements about the probes."""
    at_start = world["spectra"].query("net == 'start'")
    spectra = pd.concat([at_start.assign(net=net) for net in world["spectra"]["net"].unique()])
    probes = world["probes"].assign(accuracy=world["probes"]["initial"])
    assert judge(BY_ID[name], {"probes": probes, "spectra": spectra}).verdict != "reproduced"
    if name.startswith(("fig2", "fig7", "fig9")):
        assert judge(BY_ID[name], {**world, "spectra": spectra}).verdict != "reproduced"


def test_only_the_papers_own_scale_decides_on_its_numbers(world):
    numbers = {claim.id for claim in CLAIMS if claim.kind == "value"}
    assert len(numbers) == 8
    tables = {name: table.assign(setting=BASE) for name, table in world.items()}
    small = judge_all(CLAIMS, [tables], replaced(Params(), {"encoder.width": 16})).set_index("claim")
    assert set(small.index[small["verdict"] == "not run"]) == numbers
    assert set(small.loc[list(numbers), "reason"]) == {NEEDS}
    full = judge_all(CLAIMS, [tables], Params()).set_index("claim")
    assert set(full["verdict"]) == {"reproduced"}
    assert set(full["scale"]) == {"paper"}
