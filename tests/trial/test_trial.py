"""`reprise try`: a user's copy of a published loss gives its numbers; the page holds every column and figure;
a mistake is one line."""

import numpy as np
import pandas as pd
import pytest

from reprise.cli import main
from reprise.diagnose import reference
from reprise.diagnose.reference import NETS, Net, measured
from reprise.trial import figures, page

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
def test_a_copy_of_a_published_loss_gives_its_numbers(folder, monkeypatch):
    # So few steps diverge at the higher rates.
    monkeypatch.setattr(reference, "RATES", (0.01, 0.03))
    vicreg = next(net for net in NETS if net.name == "VICReg")
    copied, other = (Net("mine", "trained", name, {}, vicreg.dim) for name in ("mine.py:copied", "frossl"))
    size = {"steps": 6, "pilot_steps": 2}
    of_published, of_copy, of_other = (measured([net], 1, **size) for net in (vicreg, copied, other))
    assert (of_copy["learning_rate"] == of_published["learning_rate"]).all()
    np.testing.assert_allclose(of_copy["value"], of_published["value"], rtol=0.02, atol=0.003)
    assert not np.allclose(of_other["value"], of_published["value"], rtol=0.02, atol=0.003)


def test_the_page_holds_every_column_and_figure(folder, monkeypatch, capsys):
    recorded = reference.reference()
    mine = recorded[(recorded["net"] == "FroSSL") & (recorded["seed"] == 0)].assign(
        net="copied", learning_rate=0.5
    )
    asked = []
    monkeypatch.setattr(reference, "measured", lambda nets, seeds: asked.append((nets, seeds)) or mine)
    small = [
        each._replace(changes={**each.changes, "steps": 4, **sizes})
        for each, sizes in zip(
            figures.EXPERIMENTS, ({"long_steps": 4, "samples": 64, "seeds": 2}, {"seeds": 2}), strict=True
        )
    ]
    monkeypatch.setattr(figures, "EXPERIMENTS", small)
    assert main(["try", "mine.py:copied", "--to", "here"]) == 0
    (((net,), seeds),) = asked
    assert (net.objective, net.dim, seeds) == ("mine.py:copied", 256, 1)
    printed = capsys.readouterr().out
    assert "representations healthy" in printed
    assert "learning rate 0.5" in printed
    table = pd.read_csv(folder / "here" / page.TABLE).set_index(["layer", "diagnostic"])
    assert list(table.columns) == ["copied", *(net.name for net in NETS)]
    np.testing.assert_array_equal(table["copied"], table["FroSSL"])
    published = recorded.query("net == 'SimCLR' and layer == 'representation' and seed == 0")
    rank = published.set_index("diagnostic").loc["RankMe", "value"]
    assert table.loc[("representation", "RankMe"), "SimCLR"] == pytest.approx(rank)
    html = (folder / "here" / page.PAGE).read_text()
    for name in ("jing2022, Figure 6a", "jing2022, Figure 6b", "tian2023, Figure 9"):
        assert f"<h2>{name}</h2>" in html
    assert html.count("<svg") == 3
    assert "http" not in html.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")


def test_a_loss_that_diverges_leaves_a_reason_for_the_figure(folder):
    jing = figures.EXPERIMENTS[0]
    small = jing._replace(changes={"steps": 300, "long_steps": 300, "samples": 64, "seeds": 1})
    drawn = figures.drawn(small, "mine.py:copied")
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
