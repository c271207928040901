"""The wiring of each experiment of Skean 2024: settings, arms, seeds, streams of random numbers, training and
test images; and one small case of each against a plain computation."""

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch
import unwritten
from reading import draw, panels_of, series
from wiring import (
    EVERY,
    Case,
    Change,
    assert_a_setting_changes_its_rows_alone,
    assert_arms_differ,
    assert_every_setting_is_declared,
    assert_no_stream_is_opened_twice,
    assert_seeds_differ,
    assert_seeds_follow_the_first,
)

from reprise.contract.experiment import BASE, Context
from reprise.datasets.augment import Views
from reprise.diagnostics.probes import linear_probe, representations
from reprise.engine import registry
from reprise.networks.encoders import ResNet
from reprise.numerics.streams import generator
from reprise.papers.skean2024 import nets
from reprise.papers.skean2024.linear_dynamics import compute as dynamics
from reprise.papers.skean2024.linear_regime import problem
from reprise.papers.skean2024.lineup import METHODS, Objectives
from reprise.papers.skean2024.projector_and_batch import experiment as appendix_c
from reprise.papers.skean2024.theory import readings
from reprise.training import image_settings
from reprise.training.batches import batch_indices
from reprise.training.image_settings import Probe
from reprise.training.image_tasks import observed
from reprise.training.images import assemble
from reprise.training.objective import FroSSL, MoCo
from reprise.training.optimisers import SGD
from reprise.training.pilots import PILOT_SEED, held_out
from reprise.training.schedules import Constant, CosineRestarts

CASES = {
    case.id: case
    for case in (
        Case(
            "skean2024/linear_regime",
            {
                "data_set": "photographs", "samples": 24, "init_std": 0.01, "horizon": 0.02, "records": 6,
                "seeds": 2,
            },
            ("views", "run", "seed", "step", "time", "index"),
            {
                "samples": Change(25, dict.fromkeys(("spectrum", "loss", "modes", "runs"), EVERY)),
                "dim": Change(12, dict.fromkeys(("spectrum", "loss", "modes", "runs"), EVERY)),
                "init_std": Change(5e-3, dict.fromkeys(("spectrum", "loss", "modes", "runs"), EVERY), 0.3),
                "rate_share": Change(
                    0.45, {"spectrum": "step > 0", "loss": "step > 0", "runs": EVERY}, share=0.4
                ),
                "horizon": Change(0.03, {"spectrum": "step > 0", "loss": "step > 0", "runs": EVERY}, 0.4),
            },
            ("data_set", "root", "views", "records", "seeds"),
            {
                "spectrum": ("views", "index"), "loss": ("views",), "modes": ("views", "index"),
                "runs": ("views", "run"),
            },
        ),
        Case(
            "skean2024/linear_dynamics",
            {
                "points": 2, "learning_rate": 0.01, "random_learning_rate": 0.02, "records": 10,
                "seeds": 2,
            },
            ("identity", "form", "seed", "time", "mode", "loss", "std", "index"),
            {
                "largest": Change(12, {"identities": EVERY}, share=0.1),
                "variances": Change(
                    (2.5, 2.0, 1.5, 1.0, 0.5),
                    dict.fromkeys(("closed_form", "equation_18", "small_starts"), EVERY),
                    share=0.3,
                ),
                "correlations": Change(
                    (0.9, 0.8, 0.7, 0.6, 0.4),
                    dict.fromkeys(("closed_form", "small_starts"), EVERY),
                    share=0.3,
                ),
                "start": Change(0.02, {"closed_form": EVERY, "equation_18": EVERY}),
                "learning_rate": Change(
                    0.005, {"closed_form": EVERY, "equation_18": EVERY}, share=0.3, may=("equation_18",)
                ),
                "horizon": Change(6.0, {"closed_form": "time > 0", "equation_18": "time > 0"}, share=0.4),
                "stds": Change((0.2, 1e-2, 1e-3, 1e-4), {"small_starts": "std == 0.1"}, share=0.3),
                "random_learning_rate": Change(0.01, {"small_starts": EVERY}, share=0.1),
                "random_horizon": Change(10.0, {"small_starts": "time > 0"}, share=0.2),
            },
            ("points", "records", "seeds"),
            {"closed_form": ("loss", "mode"), "small_starts": ("std", "index")},
            seedless=("closed_form",),  # descent from aligned layers is the same in all directions
        ),
        Case(
            "skean2024/theory",
            {
                "points": 1, "batch": 16, "dim": 32, "seeds": 2, "timed_dims": (8, 16, 32),
                "repeats": 1,
            },
            ("identity", "form", "reading", "correlation", "decay", "seed", "term", "samples", "dim"),
            {
                "largest": Change(9, {"identities": EVERY}, share=0.1),
                "batch": Change(20, {"gradients": EVERY, "operations": EVERY}),
                "dim": Change(40, {"gradients": EVERY}),
            },
            ("points", "correlations", "decays", "seeds", "timed_dims", "repeats"),
            {"gradients": ("reading", "correlation", "decay"), "operations": ("term", "samples", "dim")},
            shared=("timed embeddings",),  # of every dimension
            seedless=("identities",),  # there is one point here
        ),
    )
}  # fmt: skip
EACH = pytest.mark.parametrize("id", CASES)


@cache
def computed(id):
    return CASES[id].compute()


def test_every_experiment_is_here():
    missing = (
        {id for id in registry.experiments() if id.startswith("skean2024/")}
        - {*CASES, *IMAGES}
        - unwritten.experiments()
    )
    assert not missing, f"{missing}: each needs a Case in this file, which says what its settings change"


@EACH
def test_every_setting_is_varied_here_or_a_size(id):
    assert_every_setting_is_declared(CASES[id])


@pytest.mark.parametrize(("id", "name"), [(id, name) for id, case in CASES.items() for name in case.changes])
def test_a_setting_reaches_what_it_is_about_and_nothing_else(id, name):
    assert_a_setting_changes_its_rows_alone(CASES[id], computed(id), name)


@EACH
def test_no_two_arms_have_the_same_numbers(id):
    assert_arms_differ(CASES[id], computed(id))


@EACH
def test_no_two_seeds_have_the_same_numbers(id):
    assert_seeds_differ(CASES[id], computed(id))


@EACH
def test_seeds_follow_the_first(id):
    case = CASES[id]
    assert_seeds_follow_the_first(id, case.params(), computed(id), seedless=case.seedless)


@EACH
def test_no_stream_of_random_numbers_is_used_twice(id):
    assert_no_stream_is_opened_twice(CASES[id])


def test_runs_start_alike_and_go_on_by_losses_and_rates_of_their_own():
    """The runs' times differ with their rates, so that steps are compared."""
    loss = computed("skean2024/linear_regime")["loss"]
    for run, other in combinations(loss["run"].unique(), 2):
        one, two = (
            loss[loss["run"] == name].set_index(["views", "seed", "step"])["loss"] for name in (run, other)
        )
        later = one.index.get_level_values("step") > 0
        assert (one != two)[later].all()
        assert (one == two)[~later].all() == ({run, other} == {"barlow", "barlow-own"})


# Two views.


@pytest.mark.parametrize("views", problem.VIEWS)
def test_either_view_is_made_with_random_numbers_of_its_own(views):
    images = torch.randint(256, (12, 3, 32, 32), generator=torch.Generator().manual_seed(0)).byte()
    one, other = problem.VIEWS[views](images, 0)
    assert torch.equal(one, other) == (views == "same")
    again = problem.VIEWS[views](images, 1)
    assert torch.equal(again[0], one) == torch.equal(again[1], other) == (views == "same")


def test_data_of_the_linear_layers_have_the_modes_that_are_said():
    """X1ᵀX1 = X2ᵀX2 = V diag(λ) Vᵀ, X1ᵀX2 = V diag(ρ λ) Vᵀ; views and seeds have directions of their own."""
    params = CASES["skean2024/linear_dynamics"].params()
    x, u, v = dynamics._data(params, 0)
    variances, rho = np.array(params.variances), np.array(params.correlations)
    for view in x:
        np.testing.assert_allclose(view.T @ view, v * variances @ v.T, atol=1e-12)
    np.testing.assert_allclose(x[0].T @ x[1], v * (rho * variances) @ v.T, atol=1e-12)
    np.testing.assert_allclose(u @ u.T, np.eye(5), atol=1e-12)
    assert not np.allclose(x[0], x[1])
    assert not np.allclose(dynamics._data(params, 1)[2], v)


def test_gradients_of_the_readings_are_at_the_correlation_that_is_said():
    """Two readings at every correlation, by automatic differentiation of Eq. 6 written out."""
    case = CASES["skean2024/theory"]
    table, params = computed(case.id)["gradients"].query("seed == 1 and decay == 1"), case.params()
    first, second = readings._embeddings(params, 1, 1.0)
    centred = [z - z.mean(0) for z in (first, second)]
    assert abs(float((centred[0] * centred[1]).sum() / centred[0].norm() / centred[1].norm())) < 0.4

    def norm(term, views):
        leaves = [view.clone().requires_grad_() for view in views]
        units = [(z - z.mean(0)) / (z - z.mean(0)).norm(dim=0) for z in leaves]
        gradients = torch.autograd.grad(term(*units), leaves)
        return float(torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt())

    def invariance(a, b):
        return (a - b).square().sum() / len(a)

    def energies(a, b):
        return (a.T @ a).square().sum(), (b.T @ b).square().sum()

    variance = {
        "unit length": lambda a, b: sum(energy.log() for energy in energies(a, b)),
        "no logarithms": lambda a, b: sum(energies(a, b)),
    }
    for row in table[table["reading"].isin(variance)].to_dict("records"):
        c = row["correlation"]
        views = first, c * first + (1 - c**2) ** 0.5 * second
        assert row["invariance"] == pytest.approx(norm(invariance, views), rel=1e-4)
        assert row["variance"] == pytest.approx(norm(variance[row["reading"]], views), rel=1e-4)


# Images: specs.

TINY = {
    "images": 40,
    "encoder": ResNet(blocks=(1, 1, 1, 1), width=4, stem="stride2"),
    "batch": 16,
    "objectives": Objectives(mocov2=MoCo(queue=32)),
    "projector_hidden": 512,
    "probe": Probe(epochs=8, batch=16),
    "seeds": 2,
    "learning_rates": (0.01,),
    "optimiser": SGD(weight_decay=1e-6),
    "schedule": Constant(),
    "online_images": 16,
}
IMAGES = {
    "skean2024/linear_probes": {
        "data_sets": ("shapes", "shapes-80"), "online": "shapes", "steps": (5, 5), "looks": (1, 2, 3, 4, 5),
        "probe_every": 1, "methods": ("simclr", "frossl"),
        "learning_rates": (0.01, 0.1), "pilot_steps": 2, "seeds": 1,
    },
    "skean2024/eigenvalue_saturation": {
        "data_set": "shapes", "steps": 4, "trace_every": 1,
        "methods": ("simclr", "barlow-twins", "frossl-no-logs", "frossl"),
    },
    "skean2024/early_lead": {"data_set": "shapes", "steps": 10, "probe_every": 1},
    "skean2024/projector_and_batch": {"data_set": "shapes", "steps": 4, "dims": (32, 64), "batches": (8, 16)},
    "skean2024/trade_off": {
        "data_set": "shapes", "steps": 4, "learning_rates": (0.01, 0.1), "pilot_steps": 2, "seeds": 1,
    },
}  # fmt: skip
"""Every experiment on images."""
EACH_ON_IMAGES = pytest.mark.parametrize("id", IMAGES)


def on_images(id, **changes):
    return registry.experiment(id).params(**{**TINY, **IMAGES[id], **changes})


def spec_of(params, method, images="cifar10", **changes):
    where = {"seed": 0, "rate": 0.01} | changes
    return nets.net(params, nets.Budget(5), method, images, **where).spec


def changed_fields(one, other):
    return {name for name in type(one).model_fields if getattr(one, name) != getattr(other, name)}


@EACH_ON_IMAGES
@pytest.mark.parametrize("method", METHODS)
def test_a_methods_own_settings_reach_its_network_and_nothing_else_does(id, method):
    """The data set is CIFAR-10, whose weaker and stronger augmentations differ."""
    params, row = on_images(id, augmentation="per method"), METHODS[method]
    of, reference = spec_of(params, method), spec_of(params, "frossl")
    scaled = {"hidden", "prototypes"}  # widths, as the batch
    own = getattr(params.objectives, method.replace("-", "_"))
    assert of.objective.model_dump(exclude=scaled) == own.model_dump(exclude=scaled)
    weaker, stronger = nets.RECIPES["cifar10"]
    assert weaker != stronger
    assert of.augmentation == (weaker if row.weak else stronger)
    assert changed_fields(of, reference) <= {"objective", "augmentation", "projector"}
    assert of.projector.dims[:2] == reference.projector.dims[:2]
    shared = spec_of(on_images(id, augmentation="shared"), method)
    assert shared.augmentation == weaker
    assert changed_fields(shared, of) == (set() if row.weak else {"augmentation"})


REACHES = {
    "optimiser": (SGD(momentum=0.5), {"optimiser"}),
    "schedule": (CosineRestarts(period=0.15), {"schedule"}),
    "precision": ("bfloat16", {"precision"}),
    "projector_hidden": (256, {"projector"}),
    "encoder": (ResNet(blocks=(1, 1, 1, 1), width=8, stem="stride2"), {"encoder"}),
    "full_width_batch": (128, {"projector"}),
    "checkpoint_blocks": (True, {"checkpoint_blocks"}),
}


@EACH_ON_IMAGES
@pytest.mark.parametrize("name", REACHES)
def test_a_setting_reaches_the_networks(id, name):
    value, expected = REACHES[name]
    before, after = (spec_of(params, "frossl") for params in (on_images(id), on_images(id, **{name: value})))
    assert changed_fields(before, after) == expected


@EACH_ON_IMAGES
def test_a_runs_rate_seed_batch_and_dimension_reach_its_network(id):
    params = on_images(id)
    before = spec_of(params, "frossl")
    for changes, expected in (
        ({"rate": 0.3}, {"optimiser"}), ({"seed": 1}, {"seed"}), ({"dim": 24}, {"projector"}),
        ({"batch": 8}, {"batch", "steps"}),
    ):  # fmt: skip
        assert changed_fields(before, spec_of(params, "frossl", **changes)) == expected


# Images: what trains never sees what tests.


@cache
def trained(id, root, **changes):
    return registry.experiment(id).compute()(on_images(id, **changes), Context(root=root))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("checkout")


@EACH_ON_IMAGES
def test_other_test_images_and_labels_change_the_tests_alone(id, root, tmp_path, monkeypatch):
    """Losses, spectra, pilots and the rates that they choose stay; accuracies of the same networks do not."""
    before = trained(id, root)
    load = image_settings._load

    def other(source):
        data = load(source)
        return data._replace(
            test_images=255 - data.test_images.flip(0), test_labels=(data.test_labels + 3) % data.classes
        )

    monkeypatch.setattr(image_settings, "_load", other)
    after = registry.experiment(id).compute()(on_images(id), Context(root=tmp_path))
    tested = ["top1", "top5", "start", "supervised", "pixel_neighbours", "pixel_probe"]
    for name, table in before.items():
        rest = [column for column in table if column not in tested]
        pd.testing.assert_frame_equal(after[name][rest], table[rest], check_exact=True)
    for column in ("top1", "start"):
        assert (after["probes"][column] != before["probes"][column]).any(), column


@EACH_ON_IMAGES
def test_probes_are_those_of_the_training_images_tested_on_the_test_images(id, root):
    """One network's own representations are probed by the linear probe itself."""
    params, table = on_images(id), trained(id, root)["probes"]
    row = table.query("seed == 0").iloc[-1]
    steps = params.steps[0] if isinstance(params.steps, tuple) else params.steps
    where = {"rate": row["learning_rate"], "batch": int(row["batch"]), "dim": int(row["dim"])}
    net = nets.net(params, nets.budget(params, steps, "shapes"), row["method"], "shapes", 0, **where)
    source, spec = net.source, net.spec
    data = nets.labelled(params, row["data_set"]).load()
    for column, of in (("top1", spec), ("start", spec.model_copy(update={"steps": 0}))):
        encoder = observed(of, source, root).student.encoder
        train, test = (
            representations(encoder, lambda images: plain_input(spec, images), images)
            for images in (data.images, data.test_images)
        )
        settings = params.probe
        found = linear_probe(
            train, data.labels, test, data.test_labels, optimiser=settings.optimiser.build,
            schedule=settings.schedule, epochs=settings.epochs, batch=settings.batch, seed=0,
        )  # fmt: skip
        assert row[column] == pytest.approx(100 * found.top1)
        if column == "top1":
            assert row["top5"] == pytest.approx(100 * found.top5)


def plain_input(spec, images):
    """Pixels as the network sees them, without augmentation."""
    mean, std = (
        torch.tensor(part).view(1, -1, 1, 1) for part in (spec.normalisation.mean, spec.normalisation.std)
    )
    return (images.float() / 255 - mean) / std


@pytest.mark.parametrize("id", ["skean2024/linear_probes", "skean2024/trade_off"])
def test_pilots_are_tested_on_training_images_that_their_probe_did_not_see(id, root):
    params, tables = on_images(id), trained(id, root)
    steps = params.steps[0] if isinstance(params.steps, tuple) else params.steps
    budget, source = nets.Budget(params.pilot_steps or steps), nets.source(params, "shapes")
    data = nets.labelled(params, "shapes").load()
    pilots = tables["pilots"].query("method == 'frossl'")
    assert len(pilots) == 2
    for row in pilots.to_dict("records"):
        spec = nets.net(params, budget, "frossl", "shapes", PILOT_SEED, rate=row["learning_rate"]).spec
        encoder = observed(spec, source, root).student.encoder
        z = representations(encoder, lambda images, spec=spec: plain_input(spec, images), data.images)
        tested, learned = held_out(len(z), generator(PILOT_SEED, "held out"))
        assert sorted([*tested.tolist(), *learned.tolist()]) == list(range(len(z)))
        found = linear_probe(
            z[learned], data.labels[learned], z[tested], data.labels[tested],
            optimiser=params.probe.optimiser.build, schedule=params.probe.schedule,
            epochs=params.probe.epochs, batch=params.probe.batch, seed=PILOT_SEED,
        )  # fmt: skip
        assert row["held_out"] == pytest.approx(100 * found.top1)
    best = pilots.loc[pilots["held_out"].idxmax(), "learning_rate"]
    assert pilots.loc[pilots["chosen"], "learning_rate"].item() == best
    assert set(tables["probes"].query("method == 'frossl'")["learning_rate"]) == {best}


# Images: tables.

FIGURE3 = "skean2024/eigenvalue_saturation"


def first_embeddings(params, method):
    """Both views' embeddings of the first batch at the start."""
    of, data = spec_of(params, method, "shapes"), nets.source(params, "shapes").load()
    views, index = Views(of.augmentation, of.normalisation), batch_indices(0, 0, 16, 40)
    drawn = views.of(data.images, index, views.draw(16, generator(0, "views/0")))
    student = assemble(of, 3).student
    return [student(view)[1].detach().double() for view in drawn]


def by_hand(method, z1, z2):
    """The losses of Table 2's rows by their formulas."""
    n = len(z1)
    if method == "simclr":
        z = torch.nn.functional.normalize(torch.cat([z1, z2]), dim=1)
        logits = (z @ z.T / 0.2).fill_diagonal_(-torch.inf)
        return torch.nn.functional.cross_entropy(logits, torch.arange(2 * n).roll(n))
    a, b = ((z - z.mean(0)) / (z - z.mean(0)).norm(dim=0) for z in (z1, z2))
    if method == "barlow-twins":
        c = a.T @ b
        off = c.square().sum() - c.diagonal().square().sum()
        return 0.1 * ((1 - c.diagonal()).square().sum() + 0.005 * off)
    energies = [(z.T @ z).square().sum() for z in (a, b)]
    terms = [energy.log() for energy in energies] if method == "frossl" else energies
    return (a - b).square().sum() / n + sum(terms)


@pytest.mark.parametrize("method", IMAGES[FIGURE3]["methods"])
def test_a_methods_first_loss_and_spectra_are_those_of_its_first_batch(method, root):
    tables, (z1, z2) = trained(FIGURE3, root), first_embeddings(on_images(FIGURE3), method)
    at = "method == @method and seed == 0 and step == 0"
    covariance, correlation = np.cov(z1.T.numpy(), bias=True), np.corrcoef(z1.T.numpy())
    for own in ("own_rate", "not own_rate"):
        (trace,) = tables["traces"].query(f"{at} and {own}").to_dict("records")
        assert trace["loss"] == pytest.approx(float(by_hand(method, z1, z2)), rel=1e-4)
        spectra = tables["eigenvalues"].query(f"{at} and {own}").sort_values("index")
        for name, matrix in (("raw", covariance), ("normalised", correlation)):
            values = np.linalg.eigvalsh(matrix)[::-1]
            np.testing.assert_allclose(spectra[name], values[:14], rtol=1e-3, atol=1e-7)
            p = values[values > 0] / values.sum()
            assert trace[f"entropy_{name}"] == pytest.approx(-(p * np.log(p)).sum(), rel=1e-3)
        centred = [(z - z.mean(0)) / z.std(0, correction=0) for z in (z1, z2)]
        expected = (centred[0] * centred[1]).mean()
        assert trace["view_correlation"] == pytest.approx(float(expected), abs=1e-4)


def test_rates_methods_and_seeds_of_figure_3_have_numbers_of_their_own(root):
    """The shared rate is .1, the grid's only rate .01; the start is the same, and later steps differ."""
    traces = trained(FIGURE3, root)["traces"]
    wide = traces.pivot(index=["method", "seed", "step"], columns="own_rate", values="loss")
    start = wide.xs(0, level="step")
    assert (start[True] == start[False]).all()
    assert (wide.query("step > 0")[True] != wide.query("step > 0")[False]).all()
    rates = traces.groupby("own_rate")["learning_rate"]
    assert rates.min().to_dict() == rates.max().to_dict() == {False: 0.1, True: 0.01}
    last = traces.query("step == 3")
    assert not last["loss"].duplicated().any()


def test_networks_of_appendix_c_differ_in_what_is_varied(root):
    id = "skean2024/projector_and_batch"
    params, probes = on_images(id), trained(id, root)["probes"]
    found = set(zip(probes["batch"], probes["dim"], strict=True))
    assert found == {(16, 64), (16, 32), (8, 64)}
    for net in appendix_c.networks(params):
        spec, columns = net.spec, dict(net.columns)
        assert (spec.projector.dims[-1], spec.batch) == (columns["dim"], columns["batch"])
        assert spec.objective == FroSSL()
        assert spec.batch * spec.steps == 64


@pytest.mark.parametrize("id", ["skean2024/linear_probes", "skean2024/early_lead"])
def test_online_accuracies_are_those_of_the_networks_log(id, root):
    params, tables = on_images(id), trained(id, root)
    steps = params.steps[0] if isinstance(params.steps, tuple) else params.steps
    budget, online = nets.budget(params, steps, "shapes"), tables["online"].query("seed == 0")
    assert (online["top5"] >= online["top1"]).all()
    assert (online["top5"] > online["top1"]).any()
    for method, rows in online.groupby("method"):
        rate = rows["learning_rate"].iloc[0]
        net = nets.net(params, budget, method, "shapes", 0, rate=rate)
        log = observed(net.spec, net.source, root).log
        for row in rows.to_dict("records"):
            record = log[row["step"] - 1]  # after so many steps
            assert (row["top1"], row["top5"]) == (100 * record["probe_top1"], 100 * record["probe_top5"])


# Figure 3 beside made-up spectra, in which both rates differ.


@pytest.mark.parametrize(("id", "own"), [("skean2024/fig03", False), ("skean2024/fig03_own_rates", True)])
def test_figure_3_draws_each_method_at_the_rate_that_it_names(id, own, root):
    params = on_images(FIGURE3)
    tables = {name: table.assign(setting=BASE) for name, table in trained(FIGURE3, root).items()}
    panels = panels_of(draw(id, tables, params))
    rows = tables["eigenvalues"].query("own_rate == @own")
    for row, scale in enumerate(("raw", "normalised")):
        for column, method in enumerate(params.methods):
            panel = panels[row * len(params.methods) + column]
            assert panel.get_yscale() == "log"
            curves = rows[rows["method"] == method]
            for index, label in ((1, "$λ_{1}$"), (14, "$λ_{14}$")):
                wide = curves[curves["index"] == index].pivot(index="step", columns="seed", values=scale)
                x, y = series(panel)[label]
                np.testing.assert_array_equal(x, wide.index)
                np.testing.assert_allclose(y, np.exp(np.log(wide).mean(axis=1)))
