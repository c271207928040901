"""The wiring of each experiment of Ren 2023: settings, arms, seeds and streams of random numbers, and one
small case of each against a plain computation."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
import unwritten
from scipy.integrate import solve_ivp
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

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.numerics.streams import Streams
from reprise.papers.ren2023 import learners
from reprise.papers.ren2023.dimension.compute import variances
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Stage, solve
from reprise.papers.ren2023.model import positive_pairs, scales
from reprise.papers.ren2023.spectra import signal_variances
from reprise.papers.ren2023.zero_shot import compute as zero_shot
from reprise.papers.ren2023.zero_shot import encoders, inputs, scenes
from reprise.papers.ren2023.zero_shot.data import captioned

OF_FEATURES = "baseline != 'most frequent label'"


def both(query):
    return {"trajectory": query, "limit": query}


def in_widths(query, others):
    return {"widths": query, "steps": others, "batches": others}


CASES = {
    case.id: case
    for case in (
        Case(
            "ren2023/two_stages",
            {
                "dim": 6, "signals": 3, "width": 40, "batch_size": 16, "negatives": 15.0, "stage1_steps": 8,
                "stage2_steps": 12, "record_every": 4, "fresh_pairs": 200, "seeds": 2,
            },
            ("loss", "step", "stage", "signals", "fresh_pairs", "spectrum", "noise", "seed"),
            {
                "dim": Change(7, both(EVERY), share=0.3),
                "signals": Change(2, both(EVERY)),
                "noise": Change(0.8, both("noise")),
                "width": Change(60, {"trajectory": EVERY}),
                "batch_size": Change(17, {"trajectory": EVERY}),
                "negatives": Change(7.0, both("loss == 'contrastive'")),
                "step_size": Change(0.1, both("step > 0")),
                "stage1_tau2": Change(0.3, both("loss == 'contrastive'")),
                "stage2_tau2": Change(6.0, both("loss == 'contrastive' and step > 8")),
                "fresh_pairs": Change(300, {"trajectory": EVERY}, share=0.3),
            },
            ("stage1_steps", "stage2_steps", "record_every", "seeds"),
            {"trajectory": ("loss", "spectrum", "noise"), "limit": ("loss", "spectrum", "noise")},
        ),
        Case(
            "ren2023/finite_width",
            {
                "dim": 4, "signals": 2, "stage1_time": 1.6, "stage2_time": 1.6, "looks": 2,
                "widths": (20, 2000), "step_sizes": (0.4, 0.2), "batch_sizes": (8, 64), "seeds": 2,
                "width_seeds": 2,
            },
            ("width", "seed", "loss", "stage", "time", "step_size", "batch_size"),
            {
                "dim": Change(5, in_widths(EVERY, "time > 0")),
                "signals": Change(3, in_widths(EVERY, "time > 0")),
                "noise": Change(0.8, in_widths(EVERY, "time > 0")),
                "negatives": Change(31.0, in_widths("loss == 'contrastive' and time > 0", "time > 0")),
                "stage1_tau2": Change(0.3, in_widths("loss == 'contrastive' and time > 0", "time > 0")),
                "stage2_tau2": Change(7.0, in_widths("loss == 'contrastive' and stage == 2", "stage == 2")),
                "batch_step": Change(0.4, {"batches": "time > 0"}),
                "descent_width": Change(50, {"steps": "time > 0", "batches": "time > 0"}),
            },
            (
                "stage1_time", "stage2_time", "looks", "flow_steps", "widths", "step_sizes", "batch_sizes",
                "seeds", "width_seeds",
            ),
            {"widths": ("width", "loss"), "steps": ("step_size",), "batches": ("batch_size",)},
            shared=("width 1000",),  # descent and batches start from the same weights
        ),
        Case(
            "ren2023/dimension",
            {"dims": (4, 6, 8, 10)},
            ("dim", "signals", "tolerance", "moment"),
            {
                "spike": Change(2.0, {"ends": EVERY, "closed_form": EVERY}),
                "negatives": Change(63.0, {"ends": "moment in ('stage 1', 'stage 2')"}),
                "tau2_stage1": Change(1.0, {"ends": "moment in ('stage 1', 'stage 2')"}),
                "tau2_stage2": Change(6.0, {"ends": "moment == 'stage 2'"}),
                "alignment_gap": Change(0.1, {"ends": "moment in ('stage 1', 'stage 2')"}),
                "tolerance": Change(1e-4, {"ends": "moment in ('without negatives', 'stage 2')"}),
            },
            ("dims",),
            {"ends": ("moment", "dim")},
            random=False,
        ),
        Case(
            "ren2023/temperature",
            {
                "dim": 8, "signals": 4, "negatives": (31.0,), "tau2": (0.5, 4.0), "steps": 200, "looks": 10,
                "stage1_tau2": (0.001, 0.01), "stage1_steps": 50, "seeds": 2,
            },
            ("step", "tau2", "seed", "negatives", "claimed"),
            {
                "dim": Change(9, {"uniform": "step > 0", "stage1": EVERY}),
                "signals": Change(3, {"uniform": EVERY, "stage1": EVERY}),
                "variance_ratio": Change(6.0, {"uniform": EVERY, "stage1": EVERY}),
                "noise": Change(0.8, {"uniform": EVERY, "stage1": EVERY}),
                "step_size": Change(0.1, {"uniform": "step > 0", "stage1": EVERY}),
                "claimed_negatives": Change(100.0, {"uniform": "claimed and step > 0", "stage1": EVERY}),
                "negatives": Change((63.0,), {"uniform": "not claimed and step > 0"}),
                "tau2": Change((0.5, 8.0), {"uniform": "tau2 == 4 and step > 0"}),
                "stage1_tau2": Change((0.001, 0.005), {"stage1": "tau2 == 0.01"}),
                "stage1_steps": Change(100, {"stage1": EVERY}),
            },
            ("steps", "looks", "seeds"),
            {"uniform": ("tau2", "negatives"), "stage1": ("tau2",)},
        ),
        Case(
            "ren2023/theory",
            {"points": 2},
            ("identity", "form", "seed"),
            {
                "largest": Change(8, {"identities": EVERY}, share=0.1),
            },
            ("points",),
            {},
        ),
        Case(
            "ren2023/schedules",
            {
                "dim": 8, "signals": 4, "stage1_tau2": (0.01, 0.1), "stage1_steps": (20, 40),
                "stage2_tau2": (6.0, 12.0), "stage2_steps": (20, 60), "decay_steps": 20_000,
            },
            (
                "stage2_steps", "stage1_steps", "stage1_tau2", "stage2_tau2", "schedule", "spectrum", "noise",
                "decade",
            ),
            {
                "dim": Change(9, {"region": EVERY, "decay": EVERY}, share=0.2),
                "signals": Change(3, {"region": EVERY, "decay": EVERY}),
                "noise": Change(0.8, {"region": "noise", "decay": "noise"}, share=0.2),
                "negatives": Change(63.0, {"region": EVERY, "decay": EVERY}),
                "step_size": Change(0.1, {"region": EVERY, "decay": EVERY}),
                "stage1_tau2": Change((0.01, 0.3), {"region": "stage1_tau2 == 0.1", "decay": EVERY}),
                "stage1_steps": Change((20, 30), {"region": "stage1_steps == 40", "decay": EVERY}),
                "stage2_tau2": Change((6.0, 24.0), {"region": "stage2_tau2 == 12", "decay": EVERY}),
                "stage2_steps": Change((20, 50), {"region": "stage2_steps == 60"}),
            },
            ("decay_steps",),
            {
                "region": ("stage1_steps", "stage1_tau2", "stage2_tau2", "stage2_steps", "spectrum", "noise"),
                "decay": ("spectrum", "noise"),
            },
            random=False,
        ),
        Case(
            "ren2023/zero_shot",
            {
                "data_set": "scenes", "encoders": "presence", "image_size": 32, "width": 8, "batch_size": 16,
                "epochs": 2, "looks": 3, "scenes": (32, 48, 40), "encoder_steps": 2, "seeds": 2,
            },
            ("loss", "seed", "step", "epoch", "baseline", "split", "what"),
            {
                "prompt": Change(
                    "large and small, {}", {"course": EVERY, "baselines": OF_FEATURES}, share=0.2,
                    may=("baselines",),
                ),
                "width": Change(10, {"course": EVERY}),
                "normalisation": Change("unit", {"course": EVERY}),
                "inverse_temperature": Change(3.0, {"course": "loss == 'contrastive' and step > 0"}),
                "learning_rate": Change(0.01, {"course": "step > 0"}),
                **{
                    name: Change(value, {"course": EVERY, "baselines": OF_FEATURES}, may=("baselines",))
                    for name, value in {
                        "encoder_steps": 3, "encoder_learning_rate": 0.05, "encoder_batch": 17,
                        "encoder_precision": "bfloat16",
                    }.items()
                },
            },
            (
                "objective", "data_set", "encoders", "root", "resnet101", "roberta", "device", "image_size",
                "pooling", "batch_size", "epochs", "looks", "scenes", "seeds",
            ),
            {"course": ("loss",)},
        ),
    )
}  # fmt: skip
EACH = pytest.mark.parametrize("id", CASES)


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    return Context(root=tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def computed(context):
    return cache(lambda id: CASES[id].compute(context))


def test_every_experiment_is_here():
    missing = (
        {id for id in registry.experiments() if id.startswith("ren2023/")}
        - CASES.keys()
        - unwritten.experiments()
    )
    assert not missing, f"{missing}: each needs a Case in this file, which says what its settings change"


@EACH
def test_every_setting_is_varied_here_or_a_size(id):
    assert_every_setting_is_declared(CASES[id])


@pytest.mark.parametrize(("id", "name"), [(id, name) for id, case in CASES.items() for name in case.changes])
def test_a_setting_reaches_what_it_is_about_and_nothing_else(id, name, computed, context):
    assert_a_setting_changes_its_rows_alone(CASES[id], computed(id), name, context)


@EACH
def test_no_two_arms_have_the_same_numbers(id, computed):
    assert_arms_differ(CASES[id], computed(id))


@EACH
def test_no_two_seeds_have_the_same_numbers(id, computed):
    assert_seeds_differ(CASES[id], computed(id))


@pytest.mark.parametrize("id", [id for id in CASES if id != "ren2023/zero_shot"])  # takes 9 seconds
def test_seeds_follow_the_first(id, computed):
    case = CASES[id]
    assert_seeds_follow_the_first(id, case.params(), computed(id), seedless=case.seedless)


@EACH
def test_no_stream_of_random_numbers_is_used_twice(id, tmp_path):
    assert_no_stream_is_opened_twice(CASES[id], Context(root=tmp_path))


# Two stages: training does not see the pairs that measure alignment.


def test_fresh_pairs_measure_alignment_and_nothing_else(computed):
    case = CASES["ren2023/two_stages"]
    few, many = computed(case.id)["trajectory"], case.compute(fresh_pairs=300)["trajectory"]
    assert (few["alignment"] != many["alignment"]).mean() > 0.3
    others = [name for name in few if name not in ("alignment", "fresh_pairs")]
    pd.testing.assert_frame_equal(few[others], many[others], check_exact=True)


# Finite width: every table, by automatic differentiation of the losses over all latents.


class Plain:
    """K_A and K_B of one seed as one vector, with the losses of Eqs. 3 and 4 as sums over all latents."""

    def __init__(self, params, purpose, width, seed):
        self.params, self.dim, r = params, params.dim, params.signals
        variance = signal_variances("linear", params.dim, r)
        self.scale = torch.from_numpy(scales(variance, params.noise, params.dim))
        root = learners.gram_root(Streams([seed], purpose), width, params.dim)[0]
        learner = learners.initial(root, self.scale)
        self.start = torch.stack(learner.pair)
        corners = torch.tensor(list(product((1.0, -1.0), repeat=self.dim))).double().T / self.dim**0.5
        self.y, same = corners, (corners[:r, :, None] == corners[:r, None]).all(0)
        self.positive = same.double() / same.sum()

    def similarities(self, k, y_a, y_b):
        norms = k.square().sum((1, 2)).div(self.dim).sqrt()
        return (k[0] @ y_a / norms[0]).T @ (k[1] @ y_b / norms[1])

    def population(self, k, stage, contrastive=True):
        s, tau2 = (
            self.similarities(k, self.y, self.y),
            (self.params.stage1_tau2, self.params.stage2_tau2)[stage - 1],
        )
        if not contrastive:
            return -(self.positive * s).sum()
        odds = (tau2 * s).exp()
        of_a, of_b = (self.params.negatives * odds.mean(axis, keepdim=True) for axis in (1, 0))
        shares = (odds / (odds + of_a)).log() + (odds / (odds + of_b)).log()
        return -(self.positive * shares).sum() / tau2

    def on_batch(self, k, stage, y_a, y_b):
        s, tau2 = (
            self.similarities(k, y_a, y_b),
            (self.params.stage1_tau2, self.params.stage2_tau2)[stage - 1],
        )
        odds, samples = (tau2 * s).exp(), s.shape[0]
        total = 0.0
        for i in range(samples):
            for row in (odds[i], odds[:, i]):
                others = (row.sum() - odds[i, i]) / (samples - 1)
                total = total - (odds[i, i] / (odds[i, i] + self.params.negatives * others)).log()
        return total / samples / tau2

    def velocity(self, k, loss):
        k = k.detach().clone().requires_grad_()
        return -torch.autograd.grad(loss(k), k)[0] * self.scale.square()

    def descended(self, step, loss_of):
        """After both stages."""
        k = self.start
        for stage, time in ((1, self.params.stage1_time), (2, self.params.stage2_time)):
            for _ in range(round(time / step)):
                k = k + step * self.velocity(k, loss_of(stage))
        return k

    def flowed(self, contrastive=True):
        k = self.start
        for stage, time in ((1, self.params.stage1_time), (2, self.params.stage2_time)):

            def slope(_, flat, stage=stage):
                k = torch.from_numpy(flat).view(self.start.shape)
                return self.velocity(k, lambda k: self.population(k, stage, contrastive)).flatten().numpy()

            path = solve_ivp(slope, (0, time), k.flatten().numpy(), rtol=1e-8, atol=1e-10)
            k = torch.from_numpy(path.y[:, -1]).view(self.start.shape)
        return k


def gram(k):
    columns = torch.cat(list(k), 1).numpy()
    return columns.T @ columns


def apart(k, other):
    return np.linalg.norm(gram(k) - gram(other)) / np.linalg.norm(gram(other))


FINITE = CASES["ren2023/finite_width"]


def at_the_end(table, **where):
    rows = table[(table[list(where)] == pd.Series(where)).all(axis=1)]
    return rows.loc[rows["time"].idxmax(), "distance"]


@pytest.mark.parametrize("step", FINITE.settings["step_sizes"])
def test_steps_compare_descent_with_the_flow_on_the_same_loss(step, computed):
    plain = Plain(FINITE.params(), "width 1000", 1000, seed=1)
    descended = plain.descended(step, lambda stage: lambda k: plain.population(k, stage))
    found = at_the_end(computed(FINITE.id)["steps"], step_size=step, seed=1)
    assert found == pytest.approx(apart(descended, plain.flowed()), rel=1e-3)


@pytest.mark.parametrize("batch", FINITE.settings["batch_sizes"])
def test_batches_compare_sgd_with_descent_on_all_latents(batch, computed):
    params = FINITE.params()
    plain = Plain(params, "width 1000", 1000, seed=1)
    streams = Streams([1], f"minibatches of {batch}")

    def on_batch(stage):
        y_a, y_b = (y[0] for y in positive_pairs(streams, params.dim, params.signals, batch))
        return lambda k: plain.on_batch(k, stage, y_a, y_b)

    sgd = plain.descended(params.batch_step, on_batch)
    full = plain.descended(params.batch_step, lambda stage: lambda k: plain.population(k, stage))
    found = at_the_end(computed(FINITE.id)["batches"], batch_size=batch, seed=1)
    assert found == pytest.approx(apart(sgd, full), rel=1e-6)


@pytest.mark.parametrize("contrastive", [True, False])
def test_widths_compare_each_losss_flow_with_its_own_limit(contrastive, computed):
    params = FINITE.params()
    flowed = Plain(params, "width 20", 20, seed=1).flowed(contrastive)
    limit = InfiniteWidth.of(
        signal_variances("linear", params.dim, params.signals), noise2=params.noise**2,
        noises=params.dim - params.signals, negatives=params.negatives, contrastive=contrastive,
    )  # fmt: skip
    stages = [Stage(params.stage1_time, params.stage1_tau2), Stage(params.stage2_time, params.stage2_tau2)]
    moment = solve(limit, [params.stage1_time + params.stage2_time], stages).moment
    lengths = [*moment.k[0, 0], *[moment.v[0, 0]] * (params.dim - params.signals)]
    expected = np.diag([*lengths, *lengths])
    for p, h in enumerate(moment.h[0, 0]):
        expected[p, params.dim + p] = expected[params.dim + p, p] = h
    loss = "contrastive" if contrastive else "non-contrastive"
    found = at_the_end(computed(FINITE.id)["widths"], loss=loss, width=20, seed=1)
    distance = np.linalg.norm(gram(flowed) - expected) / np.linalg.norm(expected)
    assert found == pytest.approx(distance, rel=1e-3)


# Dimension: Stage 2 goes on where Stage 1 ended.


def test_stage_2_goes_on_where_stage_1_ended():
    """At a coarse tolerance, so that where it rests tells where it came from."""
    case = CASES["ren2023/dimension"]
    params, ends = case.params(tolerance=1e-3), case.compute(tolerance=1e-3)["ends"]
    for dim in params.dims:
        moments = ends[ends["dim"] == dim].set_index("moment")
        first, second = moments.loc["stage 1"], moments.loc["stage 2"]
        limit = InfiniteWidth.of(variances(dim, params.spike), negatives=params.negatives)
        stages = [
            Stage(first["time"], params.tau2_stage1),
            Stage(second["time"] - first["time"], params.tau2_stage2),
        ]
        moment = solve(limit, [first["time"], second["time"]], stages).moment
        for row, number in ((first, 0), (second, 1)):
            for name in ("condition", "rho", "stable_rank"):
                assert row[name] == pytest.approx(getattr(moment, name)[number, 0], rel=1e-6), (dim, name)
            # What is left of the distance between the modalities tells most of the way here.
            assert row["distance"] == pytest.approx(moment.distance[number, 0], rel=1e-3), dim
        assert second["distance"] < 0.5 * first["distance"]


# Zero-shot: what trains never sees what tests.


def test_other_test_scenes_change_what_is_measured_and_nothing_that_is_trained(computed, tmp_path):
    case = CASES["ren2023/zero_shot"]
    before = computed(case.id)["course"]
    after = case.compute(Context(root=tmp_path), scenes=(32, 48, 41))["course"]
    pd.testing.assert_series_equal(after["loss_value"], before["loss_value"], check_exact=True)
    assert (after["stable_rank_image"] != before["stable_rank_image"]).all()


def test_test_images_captions_labels_and_prompts_are_only_measured(context):
    case = CASES["ren2023/zero_shot"]
    params, given = case.params(), inputs.read(case.params(), context.root, 0)
    course = zero_shot._course(params, given, 0, None, lambda share: None)
    other = given._replace(
        test_images=given.test_images.flip(0) + 1, test_texts=given.test_texts.flip(0) + 1,
        test_present=~given.test_present, prompts=given.prompts.flip(0),
    )  # fmt: skip
    changed = zero_shot._course(params, other, 0, None, lambda share: None)
    pd.testing.assert_series_equal(changed["loss_value"], course["loss_value"], check_exact=True)
    assert (changed["condition_image"] != course["condition_image"]).all()
    label = given._replace(test_present=~given.test_present)
    of_labels = zero_shot._course(params, label, 0, None, lambda share: None)
    np.testing.assert_allclose(of_labels["accuracy"], 100 - course["accuracy"])
    rest = [name for name in course if name != "accuracy"]
    pd.testing.assert_frame_equal(of_labels[rest], course[rest], check_exact=True)


@pytest.mark.parametrize("modality", ["image", "text"])
def test_encoders_learn_shapes_and_colours_of_scenes_of_their_own(modality, monkeypatch, tmp_path):
    """Neither the scenes that train or test the heads, nor the categories that are asked for."""
    params, asked, learned = CASES["ren2023/zero_shot"].params(), [], []
    train = encoders.train_on_presence

    def spied(make, dim, items, present, **rest):
        learned.append(present)
        return train(make, dim, items, present, **rest)

    monkeypatch.setattr(encoders, "train_on_presence", spied)
    monkeypatch.setattr(encoders, "captioned", lambda *given: asked.append(given[2:]) or captioned(*given))
    getattr(encoders, f"{modality}_encoder")(params, tmp_path, 1).load()
    assert set(asked) == {("pretrain", 1)}
    (labels,) = learned
    data = captioned(params, tmp_path, "pretrain", 1)
    rows = range(len(data.present)) if modality == "image" else data.owner
    assert len(labels) == len(rows)
    assert labels.shape[1] == len(scenes.SHAPES) + len(scenes.COLOURS)
    for row, label in zip(rows, labels.tolist(), strict=True):
        shown = [
            name.split() for name, there in zip(data.categories, data.present[row], strict=True) if there
        ]
        words = {word for name in shown for word in name}
        assert [name in words for name in (*scenes.SHAPES, *scenes.COLOURS)] == label
