"""Figure 4: the choice of classes, C and the training against slow loops, slopes against known ones, and
what claims read of accuracies and times."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.svm import SVC

from reprise.contract.experiment import Context
from reprise.contract.settings import departures, overridden
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.judgement import judge
from reprise.papers.esser2024.digit_classes import compute as room
from reprise.papers.esser2024.digit_classes import experiment as settings
from reprise.papers.esser2024.digit_classes import linear, nonlinear, timing
from reprise.papers.esser2024.digit_classes.claims import times_as_long
from reprise.papers.esser2024.digit_classes.ideal import ideal
from reprise.papers.esser2024.digit_classes.scaling import slopes, wide
from reprise.papers.esser2024.limiting_dynamics.dynamics import eigenpairs
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import orthonormal_start

ID = "esser2024/digit_classes"
CLAIMS = {claim.id: claim for claim in registry.experiment(ID).claims}
TINY = {
    "data_set": "digits",
    "per_class": 30,
    "width": 64,
    "steps": 6,
    "splits": 2,
    "selection_splits": 1,
    "seeds": 3,
    "timed_widths": (64, 80, 96),
    "repeats": 3,
    "nonlinear_seeds": 2,
}


def params(**changes):
    return settings.Params(**{**TINY, **changes})


@pytest.fixture(scope="module")
def tables():
    return room.compute(params(), Context())


def images(classes=3, each=40, dim=5):
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(classes), each)
    x = random.normal(size=(len(y), dim))
    x[:, 0] += np.array([0.0, 8.0, 8.5])[y]  # the last two lie close to each other
    return room.Images(x, y)


# Data, training, classification.


def test_the_two_classes_are_those_that_lie_closest():
    assert room.least_separable(room._pairs(images(), params(per_class=20, selection_splits=3))) == (1, 2)


def test_a_sample_has_as_many_of_each_class_in_random_order():
    found = room._sample(images(), (0, 2), 25, np.random.default_rng(1))
    assert np.unique(found.y, return_counts=True)[1].tolist() == [25, 25]
    assert len(np.unique(found.x, axis=0)) == 50
    assert 10 < (np.diff(found.y) != 0).sum() < 40
    np.testing.assert_array_equal((found.x[:, 0] > 4), found.y == 2)


def test_too_few_images_are_an_error():
    with pytest.raises(RepriseError, match=r"per_class 41: class 0 has 40 images"):
        room._sample(images(), (0, 2), 41, np.random.default_rng(1))


def test_c_is_that_of_the_mean_loss():
    x = torch.from_numpy(np.random.default_rng(2).normal(size=(2, 4000, 3)))
    c = room._c(x, params(positive_variance=0.5))
    cov = torch.stack([torch.from_numpy(np.cov(part.T)) for part in x.numpy()])
    torch.testing.assert_close(c, -cov, atol=0.06, rtol=0)  # E C = -Cov
    torch.testing.assert_close(c, c.mT)
    assert not torch.equal(room._c(x, params(positive_variance=0.1)), c)
    torch.testing.assert_close(room._c(x[1:], params(positive_variance=0.5))[0].shape, c[1].shape)


def test_training_is_that_of_a_slow_loop():
    chosen = params(steps=5, learning_rate=0.05, seeds=2)
    random = np.random.default_rng(3)
    c = torch.from_numpy(random.normal(size=(2, 6, 6)))
    c = (c + c.mT) / 4
    values, vectors = eigenpairs(c)
    start, descent, printed, corrected = linear.trained(
        c, values, vectors, 2, chosen.model_copy(update={"width": 8}), lambda share: None
    )
    for seed in range(2):
        w1, w2 = (w[seed].clone().requires_grad_() for w in orthonormal_start(range(2), 8, 6, 2))
        q = vectors[seed].mT @ w1.mT @ w2
        torch.testing.assert_close(start[seed], q)
        big, ours = (q.detach(),) * 2
        lam = torch.diag(values[seed])
        for _ in range(5):
            loss = torch.trace(w2.mT @ w1 @ c[seed] @ w1.mT @ w2)
            g1, g2 = torch.autograd.grad(loss, (w1, w2))
            w1, w2 = (polar((w - 0.05 * g).detach()).requires_grad_() for w, g in ((w1, g1), (w2, g2)))
            big = big - 0.1 * (2 * lam @ big - lam @ big @ big.mT @ big - big @ big.mT @ lam @ big)
            ours = ours - 0.05 * (
                4 * lam @ ours - lam @ ours @ ours.mT @ ours - 3 * ours @ ours.mT @ lam @ ours
            )
        torch.testing.assert_close(descent[seed], vectors[seed].mT @ w1.mT @ w2)
        torch.testing.assert_close(printed[seed], big)
        torch.testing.assert_close(corrected[seed], ours)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_training_of_a_nonlinear_net_is_that_of_a_slow_loop(activation):
    x, positive, negative = torch.randn(3, 2, 20, 6, generator=torch.Generator().manual_seed(0)).double()
    found = nonlinear.trained(
        (x, positive, negative),
        activation,
        range(2),
        width=8,
        z=2,
        learning_rate=0.05,
        steps=5,
        progress=lambda share: None,
    )
    phi = {"tanh": torch.tanh, "relu": torch.relu}[activation]
    for seed in range(2):
        w1, w2 = (w[seed].clone().requires_grad_() for w in orthonormal_start(range(2), 8, 6, 2))

        def u(inputs, w1, w2):
            return phi(inputs @ w1.T) @ w2

        for _ in range(5):
            anchor, plus, minus = (u(part[seed], w1, w2) for part in (x, positive, negative))
            g1, g2 = torch.autograd.grad((anchor * (minus - plus)).sum() / 20, (w1, w2))
            w1, w2 = (polar((w - 0.05 * g).detach()).requires_grad_() for w, g in ((w1, g1), (w2, g2)))
        torch.testing.assert_close(found[seed], u(x[seed], w1, w2).detach(), atol=1e-5, rtol=1e-4)


def test_the_separating_direction_is_that_of_the_class_means():
    random = np.random.default_rng(7)
    first = np.arange(60) % 2 == 0
    z = random.normal(size=(60, 4)) * [1, 1, 9, 1]
    z[first, 1] += 2
    z[first, 2] += 4
    found = room._separation(torch.from_numpy(z), first)
    gaps = z[first].mean(0) - z[~first].mean(0)
    variances = z[first].var(0, ddof=1) + z[~first].var(0, ddof=1)
    np.testing.assert_allclose(found, gaps**2 / variances)
    assert int(found.argmax()) == 1


def test_at_the_limit_outputs_hold_the_first_eigenvectors_whole(tables):
    table = tables["accuracy"]
    held = table.query("method == 'limit'")["separating"].round(9)
    assert set(held) <= {0.0, 1.0}
    assert table.query("method in ['start', 'descent']")["separating"].between(0, 1).all()


def test_descent_on_another_loss_is_that_of_its_own_matrix():
    """The loss (2) of linear outputs is Tr(Qᵀ C Q), with C of the images and their positives alone."""
    small = params(steps=5, learning_rate=0.05, seeds=2, width=8)
    x = torch.from_numpy(np.random.default_rng(5).normal(size=(2, 40, 6)))
    positive, _ = room._positives_and_negatives(x, small)
    c = -(x.mT @ positive + positive.mT @ x) / 80
    values, vectors = eigenpairs(c)
    _, descent, _, _ = linear.trained(c, values, vectors, 2, small, lambda share: None)
    linear_map = linear.descended(
        x, positive, lambda z1, z2: -(z1 * z2).sum(-1).mean(-1), 2, small, lambda share: None
    )
    torch.testing.assert_close(linear_map, vectors @ descent)


def test_accuracy_is_of_images_left_out():
    data = images(2, 30)
    found = room._accuracy(data, np.random.default_rng(4), params())
    order = np.random.default_rng(4).permutation(60)
    machine = SVC(kernel="linear").fit(data.x[order[:30]], data.y[order[:30]])
    assert found == 100 * np.mean(machine.predict(data.x[order[30:]]) == data.y[order[30:]])
    noise = room.Images(np.random.default_rng(5).normal(size=(60, 40)), data.y)
    assert room._over_splits(noise, 0, params(splits=10)) < 75


def test_an_unstable_step_is_an_error_before_the_first(monkeypatch):
    monkeypatch.setattr(linear, "gradient_step", lambda *_: pytest.fail("a step was taken"))
    with pytest.raises(RepriseError, match=r"learning_rate 1 with 30 images of each class"):
        room.compute(params(learning_rate=1.0), Context())


# The plan.


def test_layers_narrower_than_an_image_stop_the_plan():
    settings.check(params())
    for changes in ({"width": 63}, {"timed_widths": (60, 70, 80)}):
        with pytest.raises(RepriseError, match=r"(width|timed_widths) 6\d: W1ᵀ W1 = I .* 64 pixels"):
            settings.check(params(**changes))


def test_without_its_files_mnist_stops_the_plan(tmp_path):
    with pytest.raises(RepriseError, match="train-images-idx3-ubyte"):
        settings.check(settings.Params(root=str(tmp_path)))


def idx(array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes((0, 0, 8, array.ndim)) + sizes + array.astype(np.uint8).tobytes()


def test_the_published_run_reads_mnists_files(tmp_path, monkeypatch):
    """Two steps on a miniature in the true format; every claim has its observations."""
    random, folder = np.random.default_rng(0), tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part, each in (("train", 8), ("t10k", 1)):
        y = np.repeat(np.arange(10), each)
        blank = random.integers(0, 60, (len(y), 28, 28))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(idx(blank))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(y))
    chosen = settings.Params(
        root=str(tmp_path), per_class=6, width=784, steps=1, seeds=1, splits=1, selection_splits=1,
        timed_widths=(784, 785, 786), repeats=1,
    )  # fmt: skip
    monkeypatch.setattr(timing, "seconds", lambda work: work() or 1.0)
    found = room.compute(chosen, Context())
    assert set(found) == set(registry.experiment(ID).tables)
    for claim in CLAIMS.values():
        assert judge(claim, found).seeds == 1


@pytest.mark.parametrize(
    "changes", [{"embedding_dims": [2]}, {"timed_widths": [800, 900]}, {"timed_widths": [9, 8, 7]}]
)
def test_what_claims_read_is_asked_for(changes):
    with pytest.raises(RepriseError, match=next(iter(changes))):
        overridden(settings.Params, changes, "configs/mine.yaml")


def test_a_stand_in_is_a_departure_and_more_seeds_are_none():
    assert departures(settings.Params(seeds=30)) == []
    assert any(each.startswith("data_set: digits") for each in departures(params()))
    for other in settings.alternatives(params()).values():
        assert settings.Params.model_validate(other.model_dump()) == other


# Tables.


def test_tables_are_tidy(tables):
    keys = {
        "pairs": ["first", "second", "seed"],
        "pixels": ["seed"],
        "accuracy": ["z", "method", "seed"],
        "step_seconds": ["method", "width", "seed"],
        "solution_seconds": ["method", "width", "seed"],
    }
    assert set(tables) == set(keys) == set(settings.EXPERIMENT.tables)
    for name, table in tables.items():
        assert not table.duplicated(keys[name]).any()
        assert table.drop(columns="separating", errors="ignore").notna().all(axis=None)
    assert len(tables["pairs"]) == 45
    assert len(tables["accuracy"]) == 3 * (5 * 3 + 2 * 2)
    assert set(tables["accuracy"].query("separating.isna()")["method"]) == {"tanh", "relu"}
    assert set(tables["step_seconds"].query("method == 'tanh'")["width"]) == {64, 96}
    for name in ("step_seconds", "solution_seconds"):
        assert (tables[name]["seconds"] > 0).all()


def test_what_does_not_measure_time_is_the_same_again_and_in_any_company(tables):
    again = room.compute(params(), Context())
    fewer = room.compute(params(seeds=2), Context())
    for name in ("pairs", "pixels", "accuracy"):
        assert again[name].equals(tables[name])
    pd.testing.assert_frame_equal(
        fewer["accuracy"].reset_index(drop=True),
        tables["accuracy"].query("seed < 2").reset_index(drop=True),
    )


# Times.


def test_training_takes_as_long_as_its_steps_and_a_solution_has_all_of_its_own(tables, monkeypatch):
    steps = tables["step_seconds"].query("method == 'tanh'").set_index(["seed", "width"])["seconds"]
    training = tables["solution_seconds"].query("method == 'tanh'").set_index(["seed", "width"])["seconds"]
    pd.testing.assert_series_equal(training, params().steps * steps)
    calls = []
    for name in ("eigenpairs", "euler_step"):
        work = getattr(timing, name)
        monkeypatch.setattr(
            timing, name, lambda *given, name=name, work=work: calls.append(name) or work(*given)
        )
    monkeypatch.setattr(timing, "seconds", lambda work: work() or 1.0)
    x = torch.randn(1, 20, 64, generator=torch.Generator().manual_seed(0)).double()
    found = timing.solution_times(tables["step_seconds"], (x, x + 0.1, x.flip(1)), params(repeats=1))
    assert calls == 2 * ["eigenpairs", *params().steps * ["euler_step"]]
    assert found.query("method == 'ode'")["width"].tolist() == [64, 96]


def test_how_many_times_as_long_is_a_geometric_mean_over_the_widths_that_both_have():
    rows = [("tanh", 64, 2.0), ("tanh", 96, 8.0), ("ode", 64, 1.0), ("ode", 80, 5.0), ("ode", 96, 1.0)]
    table = pd.DataFrame(rows, columns=["method", "width", "seconds"]).assign(seed=0)
    assert times_as_long("times", "tanh")({"times": table}).tolist() == pytest.approx([4.0])
    assert times_as_long("times", "relu")({"times": table}).empty


def test_a_slope_is_that_of_scipy_among_the_wider_half():
    from scipy import stats

    random = np.random.default_rng(6)
    rows = [
        (width, repeat, width**0.7 * np.exp(0.01 * random.normal()))
        for width, repeat in product((64, 128, 256, 512, 1024, 2048), range(4))
    ]
    table = pd.DataFrame(rows, columns=["width", "seed", "seconds"])
    bent = table.assign(seconds=table["seconds"].where(table["width"] > 256, 1e-2))
    found = slopes(bent)
    assert wide(table["width"]).tolist() == [512, 1024, 2048]
    for repeat, slope in found.items():
        rows = bent[(bent["seed"] == repeat) & (bent["width"] > 256)]
        assert slope == pytest.approx(stats.linregress(np.log(rows["width"]), np.log(rows["seconds"])).slope)
    assert wide(pd.Series([1, 2, 3, 4])).tolist() == [2, 3, 4]


# Claims.


def test_accuracies_that_no_training_has_raised_coincide_for_nothing():
    tables = ideal(params(seeds=4, nonlinear_seeds=4))
    accuracy = tables["accuracy"]
    untrained = accuracy["accuracy"].where(accuracy["method"] != "start", 95.0)
    judged = judge(
        CLAIMS["esser2024/fig4/svm-coincide"], {**tables, "accuracy": accuracy.assign(accuracy=untrained)}
    )
    assert (judged.verdict, judged.code) == ("inconclusive", "no premise")


@pytest.mark.parametrize("id", CLAIMS)
def test_numbers_that_are_none_are_no_evidence(id):
    tables = ideal(params(seeds=4, nonlinear_seeds=4))
    broken = {name: t.assign(**{t.columns[-1]: np.nan}) for name, t in tables.items()}
    assert judge(CLAIMS[id], broken).verdict == "inconclusive"
