"""Any loss of two views' embeddings in the toy models: the published ones by name, and a user's own as a user
runs it."""

import json

import numpy as np
import pandas as pd
import pytest

from reprise.cli import main
from reprise.errors import RepriseError
from reprise.execute import registry
from reprise.study import losses
from reprise.study.experiment import Context

TOYS = {
    "jing2022/augmentation_threshold": {"steps": 8},
    "jing2022/layer_alignment": {"steps": 8},
    "jing2022/projector_alignment": {"steps": 8},
    "jing2022/depth_and_nonlinearity": {"steps": 4, "long_steps": 8, "samples": 64},
}
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
"""
"""Jing 2022, Eq. 2, as one may write it, and something else."""


@pytest.mark.parametrize("objective", losses.names())
@pytest.mark.parametrize("id", TOYS)
def test_every_published_loss_trains_every_toy(id, objective):
    experiment = registry.experiment(id)
    settings = {"batch_size": 32, "seeds": 2, "learning_rate": 1e-3, "objective": objective}
    params = experiment.params(**settings, **TOYS[id])
    if objective == "w_mse" and id != "jing2022/augmentation_threshold":
        # Arms that start from, or come to, a decaying spectrum: what has collapsed cannot be whitened.
        with pytest.raises(RepriseError, match="span fewer than their 16 dimensions"):
            experiment.compute()(params, Context())
        return
    for name, table in experiment.compute()(params, Context()).items():
        assert len(table), name
        assert np.isfinite(table.select_dtypes("float")).all(axis=None), name


def a_tier_with(checkout, objective):
    """A user's file: the smoke tier with one line more."""
    text = (checkout / "configs" / "smoke.yaml").read_text().replace("tier: smoke", "tier: mine")
    named = f"  {FIGURE_6}:\n"
    assert text.count(named) == 1
    (checkout / "configs" / "mine.yaml").write_text(
        text.replace(named, f"{named}    objective: {json.dumps(objective)}\n")
    )


def spectrum(checkout, tier):
    table = pd.read_parquet(checkout / "results" / tier / FIGURE_6 / "spectrum.parquet")
    return table[table["step"] == table["step"].max()]["singular_value"].to_numpy()


def test_a_users_loss_runs_beside_the_published_one_without_an_edit_of_ours(checkout, capsys):
    """Their own file of the paper's loss gives the paper's numbers, to rounding; another one others."""
    (checkout / "mine.py").write_text(MINE)
    assert main(["run", FIGURE_6, "--tier", "smoke"]) == 0
    a_tier_with(checkout, "mine.py:my_loss")
    assert main(["run", FIGURE_6, "--tier", "mine"]) == 0
    assert main(["draw", "jing2022/fig06a", "--tier", "mine"]) == 0
    assert (checkout / "figures" / "mine" / "jing2022" / "fig06a.png").is_file()
    published = spectrum(checkout, "smoke")
    np.testing.assert_allclose(spectrum(checkout, "mine"), published, rtol=1e-3)
    a_tier_with(checkout, "mine.py:another")
    assert main(["run", FIGURE_6, "--tier", "mine"]) == 0
    assert not np.allclose(spectrum(checkout, "mine"), published, rtol=0.01)
    capsys.readouterr()
    assert main(["check", "jing2022", "--tier", "mine", "--json"]) == 0
    claims = pd.DataFrame(json.loads(capsys.readouterr().out))
    of_figure_6 = claims[claims["artifact"] == "jing2022/fig6a"]
    assert (
        of_figure_6["departures"]
        .str.contains("objective: mine.py:another (paper: infonce_distance)", regex=False)
        .all()
    )


@pytest.mark.parametrize(
    ("objective", "parts"),
    [
        (
            "frosll",
            ["configs/mine.yaml", FIGURE_6, "'frosll'", "unknown loss; allowed: barlow_twins, frossl"],
        ),
        ("theirs.py:my_loss", ["objective 'theirs.py:my_loss': no file ", "theirs.py"]),
        ("mine.py:my_lose", ["objective 'mine.py:my_lose': mine.py defines no function 'my_lose'"]),
    ],
)
def test_a_loss_that_is_not_there_is_one_message(checkout, capsys, objective, parts):
    (checkout / "mine.py").write_text(MINE)
    a_tier_with(checkout, objective)
    assert main(["run", FIGURE_6, "--tier", "mine"]) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("reprise: error: ")
    assert [part for part in parts if part not in message] == []
