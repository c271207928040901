"""The wiring of each experiment of Tian 2023: settings, arms, seeds and streams of random numbers, and one
small case of each against a plain computation."""

import math
from functools import cache
from itertools import product

import numpy as np
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

from reprise.engine import registry
from reprise.numerics.streams import stream
from reprise.papers.tian2023.image_filters import compute as images
from reprise.papers.tian2023.power_iteration.summation import a_matrix, patterns, states

TOKENS = {
    "tokens": 8, "fields": 4, "generators": 8, "filled": 2, "output_dim": 8, "batch_size": 32, "steps": 3,
    "over_parameterisation": (1, 2), "candidates": (1, 2),
}  # fmt: skip
NET = {
    name: Change(value, {"matching": EVERY})
    for name, value in {
        "generators": 9, "filled": 3, "output_dim": 9, "batch_size": 31, "steps": 4, "momentum": 0.5,
        "weight_decay": 0.1, "temperature": 0.3,
    }.items()
}  # fmt: skip
"""Settings on which the net and its data depend, whatever the arm."""
FIXED = ("objective", "tokens", "fields", "over_parameterisation", "candidates")
TRAINED = dict.fromkeys(("filters", "statistics", "patterns"), "arm != 'untrained'")
CROPPED = dict.fromkeys(TRAINED, "arm == 'cropped'")

CASES = {
    case.id: case
    for case in (
        Case(
            "tian2023/matching_scores",
            {
                **TOKENS, "seeds": 2, "seeds_compared": 3, "shown_over_parameterisation": 2,
                "shown_candidates": 2,
            },
            ("seed", "objective", "activation", "beta", "candidates", "field", "token", "unit"),
            {
                name: Change(change.value, {"matching": EVERY, "filters": EVERY})
                for name, change in {
                    **NET,
                    "learning_rate": Change(0.1, {}),
                    "pooled_statistics": Change(True, {}),
                    "variance_gradient": Change(True, {}),
                    "batch_norm": Change(False, {}),
                }.items()
            },
            (
                *FIXED, "activations", "compared_losses", "seeds", "seeds_compared",
                "shown_over_parameterisation", "shown_candidates",
            ),
            {
                "matching": ("objective", "activation", "beta", "candidates"),
                "filters": ("activation", "field", "unit"),
            },
        ),
        Case(
            "tian2023/batch_normalization",
            {
                **TOKENS, "nonuniformity": (2.0, 10.0), "seeds": 3, "figure_seeds": 2, "text_seeds": 2,
                "text_over_parameterisation": 2,
            },
            (
                "seed", "run", "beta", "candidates", "zeta", "batch_norm", "mean_gradient",
                "variance_gradient", "learning_rate",
            ),
            {
                **NET,
                "learning_rate": Change(0.1, {"matching": "run != 'text'"}),
                "text_learning_rate": Change(0.1, {"matching": "run == 'text'"}),
                "pooled_statistics": Change(True, {"matching": "batch_norm"}),
                "table_nonuniformity": Change(
                    5.0, {"matching": "zeta == 10"}, also={"nonuniformity": (2.0, 5.0)}
                ),
            },
            (
                *FIXED, "nonuniformity", "seeds", "figure_seeds", "text_seeds", "text_over_parameterisation",
            ),
            {
                "matching": (
                    "beta", "candidates", "mean_gradient", "variance_gradient", "batch_norm", "zeta",
                    "learning_rate",
                )
            },
        ),
        Case(
            "tian2023/image_filters",
            {"data_set": "digits", "filters": 6, "outputs": 5, "steps": 8, "seeds": 3, "learning_rate": 5.0},
            ("step", "arm", "seed", "field", "unit", "row", "column"),
            {
                "crop_scale": Change((0.9, 1.0), CROPPED, share=0.3),
                "crop_ratio": Change((1.0, 1.1), CROPPED, share=0.3),
                "activation": Change(
                    "leaky_relu",
                    dict.fromkeys(TRAINED, "arm in ('plain', 'cropped')"), share=0.3,
                ),
                # Of equal views both statistics are the same, up to rounding.
                "pooled_statistics": Change(True, TRAINED, share=0.2),
                **{
                    name: Change(value, TRAINED, share=0.3)
                    for name, value in {
                        "variance_gradient": True, "outputs": 6, "temperature": 0.3, "batch_size": 9,
                        "learning_rate": 2.0, "momentum": 0.5, "weight_decay": 0.01,
                    }.items()
                },
            },
            ("objective", "data_set", "root", "filters", "steps", "seeds"),
            {
                "filters": ("arm", "field", "unit"), "statistics": ("arm", "field", "step"),
                "patterns": ("arm",),
            },
        ),
        Case(
            "tian2023/local_optima",
            {"grid": 200, "repeats": 2, "data_sets": 3, "rotations": (0.0, 30.0, 180.0), "draws": 5},
            ("data", "seed", "activation", "alpha", "rotation", "units"),
            {
                "tau": Change(0.3, dict.fromkeys(("curves", "optima"), "alpha != 'uniform'")),
                "points": Change(
                    (-0.9, -0.5, -0.3, 0.0, 0.1, 0.25, 0.4, 0.6, 0.7),
                    {"curves": EVERY, **dict.fromkeys(("optima", "counts", "pca"), "data == 'E.1'")}
                    | {"collected": "data == 'E.1'"},
                    share=0.1,
                ),
                "draws": Change(6, {"collected": "units > 1"}, share=0.1),
            },
            ("grid", "repeats", "data_sets", "rotations", "units"),
            {
                "curves": ("activation", "alpha"),
                "optima": ("activation", "alpha"),
                "counts": ("rotation",),
                "collected": ("activation", "units"),
            },
            shared=("starts/E.1", "starts/random"),  # linear and ReLU units start alike
        ),
        Case(
            "tian2023/global_modulation",
            {
                "points": 2, "starts": 40, "duration": 10.0, "probability_dims": (2, 8),
                "draws": 400, "seeds": 2, "epsilons": (-0.4, 0.0, 0.4),
            },
            ("identity", "form", "seed", "dim", "start", "modulation", "epsilon"),
            {
                "largest": Change(12, {"identities": EVERY}, may=("identities",)),
                "starts": Change(41, {"basins": EVERY}),
                "duration": Change(3.0, {"basins": EVERY}),
                "draws": Change(401, {"probabilities": EVERY}),
            },
            (
                "points", "flow_starts", "dims", "modulations", "probability_dims",
                "epsilons", "seeds", "time_step",
            ),
            {"basins": ("dim", "modulation"), "probabilities": ("dim", "epsilon"), "flow": ("start",)},
        ),
        Case(
            "tian2023/power_iteration",
            {
                "patterns": 3, "gram_distances": (0.0, 0.05, 0.1, 0.4), "iterations": 10, "seeds": 2,
                "points": 2,
            },
            ("model", "gram_distance", "seed", "iteration", "start", "identity", "form"),
            {
                "noise_std": Change(
                    0.6, dict.fromkeys(("steps", "ends", "irregularity"), "model == 'smoothed'"), share=0.4
                ),
                "probability": Change(
                    0.3, dict.fromkeys(("steps", "ends", "irregularity"), EVERY), share=0.3
                ),
                "largest": Change(8, {"identities": EVERY, "thresholds": EVERY}, share=0.1),
            },
            ("patterns", "gram_distances", "iterations", "seeds", "points"),
            {
                "steps": ("model", "gram_distance"), "ends": ("model",),
                "irregularity": ("model", "gram_distance"),
            },
            seedless=("thresholds",),  # one number at every point is what is claimed
        ),
        Case(
            "tian2023/dynamics",
            {"points": 2},
            ("identity", "form", "seed", "layer"),
            {
                "largest": Change(12, {"identities": EVERY, "fields": EVERY}, share=0.2),
            },
            ("points",),
            {"fields": ("layer",)},
        ),
    )
}  # fmt: skip
EACH = pytest.mark.parametrize("id", CASES)


@cache
def computed(id):
    return CASES[id].compute()


def test_every_experiment_is_here():
    missing = (
        {id for id in registry.experiments() if id.startswith("tian2023/")}
        - CASES.keys()
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


# One small case of each against a plain computation; matching scores, BatchNorm and the theory have theirs in
# other files.


def test_filters_count_as_learned_against_what_decay_left_of_their_start():
    """The reference is torch's optimiser on the start alone, with no gradient."""
    case = CASES["tian2023/image_filters"]
    changes = {"learning_rate": 0.1, "weight_decay": 0.2, "steps": 20}
    tables, params = case.compute(**changes), case.params(**changes)
    start = images._start(params, 4)[0][0].mT.double()  # field, unit, pixel
    rest = torch.nn.Parameter(start.clone())
    optimiser = torch.optim.SGD(
        [rest], params.learning_rate, params.momentum, weight_decay=params.weight_decay
    )
    rest.grad = torch.zeros_like(rest)
    for _ in range(params.steps):
        optimiser.step()
    assert rest.norm() < 0.8 * start.norm()
    seen = set()
    for arm in images.ARMS:
        rows = tables["filters"].query("arm == @arm")
        filters = torch.from_numpy(rows["weight"].to_numpy(dtype=float)).view(start.shape)
        length = filters.norm(dim=-1)
        moved = (filters - rest.detach()).norm(dim=-1) > rest.detach().norm(dim=-1)
        expected = moved & (length >= 1e-3 * length.amax(-1, keepdim=True))
        found = rows["learned"].to_numpy().reshape(*expected.shape, 16)
        assert (found == expected.numpy()[..., None]).all(), arm
        number = tables["statistics"].query("arm == @arm and seed == 0 and step == 20").set_index("field")
        assert number["learned"].loc[list(images.FIELDS)].tolist() == expected.sum(-1).tolist()
        seen |= set(expected.flatten().tolist())
    assert seen == {True, False}


def test_the_objectives_curves_are_eq_3_with_each_importance():
    """The reference loops over the nine points: every activation, and every α by its definition."""
    case = CASES["tian2023/local_optima"]
    curves, params = computed(case.id)["curves"], case.params()
    points = [np.array([math.cos(math.pi * p), math.sin(math.pi * p)]) for p in params.points]
    for activation, alpha in product(("linear", "relu"), ("uniform", "gaussian", "infonce")):
        curve = curves.query("activation == @activation and alpha == @alpha")
        values = []
        for angle in curve["angle"].iloc[::60]:
            w = np.array([math.cos(angle), math.sin(angle)])
            f = [max(x @ w, 0.0) if activation == "relu" else x @ w for x in points]
            kernel = np.array([[math.exp(-((a - b) ** 2) / (2 * params.tau)) for b in f] for a in f])
            np.fill_diagonal(kernel, 0.0)
            weights = {
                "uniform": np.ones_like(kernel),
                "gaussian": kernel,
                "infonce": kernel / kernel.sum(1, keepdims=True),
            }[alpha]
            values.append(sum(weights[i, j] * (f[i] - f[j]) ** 2 for i, j in product(range(9), repeat=2)))
        found = curve["objective"].iloc[::60].to_numpy()
        ratio = found[np.argmax(values)] / max(values)  # each curve is scaled to a maximum of 1
        np.testing.assert_allclose(found, ratio * np.array(values), rtol=1e-9, atol=1e-12)
        assert curve["objective"].max() == 1


def test_power_iteration_is_that_of_either_models_a():
    """Run by run from u_1; A(w) with the noise's standard deviation, which has its own tests."""
    case = CASES["tian2023/power_iteration"]
    tables, params = computed(case.id), case.params()
    y, likelihood = states(np.full(params.patterns, params.probability))
    steps = tables["steps"].set_index(["model", "gram_distance", "seed", "iteration"])["step"]
    ends = tables["ends"].set_index(["model", "gram_distance", "seed", "start"])["distance"]
    for seed in range(params.seeds):
        bases = patterns(stream(seed, "patterns"), params.patterns, params.gram_distances)
        for (model, std), (distance, u) in product(
            {"discrete": 0.0, "smoothed": params.noise_std}.items(),
            zip(params.gram_distances, bases, strict=True),
        ):
            w = u[:, 0]
            for step in range(params.iterations):
                before, (a,) = w, a_matrix(w[None], (y @ u.T)[None], likelihood, std)
                w = a @ w / np.linalg.norm(a @ w)
                length = np.linalg.norm(w - before)
                assert steps[model, distance, seed, step] == pytest.approx(length, rel=1e-6, abs=1e-9)
            assert ends[model, distance, seed, 1] == pytest.approx(np.linalg.norm(w - u[:, 0]), abs=1e-9)


def test_shares_of_basins_are_counts_of_weights_that_follow_the_dynamics():
    """Between two patterns, each weight integrated alone by scipy."""
    case = CASES["tian2023/global_modulation"]
    basins, params = computed(case.id)["basins"].query("seed == 1 and dim == 2"), case.params()
    rng = stream(1, "basins/2")
    y = rng.normal(size=(params.starts, 2))
    starts, b = y / np.linalg.norm(y, axis=1, keepdims=True), rng.uniform(1.05, 3)

    def end(start, offsets):
        def velocity(_, y):
            climb = (y + offsets) * y
            return climb - (y @ climb) * y

        if (start <= 0).all():
            return -1
        y = solve_ivp(velocity, (0, params.duration), start, rtol=1e-9, atol=1e-12).y[:, -1]
        return int(y.argmax()) if y.max() > 0.99 else -2

    def first(start, offsets):
        with np.errstate(divide="ignore"):
            times = [np.log(1 + o / s) / o if s > 0 else np.inf for s, o in zip(start, offsets, strict=True)]
        return int(np.argmin(times)) if np.isfinite(times).any() else -1

    unmodulated = np.array([end(start, np.array([b, b])) for start in starts])
    for row in basins.to_dict("records"):
        offsets = np.array([b + row["modulation"], b])
        ends, firsts = (np.array([of(start, offsets) for start in starts]) for of in (end, first))
        judged = (firsts != -1) & (ends != -2)
        assert row["offset"] == b
        expected = {
            "reached": (ends == 0).mean(),
            "other": (ends == 1).mean(),
            "first_critical": (firsts == 0).mean(),
            "predicted": (firsts == ends)[judged].mean(),
            "lost": ((unmodulated == 0) & (ends != 0)).mean(),
            "unsettled": (ends == -2).mean(),
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected), row["modulation"]
    assert (basins["reached"] != basins["first_critical"]).any()


def test_probabilities_are_shares_of_draws_from_minus_one_to_one():
    """The references are a loop over the draws and, for Eq. 155, numerical integration of Eq. 154."""
    case = CASES["tian2023/global_modulation"]
    table, params = computed(case.id)["probabilities"], case.params()
    nodes, weights = np.polynomial.legendre.leggauss(400)
    for row in table.query("seed == 0").to_dict("records"):
        draws = stream(0, f"probabilities/{row['dim']}").uniform(-1, 1, (params.draws, row["dim"]))
        assert (draws.min(), draws.max()) == pytest.approx((-1, 1), abs=0.01)
        won = [y[0] > 0 and y[0] + row["epsilon"] >= max(y[1:]) for y in draws]
        assert row["simulated"] == np.mean(won)
        others = np.clip(((nodes + 1) / 2 + row["epsilon"] + 1) / 2, 0, 1) ** (row["dim"] - 1)
        assert row["formula"] == pytest.approx(weights @ others / 4, rel=1e-3)
