"""Any loss of two views' embeddings in the toy models: the published ones by name, and a user's own as a user
runs it."""

import json

import numpy as np
import pandas as pd
import pytest

from reprise.cli import main
from reprise.contract import losses
from reprise.contract.experiment import BASE, Context
from reprise.engine import registry
from reprise.errors import RepriseError

TOYS = {
    "jing2022/augmentation_threshold": {"steps": 8},
    "jing2022/layer_alignment": {"steps": 8},
    "jing2022/projector_alignment": {"steps": 8},
    "jing2022/other_papers": {"steps": 8},
    "jing2022/depth_and_nonlinearity": {"steps": 4, "long_steps": 8, "samples": 64},
}
OF_INFONCE = ["log10_norm_if_x_fixed"]
FIGURE_6 = "jing2022/depth_and_nonlinearity"

MINE = """
import torch

def my_loss(z1, z2):
    negatives = -torch.cdist(z1, z1).square() / 2
    positives = -(z1 - z2).square().sum(1) / 2
    itself = torch.eye(len(z1), dtype=torch.bool)
    return (torch.where(itself, positives[:, None], negatives).logsumexp(1) - positives).mean()

def another(z1, z2):
    return (z1 - z2).abs().mean()

def none(z1, z2):
    return (z1 - z2).abs()
"""
"""Jing 2022, Eq. 2, as one may write it, and something else."""


@pytest.mark.parametrize("objective", losses.names())
@pytest.mark.parametrize("id", TOYS)
def test_every_published_loss_trains_every_toy(id, objective):
    experiment = registry.experiment(id)
    params = experiment.params(batch_size=32, seeds=2, learning_rate=1e-3, **TOYS[id])
    context = Context(objective=objective)
    if objective == "w_mse" and id in ("jing2022/projector_alignment", "jing2022/other_papers"):
        # An arm has a projector of low rank: what it collapses cannot be whitened.
        with pytest.raises(RepriseError, match="do not span all 16 dimensions"):
            experiment.compute()(params, context)
        return
    for name, table in experiment.compute()(params, context).items():
        assert len(table), name
        numbers = table.select_dtypes("float").drop(columns=OF_INFONCE, errors="ignore")
        assert np.isfinite(numbers).all(axis=None), name


def a_tier_with(checkout, objective):
    """A user's file: the smoke tier with one line more."""
    text = (checkout / "configs" / "smoke.yaml").read_text().replace("tier: smoke", "tier: mine")
    heading = f"  {FIGURE_6}:\n"
    assert text.count(heading) == 1
    (checkout / "configs" / "mine.yaml").write_text(
        text.replace(heading, f"{heading}    objective: {json.dumps(objective)}\n")
    )


def test_users_losses_run_beside_the_published_one_without_an_edit_of_ours(checkout, capsys):
    """Their own file of the paper's loss gives the paper's numbers, to rounding; another one others."""
    (checkout / "mine.py").write_text(MINE)
    assert main(["run", FIGURE_6, "--tier", "smoke"]) == 0
    a_tier_with(checkout, ["mine.py:my_loss", "mine.py:another"])
    assert main(["run", FIGURE_6, "--tier", "mine"]) == 0
    assert main(["draw", "jing2022/fig06a", "--tier", "mine"]) == 0
    assert (checkout / "figures" / "mine" / "jing2022" / "fig06a.png").is_file()
    smoke, mine = (
        pd.read_parquet(checkout / "results" / tier / FIGURE_6 / "spectrum.parquet")
        for tier in ("smoke", "mine")
    )
    losses = ["mine.py:my_loss", "mine.py:another"]
    assert mine["setting"].unique().tolist() == [*smoke["setting"].unique(), *losses]
    others = mine["setting"].isin(losses)
    pd.testing.assert_frame_equal(mine[~others], smoke, check_exact=True)
    published, same, another = (
        mine.loc[mine["setting"] == setting, "singular_value"].to_numpy() for setting in (BASE, *losses)
    )
    np.testing.assert_allclose(same, published, rtol=1e-3)
    assert not np.allclose(another, published, rtol=0.01)
    verdicts = []
    for tier in ("smoke", "mine"):
        capsys.readouterr()
        assert main(["check", "jing2022", "--tier", tier, "--json"]) == 0
        claims = pd.DataFrame(json.loads(capsys.readouterr().out))
        verdicts.append(claims[claims["artifact"].isin(["jing2022/fig6a", "jing2022/fig6b"])])
    pd.testing.assert_frame_equal(*verdicts)
    assert not verdicts[0].empty


@pytest.mark.parametrize(
    ("objective", "parts"),
    [
        (
            "frosll",
            [
                "configs/mine.yaml",
                FIGURE_6,
                "'frosll'",
                f"unknown loss; allowed: {', '.join(losses.names())}",
            ],
        ),
        ("theirs.py:my_loss", ["objective 'theirs.py:my_loss': no file ", "theirs.py"]),
        ("mine.py:my_lose", ["objective 'mine.py:my_lose': mine.py defines no function 'my_lose'"]),
        ("mine.py:none", ["objective 'mine.py:none': mine.py:13: returned a tensor of shape [8, 4]"]),
    ],
)
def test_what_is_no_loss_is_one_message_before_anything_is_computed(
    checkout, capsys, monkeypatch, objective, parts
):
    monkeypatch.setattr("reprise.engine.run.evaluate", pytest.fail)
    (checkout / "mine.py").write_text(MINE)
    a_tier_with(checkout, objective)
    assert main(["run", FIGURE_6, "--tier", "mine"]) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("reprise: error: ")
    assert [part for part in parts if part not in message] == []
