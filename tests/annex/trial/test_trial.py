"""`reprise try`: a copy of a published loss gives its numbers; the page holds what tells a loss from others,
and every figure; a mistake is one line."""

import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.text import Text
from torch import nn

import reprise
from reprise import objectives
from reprise.annex.ours.objectives_by_diagnostics.experiment import ImageRun, spec
from reprise.annex.progress import in_stages, of_tasks, parts
from reprise.annex.trial import baselines, figures, given, page
from reprise.annex.trial.command import writable
from reprise.annex.trial.comparison import Standings, compared
from reprise.annex.trial.given import Given
from reprise.cli import main
from reprise.contract.experiment import Context
from reprise.contract.settings import replaced
from reprise.engine import registry
from reprise.errors import RepriseError

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


def scaled(z1, z2, tau=1.0):
    return copied(z1, z2) * tau


class Prototypes(torch.nn.Module):
    def __init__(self, tau=1.0):
        super().__init__()
        self.tau = torch.nn.Parameter(torch.tensor(tau) + 0 * torch.randn(()))

    def forward(self, z1, z2):
        return self.tau * copied(z1, z2)


built = Prototypes(0.5)


def broken(z1, z2, tau):
    return tau / 0


def of_size(z1, z2, dim=4):
    return (z1.T @ z2 / len(z1) - torch.eye(dim)).square().sum()


def flat(z1, z2):
    return (z1 - z2).round().square().sum()
"""
COPIED = Given("mine.py:copied", "copied")
SMALL = {"steps": 8, "long_steps": 8, "samples": 64, "seeds": 2}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


@pytest.mark.slow
def test_a_copy_of_a_published_loss_gives_its_numbers(folder):
    copied = compared(COPIED, folder, lambda share: None, [])
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


@pytest.fixture
def small(monkeypatch):
    """Every quick experiment in less than seconds."""
    sizes = {
        "long_steps": 4, "samples": 64, "seeds": 2, "seeds_compared": 2, "epochs": 0.02, "trace_every": 5,
        "images": 256,
    }  # fmt: skip
    found = []
    for experiment, quick in figures.quick_experiments():
        fields = experiment.params.model_fields
        steps = {"steps": 20 if "trace_every" in fields else 4} if "steps" in fields else {}
        smaller = {name: size for name, size in sizes.items() if name in fields} | steps
        smaller |= {"data_set": "digits"} if "epochs" in fields else {}  # has fewer images
        found.append((experiment, replace(quick, changes={**quick.changes, **smaller})))
    monkeypatch.setattr(figures, "quick_experiments", lambda: found)


def shown(html):
    """The titles of a page's figures."""
    return re.findall("<h3>(.*)</h3>", html)


def test_the_page_holds_what_tells_a_loss_from_others_and_every_figure(
    folder, monkeypatch, small, capsys, comparison
):
    monkeypatch.setattr("reprise.annex.trial.comparison.compared", lambda *arguments: comparison("frossl"))
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
    ours = ["ours, Figure 1", "ours, Figure 2", "ours, Figure 4"]
    theirs = ["jing2022, Figure 2", "jing2022, Figure 7b", "jing2022, Figure 6a", "jing2022, Figure 6b"]
    theirs += ["skean2024, Figure 3", "tian2023, Figure 9"]
    assert shown(html)[:3] == ours
    assert sorted(shown(html)[3:]) == sorted(theirs)
    assert html.count("<svg") == len(ours + theirs)
    assert len(list((folder / "here").glob("*.svg"))) == len(theirs)
    assert "http" not in html.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")


def test_a_figure_alone_in_a_folder_without_anything_else(folder, small, capsys):
    assert main(["try", "mine.py:scaled(tau=.01)", "--figure", "Jing2022 fig6a", "--against", "SimCLR"]) == 0
    assert capsys.readouterr().out.splitlines() == ["trial/trial.html", "trial/jing2022-fig06a.svg"]
    html = (folder / "trial" / page.PAGE).read_text()
    assert shown(html) == ["jing2022, Figure 6a"]
    assert {file.name for file in (folder / "trial").iterdir()} == {"trial.html", "jing2022-fig06a.svg"}
    picture = (folder / "trial" / "jing2022-fig06a.svg").read_text()
    assert picture in html
    for label in ("scaled(tau=.01)", "SimCLR"):
        assert f"<!-- {label}, L = 1 -->" in picture
    assert "scaled_tau" not in picture


@pytest.fixture
def drawn_labels(folder, small):
    """The losses that have rows in a figure of a notebook."""

    def labels(*arguments, **named):
        figure = reprise.draw("jing2022/fig06a", *arguments, **named)
        assert not plt.fignum_exists(figure.number)  # else a notebook shows it twice
        texts = {text.get_text() for text in figure.findobj(Text)}
        return {text.removesuffix(", L = 1") for text in texts if text.endswith(", L = 1")}

    return labels


def test_a_notebook_draws_with_a_function(drawn_labels):
    def mine(z1, z2, power=2):
        return (z1 - z2).abs().pow(power).mean()

    assert drawn_labels(loss=partial(mine, power=3)) == {"mine(power=3)"}
    assert drawn_labels(loss="mine.py:copied", against=("vicreg", "frossl")) == {"copied", "VICReg", "FroSSL"}
    assert not given.OBJECTS


def test_a_notebook_trains_on_one_thread_and_keeps_its_own(drawn_labels):
    seen, threads = set(), torch.get_num_threads()

    def mine(z1, z2):
        seen.add(torch.get_num_threads())
        return (z1 - z2).square().mean()

    torch.set_num_threads(3)
    try:
        drawn_labels(loss=mine)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
    assert seen == {1}


def test_a_module_keeps_its_parameters(drawn_labels, capsys):
    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.tau = nn.Parameter(torch.ones(()))

        def forward(self, z1, z2):
            return self.tau * (z1 - z2).square().mean()

    own = Mine()
    assert drawn_labels(loss=own) == {"Mine"}
    assert own.tau.requires_grad
    assert "Mine keeps its initial tau: the network alone is trained" in capsys.readouterr().err


def test_a_loss_without_a_slope_is_said_to_train_nothing(folder):
    flat, copied = figures.tried([Given("mine.py:flat", "flat", "noted"), COPIED])
    assert flat.note == "noted; flat has gradient 0 for random embeddings: it may train nothing"
    assert copied == COPIED


def test_a_page_of_figures_has_no_tables_of_an_earlier_one(folder):
    (folder / page.TABLE).write_text("of an earlier page")
    page.save(page.Trial([COPIED], None, {}), folder)
    assert [file.name for file in folder.glob("trial.*")] == [page.PAGE]


@pytest.mark.parametrize("error", [RepriseError, KeyboardInterrupt])
def test_a_trial_that_ends_early_leaves_no_folder(folder, error):
    def ends(to):
        with writable(to):
            assert to.is_dir()
            raise error

    for name in ("new/inner", "."):
        with pytest.raises(error):
            ends(folder / name)
    assert [file.name for file in folder.iterdir()] == ["mine.py"]


def test_a_folder_that_takes_no_files_is_said_before_training(monkeypatch, folder):
    def refused(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(RepriseError, match=r"cannot be written \(Permission denied\)"), writable(folder):
        pytest.fail("trains")


def test_objects_are_called_by_their_names(tmp_path):
    for number, (loss, label) in enumerate(
        ((np.mean, "mean"), (lambda z1, z2: z1, "loss"), (nn.Identity(), "Identity"))
    ):
        (tmp_path / str(number)).mkdir()
        with given.named(loss, [], tmp_path / str(number)) as losses:
            assert losses[0].label == label
    for nothing in (3, nn.Identity):
        with (
            pytest.raises(RepriseError, match="expected a function of two views' embeddings"),
            given.named(nothing, [], tmp_path),
        ):
            pass


def test_tasks_that_no_figure_shows_are_not_computed(folder, small, monkeypatch):
    asked = []
    original = figures.of_tasks

    def watched(context, minutes, report):
        followed = original(context, minutes, report)

        def cached(name, make):
            asked.append(name)
            return followed.cached(name, make)

        assert sum(minutes.values())
        return replace(followed, cached=cached)

    monkeypatch.setattr(figures, "of_tasks", watched)
    for figure in ("tian2023/fig09", "jing2022/fig02"):
        ((experiment, quick, ids),) = figures.experiments([figure])
        found = figures.drawn(experiment, quick, ids, [COPIED], folder)
        assert found[figure].picture
    assert any(name.startswith("mine.py:copied/nonlinear") for name in asked)
    for absent in ("filters", "supervised", "pixels", "none"):
        assert not any(name.partition("/")[2].startswith(absent) for name in asked)


@pytest.mark.parametrize("figure", ["jing2022/fig06a", "jing2022/fig06b"])
def test_a_figure_alone_does_without_what_it_does_not_show(folder, figure):
    ((jing, quick, ids),) = figures.experiments([figure])
    both = next(figures.experiments([]))[1]
    assert ids == [figure]
    assert quick.changes.keys() > both.changes.keys()
    small = replace(quick, changes={**quick.changes, **SMALL})
    found = figures.drawn(jing, small, ids, [COPIED], folder)
    assert found[figure].picture


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("mine.py:copied", "copied"),
        ("mine.py:scaled(tau=0.5)", "scaled(tau=0.5)"),
        ("mine.py:Prototypes", "Prototypes"),
        ("mine.py:Prototypes(tau=.5)", "Prototypes(tau=.5)"),
        ("mine.py:built", "built"),
    ],
)
def test_forms_of_a_loss(folder, written, label):
    z1, z2 = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))
    (folder / "files").mkdir()
    with given.named(written, ["nt_xent"], folder / "files") as losses:
        assert [loss.label for loss in losses] == [label, "nt_xent"]
        value = objectives.resolve(losses[0].name)(z1, z2)
    own = {}
    exec((folder / "mine.py").read_text(), own)
    share = 0.5 if ".5" in written or "built" in written else 1.0
    assert value == pytest.approx((share * own["copied"](z1, z2)).item())


def test_a_published_loss_has_the_hyperparameters_of_the_comparison():
    z1, z2 = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))
    for name, label, value in (
        ("simclr", "SimCLR", objectives.nt_xent(z1, z2, temperature=0.2)),
        ("Barlow Twins", "Barlow Twins", objectives.barlow_twins(z1, z2, scale=0.1)),
        ("nt_xent", "nt_xent", objectives.nt_xent(z1, z2)),
    ):
        found, loss = given.published(name)
        assert (found, loss(z1, z2)) == (label, value)
    with pytest.raises(RepriseError, match=r"unknown loss 'vicregg'; did you mean 'vicreg'\? losses of two"):
        given.published("vicregg")
    assert given.baseline("BYOL") == "byol"
    with pytest.raises(RepriseError, match=r"unknown objective 'nt_xent'; .*compared are: simclr"):
        given.baseline("nt_xent")


def test_a_loss_that_diverges_at_the_published_rate_has_a_lower_one(folder):
    jing, quick = figures.quick_experiments()[0]
    how = replace(quick, changes={"steps": 300, "long_steps": 300, "samples": 64, "seeds": 1})
    made = figures.computed(jing, how, [COPIED], folder, lambda share: None)
    assert made.notes == ["copied diverges at the published learning rate; it has 0.005."]
    assert set(made.tables["spectrum"]["setting"]) == {"published", "mine.py:copied"}


def test_a_loss_that_diverges_at_every_rate_is_said_to_be_too_large(folder):
    (folder / "mine.py").write_text("def copied(z1, z2):\n    return -1e9 * (z1 - z2).pow(4).sum()\n")
    jing, quick = figures.quick_experiments()[0]
    how = replace(quick, changes={"steps": 20, "long_steps": 20, "samples": 64, "seeds": 1})
    with pytest.raises(RepriseError, match=r"diverged at each learning rate of 0.05, 0.005, 0.0005; scale"):
        figures.computed(jing, how, [COPIED], folder, lambda share: None)


def test_a_published_loss_that_fails_is_left_out(folder):
    (folder / "files").mkdir()
    jing, quick = figures.quick_experiments()[0]
    how = replace(quick, changes=SMALL)
    with given.named("mine.py:copied", ["vicreg"], folder / "files") as losses:
        given.OBJECTS[losses[1].name] = lambda z1, z2: z1.undefined
        made = figures.computed(jing, how, losses, folder, lambda share: None)
    assert len(made.notes) == 1
    assert made.notes[0].startswith("VICReg is left out: ")
    assert made.params.objective == ("mine.py:copied",)


def test_one_bar_moves_forwards_to_its_end():
    seen = []
    first, second = parts(lambda done, total, what: seen.append((done / total, what)), {"a": 1.0, "b": 3.0})
    context = of_tasks(Context(), {"x": 1.0, "y": 1.0}, first)
    context.cached("x", lambda share: share(0.5))
    context.cached("x", lambda share: pytest.fail("is computed once"))
    context.cached("y", lambda share: context.cached("part of y", lambda share: None))
    staged = in_stages(Context(), second)
    for step in (0, 4, 8, 0, 8):
        staged.progress(step, 8, "networks")
    second(1.0)
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[:2] == [0.062, 0.125]
    assert shares[-1] == 1.0
    assert [what for _, what in seen] == sorted(what for _, what in seen)


def test_a_loss_has_embeddings_of_the_dimension_that_is_asked_for(folder, monkeypatch):
    dims, published = [], registry.experiment(baselines.EXPERIMENT).params

    class Asked:
        params = staticmethod(published)

        def compute(self):
            def computed(params, context):
                run = ImageRun("textures", COPIED.name, "first", 0)
                dims.append(spec(params, run, 0.005, 1).projector.dim(params.encoder.dim))
                return own_tables("simclr")

            return computed

    monkeypatch.setattr("reprise.annex.trial.comparison.registry.experiment", lambda id: Asked())
    found = compared(COPIED, folder, lambda share: None, ["vicreg", "simclr"], 64)
    compared(COPIED, folder, lambda share: None, [])
    assert dims == [64, 256]
    assert page.dimensions(found, "copied") == "Dimensions of embeddings: 64 of copied, SimCLR; 256 of VICReg"


def test_figures_name_the_loss_as_it_was_written_and_in_bold(folder, comparison):
    (folder / "files").mkdir()
    with given.named("mine.py:scaled(tau=.5)", [], folder / "files") as losses:
        found = comparison("frossl")
        name = losses[0].name
        tables = {key: table.replace("mine.py:copied", name) for key, table in found.own.items()}
        params = found.params.model_copy(update={"objective": (name,)})
        found = replace(found, loss=name, own=tables, params=params)
        figure = given.relabelled(
            registry.artifact("ours/embeddings").draw(found.tables, found.shown), losses
        )
        figure.canvas.draw()
    labels = {label.get_text(): label.get_fontweight() for label in figure.axes[0].get_yticklabels()}
    assert labels["scaled(tau=.5)"] == "bold"
    assert labels["FroSSL, invariance 1"] != "bold"


def test_panels_of_a_loss_alone_are_named(folder, small):
    ((experiment, quick, _),) = figures.experiments(["jing2022/fig06b"])
    made = figures.computed(experiment, quick, [COPIED], folder, lambda share: None)
    drawn = registry.artifact("jing2022/fig06b").draw(made.tables, made.params)
    named = [axes.get_ylabel() for axes in given.relabelled(drawn, [COPIED]).axes if axes.get_ylabel()]
    assert named == ["singular value / largest", "copied\nsingular value / largest"]


def test_the_page_shows_what_learned(comparison):
    found = comparison("frossl")
    assert set(found.shown.methods) == {
        "simclr", "infonce-other-view", "directclr", "mocov2", "vicreg", "barlow-twins", "frossl",
    }  # fmt: skip
    gains = page.left_out(found)
    assert len(gains) == 13
    assert max(gains.values()) < 15
    assert list(gains.values()) == sorted(gains.values(), reverse=True)
    against = replace(found, against=["byol"])
    assert against.shown.methods == ("byol",)
    assert list(page.left_out(against)) == ["BYOL"]
    assert page.gains_of_others(against) == "others gain: none of those chosen learned"


def test_a_verdict_stands_beside_the_collapsed_dimensions_of_others(comparison):
    found = comparison("frossl")
    kept = pd.read_csv(Path(baselines.__file__).with_name(baselines.FILE), comment="#").query(
        "task == 'textures'"
    )
    for layer, scale, unit in (("representation", 1, ""), ("embedding", 100, " %")):
        rows = kept[kept["layer"] == layer].groupby("objective")["collapsed dimensions"].mean() * scale
        others = rows[list(found.shown.methods)]
        assert page.collapse_of_others(found, layer) == (
            f"collapsed on average: {rows['untrained']:.3g}{unit} of untrained networks' {layer}s, "
            f"{others.min():.3g} to {others.max():.3g}{unit} of the baselines'"
        )


@pytest.mark.parametrize("objective", ["frossl", "frossl-as-given", "vicreg", "simclr"])
def test_no_row_says_nothing(comparison, objective):
    trial = page.Trial([COPIED], comparison(objective), {})
    count = len(comparison(objective).standing("representation").learned)
    for layer, rows in trial.ranks.items():
        standing = comparison(objective).standing(layer)
        told, silent = page._said(rows)
        assert len(told) + len(silent) == len(standing.diagnostics)
        for name, row in told:
            assert row.rank != f"1 to {count} of {count}"
            assert row.rank or row.interval
            if row.interval:
                found = standing.interval("mine.py:copied", name)
                others = standing.means.loc[
                    [each for each in standing.learned if each != "mine.py:copied"], name
                ]
                assert not (found.low <= others.min() and others.max() <= found.high)


def test_a_twin_of_an_objective_shares_its_ranks(comparison):
    """And stands among those that learned, which the objective does too."""
    each = comparison("frossl").standing("representation")
    ranks = each.ranks("effective rank")
    assert ranks.loc["mine.py:copied"].tolist() == ranks.loc["frossl"].tolist()
    assert each.signs["effective rank"].loc["mine.py:copied", "frossl"] == 0
    assert len(each.learned) == 8


def test_what_did_not_learn_is_not_ranked(comparison):
    trial = page.Trial([COPIED], comparison("frossl-as-given"), {})
    assert "not ranked" in page.evidence(trial.comparison)
    assert {row.rank for row in trial.ranks["representation"].values()} == {""}


def test_the_page_and_the_terminal_say_which_extra_draws_the_heat_maps(comparison, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "seaborn", None)
    trial = page.Trial([COPIED], comparison("frossl"), {})
    line = "needs the package seaborn, of the extra `workflow`: pip install"
    page.save(trial, tmp_path)
    assert (tmp_path / page.PAGE).read_text().count(f"Not drawn: {line}") == 3
    assert page.text(trial).count(f"not drawn: {line}") == 3
    assert (tmp_path / page.TABLE).exists()


def test_embeddings_that_are_all_the_same_are_called_collapsed(comparison):
    collapsed = comparison("frossl")
    rows = collapsed.own["diagnostics"]
    rows.loc[rows["layer"] == "embedding", "estimate"] = np.nan  # as no rank is defined
    rows.loc[(rows["layer"] == "embedding") & (rows["diagnostic"] == "spread"), "estimate"] = 0
    assert {layer: each.word for layer, each in collapsed.verdicts.items()} == {
        "representation": "healthy",
        "embedding": "collapsed",
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("frossl", "'frossl': expected path/mine.py:my_loss"),
        ("missing.py:copied", "missing.py"),
        ("mine.py:absent", "defines no function 'absent'"),
        ("mine.py:in_place", "in place"),
        ("mine.py:per_sample", "shape [8]"),
        (
            "mine.py:scaled(taau=1)",
            "mine.py:scaled(taau=1): TypeError: got an unexpected keyword argument 'taau'",
        ),
        ("mine.py:scaled(1)", "each with its name, as in my_loss(tau=.1)"),
        ("mine.py:scaled(tau=x)", "each with its name"),
        ("mine.py:broken(tau=1)", "objective 'broken(tau=1)': ZeroDivisionError: division by zero"),
        ("mine.py:broken(tau=1)", "mine.py; tried with embeddings"),
        ("mine.py:of_size", "[16, 8]: a loss takes any batch and dimension"),
        ("mine.py:of_size(dim=4)", "[16, 8]: a loss takes any batch and dimension"),
        ("mine.py:copied --figure fig99", "unknown figure or table 'fig99'"),
        ("mine.py:copied --figure jing2022/fig04", "jing2022/fig04 needs more than seconds"),
        ("mine.py:copied --figure skean2024/fig02", "skean2024/fig02 takes no other loss"),
        ("mine.py:copied --figure jing2022/fig06a --against byol", "unknown loss 'byol'"),
        ("mine.py:copied --against nothing", "unknown objective 'nothing'"),
        ("mine.py:copied --dim 1", "--dim 1: expected at least 2"),
    ],
)
def test_what_is_no_loss_is_one_line(folder, name, message, capsys):
    assert main(["try", *name.split(" ")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (folder / "trial").exists()
