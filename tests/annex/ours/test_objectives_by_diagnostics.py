"""The comparison of objectives: nothing is left out, a made-up table gives the ranks that it has, and toy
networks learn what their losses ask for."""

from types import SimpleNamespace

import matplotlib.colors
import numpy as np
import pandas as pd
import pytest
import torch
from reading import draw

from reprise import objectives
from reprise.annex.diagnose.measures import MEASURES
from reprise.annex.ours.objectives_by_diagnostics import compute as computing
from reprise.annex.ours.objectives_by_diagnostics import figures, toy
from reprise.annex.ours.objectives_by_diagnostics.experiment import (
    ImageRun,
    Params,
    needs,
    runs,
    spec,
    tasks,
    toy_runs,
)
from reprise.annex.ours.objectives_by_diagnostics.images import rendered
from reprise.annex.ours.objectives_by_diagnostics.lineup import (
    FIRST,
    METHODS,
    OTHER,
    TOYS,
    UNTRAINED,
    method,
)
from reprise.annex.ours.objectives_by_diagnostics.ranking import gain, has_learned, standing
from reprise.contract.experiment import BASE, Context
from reprise.contract.losses import names
from reprise.contract.settings import overridden
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.numerics.streams import Streams
from reprise.training import methods
from reprise.training.images import train
from reprise.training.objective import Named
from reprise.training.pilots import PILOT_SEED

ID = "ours/objectives_by_diagnostics"
SMALL = Params(images=160, test_images=80, steps=2, pilot_steps=1, seeds=2)


# The line-up.


def test_every_objective_with_a_state_is_compared_and_none_that_there_is_not():
    stateful = {each.__name__.lower() for each in methods.Method.__subclasses__()}
    stateful -= {"stateless", "supervised"}  # a class of other losses, and no self-supervised objective
    compared = {str(each.objective): each.is_stateless for each in METHODS.values()}
    assert stateful <= compared.keys() <= set(names()) | stateful
    assert {name for name, is_stateless in compared.items() if not is_stateless} == stateful


@pytest.mark.parametrize("name", METHODS)
def test_the_settings_of_an_objective_differ_in_one_hyperparameter(name):
    each = method(name)
    specs = [each.at(place) for place in each.places]
    if each.other:
        (differing,) = each.other
        assert specs[0].model_dump(exclude={differing}) == specs[1].model_dump(exclude={differing})
        assert specs[0] != specs[1]
    takes_one = {"temperature", "invariance_weight", "covariance_weight", "off_diagonal_weight"}
    assert bool(each.other) or not takes_one & specs[0].hyperparameters.keys() or name == "quadratic-cosine"


def test_toy_losses_are_those_of_toy_networks_alone():
    assert computing.TOY_LOSSES.keys() == TOYS.keys()


def test_the_temperature_of_the_quadratic_loss_is_a_factor():
    z1, z2 = torch.randn(2, 8, 4)
    at = [objectives.quadratic_cosine(z1, z2, temperature=each) * each for each in (0.1, 0.5)]
    assert at[0] == pytest.approx(at[1].item(), rel=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_every_objective_takes_two_steps_in_each_of_its_settings(name, tmp_path):
    data = rendered("textures", 16, 160, 80)
    for place in method(name).places:
        outcome = train(spec(SMALL, ImageRun("textures", name, place, 0), 0.002, 2), data, tmp_path / place)
        assert outcome.diverged is None
        assert len(outcome.log.splitlines()) == 2


def test_a_network_is_as_good_as_its_task_but_for_its_objective():
    """Objectives of one seed share weights, order and views; pilots have a seed of their own."""
    params = Params()
    first, *others = (spec(params, ImageRun("shapes", name, FIRST, 3), 0.1, 9) for name in METHODS)
    differing = {"objective", "projector"}
    for other in others:
        assert first.model_dump(exclude=differing) == other.model_dump(exclude=differing)
    assert PILOT_SEED not in {run.seed for run in runs(params)}


def test_it_fits_twenty_minutes_on_two_cores():
    assert sum(needs(Params(), task).minutes for task in tasks(Params())) < 40


def test_a_training_that_diverges_has_no_network(monkeypatch, tmp_path):
    monkeypatch.setattr(computing, "model", lambda *arguments: SimpleNamespace(diverged=3))
    context, pilot = Context(root=tmp_path), tasks(SMALL)[0]
    assert context.result(computing.perform, SMALL, pilot)["value"].isna().all()


def test_an_unknown_method_is_named():
    with pytest.raises(RepriseError, match="unknown method 'nobody'; allowed: simclr"):
        overridden(Params, {"methods": ["simclr", "nobody"]}, "mine.yaml")


# The ranks, of a made-up table.

DIAGNOSTICS = ("spread", "condition number", "most frequent class", "linear probe")


def made_up(values, probes, task="textures", place=FIRST):
    """Tables of objectives whose `spread` is known, five seeds each with a deviation of .01."""
    noise = np.random.default_rng(0).normal(0, 0.01, (len(values), 5))
    common = {"task": task, "place": place, "setting": BASE}
    rows = [
        {**common, "objective": name, "layer": layer, "diagnostic": each, "seed": seed, "estimate": value}
        for number, (name, spread) in enumerate(values.items())
        for seed in range(5)
        for layer in ("representation", "embedding")
        for each, value in {
            "spread": spread + noise[number, seed],
            "condition number": np.inf if name == "byol" else 10.0,
            "most frequent class": 0.1,
            "linear probe": 0.5,
        }.items()
    ]
    learning = [
        {**common, "objective": name, "seed": seed, "accuracy": probes[name]}
        for name in values
        for seed in range(5)
    ]
    diagnostics = pd.DataFrame(rows)
    return {
        "diagnostics": diagnostics.assign(share=diagnostics["estimate"]),
        "probes": pd.DataFrame(learning),
    }


def joined(*tables):
    return {name: pd.concat([each[name] for each in tables], ignore_index=True) for name in tables[0]}


LEVELS = {"simclr": 0.9, "vicreg": 0.5, "frossl": 0.5, "byol": 0.1, "swav": 0.7, UNTRAINED: 0.2}
PROBES = {"simclr": 60.0, "vicreg": 60.0, "frossl": 60.0, "byol": 60.0, "swav": 30.0, UNTRAINED: 20.0}


def test_a_made_up_table_gives_the_ranks_that_it_has():
    each = standing(made_up(LEVELS, PROBES), "textures", "representation", list(LEVELS), column="estimate")
    assert each.learned == ["simclr", "vicreg", "frossl", "byol"]  # swav gains 10 points
    ranks = each.ranks("spread").apply(tuple, axis=1).to_dict()
    assert ranks == {"simclr": (1, 1), "vicreg": (2, 3), "frossl": (2, 3), "byol": (4, 4)}
    assert each.positions.loc[["simclr", "byol"], "spread"].tolist() == [0, 1]
    assert each.decided.loc["vicreg", "spread"] == pytest.approx(2 / 3)
    assert each.diagnostics == ["spread", "condition number", "linear probe"]
    interval = each.interval("simclr", "spread")
    assert interval.low < 0.9 < interval.high


def test_an_infinite_condition_number_is_larger_than_any_other():
    each = standing(made_up(LEVELS, PROBES), "textures", "embedding", list(LEVELS), column="share")
    assert each.ranks("condition number").loc["byol"].tolist() == [1, 1]
    assert each.ranks("condition number").loc["vicreg"].tolist() == [2, 4]


def test_a_network_that_diverged_has_not_learned():
    tables = made_up(LEVELS, PROBES)
    lost = (tables["probes"]["objective"] == "frossl") & (tables["probes"]["seed"] == 2)
    tables["probes"]["accuracy"] = tables["probes"]["accuracy"].mask(lost)
    assert np.isnan(gain(tables, "textures", "frossl", FIRST))
    each = standing(tables, "textures", "representation", list(LEVELS), column="estimate")
    assert "frossl" not in each.learned
    assert gain(tables, "textures", "simclr", FIRST) == 40


def test_toy_networks_need_only_not_have_diverged():
    tables = made_up(LEVELS, PROBES, task="linear")
    assert has_learned(tables, "linear", "swav", FIRST)
    lost = (tables["diagnostics"]["objective"] == "swav") & (tables["diagnostics"]["seed"] == 1)
    tables["diagnostics"]["estimate"] = tables["diagnostics"]["estimate"].mask(lost)
    assert not has_learned(tables, "linear", "swav", FIRST)
    assert not has_learned(tables, "linear", "dino", FIRST)


def test_an_objective_without_rows_is_an_error():
    tables = made_up(LEVELS, PROBES)
    tables["diagnostics"] = tables["diagnostics"].query("objective != 'byol'")
    with pytest.raises(RepriseError, match="no rows of byol on textures"):
        standing(tables, "textures", "embedding", ["simclr", "byol"], column="estimate")


# The figures.


def params_of(names, **changes):
    return Params(methods=tuple(names), data_sets=("textures",), **changes)


def cells_of(axes):
    """The numbers of a heat map, [row, column], and the row's labels."""
    (mesh,) = axes.collections[:1]
    texts = {
        (int(y), int(x)): text for text in axes.texts for x, y in [text.get_position()] if text.get_text()
    }
    return mesh, texts, [label.get_text() for label in axes.get_yticklabels()]


def test_the_heat_map_says_what_is_separable_and_what_did_not_learn():
    names = [name for name in LEVELS if name != UNTRAINED]
    tables = made_up(LEVELS, PROBES)
    (axes,) = draw("ours/representations", tables, params_of(names)).axes
    mesh, texts, labels = cells_of(axes)
    assert [label.partition(",")[0] for label in labels] == [
        "SimCLR", "VICReg", "FroSSL", "BYOL", "untrained",
    ]  # fmt: skip
    assert axes.get_title().split("\n") == ["textures", "did not learn: SwAV, τ 0.1"]
    assert texts[0, 0].get_text() == ".90"
    assert texts[3, 1].get_text() == "∞"
    masked = np.ma.getmaskarray(mesh.get_array()).reshape(len(labels), -1)
    assert masked[:, 0].tolist() == [False, False, False, False, True]
    assert masked[:, 1].tolist() == [True, True, True, False, True]  # all but one are equal
    assert matplotlib.colors.to_hex(texts[4, 0].get_color()) == matplotlib.colors.to_hex(figures.PALE)
    (grey,) = axes.patches
    assert (grey.get_y(), grey.get_height()) == (4, 1)


def test_the_other_setting_is_compared_with_the_first():
    first = made_up(LEVELS, PROBES)
    other = made_up({"simclr": 1.4, "vicreg": 0.5, "frossl": 0.2}, PROBES, place=OTHER)
    figure = draw("ours/other_settings", joined(first, other), params_of(["simclr", "vicreg", "frossl"]))
    mesh, texts, labels = cells_of(figure.axes[0])
    assert labels == ["SimCLR, τ 0.2 → 0.5", "VICReg, covariance 1 → 10", "FroSSL, invariance 1 → 4"]
    assert texts[0, 0].get_text() in ("+.49", "+.50", "+.51")
    colours = mesh.get_array().reshape(3, -1)
    assert colours[0, 0] > 0.5 > colours[2, 0]
    assert np.ma.getmaskarray(colours)[1, 0]
    assert figure.axes[0].get_title() == "textures"


def test_a_change_is_shown_only_where_both_learned():
    """If none did, all are shown in grey."""
    levels = {"simclr": 1.4, "vicreg": 0.5}
    first = made_up(LEVELS, PROBES)
    for probes, rows, unranked in (
        ({"simclr": 60.0, "vicreg": 25.0}, ["SimCLR, τ 0.2 → 0.5"], "VICReg, covariance 1 → 10"),
        (
            dict.fromkeys(levels, 25.0),
            ["SimCLR, τ 0.2 → 0.5", "VICReg, covariance 1 → 10"],
            "SimCLR, τ 0.2 → 0.5; VICReg, covariance 1 → 10",
        ),
    ):
        tables = joined(first, made_up(levels, probes, place=OTHER))
        (axes,) = draw("ours/other_settings", tables, params_of(levels)).axes
        _, texts, labels = cells_of(axes)
        assert labels == rows
        assert axes.get_title().split("\n") == ["textures", f"one of the two did not learn: {unranked}"]
        is_grey = matplotlib.colors.to_hex(texts[0, 0].get_color()) == matplotlib.colors.to_hex(figures.PALE)
        assert is_grey == (len(rows) == 2)


def test_pairs_and_their_order_on_two_data_sets_are_counted():
    """On shapes the order of SimCLR and BYOL is reversed."""
    levels = {**LEVELS, "simclr": 0.1, "byol": 0.9}
    tables = joined(made_up(LEVELS, PROBES), made_up(levels, PROBES, task="shapes"))
    params = Params(methods=("simclr", "vicreg", "frossl", "byol"))
    lines = draw("ours/separable_pairs", tables, params).set_index(["layer", "diagnostic"])
    line = lines.loc[("representation", "spread")]
    assert line["textures, separable (%)"] == pytest.approx(100 * 5 / 6, abs=0.05)
    assert line["in opposite orders"] == 5
    assert line["rank correlation"] < -0.5
    assert lines.loc[("representation", "condition number"), "in opposite orders"] == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.951, ".95"), (29.74, "29.7"), (-2.95, "-2.95"), (1234.0, "1e3"), (256.0, "256"), (np.nan, "-"),
     (np.inf, "∞"), (-0.26, "-.26"), (0.0, ".00"), (-0.002, ".00"), (0.999, "1.00"), (10.04, "10.0")],
)  # fmt: skip
def test_numbers_fit_a_cell(value, text):
    assert figures._number(value) == text


# The toy networks.


def test_the_views_of_a_sample_differ_by_the_noise_and_share_the_class():
    x1, x2, labels = toy.pairs(Streams([0, 1], "test"), 4000, 32)
    assert set(labels.unique().tolist()) == set(range(8))
    noise = (x1 - x2).std(1) / 2**0.5
    np.testing.assert_allclose(noise, np.repeat([toy.NOISE], 2, 0).repeat(8, 1), rtol=0.06)
    content = ((x1 + x2) / 2)[:, :, 24:]
    np.testing.assert_allclose(content.std(1), 0.5**0.5 * toy.NOISE[3], rtol=0.06)  # noise alone
    own = x1[:, :, :8].argmax(-1) == labels
    assert own.float().mean() > 0.9


def test_essers_losses_are_its_equations():
    z1, z2 = torch.randn(2, 3, 5, 4)
    negative = z2[:, [4, 0, 1, 2, 3]]
    expected = (z1 * negative).sum(-1).mean(-1) - (z1 * z2).sum(-1).mean(-1)
    torch.testing.assert_close(toy.contrastive(z1, z2), expected)
    torch.testing.assert_close(toy.non_contrastive(z1, z2), -(z1 * z2).sum(-1).mean(-1))


def test_orthonormal_layers_stay_so():
    weights = toy.descended(Params(), "linear", toy.non_contrastive, [0, 1], 0.1, 20, orthonormal=True)
    for weight in weights:
        gram = weight @ weight.mT
        torch.testing.assert_close(gram, torch.eye(len(gram[0])).expand_as(gram), atol=1e-5, rtol=0)


def test_a_linear_network_with_orthonormal_layers_finds_the_directions_that_views_share():
    """The covariance between the views is 1 in two quarters of the inputs, .75 in that of the classes and 0
    in that of the noise; there are as many outputs as directions in two quarters."""
    params = Params()
    weights = toy.descended(params, "linear", toy.non_contrastive, [0], 0.05, 400, orthonormal=True)
    product = (weights[1] @ weights[0])[0]
    captured = product.square().sum(0).reshape(4, -1).mean(1)
    np.testing.assert_allclose(captured, [0, 1, 1, 0], atol=0.1)


def test_one_network_does_not_depend_on_those_beside_it():
    settings = "relu", objectives.vicreg
    alone, both = (
        toy.descended(Params(), *settings, seeds, 0.03, 5, orthonormal=False) for seeds in ([1], [0, 1])
    )
    for one, other in zip(alone, both, strict=True):
        torch.testing.assert_close(one[0], other[1])


def test_a_toy_network_that_diverges_has_no_weights():
    def loss(z1, z2):
        return -(z1 * z2).sum(-1).mean(-1)

    assert toy.descended(Params(), "linear", loss, [0], 10.0, 200, orthonormal=False) is None


def test_toys_take_the_losses_without_state():
    named = {run.method for run in toy_runs(Params())}
    assert named == {name for name in METHODS if method(name).is_stateless} | {*TOYS, UNTRAINED}


# The smoke tables.


def test_every_diagnostic_is_there_for_every_network(smoke):
    tables, params = smoke[ID]
    table = tables["diagnostics"]
    expected = {each.name for each in MEASURES} | {
        "most frequent class",
        "nearest neighbours",
        "linear probe",
    }
    groups = table.groupby(["task", "objective", "place", "layer", "seed"])["diagnostic"]
    assert groups.agg(set).map(lambda names: names == expected).all()
    on_images = table[table["task"].isin(params.data_sets)]
    assert set(on_images["objective"]) == {*params.methods, UNTRAINED}
    assert set(table["task"]) == {*params.data_sets, *params.toys}
    nets = on_images.drop_duplicates(["task", "objective", "place", "seed"])
    assert len(tables["probes"]) == len(nets)
    assert tables["probes"]["accuracy"].between(0, 100).all()


def test_it_is_no_papers():
    ours = registry.paper("ours")
    assert ours.is_ours
    assert not ours.claims
    assert [key for key, paper in registry.papers().items() if not paper.is_ours] != ["ours"]
    assert not any(paper.is_ours for paper in map(registry.paper, ("jing2022", "skean2024")))


def test_the_method_of_another_loss_has_no_other_setting():
    mine = method("mine.py:my_loss")
    assert (mine.name, mine.places) == ("my_loss", (FIRST,))
    assert mine.objective == Named(name="mine.py:my_loss")
