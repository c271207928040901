"""Settings by which the methods are trained, and the networks that experiments share."""

import math
from pathlib import Path

import pandas as pd
import pytest
import torch

from reprise import objectives
from reprise.contract.experiment import Context
from reprise.contract.settings import departures, overridden, replaced
from reprise.engine import registry
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.networks.encoders import ResNet
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024 import nets, observations
from reprise.papers.skean2024.eigenvalue_saturation.compute import compute as saturation
from reprise.papers.skean2024.eigenvalue_saturation.experiment import Params as Saturation
from reprise.papers.skean2024.linear_probes.compute import compute as linear_probes
from reprise.papers.skean2024.linear_probes.experiment import Params as LinearProbes
from reprise.papers.skean2024.linear_probes.experiment import alternatives as linear_probes_alternatives
from reprise.papers.skean2024.linear_probes.experiment import budgets
from reprise.papers.skean2024.linear_probes.experiment import tasks as linear_probes_tasks
from reprise.papers.skean2024.lineup import MATCHED, METHODS, ROWS, Objectives
from reprise.papers.skean2024.projector_and_batch.experiment import Params as ProjectorAndBatch
from reprise.papers.skean2024.published import numbers_of
from reprise.papers.skean2024.training import FROM_SCRIPTS, OUR_VARIANTS
from reprise.storage.closure import closure
from reprise.training.batches import batch_indices
from reprise.training.grid import Net
from reprise.training.grid_tasks import settled
from reprise.training.image_settings import Probe
from reprise.training.image_tasks import Network, observed
from reprise.training.images import assemble
from reprise.training.objective import MoCo
from reprise.training.optimisers import LARS, SGD
from reprise.training.pilots import PILOT_SEED
from reprise.training.schedules import Constant

ROOT = Path(__file__).parents[3]
TINY = {
    "images": 40,
    "encoder": ResNet(blocks=(1, 1, 1, 1), width=4, stem="stride2"),
    "batch": 16,
    "objectives": Objectives(mocov2=MoCo(queue=32)),
    "projector_hidden": 512,
    "probe": Probe(epochs=1),
    "seeds": 1,
}
SHAPES = {
    "data_sets": ("shapes", "shapes-80"),
    "online": "shapes",
    "optimiser": SGD(weight_decay=1e-6),
    "schedule": Constant(),
}


def tiny(**changes):
    settings = TINY | SHAPES | {"steps": (5, 5), "looks": (1, 2, 3, 4, 5), "learning_rates": (0.01,)}
    settings |= {"probe_every": 1}
    return LinearProbes(**(settings | {"online_images": 16} | changes))


@pytest.fixture(scope="module")
def shapes():
    return nets.source(tiny(), "shapes")


def spec_of(params, method, rate=0.001):
    return nets.net(params, nets.Budget(5), method, "shapes", 0, rate=rate).spec


def test_the_rows_are_the_papers():
    assert {METHODS[key].name for key in ROWS} == {number.row for number in numbers_of("Table 2")}


def test_an_edit_of_any_objective_is_one_of_the_experiments():
    used = closure(("reprise.papers.skean2024.linear_probes.compute", "compute"))
    assert {("reprise.objectives.contrastive", "nt_xent"), ("reprise.training.methods", "BYOL")} <= used


def test_every_method_has_an_objective():
    assert {name.replace("_", "-") for name in Objectives.model_fields} == set(METHODS)


@pytest.mark.parametrize("batch", [16, 64, 256])
def test_embeddings_of_dimension_contrastive_methods_keep_d_over_n(batch):
    for method in ("frossl", "vicreg", "barlow-twins", "frossl-no-logs"):
        assert spec_of(tiny(batch=batch), method).projector.dims[-1] == 4 * batch
    of = spec_of(tiny(batch=batch), "w-mse-2")
    assert of.projector.dims[-1] == batch / 2  # whitening needs more samples than dimensions


def test_the_published_widths_are_the_settings_of_a_batch_of_256():
    params = LinearProbes()
    assert spec_of(params, "frossl").projector.dims == (2048, 2048, 1024)
    assert spec_of(params, "byol").objective.hidden == 4096


def test_a_config_reaches_a_hyperparameter_and_departs_from_the_paper():
    params = overridden(LinearProbes, {"objectives": {"simclr": {"temperature": 0.5}}}, "mine.yaml")
    assert spec_of(params, "simclr").objective.temperature == 0.5
    assert departures(params) == ["objectives.simclr.temperature: 0.5 (paper: 0.2)"]
    queue = overridden(LinearProbes, {"objectives": {"mocov2": {"queue": 64}}}, "mine.yaml")
    assert departures(queue) == ["objectives.mocov2.queue: 64 (authors' code: 32768)"]


def test_a_hyperparameter_that_the_paper_does_not_state_says_where_it_is_from():
    inner = {
        f"{name}.{leaf}"
        for name, objective in Objectives()
        for leaf in type(objective).model_fields.keys() - {"kind"}
    }
    weights = ("invariance_weight", "variance_weight", "covariance_weight")
    of_the_paper = {
        "simclr.temperature",
        "frossl.invariance_weight",
        *(f"barlow_twins{which}.off_diagonal_weight" for which in ("", "_b1")),
        *(f"vicreg.{name}" for name in weights),
        *(f"vicreg_averaged.{name}" for name in weights if name != "variance_weight"),
    }
    elsewhere = {*FROM_SCRIPTS, *OUR_VARIANTS, "frossl_no_logs_matched.variance_weight"}
    assert inner - elsewhere == of_the_paper


def test_the_published_optimiser():
    of = spec_of(LinearProbes(), "frossl", rate=0.3)
    published = {"learning_rate": 0.3, "momentum": 0.9, "weight_decay": 1e-6, "trust": 0.02, "clip": True}
    assert of.optimiser == LARS(**published)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains(method, shapes, tmp_path):
    of = spec_of(tiny(), method)
    network = observed(observations.matched(of, shapes.load()) if method == MATCHED else of, shapes, tmp_path)
    losses = [record["loss"] for record in network.log]
    assert network.diverged is None
    assert len(losses) == 5
    assert all(map(math.isfinite, losses))


def test_all_methods_of_a_seed_see_the_same_batches_and_start_from_the_same_encoder(shapes):
    specs = [spec_of(tiny(), method) for method in METHODS]
    assert len({(of.seed, of.batch, of.augmentation, of.normalisation, of.steps) for of in specs}) == 1
    first, *others = (assemble(of, 3).student.encoder.state_dict() for of in specs)
    for other in others:
        assert all(torch.equal(first[name], other[name]) for name in first)


def test_solo_learns_vicreg_weighs_variances_twice():
    z = torch.randn(2, 8, 4, dtype=torch.float64) * 0.1
    summed, averaged, none = (
        objectives.vicreg(*z, variance_weight=weight)
        for weight in (
            Objectives().vicreg.variance_weight,
            Objectives().vicreg_averaged.variance_weight,
            0.0,
        )
    )
    torch.testing.assert_close(summed - none, 2 * (averaged - none))


def test_the_matched_weight_gives_frossls_gradient_at_step_0(shapes):
    of = spec_of(tiny(), "frossl-no-logs-matched")
    weight = observations.matched_weight(of, shapes.load())
    views = observations.Views(of.augmentation, of.normalisation)
    index = batch_indices(0, 0, 16, 40)
    drawn = views.of(shapes.load().images, index, views.draw(16, observations.generator(0, "views/0")))
    student = assemble(of, 3).student
    z = [student(view)[1].detach().double().requires_grad_() for view in drawn]
    gradients = []
    for loss in (objectives.frossl(*z), objectives.frossl_no_logs(*z, variance_weight=weight)):
        gradients.append(torch.cat(torch.autograd.grad(loss, z)))
    apart = (gradients[0] - gradients[1]).norm() / gradients[0].norm()
    literal = torch.cat(torch.autograd.grad(objectives.frossl_no_logs(*z), z))
    assert apart < 0.2  # the two views' energies differ a little
    assert (literal - gradients[0]).norm() > 10 * gradients[0].norm()
    columns = unit_columns(z[0].detach()).T
    energy = sum(float(a @ b) ** 2 for a in columns for b in columns)
    assert 0.5 < weight * energy < 2


@pytest.mark.parametrize("name", ["early_lead", "eigenvalue_saturation", "projector_and_batch", "trade_off"])
def test_all_experiments_have_the_networks_of_the_tables_in_the_default_tier(name):
    params = load_tier("default", ROOT).params
    tables = params["skean2024/linear_probes"]
    other = replaced(params[f"skean2024/{name}"], {"root": tables.root})
    one, same = (
        nets.net(params, budget, "frossl", "textures-16", 3)
        for params, budget in ((tables, budgets(tables)["textures-16"]), (other, nets.own_budget(other)))
    )
    assert (one.columns, one.spec, one.source) == (same.columns, same.spec, same.source)
    assert one.pilots == same.pilots
    assert tables.online_images == other.online_images


def test_pilots_have_a_seed_and_steps_of_their_own():
    params = tiny(learning_rates=(0.01, 0.1), pilot_steps=3, seeds=2)
    budget = nets.budget(params, 5, "shapes", "shapes-80")
    one, other = nets.nets(params, budget, ["frossl"], "shapes")
    assert one.pilots == other.pilots
    assert [pilot.spec.optimiser.learning_rate for pilot in one.pilots] == [0.01, 0.1]
    assert {(pilot.spec.seed, pilot.spec.steps) for pilot in one.pilots} == {(PILOT_SEED, 3)}
    assert {source.name for pilot in one.pilots for source in pilot.probed} == {"shapes"}
    assert nets.net(tiny(), budget, "frossl", "shapes", 0).pilots == ()
    assert nets.net(params, budget, "frossl", "shapes", 0, rate=0.1).pilots == ()


@pytest.mark.parametrize(("worst", "rate"), [(10.0, 0.01), (30.0, 0.1), (math.nan, 0.01)])
def test_pilots_of_several_seeds_choose_by_their_mean(worst, rate):
    params = tiny(learning_rates=(0.01, 0.1), pilot_seeds=3)
    net = nets.net(params, nets.budget(params, 5, "shapes"), "frossl", "shapes", 0)
    held_out = {0.01: [50.0, 50.0, 50.0], 0.1: [65.0, 65.0, worst]}

    def ask(pilot):
        value = held_out[pilot.spec.optimiser.learning_rate][pilot.spec.seed - PILOT_SEED]
        return pd.DataFrame({"value": [value]})

    assert settled(net, ask).spec.optimiser.learning_rate == rate


def test_a_run_goes_on_at_the_rate_of_its_best_pilot(tmp_path):
    """At the other rate the first step overflows."""
    params = tiny(methods=("vicreg",), learning_rates=(0.01, 1e30), pilot_steps=2)
    tables = linear_probes(params, Context(root=tmp_path))
    pilots = tables["pilots"].set_index("learning_rate")
    assert pilots["chosen"].to_dict() == {0.01: True, 1e30: False}
    assert pilots["held_out"].notna().to_dict() == {0.01: True, 1e30: False}
    assert set(tables["probes"]["learning_rate"]) == set(tables["online"]["learning_rate"]) == {0.01}
    assert tables["probes"]["own_rate"].all()


def test_a_network_is_trained_once_for_both_sets_of_labels_and_for_figure_3(tmp_path, capsys):
    methods = ("vicreg", "frossl")
    tables = linear_probes(
        tiny(methods=methods, trace_every=1, learning_rates=(0.1,)), Context(root=tmp_path)
    )
    assert capsys.readouterr().err.count("MISS") == 4  # two of them supervised, one for each set of labels
    assert set(tables["probes"]["data_set"]) == {"shapes", "shapes-80"}
    figure = Saturation(
        **TINY,
        data_set="shapes",
        steps=5,
        learning_rates=(0.1,),
        methods=methods,
        trace_every=1,
        probe_every=1,
        online_images=16,
    )
    saturation(figure, Context(root=tmp_path))
    said = capsys.readouterr().err
    assert (said.count("MISS"), said.count("HIT")) == (0, 4)  # at the shared rate, and at their own


def test_other_images_are_settings_with_the_methods_of_figure_3():
    """Each has its own pilots there, and the seeds of the experiment's own images."""
    params = tiny(
        methods=("simclr", "byol", "frossl"), other_images=("textures",), learning_rates=(0.01, 0.1), seeds=2
    )
    (name, elsewhere), *_ = linear_probes_alternatives(params).items()
    assert (name, elsewhere.data_sets, elsewhere.online) == (
        "textures",
        ("textures", "textures-40"),
        "textures",
    )
    assert elsewhere.methods == ("simclr", "frossl")
    trained = [task for task in linear_probes_tasks(elsewhere) if isinstance(task, Net) and task.spec.steps]
    assert {net.source.name for net in trained} == {"textures"}
    assert {net.spec.seed for net in trained} == {0, 1, PILOT_SEED}
    with pytest.raises(ValueError, match="'strokes' has no second set of labels"):
        tiny(other_images=("strokes",))


def test_a_divergence_is_a_row_without_numbers(shapes, tmp_path):
    params = tiny(methods=("barlow-twins-b1",), learning_rates=(1e30,))
    tables = linear_probes(params, Context(root=tmp_path))
    assert tables["probes"]["diverged"].notna().all()
    assert tables["probes"][["top1", "top5"]].isna().all(axis=None)
    assert tables["probes"]["start"].notna().all()
    assert tables["online"].set_index("step")["top1"].loc[5:].isna().all()
    assert len(tables["online"]) == 5


@pytest.mark.parametrize(
    ("data_set", "stem", "used"),
    [
        ("cifar10", "imagenet", "cifar"),
        ("stl10", "imagenet", "imagenet"),
        ("cifar10", "stride2", "stride2"),
    ],
)
def test_the_published_stem_follows_the_data_set_and_a_configured_one_stays(data_set, stem, used):
    params = LinearProbes(encoder=ResNet(stem=stem))
    assert nets.net(params, nets.Budget(5), "frossl", data_set, 0).spec.encoder.stem == used


def test_another_batch_sees_as_many_images():
    params = ProjectorAndBatch(**TINY, data_set="shapes", steps=8, dims=(32, 64), batches=(8, 16))
    halved = nets.net(params, nets.Budget(8), "frossl", "shapes", 0, batch=8).spec
    assert (halved.batch, halved.steps, halved.projector.dims[-1]) == (8, 16, 64)


@pytest.mark.parametrize(
    "name", ["linear_probes", "eigenvalue_saturation", "early_lead", "projector_and_batch"]
)
def test_a_missing_data_set_is_said_before_anything_runs(name, tmp_path):
    experiment = registry.experiment(f"skean2024/{name}")
    with pytest.raises(RepriseError, match=r"data set '\w+': .* lacks "):
        experiment.check(experiment.params(root=str(tmp_path)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ("frosl",)}, "unknown method 'frosl'"),
        ({"steps": (5,)}, "one for each of data_sets"),
        ({"looks": (1, 2, 3, 4, 6)}, "beyond the 5 steps"),
        ({"probe_every": 2}, "multiples of probe_every, 2"),
        ({"looks": (1, 3, 2, 4, 5)}, "increasing"),
        ({"online": "cifar10"}, "online must be one of"),
        ({"steps": (5, 6)}, "steps of shapes-80 must be 5"),
    ],
)
def test_settings_without_their_numbers_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        tiny(**changes)


def test_nets_that_all_diverge_before_the_first_look_have_no_online_accuracy():
    net = nets.net(tiny(), nets.Budget(5), "frossl", "shapes", 0)
    log = observations._log(Network(None, [], diverged=1), net)
    numbers = pd.DataFrame(log).assign(**dict(net.columns))
    table = observations.online_table(numbers, pd.DataFrame({"step": [5, 10], "epoch": [1, 2]}))
    assert table["epoch"].tolist() == [1, 2]
    assert table[["top1", "top5"]].isna().all(axis=None)
