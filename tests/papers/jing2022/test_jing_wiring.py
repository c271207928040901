"""The wiring of each arm of Jing 2022's experiments: training data, start and measurements against plain
loops; the rows that each stream of random numbers reaches; and probes whose predictions no test label or
other image changes."""

import re
from functools import cache

import numpy as np
import pytest
import scipy.linalg
import torch
from reading import where
from turning import assert_reaches, purposes, turned
from wiring import assert_seeds_follow_the_first

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.numerics.streams import Streams
from reprise.papers.jing2022 import starts
from reprise.papers.jing2022.bench import plain_infonce

TOY = {"batch_size": 24, "seeds": 2, "dim": 6, "learning_rate": 0.3}
SMALL = {
    "jing2022/augmentation_threshold": {
        **TOY, "steps": 9, "one_view": (0.25, 0.9, 1.1, 1.25, 4.0), "both_views": (4.0,),
    },
    "jing2022/layer_alignment": {**TOY, "steps": 12, "noise_std": 0.4},
    "jing2022/projector_alignment": {**TOY, "steps": 12, "noise_std": 0.4, "low_rank": 2},
    "jing2022/depth_and_nonlinearity": {
        **TOY, "steps": 8, "long_steps": 16, "samples": 64, "product_scale": 0.3, "noise_std": 0.4,
    },
    "jing2022/other_papers": {
        **TOY, "steps": 12, "noise_std": 0.4, "low_rank": 2, "rotations": 5, "init_scale": 0.6,
    },
}  # fmt: skip


def params(id):
    return registry.experiment(id).params(**SMALL[id])


@cache
def computed(id):
    return registry.experiment(id).compute()(params(id), Context())


# Rows that random numbers reach.

PROGRAMS = 'views == "authors\' case_1.py"'
FROM_START = {"trajectory": "", "alignment": "", "singular_values": "", "theorem3": ""}
REACHES = {
    "jing2022/augmentation_threshold": {
        "init": {"singular_values": f"not ({PROGRAMS})", "strong_block": ""},
        "train": {"singular_values": f"step > 0 and not ({PROGRAMS})", "strong_block": "step > 0"},
        "probe": {"strong_block": ""},
        "code init": {"singular_values": PROGRAMS},
        **{
            f"code {stream}": {"singular_values": f"step > 0 and {PROGRAMS}"}
            for stream in ("inputs", "picks", "noise")
        },
    },
    "jing2022/layer_alignment": {
        "data": {
            **FROM_START, "trajectory": "step > 0", "singular_values": "step > 0 or layer == 'embedding'",
        },
        **{
            f"{arm} weights": {
                name: "" if name == "theorem3" else f"arm == '{arm}'"
                for name in FROM_START if name != "theorem3" or arm == "balanced"
            }
            for arm in ("independent", "balanced", "degenerate")
        },
    },
    "jing2022/projector_alignment": {
        "data": {"trajectory": "step > 0"},
        "weights": {"trajectory": ""},
        "projectors": {"trajectory": "arm == 'low-rank'"},
    },
    "jing2022/depth_and_nonlinearity": {
        "train": {"spectrum": "step > 0"},
        "evaluation": {"spectrum": ""},
        **{f"{depth} layers": {"spectrum": f"depth == {depth}"} for depth in (1, 2, 3, 4)},
    },
    "jing2022/other_papers": {
        "data": {"trajectory": ""},
        "weights": {"trajectory": ""},
        "rotations": {"trajectory": ""},
        "projectors": {"trajectory": "arm in ['low-rank', 'decaying']"},
    },
}  # fmt: skip
"""Experiment -> stream -> the rows that depend on its numbers."""


@pytest.mark.parametrize("id", REACHES)
def test_every_stream_is_known(id, monkeypatch):
    assert purposes(monkeypatch, id, params(id)) == set(REACHES[id])


@pytest.mark.parametrize(("id", "stream"), [(id, stream) for id in REACHES for stream in REACHES[id]])
def test_a_stream_reaches_the_rows_of_its_seed_that_it_should_and_no_other(id, stream, monkeypatch):
    after = turned(monkeypatch, id, params(id), re.escape(stream), seeds={1})
    reached = {
        name: " and ".join(part for part in (query and f"({query})", "seed == 1") if part)
        for name, query in REACHES[id][stream].items()
    }
    assert_reaches(computed(id), after, reached)


@pytest.mark.parametrize("id", SMALL)
def test_seeds_follow_the_first(id):
    assert_seeds_follow_the_first(id, params(id), computed(id))


def test_rotations_of_chance_change_nothing_but_chance(monkeypatch):
    id = "jing2022/other_papers"
    after = turned(monkeypatch, id, params(id), "rotations")["trajectory"]
    before = computed(id)["trajectory"]
    assert {column for column in before if not before[column].equals(after[column])} == {"chi_rotated"}


# Section 4.


def plain_x(x1, x2, w):
    """X of Lemma 2 over the batch, by its double sum."""
    z1, z2, total = (x1 @ w.T).numpy(), (x2 @ w.T).numpy(), 0
    x1, x2 = x1.numpy(), x2.numpy()
    for i in range(len(z1)):
        similarity = [
            np.exp(-0.5 * np.sum((z1[i] - (z2[i] if j == i else z1[j])) ** 2)) for j in range(len(z1))
        ]
        alpha = np.array(similarity) / np.sum(similarity)
        for j in range(len(z1)):
            total = total + (j != i) * alpha[j] * np.outer(x1[i] - x1[j], x1[i] - x1[j])
        total = total - (1 - alpha[i]) * np.outer(x2[i] - x1[i], x2[i] - x1[i])
    return total / len(z1)


@pytest.mark.parametrize(("views", "k"), [("one", 0.9), ("one", 4.0), ("both", 4.0)])
def test_a_cell_of_section_4_is_a_plain_loop(views, k):
    """Fresh samples at each step in training, and for X at the start; noise of variance k on the last half of
    the inputs, on the views that it is named for."""
    id, seed = "jing2022/augmentation_threshold", 1
    p = params(id)
    noise = np.sqrt([p.weak_variance] * 3 + [k] * 3)
    noise = torch.from_numpy(noise)

    def sampler(purpose):
        for normal in Streams([seed], purpose).batches(3, p.batch_size, p.dim):
            x, first, second = normal[0].double()
            x = p.input_variance**0.5 * x
            yield (x + first * noise if views == "both" else x), x + second * noise

    train, probe = sampler("train"), sampler("probe")
    w = (p.init_std * Streams([seed], "init").normal(p.dim, p.dim))[0].double()
    found = {name: where(t, views=views, amplitude=k, seed=seed) for name, t in computed(id).items()}
    recorded = sorted(found["strong_block"]["step"])
    assert recorded[0] == 0
    assert recorded[-1] == p.steps
    for step in range(p.steps + 1):
        if step in recorded:
            weak, strong = w[:, :3].numpy(), w[:, 3:].numpy()
            beyond = strong - weak @ np.linalg.lstsq(weak, strong, rcond=None)[0]
            if step == 0:
                x = np.mean([plain_x(*next(probe), w) for _ in range(8)], axis=0)
                at_start, x_start = beyond, x[3:, 3:]
            predicted = at_start @ scipy.linalg.expm(x_start * p.learning_rate * step)
            row = where(found["strong_block"], step=step).squeeze()
            assert row["norm"] == pytest.approx(np.linalg.norm(beyond, 2), rel=1e-3)
            expected = np.log10(np.linalg.norm(predicted, 2))
            assert row["log10_norm_if_x_fixed"] == pytest.approx(expected, abs=1e-3)
            values = where(found["singular_values"], step=step).sort_values("index")["singular_value"]
            expected = np.linalg.svd(w.numpy(), compute_uv=False)
            np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-6)
        w = w.requires_grad_()
        (gradient,) = torch.autograd.grad(plain_infonce(*(view @ w.T for view in next(train))), w)
        w = (w - p.learning_rate * gradient).detach()


# Sections 5 and 6.1.


def data(p, seed):
    """Clean inputs and two views, each with noise of its own."""
    streams = Streams([seed], "data")
    deviations = np.geomspace(p.covariance_span, 1 / p.covariance_span, p.dim) ** 0.5
    clean = streams.normal(p.batch_size, p.dim)[0].double() * torch.from_numpy(deviations)
    first, second = p.noise_std * streams.normal(2, p.batch_size, p.dim)[0].double()
    return clean, clean + first, clean + second


def descended(p, views, weights, network, loss=plain_infonce, moves=None):
    """The weights at each step of descent on the loss of the networks' outputs.

    Args:
        moves: of each weight, which entries train; by default all.
    """
    moves = moves or [torch.ones_like(w) for w in weights]
    weights = [w.double() for w in weights]
    yield weights
    for _ in range(p.steps):
        leaves = [w.detach().requires_grad_() for w in weights]
        gradients = torch.autograd.grad(loss(*(network(leaves, x) for x in views)), leaves, allow_unused=True)
        weights = [
            (w - p.learning_rate * part * (0 if g is None else g)).detach()
            for w, g, part in zip(leaves, gradients, moves, strict=True)
        ]
        yield weights


def deep(weights, x, activation=lambda hidden: hidden):
    for w in weights[:-1]:
        x = activation(x @ w.T)
    return x @ weights[-1].T


def plain_alignment_matrix(w1, w2):
    u1, v2 = np.linalg.svd(w1.numpy())[0], np.linalg.svd(w2.numpy())[2].T
    return v2.T @ u1


def covariance_spectrum(z):
    return np.linalg.eigvalsh(np.cov(z.numpy(), rowvar=False, bias=True))[::-1]


@pytest.mark.parametrize("arm", ["independent", "balanced", "degenerate"])
def test_every_column_of_figures_4_and_5_is_that_of_its_arm_and_layer(arm):
    id, seed = "jing2022/layer_alignment", 1
    p = params(id)
    start = starts.layers(
        Streams([seed], f"{arm} weights"), p.dim, 2, scale=p.init_scale,
        span=1.0 if arm == "degenerate" else p.init_span, balanced=arm == "balanced",
    )  # fmt: skip
    clean, *views = data(p, seed)
    tables = {
        name: where(t, arm=arm, seed=seed) for name, t in computed(id).items() if name != "theorem3"
    }  # fmt: skip
    steps = sorted(tables["trajectory"]["step"])
    assert {0, p.steps // 2, p.steps} <= set(steps)
    for step, (w1, w2) in enumerate(descended(p, views, [w[0] for w in start], deep)):
        if step not in steps:
            continue
        a = plain_alignment_matrix(w1, w2)
        row = where(tables["trajectory"], step=step).squeeze()
        expected = {
            "norm_w1": np.linalg.norm(w1),
            "norm_w2": np.linalg.norm(w2),
            "imbalance": np.linalg.norm(w1 @ w1.T - w2.T @ w2),
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-3, abs=1e-5)
        if arm != "degenerate" or step == p.steps:  # equal values have no vectors of their own
            assert row["off_diagonal_mass"] == pytest.approx(1 - (np.diag(a) ** 2).mean(), abs=5e-3)
        spectra = {
            "W1": np.linalg.svd(w1.numpy(), compute_uv=False),
            "W2": np.linalg.svd(w2.numpy(), compute_uv=False),
            "embedding": covariance_spectrum(clean @ (w2 @ w1).T),
        }
        for layer, values in spectra.items():
            rows = where(tables["singular_values"], step=step, layer=layer).sort_values("index")
            np.testing.assert_allclose(rows["singular_value"], values, rtol=2e-3)
    magnitude = tables["alignment"].pivot(index="row", columns="column", values="magnitude")
    np.testing.assert_allclose(magnitude, np.abs(a), atol=1e-2)
    assert np.linalg.norm(w1 - start[0][0]) > 0.01
    if arm != "balanced":
        assert not np.allclose(spectra["W1"], spectra["W2"], rtol=3e-3)


@pytest.mark.parametrize("arm", ["frozen", "diagonal", "low-rank", "free"])
def test_a_projector_moves_as_far_as_its_arm_allows(arm):
    id, seed = "jing2022/projector_alignment", 1
    p = params(id)
    w1, free = starts.layers(Streams([seed], "weights"), p.dim, 2, scale=p.init_scale, span=p.init_span)
    streams = Streams([seed], "projectors")
    u, v = (haar(streams, p.dim) for _ in range(2))
    values = p.init_scale * np.geomspace(p.init_span**0.5, p.init_span**-0.5, p.dim)
    w2, moves = {
        "frozen": (free[0], torch.zeros(p.dim, p.dim)),
        "diagonal": (torch.from_numpy(values).float().diag(), torch.eye(p.dim)),
        "low-rank": (u[:, :2] @ v[:2], torch.zeros(p.dim, p.dim)),
        "free": (free[0], torch.ones(p.dim, p.dim)),
    }[arm]
    _, *views = data(p, seed)
    table = where(computed(id)["trajectory"], arm=arm, seed=seed).set_index("step")
    everything = torch.ones(p.dim, p.dim)
    course = list(descended(p, views, [w1[0], w2], deep, moves=[everything, moves]))
    for step, row in table.iterrows():
        a = plain_alignment_matrix(*course[step])
        outside = 1 - np.square(a[:2, :2]).sum() / 2
        assert row["mass_outside_subspace"] == pytest.approx(outside, abs=5e-3)
        if arm != "low-rank":  # whose values are equal
            assert row["off_diagonal_mass"] == pytest.approx(1 - (np.diag(a) ** 2).mean(), abs=5e-3)
    assert ((course[-1][1] != course[0][1]) == (moves == 1)).all()


def haar(streams, dim):
    q, r = np.linalg.qr(streams.normal(dim, dim)[0].double().numpy())
    return torch.from_numpy(q * np.sign(np.diag(r))).float()


# Section 5.4.

NETS = [
    *(("linear", depth) for depth in (1, 2, 4)),
    *(("relu", depth) for depth in (2, 3)),
    *(("isotropic", depth) for depth in (1, 4)),
    ("degenerate", 4),
]


@pytest.mark.parametrize(("arm", "depth"), NETS)
def test_a_net_of_figure_6_has_its_layers_data_and_nonlinearity(arm, depth):
    """Fresh samples in training, two noises, and clean inputs of another stream for the spectrum."""
    id, seed = "jing2022/depth_and_nonlinearity", 1
    p = params(id)
    deviations = np.geomspace(p.covariance_span, 1 / p.covariance_span, p.dim) ** 0.5
    std = torch.from_numpy(deviations) if arm in ("linear", "relu") else torch.ones(p.dim).double()
    weights = starts.layers(
        Streams([seed], f"{depth} layers"), p.dim, depth, scale=p.product_scale ** (1 / depth),
        span=1.0 if arm == "degenerate" else p.init_span,
    )  # fmt: skip
    weights = [w[0].double() for w in weights]
    assert len(weights) == depth
    batches = Streams([seed], "train").batches(3, p.batch_size, p.dim)
    evaluation = std * Streams([seed], "evaluation").normal(p.samples, p.dim)[0].double()
    activation = torch.relu if arm == "relu" else lambda hidden: hidden
    table = where(computed(id)["spectrum"], arm=arm, depth=depth, seed=seed)
    steps, seen = set(table["step"]), []
    assert {0, p.steps} <= steps
    for step in range(max(steps) + 1):
        if step in steps:
            expected = covariance_spectrum(deep(weights, evaluation, activation))
            rows = where(table, step=step).sort_values("index")
            np.testing.assert_allclose(rows["singular_value"], expected, rtol=5e-3, atol=1e-6 * expected[0])
            seen.append(expected)
        x, first, second = next(batches)[0].double()
        views = [x * std + p.noise_std * noise for noise in (first, second)]
        leaves = [w.detach().requires_grad_() for w in weights]
        loss = plain_infonce(*(deep(leaves, view, activation) for view in views))
        weights = [
            (w - p.learning_rate * g).detach()
            for w, g in zip(leaves, torch.autograd.grad(loss, leaves), strict=True)
        ]
    assert not np.allclose(seen[0], seen[-1], rtol=0.02)


# Other papers.


def noncontrastive(z1, z2):
    return -(z1 * z2).sum() / (z1.norm() * z2.norm())


def plain_matches(w1, signless):
    cosines = w1.numpy() / np.linalg.norm(w1.numpy(), axis=1, keepdims=True)
    return (np.abs(cosines) if signless else cosines).max(0)


@pytest.mark.parametrize("arm", ["none", "low-rank", "decaying", "non-contrastive", "relu"])
def test_every_column_of_what_is_carried_over_is_that_of_its_arm(arm):
    id, seed = "jing2022/other_papers", 1
    p = params(id)
    start = starts.layers(Streams([seed], "weights"), p.dim, 2, scale=p.init_scale, span=p.init_span)
    streams = Streams([seed], "projectors")
    u, v, left, right = (haar(streams, p.dim) for _ in range(4))
    decaying = left @ torch.exp(-0.35 * torch.arange(p.dim)).diag() @ right
    projector = {"low-rank": u[:, :2] @ v[:2], "decaying": decaying}.get(arm, torch.eye(p.dim))
    activation = torch.relu if arm == "relu" else lambda hidden: hidden
    clean, *views = data(p, seed)
    all_, none = torch.ones(p.dim, p.dim), torch.zeros(p.dim, p.dim)

    def embed(weights, x):
        return deep(weights[:2], x, activation) @ weights[2].T

    course = descended(
        p, views, [start[0][0], start[1][0], projector], embed,
        noncontrastive if arm == "non-contrastive" else plain_infonce,
        [all_, all_, none],
    )  # fmt: skip
    rotations = Streams([seed], "rotations")
    turns = [haar(rotations, p.dim).double() for _ in range(p.rotations)]
    table = where(computed(id)["trajectory"], arm=arm, seed=seed).set_index("step")
    for step, weights in enumerate(course):
        if step not in table.index:
            continue
        values = covariance_spectrum(embed(weights, clean))
        matched = plain_matches(weights[0], arm != "relu")
        expected = {
            "standing": (values > 1e-3 * values[0]).sum(),
            "stable_rank": np.square(values).sum() / values[0] ** 2,
            "chi": matched.mean(),
            "chi_rotated": np.mean(
                [plain_matches(turn @ weights[0], arm != "relu").mean() for turn in turns]
            ),
        }
        row = table.loc[step]
        assert set(expected) == set(table.columns) - {"arm", "seed"}
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=5e-3, abs=2e-3)
    if arm == "low-rank":
        assert row["standing"] == 2
