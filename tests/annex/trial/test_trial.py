"""`reprise try`: a copy of a published loss gives its numbers; the page holds the ranks and every figure; a
mistake is one line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reprise.annex.trial import baselines, figures, page
from reprise.annex.trial.comparison import Standings, compared
from reprise.cli import main
from reprise.contract.experiment import Context
from reprise.contract.settings import replaced
from reprise.engine import registry

ROOT = Path(__file__).parents[3]

OWN = """
import torch


def copied(z1, z2):
    def variance(z):
        return (1 - torch.sqrt(z.var(0) + 1e-4)).relu().mean()

    def covariance(z):
        c = torch.cov(z.T)
        return (c - torch.diag(c.diagonal())).square().sum() / len(c)

    spread = variance(z1) + variance(z2)
    return 25 * (z1 - z2).square().mean() + 25 * spread + covariance(z1) + covariance(z2)


def in_place(z1, z2):
    return (z1.sub_(z2)).square().mean()


def per_sample(z1, z2):
    return (z1 - z2).square().mean(1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


@pytest.mark.slow
def test_a_copy_of_a_published_loss_gives_its_numbers(folder):
    context = Context(root=folder, setting="mine.py:copied", objective="mine.py:copied")
    copied = compared("mine.py:copied", context)
    assert copied.learning_rate == 0.005
    assert copied.has_learned
    standing = copied.standing("representation")
    # Its sums are in another order, so that its networks are as far from the baselines as other seeds.
    gaps = {"mine.py:copied": [], "simclr": []}
    for name in standing.diagnostics:
        wide = standing.by_seed(name)
        spread = 2 * wide["vicreg"].std() + 0.003
        for other, each in gaps.items():
            each.append(abs(wide[other].mean() - wide["vicreg"].mean()) / spread)
    assert max(gaps["mine.py:copied"]) < 1
    assert max(gaps["simclr"]) > 2


def test_baselines_are_those_of_the_published_results():
    published = pd.read_csv(ROOT / "docs/results/ours/intervals.csv")
    published = published[published["objective"] == "VICReg, covariance 1"].set_index(["task", "layer"])
    rows = baselines.baselines()["diagnostics"]
    rows = rows[(rows["objective"] == "vicreg") & (rows["diagnostic"] == "effective rank")]
    means = rows.groupby(["task", "layer"])["estimate"].mean()
    assert set(means.index) == {
        ("textures", "representation"),
        ("textures", "embedding"),
        ("linear", "embedding"),
        ("relu", "embedding"),
    }
    for place, mean in means.items():
        printed = float(published.loc[place, "effective rank"].split()[0])
        assert mean == pytest.approx(printed, rel=0.05, abs=0.006), place


def own_tables(objective):
    """The rows of a baseline, as those of a tried loss."""
    tables = baselines.baselines()
    return {
        name: table[table["objective"] == objective].assign(
            objective="mine.py:copied", setting="mine.py:copied", learning_rate=0.005
        )
        for name, table in tables.items()
    }


@pytest.fixture
def comparison():
    def of_objective(objective):
        params = replaced(
            registry.experiment(baselines.EXPERIMENT).params(),
            {"data_sets": ("textures",), "objective": ("mine.py:copied",)},
        )
        return Standings("mine.py:copied", params, own_tables(objective))

    return of_objective


def test_the_page_holds_the_ranks_and_every_figure(folder, monkeypatch, capsys, comparison):
    monkeypatch.setattr("reprise.annex.trial.comparison.compared", lambda loss, context: comparison("frossl"))
    sizes = {
        "long_steps": 4, "samples": 64, "seeds": 2, "seeds_compared": 2, "epochs": 0.02, "trace_every": 5,
        "images": 256,
    }  # fmt: skip
    small = []
    for experiment, quick in figures.quick_experiments():
        fields = experiment.params.model_fields
        steps = {"steps": 20 if "trace_every" in fields else 4} if "steps" in fields else {}
        smaller = {name: size for name, size in sizes.items() if name in fields} | steps
        smaller |= {"data_set": "digits"} if "epochs" in fields else {}  # has fewer images
        small.append((experiment, replace(quick, changes={**quick.changes, **smaller})))
    monkeypatch.setattr(figures, "quick_experiments", lambda: small)
    assert main(["try", "mine.py:copied", "--to", "here"]) == 0
    printed = capsys.readouterr().out
    assert "representations healthy" in printed
    assert "learning rate 0.005" in printed
    table = pd.read_csv(folder / "here" / page.TABLE).set_index(["layer", "diagnostic"])
    assert table.columns[0] == "copied"
    assert {"SimCLR", "BYOL", "untrained"} < set(table.columns)
    assert len(table.columns) == 22
    np.testing.assert_array_equal(table["copied"], table["FroSSL"])
    html = (folder / "here" / page.PAGE).read_text()
    names = (
        "ours, Figure 1",
        "ours, Figure 2",
        "ours, Figure 4",
        "jing2022, Figure 2",
        "jing2022, Figure 7b",
    )
    names += ("jing2022, Figure 6a", "jing2022, Figure 6b", "skean2024, Figure 3", "tian2023, Figure 9")
    for name in names:
        assert f"<h3>{name}</h3>" in html
    assert html.count("<svg") == len(names)
    assert "http" not in html.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")


def test_a_twin_of_an_objective_shares_its_ranks(comparison):
    """And stands among those that learned, which the objective does too."""
    each = comparison("frossl").standing("representation")
    ranks = each.ranks("effective rank")
    assert ranks.loc["mine.py:copied"].tolist() == ranks.loc["frossl"].tolist()
    assert each.signs["effective rank"].loc["mine.py:copied", "frossl"] == 0
    assert len(each.learned) == 8


def test_what_did_not_learn_is_not_ranked(comparison):
    trial = page.Trial(comparison("frossl-as-given"))
    assert "not ranked" in trial.evidence
    assert set(trial.ranks["representation"]["rank"]) == {page.NOT_RANKED}


def test_embeddings_that_are_all_the_same_are_called_collapsed(comparison):
    collapsed = comparison("frossl")
    rows = collapsed.own["diagnostics"]
    rows.loc[rows["layer"] == "embedding", "estimate"] = np.nan  # as no rank is defined
    rows.loc[(rows["layer"] == "embedding") & (rows["diagnostic"] == "spread"), "estimate"] = 0
    assert {layer: each.word for layer, each in collapsed.verdicts.items()} == {
        "representation": "healthy",
        "embedding": "collapsed",
    }


def test_a_loss_that_diverges_leaves_a_reason_for_the_figure(folder):
    jing, quick = figures.quick_experiments()[0]
    small = replace(quick, changes={"steps": 300, "long_steps": 300, "samples": 64, "seeds": 1})
    drawn = figures.drawn(jing, small, "mine.py:copied", folder)
    assert [figure.title for figure in drawn] == ["jing2022, Figure 6a", "jing2022, Figure 6b"]
    assert all("mine.py:copied" in figure.failure and "diverged" in figure.failure for figure in drawn)
    assert not any(figure.picture for figure in drawn)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("frossl", "'frossl': expected path/mine.py:my_loss"),
        ("missing.py:copied", "missing.py"),
        ("mine.py:absent", "defines no function 'absent'"),
        ("mine.py:in_place", "in place"),
        ("mine.py:per_sample", "shape [8]"),
    ],
)
def test_what_is_no_loss_is_one_line(folder, name, message, capsys):
    assert main(["try", name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (folder / "trial").exists()
