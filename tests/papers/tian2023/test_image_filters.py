"""The filters of Figures 12 and 13: the net against a plain one, the measures against limit cases, and its
claims against nets that did not learn."""

from itertools import islice, product

import numpy as np
import pytest
import torch
from torch.nn import functional

from reprise.contract.experiment import Context
from reprise.contract.settings import overridden
from reprise.datasets.catalogue import load
from reprise.datasets.crops import DRAWS, random_boxes, resized_crop
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.edits import put, swapped, together
from reprise.evidence.judgement import judge
from reprise.networks.dense import default_init
from reprise.numerics.streams import Streams
from reprise.papers.tian2023.image_filters import compute as experiment
from reprise.papers.tian2023.image_filters import experiment as settings
from reprise.papers.tian2023.image_filters import measures
from reprise.papers.tian2023.image_filters.ideal import ideal
from reprise.papers.tian2023.receptive_fields import Minibatch, Net
from reprise.papers.tian2023.sequences import Arm
from reprise.training.replicas import left_of_start

ID = "tian2023/image_filters"
SMALL = {"data_set": "digits", "filters": 6, "outputs": 5, "steps": 8, "seeds": 3, "learning_rate": 5.0}
"""At this rate filters learn in so few steps, some of them."""


def params(**changes):
    return settings.Params(**{**SMALL, **changes})


def computed(objective=None, **changes):
    return experiment.compute(params(**changes), Context(objective=objective))


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# The net.


def plain_embed(first, top, x, *, activation, variance_gradient=False):
    """One net, one view, in loops: [field, sample, pixel] to [sample, out]; BatchNorm by its formula."""
    units = []
    for w, inputs in zip(first, x, strict=True):
        h = activation(inputs @ w)
        variance = h.var(0, unbiased=False)
        variance = variance if variance_gradient else variance.detach()
        units.append((h - h.mean(0)) / torch.sqrt(variance + 1e-5))
    return torch.cat(units, 1) @ top.flatten(0, 1)


def leaky(h):
    return functional.leaky_relu(h, 0.05)


def embed(weights, x, *, variance_gradient, pooled=False):
    """The net of leaky ReLUs, the last replica's linear, as it is used here: an arm for each replica."""
    arms = [Arm("leaky_relu", variance=variance_gradient)] * (len(x) - 1)
    net = Net([*arms, Arm("linear", variance=variance_gradient)], pooled_statistics=pooled)
    row = torch.arange(14).view(1, 2, 7, 1).expand(-1, -1, -1, 4)
    return net.embed([weight[:, None] for weight in weights], Minibatch(row, x[:, None]))[:, 0]


def weights_and_inputs(replicas):
    """[replica, field, pixel, unit], [replica, field, unit, out], [replica, field, two views of 7, pixel]."""
    return normal(replicas, 4, 9, 6), normal(replicas, 4, 6, 5, seed=1), normal(replicas, 4, 14, 9, seed=2)


@pytest.mark.parametrize("variance_gradient", [False, True])
def test_the_net_is_a_plain_one_and_so_are_its_gradients(variance_gradient):
    first, top, x = weights_and_inputs(3)
    for weight in (first, top):
        weight.requires_grad_()
    found = embed([first, top], x, variance_gradient=variance_gradient)
    assert found.shape == (3, 2, 7, 5)
    expected = torch.stack(
        [
            torch.stack(
                [
                    plain_embed(w, v, view, activation=activation, variance_gradient=variance_gradient)
                    for view in inputs.unflatten(1, (2, 7)).unbind(1)
                ]
            )
            for w, v, inputs, activation in zip(
                first, top, x, (leaky, leaky, torch.nn.Identity()), strict=True
            )
        ]
    )
    torch.testing.assert_close(found, expected)
    pull = normal(3, 2, 7, 5, seed=3)
    gradients = [torch.autograd.grad((z * pull).sum(), (first, top)) for z in (found, expected)]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_with_all_gradients_units_are_normalised_as_by_torchs_batch_norm_view_by_view():
    first, _, x = weights_and_inputs(2)
    first.requires_grad_()
    identity = torch.eye(24).double().view(4, 6, 24).expand(2, -1, -1, -1)  # the output is the units
    found = embed([first, identity], x, variance_gradient=True)
    pull = normal(2, 2, 7, 24, seed=3)
    for replica, view in product(range(2), range(2)):
        inputs = x[replica].unflatten(1, (2, 7))[:, view]
        h = torch.cat(list(inputs @ first[replica]), 1)
        h = h if replica else leaky(h)
        theirs = functional.batch_norm(h, None, None, training=True, eps=1e-5)
        torch.testing.assert_close(found[replica, view], theirs)
        both = [
            torch.autograd.grad((z * pull[replica, view]).sum(), first, retain_graph=True)[0]
            for z in (found[replica, view], theirs)
        ]
        torch.testing.assert_close(*both)


def test_fields_are_the_quadrants_in_the_order_of_their_names():
    image = torch.arange(36.0).view(1, 1, 6, 6)  # a view, a sample
    found = experiment.quadrants(image)
    assert found.shape == (4, 1, 9)
    halves = {"upper": slice(0, 3), "lower": slice(3, 6), "left": slice(0, 3), "right": slice(3, 6)}
    for name, field in zip(experiment.FIELDS, found, strict=True):
        rows, columns = name.split()
        assert torch.equal(field.view(3, 3), image[0, 0, halves[rows], halves[columns]])
    many = normal(3, 2, 5, 2, 4, 6, 6)  # leading dimensions, views, samples
    cut = experiment.quadrants(many)
    assert cut.shape == (3, 2, 5, 4, 8, 9)
    assert torch.equal(cut[2, 1, 3][:, 4 + 2], experiment.quadrants(many[2, 1, 3, 1:, 2:3])[:, 0])


def first_batches(count, **changes):
    found = load("digits", "", "train+test")[0][:, 0] / 240
    blocks = experiment.minibatches(found, params(**changes))
    return [minibatch.x for minibatch in islice((each for block in blocks for each in block), count)], found


def whole(fields):
    """Images of their fields: [..., field, sample, pixel] to [..., sample, row, column]."""
    quadrants = fields.unflatten(-1, (4, 4)).movedim(-4, 0)
    rows = [torch.cat([left, right], -1) for left, right in (quadrants[:2], quadrants[2:])]
    return torch.cat(rows, -2)


def test_crops_are_boxes_stretched_to_the_size_of_the_image():
    batches, _ = first_batches(3)
    chosen = params()
    uniform = Streams(chosen.seed_range(chosen.seeds), "crops").uniform(experiment.BLOCK, 2, 8, DRAWS)
    for step, batch in enumerate(batches):
        plain, cropped, _ = whole(batch).unflatten(2, (2, 8))  # seed, view, sample, row, column
        boxes = random_boxes(uniform[:, step], 8, chosen.crop_scale, chosen.crop_ratio)
        torch.testing.assert_close(cropped, resized_crop(plain, boxes))


def test_arms_share_their_images_and_one_alone_is_augmented():
    batches, data = first_batches(40)
    known = {image.numpy().tobytes() for image in data}
    for batch in batches[::13]:
        views = whole(batch).unflatten(2, (2, 8))  # arm, seed, view, sample, row, column
        plain, cropped, linear = views
        assert torch.equal(plain, linear)
        assert torch.equal(plain[:, 0], plain[:, 1])
        assert {image.contiguous().numpy().tobytes() for image in plain.flatten(0, 2)} <= known
        assert not torch.equal(cropped[:, 0], cropped[:, 1])
        assert not torch.equal(plain[0], plain[1])
        same = torch.corrcoef(torch.stack([cropped[:, 0].flatten(), plain[:, 0].flatten()]))[0, 1]
        other = torch.corrcoef(torch.stack([cropped[:, 0].flatten(), plain[:, 0].roll(1, 1).flatten()]))[0, 1]
        assert same > other + 0.15


def test_crops_are_of_the_scale_that_params_say():
    (batch,), _ = first_batches(1, crop_scale=(1.0, 1.0), crop_ratio=(1.0, 1.0))
    assert torch.equal(batch[0], batch[1])  # the whole image


def test_a_pass_takes_each_image_once_and_the_next_is_in_another_order():
    order = list(islice(experiment.epochs(range(2), 21, 4), 10))
    for seed in range(2):
        passes = torch.stack([batch[seed] for batch in order]).view(2, 20)
        assert all(len(indices.unique()) == 20 for indices in passes)
        assert passes.max() <= 20
        assert not torch.equal(*passes)
    assert not torch.equal(order[0][0], order[0][1])


@pytest.mark.parametrize("variance_gradient", [False, True])
def test_training_is_that_of_a_plain_loop(variance_gradient):
    """One replica at a time, torch's SGD, the loss as a cross-entropy of the logits' matrix."""
    chosen = params(activation="leaky_relu", variance_gradient=variance_gradient, learning_rate=2e-3)
    batches, _ = first_batches(chosen.steps)
    found = experiment.compute(chosen, Context())["filters"]
    first = default_init(Streams(range(3), "first layer"), 4, 16, 6, inputs=16)
    top = default_init(Streams(range(3), "top layer"), 4, 6, 5, inputs=24)
    activations = {"plain": leaky, "cropped": leaky, "linear": torch.nn.Identity()}
    for seed, (at, arm) in product((0,), enumerate(experiment.ARMS)):
        w, v = (torch.nn.Parameter(weight[seed].double()) for weight in (first, top))
        optimiser = torch.optim.SGD([w, v], lr=chosen.learning_rate, momentum=0.9, weight_decay=5e-3)
        for batch in batches:
            z1, z2 = (
                functional.normalize(
                    plain_embed(w, v, x, activation=activations[arm], variance_gradient=variance_gradient),
                    dim=1,
                )
                for x in batch[at, seed].double().unflatten(1, (2, 8)).unbind(1)
            )
            logits = (z1 @ z1.T).fill_diagonal_(0) + torch.diag((z1 * z2).sum(1))
            optimiser.zero_grad()
            functional.cross_entropy(logits / 0.1, torch.arange(8)).backward()
            optimiser.step()
        ours = found.query("arm == @arm")["weight"].to_numpy()
        moved = w.detach() - first[seed]
        np.testing.assert_allclose(ours, w.detach().mT.flatten(), rtol=0, atol=1e-3 * moved.abs().max())


# Measures.


def wave(size, down, across):
    rows, columns = np.mgrid[:size, :size]
    return torch.from_numpy(np.cos(2 * np.pi * (down * rows + across * columns) / size + 0.3))


@pytest.mark.parametrize(
    ("size", "down", "across", "share"),
    [
        (4, 1, 0, 0), (4, 1, 1, 1), (4, 2, 0, 1), (4, 0, 0, 0), (14, 3, 0, 0), (14, 4, 0, 1), (14, 2, 2, 0),
        (14, 3, 2, 1), (14, 3, -2, 1), (14, 7, 7, 1), (8, 2, 0, 0),
    ],
)  # fmt: skip
def test_the_share_of_a_wave_is_all_or_nothing(size, down, across, share):
    """Half the Nyquist frequency, 1/4 cycle a pixel, is not above itself."""
    assert measures.high_frequency_share(wave(size, down, across)).item() == pytest.approx(share, abs=1e-12)


def test_the_share_of_a_sum_of_waves_is_that_of_their_energies():
    low, high, constant = wave(14, 1, 2), wave(14, 5, 3), torch.full((14, 14), 0.7).double()
    energy = [(part**2).sum().item() for part in (low, 2 * high, constant)]
    found = torch.stack([low + 2 * high + constant, -3 * (low + 2 * high + constant)])
    with_mean, without = (
        measures.high_frequency_share(found, with_mean=with_mean) for with_mean in (True, False)
    )
    np.testing.assert_allclose(with_mean, energy[1] / sum(energy))
    np.testing.assert_allclose(without, energy[1] / sum(energy[:2]))


def test_the_share_of_white_noise_is_that_of_the_frequencies_counted_in_a_loop():
    for size in (4, 14):
        frequencies = [min(k, size - k) / size for k in range(size)]
        high = sum((fx**2 + fy**2) ** 0.5 > 0.25 for fx in frequencies for fy in frequencies) / size**2
        noise = normal(20000 // size, size, size)
        power = (measures.high_frequency_share(noise) * noise.square().sum((1, 2))).sum()
        assert (power / noise.square().sum()).item() == pytest.approx(high, abs=0.01)


def test_effective_rank_counts_directions_whatever_their_lengths():
    basis = torch.linalg.qr(normal(9, 9)).Q.view(9, 3, 3)
    counted = torch.ones(9, dtype=torch.bool)
    lengths = torch.linspace(0.1, 5, 9).double()[:, None, None]
    assert measures.effective_rank(basis * lengths, counted).item() == pytest.approx(9)
    assert measures.effective_rank(basis[:1] * lengths, counted).item() == pytest.approx(1)
    assert measures.effective_rank(basis, torch.arange(9) < 4).item() == pytest.approx(4)
    both = torch.cat([basis[:1], basis[1:2], (basis[:1] + basis[1:2])])
    values = np.linalg.svd(functional.normalize(both.flatten(1), dim=1).numpy(), compute_uv=False)
    p = values[values > 1e-12] / values.sum()
    expected = np.exp(-(p * np.log(p)).sum())
    assert measures.effective_rank(both, counted[:3]).item() == pytest.approx(expected)


def test_a_filter_has_learned_when_that_is_longer_than_what_is_left_of_its_start():
    rest, direction = normal(2, 6, 4, 4), functional.normalize(normal(2, 6, 16, seed=1), dim=-1)
    length = rest.flatten(2).norm(dim=-1)
    times = torch.tensor([[0, 0.999, 1.001, 2, 0.5, 3], [1.001] * 6]).double()
    learned = (direction * (times * length)[..., None]).view_as(rest)
    assert measures.learned(rest + learned, rest).equal(times > 1)
    assert not measures.learned(rest, rest).any()
    assert not measures.learned(0.0 * rest, rest).any()


def test_dead_filters_have_learned_nothing_that_counts():
    filters = normal(2, 5, 4, 4)
    for unit, share in ((3, 0.9e-3), (4, 1.1e-3)):
        filters[0, unit] *= share / filters[0, unit].norm() * filters[0, :3].flatten(1).norm(dim=1).max()
    alive = torch.ones(2, 5, dtype=torch.bool)
    alive[0, 3] = False
    assert measures.learned(filters, 0 * filters).equal(alive)
    assert not measures.learned(0 * filters, 0 * filters).any()


def test_statistics_are_those_of_the_learned_filters_alone():
    filters = normal(2, 5, 4, 4)
    learned = torch.tensor([[True, False, True, True, False], [True] * 5])
    found = experiment.statistics(filters, learned)
    assert found["learned"].tolist() == [3, 5]
    alone = experiment.statistics(filters[:1, [0, 2, 3]], learned[1:, :3])
    for name in ("high_frequency_share", "high_frequency_share_without_mean", "effective_rank"):
        assert found[name][0].item() == pytest.approx(alone[name].item())
        assert found[name][1].isfinite()


def test_a_field_without_learned_filters_has_no_numbers():
    found = experiment.statistics(normal(1, 5, 4, 4), torch.zeros(1, 5, dtype=torch.bool))
    assert found.pop("learned").item() == 0
    assert all(value.isnan().all() for value in found.values())


def test_a_filter_that_no_gradient_reaches_never_counts():
    """50,000 steps of torch's SGD in single precision, at two learning rates."""
    start = normal(1, 3, 4, 4).float()
    weights = {rate: torch.nn.Parameter(start.clone()) for rate in (2e-3, 0.02)}
    groups = [{"params": [weight], "lr": rate} for rate, weight in weights.items()]
    others = {"momentum": 0.9, "weight_decay": 5e-3}
    optimiser = torch.optim.SGD(groups, **others)
    left = {rate: left_of_start(learning_rate=rate, steps=50_000, **others) for rate in weights}
    for weight in weights.values():
        weight.grad = torch.zeros_like(weight)
    for step in range(1, 50_001):
        optimiser.step()
        if step % 1000 == 0:
            for rate, weight in weights.items():
                filters, expected = weight.detach().double(), left[rate][step] * start.double()
                assert not measures.learned(filters, expected).any()
                assert measures.learned(filters, 0.4 * expected).all()


def test_where_no_light_falls_nothing_is_learned(monkeypatch):
    """Whole images, their upper left quadrants of zeros: its filters keep the random start to the end."""
    samples, _ = load("digits", "", "train+test")
    samples[..., :4, :4] = 0
    monkeypatch.setattr(experiment, "_images", lambda *_: samples[:, 0] / 240)
    statistics = computed(crop_scale=(1.0, 1.0), crop_ratio=(1.0, 1.0), steps=50)["statistics"]
    dark = statistics["field"] == "upper left"
    assert (statistics.loc[dark, "learned"] == 0).all()
    assert statistics.loc[dark, "effective_rank"].isna().all()
    assert (statistics.loc[~dark & (statistics["step"] == 50), "learned"] > 0).all()


# Tables.


def test_tables_are_tidy_and_those_declared():
    tables = computed()
    assert set(tables) == set(registry.experiment(ID).tables)
    assert len(tables["filters"]) == 4 * 4 * 6 * 16
    assert sorted(tables["statistics"]["step"].unique()) == list(range(1, 9))
    for name, table in tables.items():
        measured = table.select_dtypes(["float", "bool"]).columns
        assert not table.duplicated([column for column in table if column not in measured]).any()
        nothing = table["learned"] == 0 if name == "statistics" else table[measured].isna().all(axis=1)
        assert (np.isfinite(table[measured]).all(axis=1) != nothing).all()
        assert set(table["arm"]) == {*experiment.ARMS, *(["untrained"] if name != "statistics" else [])}
    for name in ("patterns", "filters"):
        assert tables[name].query("arm == 'untrained'").notna().all(axis=None)
    assert tables["filters"].query("arm == 'untrained'")["learned"].all()


def test_patterns_are_those_of_the_last_filters_and_of_the_start():
    """Effective ranks as in `statistics`; the match by a loop over patches, for untrained filters."""
    tables = computed()
    last = tables["statistics"].query("step == 8").set_index(["arm", "seed", "field"])["effective_rank"]
    ranks = tables["patterns"].set_index(["arm", "seed", "field"])
    for place, rank in last.items():
        assert ranks.loc[place, "effective_rank"] == pytest.approx(rank, nan_ok=True)
    chosen = params()
    start = experiment._start(chosen, 4)[0].mT.double().numpy()
    images = experiment._images(chosen.data_set, chosen.root)
    patches = experiment.quadrants(images[:, None]).double().numpy()
    for seed, (at, field) in product(range(3), enumerate(experiment.FIELDS)):
        best = [
            max(abs(np.corrcoef(unit, patch)[0, 1]) for patch in patches[at][:2000] if patch.std() > 0)
            for unit in start[seed, at]
        ]
        assert ranks.loc[("untrained", seed, field), "match"] == pytest.approx(np.mean(best))


def test_statistics_are_those_of_the_filters():
    tables = computed()
    last = tables["statistics"].query("step == 8 and seed == 0").set_index(["arm", "field"])
    trained = tables["filters"].query("arm != 'untrained'")
    for place, rows in trained.groupby(["arm", "field"]):
        filters = torch.from_numpy(rows["weight"].to_numpy(dtype=float)).view(6, 4, 4)
        learned = torch.tensor(rows["learned"].to_numpy()).view(6, 16)
        assert learned.any(1).equal(learned.all(1))
        for name, value in experiment.statistics(filters, learned[:, 0]).items():
            assert last.loc[place, name] == pytest.approx(value.item(), nan_ok=True)


def test_a_seeds_numbers_are_the_same_bits_in_any_company():
    many, few = computed(), computed(seeds=2)
    for name, table in few.items():
        coordinates = [column for column in table if table[column].dtype.kind != "f"]
        both = table.merge(many[name], on=coordinates, suffixes=("", "_among_many"), validate="1:1")
        assert len(both) == len(table)
        for column in set(table) - set(coordinates):
            theirs = both[f"{column}_among_many"]
            assert ((both[column] == theirs) | (both[column].isna() & theirs.isna())).all(), (name, column)


@pytest.mark.parametrize(
    ("changes", "arms"),
    [
        ({"objective": "quadratic_cosine"}, {"plain", "cropped", "linear"}),
        ({"activation": "leaky_relu"}, {"plain", "cropped"}),
        ({"variance_gradient": True}, {"plain", "cropped", "linear"}),
        ({"crop_scale": (0.9, 1.0)}, {"cropped"}),
        ({"weight_decay": 0.0}, {"plain", "cropped", "linear"}),
        ({"momentum": 0.0}, {"plain", "cropped", "linear"}),
    ],
)
def test_a_setting_changes_the_arms_that_it_should(changes, arms):
    ours, theirs = computed()["filters"], computed(**changes)["filters"]
    differs = (ours["weight"] != theirs["weight"]).groupby(ours["arm"]).any()
    assert set(differs[differs].index) == arms


def test_statistics_of_both_views_are_each_views_own_where_the_views_are_the_same():
    first, top, x = weights_and_inputs(2)
    same = torch.cat([x[:, :, :7], x[:, :, :7]], 2)
    for views, equal in ((same, True), (x, False)):
        own, pooled = (
            embed([first, top], views, variance_gradient=True, pooled=flag) for flag in (False, True)
        )
        assert torch.allclose(own, pooled) == equal


def test_other_settings_have_fewer_seeds_and_differ_from_the_published_ones():
    published = settings.Params()
    others = settings.alternatives(published)
    assert len({str(other) for other in others.values()} | {str(published)}) == len(others) + 1
    for other in others.values():
        assert (other.seeds, other.steps) == (3, published.steps)
        assert settings.Params.model_validate(other.model_dump()) == other


@pytest.mark.parametrize(
    "changes",
    [
        {"crop_scale": [0.5, 1.1]},
        {"crop_scale": [0.9, 0.5]},
        {"crop_ratio": [0.0, 1.0]},
        {"crop_ratio": [2, 1]},
    ],
)
def test_a_crop_that_is_no_range_stops_the_plan(changes):
    with pytest.raises(RepriseError, match=next(iter(changes))):
        overridden(settings.Params, changes, "configs/mine.yaml")


# The real data set.


def idx(array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes((0, 0, 8, array.ndim)) + sizes + array.astype(np.uint8).tobytes()


def test_the_published_run_reads_mnists_files(tmp_path):
    """Two steps at its widths, on a miniature in the true format."""
    random, folder = np.random.default_rng(0), tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part, count in (("train", 30), ("t10k", 10)):
        (folder / f"{part}-images-idx3-ubyte").write_bytes(idx(random.integers(0, 256, (count, 28, 28))))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(random.integers(0, 10, count)))
    chosen = settings.Params(root=str(tmp_path), steps=2, seeds=3)
    settings.check(chosen)
    tables = experiment.compute(chosen, Context())
    assert tables["filters"].groupby(["arm", "field"]).size().unique().tolist() == [50 * 14 * 14]
    for claim in registry.experiment(ID).claims:
        assert judge(claim, tables).seeds == 3


def test_without_them_the_plan_stops_and_the_stand_in_needs_none(tmp_path):
    with pytest.raises(RepriseError, match="train-images-idx3-ubyte"):
        settings.check(settings.Params(root=str(tmp_path)))
    settings.check(settings.Params(root=str(tmp_path), data_set="digits"))


# Claims.

CLAIMS = {claim.id: claim for claim in registry.experiment(ID).claims}
EACH = pytest.mark.parametrize("id", CLAIMS)
SHARES = ["high_frequency_share", "high_frequency_share_without_mean"]
PATTERNS = ["effective_rank", "match"]
AT_REST = together(put("statistics", SHARES, 0.5), put("patterns", PATTERNS, 0.5))
"""Nets that did not learn: in every arm and table the filters are the random start."""


def test_ideal_tables_have_columns_that_are_computed():
    tables = computed()
    assert all(set(table) <= set(tables[name]) for name, table in ideal(params()).items())


def test_of_several_steps_the_last_is_read():
    claim, tables = CLAIMS["tian2023/fig13/smoother"], ideal(params())
    cropped_at_the_start = swapped("statistics", "arm", "plain", "cropped", step=0)
    at_the_end = swapped("statistics", "arm", "plain", "cropped", step=params().steps)
    assert judge(claim, cropped_at_the_start(tables)).observed == judge(claim, tables).observed
    assert judge(claim, at_the_end(tables)).verdict == "contradicted"


@EACH
def test_untrained_filters_do_not_reproduce_it(id):
    found = judge(CLAIMS[id], AT_REST(ideal(params())))
    assert {found.verdict, *(cell.verdict for cell in found.cells.values())} == {"tied"}


def test_a_control_that_alone_has_learned_is_no_diversity():
    """The plain net's filters resemble the images as much as untrained ones do."""
    as_much = put("patterns", "match", 0.5, arm=["plain", "untrained"])
    found = judge(CLAIMS["tian2023/fig12/diverse"], as_much(ideal(params())))
    assert (found.verdict, found.cells["patterns of the images"].verdict) == ("tied", "tied")


@EACH
def test_a_field_without_a_number_decides_nothing(id):
    one = {"arm": "plain", "seed": 1, "field": "upper left"}
    nothing = together(put("statistics", SHARES, np.nan, **one), put("patterns", PATTERNS, np.nan, **one))
    assert judge(CLAIMS[id], nothing(ideal(params()))).verdict == "inconclusive"
