"""The stand-in and its negative control: what is measured, the figure, and a user's loss in it."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from reading import assert_mean, drawn, labels, where

from reprise.cli import main
from reprise.contract.experiment import BASE, Context
from reprise.engine import registry
from reprise.errors import RepriseError
from reprise.evidence.judgement import judge
from reprise.papers.jing2022.colour_short_cut import compute as short_cut
from reprise.papers.jing2022.colour_short_cut import experiment as settings
from reprise.papers.jing2022.colour_short_cut.experiment import ARMS, Params
from reprise.training.images import Data, assemble
from reprise.training.optimisers import AdamW

ID = "jing2022/colour_short_cut"
SMALL = {"images": 80, "test_images": 80, "batch": 16, "steps": 4, "probe_epochs": 2, "seeds": 2}


def test_the_control_differs_in_backdrops_and_jitter_alone():
    specs = {arm: short_cut.spec(Params(data_set="shapes"), arm, 0, "nt_xent") for arm in ARMS}
    one, other = specs.values()
    differ = {name for name in type(one).model_fields if getattr(one, name) != getattr(other, name)}
    assert differ == {"augmentation", "normalisation"}
    plain, kept = one.augmentation.first, other.augmentation.first
    assert (plain.hue, kept.hue) == (0.5, 0.02)
    assert plain.scale == kept.scale


def test_tables_hold_each_net_before_and_after(tmp_path):
    tables = short_cut.compute(Params(data_set="shapes", **SMALL), Context(root=tmp_path))
    assert set(tables) == set(registry.experiment(ID).tables)
    probes, losses = tables["probes"], tables["losses"]
    cells = [(arm, seed, step) for arm in ARMS for seed in range(2) for step in (0, 4)]
    assert list(probes[["arm", "seed", "step"]].itertuples(index=False, name=None)) == cells
    assert probes["accuracy"].between(0, 100).all()
    assert losses["step"].unique().tolist() == [1, 2, 3, 4]
    assert (losses["loss"] > 0).all()
    start = probes[probes["step"] == 0].groupby("seed")["accuracy"].nunique()
    assert (start > 1).any()  # of other images
    assert len(list((tmp_path / "results" / "cache" / "models").glob("[!.]*"))) == 4


def test_losses_are_means_of_stretches():
    log = [{"step": step, "loss": float(step)} for step in range(50)]
    found = short_cut.stretches(log, 50)
    assert found.index.tolist() == [*range(3, 49, 3), 50]
    assert found.tolist() == [*np.arange(1.0, 48, 3), 48.5]


def test_a_training_that_diverges_has_no_loss_in_later_stretches():
    found = short_cut.stretches([{"step": step, "loss": 1.0} for step in range(10)], 40)
    assert found.index.tolist() == [*range(2, 42, 2)]
    assert found.notna().tolist() == 5 * [True] + 15 * [False]
    assert short_cut.stretches([], 40).isna().all()


def test_the_probe_finds_what_is_there_whatever_its_scale(monkeypatch):
    """A class in a tiny dimension beside a large one of noise; and nothing where there is only noise."""
    random, labels = torch.Generator().manual_seed(0), torch.arange(400) % 4
    noise = 1000 * torch.randn(400, 8, generator=random)
    telling = noise.clone()
    telling[:, :4] = 1e-3 * (torch.nn.functional.one_hot(labels, 4) + 0.1 * noise[:, :4] / 1000)
    params = Params(data_set="shapes", probe_epochs=20)
    of = short_cut.spec(params, "any hue", 0, "nt_xent")
    images = torch.zeros(400, 3, 16, 16, dtype=torch.uint8)
    data = Data(images[:200], labels[:200], images[200:], labels[200:])
    for features, low, high in ((telling, 99, 100), (noise, 5, 45)):
        halves = iter(features.split(200))
        monkeypatch.setattr(short_cut, "features", lambda *_, halves=halves: next(halves))
        assert low <= short_cut.accuracy(params, of, assemble(of, 3).student, data) <= high


def test_another_data_set_is_refused(tmp_path):
    with pytest.raises(RepriseError, match="write data_set: shapes"):
        registry.experiment(ID).check(Params())
    with pytest.raises(RepriseError, match="write data_set: shapes"):
        short_cut.compute(Params(), Context(root=tmp_path))


def test_a_divergence_is_no_observation(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "AdamW", lambda learning_rate: AdamW(learning_rate=1e30))
    tables = short_cut.compute(Params(data_set="shapes", **SMALL), Context(root=tmp_path))
    assert tables["probes"].query("step == 4")["accuracy"].isna().all()
    for claim in registry.experiment(ID).claims:
        assert judge(claim, tables).code == "undefined"


# The figure.


def test_the_figure(smoke):
    (left, right), base, _ = drawn("jing2022/stand_in", smoke)
    names = {"any hue": "dark backdrops, any hue", "short cut": "bright backdrops, hues kept"}
    assert labels(left) == list(names.values())
    for arm, name in names.items():
        assert_mean(left, name, where(base["losses"], arm=arm), "step", "loss", log=False)
        assert_mean(right, name, where(base["probes"], arm=arm), "step", "accuracy", log=False)


# A user's loss.

MINE = """
def my_loss(z1, z2):
    z1, z2 = (z / z.norm(dim=1, keepdim=True) for z in (z1, z2))
    return (z1 - z2).square().sum(1).mean() + (z1 @ z1.T).exp().mean().log()
"""


def test_a_users_loss_trains_on_images_without_an_edit_of_ours(checkout, capsys):
    (checkout / "mine.py").write_text(MINE)
    smoke = yaml.safe_load((checkout / "configs" / "smoke.yaml").read_text())["experiments"][ID]
    settings = {**smoke, "seeds": 1, "objective": "mine.py:my_loss"}
    config = yaml.safe_dump({"tier": "mine", "experiments": {ID: settings}})
    (checkout / "configs" / "mine.yaml").write_text(config)
    assert main(["run", ID, "--tier", "mine"]) == 0
    assert main(["draw", "jing2022/stand_in", "--tier", "mine"]) == 0
    losses = pd.read_parquet(checkout / "results" / "mine" / ID / "losses.parquet").groupby("setting")["loss"]
    published, mine = (losses.get_group(setting) for setting in (BASE, "mine.py:my_loss"))
    assert len(published) == len(mine)
    assert not np.isclose(published, mine).any()
    folders = (checkout / "results" / "cache" / "models").glob("[!.]*/record.json")
    trained = [json.loads(file.read_text())["spec"]["objective"] for file in folders]
    assert (
        sorted(each.get("name", each["kind"]) for each in trained)
        == ["mine.py:my_loss"] * 2 + ["nt_xent"] * 2
    )
