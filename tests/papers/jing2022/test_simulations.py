"""The simulations of Jing et al.: what they compute, against theory and limit cases at small sizes, and what
claims measure."""

import importlib
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import torch

from reprise import objectives
from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.numerics.streams import Streams
from reprise.papers.jing2022 import starts, theory, two_layers
from reprise.papers.jing2022.augmentation_threshold import compute as threshold
from reprise.papers.jing2022.augmentation_threshold.claims import heading_for
from reprise.papers.jing2022.bench import plain_infonce
from reprise.papers.jing2022.depth_and_nonlinearity import compute as depth
from reprise.papers.jing2022.layer_alignment import compute as alignment
from reprise.papers.jing2022.layer_alignment.experiment import alternatives
from reprise.papers.jing2022.other_papers import compute as others
from reprise.papers.jing2022.projector_alignment import compute as projector
from reprise.papers.jing2022.two_layer_settings import CODE_SCALE, CODE_SPAN
from reprise.training.replicas import sgd

SIMULATIONS = {
    "jing2022/augmentation_threshold": threshold,
    "jing2022/layer_alignment": alignment,
    "jing2022/projector_alignment": projector,
    "jing2022/depth_and_nonlinearity": depth,
    "jing2022/other_papers": others,
}
SMALL = {
    "jing2022/augmentation_threshold": {"batch_size": 32, "steps": 20, "seeds": 3},
    "jing2022/layer_alignment": {"batch_size": 32, "steps": 8, "seeds": 3},
    "jing2022/projector_alignment": {"batch_size": 32, "steps": 8, "seeds": 3},
    "jing2022/depth_and_nonlinearity": {
        "batch_size": 32,
        "steps": 4,
        "long_steps": 8,
        "samples": 64,
        "seeds": 3,
    },
    "jing2022/other_papers": {"batch_size": 32, "steps": 8, "seeds": 3},
}


def params(id, **changes):
    return registry.experiment(id).params(**{**SMALL[id], **changes})


def computed(id, objective=None, **changes):
    return SIMULATIONS[id].compute(params(id, **changes), Context(objective=objective))


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# Theory.


def test_x_is_lemma_2s_double_sum():
    x1, w = normal(9, 3), normal(4, 3, seed=1)
    x2 = x1 + 0.5 * normal(9, 3, seed=2)
    z1, z2, total = (x1 @ w.T).numpy(), (x2 @ w.T).numpy(), np.zeros((3, 3))
    for i in range(9):
        similarity = np.exp([-0.5 * np.sum((z1[i] - (z2[i] if j == i else z1[j])) ** 2) for j in range(9)])
        alpha = similarity / similarity.sum()
        for j in range(9):
            shift = (x1[i] - x1[j]).numpy()
            total += (alpha[j] if j != i else 0) * np.outer(shift, shift)
        shift = (x2[i] - x1[i]).numpy()
        total -= (1 - alpha[i]) * np.outer(shift, shift)
    found = theory.x_matrix(x1, x2, x1 @ w.T, x2 @ w.T)
    np.testing.assert_allclose(9 * found, total, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("batch", "width", "out"), [(2, 2, 2), (12, 3, 5), (30, 6, 2)])
def test_descent_on_the_loss_moves_w_by_w_x(batch, width, out):
    """-dL/dW = W X, of three replicas, by automatic differentiation of Eq. 2."""
    x1, w = normal(3, batch, width), 0.7 * normal(3, out, width, seed=1)
    x2 = x1 + 0.4 * normal(3, batch, width, seed=2)
    w.requires_grad_()
    losses = [plain_infonce(a @ v.T, b @ v.T) for a, b, v in zip(x1, x2, w, strict=True)]
    (gradient,) = torch.autograd.grad(torch.stack(losses).sum(), w)
    x = theory.x_matrix(x1, x2, x1 @ w.mT, x2 @ w.mT)
    torch.testing.assert_close(-gradient, w @ x, rtol=1e-9, atol=1e-12)


def test_the_solution_for_a_fixed_x_is_a_matrix_exponential():
    w, half = normal(2, 5, 4), normal(2, 4, 4, seed=1)
    x = half + half.mT
    for time in (0.0, 0.3, 5.0):
        found = threshold.log10_norm_if_x_fixed(w, x, time)
        for ours, start, rate in zip(found, w.numpy(), x.numpy(), strict=True):
            expected = np.linalg.norm(start @ scipy.linalg.expm(rate * time), 2)
            assert ours.item() == pytest.approx(np.log10(expected), abs=1e-10)


def test_and_does_not_overflow():
    found = threshold.log10_norm_if_x_fixed(
        torch.eye(2)[None].double(), torch.diag(torch.tensor([3.0, -9.0]))[None].double(), 1e4
    )
    assert found.item() == pytest.approx(3e4 / np.log(10))


# Section 4.


def test_views_have_the_variances_that_lemma_2_compares(monkeypatch):
    """x and its shift to the other view, by input, from the embeddings of the first step."""
    seen = []
    monkeypatch.setattr(
        threshold,
        "infonce_distance",
        lambda *views: seen.append([z.detach() for z in views]) or (0 * views[0]).sum((1, 2)),
    )
    monkeypatch.setattr(threshold, "mean_x", lambda w, samples: torch.eye(4).expand(len(w), 4, 4))
    computed("jing2022/augmentation_threshold", seeds=1, dim=4, batch_size=20000, steps=1, code_noise=())
    start = 0.25 * Streams([0], "init").normal(4, 4)[0]
    ((x1, x2),) = [[torch.linalg.solve(start, z.mT).mT for z in views] for views in seen]
    params = registry.experiment("jing2022/augmentation_threshold").params()
    cells = [("one", k) for k in params.one_view] + [("both", k) for k in params.both_views]
    assert len(x1) == len(cells)
    for (views, k), first, second in zip(cells, x1, x2, strict=True):
        noise = np.array([0.05, 0.05, k, k])
        np.testing.assert_allclose(first.var(0), 0.5 + (noise if views == "both" else np.zeros(4)), rtol=0.05)
        np.testing.assert_allclose((second - first).var(0), noise * (2 if views == "both" else 1), rtol=0.05)
        assert abs(np.corrcoef(second.T.numpy()) - np.eye(4)).max() < 0.04


def test_a_small_w_grows_by_twice_the_datas_variance_less_that_of_the_shift(monkeypatch):
    """All samples weigh alike where embeddings are close: X = (1 - 1/N) (2 Var(x) - Var(x' - x)). With both
    views augmented the noise is in either term, the rate does not depend on it, and nothing collapses."""
    mean_x, found = threshold.mean_x, []
    monkeypatch.setattr(threshold, "mean_x", lambda *args: found.append(mean_x(*args)) or found[0])
    size = {"init_std": 1e-3, "batch_size": 256, "seeds": 4, "input_variance": 0.75, "dim": 8, "steps": 1}
    chosen = params("jing2022/augmentation_threshold", **size)
    threshold.compute(chosen, Context())
    rates = found[0].diagonal(dim1=-2, dim2=-1)[:, 4:].mean(-1).view(4, -1).mean(0)
    cells = [("one", k) for k in chosen.one_view] + [("both", k) for k in chosen.both_views]
    for ours, (views, k) in zip(rates, cells, strict=True):
        expected = 2 * 0.75 - k if views == "one" else 2 * 0.75
        assert ours == pytest.approx((1 - 1 / 256) * expected, abs=0.05 * (1 + k))


@pytest.mark.parametrize("noise", [0.0, 1.5])
def test_the_authors_program_is_a_plain_loop_over_their_loss(noise):
    """A layer with a bias, and noise on the last half of both views; InfoNCE as cross-entropy."""
    p = params("jing2022/augmentation_threshold", seeds=2, dim=4, steps=20)
    seed, table = 1, threshold.authors_code(p, noise, Context()).query("seed == 1")
    inputs, picks = Streams([seed], "code inputs").normal(10_000, 4)[0], Streams([seed], "code picks")
    noises = Streams([seed], "code noise").batches(2, p.batch_size, 4)
    layer = torch.nn.Linear(4, 4)
    start = Streams([seed], "code init").uniform(5, 4)[0] - 0.5  # nn.Linear's own: uniform within 1/2
    layer.weight.data, layer.bias.data = start[:4], start[4]
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.001)
    for step in range(p.steps + 1):
        rows = table[table["step"] == step].sort_values("index")
        if len(rows):
            expected = torch.linalg.svdvals(layer.weight.detach())
            np.testing.assert_allclose(rows["singular_value"], expected, rtol=1e-4)
        chosen = picks.uniform(10_000)[0].argsort(descending=True)[: p.batch_size]
        assert len(set(chosen.tolist())) == p.batch_size
        first, second = next(noises)[0] * noise * torch.tensor([0, 0, 1, 1])
        logits = layer(inputs[chosen] + first) @ layer(inputs[chosen] + second).T / 0.1
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.arange(p.batch_size)).backward()
        optimiser.step()
    assert set(table["amplitude"]) == {noise**2}
    assert not np.allclose(torch.linalg.svdvals(start[:4]), expected, rtol=1e-3)


def test_the_strong_block_grows_under_the_threshold_and_vanishes_over_it_with_one_view_augmented_alone():
    found = computed(
        "jing2022/augmentation_threshold",
        one_view=(0.25, 0.9, 1.1, 1.25, 4.0),
        dim=4,
        batch_size=64,
        steps=120,
    )["strong_block"]
    norm = found.pivot(index=["views", "amplitude", "seed"], columns="step", values="norm")
    left = norm[120] / norm[0]
    assert (left["one", 0.25] > 1.5).all()
    assert (left["one", 4.0] < 1e-5).all()
    assert (left["both", 4.0] > 0.1).all()


@pytest.mark.parametrize(
    ("at_half", "at_three_quarters", "at_end", "later"),
    [
        (-2, -3, -4, -16),  # at a constant rate
        (-2, -2, -2, -2),  # at rest
        (-4, -6, -7, -8),  # at half the rate each quarter
        (-3, -2, -1, -1),  # rising
        (-1, -2, -4, -28),  # faster, taken as constant
        (-2, -1, -3, -3),  # to and fro
    ],
)
def test_where_logarithms_go_follows_from_how_they_fall(at_half, at_three_quarters, at_end, later):
    logs = pd.DataFrame([[0, at_half, at_three_quarters, at_end]], columns=[0, 50, 75, 100], dtype=float)
    assert heading_for(logs).item() == pytest.approx(later, abs=1e-3)


# Section 5.


def test_pairs_have_the_covariance_and_the_noise_that_params_say():
    pairs = two_layers.pairs_of(params("jing2022/layer_alignment", batch_size=20000, seeds=2, dim=6))
    expected = np.geomspace(4, 1 / 4, 6)
    np.testing.assert_allclose(pairs.clean.var(1), np.tile(expected, (2, 1)), rtol=0.06)
    for view in (pairs.view1, pairs.view2):
        np.testing.assert_allclose((view - pairs.clean).std(1), 0.3, rtol=0.04)
    correlation = ((pairs.view1 - pairs.clean) * (pairs.view2 - pairs.clean)).mean(1)
    assert correlation.abs().max() < 0.09 * 5 / 20000**0.5


def aligned_layers(values1, values2):
    """W1 = U diag(s1), W2 = U2 diag(s2) Uᵀ, and U and U2."""
    u, u2 = (torch.linalg.qr(normal(3, 3, seed=seed)).Q for seed in (1, 2))
    return (u * values1)[None], (u2 * values2)[None] @ u.T, u, u2


def reflected_pairs():
    """Data whose reflections at the axes are data too, so that X of aligned layers is diagonal."""
    signs = torch.tensor(list(product((1.0, -1.0), repeat=3)), dtype=torch.float64)
    base = normal(3, 3) * torch.tensor([1.5, 1.0, 0.6])
    return [(signs[:, None] * view).reshape(1, -1, 3) for view in (base, base + 0.3 * normal(3, 3, seed=3))]


@pytest.mark.parametrize("second", [[0.5, 0.4, 0.3], [0.9, 0.2, 0.1]], ids=["balanced", "unbalanced"])
def test_theorem_3s_ode_is_the_training_itself_where_layers_are_aligned_with_the_data(second):
    """They stay so, and their values alone move."""
    s1, s2 = torch.tensor([0.5, 0.4, 0.3]).double(), torch.tensor(second).double()
    (w1, w2, u, u2), (x1, x2) = aligned_layers(s1, s2), reflected_pairs()

    def loss(both):
        return objectives.infonce_distance(x1 @ both.mT, x2 @ both.mT)

    checkpoints = [0, 7, 60]
    path = sgd([w1, w2], lambda w: loss(w[1] @ w[0]), learning_rate=0.1, steps=60, checkpoints=checkpoints)
    trained = [torch.stack(w) for w in zip(*((u.T @ a, u2.T @ b @ u) for _, (a, b) in path), strict=True)]
    values = [w.diagonal(dim1=-2, dim2=-1) for w in trained]
    for diagonal, whole in zip(values, trained, strict=True):
        torch.testing.assert_close(torch.diag_embed(diagonal), whole, rtol=0, atol=1e-7)
    ode = alignment.theorem3_ode(loss, *values, torch.eye(3).double().expand(3, 1, 3, 3), checkpoints, 0.1)
    for found, expected in zip(ode, values, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    assert ((values[0][-1] / values[0][0] - 1).abs() > 0.1).all()


def test_steps_of_theorem_3s_ode_are_eq_11():
    """ds1 = s1 s2² v1ᵀ X v1 and ds2 = s2 s1² v1ᵀ X v1, with X from Lemma 2, on any data; of the training it
    takes the first values and, of the nearest checkpoint, the right singular vectors."""
    trained1, trained2 = normal(3, 2, 4).abs() + 0.2, normal(3, 2, 4, seed=1).abs() + 0.2
    x1, v1 = normal(2, 20, 4, seed=2), torch.linalg.qr(normal(3, 2, 4, 4, seed=3)).Q
    x2 = x1 + 0.3 * normal(2, 20, 4, seed=4)
    ode1, ode2 = alignment.theorem3_ode(
        lambda w: objectives.infonce_distance(x1 @ w.mT, x2 @ w.mT), trained1, trained2, v1, [5, 6, 8], 0.01
    )
    s1, s2, found = trained1[0], trained2[0], {}
    for step in range(5, 9):
        found[step] = s1, s2
        v = v1[min(step - 5, 2)]  # of the nearest checkpoint to the middle of the step
        both = (v * (s1 * s2)[:, None]).mT
        x = theory.x_matrix(x1, x2, x1 @ both.mT, x2 @ both.mT)
        rate = torch.einsum("sik,sij,sjk->sk", v, x, v)
        s1, s2 = s1 + 0.01 * s1 * s2**2 * rate, s2 + 0.01 * s2 * s1**2 * rate
    for at, step in enumerate((5, 6, 8)):
        torch.testing.assert_close(ode1[at], found[step][0], rtol=1e-10, atol=0)
        torch.testing.assert_close(ode2[at], found[step][1], rtol=1e-10, atol=0)


def test_a_step_of_training_moves_aligned_values_as_the_ode_does_to_second_order():
    """On data that are not aligned: after a step, values and Eq. 11's differ by the square of its size."""
    s1, s2 = torch.tensor([0.9, 0.6, 0.3]).double(), torch.tensor([0.8, 0.5, 0.2]).double()
    w1, w2, _, _ = aligned_layers(s1, s2)
    x1 = normal(1, 30, 3, seed=8)
    x2 = x1 + 0.3 * normal(1, 30, 3, seed=9)

    def loss(both):
        return objectives.infonce_distance(x1 @ both.mT, x2 @ both.mT)

    def difference(rate):
        ((_, now),) = sgd([w1, w2], lambda w: loss(w[1] @ w[0]), learning_rate=rate, steps=1, checkpoints={1})
        v1 = torch.eye(3).double().expand(2, 1, 3, 3)
        ode = alignment.theorem3_ode(loss, s1[None, None], s2[None, None], v1, [0, 1], rate)
        found = [torch.linalg.svdvals(w) for w in now]
        moved = max((f - s).abs().max().item() for f, s in zip(found, (s1, s2), strict=True))
        return max((f - o[1]).abs().max().item() for f, o in zip(found, ode, strict=True)), moved

    (coarse, moved), (fine, _) = difference(0.04), difference(0.02)
    assert coarse < 0.1 * moved
    assert fine == pytest.approx(coarse / 4, rel=0.15)


def test_two_layers_start_at_the_scales_that_params_say():
    found = computed("jing2022/layer_alignment")
    start = found["singular_values"].query("step == 0")
    expected = 0.2 * np.geomspace(1.3**0.5, 1.3**-0.5, 16)
    for (arm, layer, _), rows in start.groupby(["arm", "layer", "seed"]):
        if layer != "embedding":
            values = rows.sort_values("index")["singular_value"]
            np.testing.assert_allclose(values, 0.2 if arm == "degenerate" else expected, rtol=1e-4)
    trajectory = found["trajectory"].query("step == 0").groupby("arm").mean()
    assert trajectory.loc["balanced", ["imbalance", "off_diagonal_mass"]].max() < 1e-5
    assert trajectory.loc["independent", "imbalance"] > 0.01
    assert trajectory.loc["independent", "off_diagonal_mass"] > 0.8
    assert trajectory.loc["balanced", "norm_w1"] == pytest.approx(np.linalg.norm(expected), rel=1e-4)
    clean = two_layers.pairs_of(params("jing2022/layer_alignment")).clean
    embedding = start.query("arm == 'degenerate' and layer == 'embedding'")
    for seed, rows in embedding.groupby("seed"):
        covariance = np.cov(clean[seed].double().numpy(), rowvar=False, bias=True)
        expected = 0.2**4 * np.linalg.svd(covariance, compute_uv=False)
        np.testing.assert_allclose(rows.sort_values("index")["singular_value"], expected, rtol=1e-3)


def test_the_half_of_the_steps_is_recorded_whatever_their_number():
    for steps in (4, 7, 100, 4000, 4001):
        checkpoints = two_layers.checkpoints_of(steps)
        assert {0, steps // 2, steps} <= set(checkpoints)
        assert checkpoints == sorted(set(checkpoints))


def test_constraints_on_the_projector_hold_in_training_and_the_rest_moves():
    mask = torch.eye(4)
    w1, w2 = (normal(2, 4, 4, seed=seed).float() for seed in (1, 2))
    arms = {
        "free": two_layers.Arm(w1, w2, torch.ones(4, 4)),
        "frozen": two_layers.Arm(w1, w2, torch.zeros(4, 4)),
        "diagonal": two_layers.Arm(w1, w2, mask),
    }
    chosen = params("jing2022/layer_alignment", dim=4, seeds=2)
    *_, (step, end1, end2) = two_layers.train(chosen, Context(), arms)
    assert step == chosen.steps
    free, frozen, diagonal = (end2[2 * at : 2 * at + 2] - w2 for at in range(3))
    assert free.abs().min() > 0
    assert frozen.abs().max() == 0
    assert (diagonal * (1 - mask)).abs().max() == 0
    assert diagonal.diagonal(dim1=-2, dim2=-1).abs().min() > 0
    # W1 under a frozen W2 is plain descent on the loss of W1 alone, which sees the same pairs.
    pairs = two_layers.pairs_of(chosen)
    ((_, (alone,)),) = sgd(
        [w1],
        lambda w: objectives.infonce_distance(pairs.view1 @ (w2 @ w[0]).mT, pairs.view2 @ (w2 @ w[0]).mT),
        learning_rate=chosen.learning_rate,
        steps=chosen.steps,
        checkpoints={chosen.steps},
    )
    torch.testing.assert_close(end1[2:4], alone)


def test_the_authors_program_is_a_plain_loop_over_case_2():
    """Fresh batches of 10,000 points, two noises, cross-entropy of dot products over .1; singular vectors of
    uniform matrices and singular values exp(-.35 i); plain SGD."""
    settings = alternatives(registry.experiment("jing2022/layer_alignment").params())
    chosen = settings["authors' case_2.py (843a210, 2022-06-06)"]
    printed = {"dim": 16, "batch_size": 128, "noise_std": 0.001, "steps": 10_000, "learning_rate": 0.01}
    assert {name: getattr(chosen, name) for name in printed} == pytest.approx(printed)
    chosen, seed = chosen.model_copy(update={"steps": 12, "seeds": 2}), 1
    tables = alignment.compute(chosen, Context())
    weights, uniform = [], Streams([seed], "independent weights")
    for _ in range(2):
        u, _, v = torch.linalg.svd(uniform.uniform(16, 16)[0])
        weights.append((u @ torch.exp(-0.35 * torch.arange(16)).diag() @ v).requires_grad_())
    points = Streams([seed], "data").normal(10_000, 16)[0]
    order, noises = (Streams([seed], purpose) for purpose in ("batches", "noise"))
    optimiser = torch.optim.SGD(weights, lr=0.01)
    for _ in range(12):
        chosen_points = order.uniform(10_000)[0].argsort(descending=True)[:128]
        x, (first, second) = points[chosen_points], 0.001 * noises.normal(2, 128, 16)[0]
        z1, z2 = ((x + noise) @ weights[0].T @ weights[1].T for noise in (first, second))
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(z1 @ z2.T / 0.1, torch.arange(128)).backward()
        optimiser.step()
    w1, w2 = (w.detach() for w in weights)
    z = (points[:1000] @ w1.T @ w2.T).double()
    expected = {
        "W1": torch.linalg.svdvals(w1),
        "W2": torch.linalg.svdvals(w2),
        "embedding": np.linalg.eigvalsh(np.cov(z, rowvar=False, bias=True))[::-1],
    }
    end = tables["singular_values"].query(f"step == 12 and arm == 'independent' and seed == {seed}")
    for layer, values in expected.items():
        found = end[end["layer"] == layer].sort_values("index")["singular_value"]
        np.testing.assert_allclose(found, values, rtol=5e-3)


# Section 5.4.


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_layers_start_with_their_singular_values_and_balanced_if_asked(layers, balanced):
    weights = starts.layers(Streams(range(3), "w"), 5, layers, scale=0.3, span=4.0, balanced=balanced)
    assert len(weights) == layers
    for w in weights:
        expected = np.tile(0.3 * np.geomspace(2, 0.5, 5), (3, 1))
        np.testing.assert_allclose(torch.linalg.svdvals(w), expected, rtol=1e-5)
    for below, above in pairwise(weights):
        difference = (below @ below.mT - above.mT @ above).abs().amax((1, 2))
        assert (difference < 1e-6).all() if balanced else (difference > 0.01).all()


def test_the_authors_code_starts_from_exponentials():
    (w,) = starts.layers(Streams([0], "w"), 16, 1, scale=CODE_SCALE, span=CODE_SPAN)
    np.testing.assert_allclose(torch.linalg.svdvals(w)[0], np.exp(-0.35 * np.arange(16)), rtol=1e-4)


def test_a_degenerate_start_leaves_the_spectrum_of_the_data():
    found = computed("jing2022/depth_and_nonlinearity", samples=4096, seeds=2)["spectrum"].query("step == 0")
    degenerate = found.query("arm == 'degenerate'")["singular_value"] / 0.01**2
    assert degenerate.between(0.8, 1.25).all()
    isotropic = found.query("arm == 'isotropic' and depth == 1").sort_values("index")
    expected = 0.01**2 * np.geomspace(1.3, 1 / 1.3, 16)
    for _, rows in isotropic.groupby("seed"):
        np.testing.assert_allclose(rows["singular_value"], expected, rtol=0.12)
    deeper = found.groupby(["arm", "depth"])["singular_value"].agg(lambda values: np.log(values).std())
    assert deeper["isotropic", 4] > 1.3 * deeper["isotropic", 1]


def test_claims_are_read_at_a_recorded_step():
    for read, longest in ((4000, 8000), (20, 40), (2, 2), (7, 100)):
        checkpoints = depth.checkpoints_of(read, longest)
        assert {0, read, longest} <= set(checkpoints)
        assert max(checkpoints) == longest
        assert checkpoints == sorted(set(checkpoints))


# Statements of other papers.


def plain_descent(chosen, relu=False, loss=plain_infonce):
    """W1 and the embeddings of the first seed after training by automatic differentiation."""
    pairs = two_layers.pairs_of(chosen)
    start = starts.layers(
        Streams([0], "weights"), chosen.dim, 2, scale=chosen.init_scale, span=chosen.init_span
    )
    w1, w2 = (w[0].clone().requires_grad_() for w in start)

    def represent(x):
        hidden = x @ w1.T
        return (hidden.relu() if relu else hidden) @ w2.T

    for _ in range(chosen.steps):
        z1, z2 = (represent(view[0]) for view in (pairs.view1, pairs.view2))
        for w, gradient in zip((w1, w2), torch.autograd.grad(loss(z1, z2), (w1, w2)), strict=True):
            w.data -= chosen.learning_rate * gradient
    with torch.no_grad():
        return w1, represent(pairs.clean[0])


def plain_stable_rank(z):
    covariance = np.cov(z.double().numpy(), rowvar=False)
    return np.linalg.norm(covariance) ** 2 / np.linalg.norm(covariance, 2) ** 2


def plain_chi(w1, signless):
    cosines = (w1 / w1.norm(dim=1, keepdim=True)).numpy()
    return (np.abs(cosines) if signless else cosines).max(0).mean()


def plain_noncontrastive(z1, z2):
    return -(z1 * z2).sum(1).mean() / (z1.norm() * z2.norm() / len(z1))


@pytest.mark.parametrize(
    ("arm", "relu", "loss"),
    [("none", False, plain_infonce), ("relu", True, plain_infonce),
     ("non-contrastive", False, plain_noncontrastive)],
)  # fmt: skip
def test_other_papers_diagnostics_are_those_of_a_plain_loop(arm, relu, loss):
    chosen = params("jing2022/other_papers", steps=60, learning_rate=0.1)
    w1, clean = plain_descent(chosen, relu=relu, loss=loss)
    end = others.compute(chosen, Context())["trajectory"].query("step == 60 and arm == @arm and seed == 0")
    assert end["stable_rank"].item() == pytest.approx(plain_stable_rank(clean), rel=1e-3)
    assert end["chi"].item() == pytest.approx(plain_chi(w1.detach(), not relu), abs=3e-3)
    values = np.linalg.eigvalsh(np.cov(clean.double().numpy(), rowvar=False))
    assert end["standing"].item() == (values > 1e-3 * values.max()).sum()


def test_fixed_projectors_have_their_singular_values():
    group, *_ = others._groups(params("jing2022/other_papers"), objectives.infonce_distance)
    assert group.arms == ("none", "low-rank", "decaying")
    none, low_rank, decaying = group.projector.split(3)
    assert (none == torch.eye(16)).all()
    values = torch.linalg.svdvals(low_rank)
    np.testing.assert_allclose(values, np.tile([1.0] * 8 + [0.0] * 8, (3, 1)), atol=1e-5)
    np.testing.assert_allclose(
        torch.linalg.svdvals(decaying)[:, :5], [np.exp(-0.35 * np.arange(5))] * 3, rtol=1e-4
    )


def test_descent_without_projector_is_that_of_the_two_layer_model():
    """The engine of Figures 4 and 5, from the same start."""
    chosen = params("jing2022/other_papers", steps=20)
    start = starts.layers(Streams(range(3), "weights"), 16, 2, scale=chosen.init_scale, span=chosen.init_span)
    *_, (_, w1, w2) = two_layers.train(chosen, Context(), {"free": two_layers.free(start)})
    clean = two_layers.pairs_of(chosen).clean
    end = others.compute(chosen, Context())["trajectory"].query("step == 20 and arm == 'none'")
    expected = [plain_stable_rank(x @ (b @ a).T) for x, a, b in zip(clean, w1, w2, strict=True)]
    np.testing.assert_allclose(end["stable_rank"], expected, rtol=1e-4)


def test_linear_nets_have_no_filters_of_their_own():
    """A rotation of the hidden units at the start stays one: InfoNCE sees W2 W1 alone."""
    chosen = params("jing2022/layer_alignment", batch_size=32, steps=40, seeds=2)
    w1, w2 = starts.layers(Streams(range(2), "w"), 16, 2, scale=0.5, span=1.3)
    rotation = torch.linalg.qr(normal(2, 16, 16, seed=5)).Q.float()
    arms = {"plain": [w1, w2], "rotated": [rotation @ w1, w2 @ rotation.mT]}
    *_, (_, end1, _) = two_layers.train(
        chosen, Context(), {name: two_layers.free(each) for name, each in arms.items()}
    )
    torch.testing.assert_close(end1[2:], rotation @ end1[:2], rtol=1e-4, atol=1e-5)


def test_chi_of_known_filters():
    axes = torch.diag(torch.tensor([3.0, -2.0, 1.0, 0.5]))
    assert others.chi(axes, True).item() == pytest.approx(1, abs=0.01)
    assert others.chi(axes, False).item() == pytest.approx(0.75, abs=0.01)  # the second points back


def test_without_negatives_one_direction_is_left():
    """A stable rank of 1; on data whose widest axis stands apart, so that descent comes to its limit."""
    chosen = params(
        "jing2022/other_papers", dim=4, low_rank=2, batch_size=2000, steps=4000, learning_rate=0.5,
        seeds=2, init_scale=1.0,
    )  # fmt: skip
    *_, group, _ = others._groups(chosen, objectives.infonce_distance)
    end = others._train(chosen, Context(), group).query("step == 4000")
    np.testing.assert_allclose(end["stable_rank"], 1, atol=0.02)


# All simulations.


@pytest.mark.parametrize("id", SIMULATIONS)
def test_tables_are_tidy_and_those_declared(id):
    tables = computed(id)
    assert set(tables) == set(registry.experiment(id).tables)
    for name, table in tables.items():
        measured = table.select_dtypes("float").columns.difference(["amplitude"])
        assert not table.duplicated([c for c in table if c not in measured]).any(), name
        assert np.isfinite(table[measured]).all(axis=None)
        assert table["seed"].nunique() == 3


COMPANY = {
    "jing2022/augmentation_threshold": {"one_view": (0.25, 0.9, 1.1, 1.25, 4.0), "both_views": (4.0,)},
    "jing2022/layer_alignment": {"controls": ()},
    "jing2022/projector_alignment": {},
    "jing2022/depth_and_nonlinearity": {"depths": (1, 2), "relu_depths": (2,), "degenerate_depths": (4,)},
    "jing2022/other_papers": {},
}


@pytest.mark.parametrize("id", SIMULATIONS)
def test_a_seeds_numbers_are_the_same_bits_in_any_company(id):
    """Fewer seeds, amplitudes and depths leave the rows that remain as they were."""
    many, few = computed(id), computed(id, seeds=2, **COMPANY[id])
    for name in few:
        if name == "theorem3":  # starts once all seeds are aligned
            continue
        coordinates = [c for c in few[name] if c == "amplitude" or few[name][c].dtype.kind != "f"]
        both = few[name].merge(many[name], on=coordinates, suffixes=("", "_among_many"), validate="1:1")
        assert len(both) == len(few[name])
        for column in set(few[name]) - set(coordinates):
            assert (both[column] == both[f"{column}_among_many"]).all(), (name, column)


@pytest.mark.parametrize("id", SIMULATIONS)
def test_another_loss_gives_other_numbers(id):
    published, other = (computed(id, objective, learning_rate=1e-3) for objective in (None, "infonce_dot"))
    assert set(published) - set(other) == ({"theorem3"} & set(published))
    assert all(not published[name].equals(other[name]) for name in other)


# Claims.


def ideal(room, **changes):
    """Ideal tables with columns of which some rows are changed: table -> (where, column, value)."""
    experiment = registry.experiment(f"jing2022/{room}")
    tables = importlib.import_module(f"{experiment.module}.ideal").ideal(experiment.params())
    for name, (where, column, value) in changes.items():
        tables[name].loc[tables[name].query(where).index, column] = value
    return tables


CLAIMS = {
    each.id: (room, each)
    for room in (id.partition("/")[2] for id in SIMULATIONS)
    for each in registry.experiment(f"jing2022/{room}").claims
}


@pytest.mark.parametrize("claim_id", CLAIMS)
@pytest.mark.parametrize("seeds", ["seed >= 0", "seed == 2"], ids=["all seeds", "one seed"])
def test_training_that_diverged_is_no_evidence(claim_id, seeds):
    """Not even for `no dimension collapses`, and not by what was recorded before."""
    room, claim = CLAIMS[claim_id]
    tables = ideal(room)
    for table in tables.values():
        late = table.query(f"step > 0 and {seeds}").index
        table.loc[late, table.select_dtypes("float").columns.difference(["amplitude"])] = np.nan
    found = judge(claim, tables)
    assert found.verdict == "inconclusive"
    assert "undefined" in {leaf.code for leaf in found.cells.values() or [found]}


@pytest.mark.parametrize("arm", ["frozen", "diagonal"])
@pytest.mark.parametrize(("power", "verdict"), [(0.0, "contradicted"), (-0.3, "inconclusive")])
def test_what_still_falls_is_not_at_rest(arm, power, verdict):
    """Though it be far from where a free projector ends."""
    tables = ideal("projector_alignment")
    course = tables["trajectory"]
    chosen = course["arm"] == arm
    end = course["step"].max()
    falling = 0.5 * (course["step"].clip(lower=1) / end) ** power
    course.loc[chosen, "off_diagonal_mass"] = falling[chosen] * (1 + 1e-3 * course["seed"][chosen])
    _, claim = CLAIMS[f"jing2022/sec61/{arm}-aligned"]
    assert judge(claim, tables).verdict == verdict


def test_a_projector_under_which_more_aligns_than_under_a_free_one_is_no_counterexample():
    tables = ideal("projector_alignment", trajectory=("arm == 'free'", "off_diagonal_mass", 0.6))
    for arm in ("frozen", "diagonal"):
        assert judge(CLAIMS[f"jing2022/sec61/{arm}-aligned"][1], tables).verdict == "reproduced"


def test_embeddings_that_are_all_zero_have_collapsed():
    single = "arm == 'linear' and depth == 1 and step > 0"
    dead = ideal("depth_and_nonlinearity", spectrum=(single, "singular_value", 0.0))
    _, claim = CLAIMS["jing2022/fig6a/linear-L1-collapsed"]
    found = judge(claim, dead)
    assert (found.verdict, found.observed) == ("contradicted", 16)


@pytest.mark.parametrize("name", ["6a/linear-collapsed", "6a/isotropic-L4-collapsed", "6b/relu-collapsed"])
def test_what_has_collapsed_from_the_start_does_not_collapse(name):
    at_start = ideal("depth_and_nonlinearity", spectrum=("step == 0 and index > 2", "singular_value", 1e-5))
    _, claim = CLAIMS[f"jing2022/fig{name}"]
    assert judge(claim, at_start).verdict == "contradicted"


def test_layers_that_never_align_say_nothing_of_theorem_3():
    """The ODE then has but its start, from which it has not departed."""
    _, claim = CLAIMS["jing2022/thm3/ode"]
    found = judge(claim, computed("jing2022/layer_alignment", aligned_below=1e-30))
    assert (found.verdict, found.reason) == ("not run", "no observations")
