"""The wiring of each arm of Esser 2024's experiments: training data, start and measurements against plain
loops; the rows that each stream of random numbers reaches; and claims that read every width."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import torch
from reading import where
from scipy.integrate import solve_ivp
from sklearn.svm import SVC
from turning import assert_reaches, purposes, turned
from wiring import assert_seeds_follow_the_first

from reprise.contract.experiment import Context
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.numerics.streams import Streams
from reprise.numerics.streams import stream as numpy_stream
from reprise.papers.esser2024 import half_moons
from reprise.papers.esser2024.constrained_losses import compute as constrained
from reprise.papers.esser2024.constrained_losses.experiment import Params as ConstrainedParams
from reprise.papers.esser2024.digit_classes import compute as digits
from reprise.papers.esser2024.digit_classes import timing
from reprise.papers.esser2024.digit_classes.experiment import Params as DigitParams
from reprise.papers.esser2024.limiting_dynamics.experiment import WIDTHS
from reprise.papers.esser2024.limiting_dynamics.experiment import Params as LimitingParams
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.papers.esser2024.wide_networks.experiment import ACTIVATIONS, ARMS, LOSSES
from reprise.papers.esser2024.wide_networks.experiment import Params as WideParams
from reprise.papers.esser2024.width import compute as width
from reprise.papers.esser2024.width.experiment import Params as WidthParams

MOONS = {"moons_noise": 0.15, "positive_variance": 0.3}
"""Unlike each other; the published ones are both 0.1."""
TINY = {
    "esser2024/constrained_losses": ConstrainedParams(
        width=4, samples=12, steps=8, seeds=2, starts=2, records=4, **MOONS
    ),
    "esser2024/limiting_dynamics": LimitingParams(
        samples=30, steps=60, record_every=5, seeds=3, first_seed=0, **MOONS
    ),
    "esser2024/width": WidthParams(widths=(4, 9, 30), epochs=6, samples=8, seeds=2, records=3, **MOONS),
    "esser2024/wide_networks": WideParams(
        samples=6, width=12, steps=8, record_every=4, widths=(10, 12, 14), epochs=6, seeds=2,
        learning_rate=0.1, **MOONS,
    ),
}  # fmt: skip
PHI = {"tanh": torch.tanh, "relu": torch.relu}


@cache
def computed(id):
    return registry.experiment(id).compute()(TINY[id], Context())


def moons(params, seed):
    """Anchors, positives and negatives of a seed."""
    data = half_moons.draw(
        [seed], samples=params.samples, noise=params.moons_noise, positive_variance=params.positive_variance
    )
    return data.anchor[0], data.positive[0], data.negative[0]


def polar(w):
    return torch.from_numpy(scipy.linalg.polar(w.detach().numpy())[0])


def contrastive(anchor, positive, negative):
    return sum(a @ (n - p) for a, p, n in zip(anchor, positive, negative, strict=True)) / len(anchor)


# Rows that random numbers reach.

EVERY = dict.fromkeys(("ends", "trajectory", "outputs"), "")
OF_FIGURE_1 = {"trajectory": "", "runs": "", "penalised": ""}
REACHES = {
    "esser2024/constrained_losses": {
        **dict.fromkeys(("half moons", "positives"), OF_FIGURE_1),
        **dict.fromkeys(("start of W1", "start of W2"), OF_FIGURE_1),
    },
    "esser2024/limiting_dynamics": {
        "half moons": EVERY,
        "positives": EVERY,
        **{f"weights of width {h}": dict.fromkeys(EVERY, f"width == {h}") for h in WIDTHS},
    },
    "esser2024/width": {
        "half moons": {"differences": "", "starts": "", "bounds": ""},
        "positives": {"differences": "epoch > 0"},  # before, an output depends on its own input alone
        **{f"weights of width {h}": {"differences": f"width == {h}"} for h in (4, 9, 30)},
        **{f"further weights of width {h}": {"starts": f"width == {h}"} for h in (4, 9, 30)},
    },
    "esser2024/wide_networks": {
        "half moons": {"collapse": "", "distances": ""},
        "positives": {"collapse": "step > 0", "distances": "arm != 'supervised'"},
        "standard weights of width 12": {"collapse": "", "distances": "arm != 'constrained' and width == 12"},
        **{
            f"standard weights of width {h}": {"distances": f"arm != 'constrained' and width == {h}"}
            for h in (10, 14)
        },
        **{f"weights of width {h}": {"distances": f"arm == 'constrained' and width == {h}"}
           for h in (10, 12, 14)},
    },
}  # fmt: skip
"""Experiment -> stream -> the rows that depend on its numbers."""


@pytest.mark.parametrize("id", REACHES)
def test_every_stream_is_known(id, monkeypatch):
    assert purposes(monkeypatch, id, TINY[id]) == set(REACHES[id])


@pytest.mark.parametrize(("id", "stream"), [(id, stream) for id in REACHES for stream in REACHES[id]])
def test_a_stream_reaches_the_rows_of_its_seed_that_it_should_and_no_other(id, stream, monkeypatch):
    """Rows agree within the tolerance of solve_ivp, which integrates all seeds together."""
    before, after = computed(id), turned(monkeypatch, id, TINY[id], re.escape(stream), seeds={1})
    near = {name: where_nearly(before[name], after[name]) for name in after}
    reached = {
        name: " and ".join(part for part in (query, "seed == 1") if part)
        for name, query in REACHES[id][stream].items()
    }
    assert_reaches(before, near, reached)


@pytest.mark.parametrize("id", TINY)
def test_seeds_follow_the_first(id):
    assert_seeds_follow_the_first(id, TINY[id], computed(id))


def where_nearly(before, after):
    """The numbers after, or those before where they differ by rounding."""
    numbers = after.select_dtypes("float")
    close = np.isclose(numbers, before[numbers.columns], rtol=1e-7, atol=1e-8)
    return after.assign(**numbers.mask(close, before[numbers.columns]))


# Figure 1.


@pytest.mark.parametrize("outputs", [1, 2])
def test_runs_are_those_of_their_problem_and_data(outputs):
    """By the text, a problem has no norm, spectral norms, Frobenius norms, or one layer from the same
    product."""
    params = TINY["esser2024/constrained_losses"]
    runs = computed("esser2024/constrained_losses")["runs"].query("output_dim == @outputs")
    norms = {"orthogonal": lambda w: torch.linalg.matrix_norm(w, 2), "frobenius": torch.linalg.matrix_norm}
    found = runs.set_index(["problem", "seed", "start"])
    assert len(found) == 4 * 2 * 2
    for (problem, seed, start), row in found.iterrows():
        points = moons(params, seed)
        w = [each[seed * params.starts + start].clone() for each in constrained.start(params, outputs)]
        w = [w[0].T @ w[1]] if problem == "one_layer" else w
        norm = norms.get(problem, lambda w: torch.ones(()))

        def scaled_map(w, problem=problem, norm=norm):
            return (w[0] if problem == "one_layer" else w[0].T @ w[1]) / torch.stack(
                [norm(x) for x in w]
            ).prod()

        for _ in range(params.steps):
            w = [x.detach().requires_grad_() for x in w]
            loss = contrastive(*(x @ scaled_map(w) for x in points))
            w = [x - params.learning_rate * g for x, g in zip(w, torch.autograd.grad(loss, w), strict=True)]
        u = [(x @ scaled_map(w)).detach() for x in points]
        assert row["loss"] == pytest.approx(float(contrastive(*u)), rel=1e-7)
        assert row["output"] == pytest.approx(float(u[0][0, 0]), rel=1e-7)
        values = np.linalg.svd(u[0].numpy(), compute_uv=False)
        share = values[1] / values[0] if outputs == 2 else 0
        assert row["second_share"] == pytest.approx(share, rel=1e-5, abs=1e-12)
        cross = (points[0].T @ (points[2] - points[1])).numpy() / params.samples
        least = np.minimum(np.linalg.eigvalsh((cross + cross.T) / 2), 0)
        optimum = {"orthogonal": least[:outputs].sum(), "frobenius": least[0]}.get(problem, -np.inf)
        assert row["optimum"] == pytest.approx(optimum, rel=1e-9)


# Figure 3.


def plain_courses(params, width, z, seed):
    """Method -> q after each step, by automatic differentiation, Euler's method and solve_ivp."""
    anchor, positive, negative = moons(params, seed)
    cross = (anchor.T @ (negative - positive)).numpy() / params.samples
    values, vectors = np.linalg.eigh((cross + cross.T) / 2)
    vectors *= np.sign(vectors[np.abs(vectors).argmax(0), range(len(values))])
    w1, w2 = (w[0] for w in orthonormal_start([seed], width, 2, z))
    start = vectors.T @ (w1.T @ w2).numpy()
    descent = [start]
    for _ in range(params.steps):
        w1, w2 = w1.requires_grad_(), w2.requires_grad_()
        loss = contrastive(*(x @ w1.T @ w2 for x in (anchor, positive, negative)))
        g1, g2 = torch.autograd.grad(loss, (w1, w2))
        w1, w2 = (polar(w - params.learning_rate * g) for w, g in ((w1, g1), (w2, g2)))
        descent.append(vectors.T @ (w1.T @ w2).numpy())
    c = np.diag(values)
    odes = {
        "printed": lambda q: -2 * (2 * c @ q - c @ q @ q.T @ q - q @ q.T @ c @ q),
        "corrected": lambda q: -(4 * c @ q - c @ q @ q.T @ q - 3 * q @ q.T @ c @ q),
    }
    courses = {"descent": descent}
    times = params.learning_rate * np.arange(params.steps + 1)
    for name, ode in odes.items():
        courses[f"{name}_euler"] = [start]
        for _ in range(params.steps):
            q = courses[f"{name}_euler"][-1]
            courses[f"{name}_euler"].append(q + params.learning_rate * ode(q))
        solved = solve_ivp(
            lambda _, q, ode=ode: ode(q.reshape(2, z)).ravel(), (0, times[-1]), start.ravel(),
            t_eval=times, rtol=1e-11, atol=1e-13,
        )  # fmt: skip
        courses[f"{name}_flow"] = list(solved.y.T.reshape(-1, 2, z))
    return values, {name: np.array(qs)[:: params.record_every] for name, qs in courses.items()}


@pytest.mark.parametrize("z", [1, 2])
def test_every_column_of_figure_3_is_that_of_its_method(z):
    params, seed, h = TINY["esser2024/limiting_dynamics"], 2, WIDTHS[1]
    tables = computed("esser2024/limiting_dynamics")
    of_seed = {name: where(table, z=z, width=h, seed=seed) for name, table in tables.items()}
    values, courses = plain_courses(params, h, z, seed)
    near = {"rtol": 1e-6, "atol": 1e-8}
    wanted = np.eye(2, z)
    quarter = len(courses["descent"]) * 3 // 4
    for method, q in courses.items():
        losses = np.einsum("tdz,d->t", q**2, values)
        apart = np.linalg.norm(q - courses["descent"], axis=(1, 2))
        rows = of_seed["trajectory"].query("method == @method").sort_values("iteration")
        np.testing.assert_allclose(rows["loss"], losses, **near)
        np.testing.assert_allclose(rows["distance"], apart, **near)
        exact = courses[method.replace("euler", "flow")]
        exact_losses = np.einsum("tdz,d->t", exact**2, values)
        expected = {
            "loss": losses[-1],
            "first_loss": losses[0],
            "mean_loss": losses.mean(),
            "loss_moved": abs(losses[-1] - losses[quarter]),
            "loss_integration": abs(losses[-1] - exact_losses[-1]),
            "distance": apart[-1],
            "largest_distance": apart.max(),
            "moved": np.linalg.norm(q[-1] - q[quarter]),
            "integration": np.linalg.norm(q[-1] - exact[-1]),
            "miss": np.linalg.norm(q[-1] @ q[-1].T - wanted @ wanted.T),
        }
        (row,) = of_seed["ends"].query("method == @method").to_dict("records")
        assert set(row) == {*expected, "z", "width", "method", "seed"}
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-6, abs=1e-8)
        if not method.endswith("flow"):
            outputs = of_seed["outputs"].query("method == @method")
            outputs = outputs.sort_values(["iteration", "eigenvector", "unit"])["output"]
            np.testing.assert_allclose(outputs, q.ravel(), **near)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "claim", registry.experiment("esser2024/limiting_dynamics").claims, ids=lambda c: c.id
)
def test_a_claim_about_all_widths_is_refuted_by_one(claim, width):
    """Everything is as it should be but at this width, where the ODE ends elsewhere, later and higher."""
    keys = pd.MultiIndex.from_product(
        [(1, 2), WIDTHS, ["descent", "printed_euler"], range(200)],
        names=["z", "width", "method", "seed"],
    )
    table = keys.to_frame(index=False).assign(
        loss=-0.8, first_loss=-0.1, mean_loss=-0.7, loss_moved=1e-9, loss_integration=1e-10, distance=1e-9,
        largest_distance=0.03, moved=1e-9, integration=1e-9, miss=1e-9,
    )  # fmt: skip
    by_ode = table["method"] == "printed_euler"
    table["mean_loss"] += 0.02 * by_ode + 0.001 * np.cos(7.0 * table["seed"])
    assert judge(claim, {"ends": table}).verdict == "reproduced"
    broken = {
        "loss": (by_ode, 0.3), "mean_loss": (by_ode, -0.75), "distance": (by_ode, 0.3),
        "largest_distance": (by_ode, 0.4), "miss": (~by_ode, 0.3),
    }  # fmt: skip
    for column, (rows, value) in broken.items():
        table.loc[rows & (table["width"] == width), column] = value
    found = judge(claim, {"ends": table})
    assert found.verdict == "contradicted"
    wrong = [name for name, cell in found.cells.items() if cell.verdict == "contradicted"]
    assert wrong == [name for name in found.cells if re.search(rf"\bh = {width}\b", name)]


# Figure 2.


def test_the_moons_of_figure_2_are_those_of_its_settings():
    params = TINY["esser2024/width"]
    data = width._data(params, [1])
    for found, expected in zip((data.anchor, data.positive, data.negative), moons(params, 1), strict=True):
        assert torch.equal(found[0], expected)


def test_the_largest_difference_is_that_of_any_epoch():
    """The difference peaks midway, the more the wider the network."""
    claims = {
        claim.id.rpartition("2024/")[2]: claim for claim in registry.experiment("esser2024/width").claims
    }
    rows = [
        {"activation": activation, "width": h, "seed": seed, "epoch": epoch,
         "difference": (1 + 0.01 * seed) * (h**0.5 if epoch == 250 else h**-1.0)}
        for activation in ("tanh", "scaled_sigmoid") for h in (10, 30, 100) for seed in range(5)
        for epoch in (0, 250, 500)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    assert judge(claims["conj1/largest"], {"differences": table}).verdict == "contradicted"
    low = table["difference"].where(table["epoch"] != 250, table["width"] ** -1.0)
    assert (
        judge(claims["conj1/largest"], {"differences": table.assign(difference=low)}).verdict == "reproduced"
    )


# Wide networks.


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_what_collapses_descends_on_its_own_loss(loss, activation):
    params, seed = TINY["esser2024/wide_networks"], 1
    table = computed("esser2024/wide_networks")["collapse"]
    rows = table.query("loss == @loss and activation == @activation and seed == @seed").set_index("step")
    x = torch.cat(moons(params, seed))
    streams = Streams([seed], f"standard weights of width {params.width}")
    w1, w2 = (streams.normal(params.width, columns)[0].double() for columns in (2, params.output_dim))
    for step in range(params.steps + 1):
        w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
        u = PHI[activation](x @ w1.T) @ w2 / params.width**0.5
        anchor, positive, negative = u.split(params.samples)
        if step % params.record_every == 0:
            first, second, *_ = np.linalg.svd(anchor.detach().numpy(), compute_uv=False)
            assert rows.loc[step, "size"] == pytest.approx(first, rel=1e-7)
            assert rows.loc[step, "ratio"] == pytest.approx(second / first, rel=1e-6)
        value = contrastive(anchor, positive, negative) if loss == "contrastive" else -(
            sum(a @ p for a, p in zip(anchor, positive, strict=True)) / params.samples
        )  # fmt: skip
        gradients = torch.autograd.grad(value, (w1, w2))
        length, slope = (sum(part.square().sum() for part in parts) ** 0.5 for parts in ((w1, w2), gradients))
        w1, w2 = (
            w - params.step_length * length / slope * g for w, g in zip((w1, w2), gradients, strict=True)
        )
    assert len(rows) == 3


@pytest.mark.parametrize("arm", ARMS)
def test_a_network_and_its_kernel_descend_on_the_loss_of_their_arm(arm):
    """The kernel as inner products of gradients at the start; weights are projected in one arm alone."""
    params, seed, h = TINY["esser2024/wide_networks"], 1, 14
    points = moons(params, seed)
    x = torch.cat(points)
    label = (
        2.0 * half_moons.draw([seed], samples=params.samples, noise=0.15, positive_variance=0.3).moon[0] - 1
    )
    if arm == "constrained":
        start, scale = [w[0] for w in orthonormal_start([seed], h, 2, 1)], 1.0
    else:
        streams = Streams([seed], f"standard weights of width {h}")
        start, scale = [streams.normal(h, columns)[0].double() for columns in (2, 1)], h**-0.5

    def network(w):
        return scale * torch.tanh(x @ w[0].T) @ w[1]

    def loss(u):
        anchor, positive, negative = u.split(params.samples)
        if arm == "supervised":
            return sum((u_i - y).square() for u_i, y in zip(anchor[:, 0], label, strict=True)) / (
                2 * params.samples
            )
        return contrastive(anchor, positive, negative)

    w = [each.clone().requires_grad_() for each in start]
    rows = [
        torch.cat([g.flatten() for g in torch.autograd.grad(u, w, retain_graph=True)])
        for u in network(w)[:, 0]
    ]
    kernel = torch.stack([torch.stack([a @ b for b in rows]) for a in rows])
    by_kernel = network(w).detach()
    for _ in range(params.epochs):
        gradients = torch.autograd.grad(loss(network(w)), w)
        w = [(a - params.learning_rate * g).detach() for a, g in zip(w, gradients, strict=True)]
        w = [(polar(a) if arm == "constrained" else a).requires_grad_() for a in w]
        leaf = by_kernel.clone().requires_grad_()
        by_kernel = by_kernel - params.learning_rate * kernel @ torch.autograd.grad(loss(leaf), leaf)[0]
    ends = [u.detach()[: params.samples] for u in (network(w), by_kernel)]
    expected = float((ends[0] - ends[1]).norm() / max(u.norm() for u in ends))
    table = computed("esser2024/wide_networks")["distances"]
    (found,) = table.query("arm == @arm and width == @h and seed == @seed")["distance"]
    assert found == pytest.approx(expected, rel=1e-6)
    assert expected > 1e-4


# Figure 4.

DIGITS = DigitParams(
    data_set="digits", per_class=30, width=70, steps=4, splits=2, selection_splits=1, seeds=2,
    timed_widths=(64, 80, 96), repeats=2, nonlinear_seeds=2, learning_rate=0.05, positive_variance=0.25,
)  # fmt: skip


@pytest.fixture(scope="module")
def of_digits():
    return digits.compute(DIGITS, Context())


@pytest.fixture(scope="module")
def pair(of_digits):
    return digits._choose_pair(digits._images(DIGITS.data_set, DIGITS.root), of_digits["pairs"], DIGITS)


def test_seeds_of_figure_4_follow_the_first(of_digits):
    """The splits by which the two classes are chosen do not follow."""
    of_seeds = {name: table for name, table in of_digits.items() if name != "pairs"}
    assert_seeds_follow_the_first("esser2024/digit_classes", DIGITS, of_seeds)


def test_positives_have_noise_of_their_own_and_negatives_are_other_images(pair):
    _, positive, negative = digits._triplets(pair.x, DIGITS)
    noise = (positive - pair.x).flatten(1)
    np.testing.assert_allclose(noise.var(1), 0.25, rtol=0.05)
    assert abs(np.corrcoef(noise)[0, 1]) < 0.1
    np.testing.assert_allclose(noise.mean(1), 0, atol=0.05)
    for x, other in zip(pair.x, negative, strict=True):
        assert sorted(map(tuple, other.tolist())) == sorted(map(tuple, x.tolist()))
        assert (x == other).all(1).float().mean() < 0.2
    orders = [(x[:, None] == other[None]).all(-1).float() for x, other in zip(pair.x, negative, strict=True)]
    assert not torch.equal(*orders)


def plain_accuracy(z, y, seed):
    """Mean test accuracy in % over the splits of a seed, counted image by image."""
    found = []
    for split in range(DIGITS.splits):
        order = numpy_stream(split, f"splits of seed {seed}").permutation(len(y))
        learned, tested = order[:30], order[30:]
        machine = SVC(kernel="linear").fit(z[learned], y[learned])
        found.append(np.mean([machine.predict(z[[i]])[0] == y[i] for i in tested]))
    return 100 * np.mean(found)


def plain_embeddings(pair, z, seed):
    """Method -> embeddings of the images, trained on the loss (1) itself."""
    x, positive, negative = (part[seed] for part in digits._triplets(pair.x, DIGITS))
    cross = (x.T @ (negative - positive)).numpy() / len(x)
    values, vectors = np.linalg.eigh((cross + cross.T) / 2)
    start = [w[0] for w in orthonormal_start([seed], DIGITS.width, x.shape[1], z)]

    def trained(phi):
        w = start
        for _ in range(DIGITS.steps):
            w = [each.detach().requires_grad_() for each in w]
            loss = contrastive(*(phi(part @ w[0].T) @ w[1] for part in (x, positive, negative)))
            w = [polar(a - 0.05 * g) for a, g in zip(w, torch.autograd.grad(loss, w), strict=True)]
        return (phi(x @ w[0].T) @ w[1]).detach().numpy()

    embeddings = {"start": (x @ start[0].T @ start[1]).numpy(), "descent": trained(lambda hidden: hidden)}
    c = np.diag(values)
    for name, a, b, d in (("printed", 4, 2, 2), ("corrected", 4, 1, 3)):
        q = vectors.T @ (start[0].T @ start[1]).numpy()
        for _ in range(DIGITS.steps):
            q = q - 0.05 * (a * c @ q - b * c @ q @ q.T @ q - d * q @ q.T @ c @ q)
        embeddings[name] = x.numpy() @ vectors @ q
    embeddings["limit"] = x.numpy() @ vectors[:, :z]
    return embeddings | {name: trained(phi) for name, phi in PHI.items()}


def test_an_accuracy_is_that_of_its_methods_embeddings(of_digits, pair):
    """One seed is compared at two outputs, where the methods differ most."""
    seed, y = 1, pair.samples[1].y
    rows = of_digits["accuracy"].query("z == 2 and seed == @seed").set_index("method")
    embeddings = plain_embeddings(pair, 2, seed)
    assert set(rows.index) == set(embeddings)
    for method, z in embeddings.items():
        assert rows.loc[method, "accuracy"] == pytest.approx(plain_accuracy(z, y, seed), abs=2), method
        if method in PHI:
            continue
        # The share of the separating eigenvector v that Q holds, |vᵀ Q|², from the embeddings X Q alone.
        q = np.linalg.lstsq(pair.x[seed].numpy(), z, rcond=None)[0]
        held = np.square(pair.separating[seed].numpy() @ q).sum()
        if np.linalg.matrix_rank(pair.x[seed].numpy()) == len(q):
            assert rows.loc[method, "separating"] == pytest.approx(held, abs=1e-6)
    assert len(set(rows["accuracy"].round(6))) > 1
    pixels = of_digits["pixels"].set_index("seed").loc[seed, "accuracy"]
    assert pixels == pytest.approx(plain_accuracy(pair.samples[seed].x, y, seed), abs=1e-9)


def test_a_timed_step_is_that_of_its_method_at_its_width(pair, monkeypatch):
    """The clock counts what runs between its two readings: descent's weights, the ODE's outputs, a net's."""
    seen = []

    def recorded(name, step, size):
        return lambda *given: seen.append((name, size(*given))) or step(*given)

    monkeypatch.setattr(
        timing, "gradient_step", recorded("descent", timing.gradient_step, lambda w, *_: len(w[0]))
    )
    monkeypatch.setattr(timing, "euler_step", recorded("ode", timing.euler_step, lambda ode, q, *_: len(q)))
    nonlinear = timing.nonlinear.step

    def net(triplets, activation, seed, width, z, rate):
        work = nonlinear(triplets, activation, seed, width, z, rate)
        return lambda: seen.append((activation, width)) or work()

    monkeypatch.setattr(timing.nonlinear, "step", net)
    counts = []

    def counted(work):
        seen.clear()
        work()
        counts.append(set(seen))
        return float(len(seen))

    monkeypatch.setattr(timing, "seconds", counted)
    one = DIGITS.model_copy(update={"repeats": 1})
    table = timing.step_times(
        pair.c[0], pair.eigenvalues[0], pair.vectors[0], digits._triplets(pair.x[:1], DIGITS), one
    )
    assert (table["seconds"] == 1).all()  # a step each
    expected = [
        {("ode", 64)} if row.method == "ode" else {(row.method, row.width)} for row in table.itertuples()
    ]
    assert counts == expected
